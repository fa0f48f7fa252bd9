"""The worker as an embedder: the same vectors, from another process, for many at once."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import pincite
from pincite import ModelAccess, open_library
from pincite.errors import ModelInvalid, ModelMissing, SettingsError
from pincite.models.catalog import default_models_folder, open_embedder
from pincite.models.worker.client import (
    Worker,
    WorkerEmbedder,
    all_places,
    status_of,
    stop_worker,
    through_worker,
    worker_for,
)
from pincite.models.worker.wire import stamp_of_code
from pincite.ports import Embedder
from pincite.settings import WorkerSettings, WorkerUse

MakeFolder = Callable[..., Path]

TEXTS = [
    "red green",
    "",
    "blue " * 500,
    "Grüße, 東京 😀",
    "half a character: \ud83d",
    "red\x00blue",
]


@pytest.fixture
def worker_of(runtime_folder: Path) -> Callable[..., Worker]:
    def made(model: str, models_folder: Path | None = None) -> Worker:
        settings = WorkerSettings(use="on", folder=runtime_folder)
        return worker_for(model, models_folder or default_models_folder(), settings)

    return made


def in_process(model: str) -> Embedder:
    return open_embedder(model, models_folder=default_models_folder(), base_url=None, api_key=None)


@pytest.mark.parametrize("model", ["hashing", "minilm", "folder"])
def test_a_worker_gives_exactly_what_the_model_gives_in_process(
    worker_of: Callable[..., Worker],
    make_folder: MakeFolder,
    minilm_folder: Path,
    tmp_path: Path,
    model: str,
) -> None:
    name = (
        str(make_folder(tmp_path, facts={"passage_prefix": "red "})) if model == "folder" else model
    )
    asked, own = WorkerEmbedder(worker_of(name)), in_process(name)
    assert asked.card == own.card
    assert (asked.passage_overhead, asked.batch, asked.parallel) == (
        own.passage_overhead,
        own.batch,
        own.parallel,
    )
    for mine, its in zip(own.embed_passages(TEXTS), asked.embed_passages(TEXTS), strict=True):
        assert np.array_equal(mine, its)
        assert its.dtype == np.float32
    for text in TEXTS:
        assert np.array_equal(asked.embed_question(text), own.embed_question(text))
        assert list(asked.token_starts(text)) == list(own.token_starts(text))
        assert asked.foreignness(text) == own.foreignness(text)
    assert [asked.knows(word) for word in ("water", "watre")] == [
        own.knows(word) for word in ("water", "watre")
    ]


def test_many_threads_share_one_worker(worker_of: Callable[..., Worker]) -> None:
    worker = worker_of("hashing")
    texts = [f"note {number} about pumps" for number in range(200)]
    # Nothing runs yet: all of them find that out at once.
    with ThreadPoolExecutor(40) as threads:
        got = list(threads.map(WorkerEmbedder(worker).embed_question, texts))
    for mine, its in zip(in_process("hashing").embed_passages(texts), got, strict=True):
        assert np.array_equal(mine, its)
    (place,) = all_places(worker.settings.folder)
    assert (status_of(place).calls or 0) >= len(texts)


def test_a_model_that_cannot_be_used_is_told_at_the_start(
    worker_of: Callable[..., Worker], make_folder: MakeFolder, tmp_path: Path
) -> None:
    folder = make_folder(tmp_path / "model")
    (folder / "model.onnx").write_bytes(b"no model")
    worker = worker_of(str(folder))
    with pytest.raises(ModelInvalid, match="not a usable ONNX model"):
        worker.ensure()
    assert not worker.is_there()
    with pytest.raises(ModelMissing, match="pincite models prepare"):
        worker_of("minilm", tmp_path).ensure()


def test_an_error_of_the_model_comes_back_as_it_is(
    worker_of: Callable[..., Worker], make_folder: MakeFolder, tmp_path: Path
) -> None:
    # Loads and works, but for one token: its vector is all zeros.
    folder = make_folder(tmp_path, facts={"pooling": "cls"}, special_tokens=False)
    _forget_the_vector(5, folder)
    own, asked = in_process(str(folder)), WorkerEmbedder(worker_of(str(folder)))
    for embedder in (own, asked):
        with pytest.raises(ModelInvalid, match="zero vector"):
            embedder.embed_question("blue")
    assert np.array_equal(asked.embed_question("red"), own.embed_question("red"))


def _forget_the_vector(row: int, folder: Path) -> None:
    model = onnx.load(str(folder / "model.onnx"))
    (table,) = model.graph.initializer
    values = numpy_helper.to_array(table).copy()
    values[row] = 0
    table.CopyFrom(numpy_helper.from_array(values, table.name))
    onnx.save(model, str(folder / "model.onnx"))


def test_a_service_never_runs_in_a_worker(runtime_folder: Path) -> None:
    settings = WorkerSettings(use="on", folder=runtime_folder)
    service = open_embedder(
        "openai:m", models_folder=runtime_folder, base_url="http://127.0.0.1:9", api_key=None
    )
    kept = through_worker(
        "openai:m", runtime_folder, settings, here=service, on_trouble=lambda trouble: None
    )
    assert kept is service
    with pytest.raises(SettingsError, match="service"):
        worker_for("openai:m", runtime_folder, settings)
    place = worker_for("hashing", runtime_folder, settings).place
    place.make()
    with pytest.raises(SettingsError, match="service"):
        Worker("openai:m", runtime_folder, settings)._start(place)


@pytest.mark.parametrize("use", ["on", "auto"])
def test_a_library_is_indexed_and_searched_through_a_worker_as_without(
    runtime_folder: Path, tmp_path: Path, use: WorkerUse
) -> None:
    (tmp_path / "one.md").write_text("# Pumps\n\nThe north pump leaks at the seal.\n")
    (tmp_path / "two.md").write_text("# Valves\n\nValves stick when it is cold.\n")
    settings = WorkerSettings(use=use, folder=runtime_folder)
    worker = worker_for("hashing", default_models_folder(), settings)
    if use == "auto":
        worker.ensure()
    with open_library(tmp_path, models=ModelAccess(worker=settings)) as library:
        library.index(model="hashing")
        through_it = library.search("which pump leaks?")
    assert (status_of(worker.place).calls or 0) > 4
    with open_library(tmp_path) as library:
        assert library.index().embedded == 0, "another model was at work"
        without = library.search("which pump leaks?")
    assert through_it.results == without.results


def test_nobody_else_may_ask_or_look_on(worker_of: Callable[..., Worker]) -> None:
    worker = worker_of("hashing")
    worker.ensure()
    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode)
        for path in (worker.place.folder, *worker.place.folder.iterdir())
    }
    assert modes.pop(worker.place.folder.name) == 0o700
    assert set(modes.values()) == {0o600}
    assert "socket" in modes


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_a_worker_starts_in_folders_that_it_has_to_make_whatever_the_umask(
    runtime_folder: Path, umask: int
) -> None:
    cache = runtime_folder / "cache"
    settings = WorkerSettings(use="on", folder=cache / "pincite" / "workers")
    worker = worker_for("hashing", default_models_folder(), settings)
    before = os.umask(umask)
    try:
        worker.ensure()
    finally:
        os.umask(before)
        stop_worker(worker.place)
    for made in (cache, cache / "pincite", cache / "pincite" / "workers"):
        assert stat.S_IMODE(made.stat().st_mode) == 0o700


def test_keys_are_not_handed_on_to_a_worker(
    worker_of: Callable[..., Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    worker = worker_of("hashing")
    worker.ensure()
    seen = Path(f"/proc/{worker.place.process_id()}/environ")
    if not seen.exists():
        pytest.skip("the system does not show the environment of a process")
    assert b"PYTHONUTF8" in seen.read_bytes()
    assert b"sk-secret" not in seen.read_bytes()


def test_a_model_that_changed_on_disk_is_noticed(
    worker_of: Callable[..., Worker], make_folder: MakeFolder, tmp_path: Path
) -> None:
    folder = make_folder(tmp_path)
    worker = worker_of(str(folder))
    before = WorkerEmbedder(worker)
    first = before.embed_question("red green")
    process = worker.place.process_id()
    (folder / "pincite.json").write_text('{"pooling": "cls"}')
    with pytest.raises(ModelInvalid, match="changed while it was in use"):
        before.embed_question("red green")
    after = WorkerEmbedder(worker)
    assert after.card.fingerprint != before.card.fingerprint
    assert np.array_equal(
        after.embed_question("red green"), in_process(str(folder)).embed_question("red green")
    )
    assert not np.array_equal(after.embed_question("red green"), first)
    assert worker.place.process_id() != process


@pytest.mark.parametrize(
    "module",
    [
        "models/hashing.py",
        "models/worker/server.py",
        "text/words.py",
    ],
)
def test_a_change_of_any_code_that_an_answer_depends_on_is_noticed(
    tmp_path: Path, module: str
) -> None:
    package = tmp_path / "pincite"
    shutil.copytree(Path(pincite.__file__).parent, package)
    before = stamp_of_code(package)
    with (package / module).open("a") as code:
        code.write("# changed\n")
    assert stamp_of_code(package) != before
