"""Index reports, figures and findings → text for people and plain values for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from pincite.entrypoints.render import SHORT_ID, Json
from pincite.records import Failure, Finding, IndexReport, LibraryStats, MoveReport, Skipped
from pincite.text.printable import printable

_MOST_NAMES = 10  # files named one by one; of more only the number is told


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
    note = "; all else is searchable" if report.written or report.unchanged else ""
    if report.written + report.unchanged > report.added:
        note += ", and an earlier version is kept where there was one"
    yield from _named("Failed", report.failures, note=note)


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
