"""An image → its lines of text, by whichever engine is at hand, whichever way up it lies."""

from __future__ import annotations

import csv
import io
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.metadata import version
from statistics import fmean
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pincite.converting.layout import runs_downwards
from pincite.converting.wire import Line
from pincite.errors import FileUnreadable, ModelMissing

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
        return [
            Line(text, *_edges(box), float(confidence))
            for text, box, confidence in zip(found.txts, found.boxes, found.scores, strict=True)
        ]


def _edges(corners: NDArray[np.float32]) -> tuple[float, float, float, float]:
    left, top = map(float, corners.min(axis=0))
    right, bottom = map(float, corners.max(axis=0))
    return left, top, right, bottom


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
        return list(
            _lines_of_table(
                self._run("stdin", "stdout", "-l", languages, "--psm", "3", "tsv", image=portable)
            )
        )

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


_Word = dict[str, str]


def _lines_of_table(table: str) -> Iterator[Line]:
    """Tesseract's words, which say of which line they are, as lines."""
    rows = csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE)
    lines: defaultdict[tuple[str, ...], list[_Word]] = defaultdict(list)
    for row in rows:
        if row["level"] == "5" and row["text"].strip():
            lines[row["block_num"], row["par_num"], row["line_num"]].append(row)
    for words in lines.values():
        for piece in _pieces(words):
            line = _line(piece)
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


def _line(words: Sequence[_Word]) -> Line:
    return Line(
        " ".join(word["text"] for word in words),
        min(float(word["left"]) for word in words),
        min(float(word["top"]) for word in words),
        max(float(word["left"]) + float(word["width"]) for word in words),
        max(float(word["top"]) + float(word["height"]) for word in words),
        fmean(float(word["conf"]) for word in words) / 100,
    )


def lines_on(image: Image, recogniser: Recogniser) -> list[Line]:
    """The lines of an image of any shape that lies whichever way up, as if it lay upright."""
    lines = _in_strips(image, recogniser)
    if _mostly_downwards(lines):
        quarters = [1, 3]
    elif lines and fmean(line.confidence for line in lines) < _DOUBTFUL:
        quarters = [2]
    else:
        return lines
    turned = [_in_strips(np.rot90(image, quarter), recogniser) for quarter in quarters]
    return max([*turned, lines], key=_certainty)  # as sure, but in the order of a page


def _mostly_downwards(lines: Sequence[Line]) -> bool:
    return 2 * sum(map(runs_downwards, lines)) > len(lines)


def _certainty(lines: Sequence[Line]) -> float:
    """How much was recognised how surely: what lies the wrong way up gives little, or nonsense."""
    return sum(len(line.text) * line.confidence**4 for line in lines)


def _in_strips(image: Image, recogniser: Recogniser) -> list[Line]:
    """The lines of a long image piece by piece: as a whole its letters would get too small."""
    lines: list[Line] = []
    for top, bottom in strips(image):
        for line in recogniser.recognise(image[top:bottom]):
            lines.append(
                Line(
                    line.text,
                    line.left,
                    line.top + top,
                    line.right,
                    line.bottom + top,
                    line.confidence,
                )
            )
    return lines


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
