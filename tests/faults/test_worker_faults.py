"""What may happen to a worker: killed, stopped, replaced, asked by strangers, left behind."""

from __future__ import annotations

import fcntl
import os
import resource
import shutil
import signal
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pincite.errors import ModelInvalid, ModelUnavailable
from pincite.models.catalog import default_models_folder
from pincite.models.hashing import HashingEmbedder
from pincite.models.worker import wire
from pincite.models.worker.client import (
    Worker,
    WorkerEmbedder,
    WorkerLost,
    _asked,
    status_of,
    worker_for,
)
from pincite.models.worker.server import (
    _MOST_AT_ONCE,
    _REQUEST_SECONDS,
    Answers,
    Server,
    _listening,
)
from pincite.models.worker.wire import Place
from pincite.settings import WorkerSettings

_PATIENCE = 30.0  # seconds; only a failing test waits that long
QUESTION = "which pump leaks?"
EXPECTED = HashingEmbedder().embed_question(QUESTION)


@pytest.fixture
def worker(runtime_folder: Path) -> Worker:
    """A running one."""
    settings = WorkerSettings(use="on", folder=runtime_folder)
    made = worker_for("hashing", default_models_folder(), settings)
    made.ensure()
    return made


class NeverBack(Worker):
    """One that cannot be started again."""

    def ensure(self) -> None:
        pass


def process_of(worker: Worker) -> int:
    process = worker.place.process_id()
    assert process is not None
    return process


def kill(worker: Worker) -> int:
    process = process_of(worker)
    os.kill(process, signal.SIGKILL)
    assert eventually(lambda: not worker.place.is_held())
    return process


def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False


def test_a_killed_worker_is_started_again_and_the_call_answered(worker: Worker) -> None:
    embedder = WorkerEmbedder(worker)
    embedder.embed_question(QUESTION)
    killed = kill(worker)
    assert worker.place.socket.exists(), "a killed worker leaves its socket behind"
    with pytest.raises(WorkerLost):
        worker.ask("embed_question", [QUESTION])  # as without a second try
    assert np.array_equal(embedder.embed_question(QUESTION), EXPECTED)
    assert process_of(worker) != killed


def test_a_worker_killed_in_the_middle_of_a_call_is_started_again(worker: Worker) -> None:
    embedder = WorkerEmbedder(worker)
    embedder.embed_question(QUESTION)
    process = process_of(worker)
    os.kill(process, signal.SIGSTOP)
    with ThreadPoolExecutor(4) as threads:
        answers = [threads.submit(embedder.embed_question, QUESTION) for _ in range(4)]
        time.sleep(0.2)  # they have asked, and wait
        assert not any(answer.done() for answer in answers)
        os.kill(process, signal.SIGKILL)
        for answer in answers:
            assert np.array_equal(answer.result(), EXPECTED)
    assert process_of(worker) != process


def test_a_worker_that_hangs_is_replaced(worker: Worker) -> None:
    hurried = replace(worker, settings=replace(worker.settings, silence_seconds=1.0))
    process = process_of(worker)
    os.kill(process, signal.SIGSTOP)
    assert np.array_equal(WorkerEmbedder(hurried).embed_question(QUESTION), EXPECTED)
    assert process_of(worker) != process


def _parts(worker: Worker) -> tuple[str, Path, WorkerSettings]:
    return worker.spec, worker.models_folder, worker.settings


def test_a_worker_lost_twice_is_a_clear_error(worker: Worker) -> None:
    kill(worker)
    with pytest.raises(ModelUnavailable, match="lost twice"):
        WorkerEmbedder(NeverBack(*_parts(worker))).embed_question(QUESTION)


def test_where_it_only_saves_time_the_model_runs_here_and_that_is_told_once(
    worker: Worker,
) -> None:
    told: list[str] = []
    embedder = WorkerEmbedder(
        NeverBack(*_parts(worker)), instead=HashingEmbedder(), on_trouble=told.append
    )
    assert np.array_equal(embedder.embed_question(QUESTION), EXPECTED)
    assert told == []
    kill(worker)
    for _ in range(2):
        assert np.array_equal(embedder.embed_question(QUESTION), EXPECTED)
    assert len(told) == 1
    assert "in this process instead" in told[0]


def test_another_model_does_not_stand_in_for_the_lost_one(worker: Worker) -> None:
    embedder = WorkerEmbedder(NeverBack(*_parts(worker)), instead=HashingEmbedder(dimensions=64))
    embedder.embed_question(QUESTION)
    kill(worker)
    with pytest.raises(ModelInvalid, match="changed"):
        embedder.embed_question(QUESTION)


def test_a_socket_that_nobody_listens_on_is_replaced(runtime_folder: Path) -> None:
    settings = WorkerSettings(use="on", folder=runtime_folder)
    worker = worker_for("hashing", default_models_folder(), settings)
    worker.place.make()
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(worker.place.socket))
    assert np.array_equal(WorkerEmbedder(worker).embed_question(QUESTION), EXPECTED)


def test_whoever_does_not_know_the_token_is_refused(worker: Worker) -> None:
    worker.ask("ping")
    worker.place.token.write_bytes(b"x" * 32)
    with pytest.raises(WorkerLost, match=wire.STRANGER):
        worker.ask("ping")


def test_another_version_of_the_code_is_refused(worker: Worker) -> None:
    asked = {"verb": "ping", "code": "of another version", "model": "", "fingerprint": None}
    with pytest.raises(WorkerLost, match=wire.OTHER_CODE):
        _asked(worker.place, asked, _PATIENCE)
    with pytest.raises(WorkerLost, match=wire.OTHER_CODE):
        _asked(worker.place, {"verb": "of another version"}, _PATIENCE)


@pytest.mark.parametrize(
    "said",
    [b"", b"\0" * 7, b"\xff" * 16, b"\0" * 7 + b"\x05" + b"\0" * 8 + b"{oops", b"\0" * 16],
    ids=["nothing", "half a length", "far too long", "no JSON", "empty"],
)
def test_half_a_message_harms_only_who_sent_it(worker: Worker, said: bytes) -> None:
    process = process_of(worker)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(worker.place.socket))
        connection.sendall(worker.place.token.read_bytes() + said)
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1) == b""
    worker.ask("ping")
    assert process_of(worker) == process


def test_a_message_far_too_long_is_not_waited_for(worker: Worker) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_REQUEST_SECONDS / 2)
        connection.connect(str(worker.place.socket))
        connection.sendall(worker.place.token.read_bytes() + b"\xff" * 16)
        assert connection.recv(1) == b""


def test_a_silent_connection_keeps_nobody_waiting(worker: Worker) -> None:
    with socket.socket(socket.AF_UNIX) as silent:
        silent.connect(str(worker.place.socket))
        worker.ask("ping", silence=_PATIENCE)


@contextmanager
def silent_connections(worker: Worker, count: int) -> Iterator[None]:
    with ExitStack() as open_ones:
        for _ in range(count):
            silent = open_ones.enter_context(socket.socket(socket.AF_UNIX))
            silent.connect(str(worker.place.socket))
        time.sleep(0.2)  # the worker has let in some
        yield


@pytest.mark.parametrize("descriptors", [24, 64], ids=["fewer than it lets in", "enough"])
def test_a_crowd_of_silent_connections_does_not_end_the_worker(
    worker: Worker, descriptors: int
) -> None:
    process = process_of(worker)
    resource.prlimit(process, resource.RLIMIT_NOFILE, (descriptors, descriptors))
    with silent_connections(worker, 90):
        pass
    assert np.array_equal(WorkerEmbedder(worker).embed_question(QUESTION), EXPECTED)
    assert process_of(worker) == process


def test_who_comes_when_it_is_full_waits_outside_and_is_let_in_later(worker: Worker) -> None:
    held = Path(f"/proc/{process_of(worker)}/fd")
    if not held.exists():
        pytest.skip("the system does not show what a process has open")
    before = len(list(held.iterdir()))
    with ThreadPoolExecutor(1) as threads:
        with silent_connections(worker, 2 * _MOST_AT_ONCE):
            assert eventually(lambda: len(list(held.iterdir())) == before + _MOST_AT_ONCE)
            asked = threads.submit(worker.ask, "ping")
        asked.result()


def test_a_worker_that_is_full_can_be_stopped(worker: Worker) -> None:
    process = process_of(worker)
    with silent_connections(worker, _MOST_AT_ONCE):
        os.kill(process, signal.SIGTERM)
        assert eventually(lambda: not worker.place.socket.exists())
    assert eventually(lambda: not worker.place.is_held())


class Breaking(Answers):
    """Fails, when told to, as nobody foresaw."""

    broken = False

    def are_current(self) -> bool:
        if self.broken:
            raise RuntimeError("as nobody foresaw")
        return True


def test_a_worker_that_breaks_is_not_found_while_it_waits_for_those_who_are_there(
    runtime_folder: Path,
) -> None:
    place = Place(runtime_folder / "one")
    place.make()
    place.make_token()
    answers = Breaking("hashing", runtime_folder, HashingEmbedder())
    with _listening(place.socket) as listener, ThreadPoolExecutor(1) as threads:
        server = Server(answers, place, 0.4, listener)
        with socket.socket(socket.AF_UNIX) as silent:
            silent.connect(str(place.socket))
            running = threads.submit(server.run)
            assert eventually(lambda: server._busy == 1)  # it has let that one in
            answers.broken = True
            assert eventually(lambda: not place.socket.exists())
            assert not running.done()
        with pytest.raises(RuntimeError, match="foresaw"):
            running.result()
        for end in (server._waker, server._woken):  # else they end with the process
            end.close()


@pytest.mark.parametrize("mode", [0o755, 0o770])
def test_a_folder_that_others_can_enter_is_not_used(worker: Worker, mode: int) -> None:
    worker.place.folder.chmod(mode)
    with pytest.raises(ModelUnavailable, match="for you alone"):
        WorkerEmbedder(worker).embed_question(QUESTION)
    worker.place.folder.chmod(0o700)
    worker.place.folder.parent.chmod(0o777)
    with pytest.raises(ModelUnavailable, match="others may replace"):
        WorkerEmbedder(worker).embed_question(QUESTION)
    worker.place.folder.parent.chmod(0o700)
    WorkerEmbedder(worker).embed_question(QUESTION)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_somebody_else_is_not_used(worker: Worker) -> None:
    os.chown(worker.place.folder, 12345, -1)
    with pytest.raises(ModelUnavailable, match="for you alone"):
        WorkerEmbedder(worker).embed_question(QUESTION)
    os.chown(worker.place.folder, 0, -1)


def test_a_worker_that_nobody_asks_ends(runtime_folder: Path) -> None:
    settings = WorkerSettings(use="on", folder=runtime_folder, idle_seconds=0.3)
    worker = worker_for("hashing", default_models_folder(), settings)
    worker.ensure()
    assert eventually(lambda: not worker.place.is_held())
    assert not worker.is_there()
    assert status_of(worker.place).state == "not running"


def test_a_worker_whose_files_are_gone_ends(worker: Worker) -> None:
    lock = os.open(worker.place.lock, os.O_RDWR)

    def is_free() -> bool:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    assert not is_free()
    shutil.rmtree(worker.place.folder)
    assert worker.settings.idle_seconds > _PATIENCE, "it could only be idle"
    assert eventually(is_free)
    os.close(lock)


def test_where_there_is_no_place_for_it_that_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    settings = WorkerSettings(use="on", folder=tmp_path / "file")
    worker = worker_for("hashing", default_models_folder(), settings)
    with pytest.raises(ModelUnavailable, match="cannot be started"):
        WorkerEmbedder(worker).embed_question(QUESTION)
    deep = replace(settings, folder=tmp_path / ("deep" * 30))
    with pytest.raises(ModelUnavailable, match="too long a path"):
        worker_for("hashing", default_models_folder(), deep).ensure()


def test_a_process_that_cannot_start_is_told_with_its_log(worker: Worker) -> None:
    kill(worker)
    worker.place.log.unlink()
    worker.place.lock.unlink()
    worker.place.lock.mkdir()  # it trips over it
    with pytest.raises(ModelUnavailable, match=f"{worker.place.log} tells why"):
        worker._start(worker.place)
    assert "IsADirectoryError" in worker.place.log.read_text()
    worker.place.lock.rmdir()


def test_half_a_token_is_made_anew(worker: Worker) -> None:
    kill(worker)
    worker.place.token.write_bytes(b"half")
    assert np.array_equal(WorkerEmbedder(worker).embed_question(QUESTION), EXPECTED)
