"""Forgetting keeps all else: rows, history and what is found are as deleting leaves them."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings, strategies as st

from forgetting import INDEX
from helpers import HEADER
from libraries import VECTORS, documents
from pincite.ports import Store
from pincite.records import DocumentId, EmbeddedDocument, Filters
from pincite.stores.codec import embedded_to_json
from pincite.stores.sqlite.opening import open_for_writing
from soak import times
from two_models import open_with_models

steps = st.one_of(
    st.tuples(st.just("write"), documents(), st.booleans()),
    st.tuples(st.just("remove"), st.integers(0, 9), st.none()),
    st.tuples(st.just("finish"), st.none(), st.none()),
)


def played(
    store: Store, history: Sequence[tuple[str, EmbeddedDocument | int | None, object]]
) -> None:
    store.begin(HEADER)
    for what, of, moved in history:
        held = [one.id for one in store.documents()]
        if isinstance(of, EmbeddedDocument):
            store.replace_document(of, replaces=held[:1] if moved else ())
        elif what == "remove":
            store.remove_documents(held[of or 0 : (of or 0) + 1])
        else:
            store.finish()


def seen(store: Store, gone: set[DocumentId]) -> list[object]:
    """All that can be known of the documents that were not forgotten."""
    past = [one for one in store.past_versions() if one.document.id not in gone]
    searched = [
        store.search(question, vector, filters=Filters(), limit=50)
        for question in ("pump valve", "東京 ERR-4042", "c")
        for vector in VECTORS[:3]
    ]
    found = [store.find_chunks(chunk.chunk.id) for one in past for chunk in one.chunks]
    held = [store.load_embedded(one.id) for one in store.documents()]
    whole = [embedded_to_json(one) for one in (*past, *held) if one is not None]
    return [store.header(), store.documents(), whole, found, searched]


@settings(max_examples=times(15, soak=400), deadline=None)
@given(history=st.lists(steps, min_size=1, max_size=10), data=st.data())
def test_forgetting_keeps_all_else_as_deleting_would(
    history: list[tuple[str, EmbeddedDocument | int | None, object]], data: st.DataObject
) -> None:
    with TemporaryDirectory() as name:
        root, deleted = Path(name) / "forgotten", Path(name) / "deleted"
        with closing(open_for_writing(root / INDEX)) as store:
            played(store, history)
            paths = {one.document.path for one in store.past_versions()}
            paths |= {one.path for one in store.documents()}
            state = (store.is_complete(), store.problems())
        if not paths:
            return
        shutil.copytree(root, deleted)
        with open_with_models(root) as library:
            ids = {one.document.id for one in library._store().past_versions()}
            ids |= {one.id for one in library.documents()}
            library.forget(data.draw(st.sampled_from(sorted(paths))))
            ids -= {one.document.id for one in library._store().past_versions()}
            gone = ids - {one.id for one in library.documents()}
            assert (library._store().is_complete(), library._store().problems()) == state
            assert library.verify() == []
            after = seen(library._store(), gone)
        with closing(open_for_writing(deleted / INDEX)) as store:
            store.remove_documents([one.id for one in store.documents() if one.id in gone])
            store.finish()
            assert after == seen(store, gone)
