"""What every store promises of places, hidden text, code and the catalog."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from helpers import HEADER, STORES, embedded, fill, found_by_words, open_test_store, part
from pincite.ports import Store
from pincite.records import (
    Analysis,
    Box,
    ChunkId,
    EmbeddedDocument,
    Failure,
    Filters,
    Locator,
    Metadata,
    Modality,
    Omission,
    OmissionReason,
    Place,
)


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with open_test_store(request.param, tmp_path / "index") as opened:
        yield opened


def placed() -> EmbeddedDocument:
    """A document whose one chunk knows everything a chunk can know."""
    made = embedded("talks/pump.pdf", part("pump secret song"), kind="pdf")
    (only,) = made.chunks
    places = (
        Place(0, 4, page=7, box=Box(7, 10.1, 700.0, 40.5, 712.3)),
        Place(5, 11, time_start=1.25, time_end=2.5),
        Place(12, 16, row=3),
    )
    chunk = replace(
        only.chunk,
        modality=Modality.OCR,
        places=places,
        locator=Locator(1, 1, 7, 7, 1.25, 2.5, 3, 3),
        omissions=(Omission(5, 11, OmissionReason.WHITE),),
        analysis=Analysis("api", ("Pump.run",), ("os.path",), ("GET /pump",)),
    )
    document = replace(
        made.document,
        places=places,
        size=1234,
        modality=Modality.OCR,
        summary="How the pump sings.",
        metadata=Metadata(
            tags=("water",),
            pages=9,
            duration=2.5,
            recording="talks/pump",
            notes=("page 2 is a scan",),
        ),
    )
    return EmbeddedDocument(document, (replace(only, chunk=chunk),))


def test_a_chunk_keeps_its_place_its_flags_and_its_code(store: Store) -> None:
    made = placed()
    fill(store, made)
    ((entry, chunk),) = store.load_chunks([made.chunks[0].chunk.id])
    assert chunk == made.chunks[0].chunk
    assert (entry.size, entry.summary, entry.metadata) == (
        1234,
        "How the pump sings.",
        made.document.metadata,
    )
    assert chunk.boxes == (Box(7, 10.1, 700.0, 40.5, 712.3),)
    assert chunk.flags == ("white text",)


def test_a_document_keeps_the_places_of_all_its_chunks(store: Store) -> None:
    made = placed()
    fill(store, made)
    loaded = store.load_document(made.document.id)
    assert loaded is not None
    assert loaded.places == made.document.places
    assert (loaded.modality, loaded.size) == (Modality.OCR, 1234)


def test_hidden_words_find_nothing(store: Store) -> None:
    fill(store, placed())
    assert found_by_words(store, "secret") == []
    assert found_by_words(store, "song") != []


@pytest.mark.parametrize(
    ("filters", "seen"),
    [
        (Filters(layers=("API",)), True),
        (Filters(layers=("domain", "api")), True),
        (Filters(layers=("domain",)), False),
        (Filters(layers=()), False),
        (Filters(symbols=("pump.RUN",)), True),
        (Filters(symbols=("run",)), False),
        (Filters(symbols=()), False),
        (Filters(imports=("os",)), True),
        (Filters(imports=("os.path",)), True),
        (Filters(imports=("os.pat",)), False),
        (Filters(imports=()), False),
        (Filters(languages=("en",)), False),
        (Filters(languages=()), False),
    ],
)
def test_code_is_filtered_by_what_is_known_of_it(
    store: Store, filters: Filters, seen: bool
) -> None:
    fill(store, placed())
    assert bool(found_by_words(store, "song", filters)) is seen


def test_a_language_is_filtered_whatever_its_case(store: Store) -> None:
    made = embedded("a.md", "pump")  # says it is in English
    fill(store, made)
    wanted: list[ChunkId] = [made.chunks[0].chunk.id]
    assert found_by_words(store, "pump", Filters(languages=("EN",))) == wanted
    assert found_by_words(store, "pump", Filters(languages=("de",))) == []


def test_documents_are_found_by_name_title_tags_author_and_summary(store: Store) -> None:
    pump = placed()
    other = embedded("plans/Budget-2024.md", "words", title="Money matters", tags=("finance",))
    fill(store, pump, other)

    def found(question: str) -> list[str]:
        return [entry.path for entry in store.find_documents(question)]

    assert found("sings") == ["talks/pump.pdf"]
    assert found("budget") == ["plans/Budget-2024.md"]
    assert found("money") == ["plans/Budget-2024.md"]
    assert found("finance") == ["plans/Budget-2024.md"]
    assert found("plans") == ["plans/Budget-2024.md"]
    assert found("ada") == ["plans/Budget-2024.md"]
    assert found("pdf") == ["talks/pump.pdf"]
    assert found("words") == []
    assert found("") == []
    assert found('" OR *') == []


def test_documents_are_listed_by_id_and_told_by_path_alone(store: Store) -> None:
    made = [embedded(path, "words") for path in ("b.md", "a.md", "c/d.md")]
    assert (store.paths(), store.documents([])) == ({}, [])
    fill(store, *made)
    ids = [one.document.id for one in made]
    assert [one.path for one in store.documents(ids[:2])] == ["a.md", "b.md"]
    assert [one.path for one in store.documents()] == ["a.md", "b.md", "c/d.md"]
    assert store.paths() == {one.document.path: one.document.id for one in made}
    assert list(store.paths()) == ["a.md", "b.md", "c/d.md"]


def test_a_chunk_in_the_middle_of_a_document_is_cut_out_of_it(store: Store) -> None:
    made = embedded("a.md", "Straße 😀", "東京都 😀😀", "pump 😀", "the end")
    fill(store, made)
    for first, last in ((0, 1), (1, 2), (1, 4), (3, 4)):
        wanted = [one.chunk for one in made.chunks[first:last]]
        assert [one for _, one in store.load_chunks([one.id for one in wanted])] == wanted
    text, document = made.document.text, made.document.id
    assert store.text_of(document, 9, 13) == text[9:13]
    assert store.text_of(document, 9, 9_999) == text[9:]
    assert store.text_of(document, 9, 3) == ""


def test_a_removed_document_is_found_no_more(store: Store) -> None:
    made = placed()
    fill(store, made)
    store.remove_documents([made.document.id])
    assert store.find_documents("sings") == []


def test_what_a_run_could_not_read_is_remembered_until_the_next(store: Store) -> None:
    store.begin(HEADER)
    assert store.problems() == []
    store.finish([Failure("a.pdf", "is encrypted")])
    assert store.problems() == [Failure("a.pdf", "is encrypted")]
    assert store.is_complete()
    store.finish([])
    assert store.problems() == []


def test_a_store_with_places_agrees_with_itself(store: Store) -> None:
    fill(store, placed())
    store.finish([Failure("a.pdf", "is encrypted")])
    assert store.verify() == []
    store.repair()
    assert store.problems() == [Failure("a.pdf", "is encrypted")]
    assert [entry.path for entry in store.find_documents("sings")] == ["talks/pump.pdf"]
