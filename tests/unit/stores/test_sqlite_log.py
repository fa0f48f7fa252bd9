"""The log and what follows from it: nothing acknowledged is lost, nothing broken is believed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import HEADER, Part, at_angle, chunk_ids, embedded, found_by_words, part
from pincite.errors import IndexMissing, LibraryBusy, StoreDamaged, StoreReadOnly, StoreTooNew
from pincite.records import EmbeddedDocument, Modality
from pincite.stores.codec import embedded_from_json, embedded_to_json
from pincite.stores.lines import decode, encode
from pincite.stores.rows import embedded_of, rows_of
from pincite.stores.sqlite.log import ChunkLog
from pincite.stores.sqlite.opening import open_for_reading, open_for_writing

FULL = embedded(
    "notes/Über.md",
    Part("Größe 東京 🚀\r\n\u2028", (at_angle(1), at_angle(2)), ("A", "B"), Modality.OCR),
    part("the pump leaks", 3),
    tags=("Red", "straße"),
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.just("k"), inner),
    max_leaves=5,
)
entries = st.dictionaries(st.sampled_from("abc"), json_values)


def same(one: EmbeddedDocument, other: EmbeddedDocument) -> bool:
    """Equal, vectors compared by their bytes."""
    return embedded_to_json(one) == embedded_to_json(other)


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


def test_a_document_comes_back_from_the_log_and_from_its_rows() -> None:
    assert same(embedded_from_json(embedded_to_json(FULL)), FULL)
    rows = rows_of(FULL, time="2024-05-01", recipe="vault/1")
    assert same(embedded_of(HEADER.name, rows), FULL)


def test_a_torn_tail_is_cut_off_but_nothing_before_it(tmp_path: Path) -> None:
    log = ChunkLog(tmp_path / "log")
    sound = log.append({"event": 1})
    with log.path.open("ab") as file:
        file.write(encode({"event": 2})[:-1])
    log.cut_torn_tail(0)
    assert log.size() == sound
    assert [line.entry for line in log.lines()] == [{"event": 1}]


def test_a_damaged_line_in_the_middle_is_not_cut_off(tmp_path: Path) -> None:
    log = ChunkLog(tmp_path / "log")
    log.path.write_bytes(b"broken\n" + encode({"event": 2}))
    with pytest.raises(StoreDamaged, match="at byte 0"):
        log.cut_torn_tail(0)
    assert [line.entry for line in log.lines()] == [None, {"event": 2}]


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


def test_a_reader_sees_what_the_writer_stored_and_cannot_write(tmp_path: Path) -> None:
    writer = open_for_writing(tmp_path / "index")
    writer.begin(HEADER)
    reader = open_for_reading(tmp_path / "index")
    assert found_by_words(reader, "pump") == []
    writer.replace_document(FULL)
    assert found_by_words(reader, "pump") == chunk_ids(FULL)[1:]
    with pytest.raises(StoreReadOnly):
        reader.replace_document(FULL)
    with pytest.raises(StoreReadOnly):
        reader.remove_documents([FULL.document.id])
    reader.close()
    writer.close()


def test_there_is_one_writer_at_a_time(tmp_path: Path) -> None:
    writer = open_for_writing(tmp_path / "index")
    with pytest.raises(LibraryBusy, match="another process"):
        open_for_writing(tmp_path / "index")
    writer.close()
    open_for_writing(tmp_path / "index").close()


def test_a_folder_without_an_index_is_not_opened_for_reading(tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    with pytest.raises(IndexMissing):
        open_for_reading(tmp_path / "index")


def test_a_log_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    folder.mkdir()
    newer = encode({"event": "library", "version": 99, "fresh": False, "header": {}, "time": ""})
    (folder / "chunks.jsonl").write_bytes(newer)
    with pytest.raises(StoreTooNew, match="upgrade pincite"):
        open_for_writing(folder)
    assert (folder / "chunks.jsonl").read_bytes() == newer


def test_a_store_reopened_holds_the_same(tmp_path: Path) -> None:
    store = open_for_writing(tmp_path / "index")
    store.begin(HEADER)
    store.replace_document(FULL)
    before = (store.documents(), store.stats().windows, store.header())
    store.close()
    store = open_for_writing(tmp_path / "index")
    assert (store.documents(), store.stats().windows, store.header()) == before
    store.close()
