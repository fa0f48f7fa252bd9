import pytest
from hypothesis import given, strategies as st

from pincite.text.summary import LONGEST, beginning, first_sentences, summary

SENTENCES = [
    "The harbour office keeps the tide tables of the northern coast.",
    "Boats over nine metres must report to the harbour office before they moor.",
    "A fee is due for every night in the harbour.",
    "The weather was fine on Tuesday afternoon in the mountains.",
    "Harbour fees are paid at the harbour office between eight and noon.",
]

sentences = st.lists(
    st.sampled_from(["harbour", "tide", "the", "boats", "fees", "office", "moor", "of"]),
    min_size=1,
    max_size=12,
).map(lambda words: " ".join(words) + ".")
passages = st.lists(st.lists(sentences, max_size=3).map(" ".join), max_size=4)


@given(passages)
def test_a_summary_is_short_and_made_of_whole_sentences_in_their_order(given: list[str]) -> None:
    made = summary(given)
    assert len(made) <= LONGEST
    following = iter(" ".join(filter(None, given)).split(". "))
    for sentence in filter(None, made.split(". ")):
        assert any(one.removesuffix(".") == sentence.removesuffix(".") for one in following)


@given(passages, st.text(max_size=20))
def test_the_same_text_has_the_same_summary(given: list[str], title: str) -> None:
    assert summary(given, title=title) == summary(iter(given), title=title)


def test_it_tells_what_the_text_speaks_of_most() -> None:
    made = summary([" ".join(SENTENCES)], title="Harbour rules")
    assert "harbour office" in made
    assert "weather" not in made


@pytest.mark.parametrize("title", ["Rope", "Paint"])
def test_words_of_the_title_count_more(title: str) -> None:
    things = ["Oil", "Rope", "Tar", "Wood", "Paint", "Salt", "Cord", "Nails"]
    lines = [f"{thing} is stored in the shed behind the mill of the village." for thing in things]
    assert f"{title} is stored" in summary(lines, title=title)


def test_a_sentence_about_the_document_itself_is_preferred() -> None:
    text = "Pumps are noisy machines with many parts. This page explains how pumps are cleaned."
    assert "This page explains how pumps are cleaned." in summary([text])


def test_what_was_said_twice_is_shown_once() -> None:
    assert summary(["The mill grinds oats for the whole island."] * 4) == (
        "The mill grinds oats for the whole island."
    )


@pytest.mark.parametrize(
    "boilerplate",
    [
        "Copyright 2024 by the harbour office, all rights reserved.",
        ".. image:: harbour office in the morning light",
        "https://harbour.example/office/tides/and/fees/for/boats",
        "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16",
    ],
)
def test_furniture_is_left_out(boilerplate: str) -> None:
    assert summary([boilerplate]) == ""
    assert summary([boilerplate, SENTENCES[1]]) == SENTENCES[1]


def test_markup_and_line_breaks_do_not_show() -> None:
    text = "The **pump** is\ndescribed in [the\nmanual](http://x.y/z), see `pump.md` first."
    assert summary([text]) == "The pump is described in the manual, see pump.md first."


def test_lines_in_capitals_above_the_text_are_no_part_of_it() -> None:
    assert summary(["NIGHT SHIFT\nTHE LIFE OF FISH\nLanternfish live in the deep sea."]) == (
        "Lanternfish live in the deep sea."
    )


def test_scripts_without_spaces_have_summaries() -> None:
    text = "灯笼鱼生活在深海里。它们在夜里游到海面附近觅食。天气很好。灯笼鱼的身上有发光器。"
    made = summary([text], title="灯笼鱼")
    assert made.startswith("灯笼鱼生活在深海里。")
    assert "天气很好" not in made
    assert " " not in made


def test_a_sentence_too_long_is_passed_over() -> None:
    long = "The harbour " + "and the office " * 40 + "are open."
    assert summary([long, SENTENCES[2]]) == SENTENCES[2]
    assert summary([long]) == ""


def test_speakers_come_to_their_subject_later() -> None:
    chat = ["Good evening to everybody who came tonight."] + [
        f"I see many old friends in row number {number}." for number in range(9)
    ]
    subject = ["Lanternfish are small fish.", "Lanternfish rise when the lanternfish sea is dark."]
    assert "Lanternfish" in summary(chat + subject * 3, title="Lanternfish", spoken=True)


@given(st.text(max_size=1_000))
def test_a_beginning_is_short_and_marked_where_it_was_cut(text: str) -> None:
    made = beginning(text)
    assert len(made) <= LONGEST
    assert made.removesuffix("…") in " ".join(text.split())
    assert made == " ".join(text.split()) or made.endswith("…")


def test_labels_without_a_full_stop_are_told_apart() -> None:
    lines = ["Harbour fees for boats and crews", "Harbour fees are due at noon."]
    assert summary(lines) == "Harbour fees for boats and crews · Harbour fees are due at noon."


def test_first_sentences_are_whole() -> None:
    assert first_sentences([" ".join(SENTENCES)]) == " ".join(SENTENCES[:4])
    assert first_sentences([]) == ""
