from __future__ import annotations

from collections.abc import Sequence

import pytest

from helpers import HEADER, embedded, part
from memory_store import MemoryStore
from pincite.retrieve.rarity import rarity_of, telling_words


def library(texts: Sequence[str]) -> MemoryStore:
    store = MemoryStore()
    store.begin(HEADER)
    for number, text in enumerate(texts):
        store.replace_document(embedded(f"{number}.md", part(text)))
    return store


PUMPS = library(["The pump leaks.", "The pump was mended.", "Paint for the pump house."])


def test_rare_words_weigh_more_than_common_ones() -> None:
    rarity = rarity_of("does the paint of the pump leak?", PUMPS)
    assert rarity.of(["paint"]) > rarity.of(["pump"])
    assert rarity.of(["leak", "paint"]) == pytest.approx(rarity.of(["leak"]) + rarity.of(["paint"]))


def test_words_that_stand_nowhere_in_any_form_are_missing_as_they_were_asked() -> None:
    assert rarity_of("Is Mongolia leaking painted pumps?", PUMPS).missing == ("Mongolia",)


def test_short_words_are_missing_only_where_they_are_names_or_numbers() -> None:
    assert rarity_of("Darf ich NATO und R2D pump?", PUMPS).missing == ("Darf", "NATO", "R2D")


def test_words_that_only_ask_are_never_missing_and_weigh_nothing() -> None:
    rarity = rarity_of("Please tell how much the pump leaks", PUMPS)
    assert rarity.missing == ()
    assert rarity.of(["much"]) == 0


def test_where_all_words_only_ask_they_are_what_the_question_is_about() -> None:
    assert telling_words("what is it?") == ["what", "is", "it"]


def test_scripts_without_spaces_are_weighed_by_pairs_and_miss_nothing() -> None:
    store = library(["水泵漏水了", "水泵修好了"])
    rarity = rarity_of("水泵为什么漏水", store)
    assert telling_words("水泵为什么漏水")[:2] == ["水泵", "泵为"]
    assert rarity.of(["漏水"]) > rarity.of(["水泵"])
    assert rarity.missing == ()


def test_of_a_pasted_text_only_the_first_words_are_looked_up() -> None:
    assert len(telling_words(" ".join(f"word{n}" for n in range(1_000)))) < 100
