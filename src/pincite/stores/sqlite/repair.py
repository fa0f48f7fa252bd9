"""A damaged index → a sound log to start from, with whatever only one of the two still knows."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import apsw

from pincite.errors import ModelInvalid, StoreDamaged, StoreError
from pincite.files import refuse_links, remove, replace_file, sync_folder
from pincite.records import DocumentId, LibraryHeader
from pincite.stores.codec import embedded_to_json, header_from_json
from pincite.stores.lines import Entry, encode
from pincite.stores.rows import embedded_of, rows_of
from pincite.stores.sqlite import tables
from pincite.stores.sqlite.connection import UNREADABLE_VALUE, translated_errors
from pincite.stores.sqlite.log import ChunkLog
from pincite.stores.sqlite.meta import log_position, meta
from pincite.stores.sqlite.replay import LiveLog, library_entry, read_live
from pincite.stores.sqlite.schema import open_database
from pincite.vectors import unit


@dataclass(frozen=True)
class Remembered:
    """What a sound database still knows."""

    position: int
    header: Entry
    held: frozenset[DocumentId]
    documents: dict[DocumentId, Entry]  # those of them whose rows are sound


def prepare(database: Path, log: ChunkLog) -> None:
    """Mend the log where it needs it, and drop the database, which follows from the log.

    A damaged log is kept beside the mended one. The mended log is whole on disk before the
    database goes, and takes its place after: at no moment is anything known to neither.
    """
    finish(database, log)
    live = read_live(log)
    remembered = _remember(database) if database.exists() else None
    if live.broken or (remembered is not None and remembered.position > live.size):
        # Whole before it has that name: `finish` trusts what it finds there.
        with translated_errors(log.path):
            replace_file(_mended_path(log), map(encode, _mended_entries(log, remembered)))
    _drop(database)
    finish(database, log)


def _drop(database: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        remove(database.with_name(database.name + suffix))


def finish(database: Path, log: ChunkLog) -> None:
    """Put a mended log in its place, also one that a killed repair left behind."""
    mended = _mended_path(log)
    if database.exists():
        # Left by a repair that was killed before it came to drop the database: out of date.
        remove(mended)
    if not mended.exists():
        return
    if log.path.exists():
        kept = log.path.with_name(f"{log.path.name}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S%f}")
        refuse_links(log.path)
        os.link(log.path, kept)
    refuse_links(mended)
    mended.replace(log.path)
    sync_folder(log.path.parent)


def _mended_path(log: ChunkLog) -> Path:
    return log.path.with_name(log.path.name + ".mended")


def _remember(database: Path) -> Remembered | None:
    """All sound documents of the database; None where it cannot be trusted as a whole."""
    try:
        with (
            closing(open_database(database, writable=True)) as connection,
            translated_errors(database),
        ):
            header = meta(connection, "header")
            sound = connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            if header is None or not sound:
                return None
            ids = [DocumentId(str(row[0])) for row in connection.execute("SELECT id FROM document")]
            documents = _sound_documents(connection, ids, header_from_json(json.loads(header)))
            return Remembered(
                log_position(connection), json.loads(header), frozenset(ids), dict(documents)
            )
    except StoreError:
        return None


def _sound_documents(
    connection: apsw.Connection, ids: Sequence[DocumentId], header: LibraryHeader
) -> Iterator[tuple[DocumentId, Entry]]:
    """Documents whose rows are complete and say the same as a fresh copy of them would."""
    for document_id in ids:
        try:
            rows = tables.read(connection, document_id)
            if rows is None:
                continue
            *_, time, recipe = rows.document
            embedded = embedded_of(header.name, rows)
            for chunk in embedded.chunks:
                for window in chunk.windows:
                    unit(window.vector, dimensions=header.model.dimensions)
        except (ModelInvalid, *UNREADABLE_VALUE):
            continue
        if rows_of(embedded, time=time, recipe=recipe) == rows:
            yield document_id, _document_entry(embedded_to_json(embedded), time, recipe)


def _document_entry(document: Entry, time: str, recipe: str) -> Entry:
    return {
        "event": "document",
        "recipe": recipe,
        "replaces": [],
        "document": document,
        "time": time,
    }


def _mended_entries(log: ChunkLog, remembered: Remembered | None) -> Iterator[Entry]:
    """The log's sound entries, then whatever makes them end where the database stands."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    live = LiveLog()
    for line in log.lines():
        # Before the first sound header nothing has a place.
        if line.entry is not None and (live.header or line.entry["event"] == "library"):
            live.follow(line.entry, line.start)
            yield line.entry
    if remembered is not None:
        yield from _differences(live, remembered, now)
    elif live.header is None:
        raise StoreDamaged(
            f"neither {log.path} nor the database can be read; remove {log.path.parent} and run "
            "`pincite index build`"
        )


def _differences(live: LiveLog, remembered: Remembered, now: str) -> Iterator[Entry]:
    """What the database knows and the log's sound lines do not."""
    header = {**library_entry(remembered.header), "time": now}
    if live.header != remembered.header:
        live.follow(header, 0)
        yield header
    for document_id, entry in remembered.documents.items():
        if document_id not in live.documents:
            yield entry
    gone = [
        document_id
        for document_id, start in live.documents.items()
        if document_id not in remembered.held and start < remembered.position
    ]
    if gone:
        yield {"event": "removed", "documents": gone, "time": now}
