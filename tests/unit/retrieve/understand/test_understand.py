"""A question becomes what is searched: what the library's own words make of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import pytest

from helpers import CountingEmbedder, embedded, fill
from pincite.errors import ModelError
from pincite.ports import Embedder, Store
from pincite.records import Chunk, ChunkId, DocumentEntry, Understood
from pincite.retrieve.understand.flow import Aids, understand
from pincite.retrieve.understand.glossary import parse_glossary
from pincite.settings import SearchSettings
from pincite.stores.memory import MemoryStore
from pincite.text.words import question_terms


@pytest.fixture
def store() -> Store:
    opened = MemoryStore()
    fill(
        opened,
        embedded("fusion.md", "Reciprocal Rank Fusion (RRF) puts rankings together. RRF is old."),
        embedded("retrieval.md", "The retrieval of water samples is weekly; so is the water test."),
        embedded("radio.md", "Radio frequency (RF) of the beacon.", "Rank fusion (RF) again"),
        embedded("tech.md", "information technology (IT) does it: it works, and it is there"),
        embedded("prices.md", "The motor car needs a receipt for retrievals of parts."),
    )
    return opened


ACRONYMS = SearchSettings(acronyms=True)


def read(
    store: Store,
    question: str,
    aids: Aids = Aids(),
    embedder: Embedder | None = None,
    settings: SearchSettings = ACRONYMS,
) -> Understood:
    return understand(question, store, embedder, settings, aids)


def terms(understood: Understood) -> set[str]:
    return {" ".join(term.tokens) for term in question_terms(understood.words)}


GLOSSARY = Aids(glossary=parse_glossary("car = automobile, motor car\nFS = file system", "g.txt"))


class TestTypos:
    def test_a_word_that_no_chunk_has_is_searched_as_the_nearest_one_too(
        self, store: Store
    ) -> None:
        understood = read(store, "how does Retreival work?")
        assert {"retreival", "retrieval"} <= terms(understood)
        assert understood.embedded == "how does retrieval work?"
        assert understood.notes == ("also searched for: retrieval (for “Retreival”)",)

    def test_of_equals_the_word_of_most_documents_is_meant(self, store: Store) -> None:
        fill(store, embedded("more.md", "otter"), embedded("most.md", "outer"))
        fill(store, embedded("last.md", "an outer wall"))
        assert "outer" in terms(read(store, "otuer"))

    @pytest.mark.parametrize(
        ("typed", "meant"), [("wter", "water"), ("awter", "water"), ("RETRIEVL", "retrieval")]
    )
    def test_a_letter_may_be_missing_or_changed_with_the_next(
        self, store: Store, typed: str, meant: str
    ) -> None:
        assert meant in terms(read(store, typed))

    @pytest.mark.parametrize("typed", ["retrieve", "wte", "wxtxr", "retxxxval"])
    def test_other_forms_short_words_and_what_is_too_far_are_left_alone(
        self, store: Store, typed: str
    ) -> None:
        assert read(store, typed).notes == ()

    @pytest.mark.parametrize(
        "question", ["RETREIVAL2", "retreival_1", "water-4042x", "wteR", "東京wat"]
    )
    def test_codes_numbers_and_names_are_never_changed(self, store: Store, question: str) -> None:
        assert read(store, question).notes == ()

    def test_quotes_ask_for_something_in_a_query_and_not_in_a_longer_text(
        self, store: Store
    ) -> None:
        assert read(store, 'who says "to the mole"?').phrases == ("to the mole",)
        long = 'I am writing about what people say of "the mole", ' + "and of much else " * 4
        assert read(store, long).phrases == ()

    def test_what_stands_in_quotes_is_left_as_it_is(self, store: Store) -> None:
        understood = read(store, 'the "retreival" plan')
        assert understood.phrases == ("retreival",)
        assert understood.notes == ("only where “retreival” stands",)

    def test_a_word_that_the_model_knows_is_no_typo(self, store: Store) -> None:
        class Knowing(CountingEmbedder):
            def knows(self, word: str) -> bool:
                return word == "later"

        assert read(store, "later", embedder=CountingEmbedder()).notes == ()
        assert read(store, "tater later", embedder=Knowing()).notes == ()

    def test_typos_can_be_left_alone(self, store: Store) -> None:
        off = SearchSettings(typos=False)
        assert read(store, "retreival", settings=off) == Understood("retreival", "retreival")


class TestNames:
    def test_an_abbreviation_is_searched_by_what_the_documents_say_it_means(
        self, store: Store
    ) -> None:
        understood = read(store, "what is RRF?")
        assert {"rrf", "reciprocal rank fusion"} <= terms(understood)
        assert "reciprocal" not in terms(understood)
        assert understood.embedded == "what is RRF (Reciprocal Rank Fusion)?"
        assert understood.notes == ("RRF = Reciprocal Rank Fusion (your documents)",)

    def test_where_meaning_is_searched_only_the_model_reads_the_full_name(
        self, store: Store
    ) -> None:
        understood = read(store, "what is RRF?", embedder=CountingEmbedder())
        assert understood.words == "what is RRF?"
        assert understood.embedded == "what is RRF (Reciprocal Rank Fusion)?"
        cars = read(store, "two cars", GLOSSARY, embedder=CountingEmbedder())
        assert "motor car" in terms(cars)

    def test_what_is_asked_counts_more_than_what_is_added(self, store: Store) -> None:
        asked = [" ".join(term.tokens) for term in question_terms(read(store, "RRF").words)]
        assert asked.count("rrf") > asked.count("reciprocal rank fusion") == 1

    def test_all_meanings_are_told_and_the_first_is_embedded(self, store: Store) -> None:
        understood = read(store, "RF")
        assert {"radio frequency", "rank fusion"} <= terms(understood)
        assert understood.embedded == "RF (Radio frequency)"

    @pytest.mark.parametrize("question", ["is it there?", "IS IT THERE?", "Rrf", "RRF-7", "RRFX1"])
    def test_an_ordinary_word_or_a_code_is_no_abbreviation(
        self, store: Store, question: str
    ) -> None:
        assert read(store, question).notes == ()

    @pytest.mark.parametrize("question", ["rrf", "RRFs", "WHAT IS RRF"])
    def test_small_letters_and_plurals_do_where_nothing_else_can_be_meant(
        self, store: Store, question: str
    ) -> None:
        assert read(store, question).notes == ("RRF = Reciprocal Rank Fusion (your documents)",)

    def test_a_question_that_says_it_all_is_left_alone(self, store: Store) -> None:
        question = "Reciprocal Rank Fusion (RRF) of lists"
        assert read(store, question) == Understood(question, question)

    def test_the_glossary_goes_both_ways_but_not_across(self, store: Store) -> None:
        assert {"automobile", "motor car"} <= terms(read(store, "two cars", GLOSSARY))
        back = read(store, "an automobile", GLOSSARY)
        assert terms(back) == {"automobile", "car"}
        assert back.notes == ("car = automobile (glossary)",)
        assert read(store, "fs limits", GLOSSARY).embedded == "fs (file system) limits"

    def test_a_name_inside_a_longer_one_is_not_meant(self, store: Store) -> None:
        assert read(store, "a motor car", GLOSSARY).notes == ()

    def test_the_glossary_comes_before_the_documents(self, store: Store) -> None:
        own = Aids(glossary=parse_glossary("RRF = Rolling Refresh Frame", "g.txt"))
        assert read(store, "RRF", own).embedded == "RRF (Rolling Refresh Frame)"

    def test_the_store_is_looked_into_once_for_a_word_however_many_meanings_it_has(self) -> None:
        class Counting(MemoryStore):
            looks = 0

            def load_chunks(self, ids: Sequence[ChunkId]) -> list[tuple[DocumentEntry, Chunk]]:
                self.looks += 1
                return super().load_chunks(ids)

        store = Counting()
        fill(store, embedded("letters.md", "ABC is short, and ABC again"))
        names = ", ".join(f"name {number}" for number in range(500))
        many = Aids(glossary=parse_glossary(f"ABC = {names}", "g.txt"))
        understood = read(store, "what is the abc of abc?", many)
        assert {"name 0", "name 1", "name 2"} <= terms(understood)
        assert store.looks == 1

    def test_names_that_the_question_has_leave_room_for_others(self, store: Store) -> None:
        many = Aids(glossary=parse_glossary("FS = a one, a two, a three, a four", "g.txt"))
        understood = read(store, "FS, also called a one, a two or a three", many)
        assert "a four" in terms(understood)

    def test_abbreviations_of_the_documents_are_left_alone_by_default(self, store: Store) -> None:
        assert read(store, "RRF", settings=SearchSettings()) == Understood("RRF", "RRF")


class TestDates:
    TODAY = Aids(today=date(2025, 5, 14))

    def test_date_words_restrict_on_request(self, store: Store) -> None:
        on = SearchSettings(date_words=True)
        understood = read(store, "water since March", self.TODAY, settings=on)
        assert (understood.words, understood.embedded) == ("water", "water")
        assert (understood.since, understood.until) == ("2025-03-01", None)
        assert understood.notes == ("only from 2025-03-01 on (for “since March”)",)

    def test_by_default_they_are_words_like_any_other(self, store: Store) -> None:
        understood = read(store, "water since March", self.TODAY)
        assert understood.since is None
        assert understood.embedded == "water since March"


class Saying:
    """A language model that says the same whatever it is asked."""

    def __init__(self, words: str) -> None:
        self._words = words

    def generate(self, instruction: str, text: str, *, most_tokens: int) -> str:
        del instruction, text, most_tokens
        if not self._words:
            raise ModelError("it cannot be reached")
        return self._words


class TestExpansion:
    def test_a_models_words_are_searched_for_as_well(self, store: Store) -> None:
        understood = read(store, "water", Aids(generator=Saying("sea, the water, 2) brine\n- sea")))
        assert {"water", "sea", "brine"} <= terms(understood)
        assert understood.embedded == "water"
        assert understood.notes == ("also searched for: sea, the water, brine (language model)",)

    @pytest.mark.parametrize(
        "said", ["water, Water", "As a model I cannot do that for you", "!!! --- ,,,", "x" * 80]
    )
    def test_sentences_blobs_and_repetitions_are_no_other_words(
        self, store: Store, said: str
    ) -> None:
        understood = read(store, "water", Aids(generator=Saying(said)))
        assert understood.words == "water"
        assert understood.notes == ("the language model gave no other words",)

    def test_a_model_that_talks_on_and_on_is_cut_short(self, store: Store) -> None:
        said = Saying(", ".join(f"salt{letter}" for letter in "abcdefghij"))
        assert len(terms(read(store, "water", Aids(generator=said)))) == 6

    def test_a_model_that_fails_costs_a_notice(self, store: Store) -> None:
        understood = read(store, "water", Aids(generator=Saying("")))
        assert understood.words == "water"
        assert understood.notes == ()
        assert understood.notices == (
            "Searched without other words from the language model: it cannot be reached.",
        )


def test_a_pasted_page_is_searched_as_it_is(store: Store) -> None:
    page = "retreival RRF since March " * 200
    settings = SearchSettings(acronyms=True, date_words=True)
    today = Aids(today=date(2025, 5, 14))
    assert read(store, page, today, settings=settings) == Understood(page, page)


def test_notes_of_the_glossary_are_told(store: Store) -> None:
    broken = replace(GLOSSARY, glossary=parse_glossary("oops", "g.txt"))
    assert read(store, "water", broken).notes[0].startswith("g.txt, line 1")
