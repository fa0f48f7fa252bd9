"""Which segments an index has: the writer makes and merges them, everyone else looks.

What is current stands in the database, in the same transaction in which it became so. A reader
therefore sees segments that fit the rows it sees; where they do not (yet), it searches the tables.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from pincite.files import make_folder, remove
from pincite.stores.sqlite.connection import UNREADABLE_VALUE, transaction
from pincite.stores.sqlite.meta import meta, next_chunk, set_meta
from pincite.stores.sqlite.segments.making import made, merged
from pincite.stores.sqlite.segments.ranking import SegmentSearch
from pincite.stores.sqlite.segments.segment import Segment, opened, same, save, telling_signs

SEGMENTS_KEY = "segments"
_VERSION = 2  # raised when other arrays are wanted of the same rows
_MADE_AT_ONCE = 5_000  # chunks; a long run makes a segment each time so many are new
_LARGEST = 250_000  # chunks; larger segments are not merged, so that a merge has an end
_FACTOR = 4  # a segment is merged with the next one unless it is so many times larger
SUFFIX = ".segment"


@dataclass(frozen=True)
class _Current:
    """What the database says of its segments."""

    version: int
    end: int  # row of the first chunk that is in none of them
    names: tuple[str, ...]


class _Shelved(NamedTuple):
    """A segment, and the name of its file once it has one."""

    segment: Segment
    name: str | None = None


class Shelf:
    """The segments of one index folder. Threads may share it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._opened: dict[str, Segment] = {}
        self._search: tuple[str, SegmentSearch] | None = None  # and the state it is of

    def search(self, connection: apsw.Connection) -> SegmentSearch | None:
        """The searches over all chunks; None where a chunk is in no segment yet.

        Call inside a snapshot, and use what comes back within it.
        """
        told = meta(connection, SEGMENTS_KEY)
        current = _parsed(told)
        if current is None or current.end != next_chunk(connection):
            return None
        state = f"{told} {meta(connection, 'log_position')}"
        with self._lock:
            is_whole = all(segment.is_whole for segment in self._opened.values())
            if self._search is None or self._search[0] != state or not is_whole:
                try:
                    segments = self._segments(current)
                except (OSError, *UNREADABLE_VALUE):
                    return None  # deleted by the writer a moment ago, or damaged: see `verify`
                self._search = state, SegmentSearch(segments, _forgotten(connection))
            return self._search[1]

    def _segments(self, current: _Current) -> list[Segment]:
        kept = {
            name: segment
            for name, segment in self._opened.items()
            if name in current.names and segment.is_whole
        }
        for name in current.names:
            if name not in kept:
                kept[name] = opened(self._folder / name)
        self._opened = kept
        return [kept[name] for name in current.names]

    def disagreements(self, connection: apsw.Connection, *, dimensions: int) -> Iterator[str]:
        """What the segments say otherwise than the tables; nothing where there are none."""
        current = _parsed(meta(connection, SEGMENTS_KEY))
        if current is None:
            return
        forgotten, held = _forgotten(connection), [np.empty(0, np.int64)]
        for name in current.names:
            try:
                segment = opened(self._folder / name)
                living = merged([segment], forgotten)
                has_own_signs = np.array_equal(segment.signs, telling_signs(segment.vectors))
            except (OSError, *UNREADABLE_VALUE):
                yield f"{name} cannot be read"
                continue
            held.append(living.chunks)
            if living.size:
                first, last = int(living.chunks[0]), int(living.chunks[-1])
                expected = made(connection, first, last + 1, dimensions=dimensions)
                if not has_own_signs or not same(living, expected):
                    yield f"{name} does not hold what the database holds"
        stored = connection.execute("SELECT rowid FROM chunk WHERE rowid < ?", (current.end,))
        if set(np.concatenate(held).tolist()) != {row[0] for row in stored}:
            yield "the segments do not hold every chunk"

    def bytes_on_disk(self) -> int:
        """What the files take, also those that wait to be deleted."""
        total = 0
        for path in self._folder.glob(f"*{SUFFIX}"):
            with suppress(FileNotFoundError):  # deleted by the writer a moment ago
                total += path.lstat().st_size
        return total

    def is_due(self, connection: apsw.Connection) -> bool:
        """Whether so many chunks are new that a long run should not wait for its end."""
        current = _parsed(meta(connection, SEGMENTS_KEY))
        return next_chunk(connection) - (current.end if current else 1) >= _MADE_AT_ONCE

    def bring_up_to_date(self, connection: apsw.Connection, *, dimensions: int) -> None:
        """Make segments of the chunks that are in none; for the writer."""
        current = _parsed(meta(connection, SEGMENTS_KEY))
        self._clear(current.names if current else ())
        before, shelved = self._readable(current)
        end = next_chunk(connection)
        forgotten = _forgotten(connection)
        settled = _settled(shelved, forgotten)
        for first in range(before, end, _MADE_AT_ONCE):
            last = min(first + _MADE_AT_ONCE, end)
            new = made(connection, first, last, dimensions=dimensions)
            settled = _settled([*settled, _Shelved(new)], forgotten)
            # What will hardly be merged again need not stay in memory.
            settled[:-1] = [self._saved(one, end) for one in settled[:-1]]
        if end != before or settled != shelved:
            # Say in one transaction which segments there are, and forget what is in none of them.
            saved = [self._saved(one, end) for one in settled]
            current = _Current(_VERSION, end, tuple(str(one.name) for one in saved))
            held = np.concatenate([np.empty(0, np.int64), *(one.segment.chunks for one in saved)])
            gone = forgotten[~np.isin(forgotten, held)].tolist()
            with transaction(connection):
                set_meta(connection, SEGMENTS_KEY, json.dumps(asdict(current)))
                connection.execute(
                    "DELETE FROM forgotten WHERE chunk IN (SELECT value FROM json_each(?))",
                    (json.dumps(gone),),
                )
            self._clear(current.names)

    def _readable(self, current: _Current | None) -> tuple[int, list[_Shelved]]:
        """The segments there are, and the first row in none; damaged ones are made again."""
        if current is not None:
            with suppress(OSError, *UNREADABLE_VALUE), self._lock:
                segments = self._segments(current)
                return current.end, list(map(_Shelved, segments, current.names))
        return 1, []

    def _saved(self, shelved: _Shelved, end: int) -> _Shelved:
        if shelved.name is not None:
            return shelved
        make_folder(self._folder)
        name = f"{end:012d}-{secrets.token_hex(4)}{SUFFIX}"
        save(shelved.segment, self._folder / name)
        return _Shelved(opened(self._folder / name), name)

    def _clear(self, current: Sequence[str]) -> None:
        """Delete the files of segments that are no longer current, also those of a killed run."""
        for path in self._folder.glob(f"*{SUFFIX}*"):
            if path.name not in current:
                remove(path)


def _parsed(told: str | None) -> _Current | None:
    if told is None:
        return None
    values = json.loads(told)
    if values["version"] != _VERSION:
        return None
    return _Current(_VERSION, values["end"], tuple(values["names"]))


def _forgotten(connection: apsw.Connection) -> NDArray[np.int64]:
    """Rows of chunks that are in a segment and no longer in the database."""
    rows = connection.execute("SELECT chunk FROM forgotten ORDER BY chunk").fetchall()
    return np.array([row[0] for row in rows], np.int64)


def _settled(shelved: Sequence[_Shelved], forgotten: NDArray[np.int64]) -> list[_Shelved]:
    """The last segments merged until each is much larger than the next; none half forgotten.

    A chunk is then copied a few times in its life, and a search looks at a handful of segments.
    """
    settled = [one for each in shelved if (one := _without_waste(each, forgotten)).segment.size]
    while len(settled) > 1:
        before, last = (one.segment for one in settled[-2:])
        if before.size >= _FACTOR * last.size or before.size + last.size > _LARGEST:
            break
        settled[-2:] = [_Shelved(merged([before, last], forgotten))]
    return settled


def _without_waste(shelved: _Shelved, forgotten: NDArray[np.int64]) -> _Shelved:
    dead = int(np.isin(shelved.segment.chunks, forgotten).sum())
    if dead * 2 <= shelved.segment.size:
        return shelved
    return _Shelved(merged([shelved.segment], forgotten))
