"""Progress of an index run: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from pincite.records import Progress

_SECONDS_BETWEEN_LINES = 10.0


@contextmanager
def shown(
    *, quiet: bool, doing: str = "Indexing", at_once: bool = True
) -> Iterator[Callable[[Progress], None]]:
    """A callback that shows how far a run is, with rate and time left, on standard error.

    Without `at_once` nothing is shown before there is something to tell.
    """
    if quiet:
        yield lambda progress: None
    elif sys.stderr.isatty():
        with _bar(doing, at_once=at_once) as callback:
            yield callback
    else:
        yield _Lines().show


@contextmanager
def counted(*, noun: str) -> Iterator[Callable[[int, int], None]]:
    """A callback that shows how many of how many are done."""
    if sys.stderr.isatty():
        with _count_bar(noun) as callback:
            yield callback
    else:
        yield _Lines().count(noun)


@contextmanager
def _count_bar(noun: str) -> Iterator[Callable[[int, int], None]]:
    from rich import progress as rich
    from rich.console import Console

    columns = (
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TextColumn(noun),
        rich.TimeRemainingColumn(),
    )
    bar = rich.Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task("", total=None)

    def show(done: int, of: int) -> None:
        bar.start()
        bar.update(task, completed=done, total=of)

    try:
        yield show
    finally:
        bar.stop()


@contextmanager
def _bar(doing: str, *, at_once: bool) -> Iterator[Callable[[Progress], None]]:
    from rich import progress as rich
    from rich.console import Console

    columns = (
        rich.TextColumn(doing),
        rich.BarColumn(),
        rich.TextColumn("{task.fields[documents]} documents"),
        rich.TransferSpeedColumn(),
        rich.TimeRemainingColumn(),
    )
    bar = rich.Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task("", total=None, documents="0")
    if at_once:
        bar.start()

    def show(progress: Progress) -> None:
        bar.start()
        bar.update(
            task,
            completed=progress.bytes_done,
            total=progress.bytes_total,
            documents=f"{progress.documents_done}/{progress.documents_total}",
        )
        if progress.documents_done == progress.documents_total:
            bar.stop()  # whatever comes next may have a bar of its own

    try:
        yield show
    finally:
        bar.stop()


class _Lines:
    """One plain line every few seconds, for logs and pipes."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._last = self._started

    def show(self, progress: Progress) -> None:
        if self._is_due():
            rate, left = self._pace(progress.bytes_done, progress.bytes_total)
            click.echo(
                f"{progress.documents_done}/{progress.documents_total} documents, "
                f"{rate / 1000:.0f} kB/s, about {left:.0f} s left",
                err=True,
            )

    def count(self, noun: str) -> Callable[[int, int], None]:
        def show(done: int, of: int) -> None:
            if done == 1:  # what came before may have been other work
                self._started = self._last = time.monotonic()
            if self._is_due():
                rate, left = self._pace(done, of)
                click.echo(
                    f"{done}/{of} {noun}, {rate:.1f} a second, about {left:.0f} s left", err=True
                )

        return show

    def _is_due(self) -> bool:
        now = time.monotonic()
        if now - self._last < _SECONDS_BETWEEN_LINES:
            return False
        self._last = now
        return True

    def _pace(self, done: int, of: int) -> tuple[float, float]:
        """How much a second, and how many seconds are left."""
        rate = done / (time.monotonic() - self._started)
        return rate, (of - done) / rate if rate else 0
