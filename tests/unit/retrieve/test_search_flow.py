"""A question becomes cited results: what the steps give together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from helpers import CountingEmbedder, FixedEmbedder, embedded, fill, part
from memory_store import MemoryStore
from pincite.chunking.flow import chunk_document
from pincite.ports import Embedder, QuestionEmbedder, Store
from pincite.reading.reader import LibraryReader
from pincite.records import (
    EmbeddedChunk,
    EmbeddedDocument,
    Filters,
    LibraryHeader,
    Mode,
    Result,
    SearchResults,
    StoredWindow as Stored,
)
from pincite.retrieve.flow import search
from pincite.retrieve.fuse import best_of_each
from pincite.retrieve.relevance import fitted
from pincite.retrieve.understand.flow import Aids
from pincite.retrieve.understand.glossary import parse_glossary
from pincite.settings import Fusion, SearchSettings, policy_named

EMBEDDER = CountingEmbedder()


@pytest.fixture
def store() -> Store:
    return filled(EMBEDDER)


def filled(embedder: Embedder) -> Store:
    opened = MemoryStore()
    opened.begin(LibraryHeader("library", "wiki", embedder.card, 1, 1_000_000))
    sections = "\n\n".join(f"## Part {n}\n\nThe pump of part {n} leaks." for n in range(6))
    for path, text in {
        "pumps.md": f"# Pumps\n\n{sections}",
        "seal.md": "# Seal\n\nIt leaks.",
    }.items():
        document = LibraryReader("library").read(path, text.encode())
        chunks = []
        for one in chunk_document(document, policy_named("wiki"), embedder):
            vectors = embedder.embed_passages([window.embedded for window in one.windows])
            windows = (
                Stored(window.start, window.end, window.fingerprint, vector)
                for window, vector in zip(one.windows, vectors, strict=True)
            )
            chunks.append(EmbeddedChunk(one.chunk, tuple(windows)))
        opened.replace_document(EmbeddedDocument(document, tuple(chunks)))
    return opened


def ask(
    store: Store,
    question: str,
    mode: Mode = "hybrid",
    settings: SearchSettings = SearchSettings(),
    embedder: QuestionEmbedder | None = EMBEDDER,
    aids: Aids = Aids(),
) -> SearchResults:
    return search(
        question, store, embedder, mode=mode, filters=Filters(), settings=settings, aids=aids
    )


def test_the_limit_per_document_and_the_number_of_results_are_choices(store: Store) -> None:
    one_each = SearchSettings(per_document=1)
    assert len(ask(store, "pump leaks", settings=one_each).results) == 2
    unlimited = SearchSettings(per_document=0)
    assert len(ask(store, "pump leaks", settings=unlimited).results) == 7
    assert len(ask(store, "pump leaks", settings=SearchSettings(top_k=2)).results) == 2


def test_a_long_list_gets_the_candidates_it_needs(store: Store) -> None:
    few = SearchSettings(top_k_words=1, top_k=5, per_document=0)
    assert len(ask(store, "part", mode="words", settings=few, embedder=None).results) == 5


@pytest.mark.parametrize(
    ("mode", "embedder", "shares"),
    [
        ("hybrid", EMBEDDER, {"words", "vector", "feedback"}),
        ("vector", EMBEDDER, {"vector"}),
        ("words", None, {"words"}),
    ],
)
def test_each_mode_asks_its_own_searches(
    store: Store, mode: Mode, embedder: Embedder | None, shares: set[str]
) -> None:
    found = ask(store, "pump leaks", mode=mode, embedder=embedder)
    assert (found.mode, found.question, found.reason) == (mode, "pump leaks", None)
    assert found.results[0].hit.shares.keys() == shares


def test_one_search_alone_is_in_its_own_order_whatever_it_weighs(store: Store) -> None:
    weightless_modes: tuple[tuple[Mode, SearchSettings], ...] = (
        ("words", SearchSettings(words_weight=0)),
        ("vector", SearchSettings(vector_weight=0)),
    )
    for mode, nothing in weightless_modes:
        usual = ask(store, "pump leaks", mode=mode)
        weightless = ask(store, "pump leaks", mode=mode, settings=nothing)
        assert [one.chunk.id for one in weightless.results] == [
            one.chunk.id for one in usual.results
        ]


def test_a_result_quotes_its_own_chunk_and_results_are_best_first(store: Store) -> None:
    found = ask(store, "the pump of part 3 leaks")
    assert found.results[0].quote.text == "The pump of part 3 leaks."
    for result in found.results:
        assert result.quote.text in result.chunk.text
        assert result.chunk.document_id == result.document.id == result.hit.document_id
    scores = [result.hit.score for result in found.results]
    assert scores == sorted(scores, reverse=True)


class FittedEmbedder(CountingEmbedder):
    """Takes itself for the model that probabilities were fitted on."""

    def __init__(self) -> None:
        super().__init__()
        self.card = replace(self.card, fingerprint=fitted().model)


@pytest.mark.parametrize(
    ("mode", "fusion", "embedder", "tells"),
    [
        ("hybrid", "scores", FittedEmbedder(), True),
        ("hybrid", "scores", EMBEDDER, False),
        ("hybrid", "ranks", FittedEmbedder(), False),
        ("words", "scores", None, False),
    ],
)
def test_probabilities_are_told_only_where_they_were_fitted(
    mode: Mode, fusion: Fusion, embedder: Embedder | None, tells: bool
) -> None:
    store = filled(embedder or EMBEDDER)
    settings = SearchSettings(fusion=fusion)
    found = ask(store, "pump leaks", mode=mode, settings=settings, embedder=embedder)
    assert found.results
    assert all((one.hit.probability is not None) is tells for one in found.results)
    assert (found.confidence is not None) is tells


def test_the_confidence_is_that_of_the_first_result_and_names_what_is_missing() -> None:
    store = filled(FittedEmbedder())
    found = ask(store, "does the pump of Mongolia leak", embedder=FittedEmbedder())
    assert found.confidence is not None
    assert found.confidence.probability == found.results[0].hit.probability
    assert found.confidence.missing_terms == ("Mongolia",)
    mistyped = ask(store, "does the pmup leak", embedder=FittedEmbedder())
    assert mistyped.confidence is not None
    assert mistyped.confidence.missing_terms == ()


def test_fewer_results_are_as_likely_as_they_are_among_many() -> None:
    store = filled(FittedEmbedder())

    def probabilities(top_k: int) -> list[float | None]:
        settings = SearchSettings(top_k=top_k)
        found = ask(store, "pump leaks", settings=settings, embedder=FittedEmbedder())
        return [one.hit.probability for one in found.results]

    assert probabilities(1) == probabilities(4)[:1]


def test_a_rare_number_of_the_question_is_a_term_to_be_met() -> None:
    opened = MemoryStore()
    others = [part(f"pump station {n}", 80) for n in range(20, 40)]
    near = [part(f"alpha alpha statement statement {n}", n) for n in range(3)]
    fill(opened, embedded("a.md", *others, *near, part("alpha statement number 13 of many", 45)))

    def best(weight: float) -> Result:
        settings = SearchSettings(numbers_weight=weight, per_document=0)
        question = "alpha statement number 13"
        return ask(opened, question, settings=settings, embedder=FixedEmbedder()).results[0]

    assert "13" in best(0.3).chunk.text
    assert "13" not in best(0.0).chunk.text
    # What most chunks have tells nothing.
    fill(opened, *(embedded(f"{n}.md", part(f"other matters 13 {n}", 85)) for n in range(40)))
    assert "13" not in best(0.3).chunk.text


@pytest.mark.parametrize("mode", ["hybrid", "words", "vector"])
@pytest.mark.parametrize("fusion", ["scores", "ranks"])
def test_a_quoted_phrase_comes_first_and_keeps_nothing_else_out(mode: Mode, fusion: Fusion) -> None:
    opened = MemoryStore()
    others = [embedded(f"{n}.md", part(f"mole of the pump, pump mole {n}", n)) for n in range(12)]
    fill(opened, *others, embedded("said.md", part("far away, the pump of the mole", 80)))
    settings = SearchSettings(fusion=fusion, near_identical=0, top_k_words=5, top_k_vector=5)

    def asked(question: str) -> SearchResults:
        return ask(opened, question, mode=mode, settings=settings, embedder=FixedEmbedder())

    found = asked('"the pump of the mole"')
    assert [one.document.path for one in found.results][:1] == ["said.md"]
    assert len(found.results) == 10
    assert found.notes == ("first where “the pump of the mole” stands",)
    assert found.notices == ()
    nowhere = asked('"pump the mole"')
    assert len(nowhere.results) == 10
    assert nowhere.notes == ()
    assert nowhere.notices == (
        "No text has the phrase “pump the mole”; its words were searched for instead.",
    )


def test_each_search_has_its_own_number_of_candidates() -> None:
    opened = MemoryStore()
    fill(
        opened, embedded("a.md", *(part("pump " * (9 - n) + f"leak {n}", 10 * n) for n in range(9)))
    )
    rankings = opened.search(
        "pump leak", FixedEmbedder().embed_question(""), filters=Filters(), limit=5
    )
    cut = best_of_each(rankings, {"words": 2, "vector": 5})
    assert [sum(one.listed for one in cut[search]) for search in ("words", "vector")] == [2, 5]
    assert {one.chunk_id for one in cut["words"]} == {one.chunk_id for one in cut["vector"]}


def test_a_phrase_that_stands_elsewhere_makes_nothing_less_likely() -> None:
    embedder = FixedEmbedder()
    embedder.card = replace(embedder.card, fingerprint=fitted().model)
    opened = MemoryStore()
    opened.begin(LibraryHeader("library", "wiki", embedder.card, 1, 1_000_000))
    ticket = part("the boiler ticket of the engine ended in October", 20)
    opened.replace_document(embedded("ticket.md", ticket))
    opened.replace_document(embedded("hay.md", part("the sheep run out of hay", 60)))

    def likely(question: str) -> tuple[float, float]:
        found = ask(opened, question, embedder=embedder)
        (answer,) = (one for one in found.results if one.document.path == "ticket.md")
        assert found.confidence is not None
        return answer.hit.probability or 0.0, found.confidence.probability

    plain = likely("boiler ticket of the engine run out")
    assert plain[0] > 0.5
    assert likely('boiler ticket of the engine "run out"') == pytest.approx(plain, abs=0.05)


@pytest.mark.parametrize(("weight", "counts"), [(0.0, False), (0.3, True)])
def test_by_ranks_a_number_has_as_much_of_a_vote_as_it_has_weight(
    weight: float, counts: bool
) -> None:
    opened = MemoryStore()
    near = [part(f"alpha statement {n}", n) for n in range(20, 40)]
    fill(opened, embedded("a.md", *near, part("other matters 13", 85)))
    settings = SearchSettings(fusion="ranks", numbers_weight=weight, per_document=0, top_k=30)
    found = ask(opened, "alpha statement 13", settings=settings, embedder=FixedEmbedder())
    (share,) = (one.hit.shares["codes"] for one in found.results if "codes" in one.hit.shares)
    assert (share.contribution > 0) is counts
    assert share.contribution < 1 / 61  # which is the vote of a code


def test_a_code_that_the_glossary_gives_counts_as_one_of_the_question() -> None:
    opened = MemoryStore()
    fill(opened, embedded("a.md", part("the DNG-420 was found", 40), part("boats and ropes", 60)))
    aids = Aids(glossary=parse_glossary("dinghy = DNG-420", "glossary.txt"))
    found = ask(opened, "dinghy lost", embedder=FixedEmbedder(), aids=aids)
    share = found.results[0].hit.shares["codes"]
    assert share.contribution == SearchSettings().codes_weight
