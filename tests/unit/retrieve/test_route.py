"""Documents that a question names come first, and a catalog may choose where to look."""

from __future__ import annotations

from dataclasses import replace

import pytest

from helpers import ABOUT, FixedEmbedder, embedded, fill, part
from memory_store import MemoryStore
from pincite.ports import Store
from pincite.records import Filters, SearchResults
from pincite.retrieve.flow import search
from pincite.settings import SearchSettings


@pytest.fixture
def store() -> Store:
    """Many texts about pumps; the one in the station log is neither nearest nor wordiest."""
    opened = MemoryStore()
    others = [
        embedded(f"{n}.md", part(f"pump pump leak {n}", n), title=f"Number {n}") for n in range(30)
    ]
    log = embedded("logs/station-log.md", part("a pump leaked", 60), title="Log of the station")
    fill(opened, *others, log)
    return opened


def ask(store: Store, question: str, **settings: float | str) -> SearchResults:
    return search(
        question,
        store,
        FixedEmbedder(),
        mode="hybrid",
        filters=Filters(),
        settings=SearchSettings(similarity_floor=-1, near_identical=0, **settings),  # type: ignore[arg-type]
    )


def paths(found: SearchResults) -> list[str]:
    return [result.document.path for result in found.results]


def test_it_is_found_even_where_it_is_no_candidate_by_itself(store: Store) -> None:
    found = ask(
        store,
        "pump leak, Log of the Station",
        top_k_words=3,
        top_k_vector=3,
        top_k=3,
        named_weight=1.0,
    )
    assert paths(found)[0] == "logs/station-log.md"


def test_a_name_of_many_documents_names_none_of_them() -> None:
    opened = MemoryStore()
    fill(opened, *(embedded(f"{n}/read-me.md", part(f"pump {n}", n)) for n in range(5)))
    found = ask(opened, "pump in the read-me")
    assert found.results
    assert all("named" not in result.hit.shares for result in found.results)


def test_a_name_is_looked_for_only_where_the_filters_allow(store: Store) -> None:
    found = search(
        "pump leak in station-log.md",
        store,
        FixedEmbedder(),
        mode="hybrid",
        filters=Filters(name="1.md"),
        settings=SearchSettings(similarity_floor=-1),
    )
    assert "logs/station-log.md" not in paths(found)
    assert found.results


def test_a_route_prefers_the_documents_whose_entry_fits_and_throws_nothing_away(
    store: Store,
) -> None:
    few = {"top_k_words": 3, "top_k_vector": 3, "named_weight": 0.0}
    question = "pump leak of a station log"
    routed = ask(store, question, route=1, route_weight=1.0, **few)
    assert paths(routed)[0] == "logs/station-log.md"
    assert len(paths(routed)) == len(paths(ask(store, question, **few)))
    by_ranks = ask(store, question, route=1, fusion="ranks", **few)
    assert "route" in {search for one in by_ranks.results for search in one.hit.shares}


def test_a_route_chooses_among_what_may_be_seen(store: Store) -> None:
    found = search(
        "number pump leak",
        store,
        FixedEmbedder(),
        mode="hybrid",
        filters=Filters(name="27.md"),
        settings=SearchSettings(similarity_floor=-1, route=1),
    )
    assert paths(found) == ["27.md"]


def test_without_a_weight_names_are_words_like_any_other(store: Store) -> None:
    found = ask(store, "pump leak in station-log.md", named_weight=0.0)
    assert all("named" not in result.hit.shares for result in found.results)


def test_what_is_labelled_for_the_agent_who_asks_stands_a_little_higher() -> None:
    opened = MemoryStore()
    fill(
        opened,
        embedded("a.md", part("a pump leaks", 3), title="One"),
        embedded("b.md", part("a pump leaks", 3), title="Two", about=replace(ABOUT, agents=("x",))),
        embedded("c.md", part("a pump leaks", 3), title="Six", about=replace(ABOUT, agents=("y",))),
    )

    def first(filters: Filters, weight: float) -> list[str]:
        settings = SearchSettings(similarity_floor=-1, near_identical=0, agent_weight=weight)
        embedder = FixedEmbedder()
        found = search("pump", opened, embedder, mode="hybrid", filters=filters, settings=settings)
        return paths(found)

    assert first(Filters(agents=("x", "")), 0.05) == ["b.md", "a.md"]
    assert set(first(Filters(agents=("x", "")), 0.0)) == {"a.md", "b.md"}
    assert first(Filters(agents=("x",)), 0.05) == ["b.md"]
