"""What a folder with an ONNX sentence encoder says about itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast, get_args

from pincite.errors import ModelInvalid, ModelMissing

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
FACTS_FILE = "pincite.json"

Pooling = Literal["mean", "cls", "none"]

# Raised when running a model changes so that the same files give other vectors.
_RUN_RECIPE = 1

# Some tokenizers write 10^30 for "no limit"; no encoder we could run reads more than this.
_LONGEST_LIMIT = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """How to run the model of a folder. None: the model itself will tell."""

    name: str
    dimensions: int | None
    token_limit: int
    pooling: Pooling | None
    question_prefix: str
    passage_prefix: str
    fingerprint: str | None
    files: Mapping[str, str]  # file name → SHA-256, as recorded when the folder was made


def read_facts(folder: Path) -> Facts:
    """Our own declaration first, then the files sentence-transformers leaves beside a model."""
    for name in (MODEL_FILE, TOKENIZER_FILE):
        if not (folder / name).is_file():
            raise ModelMissing(
                f"no {name} in {folder}; a model folder holds {MODEL_FILE} and {TOKENIZER_FILE}"
            )
    ours = _Declaration(folder / FACTS_FILE)
    prompts = _Declaration(folder / "config_sentence_transformers.json").mapping("prompts")
    return Facts(
        name=ours.text("name") or str(folder),
        dimensions=ours.count("dimensions"),
        token_limit=ours.count("token_limit") or _usual_token_limit(folder),
        pooling=_pooling(ours.text("pooling"), folder) or _usual_pooling(folder),
        question_prefix=_first_text(ours.text("question_prefix"), prompts.get("query")),
        passage_prefix=_first_text(
            ours.text("passage_prefix"), prompts.get("document"), prompts.get("passage")
        ),
        fingerprint=ours.text("fingerprint"),
        files={name: str(digest) for name, digest in ours.mapping("files").items()},
    )


def read_labels(folder: Path) -> list[str]:
    """What the outputs of a classifier mean, in their order; empty where nothing says so."""
    named = _Declaration(folder / "config.json").mapping("id2label")
    labels = [named.get(str(place)) for place in range(len(named))]
    return [label for label in labels if isinstance(label, str)]


def content_fingerprint(folder: Path, facts: Facts, pooling: Pooling) -> str:
    """Names the embedding space by everything that can change a vector."""
    digest = hashlib.sha256()
    # Weights of large models lie beside model.onnx, in files whose names begin like it.
    for file in [*sorted(folder.glob(f"{MODEL_FILE}*")), folder / TOKENIZER_FILE]:
        digest.update(file_sha256(file).encode())
    settings = (
        _RUN_RECIPE,
        facts.token_limit,
        pooling,
        facts.question_prefix,
        facts.passage_prefix,
    )
    digest.update(json.dumps(settings).encode())
    return f"onnx:{digest.hexdigest()[:32]}"


def damaged_files(folder: Path, recorded: Mapping[str, str]) -> list[str]:
    """A sentence for each file that is not what it was when the folder was made."""
    problems = []
    for name, digest in recorded.items():
        if not (folder / name).is_file():
            problems.append(f"{name} is missing")
        elif file_sha256(folder / name) != digest:
            problems.append(
                f"{name} was changed or is damaged: its SHA-256 is not the recorded one"
            )
    return problems


def file_sha256(path: Path) -> str:
    """The file's SHA-256 in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class _Declaration:
    """A JSON object read from a file that may be absent, each value checked on its way out."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            loaded = json.loads(path.read_bytes()) if path.is_file() else {}
        except (OSError, ValueError) as error:
            raise ModelInvalid(f"{path} cannot be read: {error}; repair or delete it") from error
        if not isinstance(loaded, dict):
            raise ModelInvalid(f"{path} does not hold a JSON object; repair or delete it")
        self._values: dict[str, Any] = loaded

    def text(self, key: str) -> str | None:
        value = self._values.get(key)
        if value is None or isinstance(value, str):
            return value
        raise ModelInvalid(f"{key} in {self._path} is {value!r}, but text is expected")

    def count(self, key: str) -> int | None:
        value = self._values.get(key)
        if value is None or (type(value) is int and value > 0):
            return value
        raise ModelInvalid(f"{key} in {self._path} is {value!r}, but a number above 0 is expected")

    def mapping(self, key: str) -> dict[str, Any]:
        value = self._values.get(key)
        if value is None:
            return {}
        if isinstance(value, dict):
            return value
        raise ModelInvalid(f"{key} in {self._path} is {value!r}, but an object is expected")

    def value(self, key: str) -> object:
        return self._values.get(key)


def _pooling(value: str | None, folder: Path) -> Pooling | None:
    if value is None or value in get_args(Pooling):
        return cast("Pooling | None", value)
    choices = ", ".join(get_args(Pooling))
    raise ModelInvalid(f"pooling in {folder / FACTS_FILE} is {value!r}; choose one of: {choices}")


def _usual_pooling(folder: Path) -> Pooling | None:
    path = folder / "1_Pooling" / "config.json"
    if not path.is_file():
        return None
    config = _Declaration(path)
    if config.value("pooling_mode_mean_tokens") is True:
        return "mean"
    if config.value("pooling_mode_cls_token") is True:
        return "cls"
    raise ModelInvalid(
        f"{path} asks for a pooling other than mean or cls; if the model pools by itself, "
        f'write {{"pooling": "none"}} to {folder / FACTS_FILE}'
    )


def _usual_token_limit(folder: Path) -> int:
    candidates = (
        _Declaration(folder / "sentence_bert_config.json").count("max_seq_length"),
        _Declaration(folder / TOKENIZER_FILE).mapping("truncation").get("max_length"),
        _Declaration(folder / "tokenizer_config.json").value("model_max_length"),
        _Declaration(folder / "config.json").count("max_position_embeddings"),
    )
    for limit in candidates:
        if isinstance(limit, int) and 0 < limit <= _LONGEST_LIMIT:
            return limit
    raise ModelInvalid(
        f"nothing in {folder} says how many tokens the model reads; "
        f'write {{"token_limit": 512}} (or what its card says) to {folder / FACTS_FILE}'
    )


def _first_text(*candidates: object) -> str:
    return next((text for text in candidates if isinstance(text, str)), "")
