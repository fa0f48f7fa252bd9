"""Puts PDFs together object by object, so that any of them can be wrong."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
CATALOG = b"<< /Type /Catalog /Pages 2 0 R %s >>"
PAGE = (
    b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R "
    b"/Resources << /Font << /F1 5 0 R >> %s >> %s >>"
)


def shown(words: str, *, at: tuple[float, float] = (50, 700), how: str = "/F1 12 Tf") -> bytes:
    """What draws the words."""
    escaped = words.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return f"BT {how} {at[0]} {at[1]} Td ({escaped}) Tj ET\n".encode("cp1252")


def stream(data: bytes, entries: bytes = b"") -> bytes:
    """A stream as it stands, with its length."""
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), entries, data)


def packed(data: bytes, times: int = 1, entries: bytes = b"") -> bytes:
    """A stream that was compressed so many times."""
    for _ in range(times):
        data = zlib.compress(data, 9)
    names = b" ".join([b"/FlateDecode"] * times)
    return stream(data, b"/Filter [%s] %s" % (names, entries))


def pdf_of(
    content: bytes,
    *others: bytes,
    catalog: bytes = b"",
    resources: bytes = b"",
    page: bytes = b"",
) -> bytes:
    """A file of one page that shows this; further objects count from 6."""
    return written([*page_objects(stream(content), catalog, resources, page), *others])


def page_objects(
    content: bytes, catalog: bytes = b"", resources: bytes = b"", page: bytes = b""
) -> list[bytes]:
    """Catalog, page tree, page, content and font, as objects 1 to 5."""
    return [
        CATALOG % catalog,
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        PAGE % (resources, page),
        content,
        FONT,
    ]


def written(objects: Sequence[bytes], trailer: bytes = b"/Root 1 0 R") -> bytes:
    """The objects, numbered from 1, with a table of where they are."""
    out = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(places) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d %s >>\n" % (len(places) + 1, trailer)
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % start)
