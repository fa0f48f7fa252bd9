from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import sqrt
from random import Random

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import permutation_test

from eval_runs import SETUP, eval_run as run
from pincite.errors import SettingsError
from pincite.evals.compare import compare
from pincite.evals.judge import BY_QUESTION
from pincite.records import (
    Case,
    CaseResult,
    Change,
    ChunkId,
    EvalRun,
    ExpectedPlace,
    Filters,
    Found,
    Locator,
    Told,
    ToldCitation,
    ToldClaim,
)


def result(question: str, **figures: float) -> CaseResult:
    return CaseResult(case=Case(question=question, documents={"a.md": 1}), figures=figures)


def scored(**values: float) -> EvalRun:
    """A run in which each question has an nDCG."""
    return run(*(result(question, **{"ndcg@10": value}) for question, value in values.items()))


def questions(changes: tuple[Change, ...]) -> list[str]:
    return [change.case.question for change in changes]


def test_questions_are_better_worse_or_the_same_the_greatest_change_first() -> None:
    before = scored(a=0.5, b=0.5, c=0.5, d=0.9, e=0.9, f=0.9)
    after = scored(f=0.8, e=0.0, d=0.9, c=0.5, b=1.0, a=0.6)
    outcome = compare(before, after)
    assert questions(outcome.better) == ["b", "a"]
    assert questions(outcome.worse) == ["e", "f"]
    assert outcome.same == 2
    assert (outcome.better[0].value_before, outcome.better[0].value_after) == (0.5, 1.0)
    assert outcome.better[0].before == before.results[1]
    assert (outcome.before, outcome.after, outcome.figure) == (before, after, "ndcg@10")


PLAIN = Case(question="?", documents={"a": 1, "b": 2}, terms=("x", "y"))


@pytest.mark.parametrize(
    "other",
    [
        replace(PLAIN, documents={"a": 1, "b": 1}),
        replace(PLAIN, chunks=(ChunkId("c"),)),
        replace(PLAIN, places=(ExpectedPlace("a", lines=(1, 2)),)),
        replace(PLAIN, unanswerable=True),
        replace(PLAIN, filters=Filters(path="docs/")),
    ],
)
def test_a_question_of_which_something_else_is_expected_is_another_question(other: Case) -> None:
    shared = result("shared", **{"mrr": 1.0})
    one = CaseResult(case=PLAIN, figures={"mrr": 1.0})
    changed = CaseResult(case=other, figures={"mrr": 0.0})
    outcome = compare(run(shared, one), run(shared, changed))
    assert outcome.only_before == (PLAIN,)
    assert outcome.only_after == (other,)
    assert outcome.figures[0].questions == 1


def test_what_is_not_expected_may_change_and_so_may_the_order_of_what_is() -> None:
    case = replace(
        PLAIN, documents={"b": 2, "a": 1}, terms=("y", "x"), kind="metadata", note="!", draft=True
    )
    before, after = (CaseResult(case=one, figures={"mrr": 1.0}) for one in (PLAIN, case))
    outcome = compare(run(before), run(after))
    assert outcome.same == 1
    assert not outcome.only_before


def test_figures_are_means_over_the_shared_questions_that_have_them() -> None:
    before = run(result("a", mrr=0.2, similarity=0.1), result("b", mrr=0.4), result("c", mrr=0.0))
    after = run(result("a", mrr=0.6), result("b", mrr=0.4, similarity=0.1))
    (change,) = compare(before, after).figures
    assert change.name == "mrr"
    assert change.questions == 2
    assert [change.before, change.after] == pytest.approx([0.3, 0.5])


def test_the_p_value_of_mixed_changes_is_the_one_computed_by_hand() -> None:
    # Differences 3, 2, -1: of the sums ±3±2±1 four (±6, ±4) of eight are at least 4 from 0.
    before, after = scored(a=0, b=0, c=1), scored(a=3, b=2, c=0)
    assert compare(before, after).figures[0].p_value == pytest.approx(4 / 8)


def differing(questions: int, random: Random) -> tuple[EvalRun, EvalRun]:
    """Runs with every figure, in which the later figures differ in fewer questions."""
    before, after = [], []
    for number in range(questions):
        old = {name: random.randint(0, 12) / 12 for name in BY_QUESTION}
        new = {
            name: random.choice((value, random.randint(0, 13) / 12, random.random()))
            for place, (name, value) in enumerate(old.items())
            if random.random() * len(old) > place
        }
        before.append(result(f"{number}?", **old))
        after.append(result(f"{number}?", **new))
    return run(*before), run(*after)


@pytest.mark.parametrize("seed", range(4))
def test_p_values_are_those_of_scipy_within_sampling_error(seed: int) -> None:
    random = Random(seed)
    before, after = differing(random.randint(8, 60), random)
    pairs = list(zip(before.results, after.results, strict=True))
    drawn = 9_999
    for change in compare(before, after).figures:
        name = change.name
        moved = [new.figures[name] - old.figures[name] for old, new in pairs if name in new.figures]
        moved = [difference for difference in moved if difference]
        at_least_two = [*moved, *[0.0] * (2 - len(moved))]
        theirs = permutation_test(
            (np.array(at_least_two),),
            np.mean,
            permutation_type="samples",
            vectorized=True,
            n_resamples=drawn,
            rng=np.random.default_rng(seed),
        ).pvalue
        # The error of two estimates, each twice the share of one tail; none where all is tried.
        tail = theirs / 2
        error = 0 if 2 ** len(moved) <= drawn else 2 * sqrt(2 * tail * (1 - tail) / drawn) + 1e-4
        assert change.p_value == pytest.approx(theirs, abs=5 * error + 1e-12)


def test_so_many_questions_that_signs_are_drawn_in_parts_give_the_same_p_values_each_time() -> None:
    before, after = differing(500, Random(1))
    assert compare(before, after).figures == compare(before, after).figures


def test_fewer_context_tokens_are_better() -> None:
    outcome = compare(
        run(result("a", context_tokens=900)),
        run(result("a", context_tokens=300)),
        figure="context_tokens",
    )
    assert questions(outcome.better) == ["a"]
    assert not outcome.worse


def test_where_nothing_has_the_default_figure_the_first_there_is_takes_its_place() -> None:
    one = run(result("a", **{"terms@10": 1.0, "place_hit@1": 0.0}))
    assert compare(one, one).figure == "place_hit@1"


def test_a_figure_asked_for_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(SettingsError, match=r"'terms@10'.*choose one of: ndcg@10$"):
        compare(scored(a=1.0), scored(a=1.0), figure="terms@10")


def test_runs_without_a_common_question_or_figure_cannot_be_compared() -> None:
    with pytest.raises(SettingsError, match="share no question"):
        compare(scored(a=1.0), scored(b=1.0))
    with pytest.raises(SettingsError, match="no figure applies"):
        compare(run(result("a", mrr=1.0)), run(result("a")))


grades = st.integers(0, 4).map(lambda grade: grade / 4)
runs = st.dictionaries(st.sampled_from("abcdefghijklmnop"), grades, min_size=1).map(
    lambda values: scored(**{**values, "in both": 0.5})
)


def sizes(changes: tuple[Change, ...]) -> Mapping[str, float]:
    return {
        change.case.question: abs(change.value_after - change.value_before) for change in changes
    }


@given(runs, runs)
def test_swapping_the_runs_swaps_better_and_worse(before: EvalRun, after: EvalRun) -> None:
    there, back = compare(before, after), compare(after, before)
    assert sizes(there.better) == sizes(back.worse)
    assert sizes(there.worse) == sizes(back.better)
    assert there.same == back.same
    assert {case.id for case in there.only_before} == {case.id for case in back.only_after}
    (one,), (other,) = there.figures, back.figures
    assert [one.before, one.after] == pytest.approx([other.after, other.before])
    assert one.p_value == pytest.approx(other.p_value)


@given(runs, runs)
def test_every_question_is_in_exactly_one_place(before: EvalRun, after: EvalRun) -> None:
    outcome = compare(before, after)
    shared = len(outcome.better) + len(outcome.worse) + outcome.same
    assert shared == outcome.figures[0].questions
    assert shared + len(outcome.only_before) == len(before.results)
    assert shared + len(outcome.only_after) == len(after.results)
    for changes in (outcome.better, outcome.worse):
        assert list(sizes(changes).values()) == sorted(sizes(changes).values(), reverse=True)


@given(runs)
def test_a_run_is_no_better_and_no_worse_than_itself(one: EvalRun) -> None:
    outcome = compare(one, one)
    assert outcome.same == len(one.results)
    assert all(change.p_value == 1.0 for change in outcome.figures)


def open_one(question: str, document: str, told: Told | None = None, error: str = "") -> CaseResult:
    place = Locator(1, 1)
    found = Found(
        document=document,
        chunk=ChunkId("c"),
        score=1.0,
        locator=place,
        cited=place,
        quote="",
        tokens=1,
    )
    return CaseResult(case=Case(question=question), found=(found,), told=told, error=error)


def answer_from(document: str) -> Told:
    cited = ToldCitation(
        document=document, chunk=ChunkId("c"), locator=Locator(1, 1), citation="", quote="…"
    )
    return Told(claims=(ToldClaim("…", "quoted", (cited,)),))


REFUSED = Told(reason="too_far")
ASKING = replace(SETUP, asking={"writer": ""})


def test_questions_without_labels_are_compared_by_what_came_out_and_first_from_where() -> None:
    before = run(open_one("a", "x.md"), open_one("b", "x.md"), open_one("c", "x.md"))
    after = run(open_one("a", "y.md"), open_one("b", "x.md"), open_one("c", "x.md", error="no"))
    outcome = compare(before, after)
    assert (outcome.figures, outcome.better, outcome.worse, outcome.same) == ((), (), (), 0)
    assert outcome.unlabelled == 3
    moved, failed = outcome.outcomes
    assert (moved.document_before, moved.document_after) == ("x.md", "y.md")
    assert (failed.before, failed.after) == ("results", "error")


def test_of_answers_it_counts_what_is_cited_first_and_of_refusals_their_reason() -> None:
    told = [answer_from("x.md"), answer_from("x.md"), REFUSED, answer_from("x.md")]
    then = [answer_from("x.md"), answer_from("y.md"), Told(reason="counting"), REFUSED]
    before, after = (
        run(
            *(open_one(name, name, one) for name, one in zip("abcd", some, strict=True)),
            setup=ASKING,
        )
        for some in (told, then)
    )
    changes = compare(before, after).outcomes
    assert [(one.before, one.after) for one in changes] == [
        ("answer", "answer"),
        ("too_far", "counting"),
        ("answer", "too_far"),
    ]
    assert changes[0].document_after == "y.md"


def test_a_run_that_only_searched_is_compared_by_what_both_found() -> None:
    before = run(open_one("a", "x.md"))
    after = run(open_one("a", "x.md", REFUSED), setup=ASKING)
    assert compare(before, after).outcomes == ()


def test_of_questions_with_labels_only_changed_answers_are_told_beside_the_figures() -> None:
    labelled = result("a", **{"mrr": 1.0})
    answered, refused = (replace(labelled, told=one) for one in (answer_from("x.md"), REFUSED))
    elsewhere = replace(labelled, told=answer_from("y.md"))
    outcome = compare(run(answered, setup=ASKING), run(refused, setup=ASKING))
    assert [(one.before, one.after) for one in outcome.outcomes] == [("answer", "too_far")]
    assert (outcome.unlabelled, outcome.same) == (0, 1)
    assert compare(run(answered, setup=ASKING), run(elsewhere, setup=ASKING)).outcomes == ()
    assert compare(run(answered), run(refused)).outcomes == ()
