"""The index in a folder: its log, earlier versions of it, and exact searches."""

from __future__ import annotations

import fcntl
import shutil
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread, Timer

import apsw
import pytest
from filelock import FileLock
from hypothesis import given, strategies as st

from helpers import (
    HEADER,
    at_angle,
    chunk_ids,
    embedded,
    fill,
    found_by_vector,
    found_by_words,
    part,
)
from pincite.errors import LibraryBusy, StoreReadOnly
from pincite.ports import Store
from pincite.records import Box, Filters, Place
from pincite.stores.codec import places_from_bytes, places_to_bytes
from pincite.stores.lines import decode, encode
from pincite.stores.sqlite.connection import connect
from pincite.stores.sqlite.filters import match_expression
from pincite.stores.sqlite.log import ChunkLog
from pincite.stores.sqlite.opening import (
    LOCK_NAME,
    is_written,
    open_for_reading,
    open_for_writing,
)
from pincite.stores.sqlite.schema import MIGRATIONS, migrate, schema_version
from pincite.stores.sqlite.vocabulary import all_spellings
from pincite.text.words import question_terms
from soak import times

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.just("k"), inner),
    max_leaves=5,
)
entries = st.dictionaries(st.sampled_from("abc"), json_values)


@given(entries)
def test_an_entry_comes_back_from_its_line(entry: dict[str, object]) -> None:
    line = encode(entry)
    assert decode(line) == entry
    assert line.count(b"\n") == 1


@given(entries, st.data())
def test_a_torn_or_changed_line_is_never_believed(
    entry: dict[str, object], data: st.DataObject
) -> None:
    line = encode(entry)
    assert decode(line[: data.draw(st.integers(0, len(line) - 1))]) is None
    at = data.draw(st.integers(0, len(line) - 1))
    changed = bytearray(line)
    changed[at] ^= data.draw(st.integers(1, 255))
    assert decode(bytes(changed)) is None


def rebuilt(folder: Path) -> None:
    for file in folder.glob("index.db*"):
        file.unlink()


def test_what_was_replaced_by_its_path_alone_stays_gone_when_the_database_is_rebuilt(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "index"
    new = embedded("a.md", "the valve sticks")
    store = open_for_writing(folder)
    store.begin(HEADER)
    store.replace_document(embedded("a.md", "the pump leaks"))
    store.replace_document(new)
    store.remove_documents([new.document.id])
    store.close()
    rebuilt(folder)
    store = open_for_writing(folder)
    assert store.documents() == []
    assert store.verify() == []
    store.close()


NEW_SINCE = {
    "document": (
        *("size", "modality", "summary", "folded_language", "folded_project", "folded_author"),
        *("folded_agents", "level", "date_first", "date_last", "checks"),
    ),
    "chunk": (
        *("page_start", "page_end", "time_start", "time_end", "row_start", "row_end"),
        *("places", "omissions", "analysis", "folded_layer", "folded_symbols", "folded_imports"),
    ),
}


@pytest.fixture(scope="module")
def version_1(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index as the first version wrote it: without what later ones added."""
    index = tmp_path_factory.mktemp("index")
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
    return index


@pytest.fixture
def old(version_1: Path, tmp_path: Path) -> Path:
    """An index of the first version, to work with."""
    return shutil.copytree(version_1, tmp_path / "index")


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


def test_a_reader_sees_what_the_writer_stored_and_cannot_write(tmp_path: Path) -> None:
    writer = open_for_writing(tmp_path / "index")
    writer.begin(HEADER)
    reader = open_for_reading(tmp_path / "index")
    assert found_by_words(reader, "pump") == []
    stored = embedded("a.md", "the pump leaks")
    writer.replace_document(stored)
    assert found_by_words(reader, "pump") == chunk_ids(stored)
    with pytest.raises(StoreReadOnly):
        reader.replace_document(stored)
    with pytest.raises(StoreReadOnly):
        reader.remove_documents([stored.document.id])
    reader.close()
    writer.close()


def test_a_thread_that_ends_gives_its_connection_back(tmp_path: Path) -> None:
    open_for_writing(tmp_path / "index").close()
    with closing(open_for_reading(tmp_path / "index")) as reader:
        reader.version()
        opened = []
        for _ in range(10):
            thread = Thread(target=reader.version)
            thread.start()
            thread.join()
            opened.append(len([*Path("/dev/fd").iterdir()]))
        assert opened == opened[:1] * 10  # SQLite keeps one of the file's for the next


def test_an_index_of_the_first_version_is_brought_up_to_date(old: Path) -> None:
    with closing(open_for_writing(old)) as store:
        assert store.header() is not None
        assert len(found_by_words(store, "pump")) == 1
        assert [one.path for one in store.find_documents("water")] == ["a.md"]
        assert store.verify() == []
    with closing(connect(old / "index.db", writable=False)) as connection:
        assert schema_version(connection) == len(MIGRATIONS)


def test_an_older_index_that_cannot_be_updated_now_is_not_called_damaged(old: Path) -> None:
    with (
        FileLock(old / "lock"),
        pytest.raises(LibraryBusy, match="made by an older pincite"),
    ):
        open_for_reading(old)


def test_the_database_made_anew_from_an_old_log_is_the_migrated_one(old: Path) -> None:
    with closing(open_for_writing(old)):
        pass
    migrated = _dump(old / "index.db")
    for file in old.glob("index.db*"):
        file.unlink()
    with closing(open_for_writing(old)):
        pass
    assert _dump(old / "index.db") == migrated


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


@pytest.mark.parametrize("at", range(0, 40, times(4, soak=1)))
def test_a_migration_that_is_cut_short_starts_again(old: Path, at: int) -> None:
    connection = connect(old / "index.db", writable=True)
    left = at

    def stop_at(_cursor: apsw.Cursor, _statement: str, _bindings: object) -> bool:
        nonlocal left
        left -= 1
        return left >= 0

    connection.exec_trace = stop_at
    with suppress(apsw.ExecTraceAbort):
        migrate(connection)
    connection.close(force=True)
    with closing(open_for_writing(old)) as store:
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
    assert places_from_bytes(places_to_bytes(places), 8) == places


def test_places_that_no_text_has_are_not_unpacked() -> None:
    packed = zlib.compress(b"[" + b"[0,0]," * 10**6 + b"[0,0]]")
    for length, data in ((-8, packed), (0, packed), (900, packed), (900, b"not packed")):
        with pytest.raises(ValueError, match="places"):
            places_from_bytes(data, length)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_for_writing(tmp_path / "index")
    opened.begin(HEADER)
    yield opened
    opened.close()


@given(st.text())
def test_outside_quotes_an_expression_has_only_our_own_words(question: str) -> None:
    expression = match_expression(question_terms(question))
    outside = expression.split('"')[::2]
    assert set(outside) <= {"", " OR ", " *", " * OR "}


def test_the_nearest_are_exact_though_one_chunk_has_more_windows_than_a_call_can_give(
    store: Store,
) -> None:
    # vec0 gives 4,096 neighbours at most; all of them belong to the first chunk.
    crowd = embedded("crowd.md", part("word " * 5_000, *(n / 5_000 for n in range(4_500))))
    others = [embedded(f"{n}.md", part(f"number {n}", 10 + n)) for n in range(4)]
    for document in (*others, crowd):
        store.replace_document(document)
    expected = [*chunk_ids(crowd), *(name for one in others for name in chunk_ids(one))]
    assert found_by_vector(store, at_angle(0), limit=3) == expected[:3]
    everyone = Filters(types=("md",))
    assert found_by_vector(store, at_angle(0), everyone, limit=3) == expected[:3]


def test_equals_beyond_the_first_windows_that_are_fetched_are_still_ranked_by_id(
    store: Store,
) -> None:
    documents = [embedded(f"{n}.md", part("the pump leaks", 5)) for n in range(60)]
    for document in documents:
        store.replace_document(document)
    by_id = sorted(name for document in documents for name in chunk_ids(document))
    for limit in (1, 2, 5, 14, 15, 16, 59, 60, 61):
        assert found_by_vector(store, at_angle(0), limit=limit) == by_id[:limit]


def test_those_who_ask_whether_somebody_writes_do_not_hinder_each_other(tmp_path: Path) -> None:
    assert not is_written(tmp_path)  # where nobody ever wrote
    with closing(open_for_writing(tmp_path)):
        assert is_written(tmp_path)
    assert not is_written(tmp_path)
    with (tmp_path / LOCK_NAME).open("rb") as asking:
        fcntl.flock(asking, fcntl.LOCK_SH)
        assert not is_written(tmp_path)
        with pytest.raises(LibraryBusy):
            open_for_writing(tmp_path)
        Timer(0.05, fcntl.flock, (asking, fcntl.LOCK_UN)).start()
        open_for_writing(tmp_path).close()  # a moment is waited for
