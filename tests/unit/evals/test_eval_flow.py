"""Questions become a run: what is remembered, what counts as a failure, what as saying no."""

from __future__ import annotations

import pytest

from helpers import HEADER, embedded, fill
from memory_store import MemoryStore
from pincite.errors import ModelUnavailable, StoreDamaged
from pincite.evals.flow import NO_CONFIDENCE, ask_all
from pincite.models.hashing import HashingEmbedder
from pincite.records import Case, Filters, Mode, SearchResults
from pincite.retrieve.flow import search
from pincite.settings import SearchSettings

PUMPS = Case(question="Which pump leaks?", documents={"pumps.md": 1}, terms=("seal",))
NOBODY = Case(question="zebra", unanswerable=True)


@pytest.fixture
def store() -> MemoryStore:
    store = MemoryStore()
    fill(
        store, embedded("pumps.md", "The pump leaks at the seal."), embedded("tea.md", "Tea time.")
    )
    return store


def by_words(store: MemoryStore, case: Case, mode: Mode = "words") -> SearchResults:
    return search(
        case.question, store, None, mode=mode, filters=Filters(), settings=SearchSettings()
    )


def test_results_are_remembered_and_judged(store: MemoryStore) -> None:
    (result,) = ask_all([PUMPS], lambda case: by_words(store, case))
    assert [one.document for one in result.found] == ["pumps.md"]
    assert result.found[0].quote == "The pump leaks at the seal."
    assert result.figures["hit@1"] == 1.0
    assert result.figures["terms@10"] == 1.0
    assert result.confidence > 0
    assert not result.abstained


def test_a_search_below_the_threshold_counts_as_saying_no(store: MemoryStore) -> None:
    (sure,) = ask_all([PUMPS], lambda case: by_words(store, case))
    (unsure,) = ask_all(
        [PUMPS], lambda case: by_words(store, case), abstain_below=sure.confidence + 1
    )
    assert unsure.abstained
    assert unsure.found == sure.found


def test_a_service_that_does_not_answer_costs_one_question(store: MemoryStore) -> None:
    def ask(case: Case) -> SearchResults:
        if case is PUMPS:
            raise ModelUnavailable("no answer")
        return by_words(store, case)

    failed, asked = ask_all([PUMPS, NOBODY], ask)
    assert failed.error == "no answer"
    assert failed.figures["ndcg@10"] == 0.0
    assert asked.abstained


def test_a_service_that_never_answers_ends_the_run(store: MemoryStore) -> None:
    def ask(case: Case) -> SearchResults:
        raise ModelUnavailable("no answer")

    with pytest.raises(ModelUnavailable):
        ask_all([PUMPS] * 5, ask)


def test_confidence_by_meaning_is_a_similarity(store: MemoryStore) -> None:
    embedder = HashingEmbedder(dimensions=8)
    embedder.card = HEADER.model  # whose vectors the store holds

    def ask(case: Case) -> SearchResults:
        return search(
            case.question,
            store,
            embedder,
            mode="hybrid",
            filters=Filters(),
            settings=SearchSettings(),
        )

    (result,) = ask_all([PUMPS], ask)
    assert -1 <= result.confidence <= 1
    assert result.confidence == max(one.similarity or -1 for one in result.found)


def test_figures_deeper_than_the_results_are_left_out(store: MemoryStore) -> None:
    (result,) = ask_all([PUMPS], lambda case: by_words(store, case), deepest=3)
    assert {"hit@1", "hit@3", "mrr"} <= result.figures.keys()
    assert not {"ndcg@10", "hit@10", "terms@10"} & result.figures.keys()


def test_a_search_that_finds_nothing_says_no(store: MemoryStore) -> None:
    (result,) = ask_all([NOBODY], lambda case: by_words(store, case))
    assert result.abstained
    assert result.confidence == NO_CONFIDENCE


def test_a_damaged_index_ends_the_run(store: MemoryStore) -> None:
    def ask(case: Case) -> SearchResults:
        raise StoreDamaged("broken")

    with pytest.raises(StoreDamaged):
        ask_all([PUMPS], ask)
