"""A follow-up takes what it leaves out from the question before, and one that is whole nothing."""

from __future__ import annotations

import pytest

from pincite.answer.condense import condense

BEFORE = "Who signed the lease?"


@pytest.mark.parametrize(
    "question",
    [
        "Who is Petra?",
        "What is Kubernetes?",
        "and what is seaweed?",
        "Which rule covers boats that are longer than 10 m?",
        "What is the rope that holds the buoy made of?",
        "How long does it take to repair a yellow buoy?",
        "How much does it cost to be a member of the Harbour Board?",
        "Is it allowed to bring dogs?",
        "thanks",
        "Thanks a lot!",
    ],
)
def test_a_question_that_is_whole_stays_as_it_is(question: str) -> None:
    assert condense([BEFORE, question]) == question


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("when was it due?", "when was it due (signed lease)?"),
        ("is that allowed?", "is that allowed (signed lease)?"),
        ("what happens after that is done?", "what happens after that is done (signed lease)?"),
        ("how long does it take to pay?", "how long does it take to pay (signed lease)?"),
        ("is it used to hold the boat?", "is it used to hold the boat (signed lease)?"),
        ("what was decided?", "what was decided (signed lease)?"),
        ("who pays?", "who pays (signed lease)?"),
        ("which colour?", "which colour (signed lease)?"),
        ("rent", "rent (signed lease)?"),
        ("why?", "why: Who signed the lease?"),
    ],
)
def test_a_pointer_and_a_bare_fragment_take_the_subject_before(question: str, meant: str) -> None:
    assert condense([BEFORE, question]) == meant


def test_what_follows_a_change_of_subject_is_about_the_new_one() -> None:
    assert condense(["What is a gull?", "thanks", "Who is Petra?", "where does she live?"]) == (
        "where does she live (Petra)?"
    )
