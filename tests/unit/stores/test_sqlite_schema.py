"""An index of an earlier version opens, and is then what its log would make of it now."""

from __future__ import annotations

from contextlib import closing, suppress
from pathlib import Path

import apsw
import pytest
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st

from helpers import embedded, fill, found_by_words, part
from pincite.errors import LibraryBusy
from pincite.records import Box, Place
from pincite.stores.codec import places_from_bytes, places_to_bytes
from pincite.stores.lines import encode
from pincite.stores.sqlite.connection import connect
from pincite.stores.sqlite.log import ChunkLog
from pincite.stores.sqlite.opening import open_for_reading, open_for_writing
from pincite.stores.sqlite.schema import MIGRATIONS, migrate, schema_version
from pincite.stores.sqlite.vocabulary import all_spellings

NEW_SINCE = {
    "document": (
        *("size", "modality", "summary", "folded_language", "folded_project", "folded_author"),
        *("folded_agents", "level", "date_first", "date_last"),
    ),
    "chunk": (
        *("page_start", "page_end", "time_start", "time_end", "row_start", "row_end"),
        *("places", "omissions", "analysis", "folded_layer", "folded_symbols", "folded_imports"),
    ),
}


def make_version_1(index: Path) -> None:
    """An index as the first version wrote it: without what later ones added."""
    with closing(open_for_writing(index)) as store:
        fill(
            store,
            embedded(
                "a.md",
                part("the pump leaks Rank Fusion (RF)"),
                part("the valve holds"),
                tags=("Water",),
            ),
        )
        store.finish()
    _make_log_1(index / "chunks.jsonl")
    with closing(connect(index / "index.db", writable=True)) as connection:
        connection.execute("DROP INDEX document_seen")
        connection.execute("DROP INDEX chunk_seen")
        connection.execute("CREATE INDEX chunk_of_document ON chunk (document)")
        for table, columns in NEW_SINCE.items():
            for column in columns:
                connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        for table in ("document_words", "document_spelling", "definition", "document_name"):
            connection.execute(f"DROP TABLE {table}")
        connection.execute("DROP TABLE forgotten")
        connection.execute("DELETE FROM meta WHERE key IN ('problems', 'next_chunk', 'segments')")
        connection.execute(
            "UPDATE meta SET value = json_remove(value, '$.options', '$.analysis', '$.summaries') "
            "WHERE key = 'header'"
        )
        size = (index / "chunks.jsonl").stat().st_size
        connection.execute("UPDATE meta SET value = ? WHERE key = 'log_position'", (str(size),))
        connection.execute("PRAGMA user_version = 1")


def _make_log_1(path: Path) -> None:
    entries = []
    for line in ChunkLog(path).lines():
        entry = line.entry
        assert entry is not None
        if entry["event"] == "document":
            for key in ("size", "modality", "summary"):
                del entry["document"][key]
            for chunk in entry["document"]["chunks"]:
                for key in ("places", "omissions", "analysis"):
                    del chunk[key]
                lines = chunk["locator"]
                chunk["locator"] = {key: lines[key] for key in ("line_start", "line_end")}
        elif entry["event"] == "library":
            for key in ("options", "analysis", "summaries"):
                del entry["header"][key]
        entry.pop("problems", None)
        entries.append(entry)
    path.write_bytes(b"".join(map(encode, entries)))


def test_an_index_of_the_first_version_is_brought_up_to_date(tmp_path: Path) -> None:
    make_version_1(tmp_path)
    with closing(open_for_writing(tmp_path)) as store:
        assert store.header() is not None
        assert len(found_by_words(store, "pump")) == 1
        assert [one.path for one in store.find_documents("water")] == ["a.md"]
        assert store.verify() == []
    with closing(connect(tmp_path / "index.db", writable=False)) as connection:
        assert schema_version(connection) == len(MIGRATIONS)


def test_reading_an_index_of_the_first_version_brings_it_up_to_date_too(tmp_path: Path) -> None:
    make_version_1(tmp_path)
    with closing(open_for_reading(tmp_path)) as store:
        assert len(found_by_words(store, "valve")) == 1


def test_an_older_index_that_cannot_be_updated_now_is_not_called_damaged(tmp_path: Path) -> None:
    make_version_1(tmp_path)
    with (
        FileLock(tmp_path / "lock"),
        pytest.raises(LibraryBusy, match="made by an older pincite"),
    ):
        open_for_reading(tmp_path)


def test_the_database_made_anew_from_an_old_log_is_the_migrated_one(tmp_path: Path) -> None:
    make_version_1(tmp_path)
    with closing(open_for_writing(tmp_path)):
        pass
    migrated = _dump(tmp_path / "index.db")
    for file in tmp_path.glob("index.db*"):
        file.unlink()
    with closing(open_for_writing(tmp_path)):
        pass
    assert _dump(tmp_path / "index.db") == migrated


def _dump(database: Path) -> list[object]:
    with closing(connect(database, writable=True)) as connection:
        assert all_spellings(connection)  # and so makes the view of them
        return [
            sorted(map(repr, connection.execute(f"SELECT * FROM {table}").fetchall()))
            for table in (
                *("document", "chunk", "window", "chunk_words", "document_words"),
                *("definition", "temp.spelled"),
            )
        ]


@pytest.mark.parametrize("at", range(40))
def test_a_migration_that_is_cut_short_starts_again(tmp_path: Path, at: int) -> None:
    make_version_1(tmp_path)
    connection = connect(tmp_path / "index.db", writable=True)
    left = at

    def stop_at(_cursor: apsw.Cursor, _statement: str, _bindings: object) -> bool:
        nonlocal left
        left -= 1
        return left >= 0

    connection.exec_trace = stop_at
    with suppress(apsw.ExecTraceAbort):
        migrate(connection)
    connection.close(force=True)
    with closing(open_for_writing(tmp_path)) as store:
        assert store.verify() == []
        assert len(found_by_words(store, "pump")) == 1


tenths = st.integers(-5_000, 20_000).map(lambda number: number / 10)
boxes = st.builds(Box, st.integers(1, 9_999), tenths, tenths, tenths, tenths)
seconds = st.integers(0, 10**8).map(lambda number: number / 1000)


@given(
    st.lists(
        st.builds(
            Place,
            start=st.integers(0, 10**7),
            end=st.integers(0, 10**7),
            page=st.none() | st.integers(1, 9_999),
            box=st.none() | boxes,
            time_start=st.none() | seconds,
            time_end=st.none() | seconds,
            row=st.none() | st.integers(1, 2**20),
        ),
        max_size=8,
    ).map(tuple)
)
def test_places_come_back_as_they_were_packed(places: tuple[Place, ...]) -> None:
    assert places_from_bytes(places_to_bytes(places)) == places


def test_no_places_take_no_room() -> None:
    assert places_to_bytes(()) == b""
