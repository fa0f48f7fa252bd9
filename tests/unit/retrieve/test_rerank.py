from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from helpers import FixedEmbedder, embedded, fill, part
from memory_store import MemoryStore
from pincite.errors import ModelUnavailable
from pincite.ports import Clock, Reranker, Store, no_clock
from pincite.records import Filters, SearchResults
from pincite.retrieve.flow import search
from pincite.settings import SearchSettings

NAMES = ("anvil", "bellows", "chisel", "drill", "emery", "file")


@dataclass
class Judge:
    """Scores a passage by a rule of the test, and remembers what it was shown."""

    rule: Callable[[str], float]
    batch: int = 2
    shown: list[str] = field(default_factory=list)

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        self.shown.extend(passages)
        return [self.rule(passage) for passage in passages]


@pytest.fixture
def store() -> Store:
    """Six tools; by vector the anvil is nearest and the file farthest."""
    opened = MemoryStore()
    documents = [
        embedded(f"{name}.md", part(f"A tool: the {name}.", 10 * place), title=f"On {name}s")
        for place, name in enumerate(NAMES)
    ]
    fill(opened, *documents)
    return opened


def ask(
    store: Store,
    reranker: Reranker | None,
    settings: SearchSettings = SearchSettings(),
    clock: Clock = no_clock,
) -> SearchResults:
    return search(
        "which one?",
        store,
        FixedEmbedder(),
        mode="vector",
        filters=Filters(),
        settings=settings,
        reranker=reranker,
        clock=clock,
    )


def order(found: SearchResults) -> list[str]:
    return [result.document.path.removesuffix(".md") for result in found.results]


def likes(*names: str) -> Callable[[str], float]:
    return lambda passage: float(any(f"the {name}." in passage for name in names))


def test_what_the_reranker_likes_rises_and_nothing_else_moves(store: Store) -> None:
    settings = SearchSettings(rerank_weight=2)
    found = ask(store, Judge(likes("file")), settings)
    assert order(ask(store, None)) == list(NAMES)
    assert order(found) == ["file", "anvil", "bellows", "chisel", "drill", "emery"]


def test_only_the_best_hits_are_looked_at_and_the_rest_stay_behind_them(store: Store) -> None:
    judge = Judge(likes("chisel"))
    found = ask(store, judge, SearchSettings(rerank_top=3, rerank_weight=5))
    assert len(judge.shown) == 3
    assert order(found) == ["chisel", "anvil", "bellows", "drill", "emery", "file"]
    assert "rerank" not in found.results[3].hit.shares


def test_of_two_that_are_equal_in_the_end_the_one_that_was_ahead_stays_ahead(store: Store) -> None:
    settings = SearchSettings(rerank_top=2, rerank_weight=1)
    found = ask(store, Judge(likes("bellows")), settings)
    assert found.results[0].hit.score == pytest.approx(found.results[1].hit.score)
    assert order(found)[:2] == ["anvil", "bellows"]


def test_what_is_not_reached_in_time_keeps_its_order_behind_the_rest(store: Store) -> None:
    now = [0.0]

    def slowly(passage: str) -> float:
        now[0] += 1
        return likes("drill", "file")(passage)

    settings = SearchSettings(rerank_seconds=3.5, rerank_weight=5)
    found = ask(store, Judge(slowly), settings, clock=lambda: now[0])
    assert order(found) == ["drill", "anvil", "bellows", "chisel", "emery", "file"]
    assert found.notices == ("Reranking stopped after 3.5 s: it saw the first 4 of 6 hits.",)


def _gives_up(passage: str) -> float:
    if "chisel" in passage:
        raise ModelUnavailable("the service is down")
    return likes("bellows")(passage)


def test_a_reranker_that_fails_is_a_notice_and_the_fused_order(store: Store) -> None:
    found = ask(store, Judge(_gives_up), SearchSettings(rerank_weight=5))
    assert order(found) == list(NAMES)
    assert found.notices == ("Not reranked: the service is down.",)


def test_a_score_that_is_no_number_is_a_failure(store: Store) -> None:
    found = ask(store, Judge(lambda passage: float("nan")))
    assert order(found) == list(NAMES)
    assert found.notices[0].startswith("Not reranked:")


def test_the_reranker_reads_the_title_with_the_passage(store: Store) -> None:
    judge = Judge(lambda passage: 0.0)
    ask(store, judge)
    assert judge.shown[0] == "On anvils\nA tool: the anvil."


def test_hits_beyond_the_results_can_rise_into_them(store: Store) -> None:
    settings = SearchSettings(top_k=2, rerank_weight=5)
    assert order(ask(store, Judge(likes("emery")), settings)) == ["emery", "anvil"]


def test_a_reranker_that_tells_nothing_apart_changes_nothing(store: Store) -> None:
    assert order(ask(store, Judge(lambda passage: 0.5))) == list(NAMES)


def test_a_result_tells_what_the_reranker_gave_to_it(store: Store) -> None:
    before = {result.hit.chunk_id: result.hit.score for result in ask(store, None).results}
    for result in ask(store, Judge(likes("file"))).results:
        share = result.hit.shares["rerank"]
        assert share.score == float(result.document.path == "file.md")
        assert result.hit.score == pytest.approx(before[result.hit.chunk_id] + share.contribution)
