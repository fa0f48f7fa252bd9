"""Progress of an index run: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from pincite.entrypoints import reports
from pincite.records import Progress
from pincite.text.printable import printable

_SECONDS_BETWEEN_LINES = 10.0
_SECONDS_TO_KNOW = 5.0  # before that, a pace is a guess


@contextmanager
def shown(
    *, quiet: bool, doing: str = "Indexing", at_once: bool = True, noun: str = "documents"
) -> Iterator[Callable[[Progress], None]]:
    """A callback that shows how far a run is, with the time left, on standard error.

    Without `at_once` nothing is shown before there is something to tell.
    """
    if quiet:
        yield lambda progress: None
    elif sys.stderr.isatty():
        with _bar(doing, noun, at_once=at_once) as callback:
            yield callback
    else:
        yield Lines(noun=noun).show


@contextmanager
def counted(*, noun: str) -> Iterator[Callable[[int, int], None]]:
    """A callback that shows how many of how many are done."""
    with shown(quiet=False, doing="", at_once=False, noun=noun) as show:
        yield lambda done, of: show(Progress(done, of, done, of, ""))


@contextmanager
def _bar(doing: str, noun: str, *, at_once: bool) -> Iterator[Callable[[Progress], None]]:
    from rich import progress as rich
    from rich.console import Console

    columns = (
        rich.TextColumn("{task.description}", markup=False),
        rich.BarColumn(),
        rich.TextColumn("{task.fields[told]}", markup=False),
    )
    bar = rich.Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(doing, total=None, told=f"0 {noun}")
    before = ""
    lines = Lines(noun=noun)
    if at_once:
        bar.start()

    def show(progress: Progress) -> None:
        nonlocal task, before
        if progress.note:
            bar.console.print(progress.note, highlight=False, markup=False)
            return
        if progress.doing != before:  # anew: one of unknown length may follow one of known length
            before = progress.doing
            bar.remove_task(task)
            task = bar.add_task(printable(before or doing), total=None, told="")
        bar.start()
        done, total = _work(progress)
        bar.update(task, completed=done, total=total or None, told=lines.told(progress))
        if not progress.doing and progress.documents_done == progress.documents_total:
            bar.stop()  # whatever comes next may have a bar of its own

    try:
        yield show
    finally:
        bar.stop()


class Lines:
    """One plain line every few seconds, for logs and pipes."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, noun: str = "documents"
    ) -> None:
        self._clock = clock
        self._noun = noun
        self._last = clock()
        self._before = ""  # what was done before the first document
        # When the first was done, and how much that was: to load a model, to compare files and to
        # warm up takes its time once, and says nothing of what is left.
        self._first: tuple[float, int] | None = None

    def show(self, progress: Progress) -> None:
        """Tell how far a run is, if it is time to; what comes before its documents, at once."""
        if progress.note:
            click.echo(progress.note, err=True)
            return
        told, now = self.told(progress), self._clock()
        if progress.doing not in ("", self._before):
            click.echo(f"{printable(progress.doing)} …", err=True)
        elif told and now - self._last >= _SECONDS_BETWEEN_LINES:
            self._last = now
            click.echo(told, err=True)
        self._before = progress.doing

    def told(self, progress: Progress) -> str:
        """How far a run is, and how long it still takes where that can be known."""
        done, total = _work(progress)
        if progress.doing:
            return "" if progress.documents_total else f"{done / 1e6:.1f}/{total / 1e6:.1f} MB"
        now = self._clock()
        if self._first is None or done <= self._first[1]:
            self._first = (now, done)
        told = f"{progress.documents_done}/{progress.documents_total} {self._noun}"
        if progress.windows_total:
            told += f", {done:,}/{total:,} windows"
        started, before = self._first
        if now - started < _SECONDS_TO_KNOW or done == before:
            return told
        left = (total - done) * (now - started) / (done - before)
        return f"{told}, about {_in_words(left)} left"


def _work(progress: Progress) -> tuple[int, int]:
    """How much is done, of how much: in windows where any are to be embedded, else in bytes."""
    if progress.windows_total and not progress.doing:
        return progress.windows_done, progress.windows_total
    return progress.bytes_done, progress.bytes_total


def _in_words(seconds: float) -> str:
    if seconds < 90:
        return reports.counted(round(seconds), "second")
    if seconds < 90 * 60:
        return reports.counted(round(seconds / 60), "minute")
    return f"{seconds / 3600:.1f} hours"
