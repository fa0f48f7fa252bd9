"""Cuts the power: what was not synced is lost, in part or as a whole; see test_power_cut.py.

SQLite writes through a file system of our own, which remembers what was not synced yet. It has no
memory shared between processes, so the database is opened in exclusive mode.
"""

from __future__ import annotations

import json
import os
import random
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import apsw
from kill_driver import change_and_index, run_in_child

from pincite.stores.sqlite.reader import LOG_NAME

USUAL = apsw.vfs_names()[0]
SECTOR = 512  # what a disk writes whole

Write = tuple[int, bytes | None]  # place and bytes; None cuts the file off there


@dataclass
class Held:
    """A file as the disk has it, and the writes that did not reach it yet."""

    safe: bytearray
    waiting: list[Write] = field(default_factory=list)

    def sync(self) -> None:
        for write in self.waiting:
            apply(self.safe, write)
        self.waiting.clear()

    def after_the_cut(self, rng: random.Random) -> bytes:
        """Each write that waits is there, torn or lost."""
        left = bytearray(self.safe)
        for place, data in self.waiting:
            fate = rng.random()
            if fate < 0.4:
                apply(left, (place, data))
            elif fate < 0.6 and data is not None:
                apply(left, (place, data[: rng.randrange(0, len(data) + 1, SECTOR)]))
        return bytes(left)


def apply(content: bytearray, write: Write) -> None:
    place, data = write
    if data is None:
        del content[place:]
        return
    content.extend(bytes(max(0, place + len(data) - len(content))))
    content[place : place + len(data)] = data


class Power:
    """Counts what reaches the disk, and goes out at one of these moments."""

    def __init__(self, job: dict[str, Any]) -> None:
        self._at = job["at"]
        # What is not synced: "log", "database", or "commits" as with SQLite's synchronous = NORMAL
        self._lying = job["lying"]
        self._rng = random.Random(f"{job['seed']}/{job['at']}")
        self._log = Path(job["root"]) / ".index" / LOG_NAME
        self._log_safe = self._log.stat().st_size if self._log.exists() else 0
        self.files: dict[str, Held] = {}
        self.seen = 0

    def moment(self) -> None:
        self.seen += 1
        if self.seen == self._at:
            self._cut()

    def synced(self, name: str) -> None:
        self.moment()
        if self._lying != "database":
            self.files[name].sync()

    def _cut(self) -> None:
        for name, held in self.files.items():
            Path(name).write_bytes(held.after_the_cut(self._rng))
        if self._log.exists():
            left = self._rng.randint(self._log_safe, self._log.stat().st_size)
            os.truncate(self._log, left)
        os._exit(9)

    def __enter__(self) -> None:
        sys.setprofile(self._look)

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _look(self, frame: FrameType, event: str, what: object) -> None:
        if what is os.fsync and frame.f_code.co_filename.endswith("sqlite/log.py"):
            if event == "c_call":
                self.moment()
            elif event == "c_return" and self._lying != "log" and self._log.exists():
                self._log_safe = self._log.stat().st_size


class RememberingFiles(apsw.VFS):
    """The usual file system, with an eye on what was not synced."""

    def __init__(self, power: Power) -> None:
        self._power = power
        super().__init__("remembering", USUAL, makedefault=True)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> RememberingFile:  # noqa: N802
        return RememberingFile(self._power, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        self._power.files.pop(filename, None)
        super().xDelete(filename, syncdir)


class RememberingFile(apsw.VFSFile):
    def __init__(self, power: Power, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__(USUAL, name, flags)
        self._power = power
        self._name = name.filename() if isinstance(name, apsw.URIFilename) else str(name or "")
        if self._name and self._name not in power.files:
            power.files[self._name] = Held(bytearray(Path(self._name).read_bytes()))

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: ANN401, N802
        if self._name:
            self._power.moment()
            self._power.files[self._name].waiting.append((offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        if self._name:
            self._power.files[self._name].waiting.append((newsize, None))
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        if self._name:
            self._power.synced(self._name)


def leave_synchronous_alone(
    operation: int, what: str | None, _value: str | None, _database: str | None, _by: str | None
) -> int:
    synchronous = operation == apsw.SQLITE_PRAGMA and what == "synchronous"
    return apsw.SQLITE_IGNORE if synchronous else apsw.SQLITE_OK


def work(job: dict[str, Any], said: int) -> None:
    power = Power(job)
    files = RememberingFiles(power)  # the file system of SQLite for as long as it is held

    def alone(connection: apsw.Connection) -> None:
        connection.execute("PRAGMA locking_mode = exclusive").fetchall()
        if job["lying"] == "commits":
            connection.execute("PRAGMA synchronous = NORMAL").fetchall()
            connection.authorizer = leave_synchronous_alone

    apsw.connection_hooks.append(alone)
    change_and_index({**job, "naive": False}, power)
    files.unregister()
    os.write(said, json.dumps([power.seen, 0]).encode())


if __name__ == "__main__":
    for line in sys.stdin:
        sys.stdout.write(json.dumps(run_in_child(json.loads(line), work)) + "\n")
        sys.stdout.flush()
