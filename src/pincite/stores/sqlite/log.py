"""`chunks.jsonl`: the append-only truth of an embedded library.

One JSON line for each event, with a checksum over its bytes (see stores/lines.py):

    {"check": "<16 hex digits>", "entry": {"event": "document", "time": …, …}}

A line is on disk before the database hears of it. A last line torn by a crash was never
acknowledged and is cut off; any other broken line is damage.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from pincite.errors import StoreDamaged
from pincite.stores.disk import sync_folder
from pincite.stores.lines import Entry, decode, encode
from pincite.stores.sqlite.connection import REPAIR, translated_errors


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of the log: where it stands, and what it says; None where it is broken."""

    start: int
    end: int
    entry: Entry | None


class ChunkLog:
    """Appends to and reads one log file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def size(self) -> int:
        """Bytes of the log; 0 where there is none."""
        return self.path.stat().st_size if self.path.exists() else 0

    def append(self, entry: Entry) -> int:
        """Write one entry and wait for the disk; gives the log's new size."""
        line = encode(entry)
        # Unbuffered: closing a buffered file would write once more what the disk had no room for.
        with translated_errors(self.path), self.path.open("ab", buffering=0) as file:
            before = file.tell()
            try:
                _write_all(file, line)
                os.fsync(file.fileno())
            except OSError:
                # Half a line must not stay: the next one would be glued to it.
                os.ftruncate(file.fileno(), before)
                raise
            if before == 0:
                sync_folder(self.path.parent)
            return before + len(line)

    def lines(self, start: int = 0) -> Iterator[LogLine]:
        """Every line from a position on, broken ones included."""
        if not self.path.exists():
            return
        with translated_errors(self.path), self.path.open("rb") as file:
            file.seek(start)
            for line in file:
                yield LogLine(start, start + len(line), decode(line))
                start += len(line)

    def entry_at(self, position: int) -> Entry:
        """The entry whose line begins there."""
        with translated_errors(self.path), self.path.open("rb") as file:
            file.seek(position)
            entry = decode(file.readline())
        if entry is None:
            raise StoreDamaged(f"{self.path} is damaged at byte {position}; {REPAIR}")
        return entry

    def cut_torn_tail(self, acknowledged: int) -> None:
        """Cut off a last line that was never finished; `acknowledged` bytes are never touched."""
        sound = acknowledged
        for line in self.lines(acknowledged):
            if line.entry is None and line.end < self.size():
                raise StoreDamaged(f"{self.path} is damaged at byte {line.start}; {REPAIR}")
            if line.entry is not None:
                sound = line.end
        if sound < self.size():
            with translated_errors(self.path), self.path.open("r+b") as file:
                file.truncate(sound)
                os.fsync(file.fileno())


def write_whole(path: Path, entries: Iterable[Entry]) -> None:
    """Write a log of its own: under its name only once all of it is on disk."""
    unfinished = path.with_name(path.name + ".unfinished")
    with translated_errors(path):
        with unfinished.open("wb") as file:
            for entry in entries:
                file.write(encode(entry))
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
        sync_folder(path.parent)


def _write_all(file: FileIO, line: bytes) -> None:
    written = 0
    while written < len(line):
        written += file.write(line[written:])
