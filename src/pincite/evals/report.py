"""A run, and what it is compared with → one HTML page that needs nothing beside it.

Questions and documents may hold anything, so no text reaches the page unescaped or unseen.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from pincite.evals import plots, wording
from pincite.evals.judge import is_expected, is_rightly_cited, needed_package
from pincite.evals.measures import ALL, is_wrong, outcomes, risk_coverage, with_verdict
from pincite.records import Case, CaseResult, Comparison, EvalRun, Found
from pincite.text.printable import printable

if TYPE_CHECKING:
    from jinja2 import Environment

_DRAWN = ("ndcg@10", "hit@1", "hit@3", "place_hit@3")
_ANSWERS = ("answer_terms", "answer_citation_precision", "answer_citation_recall")
_REFUSAL = ("refusal_precision", "refusal_recall")
_HEADLINES = (*_DRAWN, "citation_precision@3", "abstention_auroc", *_ANSWERS, *_REFUSAL)
_JUDGED_BY = ("ndcg@10", "place_hit@10", "terms@10")  # the first one that applies
_MOST_KINDS = 12  # in tables and plots: those with most questions
_MOST_QUESTIONS = 20  # in each list
_SPACE = re.compile(r"\s+")
_ZERO_WIDTH_NON_JOINER = "\u200c"  # part of how Persian and others are written


def report(run: EvalRun, *, compared: Comparison | None = None) -> str:
    """The page for people: figures, plots, and the questions worth a look."""
    template = _environment().get_template("report.html.jinja")
    kinds = _kinds(run)
    before, after = (_setup(compared.before), _setup(compared.after)) if compared else ({}, {})
    shown = {name for kind in kinds for name in run.figures.get(kind, {})}
    asked = run.setup.asking is not None
    labelled = [one for one in run.results if not one.case.is_open and not one.error]
    none_there = [one for one in labelled if one.case.unanswerable]
    overconfident = [
        one
        for one in none_there
        if (one.told.is_answer if one.told else one.found and not one.abstained)
    ]
    told = sorted(
        (one for one in labelled if one.told and not one.case.unanswerable),
        key=lambda one: one.case.question,
    )
    return template.render(
        run=run,
        title=run.label or "Evaluation",
        setup=_setup(run),
        headlines=[name for name in _HEADLINES if name in run.figures.get(ALL, {})],
        meanings=wording.MEANINGS,
        kinds=kinds,
        counts={
            "unanswerable": sum(result.case.unanswerable for result in run.results),
            "drafts": sum(result.case.draft for result in run.results),
            "kinds": len({result.case.kind for result in run.results}),
        },
        names=[name for name in wording.MEANINGS if name in shown],
        quality=_quality(run, kinds),
        latency=_latency(run),
        risk=_risk(run),
        most=_MOST_QUESTIONS,
        worst=_worst(run.results),
        overconfident=sorted(overconfident, key=lambda one: (-one.confidence, one.case.question)),
        missed=[one for one in told if one.told and one.told.is_answer and _misses(one)],
        wrongly_refused=[one for one in told if one.told and not one.told.is_answer],
        asked=asked,
        unlabelled=[
            (one, one.outcome(asked=asked), one.first_document(asked=asked))
            for one in run.results
            if one.case.is_open
        ],
        came_out=outcomes(run) if asked or any(one.case.is_open for one in run.results) else {},
        failed=[result for result in run.results if result.error],
        compared=compared,
        setup_changes=[
            (name, before.get(name, "–"), after.get(name, "–"))
            for name in before | after
            if before.get(name, "–") != after.get(name, "–")
        ],
    )


@cache
def _environment() -> Environment:
    jinja2 = needed_package("jinja2")
    environment: Environment = jinja2.Environment(
        loader=jinja2.PackageLoader("pincite.evals", ""),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_clean,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["wording"] = wording
    environment.filters.update(judged=_judged, rightness=_rightness, rightly_cited=is_rightly_cited)
    return environment


def _clean(value: object) -> object:
    """Everything the template prints comes through here before it is escaped."""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return printable(_SPACE.sub(" ", value), keep=_ZERO_WIDTH_NON_JOINER)


def _setup(run: EvalRun) -> dict[str, str]:
    setup = run.setup
    told = {
        "Cases": run.cases,
        "Mode": setup.mode,
        "Chunk policy": setup.policy,
        "Model": setup.model,
        "Model’s fingerprint": setup.fingerprint,
        "Index": setup.index,
        "Documents": f"{setup.documents:,}",
        "Chunks": f"{setup.chunks:,}",
        **{
            f"Answers: {name}": str(value)
            for name, value in (setup.asking or {}).items()
            if value != ""
        },
        "Abstains below": "" if setup.abstain_below is None else f"{setup.abstain_below:g}",
        **{
            f"Setting {name}": "none" if value is None else str(value)
            for name, value in setup.settings.items()
        },
        "Version of pincite": setup.version,
        "Commit": setup.commit,
    }
    return {name: value for name, value in told.items() if value}


def _kinds(run: EvalRun) -> dict[str, int]:
    """Name and number of questions; a run of one kind is only told as a whole."""
    counted = Counter(result.case.kind for result in run.results if result.case.kind != ALL)
    if len(counted) < 2:
        return {ALL: len(run.results)}
    chosen = sorted(counted, key=lambda kind: (-counted[kind], kind))[:_MOST_KINDS]
    return {ALL: len(run.results), **{kind: counted[kind] for kind in chosen}}


def _quality(run: EvalRun, kinds: Mapping[str, int]) -> str:
    groups = {
        kind: {name: figures[name] for name in _DRAWN if name in figures}
        for kind in kinds
        if not (figures := run.figures.get(kind, {})).keys().isdisjoint(_DRAWN)
    }
    if not groups:
        return ""
    title = "Quality by kind of question"
    return plots.bars(groups, name="quality", title=title, write="{:.2f}".format, most=1)


def _latency(run: EvalRun) -> str:
    if not run.latency:
        return ""
    milliseconds = {
        stage: {name: seconds * 1000 for name, seconds in percentiles.items()}
        for stage, percentiles in run.latency.items()
    }
    title = "Time by stage, in milliseconds"
    return plots.bars(
        milliseconds, name="latency", title=title, write=wording.measured, ordered=True
    )


def _risk(run: EvalRun) -> dict[str, str | int]:
    """The curve and where on it the run stands; it says little where all have an answer."""
    counted = with_verdict(run.results)
    points = risk_coverage(run.results)
    if not points or not any(result.case.unanswerable for result in counted):
        return {}
    answered = [result for result in counted if result.found and not result.abstained]
    coverage = len(answered) / len(counted)
    risk = sum(is_wrong(one) is True for one in answered) / len(answered) if answered else None
    mark = None if risk is None else (coverage, risk)
    axes = ("questions answered", "wrong among them")
    title = "Risk and coverage"
    return {
        "plot": plots.curve(points, name="risk", title=title, axes=axes, mark=mark),
        "answered": plots.percent(coverage),
        "wrong": "" if risk is None else plots.percent(risk),
        "left_out": len(run.results) - len(counted),
    }


def _worst(results: Sequence[CaseResult]) -> list[CaseResult]:
    """Every question that could have gone better, the worst first."""

    def goodness(result: CaseResult) -> tuple[float, ...]:
        places = (result.figures.get(f"place_hit@{depth}", 1.0) for depth in (10, 3, 1))
        return (_judged(result)[1], *places, result.figures.get("terms@10", 1.0))

    imperfect = [one for one in results if not one.error and min(goodness(one)) < 1]
    return sorted(imperfect, key=lambda one: (goodness(one), one.case.question))


def _misses(answered: CaseResult) -> bool:
    """Whether the answer lacks something of what is expected of it."""
    expected = ("answer_terms", "answer_citation_recall")
    return any(answered.figures.get(name) == 0 for name in expected)


def _judged(result: CaseResult) -> tuple[str, float]:
    """The figure a question is judged by, and its value; where none applies, nothing is wrong."""
    figures = result.figures
    return next(((name, figures[name]) for name in _JUDGED_BY if name in figures), ("", 1.0))


def _rightness(found: Found, case: Case) -> str:
    """How much of what is expected it is: its place, its document, or nothing (an empty text)."""
    if is_expected(found, case):
        return "right place"
    documents = {*case.documents, *(place.document for place in case.places)}
    return "right document" if found.document in documents else ""
