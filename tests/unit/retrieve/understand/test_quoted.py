"""Which parts of a question must match word for word."""

from __future__ import annotations

import pytest

from pincite.retrieve.understand.quoted import quoted_phrases


@pytest.mark.parametrize(
    ("question", "phrases"),
    [
        ('who wrote "the pump leaks"?', ("the pump leaks",)),
        ("who wrote “the pump leaks”?", ("the pump leaks",)),
        ("wer schrieb „die Pumpe leckt“?", ("die Pumpe leckt",)),
        ("wer schrieb „die Pumpe leckt”?", ("die Pumpe leckt",)),
        ("qui a écrit « la pompe fuit » ?", ("la pompe fuit",)),
        ("wer schrieb »die Pumpe leckt«?", ("die Pumpe leckt",)),
        ("「東京都」はどこ", ("東京都",)),
        ('"a b" and "c d", and "a b"', ("a b", "c d")),
        ('("ERR 4042")', ("ERR 4042",)),
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
        'an open quote"',
        'nothing "" here',
        'nothing " " and “ … ” here',
        "“„",
        '"',
    ],
)
def test_inches_apostrophes_open_and_empty_quotes_are_none(question: str) -> None:
    assert quoted_phrases(question) == ()


def test_a_pipe_in_inches_may_stand_beside_a_phrase() -> None:
    assert quoted_phrases('which 5" pipe is "behind the pump"?') == ("behind the pump",)
