"""Headings become questions, in the language of their document."""

from __future__ import annotations

import json

import pytest

from drafting import FILLER, Read, read
from pincite.evals.generate import draft_cases
from pincite.evals.generate.phrases import language_of
from pincite.evals.generate.verbs import how_to
from pincite.records import Case, ExpectedPlace


def headed(*headings: str, path: str = "mill.md", title: str = "The mill of the island") -> Read:
    sections = "".join(f"## {heading}\n\n{FILLER}\n\n" for heading in headings)
    return read(path, f"# {title}\n\n{FILLER}\n\n{sections}")


def drafts(*documents: Read) -> list[Case]:
    made = draft_cases(documents, most=100)
    return [case for case in made if not case.unanswerable]


def questions(*documents: Read) -> list[str]:
    return [case.question for case in drafts(*documents)]


def asking(question: str, *documents: Read) -> Case:
    (case,) = [case for case in drafts(*documents) if case.question == question]
    return case


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("Configure liveness probes", "How do I configure liveness probes?"),
        ("Oil the bearings", "How do I oil the bearings?"),
        ("Calibrating a logger", "How do I calibrate a logger?"),
        ("Running the mill on your own", "How do I run the mill on my own?"),
        ("Installing and Setting up", "How do I install and set up?"),
        ("Enable Or Disable Feature Gates", "How do I enable or disable Feature Gates?"),
        ("How to grind oats", "How do I grind oats?"),
        ("Access control", ""),
        ("Test results", ""),
        ("Scaling overview", ""),
        ("Packing list for the boats", ""),
        ("During the winter", ""),
        ("Bearings", ""),
        ("Meets the standard", ""),
        ("", ""),
    ],
)
def test_an_instruction_becomes_a_question_for_the_way(heading: str, question: str) -> None:
    assert how_to(heading) == question


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("3. Why is the wheel red?", "Why is the wheel red?"),
        ("2.1 Grind the oats", "How do I grind the oats?"),
        (
            "Why the wheel broke",
            "What does “The mill of the island” say about why the wheel broke?",
        ),
        ("Water rights", "What does “The mill of the island” say about “Water rights”?"),
    ],
)
def test_a_heading_that_says_something_is_asked_for_at_its_lines(
    heading: str, question: str
) -> None:
    case = asking(question, headed("Oat prices", heading))
    assert case.kind == "content"
    assert case.documents == {"mill.md": 1}
    assert case.places == (ExpectedPlace("mill.md", lines=(9, 11)),)
    assert "from the heading" in case.note


@pytest.mark.parametrize(
    "heading",
    [
        "Introduction",
        "1. Overview",
        "See also",
        "References",
        "Next steps",
        "2024-05-01",
        "What we do",
    ],
)
def test_a_dull_heading_is_not_asked_for(heading: str) -> None:
    assert not [case for case in drafts(headed(heading)) if case.places]


def test_a_heading_that_others_have_is_not_asked_for() -> None:
    one = headed("Clean the bearings", "Water rights")
    other = headed("Cleaning the bearings", path="loom.md", title="The loom of the island")
    assert "How do I clean the bearings?" in questions(one)
    asked = questions(one, other)
    assert not [question for question in asked if "bearings" in question]
    assert [question for question in asked if "Water rights" in question]


def test_a_heading_stands_for_all_that_is_below_it() -> None:
    below = "".join(f"### {name}\n\n{FILLER}\n\n" for name in ("Red ones", "Blue ones"))
    text = (
        f"# Mills\n\n{FILLER}\n\n{FILLER}\n\n{FILLER}\n\n{FILLER}\n\n## Grind the oats\n\n{below}"
    )
    (place,) = asking("How do I grind the oats?", read("mill.md", text)).places
    assert place.lines == (11, 19)


def test_pages_are_expected_where_there_are_pages() -> None:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": f"## {heading}\n\n{FILLER}"}
        for heading in ("Oat prices", "Grind the oats", "Water rights")
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    case = asking("How do I grind the oats?", read("mill.ipynb", json.dumps(notebook)))
    assert case.places == (ExpectedPlace("mill.ipynb", pages=(2, 2)),)


def test_a_question_is_in_the_language_of_its_document() -> None:
    text = (
        "# Ordnung der Mühle\n\nDie Mühle steht auf dem Hof und wird von uns gepflegt.\n\n"
        f"## Öffnungszeiten der Mühle\n\nAm Montag steht das Rad. {'Das bleibt so. ' * 20}\n"
        f"## Werkzeug und Geräte\n\nEs liegt im Schrank. {'Das bleibt so. ' * 20}\n"
    )
    assert "Was steht in „Ordnung der Mühle“ über „Werkzeug und Geräte“?" in questions(
        read("ordnung.md", text)
    )


@pytest.mark.parametrize(
    ("text", "told", "language"),
    [
        ("The mill is in the yard and it is red.", None, "en"),
        ("Die Mühle steht auf dem Hof und wird nicht rot.", None, "de"),
        ("水車は庭にあります。赤いです。", None, "ja"),
        ("水车在院子里，是红色的。", None, "zh"),
        ("Mylly on pihalla ja se on punainen.", None, None),
        ("x = 1", None, None),
        ("x = 1", "en-GB", "en"),
        ("x = 1", "javascript", None),
        ("x = 1", "fi", None),
    ],
)
def test_the_language_is_known_by_small_words_and_script(
    text: str, told: str | None, language: str | None
) -> None:
    assert language_of(text, told) == language
