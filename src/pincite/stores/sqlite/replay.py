"""The log's entries, made into rows: after each write, after a crash, and to build all anew."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from pincite.errors import StoreDamaged, StoreTooNew
from pincite.records import DocumentId
from pincite.stores.codec import embedded_from_json
from pincite.stores.lines import Entry
from pincite.stores.rows import rows_of
from pincite.stores.sqlite import tables
from pincite.stores.sqlite.connection import REPAIR, transaction
from pincite.stores.sqlite.log import ChunkLog
from pincite.stores.sqlite.meta import log_position, meta, set_meta
from pincite.stores.sqlite.schema import create_vector_table

LOG_VERSION = 1
_REPLAYED_TOGETHER = 200  # documents in one transaction when the database is made anew


@dataclass
class LiveLog:
    """What the log says once all of it is read."""

    header: Entry | None = None
    documents: dict[DocumentId, int] = field(default_factory=dict)  # → where its line begins
    at_path: dict[str, DocumentId] = field(default_factory=dict)  # one document at most
    broken: list[int] = field(default_factory=list)  # where lines that cannot be read begin
    size: int = 0
    complete: bool = False  # the last run came to its end
    problems: list[list[str]] = field(default_factory=list)  # paths not read by it, and why

    def follow(self, entry: Entry, start: int) -> None:
        """Take one more entry into account, whose line begins there."""
        self.complete = entry["event"] == "finished"
        match entry["event"]:
            case "library":
                if _starts_anew(self.header, entry):
                    self.documents.clear()
                self.header = entry["header"]
            case "document":
                document_id, path = entry["document"]["id"], entry["document"]["path"]
                self._forget([*entry["replaces"], self.at_path.get(path, document_id)])
                self.documents[document_id] = start
                self.at_path[path] = document_id
            case "removed":
                self._forget(entry["documents"])
            case "finished":
                self.problems = entry.get("problems", [])

    def _forget(self, ids: Iterable[DocumentId]) -> None:
        for gone in ids:
            self.documents.pop(gone, None)


def read_live(log: ChunkLog) -> LiveLog:
    """Go through the whole log once and keep where the living documents stand."""
    live = LiveLog()
    for line in log.lines():
        live.size = line.end
        if line.entry is None:
            live.broken.append(line.start)
        else:
            refuse_newer_entry(line.entry, log.path)
            live.follow(line.entry, line.start)
    return live


def refuse_newer_entry(entry: Entry, path: Path) -> None:
    """A log of a newer pincite is left alone."""
    if entry["event"] == "library" and entry["version"] > LOG_VERSION:
        raise StoreTooNew(f"{path} was written by a newer pincite; upgrade pincite")


def catch_up(connection: apsw.Connection, log: ChunkLog) -> None:
    """Bring a database that is behind its log up to date."""
    position = log_position(connection)
    if position > log.size():
        raise StoreDamaged(f"{log.path} is shorter than the database remembers; {REPAIR}")
    if position == 0:
        _build(connection, log)
        return
    for line in log.lines(position):
        if line.entry is None:
            raise StoreDamaged(f"{log.path} is damaged at byte {line.start}; {REPAIR}")
        with transaction(connection):
            apply(connection, line.entry, line.end)


def _build(connection: apsw.Connection, log: ChunkLog) -> None:
    """Fill an empty database, skipping documents that were replaced or removed later."""
    live = read_live(log)
    if live.broken:
        raise StoreDamaged(f"{log.path} is damaged at byte {live.broken[0]}; {REPAIR}")
    if live.header is None:
        return
    positions = sorted(live.documents.values())
    batches = range(0, len(positions), _REPLAYED_TOGETHER)
    # The position is written with the last batch only: a build cut short starts again.
    with transaction(connection):
        # Without a header everything starts anew: what an unfinished try left goes as well.
        connection.execute("DELETE FROM meta")
        apply(connection, {**library_entry(live.header), "time": None}, 0)
    for first in batches:
        with transaction(connection):
            for position in positions[first : first + _REPLAYED_TOGETHER]:
                apply(connection, log.entry_at(position), 0)
    with transaction(connection):
        set_meta(connection, "complete", str(int(live.complete)))
        set_meta(connection, "problems", json.dumps(live.problems))
        set_meta(connection, "log_position", str(live.size))


def apply(connection: apsw.Connection, entry: Entry, position: int) -> None:
    """One entry's rows, and how far the log has been followed; call inside a transaction."""
    match entry["event"]:
        case "library":
            _apply_header(connection, entry)
        case "document":
            value = entry["document"]
            tables.forget(connection, [value["id"], *entry["replaces"]], path=value["path"])
            rows = rows_of(embedded_from_json(value), time=entry["time"], recipe=entry["recipe"])
            tables.write(connection, rows)
        case "removed":
            tables.forget(connection, entry["documents"], path=None)
        case "forgotten":
            pass  # a note for those who ask for it: its document is in no line any more
        case "finished":
            set_meta(connection, "problems", json.dumps(entry.get("problems", [])))
        case event:
            raise StoreTooNew(f"the log holds {event!r}, which a newer pincite wrote; upgrade it")
    set_meta(connection, "complete", str(int(entry["event"] == "finished")))
    set_meta(connection, "log_position", str(position))
    if entry["time"]:
        set_meta(connection, "updated", entry["time"])


def _apply_header(connection: apsw.Connection, entry: Entry) -> None:
    if entry["version"] > LOG_VERSION:
        raise StoreTooNew("the log was written by a newer pincite; upgrade pincite")
    before = meta(connection, "header")
    if _starts_anew(None if before is None else json.loads(before), entry):
        for statement in tables.FORGET_EVERYTHING:
            connection.execute(statement)
        create_vector_table(connection, entry["header"]["model"]["dimensions"])
    set_meta(connection, "header", json.dumps(entry["header"]))


def library_entry(header: Entry) -> Entry:
    """The log's entry for how the index is made from here on."""
    return {"event": "library", "version": LOG_VERSION, "header": header}


def _starts_anew(before: Entry | None, entry: Entry) -> bool:
    """Other vectors or other ids: nothing stored before can stay."""

    def identity(header: Entry) -> tuple[object, ...]:
        model = header["model"]
        return header["name"], model["fingerprint"], model["dimensions"]

    return before is None or identity(before) != identity(entry["header"])
