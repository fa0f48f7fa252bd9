"""A question becomes what is searched: its typos, names, dates, quotes, and a model's words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import pytest

from helpers import CountingEmbedder, embedded, fill
from memory_store import MemoryStore
from pincite.errors import ModelError
from pincite.ports import Embedder, Store
from pincite.records import Chunk, ChunkId, DocumentEntry, Filters, Understood
from pincite.retrieve.route import containing, narrowed
from pincite.retrieve.understand.date_words import dates_asked_for
from pincite.retrieve.understand.flow import Aids, quoted_phrases, understand
from pincite.retrieve.understand.glossary import Meaning, parse_glossary
from pincite.settings import SearchSettings
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


def test_a_word_that_no_chunk_has_is_searched_as_the_nearest_one_too(store: Store) -> None:
    understood = read(store, "how does retreival work?")
    assert {"retreival", "retrieval"} <= terms(understood)
    assert understood.embedded == "how does retrieval work?"
    assert understood.notes == ("also searched for: retrieval (for “retreival”)",)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("wter", "water"),
        ("awter", "water"),
    ],
)
def test_a_letter_may_be_missing_or_changed_with_the_next(
    store: Store, typed: str, meant: str
) -> None:
    assert meant in terms(read(store, typed))


@pytest.mark.parametrize("typed", ["retrieve", "wte", "retxxxval"])
def test_other_forms_short_words_and_what_is_too_far_are_left_alone(
    store: Store, typed: str
) -> None:
    assert read(store, typed).notes == ()


@pytest.mark.parametrize("question", ["RETREIVAL2", "water-4042x", "東京wat"])
def test_codes_numbers_and_names_are_never_changed(store: Store, question: str) -> None:
    assert read(store, question).notes == ()


def test_quotes_ask_for_something_in_a_query_and_not_in_a_longer_text(store: Store) -> None:
    assert read(store, 'who says "to the mole"?').phrases == ("to the mole",)
    long = 'I am writing about what people say of "the mole", ' + "and of much else " * 4
    assert read(store, long).phrases == ()


def test_what_stands_in_quotes_is_left_as_it_is(store: Store) -> None:
    understood = read(store, 'the "retreival" plan')
    assert understood.phrases == ("retreival",)
    assert understood.notes == ()


def test_a_word_that_the_model_knows_is_no_typo(store: Store) -> None:
    class Knowing(CountingEmbedder):
        def knows(self, word: str) -> bool:
            return word == "later"

    assert read(store, "later", embedder=CountingEmbedder()).notes == ()
    assert read(store, "tater later", embedder=Knowing()).notes == ()


def test_an_abbreviation_is_searched_by_what_the_documents_say_it_means(store: Store) -> None:
    understood = read(store, "what is RRF?")
    assert {"rrf", "reciprocal rank fusion"} <= terms(understood)
    assert "reciprocal" not in terms(understood)
    assert understood.embedded == "what is RRF (Reciprocal Rank Fusion)?"
    assert understood.notes == ("RRF = Reciprocal Rank Fusion (your documents)",)


def test_where_meaning_is_searched_only_the_model_reads_the_full_name(store: Store) -> None:
    understood = read(store, "what is RRF?", embedder=CountingEmbedder())
    assert understood.words == "what is RRF?"
    assert understood.embedded == "what is RRF (Reciprocal Rank Fusion)?"
    cars = read(store, "two cars", GLOSSARY, embedder=CountingEmbedder())
    assert "motor car" in terms(cars)


def test_all_meanings_are_told_and_the_first_is_embedded(store: Store) -> None:
    understood = read(store, "RF")
    assert {"radio frequency", "rank fusion"} <= terms(understood)
    assert understood.embedded == "RF (Radio frequency)"


@pytest.mark.parametrize("question", ["is it there?", "Rrf", "RRFX1"])
def test_an_ordinary_word_or_a_code_is_no_abbreviation(store: Store, question: str) -> None:
    assert read(store, question).notes == ()


@pytest.mark.parametrize("question", ["rrf", "RRFs", "WHAT IS RRF"])
def test_small_letters_and_plurals_do_where_nothing_else_can_be_meant(
    store: Store, question: str
) -> None:
    assert read(store, question).notes == ("RRF = Reciprocal Rank Fusion (your documents)",)


def test_a_question_that_says_it_all_is_left_alone(store: Store) -> None:
    question = "Reciprocal Rank Fusion (RRF) of lists"
    assert read(store, question) == Understood(question, question)


def test_the_glossary_goes_both_ways_but_not_across(store: Store) -> None:
    assert {"automobile", "motor car"} <= terms(read(store, "two cars", GLOSSARY))
    back = read(store, "an automobile", GLOSSARY)
    assert terms(back) == {"automobile", "car"}
    assert back.notes == ("car = automobile (glossary)",)
    assert read(store, "fs limits", GLOSSARY).embedded == "fs (file system) limits"


def test_a_name_inside_a_longer_one_is_not_meant(store: Store) -> None:
    assert read(store, "a motor car", GLOSSARY).notes == ()


def test_the_glossary_comes_before_the_documents(store: Store) -> None:
    own = Aids(glossary=parse_glossary("RRF = Rolling Refresh Frame", "g.txt"))
    assert read(store, "RRF", own).embedded == "RRF (Rolling Refresh Frame)"


def test_the_store_is_looked_into_once_for_a_word_however_many_meanings_it_has() -> None:
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


TODAY = Aids(today=date(2025, 5, 14))


def test_date_words_restrict_on_request(store: Store) -> None:
    on = SearchSettings(date_words=True)
    understood = read(store, "water since March", TODAY, settings=on)
    assert (understood.words, understood.embedded) == ("water", "water")
    assert (understood.since, understood.until) == ("2025-03-01", None)
    assert understood.notes == ("only from 2025-03-01 on (for “since March”)",)


class Saying:
    """A language model that says the same whatever it is asked."""

    def __init__(self, words: str) -> None:
        self._words = words

    def generate(self, instruction: str, text: str, *, most_tokens: int) -> str:
        del instruction, text, most_tokens
        if not self._words:
            raise ModelError("it cannot be reached")
        return self._words


def test_a_models_words_are_searched_for_as_well(store: Store) -> None:
    understood = read(store, "water", Aids(generator=Saying("sea, the water, 2) brine\n- sea")))
    assert {"water", "sea", "brine"} <= terms(understood)
    assert understood.embedded == "water"
    assert understood.notes == ("also searched for: sea, the water, brine (language model)",)


@pytest.mark.parametrize("said", ["water, Water", "As a model I cannot do that for you", "x" * 80])
def test_sentences_blobs_and_repetitions_are_no_other_words(store: Store, said: str) -> None:
    understood = read(store, "water", Aids(generator=Saying(said)))
    assert understood.words == "water"
    assert understood.notes == ("the language model gave no other words",)


def test_a_model_that_talks_on_and_on_is_cut_short(store: Store) -> None:
    said = Saying(", ".join(f"salt{letter}" for letter in "abcdefghij"))
    assert len(terms(read(store, "water", Aids(generator=said)))) == 6


def test_a_model_that_fails_costs_a_notice(store: Store) -> None:
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


A_WEDNESDAY = date(2025, 5, 14)  # a Wednesday


@pytest.mark.parametrize(
    ("words", "since", "until"),
    [
        ("since March", "2025-03-01", None),
        ("before 2024", None, "2023-12-31"),
        ("in May 2025", "2025-05-01", "2025-05-31"),
        ("last week", "2025-05-05", "2025-05-11"),
        ("last month", "2025-04-01", "2025-04-30"),
        ("last year", "2024-01-01", "2024-12-31"),
        ("yesterday", "2025-05-13", "2025-05-13"),
        ("on Monday", "2025-05-12", "2025-05-12"),
        ("since last Wednesday", "2025-05-07", None),
        ("between March and May 2024", "2024-03-01", "2024-05-31"),
        ("from 3 May to 9 May 2024", "2024-05-03", "2024-05-09"),
        ("from November to February 2024", "2023-11-01", "2024-02-29"),
        ("from April to March", "2024-04-01", "2025-03-31"),
        ("between 2024 and 2023", "2023-01-01", "2024-12-31"),
        ("after May 3rd, 2025", "2025-05-04", None),
        ("until 24 December", None, "2024-12-24"),
        ("in Q2 2024", "2024-04-01", "2024-06-30"),
        ("in the last 7 days", "2025-05-07", "2025-05-14"),
        ("in the past 3 months", "2025-02-14", "2025-05-14"),
        ("since March until April", "2025-03-01", "2025-04-30"),
    ],
)
def test_date_words_are_understood_and_taken_out(
    words: str, since: str | None, until: str | None
) -> None:
    asked, rest, taken = dates_asked_for(f"which pumps leaked {words} at the pier?", A_WEDNESDAY)
    days = [day and day.isoformat() for day in (asked.since, asked.until)]
    assert days == [since, until]
    assert rest == "which pumps leaked at the pier?"
    assert " ".join(taken) == words


@pytest.mark.parametrize(
    "question",
    [
        "what may leak?",
        "room 2024",
        "on 31 June 2024",
        "in 2024-13-01",
        "by the pump",
        "last pump of the week",
        "from Tuesday to Friday",  # of which week?
    ],
)
def test_other_words_are_left_alone(question: str) -> None:
    asked, rest, taken = dates_asked_for(question, A_WEDNESDAY)
    assert (asked.since, asked.until, rest, taken) == (None, None, question, ())


def test_a_question_that_is_only_a_date_keeps_its_words() -> None:
    asked, rest, _ = dates_asked_for("last week?", A_WEDNESDAY)
    assert asked.since == date(2025, 5, 5)
    assert rest == "last week?"


def test_the_end_of_a_long_month_is_counted_back_to_the_end_of_a_short_one() -> None:
    asked, _, _ = dates_asked_for("pumps in the last 1 months", date(2025, 3, 31))
    assert asked.since == date(2025, 2, 28)


def test_a_line_names_one_thing_or_several_names_for_it() -> None:
    glossary = parse_glossary(
        "RRF = Reciprocal Rank Fusion\ncar = automobile, motor car\n", "g.txt"
    )
    assert glossary.meanings["rrf"] == (Meaning("RRF", "Reciprocal Rank Fusion"),)
    assert glossary.meanings["reciprocal rank fusion"] == glossary.meanings["rrf"]
    assert [one.long for one in glossary.meanings["car"]] == ["automobile", "motor car"]
    assert glossary.meanings["motor car"] == (Meaning("car", "motor car"),)
    assert glossary.notes == ()


def test_comments_empty_lines_and_a_byte_order_mark_are_nothing() -> None:
    text = "\ufeffCI = continuous integration # not Côte d'Ivoire\n\n# more\n   \nC# = sharp"
    glossary = parse_glossary(text, "g.txt")
    assert [one.short for held in glossary.meanings.values() for one in held].count("CI") == 2
    assert glossary.meanings["sharp"] == (Meaning("C#", "sharp"),)
    assert glossary.notes == ()


def test_a_bad_line_is_told_with_its_number_and_the_others_hold() -> None:
    glossary = parse_glossary("just words\nRRF = rank fusion\n= x\ny =\n", "pincite-glossary.txt")
    assert glossary.notes[0].startswith("pincite-glossary.txt, line 1: ")
    assert [note.split(":")[0][-1] for note in glossary.notes] == ["1", "3", "4"]
    assert "rrf" in glossary.meanings


def test_no_more_names_are_held_than_a_search_can_look_at() -> None:
    many = ", ".join(f"name {number}" for number in range(6_000))
    glossary = parse_glossary(f"ABC = {many}\nDEF = {many}\nGHI = one more", "g.txt")
    assert [len(glossary.meanings[key]) for key in ("abc", "def")] == [6_000, 4_000]
    assert "ghi" not in glossary.meanings
    told = "g.txt: what follows the first 10,000 names or lines is left out"
    assert glossary.notes == (told,)
    assert parse_glossary("# nothing\n" * 10_001, "g.txt").notes == (told,)


def understood(*phrases: str, since: str | None = None, until: str | None = None) -> Understood:
    return Understood("q", "q", phrases=phrases, since=since, until=until)


def test_filters_that_allow_nothing_allow_no_phrase_either() -> None:
    assert containing(Filters(), "a b").phrases == ("a b",)
    assert containing(Filters(phrases=("c",)), "a b").phrases == ("c", "a b")
    assert containing(Filters(phrases=()), "a b").phrases == ()


def test_of_two_ranges_what_both_allow_is_left() -> None:
    asked = understood(since="2024-03-01", until="2024-12-31")
    inner = narrowed(Filters(since="2024", until="2024-06"), asked)
    assert (inner.since, inner.until) == ("2024-03-01", "2024-06")
    outer = narrowed(Filters(since="2024-05", until="2025"), asked)
    assert (outer.since, outer.until) == ("2024-05", "2024-12-31")


@pytest.mark.parametrize(
    ("question", "phrases"),
    [
        ('who wrote "the pump leaks"?', ("the pump leaks",)),
        ("wer schrieb „die Pumpe leckt“?", ("die Pumpe leckt",)),
        ("qui a écrit « la pompe fuit » ?", ("la pompe fuit",)),
        ("「東京都」はどこ", ("東京都",)),
        ('"a b" and "c d", and "a b"', ("a b", "c d")),
    ],
)
def test_quoted_words_are_phrases(question: str, phrases: tuple[str, ...]) -> None:
    assert quoted_phrases(question) == phrases


@pytest.mark.parametrize(
    "question",
    [
        'a 5" pipe and a 7" pipe',
        "the keeper's dog and the dogs' keeper",
        'an "open quote',
        'nothing " " and “ … ” here',
        "“„",
    ],
)
def test_inches_apostrophes_open_and_empty_quotes_are_none(question: str) -> None:
    assert quoted_phrases(question) == ()


def test_a_name_may_have_several_lines() -> None:
    glossary = parse_glossary("CD = compact disc\nCD = certificate of deposit", "g.txt")
    assert [one.long for one in glossary.meanings["cd"]] == [
        "compact disc",
        "certificate of deposit",
    ]


def test_a_file_that_is_no_glossary_does_not_fill_the_screen() -> None:
    notes = parse_glossary("prose\n" * 50, "g.txt").notes
    assert len(notes) == 4
    assert notes[-1] == "g.txt: 47 more lines left out"


def test_a_question_that_asks_for_nothing_leaves_the_filters_as_they_are() -> None:
    filters = Filters(types=("md",), phrases=(), since="2024", until="2025")
    assert narrowed(filters, understood()) == filters
    assert narrowed(Filters(), understood()).none_given


def test_a_pipe_in_inches_may_stand_beside_a_phrase() -> None:
    assert quoted_phrases('which 5" pipe is "behind the pump"?') == ("behind the pump",)


def test_notes_of_the_glossary_are_told(store: Store) -> None:
    broken = replace(GLOSSARY, glossary=parse_glossary("oops", "g.txt"))
    assert read(store, "water", broken).notes[0].startswith("g.txt, line 1")


def test_typos_and_abbreviations_can_be_left_alone(store: Store) -> None:
    off = SearchSettings(typos=False)
    assert read(store, "retreival", settings=off) == Understood("retreival", "retreival")
    assert read(store, "RRF", settings=SearchSettings()) == Understood("RRF", "RRF")
    understood = read(store, "water since March", Aids(today=date(2025, 5, 14)))
    assert (understood.since, understood.embedded) == (None, "water since March")


@pytest.mark.parametrize("question", ["the Watter of Retreival", "what is WATXR?"])
def test_a_name_in_capitals_is_never_taken_for_another_word(store: Store, question: str) -> None:
    understood = read(store, question)
    assert understood.embedded == question
    assert understood.notes == ()


def test_what_may_be_one_of_two_words_or_a_rare_one_is_left_alone(store: Store) -> None:
    fill(store, embedded("more.md", "otter"), embedded("most.md", "outer"))
    assert read(store, "otuer").embedded == "otuer"
    assert read(store, "the matasteses").notes == ()
    fill(store, *(embedded(f"many/{n}.md", f"metastases {n}") for n in range(9)))
    assert read(store, "the matasteses").notes == ()
    fill(store, embedded("tenth.md", "metastases"))
    assert read(store, "the matasteses").embedded == "the metastases"
    assert "receipt" in terms(read(store, "Reciept of the parts"))


def test_what_is_asked_counts_more_than_what_is_added(store: Store) -> None:
    asked = [" ".join(term.tokens) for term in question_terms(read(store, "RRF").words)]
    assert asked.count("rrf") > asked.count("reciprocal rank fusion") == 1


def test_names_that_the_question_has_leave_room_for_others(store: Store) -> None:
    many = Aids(glossary=parse_glossary("FS = a one, a two, a three, a four", "g.txt"))
    understood = read(store, "FS, also called a one, a two or a three", many)
    assert "a four" in terms(understood)
