"""Reads an archive line by line; what is wrong with it is told, whatever it is."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import msgspec

from pincite.errors import ArchiveInvalid, SettingsError, StoreTooNew
from pincite.stores.archive.checking import Unsound, check_header
from pincite.stores.archive.forms import (
    FORMAT,
    GZIP_HEAD,
    MOST_LINE_BYTES,
    Announced,
    AnyLine,
    DocumentLine,
    EndLine,
    LibraryLine,
    OriginalLine,
)
from pincite.stores.lines import checked

_BLOCK = 1 << 18


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
                raise self._invalid("does not hold the lines that it was written with")
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
                check_header(line.header)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise self._invalid(f"holds something that no pincite writes ({error})") from error
        except RecursionError as error:
            raise self._invalid("holds something nested deeper than any pincite writes") from error
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
                raise self._invalid("holds its lines in another order than an export does")
            if isinstance(line, DocumentLine) and before.document["path"] >= line.document["path"]:
                raise self._invalid("holds its documents twice, or in disorder")
        if isinstance(before, OriginalLine) and not isinstance(line, OriginalLine | EndLine):
            raise self._invalid("holds its lines in another order than an export does")

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
            raise self._invalid("is no file that `pincite export` or `pincite backup` wrote")
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
        raise SettingsError(f"{path} is no file; name one that `pincite export` wrote")
    try:
        file = path.open("rb")
    except OSError as error:
        raise SettingsError(f"{path} cannot be opened: {error.strerror or error}") from error
    with file:
        yield Archive(file, path)
