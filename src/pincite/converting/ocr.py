"""Images and PDFs → pages as images → lines of text, by whichever engine is at hand.

An image is read whichever way up it lies. Only the pages of a PDF that hold no text of their own
are looked at.
"""

from __future__ import annotations

import csv
import io
import math
import subprocess
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from statistics import fmean
from typing import Any, Protocol

import numpy as np
import pypdfium2  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]
from msgspec.structs import replace
from numpy.typing import NDArray

from pincite.converting.markdown import runs_downwards
from pincite.converting.wire import Line, Opened
from pincite.errors import FileUnreadable, ModelMissing
from pincite.text.passwords import ways_to_write

Image = NDArray[np.uint8]
"""Height, width and three colours: red, green, blue."""

_LONGEST_SIDE = 2_000  # pixels that are looked at; A4 then has 170 dots per inch
_LEAST_CONFIDENCE = 0.5  # of a line that is kept; below, it is mostly not text at all
_DOUBTFUL = 0.8  # mean confidence of a page that may lie upside down
_TALLEST = 2.0  # times as high as wide; a longer image is looked at in strips
_CELL_GAP = 2.0  # heights of a word between two cells of a table
_SECONDS_A_PAGE = 500  # that Tesseract may take

# ISO 639-1 → Tesseract's own names, of the languages most often met. Others are passed on.
_TESSERACT_NAMES = {
    **{"ar": "ara", "bg": "bul", "ca": "cat", "cs": "ces", "da": "dan", "de": "deu", "el": "ell"},
    **{"en": "eng", "es": "spa", "et": "est", "fa": "fas", "fi": "fin", "fr": "fra", "he": "heb"},
    **{"hi": "hin", "hr": "hrv", "hu": "hun", "it": "ita", "ja": "jpn", "ko": "kor", "nl": "nld"},
    **{"no": "nor", "pl": "pol", "pt": "por", "ro": "ron", "ru": "rus", "sk": "slk", "sl": "slv"},
    **{"sr": "srp", "sv": "swe", "tr": "tur", "uk": "ukr"},
    **{"zh": "chi_sim", "zh-hant": "chi_tra", "zh-tw": "chi_tra"},
}

_Word = dict[str, str]

_MOST_PAGES = 2_000  # of one file that are recognised
_MOST_PIXELS = 100_000_000  # of an image; the largest scanners and cameras give as many
_TOO_LARGE = f"has more than {_MOST_PIXELS / 1e6:g} megapixels; make it smaller"
_WIDEST = 3_000  # pixels that the shorter side of an image needs to have
_MOST_LETTERS = 100  # of a page that is a picture: a stamp, a fax header, a page number
_PICTURE = 0.6  # of the page's area that makes it a picture
_ORIENTATION = 0x0112  # the field of EXIF that says how the camera was held
_FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "BMP")

Pages = Iterator[tuple[int, Image]]
"""Number, from 1, and picture of each page to recognise."""


class Recogniser(Protocol):
    """Finds the lines of text on an image."""

    @property
    def name(self) -> str:
        """Which engine, with its version."""

    def recognise(self, image: Image) -> list[Line]:
        """The lines, in any order."""


class RapidOcr:
    """RapidOCR: PaddleOCR's models on onnxruntime, which its package brings along."""

    def __init__(self) -> None:
        self.name = f"rapidocr {version('rapidocr')}"
        self._engine = import_module("rapidocr").RapidOCR(
            params={
                "Global.log_level": "critical",
                "Global.use_cls": False,  # tells lines upside down; `upright` looks at the page
                "Global.max_side_len": _LONGEST_SIDE,
                "Global.text_score": _LEAST_CONFIDENCE,
            }
        )
        # Models are loaded when they are first used; later on no file can be opened any more.
        blank = np.full((48, 320, 3), 255, np.uint8)
        self._engine(blank, use_rec=False)
        self._engine(blank, use_det=False, use_rec=True)
        self._engine.use_det = True

    def recognise(self, image: Image) -> list[Line]:
        """The lines, in any order."""
        found = self._engine(np.ascontiguousarray(image[:, :, ::-1]))  # it wants blue first
        if found.txts is None:
            return []
        lines = []
        for text, box, confidence in zip(found.txts, found.boxes, found.scores, strict=True):
            left, top = map(float, box.min(axis=0))
            right, bottom = map(float, box.max(axis=0))
            lines.append(Line(text, left, top, right, bottom, float(confidence)))
        return lines


class Tesseract:
    """The Tesseract program, run once for each image."""

    def __init__(self, program: str, *, tessdata: str = "", language: str | None = None) -> None:
        self._command = [program, *(("--tessdata-dir", tessdata) if tessdata else ())]
        self.name = " ".join(self._run("--version").split()[:2])
        wanted = (language or "en").lower().split("+")
        self._languages = [_TESSERACT_NAMES.get(one, one) for one in wanted]
        known = self._run("--list-langs").split("\n")[1:]
        if missing := sorted(set(self._languages) - set(known)):
            raise ModelMissing(
                f"it does not know {', '.join(missing)}, only {', '.join(filter(None, known))}; "
                f"install the language (on Debian: tesseract-ocr-{missing[0].replace('_', '-')})"
            )

    def recognise(self, image: Image) -> list[Line]:
        """The lines, in any order."""
        height, width = image.shape[:2]
        portable = b"P6 %d %d 255\n" % (width, height) + image.tobytes()
        languages = "+".join(self._languages)
        table = self._run("stdin", "stdout", "-l", languages, "--psm", "3", "tsv", image=portable)
        return list(_lines_of_table(table))

    def _run(self, *arguments: str, image: bytes = b"") -> str:
        try:
            done = subprocess.run(  # noqa: S603 — the program the user installed
                [*self._command, *arguments],
                input=image,
                capture_output=True,
                timeout=_SECONDS_A_PAGE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise FileUnreadable("takes Tesseract too long to read") from None
        if done.returncode:
            told = done.stderr.decode("utf-8", "replace").strip().split("\n")[0]
            raise FileUnreadable(f"cannot be read by Tesseract: {told}")
        return done.stdout.decode("utf-8", "replace")


def _lines_of_table(table: str) -> Iterator[Line]:
    """Tesseract's words, which say of which line they are, as lines."""
    rows = csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE)
    lines: defaultdict[tuple[str, ...], list[_Word]] = defaultdict(list)
    for row in rows:
        if row["level"] == "5" and row["text"].strip():
            lines[row["block_num"], row["par_num"], row["line_num"]].append(row)
    for words in lines.values():
        for piece in _pieces(words):
            line = Line(
                " ".join(word["text"] for word in piece),
                min(float(word["left"]) for word in piece),
                min(float(word["top"]) for word in piece),
                max(float(word["left"]) + float(word["width"]) for word in piece),
                max(float(word["top"]) + float(word["height"]) for word in piece),
                fmean(float(word["conf"]) for word in piece) / 100,
            )
            if line.confidence >= _LEAST_CONFIDENCE:
                yield line


def _pieces(words: Sequence[_Word]) -> Iterator[list[_Word]]:
    """The words of a line, parted where cells of a table stand far apart."""
    piece: list[_Word] = []
    for word in words:
        if piece:
            end = float(piece[-1]["left"]) + float(piece[-1]["width"])
            if float(word["left"]) - end > _CELL_GAP * float(word["height"]):
                yield piece
                piece = []
        piece.append(word)
    yield piece


def lines_on(image: Image, recogniser: Recogniser) -> list[Line]:
    """The lines of an image of any shape that lies whichever way up, as if it lay upright."""
    lines = _in_strips(image, recogniser)
    if 2 * sum(map(runs_downwards, lines)) > len(lines):
        quarters = [1, 3]
    elif lines and fmean(line.confidence for line in lines) < _DOUBTFUL:
        quarters = [2]
    else:
        return lines
    turned = [_in_strips(np.rot90(image, quarter), recogniser) for quarter in quarters]

    def certainty(found: Sequence[Line]) -> float:
        # What lies the wrong way up gives little, or nonsense.
        return sum(len(line.text) * line.confidence**4 for line in found)

    return max([*turned, lines], key=certainty)  # as sure, but in the order of a page


def _in_strips(image: Image, recogniser: Recogniser) -> list[Line]:
    """The lines of a long image piece by piece: as a whole its letters would get too small."""
    return [
        replace(line, top=line.top + top, bottom=line.bottom + top)
        for top, bottom in strips(image)
        for line in recogniser.recognise(image[top:bottom])
    ]


def strips(image: Image) -> Iterator[tuple[int, int]]:
    """Where to cut a long image: between lines, in rows that are all of one colour."""
    height, width = image.shape[:2]
    longest = int(max(_TALLEST * width, _LONGEST_SIDE))
    top = 0
    while height - top > longest:
        first = top + longest // 2
        busy = image[first : top + longest].astype(np.float32).std(axis=(1, 2))
        bottom = first + int(len(busy) - 1 - busy[::-1].argmin())
        yield top, bottom
        top = bottom
    yield top, height


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
