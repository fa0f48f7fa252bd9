"""Generations of an index, and what became of a new one → text for people, values for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from pincite.entrypoints.render import Json
from pincite.entrypoints.reports import counted, report_as_text as index_as_text, size
from pincite.records import GateReport, GenerationStats, LibraryHeader, ReindexReport
from pincite.text.printable import printable

_MOST_NAMES = 10  # files named one by one
_ROLES = {"live": "answers searches", "next": "being made", "before": "for a rollback"}


def report_as_text(report: ReindexReport, seconds: float) -> Iterator[str]:
    """What became of a new generation, and what can be done now."""
    made = _made(report.header)
    if report.outcome == "already":
        yield f"The index is {made} already; name another with --model or --policy."
        return
    yield from index_as_text(report.index, seconds)
    if written := report.caught_up.written + report.caught_up.deleted:
        yield f"Changed meanwhile, and followed: {counted(written, 'document')}."
    if report.gate is not None:
        yield from _gate_as_text(report.gate)
    match report.outcome:
        case "switched":
            yield f"Searches now use the new index: {made}."
            yield "`pincite reindex --rollback` goes back; `--drop-old` removes the old index."
        case "ready":
            yield f"The new index is complete: {made}. `pincite reindex` switches to it."
        case "worse":
            yield "The new index answers worse, so searches go on with the old one."
            yield "`pincite eval compare` shows more. `pincite reindex --no-gate` switches all the"
            yield "same; `pincite reindex --cancel` gives the new index up."
        case "incomplete":
            yield from _lost_as_text(report.lost)


def _lost_as_text(lost: Sequence[str]) -> Iterator[str]:
    named = list(map(printable, lost[:_MOST_NAMES])) + ["…"] * (len(lost) > _MOST_NAMES)
    some = ", ".join(named)
    yield (
        f"Searches go on with the old index: it holds {counted(len(lost), 'document')} whose files "
        f"cannot be read now ({some})."
    )
    yield "Make them readable, give --passwords, or delete them; then run `pincite reindex` again."


def _gate_as_text(gate: GateReport) -> Iterator[str]:
    """Every figure of both generations; those that are worse are named so."""
    yield f"Questions asked of both: {len(gate.before.results)}. Figures of the old and new index:"
    for one in gate.checks:
        if one.figure == "questions" and one.holds:
            continue  # told above
        old = gate.before.figures[one.kind][one.figure]
        new = "missing" if one.value is None else f"{one.value:.3f}"
        yield f"  {one.figure:<20} {old:.3f} → {new}{'' if one.holds else '  WORSE'}"


def report_as_json(report: ReindexReport, seconds: float) -> Json:
    """The report as plain values; of the runs only their names and figures."""
    gate = report.gate
    return {
        "outcome": report.outcome,
        "header": asdict(report.header),
        "index": asdict(report.index),
        "caught_up": asdict(report.caught_up),
        "lost": list(report.lost),
        "gate": gate
        and {
            "holds": gate.holds,
            "runs": [gate.before.id, gate.after.id],
            "figures": {
                one.figure: {
                    "before": gate.before.figures[one.kind][one.figure],
                    "after": one.value,
                    "floor": one.floor,
                    "holds": one.holds,
                }
                for one in gate.checks
            },
        },
        "seconds": round(seconds, 3),
    }


def rolled_back(header: LibraryHeader, stats: Sequence[GenerationStats]) -> str:
    """What a rollback did, what it did not, and what another one would do."""
    numbers = {one.role: one.number for one in stats}
    forth = numbers["live"] > numbers["before"]
    now, other = ("newer", "earlier") if forth else ("earlier", "newer")
    return (
        f"Searches use the {now} index again: {_made(header)}. What changed in the folder since "
        f"it was left is not in it yet: run `pincite index update`. Another --rollback returns to "
        f"the {other} one."
    )


def stats_as_text(stats: Sequence[GenerationStats]) -> Iterator[str]:
    """One line for each generation."""
    for one in stats:
        if one.header is None or one.store is None:
            yield f"{one.number}: {_ROLES[one.role]}; nothing is written yet."
            continue
        held = f"{counted(one.store.documents, 'document')}, {counted(one.store.chunks, 'chunk')}"
        of_bytes = one.store.database_bytes + one.store.segments_bytes + one.store.log_bytes
        state = "" if one.store.complete else ", not complete"
        role = "complete" if one.role == "next" and one.store.complete else _ROLES[one.role]
        yield f"{one.number}: {role}; {_made(one.header)}; {held}, {size(of_bytes)}{state}."
        if one.role == "next":
            yield f"   {_what_next(one)}"


def _what_next(one: GenerationStats) -> str:
    """Why searches do not use a new index yet, and what can be done."""
    give_up = "`pincite reindex --cancel` gives it up."
    if one.refused:
        return (
            "Refused: it answered the questions worse. `pincite reindex --no-gate` switches to it "
            f"all the same; {give_up}"
        )
    if one.store is not None and one.store.complete:
        return f"Not used yet. `pincite reindex` switches to it; {give_up}"
    return f"`pincite reindex` goes on with it; {give_up}"


def stats_as_json(stats: Sequence[GenerationStats]) -> Json:
    """The generations as plain values."""
    return {"generations": [asdict(one) for one in stats]}


def _made(header: LibraryHeader) -> str:
    return printable(f"model {header.model.name}, policy {header.policy}")
