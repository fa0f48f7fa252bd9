"""Eval runs, comparisons and gates as text for people. JSON is the records themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from pincite.entrypoints.render import faint, strong
from pincite.evals import wording
from pincite.records import Change, Comparison, EvalRun, FloorCheck, Found
from pincite.settings import AskSettings, SearchSettings
from pincite.text.printable import printable

# What is shown of all the figures; the rest is in the report and in the JSON.
SHOWN = (
    "ndcg@10",
    "recall@10",
    "mrr",
    "hit@1",
    "hit@3",
    "place_hit@3",
    "citation_precision@3",
    "terms@10",
)
ANSWERS = ("answer_terms", "answer_citation_precision", "answer_citation_recall")
ABSTENTION = ("abstention_precision", "abstention_recall", "abstention_auroc", "aurc")
REFUSAL = ("refusal_precision", "refusal_recall")
_MOST_FAILURES = 10  # told one by one


def run_as_text(run: EvalRun) -> Iterator[str]:
    """The figures of a run by kind of question, and how long the searches took."""
    yield f"{strong(f'Run {printable(run.id)}')}{label_of(run)} {faint(setup_in_words(run))}"
    cases = [result.case for result in run.results]
    if cases and all(case.is_open for case in cases):
        yield from _came_out(run)
    else:
        yield from _by_kind(run, SHOWN)
        if run.setup.asking is not None:
            yield from _by_kind(run, ANSWERS)
            yield from _came_out(run)
    everything = run.figures.get("all", {})
    refusal = [f"{name} {everything[name]:.3f}" for name in REFUSAL if name in everything]
    if refusal:
        yield f"Refusing: {', '.join(refusal)}"
    abstention = [f"{name} {everything[name]:.3f}" for name in ABSTENTION if name in everything]
    if abstention:
        unanswerable = everything.get("unanswerable", 0)
        yield f"Saying no ({unanswerable:.0f} unanswerable): {', '.join(abstention)}"
    if run.latency:
        stages = []
        for stage in sorted(run.latency, key=lambda one: one != "total"):
            times = (f"{run.latency[stage][share] * 1000:.1f}" for share in ("p50", "p95", "p99"))
            stages.append(f"{printable(stage)} {' / '.join(times)}")
        yield f"Milliseconds (p50 / p95 / p99): {', '.join(stages)}"
    failed = [result for result in run.results if result.error]
    for result in failed[:_MOST_FAILURES]:
        yield f"Failed: {printable(result.case.question)}: {printable(result.error)}"
    if len(failed) > _MOST_FAILURES:
        yield f"Failed: {len(failed) - _MOST_FAILURES} more"


def _by_kind(run: EvalRun, shown: Sequence[str]) -> Iterator[str]:
    names = [name for name in shown if any(name in one for one in run.figures.values())]
    cases = [result.case for result in run.results]
    answerable = [case for case in cases if not (case.unanswerable or case.is_open)]
    counts = Counter(case.kind for case in answerable)
    counts["all"] = len(answerable)
    rows = [
        [printable(kind), f"{counts[kind]}", *(_figure(figures.get(name)) for name in names)]
        for kind, figures in run.figures.items()
    ]
    yield from table([["kind", "answerable", *names], *rows])


def _came_out(run: EvalRun) -> Iterator[str]:
    """How many questions were answered, refused and why, or failed."""
    from pincite.evals.measures import outcomes

    counts = outcomes(run)
    told = [f"{name} {counts.pop(name):,}" for name in ("answer", "results") if name in counts]
    failed = counts.pop("error", 0)
    if counts:
        why = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        told.append(f"refused {counts.total():,} ({why})")
    yield f"Came out: {', '.join([*told, *([f'failed {failed:,}'] if failed else [])])}"
    asked_of = (run.setup.asking or {}).get("writer")
    own = sum(
        result.told is not None and result.told.is_answer and not result.told.writer
        for result in run.results
    )
    if asked_of and own:
        yield f"In the documents' own words, as nothing else was proven: {own:,}"


def label_of(run: EvalRun) -> str:
    """The label as it stands behind a run's name."""
    return f" ({printable(run.label)})" if run.label else ""


def setup_in_words(run: EvalRun) -> str:
    """`hybrid, vault, minilm; 194 questions of golden.jsonl`."""
    setup = run.setup
    asked = f"{len(run.results):,} question{'' if len(run.results) == 1 else 's'}"
    of = f" of {run.cases}" if run.cases else ""
    parts = [setup.mode, setup.policy, setup.model, *other_settings(run)]
    return printable(f"{', '.join(parts)}; {asked}{of}")


def other_settings(run: EvalRun) -> list[str]:
    """Settings that were not left as they are by default."""
    usual = asdict(SearchSettings())
    told = [
        f"{name}={value}" for name, value in run.setup.settings.items() if value != usual.get(name)
    ]
    asking = run.setup.asking
    if asking is not None:
        writer = asking.get("writer")
        told.append(f"answers by {writer}" if writer else "with answers")
        asked = asdict(AskSettings())
        told += [f"{name}={asking[name]}" for name in asked if asking.get(name) != asked[name]]
    below = run.setup.abstain_below
    return told if below is None else [*told, f"abstain below {below}"]


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Columns of equal width, the first to the left, numbers to the right; a header in bold."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        first, *others = (
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        line = "  ".join([first, *others])
        yield strong(line) if number == 0 else line


def runs_as_text(runs: Sequence[EvalRun]) -> Iterator[str]:
    """One line for each run, oldest first."""
    if not runs:
        yield "There is no eval run yet; `pincite eval run CASES` makes one."
        return
    rows = [
        [
            f"{printable(run.id)}{label_of(run)}",
            run.setup.mode,
            printable(", ".join([run.setup.policy, *other_settings(run)])),
            f"{run.figures.get('all', {}).get('questions', 0):.0f}",
            *(_figure(run.figures.get("all", {}).get(name)) for name in ("ndcg@10", "hit@3")),
            printable(run.setup.commit[:8]) or "–",
        ]
        for run in runs
    ]
    heads = ["run", "mode", "set up", "questions", "ndcg@10", "hit@3", "commit"]
    yield from table([heads, *rows])


def comparison_as_text(compared: Comparison, *, most: int) -> Iterator[str]:
    """Figures before and after with the test of their difference, then question by question."""
    for name, run in (("before", compared.before), ("after", compared.after)):
        shown = strong(f"{name:<6} {printable(run.id)}")
        yield f"{shown}{label_of(run)} {faint(setup_in_words(run))}"
    rows = [
        [
            change.name,
            wording.figure(change.before, change.name),
            wording.figure(change.after, change.name),
            wording.difference(change),
            f"{wording.p_value(change)}{' ' if wording.verdict(change) == 'same' else '*'}",
            f"{change.questions}",
        ]
        for change in compared.figures
    ]
    if rows:
        yield from table([["figure", "before", "after", "change", "p ", "questions"], *rows])
        yield faint(
            "p: how likely chance alone makes such a difference; * below 0.05, one in twenty"
        )
    # What is known only of whole runs, so without a test.
    before, after = (one.figures.get("all", {}) for one in (compared.before, compared.after))
    told = [
        f"{name} {_figure(before.get(name))} → {_figure(after.get(name))}"
        for name in (*ABSTENTION, *REFUSAL)
        if before.get(name) != after.get(name)
    ]
    if told:
        yield f"Saying no: {', '.join(told)}"
    if rows:
        yield from _changes("Better", compared.better, compared.figure, most)
        yield from _changes("Worse", compared.worse, compared.figure, most)
        yield f"Same: {compared.same}"
    yield from _outcome_changes(compared, most)
    for name, cases in (("before", compared.only_before), ("after", compared.only_after)):
        if cases:
            yield f"Only {name}, or expecting something else there: {len(cases)}"


def _changes(what: str, changes: Sequence[Change], figure: str, most: int) -> Iterator[str]:
    if not changes:
        return
    yield strong(f"{what} by {figure}: {len(changes)}")
    for change in changes[:most]:
        yield (
            f"  {change.value_before:.3f} → {change.value_after:.3f}  "
            f"{printable(change.case.question)}"
        )
        yield f"      expected {printable('; '.join(wording.expected(change.case)))}"
        yield f"      before   {first_found(change.before.found)}"
        yield f"      after    {first_found(change.after.found)}"
    if len(changes) > most:
        yield f"  and {len(changes) - most} more; --most shows them"


def _outcome_changes(compared: Comparison, most: int) -> Iterator[str]:
    """What came out in another way, such as an answer that is now refused."""
    changes = compared.outcomes
    if changes:
        yield strong(f"Came out in another way: {len(changes)}")
    for change in changes[:most]:
        yield f"  {printable(change.case.question)}"
        for name, out, document in (
            ("before", change.before, change.document_before),
            ("after ", change.after, change.document_after),
        ):
            yield f"      {name}   {printable(', '.join(filter(None, (out, document))))}"
    if len(changes) > most:
        yield f"  and {len(changes) - most} more; --most shows them"
    if compared.unlabelled:
        same = compared.unlabelled - sum(change.case.is_open for change in changes)
        yield f"Came out the same: {same} of {compared.unlabelled} questions without labels"


def first_found(found: Sequence[Found]) -> str:
    """The first results and where they stand."""
    told = (f"{one.document}, {wording.where(one.locator)}" for one in found[:3])
    return printable("; ".join(told)) or "nothing"


def gate_as_text(checks: Sequence[FloorCheck]) -> Iterator[str]:
    """Each floor with what was reached; those that do not hold come first."""
    checks = sorted(checks, key=lambda check: check.holds)
    rows = [
        [
            f"{check.kind} {check.figure}",
            _figure(check.floor),
            _figure(check.value),
            "ok" if check.holds else "BELOW" if check.value is not None else "MISSING",
        ]
        for check in checks
    ]
    yield from table([["floor", "at least", "reached", ""], *rows])
