"""What the lines of an archive hold, with the types that a file must keep to.

An archive is a gzip stream of lines with checksums (stores/lines.py): one `library`, then any
`file`s, `run`s and `past` versions, then every `document` by path, then the `original`s that were
handed in, and one `end`. An archive without its end is cut off.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

import msgspec

from pincite.records import EvalRun, LibraryHeader

FORMAT = 1
# As gzip begins without a name and a time: the same library gives the same bytes.
GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
# A document with its vectors is one line. The longest that one of 20 MB makes is about half of
# this; a file that wants more is taken for a trap.
MOST_LINE_BYTES = 256 << 20
MOST_FILE_BYTES = 20 << 20

Stretch = tuple[list[str], int, int, int]


class MetadataForm(TypedDict):
    """As `codec.metadata_to_json` writes it."""

    tags: list[str]
    author: str | None
    date: str | None
    language: str | None
    modified: NotRequired[str | None]
    pages: NotRequired[int | None]
    duration: NotRequired[float | None]
    recording: NotRequired[str | None]
    source: NotRequired[str | None]
    notes: NotRequired[list[str]]
    project: NotRequired[str | None]
    confidentiality: NotRequired[str | None]
    agents: NotRequired[list[str]]
    name: NotRequired[str | None]


class LocatorForm(TypedDict):
    """A `Locator`."""

    line_start: int
    line_end: int
    page_start: int | None
    page_end: int | None
    time_start: float | None
    time_end: float | None
    row_start: int | None
    row_end: int | None


class AnalysisForm(TypedDict):
    """An `Analysis`."""

    layer: str | None
    symbols: list[str]
    imports: list[str]
    entry_points: list[str]


class ChunkForm(TypedDict):
    """A chunk of a document; its text is a slice of the document's."""

    id: str
    modality: str
    start: int
    end: int
    locator: LocatorForm
    sections: list[Stretch]
    tokens: int
    places: str
    omissions: list[tuple[int, int, str]]
    analysis: AnalysisForm
    windows: list[tuple[int, int, str, str]]


class DocumentForm(TypedDict):
    """As `codec.embedded_to_json` writes it."""

    id: str
    library: str
    path: str
    checksum: str
    type: str
    title: str
    own_title: bool
    metadata: MetadataForm
    sections: list[Stretch]
    size: int
    modality: str
    summary: str
    text: str
    chunks: list[ChunkForm]


PLACE_ROWS = list[list[int | float | list[int] | None]]


class Line(msgspec.Struct, tag_field="kind", frozen=True):
    """One line of an archive."""


class LibraryLine(Line, tag="library", frozen=True, omit_defaults=True):
    """The first one: who wrote the file, and how its library is made."""

    format: int
    pincite: str  # the version that wrote it
    header: LibraryHeader
    complete: bool
    problems: list[tuple[str, str]]  # files that could not be read, and why
    documents: int  # that follow
    # Of a project, by somebody who may not see the strictest label: up to which they may.
    clearance: Literal["", "public", "internal", "confidential"] = ""


class FileLine(Line, tag="file", frozen=True):
    """A file of ours at the top of the library: questions, glossary, labels, analysis."""

    name: str
    data: bytes


class RunLine(Line, tag="run", frozen=True):
    """An eval run."""

    run: EvalRun


class PastLine(Line, tag="past", frozen=True):
    """A version of a document that the library does not hold any more; without vectors."""

    document: DocumentForm


class DocumentLine(Line, tag="document", frozen=True):
    """A document with its chunks and vectors, and how it was made."""

    recipe: str
    document: DocumentForm


class OriginalLine(Line, tag="original", frozen=True):
    """The file that one of the documents was made of, as it was handed in to a project."""

    path: str
    checksum: str
    labels: dict[str, Any]
    owner: str
    data: bytes


class EndLine(Line, tag="end", frozen=True):
    """The last one: what was before it."""

    lines: int
    checksum: str  # over the bytes of all of them


AnyLine = LibraryLine | FileLine | RunLine | PastLine | DocumentLine | OriginalLine | EndLine


class Announced(msgspec.Struct, frozen=True):
    """What the first line of any format says."""

    format: int
    pincite: str
