"""What every store promises of its own words: spellings, definitions, what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from helpers import STORES, embedded, fill, open_test_store, part
from pincite.ports import Store
from pincite.records import Definition, EmbeddedDocument, Omission, OmissionReason


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with open_test_store(request.param, tmp_path / "index") as opened:
        yield opened


def test_chunks_are_counted_that_have_a_word_in_any_form(store: Store) -> None:
    assert store.chunk_counts(["pump"]) == (0, {"pump": 0})
    fill(
        store,
        embedded("a.md", part("Pumps are leaking", headings=["Valves"]), "A pump", title="Harbour"),
        embedded("b.md", "The seal leaks"),
    )
    counts = {"pump": 2, "leaks": 2, "valve": 1, "harbours": 2, "PUMPS": 2, "turbine": 0, "umps": 0}
    assert store.chunk_counts(list(counts)) == (3, counts)


def test_pairs_of_characters_are_counted_in_scripts_without_spaces(store: Store) -> None:
    fill(store, embedded("a.md", "水泵漏水了"), embedded("b.md", "水泵修好了"))
    counts = {"水泵": 2, "漏水": 1, "泵为": 0}
    assert store.chunk_counts(list(counts)) == (2, counts)


def test_words_are_spelled_as_they_stand_in_the_documents_that_have_them(store: Store) -> None:
    fill(
        store,
        embedded("a.md", part("Pumps pump, pumping"), part("the pumps; pumice", headings=["Pier"])),
        embedded("b.md", "Pumps and Käse", title="Pelican"),
    )
    spelled = {"pumps": 2, "pump": 1, "pumping": 1, "pumice": 1, "pier": 1, "pelican": 1}
    assert store.spellings("p") == spelled
    assert store.spellings("k") == {"käse": 1}
    assert store.spellings("z") == {}


def test_numbers_codes_short_words_and_unspaced_scripts_are_not_spelled(store: Store) -> None:
    fill(store, embedded("a.md", "ab abc a4042 abc-42 東京都 ab_cd " + "a" * 40))
    assert store.spellings("a") == {"abc": 1, "ada": 1}  # the author
    assert store.spellings("東") == {}


def test_spellings_and_definitions_go_with_their_documents(store: Store) -> None:
    first = embedded("a.md", "Rank Fusion (RF) of pumps")
    fill(store, first, embedded("b.md", "Radio Frequency (RF)"))
    store.spellings("p")
    store.replace_document(embedded("a.md", "a pelican"), replaces=[first.document.id])
    assert store.spellings("p") == {"pelican": 1}
    assert store.definitions(["rf"]) == [Definition("RF", "Radio Frequency", 1)]
    store.remove_documents([entry.id for entry in store.documents()])
    assert store.spellings("p") == {}
    assert store.definitions(["rf"]) == []
    assert store.verify() == []


def test_definitions_are_found_by_the_abbreviation_most_frequent_first(store: Store) -> None:
    fill(
        store,
        embedded("a.md", "Radio Frequency (RF)", "RF (Radio Frequency) again"),
        embedded("b.md", "rank fusion (RF)"),
        embedded("c.md", "Rank  Fusion (RF), Rank Fusion (RF)"),
    )
    radio, fusion = Definition("RF", "Radio Frequency", 1), Definition("RF", "Rank Fusion", 2)
    assert store.definitions(["rf"]) == [fusion, radio]
    assert store.definitions(["other", "rf"]) == [fusion, radio]
    assert store.definitions([]) == store.definitions(["radio frequency"]) == []


def test_what_nobody_sees_defines_nothing(store: Store) -> None:
    fill(store, _hidden(embedded("a.md", "Radio Frequency (RF)")))
    assert store.definitions(["rf"]) == []
    assert store.spellings("r") == {}


def _hidden(document: EmbeddedDocument) -> EmbeddedDocument:
    (only,) = document.chunks
    size = len(only.chunk.text)
    chunk = replace(only.chunk, omissions=(Omission(0, size, OmissionReason.INVISIBLE),))
    return replace(document, chunks=(replace(only, chunk=chunk),))
