"""Saved answers over a folder of Markdown that is edited: who is told what, and what it costs.

    python benchmarks/saved_answers.py FOLDER [--answers N] [--changes N] [--seed N]

FOLDER is copied and indexed. Answers are saved that quote one sentence each; then files are edited
(the quoted sentence, another one, or a file nobody cites), moved or deleted, one index update for
each change. What is told is compared with what was done. Printed: how many were told rightly, how
many answers were checked again although none of their files changed, and the time of an update with
and without saved answers.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from pincite.engine import Library, open_library, saved_answers
from pincite.records import Answer


def main() -> None:
    """Save, change, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--answers", type=int, default=100)
    parser.add_argument("--changes", type=int, default=60)
    parser.add_argument("--seed", type=int, default=21)
    given = parser.parse_args()
    draw = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "library"
        shutil.copytree(given.folder, root, ignore=shutil.ignore_patterns(".index"))
        with open_library(root) as library:
            library.index()
            saved = save(library, given.answers, draw)
            print(f"{len(saved)} answers over {len(library.paths())} documents")
            without = edit_times(library, root, draw)
            compare(library, root, saved, given.changes, draw, without)


def save(library: Library, wanted: int, draw: random.Random) -> dict[str, tuple[str, str]]:
    """The path and the sentence that each saved answer rests on."""
    saved: dict[str, tuple[str, str]] = {}
    used: set[str] = set()
    entries = library.documents()
    draw.shuffle(entries)
    for entry in entries:
        if len(saved) == wanted:
            break
        told = library.ask(f"what is {entry.title}?")
        if not isinstance(told, Answer):
            continue
        first = told.claims[0].citations[0]
        if first.path in used or "\n" in first.quote:
            continue
        used.add(first.path)
        one = Answer(told.question, told.claims[:1], told.probability)
        kept = saved_answers.save_outcome(library, one)
        saved[kept.id] = (first.path, first.quote)
    return saved


def edit_times(library: Library, root: Path, draw: random.Random) -> list[float]:
    """Updates while nothing is saved: the answers are set aside."""
    kept = saved_answers.saved_answers(library)
    library.journal.forget_answers([one.id for one in kept])
    times = []
    for path in draw.sample(sorted(library.paths()), 10):
        file = root / path
        file.write_text(file.read_text() + "\nA line at the end.\n")
        times.append(updated(library)[0])
        file.write_text(file.read_text().removesuffix("\nA line at the end.\n"))
        library.index()
    for one in kept:
        library.journal.save_answer(one)
    return times


def updated(library: Library) -> tuple[float, dict[str, bool]]:
    """How long an update took, and whom it told what: whether the answer holds."""
    began = time.perf_counter()
    report = library.index()
    saved_answers.note_told(library, report.answers)
    return time.perf_counter() - began, {one.answer.id: one.holds for one in report.answers}


def compare(
    library: Library,
    root: Path,
    saved: dict[str, tuple[str, str]],
    changes: int,
    draw: random.Random,
    without: list[float],
) -> None:
    """Change files, and compare what is told with what was done."""
    standing = dict(saved)
    right = needless = 0
    times = []
    for number in range(changes):
        before = {one.id: one.checked_at for one in saved_answers.saved_answers(library)}
        kind = ("quoted", "other", "move", "delete", "uncited")[number % 5]
        touched, breaks = change(root, standing, kind, draw, library)
        took, told = updated(library)
        times.append(took)
        now = saved_answers.saved_answers(library)
        expected = {one: False for one in touched} if breaks else {}
        right += told == expected
        if told != expected:
            print(f"  {kind}: told {told}, expected {expected}", file=sys.stderr)
        checked = {one.id for one in now if one.checked_at != before[one.id]}
        needless += len(checked - set(touched))
    print(f"{right} of {changes} changes told rightly; {needless} answers checked needlessly")
    ratio = median(times) / median(without)
    print(
        f"an update took {median(times):.2f} s with, {median(without):.2f} s without saved answers "
        f"({ratio:.2f} times)"
    )


def change(
    root: Path,
    standing: dict[str, tuple[str, str]],
    kind: str,
    draw: random.Random,
    library: Library,
) -> tuple[list[str], bool]:
    """Do one of the changes; which answers it touches, and whether they no longer hold."""
    if kind == "uncited":
        cited = {path for path, _ in standing.values()}
        path = draw.choice(sorted(set(library.paths()) - cited))
        (root / path).write_text((root / path).read_text() + "\nOne more line.\n")
        return [], False
    answer = draw.choice(sorted(standing))
    path, quote = standing[answer]
    file = root / path
    others = (root / one for one in library.paths() if one != path)
    # The very words may stand elsewhere, and bear it out as well.
    breaks = not any(quote in one.read_text() for one in others)
    if kind == "quoted":
        words = quote.split()
        file.write_text(file.read_text().replace(quote, " ".join(["Formerly", *words[::-1]])))
        del standing[answer]
        return [answer], breaks
    if kind == "other":
        file.write_text(f"{file.read_text()}\nSomething else was written at the end.\n")
        return [answer], False
    if kind == "move":
        target = file.with_name(f"moved-{len(standing)}-{file.name}")
        file.rename(target)
        standing[answer] = (target.relative_to(root).as_posix(), quote)
        return [answer], False
    file.unlink()
    del standing[answer]
    return [answer], breaks


if __name__ == "__main__":
    main()
