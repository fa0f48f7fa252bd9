"""Makes small PDFs, so that tests show what they are about. Text is drawn where it is told to be.

Fonts: F1 Helvetica, F2 Helvetica-Bold, F3 Courier (every letter 0.6 of its size wide), and U for
the letters of all other scripts: each a black box, as wide as its size.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from pincite.reading.pdf import read
from pincite.reading.source_file import SourceFile
from pincite.records import Content

_TO_UNICODE = """/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CMapName /Any def /CMapType 2 def
1 begincodespacerange <00> <FF> endcodespacerange
{count} beginbfchar {pairs} endbfchar
endcmap CMapName currentdict /CMap defineresource pop end end"""
_OTHER_SCRIPT = re.compile(r"\{U:([0-9a-f]*)\}")  # letters, until it is known which a file has
LAM_ALEF = "\ue000"  # in font U: one sign that means two letters
_MEANINGS = {LAM_ALEF: "لا"}

# Encryption as PDF 1.3 has it (PDF 32000-1, 7.6.3), with 40 bits.
_PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
_ALLOWED = -4  # everything
_FILE_ID = (b"0" * 16).hex()


@dataclass(frozen=True)
class Page:
    """What is drawn on a page (`text`, `picture`, …), and how the page is shown."""

    drawn: Sequence[str] = ()
    width: float = 612
    height: float = 792
    rotate: int = 0
    crop: tuple[float, float, float, float] | None = None
    tags: Sequence[str] = ()  # what the marked content 0, 1, … of the page is: "H1", "P"
    fields: Sequence[tuple[float, float, str]] = ()  # of a form: where, and what was filled in


@dataclass(frozen=True)
class Bookmark:
    """An entry of the outline; pages count from 1."""

    title: str
    page: int
    children: Sequence[Bookmark] = ()


def text(
    words: str,
    x: float,
    y: float,
    *,
    size: float = 12,
    font: str = "F1",
    mode: int = 0,
    colour: str = "0 g",
    matrix: str | None = None,
) -> str:
    """Words from a point to the right; `matrix` turns or skews them (`0 1 -1 0` runs upwards)."""
    if font == "U":
        code = f"{{U:{words.encode('utf-16-be').hex()}}}"
    else:
        escaped = words.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
        code = f"({escaped})"
    turned = matrix or "1 0 0 1"
    return f"q {colour} BT /{font} {size} Tf {mode} Tr {turned} {x} {y} Tm {code} Tj ET Q"


def lines(
    rows: Sequence[str], x: float, y: float, *, size: float = 12, font: str = "F1"
) -> list[str]:
    """Lines of text below each other, 1.2 sizes apart."""
    return [text(row, x, y - 1.2 * size * at, size=size, font=font) for at, row in enumerate(rows)]


def picture(x: float, y: float, width: float, height: float) -> str:
    """A grey image."""
    return f"q {width} 0 0 {height} {x} {y} cm /Im Do Q"


def filled(x: float, y: float, width: float, height: float, *, colour: str = "0 g") -> str:
    """A filled rectangle."""
    return f"q {colour} {x} {y} {width} {height} re f Q"


def transparent(drawn: str) -> str:
    """The same, wholly transparent."""
    return f"q /Clear gs {drawn} Q"


def marked(number: int, drawn: str) -> str:
    """The same, as the marked content of this number."""
    return f"/P << /MCID {number} >> BDC {drawn} EMC"


def pdf(
    *pages: Page,
    info: dict[str, str] | None = None,
    outline: Sequence[Bookmark] = (),
    language: str | None = None,
    password: str | None = None,
    xmp: str | None = None,
) -> bytes:
    """A file of these pages; with a password it is encrypted (40 bits, as in PDF 1.3)."""
    return _File(password).made(pages, info or {}, outline, language, xmp)


def content_of(data: bytes, *passwords: str, path: str = "folder/file.pdf") -> Content:
    """What our reader takes out of it."""
    return read(SourceFile(path, data, passwords))


def string(words: str) -> str:
    """A text string in a dictionary."""
    return f"<feff{words.encode('utf-16-be').hex()}>"


@dataclass
class _File:
    password: str | None
    objects: list[bytes] = field(default_factory=list)
    codes: dict[str, int] = field(default_factory=dict)  # of the letters of font U

    def made(
        self,
        pages: Sequence[Page],
        info: dict[str, str],
        outline: Sequence[Bookmark],
        language: str | None,
        xmp: str | None,
    ) -> bytes:
        catalog, tree = self.new(b""), self.new(b"")
        resources = self.new(b"")
        numbers = [self._page(at, page, tree, resources) for at, page in enumerate(pages)]
        self.set(resources, self._resources())
        kids = " ".join(f"{number} 0 R" for number in numbers)
        self.set(tree, f"<< /Type /Pages /Kids [{kids}] /Count {len(numbers)} >>")
        entries = ["/Type /Catalog", f"/Pages {tree} 0 R"]
        if outline:
            root = self.new(b"")
            self.set(root, f"<< {self._level(outline, root, numbers)} >>")
            entries.append(f"/Outlines {root} 0 R")
        if language:
            entries.append(f"/Lang {string(language)}")
        if any(page.tags for page in pages):
            entries.append(f"/StructTreeRoot {self._structure(pages, numbers)} 0 R")
            entries.append("/MarkInfo << /Marked true >>")
        if xmp:
            entries.append(f"/Metadata {self.stream(xmp.encode(), '/Type /Metadata')} 0 R")
        self.set(catalog, f"<< {' '.join(entries)} >>")
        about = " ".join(f"/{key} {string(value)}" for key, value in info.items())
        return self._written(catalog, self.new(f"<< {about} >>".encode()))

    def new(self, body: bytes) -> int:
        self.objects.append(body)
        return len(self.objects)

    def set(self, number: int, body: str) -> None:
        self.objects[number - 1] = body.encode("latin-1")

    def stream(self, data: bytes, entries: str = "") -> int:
        number = self.new(b"")
        if self.password is not None:
            data = _encrypted(data, self.password, number)
        head = f"<< {entries} /Length {len(data)} >>\nstream\n".encode("latin-1")
        self.objects[number - 1] = head + data + b"\nendstream"
        return number

    def _page(self, at: int, page: Page, tree: int, resources: int) -> int:
        drawn = _OTHER_SCRIPT.sub(self._coded, "\n".join(page.drawn)).encode("cp1252")
        content = self.stream(zlib.compress(drawn), "/Filter /FlateDecode")
        crop = f"/CropBox [{' '.join(map(str, page.crop))}]" if page.crop else ""
        notes = " ".join(f"{self._field(resources, *one)} 0 R" for one in page.fields)
        return self.new(
            f"<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 {page.width} {page.height}] {crop} "
            f"/Rotate {page.rotate} /Contents {content} 0 R /Resources {resources} 0 R "
            f"/StructParents {at} /Annots [{notes}] >>".encode()
        )

    def _field(self, resources: int, x: float, y: float, value: str) -> int:
        look = self.stream(
            text(value, 2, 4).encode("cp1252"),
            f"/Type /XObject /Subtype /Form /BBox [0 0 200 20] /Resources {resources} 0 R",
        )
        return self.new(
            f"<< /Type /Annot /Subtype /Widget /FT /Tx /T {string('field')} /F 4 "
            f"/V {string(value)} /Rect [{x} {y} {x + 200} {y + 20}] "
            f"/AP << /N {look} 0 R >> >>".encode()
        )

    def _structure(self, pages: Sequence[Page], numbers: Sequence[int]) -> int:
        root = self.new(b"")
        parts, owners = [], []
        for at, (page, number) in enumerate(zip(pages, numbers, strict=True)):
            made = [
                self.new(
                    f"<< /Type /StructElem /S /{tag} /P {root} 0 R /Pg {number} 0 R "
                    f"/K {mark} >>".encode()
                )
                for mark, tag in enumerate(page.tags)
            ]
            parts += made
            owners.append(f"{at} [{' '.join(f'{one} 0 R' for one in made)}]")
        kids = " ".join(f"{part} 0 R" for part in parts)
        self.set(
            root,
            f"<< /Type /StructTreeRoot /K [{kids}] /ParentTree << /Nums [{' '.join(owners)}] >> >>",
        )
        return root

    def _resources(self) -> str:
        fonts = {
            "F1": self._simple_font("Helvetica"),
            "F2": self._simple_font("Helvetica-Bold"),
            "F3": self._simple_font("Courier"),
            "U": self._box_font(),
        }
        named = " ".join(f"/{name} {number} 0 R" for name, number in fonts.items())
        image = self.stream(
            b"\x80" * 4,
            "/Type /XObject /Subtype /Image /Width 2 /Height 2 /ColorSpace /DeviceGray "
            "/BitsPerComponent 8",
        )
        clear = "<< /Type /ExtGState /ca 0 /CA 0 >>"
        return (
            f"<< /Font << {named} >> /XObject << /Im {image} 0 R >> "
            f"/ExtGState << /Clear {clear} >> >>"
        )

    def _simple_font(self, name: str) -> int:
        return self.new(
            f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} "
            "/Encoding /WinAnsiEncoding >>".encode()
        )

    def _coded(self, match: re.Match[str]) -> str:
        letters = bytes.fromhex(match[1]).decode("utf-16-be")
        codes = (self.codes.setdefault(letter, len(self.codes) + 1) for letter in letters)
        return f"<{bytes(codes).hex()}>"

    def _box_font(self) -> int:
        last = max(len(self.codes), 1)
        box = self.stream(b"1000 0 0 -100 1000 800 d1 50 -50 900 800 re f")
        names = " ".join(f"/c{code}" for code in range(1, last + 1))
        shapes = " ".join(f"/c{code} {box} 0 R" for code in range(1, last + 1))
        pairs = " ".join(
            f"<{code:02x}> <{_MEANINGS.get(letter, letter).encode('utf-16-be').hex()}>"
            for letter, code in self.codes.items()
        )
        meaning = self.stream(_TO_UNICODE.format(count=len(self.codes), pairs=pairs).encode())
        return self.new(
            f"<< /Type /Font /Subtype /Type3 /FontBBox [0 -100 1000 800] "
            f"/FontMatrix [0.001 0 0 0.001 0 0] /CharProcs << {shapes} >> /Resources << >> "
            f"/Encoding << /Type /Encoding /Differences [1 {names}] >> /FirstChar 1 "
            f"/LastChar {last} /Widths [{'1000 ' * last}] /ToUnicode {meaning} 0 R >>".encode()
        )

    def _level(self, entries: Sequence[Bookmark], parent: int, pages: Sequence[int]) -> str:
        numbers = [self.new(b"") for _ in entries]
        for at, entry in enumerate(entries):
            parts = [f"/Title {string(entry.title)} /Parent {parent} 0 R"]
            parts.append(f"/Dest [{pages[entry.page - 1]} 0 R /Fit]")
            if at:
                parts.append(f"/Prev {numbers[at - 1]} 0 R")
            if at + 1 < len(entries):
                parts.append(f"/Next {numbers[at + 1]} 0 R")
            if entry.children:
                parts.append(self._level(entry.children, numbers[at], pages))
            self.set(numbers[at], f"<< {' '.join(parts)} >>")
        return f"/First {numbers[0]} 0 R /Last {numbers[-1]} 0 R /Count {len(numbers)}"

    def _written(self, catalog: int, info: int) -> bytes:
        trailer = f"/Root {catalog} 0 R /Info {info} 0 R /ID [<{_FILE_ID}> <{_FILE_ID}>]"
        if self.password is not None:
            encryption = self.new(_encryption_entries(self.password).encode())
            trailer += f" /Encrypt {encryption} 0 R"
        out = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
        places = []
        for number, body in enumerate(self.objects, start=1):
            places.append(len(out))
            out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
        start = len(out)
        out += f"xref\n0 {len(places) + 1}\n0000000000 65535 f \n".encode()
        out += b"".join(f"{place:010} 00000 n \n".encode() for place in places)
        size = len(places) + 1
        out += f"trailer\n<< /Size {size} {trailer} >>\nstartxref\n{start}\n%%EOF\n".encode()
        return bytes(out)


def _encrypted(data: bytes, password: str, number: int) -> bytes:
    """A stream that is the object of this number."""
    salted = _key(password) + number.to_bytes(3, "little") + b"\0\0"
    return _rc4(hashlib.md5(salted).digest()[:10], data)


def _encryption_entries(password: str) -> str:
    """The dictionary that says how the file is encrypted, by which the password is checked."""
    check = _rc4(_key(password), _PADDING).hex()
    owner = _owner(password).hex()
    return f"<< /Filter /Standard /V 1 /R 2 /O <{owner}> /U <{check}> /P {_ALLOWED} >>"


def _padded(password: str) -> bytes:
    return (password.encode("latin-1") + _PADDING)[:32]


def _owner(password: str) -> bytes:
    user = _padded(password)
    return _rc4(hashlib.md5(user).digest()[:5], user)


def _key(password: str) -> bytes:
    allowed = _ALLOWED.to_bytes(4, "little", signed=True)
    salted = _padded(password) + _owner(password) + allowed + bytes.fromhex(_FILE_ID)
    return hashlib.md5(salted).digest()[:5]


def _rc4(key: bytes, data: bytes) -> bytes:
    state = list(range(256))
    other = 0
    for index in range(256):
        other = (other + state[index] + key[index % len(key)]) % 256
        state[index], state[other] = state[other], state[index]
    out = bytearray()
    index = other = 0
    for byte in data:
        index = (index + 1) % 256
        other = (other + state[index]) % 256
        state[index], state[other] = state[other], state[index]
        out.append(byte ^ state[(state[index] + state[other]) % 256])
    return bytes(out)
