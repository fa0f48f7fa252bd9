"""What an index holds and what became of it → text for people and plain values for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING

from pincite.entrypoints.render import SHORT_ID, Json, faint, strong
from pincite.records import Failure, Finding, IndexReport, LibraryStats, Skipped, page_name
from pincite.text.printable import printable
from pincite.text.times import clock

if TYPE_CHECKING:
    from pincite.records import (
        CatalogEntry,
        DocumentEntry,
        GenerationStats,
        LibraryHeader,
        MoveReport,
        ReindexReport,
    )
    from pincite.records.journal import RecheckedAnswer

_MOST_NAMES = 10  # files named one by one; of more only the number is told
_ROLES = {"live": "answers searches", "next": "being made", "before": "for a rollback"}


def report_as_text(report: IndexReport, seconds: float) -> Iterator[str]:
    """What an index run did, with everything that was left out and why."""
    counts = {
        "new": report.added,
        "changed": report.changed,
        "moved": report.moved,
        "cut again": report.recut,
        "tried again": report.retried,
        "deleted": report.deleted,
        "unchanged": report.unchanged,
    }
    told = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    yield f"Documents: {told or 'none'}."
    for what, paths in report.paths.items():
        if len(paths) <= _MOST_NAMES:
            yield f"  {what}: " + ", ".join(map(printable, paths))
    if report.written:
        yield (
            f"Wrote {counted(report.chunks, 'chunk')}, embedded "
            f"{counted(report.embedded, 'window')} in {seconds:.1f} s."
        )
    if report.unsupported:
        kinds = ", ".join(
            f"{count} {suffix or 'without suffix'}" for suffix, count in report.unsupported.items()
        )
        yield f"Other kinds of file, not read: {printable(kinds)}."
    recognised = sum(one.kind == "converted" for one in report.skipped)
    if recognised:
        yield f"Read through their recognised text: {counted(recognised, 'file')}."
    yield from _named("Left out", [one for one in report.skipped if one.kind != "converted"])
    yield from _named("Read in part", report.partly)
    yield from _named("Without some vectors", report.lacking)
    yield from (recheck_as_text(one) for one in report.answers)
    note = "; all else is searchable" if report.written or report.unchanged else ""
    if report.written + report.unchanged > report.added:
        note += ", and an earlier version is kept where there was one"
    yield from _named("Failed", report.failures, note=note)


def recheck_as_text(one: RecheckedAnswer) -> str:
    """`The answer you saved on 3 May 2026 no longer holds: …`."""
    saved = datetime.fromtimestamp(one.answer.saved_at)
    what = "still holds" if one.held_before else "holds again"
    if not one.holds:
        what = "no longer holds" if one.held_before or one.is_worse else "still does not hold"
        if one.answer.is_minor:
            what = "holds in its first claim, but a further claim changed"
    told = f"The answer you saved on {saved.day} {saved:%B %Y} {what}: {one.answer.question}"
    outdated = "A file that it rests on has changed since; run `pincite index update`."
    lines = [told, *one.answer.broken, *([outdated] if one.outdated else [])]
    return "\n    ".join(map(printable, lines))


def _named(what: str, files: Sequence[Skipped | Failure], *, note: str = "") -> Iterator[str]:
    """The files that something happened to, each with the reason."""
    if files:
        yield f"{what} ({len(files)}){note}:"
    for file in files:
        chunk_ids = file.chunk_ids if isinstance(file, Failure) else ()
        ids = ", ".join(chunk_id[:SHORT_ID] for chunk_id in chunk_ids)
        chunks = f" (chunks {ids})" if ids else ""
        yield f"  {printable(f'{file.path}: {file.reason}')}{chunks}"


def counted(count: int, noun: str) -> str:
    """`1 chunk`, `1,234 chunks`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def report_as_json(report: IndexReport, seconds: float) -> Json:
    """The report as plain values."""
    return {**asdict(report), "seconds": round(seconds, 3)}


def stats_as_text(stats: LibraryStats) -> Iterator[str]:
    """What an index is and holds."""
    header, store = stats.header, stats.store
    rows = {
        "library": f"{header.name} ({stats.folder})",
        "index": stats.place,
        "documents": f"{store.documents:,}",
        "chunks": f"{store.chunks:,}",
        "windows": f"{store.windows:,}",
        "vectors": f"{store.vectors:,} of {header.model.dimensions} dimensions",
        "no vector yet": f"{counted(store.lacking, 'chunk')}; `pincite index update` tries again"
        if store.lacking
        else "",
        "database": size(store.database_bytes),
        "segments": "" if stats.place else size(store.segments_bytes),
        "chunk log": "" if stats.place else size(store.log_bytes),
        "policy": header.policy,
        "model": f"{header.model.name} ({header.model.fingerprint})",
        "last updated": store.last_updated or "never",
        "complete": "yes"
        if store.complete
        else "no: a run is under way, or was stopped and goes on with `pincite index update`",
    }
    yield from (f"{what:<13} {printable(value)}" for what, value in rows.items() if value)


def stats_as_json(stats: LibraryStats) -> Json:
    """The figures as plain values."""
    return {
        "folder": stats.folder,
        "place": stats.place,
        **asdict(stats.header),
        **asdict(stats.store),
    }


def findings_as_text(
    findings: list[Finding], left: list[Finding], *, in_folder: bool = True
) -> Iterator[str]:
    """What does not agree inside an index, and whether that is still so."""
    if not findings:
        yield f"{'Log, database' if in_folder else 'Documents'}, words and vectors agree."
        return
    yield f"{counted(len(findings), 'problem')} found:"
    yield from (f"  {finding.part}: {printable(finding.problem)}" for finding in findings)
    if not left:
        yield "Repaired. Run `pincite index update` to follow the folder again."
    else:
        yield f"{counted(len(left), 'problem')} left; run `pincite index verify --repair`."


def findings_as_json(findings: list[Finding], left: list[Finding]) -> Json:
    """What was found, and what is left of it, as plain values."""
    return {
        "healthy": not left,
        "findings": [asdict(finding) for finding in findings],
        "left": [asdict(finding) for finding in left],
    }


def move_as_text(report: MoveReport, done: str, seconds: float) -> Iterator[str]:
    """What an export wrote, or an import took over, with sizes."""
    parts = [counted(report.documents, "document"), counted(report.chunks, "chunk")]
    parts.append(counted(report.vectors, "vector"))
    more = {
        "original file": report.originals,
        "earlier version": report.past,
        "eval run": report.runs,
    }
    parts.extend(counted(count, what) for what, count in more.items() if count)
    parts.extend(report.files)
    where = f" in {printable(report.file)}" if report.file else ""
    yield (
        f"{done} {', '.join(parts)}: {size(report.file_bytes)}{where} "
        f"({size(report.text_bytes)} of text), {seconds:.1f} s."
    )
    if report.clearance:
        seen_by = f"{printable(report.seen_by)} may see" if report.seen_by else "its author may see"
        yield f"The file holds what {seen_by} (up to {report.clearance})."
    if report.left_out:
        yield (
            f"Left out: {report.left_out:,} of the files themselves, which were handed in to a "
            "project; only a project keeps them."
        )
    if report.kept:
        yield f"Left as they are in the folder: {', '.join(report.kept)}."
    if report.apart:
        yield (
            "The folder holds none of the documents' files: they can be searched and shown, and "
            "are not compared with files until you put those there."
        )


def move_as_json(report: MoveReport, seconds: float) -> Json:
    """The same as plain values."""
    return {**asdict(report), "seconds": round(seconds, 3)}


def size(count: int) -> str:
    """Bytes in a unit people read."""
    amount = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            return f"{count:,} bytes" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    raise AssertionError("unreachable")


def catalog_as_text(entries: Sequence[CatalogEntry]) -> Iterator[str]:
    """One paragraph for each file: what it is, then what it is about."""
    if not entries:
        yield "Nothing found."
    for entry in entries:
        yield strong(printable(entry.path))
        if entry.document is not None:
            yield "    " + printable(", ".join(_facts(entry.document)))
            if entry.document.summary:
                yield "    " + faint(printable(entry.document.summary))
        if entry.state != "indexed":
            yield "    " + printable(": ".join(filter(None, (entry.state, entry.reason))))


def _facts(document: DocumentEntry) -> Iterator[str]:
    """What is known of a document, the most telling first."""
    about = document.metadata
    if document.title != document.name.rpartition(".")[0]:
        yield f"“{document.title}”"
    yield document.type
    if document.size:
        yield size(document.size)
    if about.duration is not None:
        yield clock(about.duration)
    elif about.pages is not None:
        yield counted(about.pages, page_name(document.type))
    yield from filter(None, (about.language, about.author, about.date))
    if about.modified and about.modified != about.date:
        yield f"modified {about.modified}"
    yield from (f"#{tag}" for tag in about.tags)
    yield counted(document.chunks, "chunk")


def catalog_as_json(entries: Sequence[CatalogEntry]) -> Json:
    """The catalog as plain values."""
    documents = []
    for entry in entries:
        told: Json = {"path": entry.path, "state": entry.state, "reason": entry.reason}
        if entry.document is not None:
            told.update(asdict(entry.document), name=entry.document.name)
        documents.append(told)
    return {"documents": documents}


def reindex_as_text(report: ReindexReport, seconds: float) -> Iterator[str]:
    """What became of a new generation, and what can be done now."""
    made = _made(report.header)
    if report.outcome == "already":
        yield f"The index is {made} already; name another with --model or --policy."
        return
    yield from report_as_text(report.index, seconds)
    if written := report.caught_up.written + report.caught_up.deleted:
        yield f"Changed meanwhile, and followed: {counted(written, 'document')}."
    if gate := report.gate:
        asked = len(gate.before.results)
        yield f"Questions asked of both: {asked}. Figures of the old and new index:"
        for one in gate.checks:
            if one.figure == "questions" and one.holds:
                continue  # told above
            old = gate.before.figures[one.kind][one.figure]
            new = "missing" if one.value is None else f"{one.value:.3f}"
            yield f"  {one.figure:<20} {old:.3f} → {new}{'' if one.holds else '  WORSE'}"
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
            lost = [printable(path) for path in report.lost[:_MOST_NAMES]]
            lost += ["…"] * (len(report.lost) > _MOST_NAMES)
            yield (
                f"Searches go on with the old index: it holds "
                f"{counted(len(report.lost), 'document')} whose files cannot be read now "
                f"({', '.join(lost)})."
            )
            told = "Make them readable, give --passwords, or delete them; then run "
            yield f"{told}`pincite reindex` again."


def reindex_as_json(report: ReindexReport, seconds: float) -> Json:
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


def generations_as_text(stats: Sequence[GenerationStats]) -> Iterator[str]:
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
            give_up = "`pincite reindex --cancel` gives it up."
            if one.refused:
                yield (
                    "   Refused: it answered the questions worse. `pincite reindex --no-gate` "
                    f"switches to it all the same; {give_up}"
                )
            elif one.store.complete:
                yield f"   Not used yet. `pincite reindex` switches to it; {give_up}"
            else:
                yield f"   `pincite reindex` goes on with it; {give_up}"


def generations_as_json(stats: Sequence[GenerationStats]) -> Json:
    """The generations as plain values."""
    return {"generations": [asdict(one) for one in stats]}


def _made(header: LibraryHeader) -> str:
    return printable(f"model {header.model.name}, policy {header.policy}")
