"""What every store promises to whoever moves its documents elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from helpers import HEADER, at_angle, chunk_ids, embedded, fill, found_by_vector, part
from pincite.ports import Store
from pincite.records import DocumentId, EmbeddedDocument
from pincite.stores.codec import embedded_to_json

PUMPS = embedded("a.md", part("the pump leaks", 0, 20, headings=["Water"]), "the seal", title="P")


def in_another_thread(write: Callable[[], None]) -> None:
    thread = threading.Thread(target=write)
    thread.start()
    thread.join()


def texts(versions: list[EmbeddedDocument]) -> list[str]:
    return [version.document.text for version in versions]


def test_a_document_comes_back_whole_with_every_window_and_vector(store: Store) -> None:
    fill(store, PUMPS, embedded("b.md", "the valve"))
    loaded = store.load_embedded(PUMPS.document.id)
    assert loaded is not None
    assert embedded_to_json(loaded) == embedded_to_json(PUMPS)
    np.testing.assert_array_equal(loaded.chunks[0].windows[1].vector, at_angle(20))


def test_a_document_that_is_not_there_does_not_come_back(store: Store) -> None:
    assert store.load_embedded(DocumentId("0" * 40)) is None
    fill(store, PUMPS)
    assert store.load_embedded(DocumentId("0" * 40)) is None


def test_a_document_may_be_stored_as_made_by_another_recipe(store: Store) -> None:
    store.begin(HEADER)
    store.replace_document(PUMPS, recipe="flat/1/64/1")
    store.replace_document(embedded("b.md", "the valve"))
    assert [one.recipe for one in store.documents()] == ["flat/1/64/1", HEADER.recipe]


def test_versions_that_are_gone_are_told_from_the_oldest_on(store: Store) -> None:
    old, new = embedded("a.md", "the first words"), embedded("a.md", "the second words")
    fill(store, old, embedded("b.md", "gone for good"), new, embedded("c.md", "still here"))
    store.remove_documents([one.id for one in store.documents() if one.path == "b.md"])
    assert texts(list(store.past_versions())) == ["the first words", "gone for good"]


def test_a_store_without_a_past_tells_of_none(store: Store) -> None:
    assert list(store.past_versions()) == []
    fill(store, PUMPS)
    assert list(store.past_versions()) == []


def test_a_snapshot_does_not_see_what_is_written_meanwhile(store: Store) -> None:
    fill(store, PUMPS)
    store.finish()
    new = embedded("a.md", "the valve sticks")
    with store.snapshot() as seen:

        def write() -> None:
            store.replace_document(new, replaces=[PUMPS.document.id])
            store.replace_document(embedded("b.md", "one more"))

        in_another_thread(write)
        assert [one.id for one in seen.documents()] == [PUMPS.document.id]
        loaded = seen.load_embedded(PUMPS.document.id)
        assert loaded is not None
        assert chunk_ids(loaded) == chunk_ids(PUMPS)
        assert list(seen.past_versions()) == []
        assert seen.is_complete()
        assert set(found_by_vector(seen, at_angle(0))) == set(chunk_ids(PUMPS))
    assert [one.path for one in store.documents()] == ["a.md", "b.md"]
    assert texts(list(store.past_versions())) == [PUMPS.document.text]
    assert not store.is_complete()


def test_after_a_snapshot_the_same_thread_may_write(store: Store) -> None:
    fill(store, PUMPS)
    with store.snapshot() as seen:
        assert len(seen.documents()) == 1
    store.replace_document(embedded("b.md", "one more"))
    assert len(store.documents()) == 2
