"""Zip archives that unfold, lie, double or point outside, in the clothes of every package."""

from __future__ import annotations

import io
import random
import struct
import zlib
from collections.abc import Callable, Mapping
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZipFile, ZipInfo

from hostile.case import Case, either, made, read, refused
from hostile.deflate import checksum_of, deflated, size_of
from hostile.samples import book_parts, open_text, slides, word, workbook
from word_files import paragraph, word_file, word_parts, zipped

Parts = dict[str, bytes | str]


def _parts_of(data: bytes) -> Parts:
    with ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


# The part of each package that holds its text.
_PACKAGES: Mapping[str, tuple[Callable[[], bytes], str]] = {
    "docx": (word, "word/document.xml"),
    "xlsx": (workbook, "xl/worksheets/sheet1.xml"),
    "pptx": (slides, "ppt/slides/slide1.xml"),
    "odt": (open_text, "content.xml"),
    "epub": (lambda: zipped(book_parts()), "a.xhtml"),
}


def _raw_zip(
    parts: Mapping[str, bytes | str], packed: Mapping[str, tuple[bytes, int, int]], flags: int = 0
) -> bytes:
    """An archive; `packed` parts are written as given: compressed data, checksum, size."""
    body, directory = bytearray(), bytearray()
    whole = {
        name: (_deflate(data), zlib.crc32(data), len(data))
        for name, text in parts.items()
        for data in [text.encode() if isinstance(text, str) else text]
    }
    all_parts = {**whole, **packed}
    for name, (data, checksum, size) in all_parts.items():
        common = struct.pack(
            "<HHHHHLLLHH", 20, flags, 8, 0, 33, checksum, len(data), size, len(name.encode()), 0
        )
        directory += b"PK\x01\x02\x14\0" + common
        directory += struct.pack("<HHHLL", 0, 0, 0, 0, len(body)) + name.encode()
        body += b"PK\x03\x04" + common + name.encode() + data
    count = len(all_parts)
    end = struct.pack("<4HLLH", 0, 0, count, count, len(directory), len(body), 0)
    return bytes(body + directory + b"PK\x05\x06" + end)


def _deflate(data: bytes) -> bytes:
    return zlib.compress(data, 9)[2:-4]


def _bomb(kind: str, part: str | None = None, *, says: int | None = None) -> bytes:
    """A sound package with one part that unfolds to 300 MB, and may say that it is smaller."""
    build, main = _PACKAGES[kind]
    size = size_of() if says is None else says
    bomb = {part or main: (deflated(), checksum_of(), size)}
    return _raw_zip(_parts_of(build()), bomb)


def _with(kind: str, *more: tuple[str, bytes | str]) -> bytes:
    """A sound package with more parts in it."""
    return zipped([*_parts_of(_PACKAGES[kind][0]()).items(), *more])


def _directory_of(count: int) -> bytes:
    """An archive of so many empty parts, all of them at one place."""
    entry = b"PK\x03\x04" + struct.pack("<HHHHHLLLHH", 20, 0, 0, 0, 33, 0, 0, 0, 1, 0) + b"a"
    listed = b"".join(
        b"PK\x01\x02\x14\0"
        + struct.pack("<HHHHHLLLHHHHHLL", 20, 0, 0, 0, 33, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0)
        + b"%08x" % number
        for number in range(count)
    )
    said = min(count, 65_535)
    end = struct.pack("<4HLLH", 0, 0, said, said, len(listed), len(entry), 0)
    return entry + listed + b"PK\x05\x06" + end


def _flagged(kind: str, flag: int) -> bytes:
    """All parts with a flag set, as if they were encrypted."""
    return _raw_zip(_parts_of(_PACKAGES[kind][0]()), {}, flags=flag)


def _packed_by(method: int) -> bytes:
    made = io.BytesIO()
    with ZipFile(made, "w", method) as archive:
        for name, content in _parts_of(word()).items():
            archive.writestr(ZipInfo(name), content, method)
    return made.getvalue()


def _nested(depth: int) -> bytes:
    """Archives in archives, each holding ten of the next."""
    inner = zipped({"a.txt": b" " * 1_000_000})
    for _ in range(depth):
        inner = zipped({f"{number}.zip": inner for number in range(10)})
    return inner


def _overlapping() -> bytes:
    """Many entries in the directory that all stand for the same bytes of the file."""
    data, size = _deflate(b" " * 900_000), 900_000
    name = b"word/document.xml"
    common = struct.pack(
        "<HHHHHLLLHH", 20, 0, 8, 0, 33, zlib.crc32(b" " * size), len(data), size, len(name), 0
    )
    body = b"PK\x03\x04" + common + name + data
    listed = b"".join(
        b"PK\x01\x02\x14\0"
        + common
        + struct.pack("<HHHLL", 0, 0, 0, 0, 0)
        + b"word/doc%05d.xml" % n
        for n in range(5_000)
    )
    end = struct.pack("<4HLLH", 0, 0, 5_000, 5_000, len(listed), len(body), 0)
    return body + listed + b"PK\x05\x06" + end


_OUTSIDE = "name points outside of it"
CASES: tuple[Case, ...] = (
    *(refused(f"bomb.{kind}", "like a zip bomb", made(_bomb, kind)) for kind in _PACKAGES),
    *(
        refused(
            f"lying.{kind}",
            "larger than it says|is damaged",
            made(_bomb, kind, says=900_000),
        )
        for kind in _PACKAGES
    ),
    *(
        refused(
            f"bomb-beside.{kind}",
            "like a zip bomb",
            made(_bomb, kind, "media/image1.png"),
        )
        for kind in _PACKAGES
    ),
    *(
        refused(f"outside.{kind}", _OUTSIDE, made(_with, kind, ("../../x", b"y")))
        for kind in _PACKAGES
    ),
    refused("absolute.docx", _OUTSIDE, lambda _: _with("docx", ("/etc/passwd", b"y"))),
    refused("drive.docx", _OUTSIDE, lambda _: _with("docx", ("C:\\x.xml", b"y"))),
    refused("backslashes.xlsx", _OUTSIDE, lambda _: _with("xlsx", ("xl\\..\\..\\x", b"y"))),
    *(
        refused(
            f"doubled.{kind}",
            "two parts of the same name",
            made(_with, kind, (_PACKAGES[kind][1], b"<other/>")),
        )
        for kind in _PACKAGES
    ),
    *(
        refused(f"locked.{kind}", "an encrypted part", made(_flagged, kind, 1))
        for kind in _PACKAGES
    ),
    refused("locked-directory.docx", "encrypted", lambda _: _flagged("docx", 0x2000)),
    refused("many-parts.docx", "holds more than", lambda _: _directory_of(100_000)),
    refused(
        "more-parts-than-said.xlsx", "holds more than|directory", lambda _: _directory_of(65_600)
    ),
    refused("nested.docx", "of a kind that cannot be read|zip bomb", lambda _: _nested(3)),
    refused(
        "zip-in-word.docx",
        "no part|missing|damaged",
        lambda _: zipped({"[Content_Types].xml": "<Types/>", "word/document.xml": _nested(2)}),
    ),
    refused("overlapping.docx", "unpacked|damaged|zip bomb|MB", lambda _: _overlapping()),
    refused("bzip2.docx", "packed in a way", lambda _: _packed_by(ZIP_BZIP2)),
    refused("lzma.docx", "packed in a way", lambda _: _packed_by(ZIP_LZMA)),
    refused("end-only.docx", "cannot be read|damaged", lambda _: b"PK\x05\x06" + bytes(18)),
    refused("no-end.docx", "end of it is missing", lambda _: word()[:-30]),
    refused("start-only.docx", "is damaged", lambda _: b"PK\x03\x04"),
    refused("wrong-sum.docx", "wrong checksum|damaged", lambda _: _wrong_sum()),
    read("comment.docx", lambda _: _commented(), has="The seal leaks"),
    either("program-before.docx", lambda _: b"PK\x03\x04" + bytes(500) + word()),
    read("folders.docx", lambda _: _with("docx", ("word/", b""), ("a/b/c/", b"")), has="The seal"),
    refused("large-in-all.docx", "when unpacked", lambda _: _large_in_all()),
    read("wide-names.docx", lambda _: _with("docx", ("ü" * 20_000, b"x")), has="The seal leaks"),
    read("no-other-parts.docx", lambda _: word_file(paragraph("The seal leaks")), has="The seal"),
    refused("nul-name.docx", ".", lambda _: _raw_zip({**word_parts(""), "a\0b": b"x"}, {})),
)


def _wrong_sum() -> bytes:
    parts = _parts_of(word())
    data = parts.pop("word/document.xml")
    assert isinstance(data, bytes)
    return _raw_zip(parts, {"word/document.xml": (_deflate(data), 7, len(data))})


def _commented() -> bytes:
    """With the signature of an end in the comment behind the end."""
    made = io.BytesIO(word())
    with ZipFile(made, "a", ZIP_DEFLATED) as archive:
        archive.comment = b"x" * 60_000
    return made.getvalue()


def _large_in_all() -> bytes:
    """Parts that are each within bounds, but not together."""
    noise = random.Random(1).randbytes(20_000) + b" " * 980_000
    part = (_deflate(noise * 2), zlib.crc32(noise * 2), len(noise) * 2)
    return _raw_zip(_parts_of(word()), {f"word/a{number}.bin": part for number in range(110)})
