"""Do the boxes of a chunk hold the chunk's words, and nothing else?

    python benchmarks/pdf_places.py FOLDER [--count 100] [--seed 0] [--draw OUT_DIR]

Reads the PDFs of a folder, cuts them, and takes chunks at random. The characters whose centres
lie inside a chunk's boxes are asked for from pdfium anew, page by page, and compared with the
chunk's text: letter by letter and word by word, whatever their order, blanks and the bars of
tables apart. Passwords are taken from a manifest.jsonl ("file", "password") in FOLDER or above it.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from ctypes import byref, c_int
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pypdfium2  # type: ignore[import-untyped]
from PIL import Image, ImageDraw

from pincite.chunking.flow import chunk_document
from pincite.errors import FileUnreadable
from pincite.models.catalog import default_models_folder, open_embedder
from pincite.reading.pdf import read
from pincite.reading.source_file import SourceFile
from pincite.records import Box, Chunk, Document, document_from, line_boxes, overlapping
from pincite.settings import POLICIES

_HYPHENS = re.compile("[\u00ad\u2010\ufffe\x02]")  # pdfium gives a broken word's as no character
_LEFT_OUT = re.compile(r"[|\x00-\x20\x7f]")
_SCALE = 100  # of device coordinates, which are whole numbers
_WORST = 8


@dataclass(frozen=True)
class File:
    """A PDF on disk with its password."""

    path: Path
    password: str | None

    @property
    def passwords(self) -> tuple[str, ...]:
        """As the reader takes them."""
        return (self.password,) if self.password else ()


@dataclass(frozen=True)
class Letter:
    """A character with its centre on the page as shown."""

    text: str
    across: float
    up: float


@dataclass(frozen=True)
class Result:
    """How a chunk and what stands in its boxes agree; shares are from 0 to 1."""

    file: File
    chunk: Chunk
    boxes: tuple[Box, ...]
    letters: float
    words: float
    missing: Counter[str]
    surplus: Counter[str]


def main() -> None:
    """Print the shares and the worst chunks."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--draw", type=Path, metavar="OUT_DIR")
    arguments = parser.parse_args()
    chosen = sample(arguments.folder, arguments.count, random.Random(arguments.seed))
    results = [compare(file, document, chunk) for file, document, chunk in chosen]
    if not results:
        raise SystemExit("no PDF with text there")
    print(f"{len(results)} chunks of {len({result.file.path for result in results})} files")
    for kind in ("letters", "words"):
        shares = [getattr(result, kind) for result in results]
        good = sum(share >= 0.99 for share in shares)
        print(f"{kind:<8} {sum(shares) / len(shares):.2%} agree, {good} chunks at 99 % or more")
    for result in sorted(results, key=lambda result: result.words)[:_WORST]:
        print(f"{result.words:.1%} {result.file.path.name} chunk {result.chunk.position}")
        print(f"    not in its boxes: {' '.join(list(result.missing)[:8])}")
        print(f"    not in its text:  {' '.join(list(result.surplus)[:8])}")
    if arguments.draw:
        draw(results, arguments.draw)


def sample(folder: Path, count: int, chance: random.Random) -> list[tuple[File, Document, Chunk]]:
    """Chunks at random of all the PDFs that can be read."""
    embedder = open_embedder(
        "hashing", models_folder=default_models_folder(), base_url=None, api_key=None
    )
    chunks: list[tuple[File, Document, Chunk]] = []
    for file in pdfs(folder):
        data = file.path.read_bytes()
        try:
            content = read(SourceFile(file.path.name, data, file.passwords))
        except FileUnreadable as error:
            print(f"{file.path.name} {error}")
            continue
        document = document_from(content, library="bench", path=file.path.name, data=data)
        parts = chunk_document(document, POLICIES["vault"], embedder)
        chunks.extend((file, document, part.chunk) for part in parts)
    return chance.sample(chunks, min(count, len(chunks)))


def pdfs(folder: Path) -> Iterator[File]:
    """The PDFs of a folder with the passwords that a manifest knows."""
    passwords: dict[str, str] = {}
    for manifest in (folder / "manifest.jsonl", folder.parent / "manifest.jsonl"):
        if manifest.is_file():
            for line in manifest.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                if entry.get("password"):
                    passwords[Path(entry["file"]).name] = entry["password"]
    for path in sorted(folder.rglob("*.pdf")):
        yield File(path, passwords.get(path.name))


def compare(file: File, document: Document, chunk: Chunk) -> Result:
    """The words in the boxes of a chunk against its own."""
    boxes = line_boxes(overlapping(document.places, chunk.start, chunk.end))
    inside = words_inside(file, boxes)
    own = [plain for word in chunk.text.split() if (plain := normal(word))]
    missing, surplus = Counter(own) - Counter(inside), Counter(inside) - Counter(own)
    return Result(
        file,
        chunk,
        boxes,
        letters=agreement(Counter("".join(own)), Counter("".join(inside))),
        words=agreement(Counter(own), Counter(inside)),
        missing=missing,
        surplus=surplus,
    )


def agreement(one: Counter[str], other: Counter[str]) -> float:
    """The share that both have, of whichever has more."""
    return (one & other).total() / max(one.total(), other.total(), 1)


def normal(word: str) -> str:
    """Without what a reader adds, with one kind of hyphen."""
    return _LEFT_OUT.sub("", _HYPHENS.sub("-", word))


def words_inside(file: File, boxes: Sequence[Box]) -> list[str]:
    """What pdfium finds in the boxes, in its own order."""
    by_page: dict[int, list[Box]] = defaultdict(list)
    for box in boxes:
        by_page[box.page].append(box)
    words: list[str] = []
    for page, on_page in by_page.items():
        word = ""
        for letter in letters_of(file, page):
            if letter is not None and any(holds(box, letter) for box in on_page):
                word += letter.text
                continue
            words.append(normal(word))
            word = ""
        words.append(normal(word))
    return [word for word in words if word]


def holds(box: Box, letter: Letter) -> bool:
    """Whether a letter's centre is in the box, which is rounded to tenths."""
    across = box.left - 0.05 <= letter.across <= box.right + 0.05
    return across and box.bottom - 0.05 <= letter.up <= box.top + 0.05


@lru_cache(maxsize=64)
def letters_of(file: File, number: int) -> list[Letter | None]:
    """The characters of a page with their centres as shown; None where a word ends."""
    document = opened(file)
    # What is written into a form is shown on the page, and is read as well.
    pypdfium2.raw.FPDFPage_Flatten(document[number - 1], pypdfium2.raw.FLAT_NORMALDISPLAY)
    page = document[number - 1]
    text_page = page.get_textpage()
    width, height = (round(side * _SCALE) for side in page.get_size())
    letters: list[Letter | None] = []
    for index in range(text_page.count_chars()):
        code = pypdfium2.raw.FPDFText_GetUnicode(text_page, index)
        text = chr(code)
        if text.isspace():
            letters.append(None)
            continue
        left, bottom, right, top = text_page.get_charbox(index)
        across, down = c_int(), c_int()
        centre = ((left + right) / 2, (bottom + top) / 2)
        pypdfium2.raw.FPDF_PageToDevice(
            page, 0, 0, width, height, 0, *centre, byref(across), byref(down)
        )
        letters.append(Letter(text, across.value / _SCALE, (height - down.value) / _SCALE))
        if code == 2:  # a hyphen at a line's end
            letters.append(None)
    return letters


@lru_cache(maxsize=8)
def opened(file: File) -> pypdfium2.PdfDocument:
    """The document, opened as its reader opened it."""
    given = file.password or ""
    for password in ("", given, unicodedata.normalize("NFKC", given).replace("\u00ad", "")):
        try:
            return pypdfium2.PdfDocument(file.path, password=password)
        except pypdfium2.PdfiumError:
            continue
    raise SystemExit(f"{file.path} does not open with its password")


def draw(results: Sequence[Result], folder: Path) -> None:
    """Each page with a chosen chunk as an image, the chunk's boxes drawn on it."""
    folder.mkdir(parents=True, exist_ok=True)
    scale = 1.5
    for result in results:
        for number in sorted({box.page for box in result.boxes}):
            page = opened(result.file)[number - 1]
            image: Image.Image = page.render(scale=scale).to_pil().convert("RGB")
            pen = ImageDraw.Draw(image, "RGBA")
            for box in result.boxes:
                if box.page == number:
                    corners = (box.left, page.get_height() - box.top)
                    other = (box.right, page.get_height() - box.bottom)
                    edges = [edge * scale for edge in (*corners, *other)]
                    pen.rectangle(edges, fill=(255, 200, 0, 70), outline=(200, 0, 0, 255))
            name = f"{result.file.path.stem[:60]}-{result.chunk.position}-page{number}.png"
            image.save(folder / name)


if __name__ == "__main__":
    main()
