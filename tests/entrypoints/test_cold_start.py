"""What a single search may load: every module costs the user's time, at every call."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pincite import open_library
from pincite.engine.serving import FolderLibraries
from pincite.entrypoints.http.sockets import bound
from service import listening

_LOADED = """
import json, sys
from pincite.entrypoints.cli.main import cli
try:
    cli(sys.argv[1:], prog_name="pincite")
except SystemExit as end:
    assert not end.code, end.code
print(json.dumps(list(sys.modules)), file=sys.stderr)
"""
NOT_FOR_WORDS = {"onnxruntime", "tokenizers", "onnx", "openai"}
RECORDS_OF_OTHERS = {
    f"pincite.records.{name}" for name in ("context", "evaluation", "filter_expression", "indexing")
}
NOT_FOR_ANY = {"watchfiles", "pathspec", "filelock", "msgspec", "rich", "lxml", "tree_sitter"} | {
    "pincite.child_process"  # nothing is read, so no sandbox is started
}


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("notes")
    (folder / "one.md").write_text("# One\n\nThe north pump leaks.\n")
    (folder / ".gitignore").write_text("*.tmp\n")
    with open_library(folder) as library:
        library.index()
    return folder


def loaded_by(*arguments: str) -> set[str]:
    """The modules that a command loads, and the packages they are of."""
    done = subprocess.run(
        [sys.executable, "-c", _LOADED, *arguments],
        check=True,
        capture_output=True,
        text=True,
    )
    modules = json.loads(done.stderr)
    return {*modules, *(name.partition(".")[0] for name in modules)}


def test_a_command_that_a_service_answers_loads_next_to_nothing(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(notes)
    asked = (
        "import sys\n"
        "from pincite.entrypoints.running import run_by_service\n"
        "assert run_by_service(['search', 'pump']) == 0\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    with bound(notes) as listener:
        answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\npincite-exit: 0\r\npincite-output: 2"

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(answer + b"\r\n\r\nhi")

        thread = threading.Thread(target=serve)
        thread.start()
        done = subprocess.run([sys.executable, "-c", asked], capture_output=True, check=True)
        thread.join()
    assert done.stdout == b"hi"
    loaded = set(done.stderr.decode().split())
    assert "pincite.entrypoints.http.sockets" in loaded
    assert loaded & {"click", "json", "re", "typing", "pathlib", "dataclasses"} == set()
    assert loaded & {"pincite.errors", "pincite.records", "pincite.engine"} == set()


def test_a_search_of_a_server_loads_neither_database_nor_model(notes: Path) -> None:
    with listening(FolderLibraries({"notes": open_library(notes)})) as url:
        loaded = loaded_by("--server", url, "search", "pump")
    assert "pincite.entrypoints.client" in loaded
    assert loaded & {"apsw", "numpy", "fastapi", "httpx", "onnxruntime", "tokenizers"} == set()


def test_a_search_by_words_loads_no_model(notes: Path) -> None:
    loaded = loaded_by("search", "--library", str(notes), "--mode", "words", "pump")
    assert "pincite.records.searching" in loaded
    assert loaded & (NOT_FOR_WORDS | NOT_FOR_ANY | RECORDS_OF_OTHERS) == set()


def test_a_search_by_meaning_loads_only_the_model(notes: Path) -> None:
    loaded = loaded_by("search", "--library", str(notes), "pump")
    assert {"onnxruntime", "tokenizers"} <= loaded, "nothing was searched by meaning"
    assert loaded & NOT_FOR_ANY == set()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("search", "pump"), 0, "one.md"),
        (("search", "--nonsense"), 2, "No such option"),
        (("show", "one.md:99"), 3, "Error: "),
        (("catalog",), 0, "one.md"),
    ],
)
def test_a_command_that_ends_at_once_still_says_all_and_tells_how_it_went(
    notes: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pincite", *arguments],
        cwd=notes,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    assert said in done.stdout + done.stderr


def test_indexing_does_load_what_a_search_does_without(notes: Path) -> None:
    needed = {"pathspec", "filelock", "pincite.child_process"}
    assert needed <= loaded_by("index", "update", str(notes))
