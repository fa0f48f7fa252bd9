"""Commands as processes: followed folders, Ctrl-C, pipes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest

from model_service import Reply, healthy, running_service
from pincite import ModelAccess, open_library

PINCITE = (sys.executable, "-m", "pincite")
_PATIENCE = 60.0  # seconds; only a failing test waits that long


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "one.md").write_text("# One\n\nThe north pump leaks.\n")
    with open_library(tmp_path) as library:
        library.index(model="hashing")
    return tmp_path


def started(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    """A command that hears Ctrl-C, also where whoever runs the tests does not."""
    return subprocess.Popen(
        [*PINCITE, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


@pytest.fixture
def watcher(notes: Path) -> Iterator[subprocess.Popen[str]]:
    process = started("index", "watch", "--json", str(notes))
    yield process
    process.kill()
    process.communicate()


def next_report(stream: IO[str] | None) -> dict[str, object]:
    """One pretty-printed JSON object from the stream."""
    assert stream is not None
    lines = []
    for line in stream:
        lines.append(line)
        if line == "}\n":
            break
    report: dict[str, object] = json.loads("".join(lines))
    return report


def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


def test_a_watched_folder_is_followed_until_interrupted(
    watcher: subprocess.Popen[str], notes: Path
) -> None:
    assert next_report(watcher.stdout)["unchanged"] == 1
    (notes / "two.md").write_text("# Two\n\nA zebra came by.\n")
    with open_library(notes) as library:
        assert eventually(lambda: bool(library.search("zebra", mode="words").results)), (
            "the new file was not followed"
        )
        (notes / "two.md").unlink()
        assert eventually(lambda: not library.search("zebra", mode="words").results)
    watcher.send_signal(signal.SIGINT)
    assert watcher.wait(_PATIENCE) == 130


def test_ctrl_c_keeps_what_was_indexed_and_the_next_run_goes_on(tmp_path: Path) -> None:
    for number in range(12):
        word = "stuck" if number >= 6 else "fine"
        (tmp_path / f"{number:02}.md").write_text(f"# Note {number}\n\nIt is {word}.\n")
    log = tmp_path / ".index" / "chunks.jsonl"
    with running_service() as service:
        service.plays(
            lambda texts: Reply({}, is_held=True) if "stuck" in texts[0] else healthy(texts)
        )
        process = started(
            *("index", "build", str(tmp_path), "--model", "openai:m?dimensions=3"),
            OPENAI_BASE_URL=service.url,
        )
        assert eventually(lambda: log.exists() and log.read_bytes().count(b"\n") > 3)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=_PATIENCE)
        assert process.returncode == 130
        assert "What was indexed is kept" in told
        assert "Traceback" not in told
        service.plays(healthy)
        with open_library(tmp_path, models=ModelAccess(base_url=service.url)) as library:
            before = len(library.documents())
            assert 0 < before <= 6
            assert library.verify() == []
            report = library.index()
            assert (report.unchanged, report.added) == (before, 12 - before)


def test_output_into_a_closed_pipe_is_no_error(notes: Path) -> None:
    command = f"{' '.join(PINCITE)} search --library '{notes}' --mode words pump --json | head -1"
    done = subprocess.run(command, shell=True, check=True, capture_output=True, text=True)
    assert done.stdout == "{\n"
    assert "Traceback" not in done.stderr


def test_a_question_that_is_not_valid_unicode_is_searched_all_the_same(notes: Path) -> None:
    done = subprocess.run(
        [*PINCITE, "search", "--library", str(notes), b"pump \xff\xfe"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert "one.md" in done.stdout
