"""Where sentences begin and end."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.text.sentences import sentence_spans, trim


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text, 0, len(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t", []),
        ("One", ["One"]),
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Wait... what?! Yes.", ["Wait...", "what?!", "Yes."]),
        ('He said "stop." Then he left.', ['He said "stop."', "Then he left."]),
        ("(One.) **Two.** Three.", ["(One.)", "**Two.**", "Three."]),
        ("Version 1.2.3 of a.b is out. Yes.", ["Version 1.2.3 of a.b is out.", "Yes."]),
        ("See e.g. page 3. Then i.e. here.", ["See e.g. page 3.", "Then i.e. here."]),
        ("Dr. J. Doe et al. wrote it.", ["Dr. J. Doe et al.", "wrote it."]),
        ("東京です。大阪です！次？", ["東京です。", "大阪です！", "次？"]),
        ("「はい。」次。", ["「はい。」", "次。"]),
        ("One\ntwo.\nThree", ["One\ntwo.", "Three"]),
        ("One\n\nTwo", ["One", "Two"]),
        ("One\r\n\r\nTwo", ["One", "Two"]),
        ("- one\n- two\n3. three", ["- one", "- two", "3. three"]),
        ("  10. Ten. Eleven.\n11. Twelve.", ["10. Ten.", "Eleven.", "11. Twelve."]),
        ("It was in 1999. Then came 2000.", ["It was in 1999.", "Then came 2000."]),
        ("Text\n# Heading\nmore", ["Text", "# Heading\nmore"]),
        ("| a |\n| b |", ["| a |", "| b |"]),
        ("say\n[00:12] hello\n00:15 bye", ["say", "[00:12] hello", "00:15 bye"]),
        ("  spaced out.  ", ["spaced out."]),
    ],
)
def test_a_text_is_cut_where_a_reader_would_pause(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_only_the_given_stretch_is_looked_at() -> None:
    text = "One. Two. Three."
    assert sentence_spans(text, 5, 9) == [(5, 9)]
    assert sentence_spans(text, 1, 7) == [(1, 4), (5, 7)]


@pytest.mark.parametrize("char", [".", "!", "。", "'", "\n", " ", "a", "#"])
def test_a_very_long_row_of_one_character_is_no_trouble(char: str) -> None:
    text = f"One. {char * 200_000}x"
    spans = sentence_spans(text, 0, len(text))
    assert spans[0] == (0, 4)
    assert spans[-1][1] == len(text)


any_text = st.text(st.sampled_from("ab .!?。\n\r\t-#|\"')1*é東"), max_size=60)


@given(any_text)
def test_sentences_are_in_order_trimmed_and_leave_only_blanks_between(text: str) -> None:
    spans = sentence_spans(text, 0, len(text))
    assert all(text[start:end].strip() == text[start:end] != "" for start, end in spans)
    edges = [(0, 0), *spans, (len(text), len(text))]
    for (_, before), (after, _) in pairwise(edges):
        assert before <= after
        assert not text[before:after].strip()


@given(any_text)
def test_trimming_is_what_strip_does(text: str) -> None:
    start, end = trim(text, 0, len(text))
    assert text[start:end] == text.strip()


def test_the_number_of_a_heading_is_not_a_sentence() -> None:
    text = "## 8. Upgrading from v1\n\nRead this first."
    spans = sentence_spans(text, 0, len(text))
    assert [text[start:end] for start, end in spans] == [
        "## 8. Upgrading from v1",
        "Read this first.",
    ]
