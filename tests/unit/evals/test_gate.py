from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, strategies as st

from eval_runs import eval_run
from pincite.errors import SettingsError
from pincite.evals.gate import FLOOR_FIGURES, check, dump_floors, floors_from, parse_floors
from pincite.evals.judge import BY_QUESTION
from pincite.records import EvalRun, FloorCheck


def run(figures: Mapping[str, Mapping[str, float]]) -> EvalRun:
    return eval_run(figures=figures)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{'all': 1}", "not JSON.*line 1 column 2.*write"),
        ("[" * 100_000, "not JSON"),
        ("[]", "object of kinds"),
        ('{"all": 0.8}', "floors of 'all' must be numbers by figure"),
        ('{"all": {"mrr": "0.8"}}', "floor of 'all' 'mrr' must be a number, not 0.8"),
        ('{"all": {"mrr": NaN}}', "must be a number, not nan"),
        ('{"all": {"mrr": 1' + "0" * 5_000 + "}}", "must be a number, not inf"),
        ('{"all": {"ndcg": 0.8}}', "unknown figure 'ndcg'; use one of: ndcg@10, .*refusal_recall$"),
        ('{"all": {"mrr": 0.8, "mrr": 0.1}}', "name 'mrr' twice"),
        ('{"content": {"abstention_auroc": 0.8}}', "only 'all' has 'abstention_auroc'"),
    ],
)
def test_anything_else_is_refused_in_words(text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        parse_floors(text)


@pytest.mark.parametrize("figure", ["aurc", "failed"])
def test_what_is_better_when_lower_has_no_floor(figure: str) -> None:
    with pytest.raises(SettingsError, match=f"'{figure}' is better when lower"):
        parse_floors(f'{{"all": {{"{figure}": 0.5}}}}')
    assert figure not in FLOOR_FIGURES


def test_a_floor_holds_where_the_run_has_the_figure_and_is_not_below_it() -> None:
    floors = {"all": {"mrr": 0.8, "hit@1": 0.5, "hit@3": 0.1}, "gone": {"mrr": 0.0}}
    checks = check(run({"all": {"mrr": 0.8, "hit@1": 0.49}}), floors)
    assert checks == [
        FloorCheck("all", "mrr", 0.8, 0.8),
        FloorCheck("all", "hit@1", 0.5, 0.49),
        FloorCheck("all", "hit@3", 0.1, None),
        FloorCheck("gone", "mrr", 0.0, None),
    ]
    assert [one.holds for one in checks] == [True, False, False, False]


def test_floors_from_a_run_are_its_figures_less_the_slack_rounded_down() -> None:
    figures = {"all": {"mrr": 0.87654, "hit@1": 0.57, "hit@3": 0.005}, "content": {"mrr": 1.0}}
    assert floors_from(run(figures), slack=0.01) == {
        "all": {"mrr": 0.866, "hit@1": 0.56, "hit@3": 0.0},
        "content": {"mrr": 0.99},
    }


def test_only_quality_becomes_a_floor() -> None:
    others = ("similarity", "context_tokens", "answerable", "failed", "aurc", "abstention_recall")
    kept = (*BY_QUESTION[:14], "abstention_auroc")
    whole = run({"all": dict.fromkeys((*others, *kept), 0.5), "empty": {"similarity": 0.5}})
    assert floors_from(whole, slack=0.0) == {"all": dict.fromkeys(kept, 0.5)}


def test_questions_that_are_gone_are_noticed_whatever_the_slack() -> None:
    before = run({"all": {"mrr": 0.5, "questions": 120.0, "unanswerable": 20.0}})
    floors = floors_from(before, slack=0.5)
    assert floors == {"all": {"mrr": 0.0, "questions": 120.0, "unanswerable": 20.0}}
    assert parse_floors(dump_floors(floors)) == floors
    easier = run({"all": {"mrr": 0.9, "questions": 120.0, "unanswerable": 19.0}})
    assert [one.figure for one in check(easier, floors) if not one.holds] == ["unanswerable"]


@pytest.mark.parametrize("slack", [-0.01, float("nan")])
def test_slack_that_makes_no_sense_is_refused(slack: float) -> None:
    with pytest.raises(SettingsError, match="slack must be 0 or more"):
        floors_from(run({}), slack=slack)


shares = st.floats(0, 1)
measured = st.dictionaries(
    st.sampled_from(["all", "content", "its own kind"]),
    st.dictionaries(st.sampled_from(BY_QUESTION[:14]), shares, min_size=1),
    min_size=1,
)


@given(measured, st.floats(0, 1))
def test_a_run_holds_the_floors_made_from_it_and_they_survive_being_written(
    figures: dict[str, dict[str, float]], slack: float
) -> None:
    one = run(figures)
    floors = floors_from(one, slack=slack)
    checks = check(one, floors)
    assert len(checks) == sum(map(len, figures.values()))
    assert all(each.holds for each in checks)
    assert all(each.floor >= (each.value or 0) - slack - 0.0011 for each in checks)
    assert parse_floors(dump_floors(floors)) == floors


@given(measured, st.floats(0.002, 1))
def test_a_figure_that_drops_by_more_than_the_slack_falls_through_its_floor(
    figures: dict[str, dict[str, float]], drop: float
) -> None:
    floors = floors_from(run(figures), slack=drop / 2 - 0.001)
    worse = run(
        {
            kind: {name: value - drop for name, value in of_kind.items()}
            for kind, of_kind in figures.items()
        }
    )
    assert not any(one.holds for one in check(worse, floors))


def test_where_every_question_has_an_answer_none_without_is_asked_for() -> None:
    answerable = run({"all": {"mrr": 0.5, "questions": 3.0, "unanswerable": 0.0}})
    assert floors_from(answerable, slack=0.0) == {"all": {"mrr": 0.5, "questions": 3.0}}
