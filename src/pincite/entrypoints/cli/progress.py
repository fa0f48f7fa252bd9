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
def shown(*, quiet: bool, doing: str = "Indexing") -> Iterator[Callable[[Progress], None]]:
    """A callback that shows how far a run is, with rate and time left, on standard error."""
    if quiet:
        yield lambda progress: None
    elif sys.stderr.isatty():
        with _bar(doing) as callback:
            yield callback
    else:
        yield _Lines().show


@contextmanager
def _bar(doing: str) -> Iterator[Callable[[Progress], None]]:
    from rich import progress as rich
    from rich.console import Console

    columns = (
        rich.TextColumn(doing),
        rich.BarColumn(),
        rich.TextColumn("{task.fields[documents]} documents"),
        rich.TransferSpeedColumn(),
        rich.TimeRemainingColumn(),
    )
    with rich.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, documents="0")

        def show(progress: Progress) -> None:
            bar.update(
                task,
                completed=progress.bytes_done,
                total=progress.bytes_total,
                documents=f"{progress.documents_done}/{progress.documents_total}",
            )

        yield show


class _Lines:
    """One plain line every few seconds, for logs and pipes."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._last = self._started

    def show(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._last < _SECONDS_BETWEEN_LINES:
            return
        self._last = now
        rate = progress.bytes_done / (now - self._started)
        left = (progress.bytes_total - progress.bytes_done) / rate if rate else 0
        click.echo(
            f"{progress.documents_done}/{progress.documents_total} documents, "
            f"{rate / 1000:.0f} kB/s, about {left:.0f} s left",
            err=True,
        )
