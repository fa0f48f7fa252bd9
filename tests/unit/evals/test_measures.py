from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pincite.evals.measures import (
    OVER_RUN,
    aurc,
    auroc,
    figures_by_kind,
    is_wrong,
    latency,
    risk_coverage,
    with_verdict,
)
from pincite.records import Case, CaseResult, ChunkId, Found, Locator, Told

SOMETHING = Found(
    document="a.md",
    chunk=ChunkId("c"),
    score=1.0,
    locator=Locator(1, 1),
    cited=Locator(1, 1),
    quote="",
    tokens=7,
)


def result(
    kind: str = "content",
    *,
    unanswerable: bool = False,
    figures: Mapping[str, float] | None = None,
    confidence: float = 0.0,
    abstained: bool = False,
    seconds: Mapping[str, float] | None = None,
    error: str = "",
) -> CaseResult:
    return CaseResult(
        case=Case(
            question="?",
            kind=kind,
            documents={} if unanswerable else {"a.md": 1},
            unanswerable=unanswerable,
        ),
        found=(SOMETHING,),
        figures=figures or {},
        confidence=confidence,
        abstained=abstained,
        seconds=seconds or {},
        error=error,
    )


def right(confidence: float = 0.0, *, abstained: bool = False) -> CaseResult:
    return result(figures={"hit@1": 1.0}, confidence=confidence, abstained=abstained)


def wrong(confidence: float = 0.0) -> CaseResult:
    return result(figures={"hit@1": 0.0}, confidence=confidence)


def unanswerable(confidence: float = 0.0, *, abstained: bool = False) -> CaseResult:
    return result(unanswerable=True, confidence=confidence, abstained=abstained)


def test_means_are_taken_by_kind_over_the_questions_that_have_the_figure() -> None:
    figures = figures_by_kind(
        [
            result("own kind", figures={"mrr": 1.0, "terms@10": 0.5}),
            result("content", figures={"mrr": 0.5}),
            result("content", figures={"mrr": 0.0, "similarity": 0.2}),
        ]
    )
    assert list(figures) == ["all", "content", "own kind"]
    assert figures["content"] == {"mrr": 0.25, "similarity": 0.2}
    assert figures["own kind"] == {"mrr": 1.0, "terms@10": 0.5}
    assert [figures["all"][name] for name in ("mrr", "terms@10", "similarity")] == [0.5, 0.5, 0.2]


def test_abstaining_is_a_prediction_of_unanswerable() -> None:
    figures = figures_by_kind(
        [
            unanswerable(abstained=True),
            unanswerable(abstained=True),
            unanswerable(),
            unanswerable(),
            right(abstained=True),
            right(),
        ]
    )["all"]
    assert figures["abstention_precision"] == pytest.approx(2 / 3)
    assert figures["abstention_recall"] == pytest.approx(1 / 2)


def test_a_failed_search_says_nothing_about_abstaining_or_risk() -> None:
    sound = [right(0.9), unanswerable(0.5, abstained=True)]
    failed = [
        result(error="no answer", figures={"hit@1": 0.0}, confidence=1.0),
        result(error="no answer", unanswerable=True, confidence=1.0),
    ]
    with_failed, without = (figures_by_kind(some)["all"] for some in ([*sound, *failed], sound))
    for name in OVER_RUN[4:8]:
        assert with_failed[name] == without[name]


confidences = st.lists(st.integers(-20, 20), min_size=1, max_size=15)


@given(confidences, confidences)
def test_auroc_is_the_share_of_pairs_in_the_right_order(
    answerable: list[int], others: list[int]
) -> None:
    pairs = [(one > other) + (one == other) / 2 for one in answerable for other in others]
    assert auroc(answerable, others) == pytest.approx(sum(pairs) / len(pairs))


@given(confidences, confidences)
def test_auroc_depends_only_on_the_order_of_confidences(
    answerable: list[int], others: list[int]
) -> None:
    plain = auroc(answerable, others)
    assert (
        auroc([value**3 + 1 for value in answerable], [value**3 + 1 for value in others]) == plain
    )
    assert auroc(np.exp(answerable).tolist(), np.exp(others).tolist()) == plain
    assert auroc([-value for value in others], [-value for value in answerable]) == pytest.approx(
        plain
    )
    assert auroc(others, answerable) == pytest.approx(1 - plain)


def test_risk_grows_with_coverage_as_computed_by_hand() -> None:
    results = [wrong(0.2), right(0.9), unanswerable(0.5), right(0.5), right(0.1)]
    curve = risk_coverage(results)
    assert [coverage for coverage, _ in curve] == pytest.approx([1 / 5, 3 / 5, 4 / 5, 1])
    assert [risk for _, risk in curve] == pytest.approx([0, 1 / 3, 2 / 4, 2 / 5])
    area = 0.2 * 0 + 0.4 * 1 / 3 + 0.2 * 1 / 2 + 0.2 * 2 / 5
    assert figures_by_kind(results)["all"]["aurc"] == pytest.approx(area)


def test_a_question_with_only_a_place_is_right_when_the_place_is_hit_first() -> None:
    by_place = [result(figures={"place_hit@1": hit}, confidence=hit) for hit in (1.0, 0.0)]
    assert risk_coverage(by_place) == [(0.5, 0.0), (1.0, 0.5)]


def test_questions_without_a_verdict_leave_the_curve_alone() -> None:
    assert risk_coverage([right(0.5), result(figures={"terms@10": 1.0}, confidence=0.9)]) == [
        (1.0, 0.0)
    ]
    assert risk_coverage([]) == []
    assert "aurc" not in figures_by_kind([result()])["all"]


def without_results(result: CaseResult) -> CaseResult:
    return replace(result, found=())


def test_a_verdict_is_had_by_what_was_asked_and_is_right_or_wrong() -> None:
    failed = result(figures={"hit@1": 0.0}, error="no answer")
    words_only = result(figures={"terms@10": 1.0})
    refused = without_results(right())
    counted = with_verdict([right(), failed, wrong(), words_only, refused, unanswerable()])
    assert counted == [right(), wrong(), refused, unanswerable()]
    assert [is_wrong(one) for one in counted] == [False, True, False, True]


questions = st.lists(
    st.builds(
        lambda kind, confidence: kind(confidence / 4),
        st.sampled_from([right, wrong, unanswerable]),
        st.integers(0, 6),
    ),
    min_size=1,
    max_size=30,
)


@given(questions)
def test_risk_at_full_coverage_is_the_share_of_all_mistakes(results: list[CaseResult]) -> None:
    mistakes = sum(one.figures.get("hit@1") != 1 for one in results)
    curve = risk_coverage(results)
    coverages = [coverage for coverage, _ in curve]
    assert curve[-1] == pytest.approx((1.0, mistakes / len(results)))
    assert coverages == sorted(set(coverages))
    assert len(curve) == len({one.confidence for one in results})
    assert all(0 <= risk <= 1 for _, risk in curve)


@given(questions, questions)
def test_what_finds_nothing_makes_the_curve_shorter_and_no_higher(
    answered: list[CaseResult], others: list[CaseResult]
) -> None:
    share = len(answered) / (len(answered) + len(others))
    alone = risk_coverage(answered)
    together = risk_coverage([*answered, *map(without_results, others)])
    assert [risk for _, risk in together] == [risk for _, risk in alone]
    assert [coverage for coverage, _ in together] == pytest.approx(
        [coverage * share for coverage, _ in alone]
    )
    assert aurc(together) == pytest.approx(aurc(alone) * share)


@given(questions, st.randoms())
def test_the_curve_does_not_depend_on_the_order_of_questions(
    results: list[CaseResult], random: Random
) -> None:
    shuffled = results.copy()
    random.shuffle(shuffled)
    assert risk_coverage(shuffled) == risk_coverage(results)


@given(st.lists(st.booleans(), min_size=1, max_size=20))
def test_without_ties_aurc_is_the_mean_risk(mistakes: list[bool]) -> None:
    results = [wrong(-n) if mistake else right(-n) for n, mistake in enumerate(mistakes)]
    risks = [Fraction(sum(mistakes[:n]), n) for n in range(1, len(mistakes) + 1)]
    assert aurc(risk_coverage(results)) == pytest.approx(float(sum(risks) / len(risks)))


def test_latency_is_given_by_stage_and_in_total() -> None:
    slow_stages = [result(seconds={"embed": n / 100, "search": 1.0}) for n in range(101)]
    late_stage = result(seconds={"rerank": 3.0})
    failed = result(seconds={"embed": 99.0}, error="no answer")
    figures = latency([*slow_stages, late_stage, failed, result()])
    assert list(figures) == ["embed", "search", "rerank", "total"]
    assert figures["embed"] == pytest.approx({"p50": 0.5, "p95": 0.95, "p99": 0.99})
    assert figures["search"] == {"p50": 1.0, "p95": 1.0, "p99": 1.0}
    # 102 totals: 1.00, 1.01, …, 2.00 and 3.00
    assert figures["total"] == pytest.approx({"p50": 1.505, "p95": 1.9595, "p99": 1.9999})


def test_abstention_figures_that_do_not_apply_are_absent() -> None:
    assert set(figures_by_kind([right(abstained=True)])["all"]).isdisjoint(OVER_RUN[4:7])
    assert {"abstention_recall"} == set(OVER_RUN[4:7]) & set(
        figures_by_kind([unanswerable()])["all"]
    )


def test_questions_are_counted() -> None:
    results = [right(), unanswerable(), result(error="no answer", figures={"mrr": 0.0})]
    figures = figures_by_kind(results)["all"]
    counts = {name: figures[name] for name in OVER_RUN[:4]}
    assert counts == {"questions": 3, "answerable": 2, "unanswerable": 1, "failed": 1}


def test_refusing_is_measured_over_what_was_asked_for_an_answer() -> None:
    refused, answered = Told(reason="not_answered"), Told()
    results = [
        replace(right(), told=answered),
        replace(right(), told=refused),
        replace(unanswerable(), told=refused),
        replace(unanswerable(), told=answered),
        replace(unanswerable(), error="no answer"),
        CaseResult(case=Case(question="who knows?"), told=refused),
    ]
    figures = figures_by_kind(results)["all"]
    assert (figures["answered"], figures["refused"], figures["unlabelled"]) == (2, 3, 1)
    assert (figures["refusal_precision"], figures["refusal_recall"]) == (0.5, 0.5)
    assert "refusal_recall" not in figures_by_kind(results[:2])["all"]
    assert "refusal_precision" not in figures_by_kind(results[3:5])["all"]
    assert not {"answered", "refusal_recall"} & figures_by_kind([unanswerable()])["all"].keys()


def test_a_question_of_which_nobody_says_what_is_expected_is_not_answerable() -> None:
    open_one = CaseResult(case=Case(question="who knows?"), confidence=9.0)
    figures = figures_by_kind([right(0.8), unanswerable(0.5), open_one])["all"]
    assert (figures["answerable"], figures["unlabelled"]) == (1, 1)
    assert figures["abstention_auroc"] == 1.0
