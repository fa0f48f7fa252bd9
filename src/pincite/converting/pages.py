"""Images and PDFs → pages as images. Only the pages of a PDF that hold no text of their own."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Iterator
from contextlib import closing, suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pypdfium2  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from pincite.converting.ocr import Image
from pincite.converting.wire import Opened
from pincite.errors import FileUnreadable
from pincite.text.passwords import ways_to_write

_MOST_PAGES = 2_000  # of one file that are recognised
_MOST_PIXELS = 100_000_000  # of an image; the largest scanners and cameras give as many
_TOO_LARGE = f"has more than {_MOST_PIXELS / 1e6:g} megapixels; make it smaller"
_LONGEST_SIDE = 2_000  # pixels of a rendered page
_WIDEST = 3_000  # pixels that the shorter side of an image needs to have
_MOST_LETTERS = 100  # of a page that is a picture: a stamp, a fax header, a page number
_PICTURE = 0.6  # of the page's area that makes it a picture
_ORIENTATION = 0x0112  # the field of EXIF that says how the camera was held
_FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "BMP")

Pages = Iterator[tuple[int, Image]]
"""Number, from 1, and picture of each page to recognise."""


def open_pdf(data: bytes, passwords: tuple[str, ...]) -> tuple[Opened, Pages]:
    """What a PDF is, and its scanned pages."""
    document = _opened(data, passwords)
    count = len(document)
    scanned = tuple(number for number in range(1, count + 1) if _is_scanned(document, number))
    _refuse_many(len(scanned))
    title = None
    with suppress(pypdfium2.PdfiumError):
        title = document.get_metadata_value("Title").strip() or None
    return Opened(title=title, pages=count, scanned=scanned), _rendered(document, scanned)


def _opened(data: bytes, passwords: tuple[str, ...]) -> Any:  # noqa: ANN401 — has no types
    for password in ways_to_write(passwords):
        handle = pdfium.FPDF_LoadMemDocument64(data, len(data), password)
        if handle:
            document = pypdfium2.PdfDocument(handle)
            document.bytes_in_use = data  # pdfium reads from them as long as it is open
            return document
        if pdfium.FPDF_GetLastError() != pdfium.FPDF_ERR_PASSWORD:
            raise FileUnreadable("is damaged, and cannot be opened as a PDF")
    raise FileUnreadable("is encrypted; give its password (--passwords FILE)")


def _is_scanned(document: Any, number: int) -> bool:  # noqa: ANN401 — has no types
    """Whether a page shows something but holds no text, or no more than a stamp on a picture."""
    try:
        page = document[number - 1]
    except pypdfium2.PdfiumError:
        return False
    with closing(page):
        with closing(page.get_textpage()) as text:
            letters = len("".join(text.get_text_range().split()))
        if letters > _MOST_LETTERS:
            return False
        covered, objects = 0.0, 0
        for thing in page.get_objects(max_depth=3):
            objects += 1
            if thing.type == pdfium.FPDF_PAGEOBJ_IMAGE:
                with suppress(pypdfium2.PdfiumError):
                    left, bottom, right, top = thing.get_bounds()
                    covered += abs((right - left) * (top - bottom))
        width, height = page.get_size()
        return covered > _PICTURE * width * height or (not letters and objects > 0)


def _rendered(document: Any, numbers: tuple[int, ...]) -> Pages:  # noqa: ANN401 — has no types
    for number in numbers:
        with closing(document[number - 1]) as page:
            longest = max(*page.get_size(), 1.0)
            bitmap = page.render(scale=_LONGEST_SIDE / longest, rev_byteorder=True)
            picture = bitmap.to_numpy()
            if picture.ndim == 2 or picture.shape[2] == 1:
                picture = np.repeat(picture.reshape(*picture.shape[:2], 1), 3, axis=2)
            yield number, np.ascontiguousarray(picture[:, :, :3])
    document.close()


def open_image(data: bytes) -> tuple[Opened, Pages]:
    """What an image is, and its picture; a TIFF may hold several."""
    pillow = import_module("PIL.Image")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pillow.DecompressionBombWarning)  # `_frames` looks
            picture = pillow.open(io.BytesIO(data), formats=_FORMATS)
    except pillow.DecompressionBombError as error:
        raise FileUnreadable(_TOO_LARGE) from error
    except (OSError, ValueError) as error:
        raise FileUnreadable("is damaged, or is not the kind of image its name says") from error
    count = getattr(picture, "n_frames", 1) if picture.format == "TIFF" else 1
    _refuse_many(count)
    scanned = tuple(range(1, count + 1))
    return Opened(pages=count if count > 1 else None, scanned=scanned), _frames(picture, scanned)


def _frames(picture: Any, numbers: tuple[int, ...]) -> Pages:  # noqa: ANN401 — as import_module
    pillow, operations = import_module("PIL.Image"), import_module("PIL.ImageOps")
    for number in numbers:
        try:
            picture.seek(number - 1)
            if math.prod(picture.size) > _MOST_PIXELS:
                raise FileUnreadable(_TOO_LARGE)
            # What is larger than any engine looks at would only take memory.
            factor = max(min(picture.size) // _WIDEST, 1)
            upright = operations.exif_transpose(picture.reduce(factor) if factor > 1 else picture)
        except (OSError, ValueError, SyntaxError, EOFError) as error:
            raise FileUnreadable("is damaged, and cannot be shown") from error
        if upright.mode.startswith("I;16"):
            upright = pillow.fromarray((np.asarray(upright) >> 8).astype(np.uint8))
        # On white: behind transparent black letters would otherwise be black.
        white = pillow.new("RGBA", upright.size, "white")
        white.alpha_composite(upright.convert("RGBA"))
        yield number, np.asarray(white.convert("RGB"))


def rehearse() -> None:
    """Open a page and an image of each format, so that all that takes is loaded."""
    blank = pypdfium2.PdfDocument.new()
    blank.new_page(8, 8)
    written = io.BytesIO()
    blank.save(written)
    open_pdf(written.getvalue(), ())
    list(_rendered(blank, (1,)))
    if find_spec("PIL") is None:
        return
    pillow = import_module("PIL.Image")
    import_module("PIL.MpoImagePlugin")  # what some cameras write and call a JPEG
    picture = pillow.new("RGB", (8, 8))
    exif = picture.getexif()
    exif[_ORIENTATION] = 3
    for name in _FORMATS:
        written = io.BytesIO()
        picture.save(written, name, **({} if name == "BMP" else {"exif": exif}))
        list(open_image(written.getvalue())[1])


def _refuse_many(count: int) -> None:
    if count > _MOST_PAGES:
        raise FileUnreadable(
            f"has {count:,} scanned pages; at most {_MOST_PAGES:,} are recognised: split it"
        )
