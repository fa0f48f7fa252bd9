"""Versions of documents that the library no longer holds: found in the log, and forgotten for good.

A tombstone stays, so that a citation of such a document is not taken for one of nothing. It holds
ids and the time; of a path only the checksum, as a name may say as much as a text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain

from pincite.errors import StoreDamaged
from pincite.records import EmbeddedDocument, FoundChunk
from pincite.records.documents import sha1
from pincite.stores.codec import embedded_from_json
from pincite.stores.lines import Entry
from pincite.stores.sqlite.connection import REPAIR
from pincite.stores.sqlite.log import ChunkLog
from pincite.stores.sqlite.replay import LiveLog

_ID = re.compile(r"[0-9a-f]{8,40}")


def chunks_in_history(log: ChunkLog, id_prefix: str) -> list[FoundChunk]:
    """Chunks of any time whose id begins so, the latest first; a citation once given resolves."""
    found = {}
    for line in log.lines():
        if line.entry is None or line.entry["event"] != "document":
            continue
        ids = [chunk["id"] for chunk in line.entry["document"]["chunks"]]
        if any(chunk_id.startswith(id_prefix) for chunk_id in ids):
            embedded = embedded_from_json(line.entry["document"])
            for part in embedded.chunks:
                if part.chunk.id.startswith(id_prefix):
                    found[part.chunk.id] = FoundChunk(
                        embedded.document, part.chunk, superseded=True
                    )
    return list(found.values())[::-1]


def past_versions(log: ChunkLog, until: int) -> Iterator[EmbeddedDocument]:
    """What the first so many bytes of the log hold beside the living documents, oldest first."""
    live, starts = LiveLog(), []
    for line in log.lines():
        if line.end > until:
            break
        if line.entry is not None:  # a broken line is told by `verify`; the others count
            live.follow(line.entry, line.start)
            if line.entry["event"] == "document":
                starts.append(line.start)
    living = set(live.documents.values())
    for start in starts:
        if start not in living:
            yield embedded_from_json(log.entry_at(start)["document"])


def is_of(tombstone: Entry, name: str) -> bool:
    """Whether it stands for the document of this path, or of an id that begins so."""
    ids = (*tombstone["documents"], *tombstone["chunks"])
    return sha1(name) in tombstone["paths"] or (
        _ID.fullmatch(name) is not None and any(one.startswith(name) for one in ids)
    )


@dataclass
class History:
    """Every version of every document that logs hold."""

    paths: dict[str, str] = field(default_factory=dict)  # by document id
    chunks: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    problems: set[str] = field(default_factory=set)  # paths of what could not be read
    tombstones: list[Entry] = field(default_factory=list)
    _links: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def read(self, *logs: ChunkLog) -> None:
        """Take more logs into account; what cannot be read in them is left out."""
        lines = chain.from_iterable(log.lines() for log in logs)
        for entry in (line.entry for line in lines if line.entry is not None):
            if entry["event"] == "forgotten":
                self.tombstones.append(entry)
            elif entry["event"] == "finished":
                self.problems.update(path for path, _ in entry.get("problems", []))
            elif entry["event"] == "document":
                document = entry["document"]
                self.paths[document["id"]] = document["path"]
                self.chunks[document["id"]].update(one["id"] for one in document["chunks"])
                for other in entry["replaces"]:
                    self._links[document["id"]].add(other)
                    self._links[other].add(document["id"])

    def named(self, name: str) -> set[str]:
        """The paths of documents, or of chunks, whose id begins so."""
        return {
            path
            for one, path in self.paths.items()
            if _ID.fullmatch(name) and any(i.startswith(name) for i in (one, *self.chunks[one]))
        }

    def versions(self, paths: Iterable[str]) -> set[str]:
        """All that ever stood at these paths, with what it was before it was moved there, and
        what became of it elsewhere.
        """
        wanted = set(paths)
        pending = [one for one, path in self.paths.items() if path in wanted]
        found: set[str] = set()
        while pending:
            one = pending.pop()
            if one in self.paths and one not in found:
                found.add(one)
                pending += self._links[one]
        return found


def tombstone(history: History, versions: Iterable[str], paths: Iterable[str]) -> Entry:
    """What stays of these versions, and of what stood at these paths."""
    ids = sorted(versions)
    return {
        "event": "forgotten",
        "documents": ids,
        "chunks": sorted(set().union(*(history.chunks[one] for one in ids))),
        "paths": sorted(map(sha1, paths)),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def without(log: ChunkLog, stone: Entry, on_bytes: Callable[[int, int], None]) -> Iterator[Entry]:
    """The log's entries, with a tombstone instead of the documents it stands for."""
    gone, paths = set(stone["documents"]), set(stone["paths"])
    live, size = LiveLog(), log.size()
    for line in log.lines():
        entry = line.entry
        if entry is None:
            if line.end < size:
                raise StoreDamaged(f"{log.path} is damaged at byte {line.start}; {REPAIR}")
            break  # torn by a crash, and never acknowledged
        if entry["event"] == "document" and entry["document"]["id"] in gone:
            # What it took the place of is not held any more, as before.
            path = entry["document"]["path"]
            left = {*entry["replaces"], *filter(None, [live.at_path.get(path)])} - gone
            entry = {"event": "removed", "documents": sorted(left), "time": entry["time"]}
        elif entry["event"] == "finished":
            told = [one for one in entry.get("problems", []) if sha1(one[0]) not in paths]
            entry = {**entry, "problems": told}
        live.follow(entry, line.start)
        yield entry
        if line.start == 0:  # behind the header, before which nothing has a place
            yield stone
        on_bytes(line.end, size)
