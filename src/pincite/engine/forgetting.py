"""Documents are forgotten for good: a new index without them, then nothing is left of the old one.

The log is the truth, so it is the log that is rewritten; the rest follows from it, as after a
repair. The new index takes the place of the old one in one step. What is not made from the log is
cleared after that step: a run that is stopped in between left a tombstone, by which the next one
knows what to clear.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from pincite.converting.converted_folder import ConvertedFolder
from pincite.engine.evaluation import VARIANTS_FOLDER
from pincite.engine.folders import is_readable
from pincite.engine.homes import FolderHome, Home, refuse_team
from pincite.engine.indexing import without_orphans
from pincite.errors import CitationNotFound, LibraryBusy, SettingsError
from pincite.files import remove_ours
from pincite.ingest.sync import is_unreadable
from pincite.records import ForgetReport, Progress
from pincite.records.documents import sha1
from pincite.retrieve.cite import by_name, named_path, path_inside
from pincite.settings import CONVERTED_FOLDER, POLICIES, RUNS_FOLDER
from pincite.sources import Folder
from pincite.stores.journal import Journal
from pincite.stores.lines import Entry
from pincite.stores.runs import RunFolder
from pincite.stores.sqlite.history import History, is_of, tombstone, without
from pincite.stores.sqlite.log import ChunkLog
from pincite.stores.sqlite.opening import LOCK_NAME, remove_index

_CHECKSUMS = "*checksums.*"  # also one whose writing was stopped
_PATIENCE = 60.0  # seconds for a log that is slow to be written
_ID = re.compile(r"\b[0-9a-f]{40}\b")


def forget_documents(  # noqa: PLR0913 — what, where, and who is told
    folder: Folder,
    home: Home,
    journal: Callable[[], Journal],
    names: Sequence[str],
    *,
    seen_from: Path,
    confirmed: Callable[[ForgetReport], bool],
    on_progress: Callable[[Progress], None],
) -> ForgetReport | None:
    """Forget what is named by path or id; None where that was not confirmed."""
    home = refuse_team(home)
    # Opening tells of a damaged index, and brings one that is behind up to date.
    with closing(home.read()) as store:
        held = store.paths()
    history = History()
    history.read(*home.logs())
    paths: set[str] = set()
    before: list[Entry] = []  # what was forgotten before, and is named again
    for name in names:
        inside = path_inside(name, folder.root, seen_from)
        stones = [one for one in history.tombstones if is_of(one, name) or is_of(one, inside)]
        found = _paths_named(name, history, folder.root, seen_from)
        if not found and not stones:
            raise CitationNotFound(
                f"neither the index nor its log holds a document {name!r}; name it by its path in "
                "the library, or by 8 or more characters of its id"
            )
        paths |= found
        before += stones
    versions = history.versions(paths)
    gone = sorted({history.paths[one] for one in versions} | (paths & history.problems))
    # Another document may have come to where a forgotten one stood once.
    _refuse_standing(folder, [path for path in gone if held.get(path) in (None, *versions)])
    report = ForgetReport(tuple(gone), len(versions))
    if not confirmed(report):
        return None
    if gone:

        def on_bytes(done: int, of: int) -> None:
            doing = "Rewriting the log" if done < of else "Making the index anew"
            on_progress(Progress(0, 0, done, of, "", doing=doing))

        def changed(log: ChunkLog) -> Iterator[Entry]:
            # Nobody writes any more; somebody may have since the log was read.
            history.read(*home.logs())
            if history.versions(paths) != versions:
                raise LibraryBusy(
                    f"another process indexed {', '.join(gone)} meanwhile, and nothing was "
                    "forgotten; run the same command again"
                )
            before.append(stone := tombstone(history, versions, gone))
            return without(log, stone, on_bytes)

        home.rewrite(changed)
    try:
        home.sweep()
    finally:
        report = _cleared(folder.root, home, journal(), before, report)
    return report


def _paths_named(name: str, history: History, root: Path, seen_from: Path) -> set[str]:
    """Where the documents stood that are meant; a scan and what was recognised in it are one."""
    if found := history.named(name):
        return found
    entries = by_name({path: path for path in (*history.paths.values(), *history.problems)})
    path = named_path(name, entries, root, seen_from)
    if path is None:
        return set()
    return {entries[path], f"{CONVERTED_FOLDER}/{path}.md"}


def _refuse_standing(folder: Folder, paths: Sequence[str]) -> None:
    """What is still in the folder would be read again by the next update."""
    scan = without_orphans(folder.scan(is_readable), folder.root)
    skipped = [one.path for one in scan.skipped if one.kind != "orphaned"]
    standing = {file.path for file in scan.files} | set(skipped)
    here = [one for one in paths if one in standing or is_unreadable(one, skipped)]
    if here:
        raise SettingsError(
            f"{', '.join(here)} still stands in the folder, and the next update would bring it "
            "back; delete it there, or name it in .pinciteignore, and forget it then"
        )


def _cleared(
    root: Path, home: FolderHome, journal: Journal, stones: Sequence[Entry], report: ForgetReport
) -> ForgetReport:
    """Clear what is kept beside the index."""
    with closing(home.read()) as store:
        held = {sha1(path) for path in store.paths()}  # another file may have come there since
    gone = {path for stone in stones for path in stone["paths"]} - held
    chunks = {chunk for stone in stones for chunk in stone["chunks"]}
    runs = RunFolder(home.files / RUNS_FOLDER).forget(lambda path: sha1(path) in gone, chunks)
    for policy in POLICIES:
        variant = home.files / VARIANTS_FOLDER / policy
        remove_index(variant)
        remove_ours(variant, LOCK_NAME, ".gitignore", _CHECKSUMS)
    remove_ours(home.files, _CHECKSUMS)
    converted = ConvertedFolder(root).remove_of(
        lambda path: sha1(f"{CONVERTED_FOLDER}/{path}.md") in gone
    )
    # The journal comes last: others may be in the way there.
    if not journal.settle(_PATIENCE):
        raise LibraryBusy("questions are still being written to the log; run it again")
    # Whoever found a document may have asked in its words.
    queries = [one for one in journal.queries() if not chunks.isdisjoint(one.chunk_ids)]
    # By ids rather than by reading it: what is too damaged to be read goes, too.
    ids = chunks.union(*(stone["documents"] for stone in stones))
    answers = [
        one.id
        for one in journal.saved_answers()
        if not ids.isdisjoint(_ID.findall(one.text))
        or any(sha1(path) in gone for path in one.sources)
    ]
    try:
        journal.forget_answers(answers)
    finally:
        journal.purge(queries)
    return ForgetReport(
        report.paths, report.versions, runs, tuple(converted), len(queries), len(answers)
    )
