"""What every store promises: writing, forgetting, ranking, loading."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial

import numpy as np
import pytest

from helpers import (
    DIMENSIONS,
    HEADER,
    OTHER_MODEL,
    Part,
    at_angle,
    chunk_ids,
    embedded,
    fill,
    found_by_vector,
    found_by_words,
    is_exact,
    part,
)
from pincite.errors import IndexMissing, ModelInvalid, StoreBusy
from pincite.ports import Store
from pincite.records import ChunkId, DocumentId, Filters, LibraryHeader, StoreStats
from pincite.vectors import Vector, unit

ANYTHING = Filters()


def is_empty(store: Store) -> bool:
    return (
        store.documents() == []
        and found_by_words(store, "pump") == []
        and found_by_vector(store, at_angle(0)) == []
    )


# Beginning


def test_a_store_has_no_header_before_it_is_begun(store: Store) -> None:
    assert store.header() is None


def test_a_store_that_was_never_begun_is_empty_to_every_question(store: Store) -> None:
    assert is_empty(store)
    assert store.known_vectors(["0" * 32]) == {}
    assert store.load_chunks([ChunkId("0" * 40)]) == []
    assert store.load_document(DocumentId("0" * 40)) is None
    assert store.find_chunks("00000000") == []
    assert store.stats().documents == 0
    assert store.stats().last_updated is None


def test_a_document_cannot_be_stored_before_the_store_is_begun(store: Store) -> None:
    with pytest.raises(IndexMissing):
        store.replace_document(embedded("a.md", "the pump leaks"))


def test_the_header_is_kept_as_it_was_given(store: Store) -> None:
    store.begin(HEADER)
    assert store.header() == HEADER


def test_beginning_again_in_the_same_way_keeps_the_documents(store: Store) -> None:
    fill(store, embedded("a.md", "the pump leaks"))
    store.begin(HEADER)
    assert [entry.path for entry in store.documents()] == ["a.md"]


def test_beginning_with_another_policy_keeps_documents_with_their_old_recipe(store: Store) -> None:
    fill(store, embedded("a.md", "the pump leaks"))
    store.begin(replace(HEADER, policy="flat"))
    assert [entry.recipe for entry in store.documents()] == [HEADER.recipe]
    assert store.header() == replace(HEADER, policy="flat")


@pytest.mark.parametrize(
    "header",
    [
        pytest.param(OTHER_MODEL, id="dimensions"),
        pytest.param(
            replace(HEADER, model=replace(HEADER.model, fingerprint="test:2")), id="fingerprint"
        ),
        pytest.param(replace(HEADER, name="elsewhere"), id="library"),
    ],
)
def test_beginning_with_another_identity_forgets_every_document(
    store: Store, header: LibraryHeader
) -> None:
    fill(store, embedded("a.md", "the pump leaks"))
    store.begin(header)
    assert store.header() == header
    assert store.documents() == []
    assert found_by_words(store, "pump") == []
    question = unit([1.0] * header.model.dimensions, dimensions=header.model.dimensions)
    assert found_by_vector(store, question) == []


def test_after_another_model_was_begun_vectors_of_its_size_are_stored(store: Store) -> None:
    fill(store, embedded("a.md", "the pump leaks"))
    store.begin(OTHER_MODEL)
    question = unit([1.0] * 4, dimensions=4)
    document = embedded("a.md", Part("the pump leaks", (question,)))
    store.replace_document(document)
    assert found_by_vector(store, question) == chunk_ids(document)


def test_another_edition_keeps_every_document_until_it_is_replaced(store: Store) -> None:
    fill(store, embedded("a.md", "the pump leaks"))
    store.begin(replace(HEADER, edition=2))
    (kept,) = store.documents()
    assert kept.recipe == HEADER.recipe != replace(HEADER, edition=2).recipe


def test_an_index_is_complete_from_the_end_of_a_run_to_the_next_change(store: Store) -> None:
    fill(store, document := embedded("a.md", "the pump leaks"))
    assert not store.is_complete()
    store.finish()
    assert store.is_complete()
    assert store.stats().complete
    store.remove_documents([document.document.id])
    assert not store.is_complete()


def test_a_vector_of_another_model_is_not_compared(store: Store) -> None:
    fill(store, document := embedded("a.md", part("the pump leaks", 10)))
    asked = partial(store.search, "pump", at_angle(10), filters=ANYTHING, limit=5)
    assert [one.chunk_id for one in asked(made_by="test:1")["vector"]] == chunk_ids(document)
    other = replace(HEADER, model=replace(HEADER.model, fingerprint="test:other"))
    store.begin(other)
    store.replace_document(document)
    with pytest.raises(StoreBusy, match="moved to the model"):
        asked(made_by="test:1")
    assert asked(made_by="test:other")["vector"]
    assert store.search("pump", None, filters=ANYTHING, limit=5)["words"]


# Writing and forgetting


def test_a_stored_document_is_listed_with_what_is_known_of_it(store: Store) -> None:
    document = embedded("notes/a.md", "the pump leaks", "the seal", title="Pumps", tags=("Water",))
    fill(store, document)
    (entry,) = store.documents()
    assert (entry.id, entry.path, entry.name) == (document.document.id, "notes/a.md", "a.md")
    assert (entry.type, entry.title, entry.chunks) == ("md", "Pumps", 2)
    assert entry.checksum == document.document.checksum
    assert entry.metadata == document.document.metadata
    assert entry.recipe == HEADER.recipe
    assert datetime.fromisoformat(entry.indexed_at).tzinfo is not None


def test_documents_are_listed_by_path(store: Store) -> None:
    fill(store, *(embedded(path, path) for path in ("b.md", "a/z.md", "B.md", "a.md", "é.md")))
    assert [entry.path for entry in store.documents()] == [
        "B.md",
        "a.md",
        "a/z.md",
        "b.md",
        "é.md",
    ]


def test_replacing_a_document_forgets_its_old_chunks_in_both_searches(store: Store) -> None:
    old = embedded("a.md", part("the pump leaks", 0))
    new = embedded("a.md", part("the valve sticks", 90))
    fill(store, old)
    store.replace_document(new, replaces=[old.document.id])
    assert found_by_words(store, "pump") == []
    assert found_by_words(store, "valve") == chunk_ids(new)
    assert found_by_vector(store, at_angle(0)) == chunk_ids(new)
    assert [entry.id for entry in store.documents()] == [new.document.id]


def test_a_path_holds_one_document_even_if_nothing_was_named_to_be_replaced(store: Store) -> None:
    new = embedded("a.md", "the valve sticks")
    fill(store, embedded("a.md", "the pump leaks"), new)
    assert found_by_words(store, "pump") == []
    assert [entry.id for entry in store.documents()] == [new.document.id]
    assert store.verify() == []


def test_storing_the_same_document_twice_changes_nothing(store: Store) -> None:
    document = embedded("a.md", part("the pump leaks", 0, 20), "the seal")
    fill(store, document, document)
    assert sorted(found_by_words(store, "pump seal")) == sorted(chunk_ids(document))
    assert len(found_by_vector(store, at_angle(0))) == 2
    assert store.stats().windows == 3


def test_a_document_cut_anew_replaces_itself(store: Store) -> None:
    whole = embedded("a.md", "the pump leaks\n\nthe valve sticks")
    in_two = embedded("a.md", "the pump leaks", "the valve sticks")
    assert whole.document.id == in_two.document.id
    fill(store, whole)
    store.replace_document(in_two, replaces=[whole.document.id])
    assert sorted(found_by_vector(store, at_angle(0))) == sorted(chunk_ids(in_two))
    assert found_by_words(store, "pump") == chunk_ids(in_two)[:1]


def test_a_moved_document_leaves_its_old_place_in_one_step(store: Store) -> None:
    old, new = embedded("a.md", "the pump leaks"), embedded("b.md", "the pump leaks")
    fill(store, old, embedded("c.md", "the valve sticks"))
    store.replace_document(new, replaces=[old.document.id])
    assert [entry.path for entry in store.documents()] == ["b.md", "c.md"]
    assert found_by_words(store, "pump") == chunk_ids(new)


def test_a_document_may_replace_several(store: Store) -> None:
    gone = [embedded("a.md", "the pump leaks"), embedded("b.md", "the pump hums")]
    fill(store, *gone)
    both = embedded("c.md", "the pump leaks and hums")
    store.replace_document(both, replaces=[one.document.id for one in gone])
    assert found_by_words(store, "pump") == chunk_ids(both)


def test_removed_documents_are_gone_from_both_searches(store: Store) -> None:
    gone, stays = embedded("a.md", "the pump leaks"), embedded("b.md", "the pump hums")
    fill(store, gone, stays)
    store.remove_documents([gone.document.id])
    assert found_by_words(store, "pump") == chunk_ids(stays)
    assert found_by_vector(store, at_angle(0)) == chunk_ids(stays)
    assert store.load_document(gone.document.id) is None
    assert store.load_chunks(chunk_ids(gone)) == []


def test_removing_nothing_or_something_unknown_changes_nothing(store: Store) -> None:
    document = embedded("a.md", "the pump leaks")
    fill(store, document)
    store.remove_documents([])
    store.remove_documents([DocumentId("f" * 40)])
    assert [entry.id for entry in store.documents()] == [document.document.id]


def with_number(number: float) -> Vector:
    values = np.ones(DIMENSIONS, np.float32)
    values[3] = number
    return values


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(with_number(np.nan), id="NaN"),
        pytest.param(with_number(np.inf), id="infinite"),
        pytest.param(with_number(-np.inf), id="minus infinite"),
        pytest.param(np.zeros(DIMENSIONS, np.float32), id="zero"),
        pytest.param(np.ones(DIMENSIONS + 1, np.float32), id="too long"),
        pytest.param(np.ones(DIMENSIONS - 1, np.float32), id="too short"),
        pytest.param(np.ones((1, DIMENSIONS), np.float32), id="a matrix"),
    ],
)
def test_a_bad_vector_is_refused_and_nothing_of_its_document_is_stored(
    store: Store, bad: Vector
) -> None:
    old = embedded("a.md", "the pump leaks")
    fill(store, old)
    spoiled = embedded("a.md", "the valve sticks", Part("the valve hums", (at_angle(0), bad)))
    with pytest.raises(ModelInvalid):
        store.replace_document(spoiled, replaces=[old.document.id])
    assert found_by_words(store, "valve") == []
    assert found_by_words(store, "pump") == chunk_ids(old)
    assert found_by_vector(store, at_angle(0)) == chunk_ids(old)
    assert [entry.id for entry in store.documents()] == [old.document.id]


def test_vectors_once_stored_are_known_by_their_fingerprint(store: Store) -> None:
    document = embedded("a.md", part("the pump leaks", 30, 60))
    fill(store, document, embedded("b.md", part("the pump leaks", 30, 60)))
    first, second = document.chunks[0].windows
    known = store.known_vectors([first.fingerprint, second.fingerprint, "0" * 32])
    assert known.keys() == {first.fingerprint, second.fingerprint}
    np.testing.assert_array_equal(known[first.fingerprint], first.vector)
    np.testing.assert_array_equal(known[second.fingerprint], second.vector)


def test_vectors_of_removed_documents_are_no_longer_known(store: Store) -> None:
    document = embedded("a.md", "the pump leaks")
    fill(store, document)
    store.remove_documents([document.document.id])
    assert store.known_vectors([document.chunks[0].windows[0].fingerprint]) == {}


# Ranking


def test_one_call_gives_both_rankings(store: Store) -> None:
    document = embedded("a.md", part("the pump leaks", 0))
    fill(store, document)
    rankings = store.search("pump", at_angle(0), filters=ANYTHING, limit=5)
    assert rankings.keys() == {"words", "vector"}
    assert [one.chunk_id for one in rankings["words"]] == chunk_ids(document)
    assert [one.chunk_id for one in rankings["vector"]] == chunk_ids(document)
    assert rankings["words"][0].document_id == document.document.id
    assert rankings["vector"][0].document_id == document.document.id


def test_only_what_was_asked_for_is_ranked(store: Store) -> None:
    fill(store, embedded("a.md", "the pump leaks"))
    assert store.search("pump", None, filters=ANYTHING, limit=5).keys() == {"words"}
    assert store.search(None, at_angle(0), filters=ANYTHING, limit=5).keys() == {"vector"}


def test_an_empty_store_gives_empty_rankings(store: Store) -> None:
    store.begin(HEADER)
    rankings = store.search("pump", at_angle(0), filters=ANYTHING, limit=5)
    assert rankings == {"words": (), "vector": ()}


def test_the_vector_ranking_goes_by_cosine_similarity(store: Store) -> None:
    document = embedded("a.md", *(part(f"number {angle}", angle) for angle in (90, 10, 180, 45)))
    fill(store, document)
    ranking = store.search(None, at_angle(0), filters=ANYTHING, limit=5)["vector"]
    at_90, at_10, at_180, at_45 = chunk_ids(document)
    assert [one.chunk_id for one in ranking] == [at_10, at_45, at_90, at_180]
    expected = [np.cos(np.radians(angle)) for angle in (10, 45, 90, 180)]
    assert [one.score for one in ranking] == pytest.approx(expected, abs=1e-6)


def test_the_words_ranking_goes_by_how_much_a_chunk_says_of_the_question(store: Store) -> None:
    both = embedded("both.md", "the pump has a leak near the valve somewhere in the cellar")
    one = embedded("one.md", "the pump has a filter near the door somewhere in the cellar")
    often = embedded("often.md", "the pump, the other pump, and a third pump stand in the cellar")
    others = [embedded(f"{n}.md", f"nothing of it in number {n} of the cellar") for n in range(9)]
    fill(store, one, both, often, *others)
    assert found_by_words(store, "pump leak") == [
        *chunk_ids(both),
        *chunk_ids(often),
        *chunk_ids(one),
    ]


def test_word_scores_are_never_negative_and_fall(store: Store) -> None:
    fill(store, *(embedded(f"{n}.md", "pump " * n + "valve") for n in range(1, 6)))
    ranking = store.search("pump valve", None, filters=ANYTHING, limit=10)["words"]
    scores = [one.score for one in ranking]
    assert len(scores) == 5
    assert scores == sorted(scores, reverse=True)
    assert min(scores) >= 0


def test_equals_are_ranked_by_chunk_id(store: Store) -> None:
    documents = [embedded(f"{n}.md", "the pump leaks") for n in range(30)]
    fill(store, *documents)
    by_id = sorted(name for document in documents for name in chunk_ids(document))
    assert found_by_words(store, "pump") == by_id
    assert found_by_vector(store, at_angle(0)) == by_id
    assert found_by_words(store, "pump", limit=3) == by_id[:3]
    if is_exact(store):
        assert found_by_vector(store, at_angle(0), limit=3) == by_id[:3]


def test_a_chunk_counts_by_its_best_window_and_says_where_that_stands(store: Store) -> None:
    steady = embedded("steady.md", part("somewhat near all over", 30))
    mixed = embedded("mixed.md", part("far then near then far", 120, 10, 170))
    fill(store, steady, mixed)
    ranking = store.search(None, at_angle(0), filters=ANYTHING, limit=5)["vector"]
    assert [one.chunk_id for one in ranking] == [*chunk_ids(mixed), *chunk_ids(steady)]
    best = mixed.chunks[0].windows[1]
    assert ranking[0].window == (best.start, best.end)
    assert ranking[0].score == pytest.approx(np.cos(np.radians(10)), abs=1e-6)


def test_a_chunk_with_many_near_windows_appears_once_and_leaves_room(store: Store) -> None:
    crowded = embedded("crowded.md", part("word " * 60, *(n / 10 for n in range(60))))
    others = [embedded(f"{n}.md", part(f"number {n}", 10 + n)) for n in range(5)]
    fill(store, crowded, *others)
    assert found_by_vector(store, at_angle(0), limit=3) == [
        *chunk_ids(crowded),
        *chunk_ids(others[0]),
        *chunk_ids(others[1]),
    ]


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_gives_nothing(store: Store, limit: int) -> None:
    fill(store, embedded("a.md", "the pump leaks"))
    rankings = store.search("pump", at_angle(0), filters=ANYTHING, limit=limit)
    assert rankings == {"words": (), "vector": ()}


@pytest.mark.parametrize("limit", [5, 4_096, 4_097, 10**9])
def test_a_limit_beyond_what_there_is_gives_all(store: Store, limit: int) -> None:
    fill(store, *(embedded(f"{n}.md", "the pump leaks") for n in range(5)))
    assert len(found_by_words(store, "pump", limit=limit)) == 5
    assert len(found_by_vector(store, at_angle(0), limit=limit)) == 5


# Loading


def test_chunks_are_loaded_in_the_order_of_their_ids_and_unknown_ids_left_out(store: Store) -> None:
    first = embedded("a.md", part("the pump leaks", headings=["Water", "Pumps"]), "the seal")
    second = embedded("b.md", "the valve sticks")
    fill(store, first, second)
    wanted = [chunk_ids(second)[0], ChunkId("f" * 40), *reversed(chunk_ids(first))]
    loaded = store.load_chunks(wanted)
    assert [chunk for _, chunk in loaded] == [
        second.chunks[0].chunk,
        first.chunks[1].chunk,
        first.chunks[0].chunk,
    ]
    assert [entry.path for entry, _ in loaded] == ["b.md", "a.md", "a.md"]


def test_a_document_is_loaded_with_its_text_and_sections(store: Store) -> None:
    document = embedded("a.md", "Die Größe, 東京 🚀\r\n", "the seal", title="Pumps").document
    fill(store, embedded("a.md", "Die Größe, 東京 🚀\r\n", "the seal", title="Pumps"))
    loaded = store.load_document(document.id)
    assert loaded is not None
    assert replace(loaded, blocks=()) == document
    assert store.load_document(DocumentId("f" * 40)) is None


def test_a_chunk_of_today_is_found_by_the_beginning_of_its_id(store: Store) -> None:
    document = embedded("a.md", "the pump leaks", "the valve sticks")
    fill(store, document)
    wanted = document.chunks[1].chunk
    (found,) = store.find_chunks(wanted.id[:8])
    assert (found.chunk, found.document.id, found.superseded) == (
        wanted,
        document.document.id,
        False,
    )
    assert [one.chunk for one in store.find_chunks(wanted.id)] == [wanted]
    assert store.find_chunks("f" * 40) == []


def test_a_beginning_that_several_chunks_share_is_not_taken_for_one(store: Store) -> None:
    fill(store, *(embedded(f"{n}.md", f"number {n}") for n in range(40)))
    assert len(store.find_chunks("")) > 1


def replaced(store: Store, old: DocumentId) -> None:
    store.replace_document(embedded("a.md", "the valve sticks"), replaces=[old])


def removed(store: Store, old: DocumentId) -> None:
    store.remove_documents([old])


def moved(store: Store, old: DocumentId) -> None:
    store.replace_document(embedded("b.md", "the pump leaks"), replaces=[old])


def begun_for_another_model(store: Store, old: DocumentId) -> None:
    store.begin(OTHER_MODEL)
    assert store.load_document(old) is None


@pytest.mark.parametrize("supersede", [replaced, removed, moved, begun_for_another_model])
def test_a_chunk_of_the_past_is_still_found_with_its_words(
    store: Store, supersede: Callable[[Store, DocumentId], None]
) -> None:
    old = embedded("a.md", part("the pump leaks", headings=["Water"]))
    fill(store, old)
    supersede(store, old.document.id)
    (found,) = store.find_chunks(chunk_ids(old)[0][:12])
    assert found.chunk == old.chunks[0].chunk
    assert found.document.text == "the pump leaks"
    assert found.superseded


def test_a_document_that_came_back_is_of_today_again(store: Store) -> None:
    document = embedded("a.md", "the pump leaks")
    fill(store, document)
    store.remove_documents([document.document.id])
    store.replace_document(document)
    assert [one.superseded for one in store.find_chunks(chunk_ids(document)[0])] == [False]


# Counting


def test_everything_that_is_stored_is_counted(store: Store) -> None:
    gone = embedded("gone.md", part("gone", 1, 2, 3))
    fill(store, gone, embedded("a.md", part("pump", 1, 2), "seal"), embedded("b.md", "valve"))
    store.remove_documents([gone.document.id])
    stats = store.stats()
    assert isinstance(stats, StoreStats)
    assert (stats.documents, stats.chunks, stats.words) == (2, 3, 3)
    assert (stats.windows, stats.vectors) == (4, 4)
    assert stats.last_updated is not None


def test_a_store_that_was_written_in_every_way_agrees_with_itself(store: Store) -> None:
    old, moving = embedded("a.md", "the pump leaks"), embedded("b.md", "the seal")
    fill(store, old, moving, embedded("c.md", part("the valve sticks", 1, 2)))
    store.replace_document(embedded("a.md", "the pump hums"), replaces=[old.document.id])
    store.replace_document(embedded("d.md", "the seal"), replaces=[moving.document.id])
    store.remove_documents([embedded("c.md", "the valve sticks").document.id])
    assert store.verify() == []


# Chunks of a document


def test_a_document_names_its_chunks_in_their_order(store: Store) -> None:
    pumps = embedded("pumps.md", "One pump.", "Two pumps.", "Three pumps.")
    fill(store, pumps, embedded("seals.md", "A seal."))
    assert store.chunk_ids(pumps.document.id) == chunk_ids(pumps)


def test_an_unknown_document_has_no_chunks(store: Store) -> None:
    fill(store, embedded("seals.md", "A seal."))
    assert store.chunk_ids(DocumentId("0" * 40)) == []


# Timing


def test_each_search_tells_its_score_of_what_only_the_other_lists(store: Store) -> None:
    near, far = part("the valve holds", 0), part("the pump leaks at the pump", 90)
    fill(store, embedded("a.md", near, far, part("nothing of it", 45)))
    valve, pump, _ = chunk_ids(embedded("a.md", near, far, part("nothing of it", 45)))
    found = store.search("pump", at_angle(0), filters=ANYTHING, limit=1)
    assert [(one.chunk_id, one.listed) for one in found["words"]] == [(pump, True)]
    assert [(one.chunk_id, one.listed) for one in found["vector"]] == [
        (valve, True),
        (pump, False),
    ]
    told = found["vector"][1]
    assert told.score == pytest.approx(0, abs=1e-6)
    assert told.window is not None
    assert told.vector is not None
    np.testing.assert_allclose(told.vector, at_angle(90), atol=1e-6)
    alone = store.search(None, at_angle(0), filters=ANYTHING, limit=1)
    assert [one.chunk_id for one in alone["vector"]] == [valve]


def test_a_filter_holds_for_what_is_told_of_the_other_search_too(store: Store) -> None:
    fill(store, embedded("a.md", part("the pump", 90)), embedded("b.md", part("a valve", 0)))
    found = store.search("pump valve", at_angle(0), filters=Filters(name="a.md"), limit=5)
    ids = chunk_ids(embedded("a.md", part("the pump", 90)))
    assert [one.chunk_id for one in found["words"]] == ids
    assert [one.chunk_id for one in found["vector"]] == ids


def test_a_search_tells_when_each_of_its_parts_ends(store: Store) -> None:
    fill(store, embedded("pumps.md", "The pump leaks."))
    laps: list[str] = []
    store.search("pump", at_angle(0), filters=ANYTHING, limit=5, lap=laps.append)
    at_once = ["rankings"]  # where one statement gives them all
    assert laps in (["words", "codes", "vector", "compare"], at_once)
    laps.clear()
    store.search("pump", None, filters=ANYTHING, limit=5, lap=laps.append)
    assert laps in (["words", "codes"], at_once)


# Chunks without vectors


def test_a_chunk_without_a_vector_is_found_by_words_until_it_gets_one(store: Store) -> None:
    bare = embedded("a.md", part("the pump leaks", 10), Part("the cursed seal", ()))
    whole = embedded("a.md", part("the pump leaks", 10), part("the cursed seal", 20))
    fill(store, bare, embedded("b.md", part("the valve", 80)))
    store.finish()
    pump, seal = chunk_ids(bare)
    assert [(one.path, one.lacking) for one in store.documents()] == [("a.md", 1), ("b.md", 0)]
    assert (store.stats().chunks, store.stats().vectors, store.stats().lacking) == (3, 2, 1)
    assert found_by_words(store, "cursed") == [seal]
    asked = store.search("cursed", at_angle(20), filters=ANYTHING, limit=5)
    assert seal not in [one.chunk_id for one in asked["vector"]]
    assert asked["vector"][0].chunk_id == pump
    assert store.verify() == []
    loaded = store.load_embedded(bare.document.id)
    assert loaded is not None
    assert [len(one.windows) for one in loaded.chunks] == [1, 0]
    store.repair()
    assert (store.verify(), store.stats().lacking) == ([], 1)
    store.replace_document(whole, replaces=[bare.document.id])
    store.finish()
    assert {one.recipe for one in store.documents()} == {HEADER.recipe}
    assert found_by_vector(store, at_angle(20))[0] == seal
    assert (store.verify(), store.stats().lacking) == ([], 0)


def test_a_library_may_have_no_vectors_at_all(store: Store) -> None:
    fill(store, bare := embedded("a.md", Part("the cursed seal", ())))
    store.finish()
    assert found_by_words(store, "cursed") == chunk_ids(bare)
    assert found_by_vector(store, at_angle(0)) == []
    assert store.verify() == []
