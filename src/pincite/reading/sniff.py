"""Which reader a file needs, told by its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from pincite.errors import FileUnreadable
from pincite.reading.markdown import read_markdown
from pincite.reading.plain import read_text
from pincite.records import Document

LibraryReader = Callable[[str, str, bytes], Document]
"""Library, path and bytes of one file → its Document, or FileUnreadable."""

_READERS: dict[LibraryReader, tuple[str, ...]] = {
    read_markdown: (".md", ".markdown", ".mdown", ".mkd", ".mdx"),
    read_text: (".txt", ".text"),
}
_READER_OF = {suffix: reader for reader, suffixes in _READERS.items() for suffix in suffixes}

# Files that by custom have no extension and are written for people.
_TEXT_NAMES = frozenset(("readme", "notes", "todo", "changelog", "changes", "news", "history"))


def reader_for(path: str) -> LibraryReader | None:
    """The reader for a file of this name; None if there is none."""
    name = PurePosixPath(path)
    if not name.suffix and name.name.lower() in _TEXT_NAMES:
        return read_text
    return _READER_OF.get(name.suffix.lower())


def read(library: str, path: str, data: bytes) -> Document:
    """Read one file as what its name says it is."""
    reader = reader_for(path)
    if reader is None:
        kind = PurePosixPath(path).suffix or "without an extension"
        raise FileUnreadable(f"is of a kind that cannot be read ({kind})")
    return reader(library, path, data)
