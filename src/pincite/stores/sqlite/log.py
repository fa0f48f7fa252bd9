"""`chunks.jsonl`: the append-only truth of an embedded library.

One JSON line for each event, with a checksum over its bytes (see stores/lines.py):

    {"check": "<16 hex digits>", "entry": {"event": "document", "time": …, …}}

A line is on disk before the database hears of it. A last line torn by a crash was never
acknowledged and is cut off; any other broken line is damage.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pincite.errors import StoreDamaged
from pincite.files import open_file, sync_folder
from pincite.stores.lines import Entry, decode, encode
from pincite.stores.sqlite.connection import REPAIR, UNREADABLE_VALUE, translated_errors


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
        with translated_errors(self.path), open_file(self.path, "ab", buffering=0) as file:
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
        with translated_errors(self.path), open_file(self.path) as file:
            file.seek(start)
            for line in file:
                yield LogLine(start, start + len(line), _entry_in(line))
                start += len(line)

    def entry_at(self, position: int) -> Entry:
        """The entry whose line begins there."""
        with translated_errors(self.path), open_file(self.path) as file:
            file.seek(position)
            entry = _entry_in(file.readline())
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
            with translated_errors(self.path), open_file(self.path, "r+b") as file:
                file.truncate(sound)
                os.fsync(file.fileno())


def _entry_in(line: bytes) -> Entry | None:
    """What a line says; None where it is torn, was changed, or lacks what its event has."""
    try:
        entry = decode(line)
        return entry if entry is not None and _is_whole(entry) else None
    except UNREADABLE_VALUE:
        return None


def _is_whole(entry: Entry) -> bool:
    """Whether it has what is read of it before the database hears of it."""
    match entry:
        case {
            "event": "document",
            "document": {"id": str(), "path": str(), "chunks": [*chunks]},
            "replaces": [*texts],
            "time": str(),
        }:
            texts = [*texts, *(chunk["id"] for chunk in chunks)]
        case {
            "event": "forgotten",
            "documents": [*ids],
            "chunks": [*chunks],
            "paths": [*paths],
            "time": str(),
        }:
            texts = [*ids, *chunks, *paths]
        case {"event": "removed", "documents": [*texts]}:
            pass
        case {"event": "finished"}:
            texts = [text for path, reason in entry.get("problems", ()) for text in (path, reason)]
        case {"event": "document" | "forgotten" | "removed"}:
            return False
        case _:
            texts = [entry["event"]]  # of a newer pincite, perhaps
    return all(isinstance(text, str) for text in texts)


def _write_all(file: BinaryIO, line: bytes) -> None:
    written = 0
    while written < len(line):
        written += file.write(line[written:])
