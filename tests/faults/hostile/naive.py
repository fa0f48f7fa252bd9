"""Readers as they are often written, run behind the same wall; see test_hostile_files.py.

Each believes its file. Without the wall they do harm, which the tests show as well.
"""

import io
import re
import sys
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator

from lxml import etree

from pincite.reading.source_file import SourceFile
from pincite.records import Content, Section

_ADDRESS = re.compile(rb"""(?:src|href|Target)=["'](http://[^"']+)""")


def read(file: SourceFile) -> Content:
    """Read by the naive way that the file's name begins with."""
    text = _WAYS[file.path.partition("-")[0]](file.data)
    return Content(type="x", text=text, sections=(Section((), 0, 0, len(text)),))


def _unpack(data: bytes) -> str:
    """All parts of an archive, whatever their size."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = [archive.read(name) for name in archive.namelist()]
    return " ".join(part.decode("utf-8", "replace") for part in parts)


def _entities(data: bytes) -> str:
    """XML with all that its definitions stand for."""
    parser = etree.XMLParser(resolve_entities=True, load_dtd=True, no_network=False, huge_tree=True)
    return "".join(etree.fromstring(data, parser).itertext())


def _streams(data: bytes) -> str:
    """The streams of a PDF, unpacked."""
    found = re.findall(rb"stream\r?\n(x.*?)\nendstream", data, re.DOTALL)
    return b"\n".join(map(zlib.decompress, found)).decode("latin-1")


def _elements(data: bytes) -> str:
    """The text of a page, element by element, each inside of the one before."""
    sys.setrecursionlimit(10**6)
    return "".join(_inside(_nested(data)))


def _inside(element: "list[object]") -> Iterator[str]:
    for one in element:
        if isinstance(one, list):
            yield from _inside(one)
        else:
            yield str(one)


def _nested(data: bytes) -> "list[object]":
    """A list in a list for each element that is opened and not closed."""
    root: list[object] = []
    innermost = root
    for _ in range(data.count(b"<div>")):
        inner: list[object] = []
        innermost.append(inner)
        innermost = inner
    innermost.append(data.rpartition(b">")[2].decode())
    return root


def _fetch(data: bytes) -> str:
    """Whatever the file refers to, read from where it is."""
    addresses = _ADDRESS.findall(data)
    said = [urllib.request.urlopen(one.decode(), timeout=5).read() for one in addresses]
    return b"".join(said).decode("latin-1")


_WAYS = {
    "unpack": _unpack,
    "entities": _entities,
    "streams": _streams,
    "elements": _elements,
    "fetch": _fetch,
}
