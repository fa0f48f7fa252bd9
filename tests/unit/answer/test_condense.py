"""A follow-up takes what it leaves out from the question before, and one that is whole nothing."""

from __future__ import annotations

from typing import cast

import pytest

from pincite.answer.condense import condense
from pincite.ports import Writer

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
        "At what time is dinner?",
        "For whom was the tower built?",
        "On which day is market?",
        "灯塔有多高？",
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
        ("and what else?", "and what else: Who signed the lease?"),
        ("and?", "and: Who signed the lease?"),
        ("for?", "Who signed the lease, for?"),
        ("on which day?", "Who signed the lease, on which day?"),
        ("In which year did she die?", "In which year did she die (signed lease)?"),
        ("who signed that letter?", "who signed that letter (lease)?"),
        ("它什么时候到期？", "它什么时候到期？ (signed lease)?"),
        ("租金？", "租金？ (signed lease)?"),
    ],
)
def test_a_pointer_and_a_bare_fragment_take_the_subject_before(question: str, meant: str) -> None:
    assert condense([BEFORE, question]) == meant


@pytest.mark.parametrize(
    ("before", "question", "meant"),
    [
        ("How much rain fell in 2024?", "and in 2023?", "How much rain fell in 2023?"),
        ("How much rain fell in May?", "and in June?", "How much rain fell in June?"),
        ("Where does Ada live?", "and Petra?", "Where does Petra live?"),
        ("When was the roof in Bray mended?", "And in Rye?", "When was the roof in Rye mended?"),
        ("Does it cover storm damage?", "And theft?", "Does it cover storm damage, theft?"),
        (
            "Did the board approve the budget?",
            "And the new boat?",
            "Did the board approve the budget, the new boat?",
        ),
        (
            "What did we decide on pricing?",
            "on which day?",
            "What did we decide on pricing, on which day?",
        ),
        ("What does hospice care cover?", "and dentists?", "What does dentists cover?"),
        ("Is massage covered by the plan?", "and eye care?", "Is eye care covered by the plan?"),
        ("When is the rock shore closed?", "and the tower?", "When is the tower closed?"),
        (
            "When does the bus leave in May?",
            "and on Sunday?",
            "When does the bus leave in May, on Sunday?",
        ),
        (
            "What is the fee of Plan B?",
            "And for a family?",
            "What is the fee of Plan B, for a family?",
        ),
        (
            "What is the fee of the gym, for a family?",
            "and for two?",
            "What is the fee of the gym, for two?",
        ),
    ],
)
def test_a_fragment_takes_the_place_of_what_it_stands_for(
    before: str, question: str, meant: str
) -> None:
    assert condense([before, question]) == meant


def test_fragments_one_after_the_other_do_not_pile_up() -> None:
    asked = ["What does hearing care cover?", "and vision?", "what about massage therapy?"]
    assert condense(asked) == "What does massage therapy cover?"


def test_what_follows_a_change_of_subject_is_about_the_new_one() -> None:
    assert condense(["What is a gull?", "thanks", "Who is Petra?", "where does she live?"]) == (
        "where does she live (Petra)?"
    )


def test_of_a_model_only_a_question_of_the_conversation_is_taken() -> None:
    class Model:
        name = "model"

        def __init__(self, told: str) -> None:
            self.told = told

        def generate(self, *args: object, **kwargs: object) -> str:
            return self.told

    asked = ["When does the lease end?", "and the rent?"]
    by_rules = condense(asked)
    for told, taken in (
        ("When is the rent of the lease?", "When is the rent of the lease?"),
        ("The lease ends on January 1st, 2024.", by_rules),  # answered, and made up
        ("When does the lease end?", by_rules),  # without what was asked
    ):
        assert condense(asked, cast(Writer, Model(told))) == taken
