"""Random libraries, filters and limits: every store sees what the reference store sees."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from helpers import COMPARED, HEADER, fill, open_test_store
from libraries import VECTORS, WORDS, documents, libraries, texts
from pincite.ports import Store
from pincite.records import EmbeddedDocument, Filters, Modality, Ranking
from pincite.vectors import Vector
from soak import times

Value = TypeVar("Value")


def some_of(values: Sequence[str]) -> st.SearchStrategy[tuple[str, ...] | None]:
    """Mostly no restriction; sometimes a few of the values, or none of them."""
    return one_of_these(st.lists(st.sampled_from(values), max_size=2).map(tuple))


def one_of_these(values: st.SearchStrategy[Value]) -> st.SearchStrategy[Value | None]:
    return st.one_of(st.none(), st.none(), st.none(), values)


def filters_for(library: list[EmbeddedDocument]) -> st.SearchStrategy[Filters]:
    """One restriction or several; most let something through."""
    return st.builds(
        Filters,
        document_ids=some_of([*(one.document.id for one in library), "f" * 40]),
        types=some_of(("md", "xt")),
        modalities=some_of((Modality.TEXT, Modality.OCR)),
        tags=some_of(("RED", "Green", "strasse")),
        name=one_of_these(st.sampled_from(["PUMP", ".md", "cafe", "é", ""])),
        path=one_of_these(st.sampled_from(["notes", "notes/", "pump", ""])),
        heading=one_of_these(st.sampled_from(["water", "MASSE", "s", ""])),
    )


def ids(ranking: Ranking) -> list[str]:
    return [ranked.chunk_id for ranked in ranking]


def searched(
    store: Store, question: str, vector: Vector, filters: Filters, limit: int
) -> tuple[Ranking, Ranking]:
    rankings = store.search(question, vector, filters=filters, limit=limit)
    words, near = (
        tuple(one for one in rankings[name] if one.listed) for name in ("words", "vector")
    )
    return words, near


@pytest.mark.parametrize("kind", COMPARED)
@settings(max_examples=times(10, soak=300))
@given(data=st.data(), library=libraries)
def test_every_store_sees_what_the_reference_store_sees(
    kind: str, data: st.DataObject, library: list[EmbeddedDocument]
) -> None:
    with (
        TemporaryDirectory() as folder,
        open_test_store("memory", Path()) as reference,
        open_test_store(kind, Path(folder) / "index") as store,
    ):
        fill(reference, *library)
        fill(store, *library)
        for _ in range(6):
            filters = data.draw(filters_for(library))
            question, vector = data.draw(texts), data.draw(st.sampled_from(VECTORS))
            limit = data.draw(st.integers(0, 20))
            asked = (question, vector, filters)
            all_words, all_vectors = searched(reference, *asked, limit=1_000)
            words, vectors = searched(store, *asked, limit=limit)
            assert ids(vectors) == ids(all_vectors)[:limit]
            assert [one.window for one in vectors] == [one.window for one in all_vectors[:limit]]
            np.testing.assert_allclose(
                [one.score for one in vectors],
                [one.score for one in all_vectors[:limit]],
                atol=1e-5,
            )
            assert len(words) == min(limit, len(all_words))
            assert set(ids(words)) <= set(ids(all_words))
            assert set(ids(searched(store, *asked, limit=1_000)[0])) == set(ids(all_words))


@pytest.mark.parametrize("kind", COMPARED)
@settings(max_examples=times(8, soak=150))
@given(data=st.data(), versions=st.lists(documents(), min_size=2, max_size=10))
def test_after_any_replacing_and_removing_the_stores_hold_the_same(
    kind: str, data: st.DataObject, versions: list[EmbeddedDocument]
) -> None:
    with (
        TemporaryDirectory() as folder,
        open_test_store("memory", Path()) as reference,
        open_test_store(kind, Path(folder) / "index") as store,
    ):
        reference.begin(HEADER)
        store.begin(HEADER)
        for version in versions:
            stored = [entry.id for entry in reference.documents()]
            chosen = st.lists(st.sampled_from(stored), max_size=2) if stored else st.just([])
            going = data.draw(chosen)
            if data.draw(st.booleans()):
                reference.replace_document(version, replaces=going)
                store.replace_document(version, replaces=going)
            else:
                reference.remove_documents(going)
                store.remove_documents(going)
        assert [e.id for e in store.documents()] == [e.id for e in reference.documents()]
        everything = (" ".join(WORDS), VECTORS[0], Filters())
        for found, expected in zip(
            searched(store, *everything, limit=100),
            searched(reference, *everything, limit=100),
            strict=True,
        ):
            assert set(ids(found)) == set(ids(expected))
        assert store.stats().windows == reference.stats().windows
        assert store.verify() == []
