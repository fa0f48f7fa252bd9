"""`pincite worker`: status, start, stop, restart."""

from __future__ import annotations

from dataclasses import asdict

import click

from pincite.entrypoints.cli.common import as_json_option, echo, model_access
from pincite.entrypoints.reports import counted, size
from pincite.models.catalog import default_models_folder
from pincite.models.worker.client import (
    Worker,
    WorkerStatus,
    all_places,
    status_of,
    stop_worker,
    worker_for,
)
from pincite.settings import DEFAULT_MODEL
from pincite.text.printable import printable

_model_argument = click.argument("model", default=DEFAULT_MODEL)


@click.group()
def worker() -> None:
    """A process that keeps a local model loaded, for faster searches."""


@worker.command()
@as_json_option
def status(as_json: bool) -> None:
    """Tell which workers run, for which model, and since when.

    Example: pincite worker status
    """
    found = map(status_of, all_places(model_access().worker.folder))
    _show([one for one in found if one.state != "not running"], as_json)


@worker.command()
@_model_argument
@as_json_option
def start(model: str, as_json: bool) -> None:
    """Start the worker for MODEL (minilm, hashing or a folder), unless it is running.

    It ends by itself after ten minutes without a call (PINCITE_WORKER_IDLE).

    Example: pincite worker start
    """
    started = _worker(model)
    started.ensure()
    _show([status_of(started.place)], as_json)


@worker.command()
@click.argument("model", required=False)
@as_json_option
def stop(model: str | None, as_json: bool) -> None:
    """Stop the worker for MODEL; without MODEL, all of them.

    Example: pincite worker stop
    """
    chosen = model_access().worker.folder
    places = all_places(chosen) if model is None else [_worker(model).place]
    stopped = sum(map(stop_worker, places))
    echo(as_json, {"stopped": stopped}, [f"Workers stopped: {stopped}."])


@worker.command()
@_model_argument
@as_json_option
def restart(model: str, as_json: bool) -> None:
    """Stop the worker for MODEL, if it is running, and start it again.

    Example: pincite worker restart
    """
    started = _worker(model)
    stop_worker(started.place)
    started.ensure()
    _show([status_of(started.place)], as_json)


def _worker(model: str) -> Worker:
    access = model_access()
    return worker_for(model, access.folder or default_models_folder(), access.worker)


def _show(workers: list[WorkerStatus], as_json: bool) -> None:
    lines = []
    for one in workers:
        facts = [one.state, f"process {one.process_id}"]
        if one.model is not None:
            facts += [
                f"for {one.uptime_seconds or 0:.0f} s",
                counted(one.calls or 0, "call"),
                size(one.memory_bytes or 0),
                f"ends after {one.idle_seconds or 0:g} s without a call",
            ]
        lines.append(f"{printable(one.model or one.folder)}: {', '.join(facts)}")
    nothing = ["No worker is running; each command loads the model itself."]
    echo(as_json, [asdict(one) for one in workers], lines or nothing)
