"""Segments are derived: they rank as the tables do, and whatever befalls them loses nothing."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from helpers import DIMENSIONS, HEADER, embedded, fill, found_by_words, part
from pincite.errors import StoreDamaged
from pincite.files import replace_file
from pincite.records import EmbeddedDocument, Filters, Ranking
from pincite.stores.sqlite.connection import connect
from pincite.stores.sqlite.meta import meta, next_chunk
from pincite.stores.sqlite.opening import open_for_reading, open_for_writing
from pincite.stores.sqlite.search import TableSearches
from pincite.stores.sqlite.segments import nearest, shelf
from pincite.stores.sqlite.segments.ranking import SegmentSearches
from pincite.stores.sqlite.segments.segment import (
    ARRAYS,
    Segment,
    opened,
    save,
    signs_of,
    telling_signs,
)
from pincite.stores.sqlite.segments.shelf import Shelf
from pincite.stores.sqlite.store import SqliteStore
from pincite.vectors import Vector, unit

WORDS = [
    *("pump", "valve", "leak", "seal", "water", "motor"),
    *("the", "of", "ERR-4042", "東京都", "Maße"),
]
EVERYTHING = Filters()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(open_for_writing(tmp_path)) as opened_store:
        opened_store.begin(HEADER)
        yield opened_store


def random_documents(count: int, seed: int = 0) -> list[EmbeddedDocument]:
    chance = np.random.default_rng(seed)
    return [
        embedded(
            f"{seed}-{number}.md",
            *(
                part(" ".join(chance.choice(WORDS, chance.integers(1, 12))), *angles)
                for angles in chance.uniform(0, 360, size=(chance.integers(1, 4), 2))
            ),
        )
        for number in range(count)
    ]


def segment_files(folder: Path) -> list[Path]:
    return sorted((folder / "segments").glob("*"))


def both(folder: Path) -> tuple[TableSearches, SegmentSearches]:
    connection = connect(folder / "index.db", writable=False)
    segments = Shelf(folder / "segments").search(connection)
    assert segments is not None
    return TableSearches(connection), SegmentSearches(connection, segments)


def assert_same(found: Ranking, expected: Ranking) -> None:
    np.testing.assert_allclose(
        [one.score for one in found], [one.score for one in expected], rtol=1e-4, atol=1e-5
    )
    # Where scores are as good as equal, the order is a matter of rounding.
    scores = {one.chunk_id: one.score for one in expected}
    for one in found:
        assert scores[one.chunk_id] == pytest.approx(one.score, rel=1e-4, abs=1e-5)


@pytest.fixture(scope="module")
def indexes(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Indexes to which documents were added in two runs, and of which some are gone again."""
    folders = []
    for seed in range(4):
        folder = tmp_path_factory.mktemp("index")
        with closing(open_for_writing(folder)) as store:
            first, second = random_documents(8, seed), random_documents(5, seed + 10)
            fill(store, *first)
            store.finish()
            for document in second:
                store.replace_document(document)
            store.remove_documents([first[0].document.id, second[0].document.id])
            store.finish()
        folders.append(folder)
    return folders


@settings(max_examples=50)
@given(
    question=st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join),
    angle=st.floats(0, 360),
    seed=st.integers(0, 3),
)
def test_segments_score_as_the_tables_do(
    question: str, angle: float, seed: int, indexes: list[Path]
) -> None:
    tables, segments = both(indexes[seed])
    vector = unit(
        [np.cos(np.radians(angle)), np.sin(np.radians(angle)), *[0.0] * (DIMENSIONS - 2)],
        dimensions=DIMENSIONS,
    )
    for filters in (EVERYTHING, Filters(name="3"), Filters(name="nothing")):
        everything = 1_000
        for found, expected in (
            (segments.words, tables.words),
            (segments.codes, tables.codes),
        ):
            assert_same(
                found(question, filters, everything), expected(question, filters, everything)
            )
        assert_same(
            segments.vector(vector, filters, everything),
            tables.vector(vector, filters, everything),
        )


def test_a_chunk_that_no_segment_knows_is_found_all_the_same(store: SqliteStore) -> None:
    fill(store, *random_documents(3))
    store.finish()
    store.replace_document(embedded("new.md", "a zebra crosses"))
    assert len(found_by_words(store, "zebra")) == 1
    store.finish()
    assert len(found_by_words(store, "zebra")) == 1


def test_a_row_is_never_given_to_another_chunk(store: SqliteStore) -> None:
    fill(store, embedded("a.md", "the old pump"))
    store.finish()
    last = next_chunk(store._connection)
    store.remove_documents([embedded("a.md", "the old pump").document.id])
    store.replace_document(embedded("b.md", "a new valve"))
    assert next_chunk(store._connection) == last + 1
    store.finish()
    assert found_by_words(store, "old") == []
    assert len(found_by_words(store, "valve")) == 1


def test_segments_stay_few_and_their_files_with_them(store: SqliteStore, tmp_path: Path) -> None:
    for number in range(20):
        store.replace_document(embedded(f"{number}.md", f"pump number {number}"))
        store.finish()
    assert len(segment_files(tmp_path)) <= 5
    assert len(found_by_words(store, "pump")) == 20


def test_a_segment_mostly_forgotten_is_written_again_without_its_dead(
    store: SqliteStore, tmp_path: Path
) -> None:
    documents = random_documents(10)
    fill(store, *documents)
    store.finish()
    before = segment_files(tmp_path)
    store.remove_documents([one.document.id for one in documents[:8]])
    store.finish()
    (after,) = segment_files(tmp_path)
    assert after not in before
    assert opened(after).size == sum(len(one.chunks) for one in documents[8:])
    assert store._connection.execute("SELECT count(*) FROM forgotten").get == 0


@pytest.mark.parametrize("damage", ["missing", "cut", "other"])
def test_damaged_segments_are_not_used_and_are_made_again(
    store: SqliteStore, tmp_path: Path, damage: str
) -> None:
    fill(store, embedded("a.md", "the pump leaks"))
    store.finish()
    (file,) = segment_files(tmp_path)
    whole = file.read_bytes()
    file.unlink()  # what is mapped must not be written to
    if damage != "missing":
        file.write_bytes({"cut": whole[:-100], "other": b"x" * len(whole)}[damage])
    with closing(open_for_reading(tmp_path)) as reader:
        assert len(found_by_words(reader, "pump")) == 1
    store._shelf = Shelf(tmp_path / "segments")
    store.replace_document(embedded("b.md", "another pump"))
    store.finish()
    assert store._shelf.search(store._connection) is not None
    assert len(found_by_words(store, "pump")) == 2


@pytest.mark.parametrize("array", ARRAYS)
def test_verify_tells_segments_that_differ_from_the_tables(
    store: SqliteStore, tmp_path: Path, array: str
) -> None:
    fill(store, *random_documents(5))
    store.finish()
    assert store.verify() == []
    (file,) = segment_files(tmp_path)
    segment = opened(file)
    changed = getattr(segment, array).copy()
    changed.flat[0] += 1
    save(replace(segment, **{array: changed}), tmp_path / "changed")
    (tmp_path / "changed").replace(file)  # what is mapped must not be written to
    assert {finding.part for finding in store.verify()} == {"segments"}
    store.repair()
    assert store.verify() == []


def test_without_room_for_segments_indexing_and_searching_go_on(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half() -> Iterator[bytes]:
        yield b"half of it"
        raise OSError(errno.ENOSPC, "No space left on device")

    def full(segment: Segment, path: Path) -> None:
        replace_file(path, half())

    monkeypatch.setattr(shelf, "save", full)
    monkeypatch.setattr(shelf, "_MADE_AT_ONCE", 2)
    fill(store, *random_documents(5))
    store.finish()
    assert store.is_complete()
    assert segment_files(tmp_path) == []
    assert len(found_by_words(store, "pump valve leak seal motor")) > 0
    monkeypatch.undo()
    store.finish()
    assert len(segment_files(tmp_path)) == 1


def test_signs_that_tell_little_are_not_gone_by() -> None:
    chance = np.random.default_rng(0)
    subjects = chance.normal(size=(100, 256))
    dense = subjects[chance.integers(100, size=2_000)] + chance.normal(size=(2_000, 256)) / 2

    def rows_of_signs(values: NDArray[np.float64]) -> int:
        lengths = np.linalg.norm(values, axis=1, keepdims=True)
        return len(telling_signs((values / np.maximum(lengths, 1e-9)).astype(np.float32)))

    assert rows_of_signs(dense) == 4
    assert rows_of_signs(dense * (chance.random(size=dense.shape) < 0.05)) == 0
    assert rows_of_signs(np.abs(dense) + 1) == 0


def test_a_segment_that_points_nowhere_is_told_and_can_be_repaired(
    store: SqliteStore, tmp_path: Path
) -> None:
    fill(store, embedded("a.md", "the pump leaks"))
    store.finish()
    (file,) = segment_files(tmp_path)
    segment = opened(file)
    save(replace(segment, posting_chunks=segment.posting_chunks + 1_000), tmp_path / "changed")
    (tmp_path / "changed").replace(file)
    with (
        closing(open_for_reading(tmp_path)) as reader,
        pytest.raises(StoreDamaged, match="verify --repair"),
    ):
        found_by_words(reader, "pump")
    assert {finding.part for finding in store.verify()} == {"segments"}
    store.repair()
    assert len(found_by_words(store, "pump")) == 1


def test_verify_tells_a_chunk_that_no_segment_holds(store: SqliteStore) -> None:
    fill(store, *random_documents(5))
    store.finish()
    told = json.loads(meta(store._connection, "segments") or "")
    store._connection.execute(
        "UPDATE meta SET value = ? WHERE key = 'segments'", (json.dumps({**told, "names": []}),)
    )
    assert [finding.part for finding in store.verify()] == ["segments"]


def test_a_reader_follows_the_writer_from_segment_to_segment(
    store: SqliteStore, tmp_path: Path
) -> None:
    fill(store, embedded("a.md", "the pump leaks"))
    store.finish()
    with closing(open_for_reading(tmp_path)) as reader:
        for number in range(5):
            assert len(found_by_words(reader, "pump")) == number + 1
            store.replace_document(embedded(f"{number}.md", f"pump {number}"))
            store.finish()


def test_segments_of_another_version_are_made_again(store: SqliteStore) -> None:
    fill(store, embedded("a.md", "the pump leaks"))
    store.finish()
    told = json.loads(meta(store._connection, "segments") or "")
    store._connection.execute(
        "UPDATE meta SET value = ? WHERE key = 'segments'", (json.dumps({**told, "version": 0}),)
    )
    assert store._shelf.search(store._connection) is None
    store.finish()
    assert store._shelf.search(store._connection) is not None


@given(st.integers(1, 200), st.integers(0, 5))
def test_signs_differ_in_as_many_bits_as_numbers_differ_in_sign(dimensions: int, seed: int) -> None:
    one, other = np.random.default_rng(seed).normal(size=(2, dimensions)).astype(np.float32)
    bits = [signs_of(vector[np.newaxis])[:, 0] for vector in (one, other)]
    differing = int(np.bitwise_count(bits[0] ^ bits[1]).sum())
    assert differing == int(((one > 0) != (other > 0)).sum())


def test_among_many_vectors_the_nearest_are_chosen_by_signs_and_then_compared(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearest, "_COMPARED_ALL", 10)
    monkeypatch.setattr(nearest, "_CLOSE", 4)
    fill(store, *random_documents(60))
    store.finish()
    asked: Vector = unit([1.0, 0.2, *[0.0] * (DIMENSIONS - 2)], dimensions=DIMENSIONS)
    found = store.search(None, asked, filters=EVERYTHING, limit=5)["vector"]
    exact = TableSearches(store._connection).vector(asked, EVERYTHING, 5)
    assert [one.chunk_id for one in found] == [one.chunk_id for one in exact]
    # As many as are asked for, though so many were not compared at first.
    everyone = store.search(None, asked, filters=EVERYTHING, limit=200)["vector"]
    assert len(everyone) == store.stats().chunks


def test_a_long_run_makes_segments_on_its_way(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf, "_MADE_AT_ONCE", 5)
    for document in random_documents(10):
        store.replace_document(document)
    assert meta(store._connection, "segments") is not None
