"""Writes an archive: under its name only once it is whole and on the disk."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Protocol, cast

import msgspec

from pincite.errors import (
    ArchiveInvalid,
    LibraryBusy,
    SettingsError,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreReadOnly,
)
from pincite.records import EmbeddedDocument, LibraryHeader, Original
from pincite.stores.archive.checking import Unsound, sound_document, sound_version
from pincite.stores.archive.forms import (
    GZIP_HEAD,
    MOST_LINE_BYTES,
    DocumentForm,
    DocumentLine,
    EndLine,
    Line,
    OriginalLine,
    PastLine,
)
from pincite.stores.codec import embedded_to_json
from pincite.stores.disk import sync_folder
from pincite.stores.lines import sealed

_LEVEL = 1  # nearly all of it is vectors, which hardly get smaller however long one tries
_UNFINISHED = ".part"
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


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
        _refuse_target(target, overwrite=overwrite)
        # It holds the text of every document, whatever their own permissions are.
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
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
        sync_folder(target.parent)


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


def _refuse_target(target: Path, *, overwrite: bool) -> None:
    if target.is_dir():
        raise SettingsError(f"{target} is a folder; name a file to write")
    if not target.parent.is_dir():
        raise SettingsError(f"there is no folder {target.parent} to write {target.name} into")
    if target.exists() and not overwrite:
        raise SettingsError(f"{target} exists; name another file, or give --overwrite")


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
