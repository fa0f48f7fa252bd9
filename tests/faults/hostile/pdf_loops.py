"""PDFs that lead round in circles, or whose tables say what cannot be."""

from __future__ import annotations

import zlib

from hostile.case import Case, either, read, refused
from hostile.deflate import zlib_bomb
from hostile.pdf_file import PAGE, page_objects, pdf_of, shown, stream, written

_SEAL = shown("The seal leaks")

_BOOKMARK = b"<< /Title (Pumps) /Parent 6 0 R /Next %d 0 R /First %d 0 R /Dest [3 0 R /Fit] >>"
_LOOPS = (
    read(
        "outline.pdf",
        lambda _: pdf_of(
            _SEAL,
            *(b"<< /First 7 0 R /Last 7 0 R /Count 1 >>", _BOOKMARK % (7, 7)),
            catalog=b"/Outlines 6 0 R",
        ),
        has="The seal leaks",
    ),
    read(
        "outlines.pdf",
        lambda _: pdf_of(
            _SEAL,
            *(b"<< /First 7 0 R /Last 8 0 R >>", _BOOKMARK % (8, 8), _BOOKMARK % (7, 7)),
            catalog=b"/Outlines 6 0 R",
        ),
        has="The seal leaks",
    ),
    either("tree.pdf", lambda _: _tree(b"[2 0 R 2 0 R 3 0 R]", 3)),
    either("tree-count.pdf", lambda _: _tree(b"[3 0 R]", 100_000)),
    either("tree-large.pdf", lambda _: _tree(b"[3 0 R]", 2_147_483_647)),
    either("tree-negative.pdf", lambda _: _tree(b"[3 0 R]", -5)),
    refused("tree-empty.pdf", "is damaged|no text", lambda _: _tree(b"[]", 0)),
    either("same-page.pdf", lambda _: _tree(b"[" + b"3 0 R " * 500 + b"]", 500)),
    read(
        "structure.pdf",
        lambda _: pdf_of(
            _SEAL,
            *(b"<< /Type /StructTreeRoot /K 7 0 R >>", b"<< /S /H1 /P 7 0 R /K [7 0 R 7 0 R 1] >>"),
            catalog=b"/StructTreeRoot 6 0 R /MarkInfo << /Marked true >>",
            page=b"/StructParents 0",
        ),
        has="The seal leaks",
    ),
    either(
        "length-of-itself.pdf",
        lambda _: written(page_objects(b"<< /Length 4 0 R >>\nstream\n" + _SEAL)),
    ),
    either("root-of-itself.pdf", lambda _: written([b"1 0 R"])),
    either("font-of-itself.pdf", lambda _: _type_3()),
    either("pattern.pdf", lambda _: _pattern()),
)


def _tree(kids: bytes, count: int) -> bytes:
    objects = page_objects(stream(_SEAL))
    objects[1] = b"<< /Type /Pages /Kids %s /Count %d >>" % (kids, count)
    return written(objects)


def _type_3() -> bytes:
    """A letter that is drawn by writing the same letter."""
    objects = page_objects(stream(_SEAL))
    objects[4] = (
        b"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 9 9] /FontMatrix [1 0 0 1 0 0] /CharProcs "
        b"<< /e 6 0 R >> /Encoding << /Differences [101 /e] >> /FirstChar 101 /LastChar 101 "
        b"/Widths [9] /Resources << /Font << /F1 5 0 R >> >> >>"
    )
    return written([*objects, stream(b"9 0 d0 " + _SEAL * 100)])


def _pattern() -> bytes:
    """A pattern that is filled with itself, behind white words."""
    pattern = stream(
        b"/Pattern cs /P scn 0 0 9 9 re f",
        b"/PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 9 9] /XStep 5 /YStep 5 "
        b"/Resources << /Pattern << /P 6 0 R >> >>",
    )
    content = b"/Pattern cs /P scn 0 0 600 800 re f 1 g\n" + _SEAL
    return pdf_of(content, pattern, resources=b"/Pattern << /P 6 0 R >>")


def _pages(count: int) -> bytes:
    """As many pages as that, which all show the same."""
    objects = page_objects(stream(_SEAL))
    first = len(objects) + 1
    kids = b" ".join(b"%d 0 R" % number for number in range(first, first + count))
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, count)
    return written([*objects, *[PAGE % (b"", b"")] * count])


def _xref(entries: bytes, data: bytes = b"") -> bytes:
    """A file whose table is a stream."""
    body = written(page_objects(stream(_SEAL)))
    body = body[: body.index(b"xref\n0")]
    table = stream(data, b"/Type /XRef /Root 1 0 R " + entries)
    return body + b"9 0 obj\n%s\nendobj\nstartxref\n%d\n%%%%EOF" % (table, len(body))


_HEAD = b"%PDF-1.7\n"
_TABLES = (
    read("pages.pdf", lambda _: _pages(1_000), has="The seal leaks"),
    either("missing-root.pdf", lambda _: _HEAD + b"trailer << /Size 2147483647 >>\n%%EOF"),
    either(
        "large-table.pdf",
        lambda _: _HEAD + b"xref\n0 2147483647\n0000000000 65535 f \ntrailer << /Root 1 0 R >>",
    ),
    either("prev-itself.pdf", lambda _: _prev_itself()),
    either("xref-size.pdf", lambda _: _xref(b"/Size 2147483647 /W [1 4 2] /Index [0 2147483647]")),
    either("xref-width.pdf", lambda _: _xref(b"/Size 9 /W [2147483647 2147483647 1]", bytes(99))),
    either("xref-prev.pdf", lambda _: _xref(b"/Size 9 /W [1 2 1] /Prev 600", bytes(36))),
    either("objects.pdf", lambda _: _object_stream(2_147_483_647)),
    refused("object-bomb.pdf", "unpack to more than", lambda _: _object_stream(10, zlib_bomb())),
    either("startxref.pdf", lambda _: _HEAD + b"startxref\n99999999999999999999\n%%EOF" * 100),
    either("trailers.pdf", lambda _: _HEAD + b"trailer << /Prev 9 /Root 1 0 R >>\n" * 10_000),
    either("open-objects.pdf", lambda _: _HEAD + b"1 0 obj << /A " * 20_000),
    either("open-strings.pdf", lambda _: _HEAD + b"1 0 obj (" * 50_000),
)


def _prev_itself() -> bytes:
    whole = written(page_objects(stream(_SEAL)))
    start = whole.index(b"xref\n0")
    return whole.replace(b"/Root 1 0 R", b"/Root 1 0 R /Prev %d" % start)


def _object_stream(count: int, data: bytes | None = None) -> bytes:
    """The catalog lies in a stream of objects that says that it holds many, or does."""
    inner = b"1 0 " + b" " * 96 + b"<< /Type /Catalog /Pages 2 0 R >>"
    entries = b"/Type /ObjStm /Filter /FlateDecode /N %d /First 100" % count
    objects = page_objects(stream(_SEAL))
    objects[0] = stream(data or zlib.compress(inner), entries)
    table = bytes(7) + b"\x02\0\0\0\x01\0\0" + bytes(35)
    body = written(objects)
    body = body[: body.index(b"xref\n0")]
    listed = stream(table, b"/Type /XRef /Size 7 /W [1 4 2] /Root 1 0 R")
    return body + b"9 0 obj\n%s\nendobj\nstartxref\n%d\n%%%%EOF" % (listed, len(body))


CASES: tuple[Case, ...] = (*_LOOPS, *_TABLES)
