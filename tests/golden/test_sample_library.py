"""The sample library with the real model: labelled questions find their documents."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from pincite import Library, SearchSettings
from pincite.engine.eval_wishes import EvalWishes
from pincite.entrypoints.render import results_as_text
from pincite.evals.gate import check, parse_floors
from pincite.records import KINDS, Case, EvalRun, Mode

HERE = Path(__file__).parent
ROOT = HERE.parent.parent

# A little below what was measured when they were set, as those in floors.json are. A change that
# raises a figure raises its floor in the same commit.
FLOORS = parse_floors((HERE / "floors.json").read_text())
FOUND_FLOOR = 0.9  # of the golden and the hard questions together

# Kinds whose text is the file's own, character by character.
VERBATIM = frozenset((".md", ".txt", ".rst", ".org", ".py", ".ts", ".go", ".rs", ".java", ".cpp"))


@pytest.fixture(scope="module")
def run(library: Library, golden: tuple[Case, ...]) -> EvalRun:
    return library.evaluation.run(golden, EvalWishes())


def share_found(library: Library, cases: tuple[Case, ...], mode: Mode) -> float:
    """Of the questions that have an answer, those with its document among the first three."""
    return library.evaluation.run(cases, EvalWishes(mode=mode)).figures["all"]["hit@3"]


def test_everything_that_is_expected_exists(
    library: Library, golden: tuple[Case, ...], hard: tuple[Case, ...]
) -> None:
    assert library.evaluation.out_of_reach([*golden, *hard]) == []


def test_there_are_golden_questions_of_every_kind(golden: tuple[Case, ...]) -> None:
    answerable = Counter(case.kind for case in golden if not case.unanswerable)
    assert answerable.total() >= 120
    assert set(answerable) == set(KINDS)
    assert sum(case.unanswerable for case in golden) >= 20


def test_every_golden_document_is_among_the_first_three(run: EvalRun) -> None:
    missed = [one.case.question for one in run.results if one.figures.get("hit@3") == 0.0]
    assert missed == []


def test_no_figure_is_below_its_floor(run: EvalRun) -> None:
    assert [one for one in check(run, FLOORS) if not one.holds] == []


def test_hybrid_finds_golden_and_hard_questions_better_than_meaning_alone(
    library: Library, golden: tuple[Case, ...], hard: tuple[Case, ...]
) -> None:
    hybrid = share_found(library, (*golden, *hard), "hybrid")
    assert hybrid >= FOUND_FLOOR
    assert hybrid > share_found(library, (*golden, *hard), "vector")


def test_the_results_in_the_readme_are_what_a_search_prints(library: Library) -> None:
    readme = (ROOT / "README.md").read_text()
    shown = re.findall(
        r'\$ pincite search --top-k 1 "(.*?)"\n(.*?)(?=\n\$|\n```)', readme, re.DOTALL
    )
    assert len(shown) == 3
    for question, result in shown:
        found = library.search(question, settings=SearchSettings(top_k=1))
        printed = results_as_text(found, explain=False, highlight=str, strong=str)
        assert "\n".join(printed) == result


def test_every_result_is_cited_to_lines_that_hold_its_words(
    library: Library, golden: tuple[Case, ...]
) -> None:
    for case in golden[::10]:
        for result in library.search(case.question).results:
            place = library.show(result.chunk.id, around=0)
            assert result.chunk.text in "\n".join(place.lines)
            text = place.document.text
            assert text[result.quote.start : result.quote.end] == result.quote.text
            file = library.root / result.document.path
            assert file.suffix not in VERBATIM or file.read_text() == text
