"""Which embedders there are, and how a name becomes one. Imports nothing heavy by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qsl

import platformdirs

from pincite.errors import ModelError, ModelMissing, SettingsError
from pincite.models.folder import (
    FACTS_FILE,
    MODEL_FILE,
    damaged_files,
    read_facts,
)
from pincite.ports import Embedder
from pincite.settings import SMALLEST_TOKEN_LIMIT

MINILM_FOLDER = "all-MiniLM-L6-v2-int8"
CHOICES = (
    "minilm, hashing, openai:MODEL, a folder in the models folder, or the path of a folder with "
    "model.onnx, such as ./MODEL"
)

_REMOTE_TOKEN_LIMIT = 512  # what nearly every service reads

State = Literal["ready", "not prepared", "damaged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStatus:
    """One line of `pincite models list`."""

    name: str  # what the user writes after --model
    description: str
    state: State
    folder: Path | None  # None: the model is code, without any file
    dimensions: int | None
    token_limit: int | None
    size_bytes: int
    problem: str | None = None  # why it is damaged


def default_models_folder() -> Path:
    """Where models live unless the user says otherwise."""
    return platformdirs.user_data_path("pincite") / "models"


def open_embedder(
    spec: str, *, models_folder: Path, base_url: str | None, api_key: str | None
) -> Embedder:
    """The embedder a user names. Model files are opened on first use, not here."""
    match spec.partition(":"):
        case ("minilm", "", ""):
            return _minilm(models_folder / MINILM_FOLDER)
        case ("hashing", "", ""):
            from pincite.models.hashing import HashingEmbedder

            return HashingEmbedder()
        case ("openai", ":", model) if model:
            return _remote(model, base_url, api_key)
        case _ if (folder := folder_named(spec, models_folder)).is_dir():
            from pincite.models.local import LocalEmbedder

            return LocalEmbedder(folder, name=full_name(spec))
    raise SettingsError(f"unknown model {spec!r}; choose one of: {CHOICES}")


def model_folder(spec: str, models_folder: Path) -> Path | None:
    """Where the files of a local model are; None for one that is code alone."""
    if spec == "minilm":
        return models_folder / MINILM_FOLDER
    if spec == "hashing":
        return None
    if is_service(spec):
        raise SettingsError(f"{spec} is a service, which has no files on this machine")
    return folder_named(spec, models_folder)


def folder_named(spec: str, models_folder: Path) -> Path:
    """The folder of a model: a path has a slash or begins with ~, a name is of the models folder.

    Never in the current folder by its name alone: that folder may be a stranger's.
    """
    return Path(full_name(spec)) if is_path(spec) else models_folder / (spec or "nameless")


def full_name(spec: str) -> str:
    """A path from the root: an index must be able to open its model again from anywhere."""
    if not is_path(spec):
        return spec
    try:
        return str(Path(spec).expanduser().resolve())
    except RuntimeError:  # ~nobody
        return spec


def is_path(spec: str) -> bool:
    """Whether a model is named by its place, not by its name."""
    return not is_service(spec) and ("/" in spec or spec.startswith("~"))


def is_service(spec: str) -> bool:
    """Whether texts would leave this machine."""
    return spec.startswith("openai:")


def known_models(models_folder: Path) -> tuple[ModelStatus, ...]:
    """The models that come with pincite, and every other one in the models folder."""
    from pincite.models.hashing import HashingEmbedder

    hashing = HashingEmbedder().card
    return (
        _folder_status(
            models_folder / MINILM_FOLDER,
            name="minilm",
            description="all-MiniLM-L6-v2, int8, English: the default",
        ),
        ModelStatus(
            name=hashing.name,
            description="word hashing, no model: for trying out and for tests",
            state="ready",
            folder=None,
            dimensions=hashing.dimensions,
            token_limit=hashing.token_limit,
            size_bytes=0,
        ),
        *(
            _folder_status(folder, name=folder.name, description="a folder of your own")
            for folder in _other_folders(models_folder)
        ),
    )


def _remote(spec: str, base_url: str | None, api_key: str | None) -> Embedder:
    """MODEL, or MODEL?dimensions=256&token_limit=8191&question_prefix=…&passage_prefix=…"""
    from pincite.models.remote import RemoteEmbedder

    model, _, query = spec.partition("?")
    facts = dict(parse_qsl(query, keep_blank_values=True))
    try:
        dimensions = int(facts.pop("dimensions")) if "dimensions" in facts else None
        token_limit = int(facts.pop("token_limit", _REMOTE_TOKEN_LIMIT))
    except ValueError:
        raise SettingsError(f"in openai:{spec} a number is not a number") from None
    question_prefix = facts.pop("question_prefix", "")
    passage_prefix = facts.pop("passage_prefix", "")
    if facts or token_limit < SMALLEST_TOKEN_LIMIT or (dimensions is not None and dimensions < 1):
        raise SettingsError(
            f"openai:{spec} cannot work; after ? may stand dimensions, token_limit "
            f"(at least {SMALLEST_TOKEN_LIMIT}), question_prefix and passage_prefix"
        )
    return RemoteEmbedder(
        model=model,
        base_url=base_url,
        api_key=api_key,
        dimensions=dimensions,
        token_limit=token_limit,
        question_prefix=question_prefix,
        passage_prefix=passage_prefix,
    )


def _minilm(folder: Path) -> Embedder:
    from pincite.models.local import LocalEmbedder

    if not (folder / FACTS_FILE).is_file():
        raise ModelMissing(
            f"the default model is not on this machine yet ({folder}); run `pincite models prepare`"
        )
    return LocalEmbedder(folder)


def _other_folders(models_folder: Path) -> Iterator[Path]:
    for file in sorted(models_folder.glob(f"*/{MODEL_FILE}")):
        # Hidden folders are models still being made.
        if file.parent.name != MINILM_FOLDER and not file.parent.name.startswith("."):
            yield file.parent


def _folder_status(folder: Path, *, name: str, description: str) -> ModelStatus:
    state: State = "ready"
    problem = dimensions = token_limit = None
    try:
        facts = read_facts(folder)
        dimensions, token_limit = facts.dimensions, facts.token_limit
        problem = "; ".join(damaged_files(folder, facts.files)) or None
    except ModelError as error:
        problem = str(error)
    if not folder.is_dir():
        state, problem = "not prepared", None
    elif problem:
        state = "damaged"
    return ModelStatus(
        name=name,
        description=description,
        state=state,
        folder=folder,
        dimensions=dimensions,
        token_limit=token_limit,
        size_bytes=sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()),
        problem=problem,
    )
