"""A library as one file, to move and to keep.

An archive is a gzip stream of lines with checksums (stores/lines.py): one `library`, then any
`file`s, `run`s and `past` versions, then every `document` by path, then the `original`s that were
handed in, and one `end`. An archive without its end is cut off. It is written under its name only
once it is whole and on the disk.

An archive may come from anywhere, and its checksums say only that it is as somebody wrote it: every
value is checked before it is believed.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, Literal, NotRequired, Protocol, TypedDict, cast

import msgspec
import numpy as np

from pincite.errors import (
    ArchiveInvalid,
    LibraryBusy,
    ModelInvalid,
    SettingsError,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreTooNew,
)
from pincite.files import sync_folder
from pincite.records import EmbeddedDocument, EvalRun, LibraryHeader, Original, recipe_lacking
from pincite.records.soundness import MOST, are_counts, is_sound
from pincite.settings import policy_named
from pincite.stores.codec import embedded_from_json, embedded_to_json
from pincite.stores.lines import checked, sealed
from pincite.vectors import unit

FORMAT = 1
# As gzip begins without a name and a time: the same library gives the same bytes.
GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
# A document with its vectors is one line. The longest that one of 20 MB makes is about half of
# this; a file that wants more is taken for a trap.
MOST_LINE_BYTES = 256 << 20
MOST_FILE_BYTES = 20 << 20

Stretch = tuple[list[str], int, int, int]

_LEVEL = 1  # nearly all of it is vectors, which hardly get smaller however long one tries
_UNFINISHED = ".part"
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

_BLOCK = 1 << 18

_MOST_REPEATED = 8  # times the text: chunks overlap, but none of ours by more than half
_CHECKSUM = re.compile(r"[0-9a-f]{64}")
_FINGERPRINT = re.compile(r"[0-9a-f]{32}")
_UNREADABLE = (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError)


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


class Sink(Protocol):
    """Where bytes go: an open file, or another program."""

    def write(self, data: bytes, /) -> object:
        """Take all of them."""
        ...


class ArchiveWriter:
    """Packs lines into a file. What an import would refuse is refused here already."""

    def __init__(self, file: Sink) -> None:
        self._file = file
        self.written = 0  # bytes
        self._packing = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        self._digest = hashlib.blake2b(digest_size=32)
        self._crc = 0
        self._size = 0
        self._lines = 0
        self._write(GZIP_HEAD)

    def add(self, line: Line) -> None:
        """Write one line."""
        self._pack(sealed(msgspec.json.encode(line)))

    def add_document(self, embedded: EmbeddedDocument, header: LibraryHeader, recipe: str) -> None:
        """Write a document with its vectors."""
        form = cast(DocumentForm, embedded_to_json(embedded))
        body = msgspec.json.encode(DocumentLine(recipe, form))
        try:
            sound_document(msgspec.json.decode(body, type=DocumentLine), header)
        except (Unsound, msgspec.MsgspecError) as error:
            raise _unsound(embedded, error) from error
        self._pack(_bounded(body, embedded.document.path))

    def add_version(self, embedded: EmbeddedDocument) -> None:
        """Write a version of a document that is gone; nobody searches by its vectors."""
        bare = EmbeddedDocument(
            embedded.document, tuple(replace(part, windows=()) for part in embedded.chunks)
        )
        body = msgspec.json.encode(PastLine(cast(DocumentForm, embedded_to_json(bare))))
        try:
            sound_version(msgspec.json.decode(body, type=PastLine).document)
        except (Unsound, msgspec.MsgspecError) as error:
            raise _unsound(embedded, error) from error
        self._pack(_bounded(body, embedded.document.path))

    def add_original(self, original: Original) -> None:
        """Write a file as it was handed in."""
        line = OriginalLine(
            original.path, original.checksum, original.labels, original.owner, original.data
        )
        self._pack(_bounded(msgspec.json.encode(line), original.path))

    def finish(self) -> None:
        """Write the end."""
        self.add(EndLine(self._lines, self._digest.hexdigest()))
        self._write(self._packing.flush())
        self._write(struct.pack("<LL", self._crc, self._size & 0xFFFFFFFF))

    def _pack(self, raw: bytes) -> None:
        self._digest.update(raw)
        self._crc = zlib.crc32(raw, self._crc)
        self._size += len(raw)
        self._lines += 1
        self._write(self._packing.compress(raw))

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self.written += len(data)


@contextmanager
def written_archive(target: Path, *, overwrite: bool) -> Iterator[ArchiveWriter]:
    """An archive to fill. It gets its name when the block ends well; else nothing is left of it."""
    unfinished = target.with_name(target.name + _UNFINISHED)
    with _translated_errors(target):
        if target.exists() and not target.is_file():
            what = "is a folder" if target.is_dir() else "is not a regular file"
            raise SettingsError(f"{target} {what}; name a file to write")
        if not target.parent.is_dir():
            raise SettingsError(f"there is no folder {target.parent} to write {target.name} into")
        if target.exists() and not overwrite:
            raise SettingsError(f"{target} exists; name another file, or give --overwrite")
        # It holds the text of every document, whatever their own permissions are.
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        with os.fdopen(os.open(unfinished, flags, 0o600), "wb") as file:
            _lock(file, target)
            os.ftruncate(file.fileno(), 0)  # what a killed export left
            os.fchmod(file.fileno(), 0o600)
            try:
                writer = ArchiveWriter(file)
                yield writer
                writer.finish()
                file.flush()
                os.fsync(file.fileno())
                unfinished.replace(target)
            except BaseException:
                unfinished.unlink(missing_ok=True)
                raise
        sync_folder(target.parent.resolve())


@contextmanager
def streamed_archive(sink: Sink) -> Iterator[ArchiveWriter]:
    """An archive that goes straight on; one without its end is refused wherever it is imported."""
    try:
        writer = ArchiveWriter(sink)
        yield writer
        writer.finish()
    except OSError as error:
        kind = StoreFull if error.errno in _NO_SPACE else StoreError
        raise kind(
            f"the output cannot be written: {error.strerror or error}; what was written is cut off"
        ) from error


def _lock(file: BinaryIO, target: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise LibraryBusy(f"another process is writing {target}; wait until it is done") from error


def _bounded(body: bytes, path: str) -> bytes:
    raw = sealed(body)
    if len(raw) > MOST_LINE_BYTES:
        raise ArchiveInvalid(
            f"{path} is too large to be exported: it makes {len(raw):,} bytes, "
            f"{MOST_LINE_BYTES:,} are the most"
        )
    return raw


def _unsound(embedded: EmbeddedDocument, error: Exception) -> StoreDamaged:
    return StoreDamaged(
        f"{embedded.document.path} cannot be exported: the index {error}; "
        "run `pincite index verify --repair`"
    )


@contextmanager
def _translated_errors(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        match error.errno:
            case code if code in _NO_SPACE:
                raise StoreFull(f"no space left to write {target}; nothing was kept") from error
            case errno.EROFS | errno.EACCES | errno.EPERM:
                raise StoreReadOnly(f"{target} cannot be written; check its folder") from error
        raise StoreError(f"{target}: {error.strerror or error}") from error


class Archive:
    """One archive that is being read. The last line comes only out of one that is whole."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file = file
        self._path = path
        self.bytes_read = 0
        self.size = path.stat().st_size

    def opened(self) -> tuple[LibraryLine, Iterator[AnyLine]]:
        """The first line, and all others."""
        lines = self.lines()
        match next(lines):
            case LibraryLine() as first:
                return first, lines
            case _:
                raise self._invalid("does not begin as an export does")

    def lines(self) -> Iterator[AnyLine]:
        """Every line in order, each checked against its checksum and its form.

        ArchiveInvalid as soon as something is wrong; that lines are missing at the end shows only
        there.
        """
        digest = hashlib.blake2b(digest_size=32)
        before: AnyLine | None = None
        for number, raw in enumerate(self._raw_lines()):
            if isinstance(before, EndLine):
                raise self._invalid("goes on after its end")
            line = self._parsed(raw, first=before is None)
            self._refuse_disorder(before, line)
            if isinstance(line, EndLine) and (number, digest.hexdigest()) != (
                line.lines,
                line.checksum,
            ):
                raise self._invalid("does not have the lines it was written with")
            digest.update(raw)
            before = line
            yield line
        if not isinstance(before, EndLine):
            raise self._cut_off()

    def refuse(self, unsound: Unsound) -> ArchiveInvalid:
        """The error for something that was found in it."""
        return self._invalid(str(unsound))

    def _parsed(self, raw: bytes, *, first: bool) -> AnyLine:
        body = checked(raw)
        if body is None:
            raise self._invalid("is damaged: a line does not match its checksum")
        try:
            if first:
                self._refuse_newer(msgspec.json.decode(body, type=Announced))
            line: AnyLine = msgspec.json.decode(body, type=AnyLine)
            if isinstance(line, LibraryLine):
                _check_header(line.header)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise self._invalid(f"holds something that pincite never writes ({error})") from error
        except RecursionError as error:
            raise self._invalid("holds something nested deeper than pincite ever writes") from error
        except Unsound as unsound:
            raise self.refuse(unsound) from unsound
        return line

    def _refuse_newer(self, announced: Announced) -> None:
        if announced.format > FORMAT:
            raise StoreTooNew(
                f"{self._path} was written by pincite {announced.pincite}, in a format that this "
                "pincite does not know yet; upgrade pincite"
            )

    def _refuse_disorder(self, before: AnyLine | None, line: AnyLine) -> None:
        if (before is None) != isinstance(line, LibraryLine):
            raise self._invalid("does not begin as an export does")
        if isinstance(before, DocumentLine):
            if not isinstance(line, DocumentLine | OriginalLine | EndLine):
                raise self._invalid("has its lines in a different order than an export")
            if isinstance(line, DocumentLine) and before.document["path"] >= line.document["path"]:
                raise self._invalid("holds its documents twice, or in disorder")
        if isinstance(before, OriginalLine) and not isinstance(line, OriginalLine | EndLine):
            raise self._invalid("has its lines in a different order than an export")

    def _raw_lines(self) -> Iterator[bytes]:
        """The lines, in pieces of bounded size however small they were packed."""
        pending: list[bytes] = []
        length = 0
        for block in self._unpacked():
            *ended, rest = block.split(b"\n")
            for part in ended:
                yield b"".join((*pending, part, b"\n"))
                pending, length = [], 0
            pending.append(rest)
            length += len(rest)
            if length > MOST_LINE_BYTES:
                raise self._invalid(f"holds a line of more than {MOST_LINE_BYTES:,} bytes")
        if length:
            raise self._cut_off()

    def _unpacked(self) -> Iterator[bytes]:
        head = self._file.read(len(GZIP_HEAD))
        if head != GZIP_HEAD:
            raise self._invalid("is not a file that `pincite export` or `pincite backup` wrote")
        unpacking = zlib.decompressobj(wbits=31)
        packed = head
        while not unpacking.eof:
            try:
                block = unpacking.decompress(packed, _BLOCK)
            except zlib.error as error:
                raise self._invalid(f"is damaged ({error})") from error
            if block:
                yield block
            packed = unpacking.unconsumed_tail
            if not packed and not unpacking.eof:
                packed = self._file.read(_BLOCK)
                self.bytes_read = self._file.tell()
                if not packed:
                    raise self._cut_off()
        if unpacking.unused_data or self._file.read(1):
            raise self._invalid("goes on after its end")

    def _cut_off(self) -> ArchiveInvalid:
        return self._invalid("is cut off: its end is missing")

    def _invalid(self, what: str) -> ArchiveInvalid:
        return ArchiveInvalid(f"{self._path} {what}; nothing was changed. Copy or export it again")


@contextmanager
def opened_archive(path: Path) -> Iterator[Archive]:
    """An archive to read from."""
    if not path.is_file():
        raise SettingsError(f"{path} is not a file; name one that `pincite export` wrote")
    try:
        file = path.open("rb")
    except OSError as error:
        raise SettingsError(f"{path} cannot be opened: {error.strerror or error}") from error
    with file:
        yield Archive(file, path)


class Unsound(Exception):
    """Something in an archive cannot be as it says; the message completes `it …`."""


def _check_header(header: LibraryHeader) -> None:
    """Refuse what no index can be made with."""
    try:
        policy_named(header.policy)
    except SettingsError as error:
        raise Unsound(f"was cut by a policy that this pincite does not know: {error}") from error


def sound_document(line: DocumentLine, header: LibraryHeader) -> EmbeddedDocument:
    """A document of today, with a vector for each window, and windows but for what it lacks."""
    form = line.document
    if form["library"] != header.name:
        raise Unsound(f"holds {form['path']!r} of another library")
    embedded = _sound(form)
    if line.recipe != recipe_lacking(line.recipe, embedded.lacking):
        raise Unsound(f"holds {form['path']!r} with a chunk that has no vector")
    for part in embedded.chunks:
        for window in part.windows:
            _check_vector(window.vector, form["path"], header.model.dimensions)
    return embedded


def sound_version(form: DocumentForm) -> EmbeddedDocument:
    """A version of a document that is gone; its vectors are, too."""
    if any(chunk["windows"] for chunk in form["chunks"]):
        raise Unsound(f"holds vectors of {form['path']!r}, which is gone")
    return _sound(form)


def sound_original(line: OriginalLine) -> Original:
    """A file that was handed in, whose bytes are those that its checksum names."""
    if hashlib.sha256(line.data).hexdigest() != line.checksum:
        raise Unsound(f"holds another file than it says for {line.path!r}")
    return Original(line.path, line.checksum, line.labels, line.data, line.owner)


def _sound(form: DocumentForm) -> EmbeddedDocument:
    path, length = form["path"], len(form["text"])
    if not _is_inside(path):
        raise Unsound(f"names a document {path!r}, which is not a path inside a library")
    if not _CHECKSUM.fullmatch(form["checksum"]) or form["size"] < 0:
        raise Unsound(f"does not say which file {path!r} is")
    chunks = form["chunks"]
    # Before anything is cut: slices that overlap without end would fill the memory.
    held = sum(abs(chunk["end"] - chunk["start"]) for chunk in chunks)
    if held > _MOST_REPEATED * length or not (
        all(_is_chunk(chunk, length) for chunk in chunks)
        and all(one["start"] < other["start"] for one, other in pairwise(chunks))
    ):
        raise Unsound(f"holds {path!r} with parts that lie outside its text, or not in order")
    try:
        embedded = embedded_from_json(dict(form))
        believed = is_sound(embedded.document)
    except _UNREADABLE as error:
        raise Unsound(f"holds {path!r} with a value that cannot be read ({error})") from error
    ids = [part.chunk.id for part in embedded.chunks]
    if form["id"] != embedded.document.id or ids != [chunk["id"] for chunk in chunks]:
        raise Unsound(f"holds {path!r} under an id that is not its own")
    if not believed:
        raise Unsound(f"holds {path!r} with parts or words that no file has")
    return embedded


def _is_inside(path: str) -> bool:
    """Whether a path leads to something below the folder that it is taken from."""
    parts = path.split("/")
    return "\0" not in path and not any(part in ("", ".", "..") for part in parts)


def _is_chunk(chunk: ChunkForm, length: int) -> bool:
    stretches = [
        (chunk["start"], chunk["end"]),
        *((start, end) for start, end, _ in chunk["omissions"]),
        *((start, end) for start, end, _, _ in chunk["windows"]),
    ]
    counts = cast(Iterable[float | None], (chunk["tokens"], *chunk["locator"].values()))
    return (
        all(0 <= start <= end <= length for start, end in stretches)
        and _are_inside(chunk["sections"], length)
        and are_counts(counts)
        and all(_FINGERPRINT.fullmatch(window[2]) for window in chunk["windows"])
    )


def _are_inside(sections: Iterable[Stretch], length: int) -> bool:
    return all(
        0 <= start <= end <= length and 0 <= level <= MOST for _, level, start, end in sections
    )


def _check_vector(vector: np.ndarray, path: str, dimensions: int) -> None:
    try:
        unit(vector, dimensions=dimensions)
    except ModelInvalid as error:
        raise Unsound(f"holds {path!r} with something that is not a vector: {error}") from error
    if not np.isclose(np.linalg.norm(vector.astype(np.float64)), 1, atol=1e-3):
        raise Unsound(f"holds {path!r} with a vector that is not of length 1")
