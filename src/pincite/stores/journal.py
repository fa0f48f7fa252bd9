"""The journal: keys, jobs, the log of queries and feedback, as plain tables.

One small SQLite file beside an index, or tables of a team's database, with the same statements.
Nothing of it belongs to the index: it can be thrown away, and then keys have to be made again.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from pincite.errors import SettingsError
from pincite.records.journal import Feedback, Job, Key, LoggedQuery

if TYPE_CHECKING:
    import apsw

Row = Sequence[Any]
Run = Callable[[str, Sequence[Any]], list[Row]]
"""A statement with `?` for its values → its rows, in a transaction of its own."""
Kept = TypeVar("Kept", Key, Job, LoggedQuery, Feedback)

MOST_QUERIES = 50_000  # the oldest ones go
_PURGE_EVERY = 500  # queries
_LONGEST_QUESTION = 2_000  # characters
_PREFIX = "pincite"
TABLES = tuple(
    f"CREATE TABLE IF NOT EXISTS journal_{name} (id TEXT PRIMARY KEY, record TEXT NOT NULL)"
    for name in ("key", "job", "query", "feedback")
)
_NAMES: dict[type[Any], str] = {Key: "key", Job: "job", LoggedQuery: "query", Feedback: "feedback"}


class Journal:
    """Threads may share it."""

    def __init__(self, run: Run, close: Callable[[], None] = lambda: None) -> None:
        self._run = run
        self.close = close
        self._logged = 0

    def add_key(self, key: Key) -> tuple[Key, str]:
        """Keep a key of these rights; its secret is given once and kept nowhere."""
        made = replace(key, id=secrets.token_hex(8), made_at=time.time())
        secret = f"{_PREFIX}_{made.id}_{secrets.token_urlsafe(32)}"
        record = msgspec.to_builtins(made) | {"hash": _hash(secret)}
        self._keep("key", made.id, record)
        return made, secret

    def key_of(self, secret: str) -> Key | None:
        """The key whose secret this is; None where there is none, or it is no longer valid."""
        prefix, _, rest = secret.partition("_")
        name = rest.partition("_")[0]
        if prefix != _PREFIX or not name:
            return None
        rows = self._run("SELECT record FROM journal_key WHERE id = ?", (name,))
        record = msgspec.json.decode(rows[0][0]) if rows else {}
        # Random and long: a plain hash of it cannot be guessed, and is compared in constant time.
        if not hmac.compare_digest(record.pop("hash", ""), _hash(secret)) or not record:
            return None
        key = msgspec.convert(record, Key)
        return key if key.is_valid(time.time()) else None

    def signer(self, key_id: str) -> tuple[Key, bytes] | None:
        """A key that is valid, and what links made for it are signed with; it ends with the key."""
        key = self._one(Key, key_id)
        if key is None or not key.is_valid(time.time()):
            return None
        rows = self._run("SELECT record FROM journal_key WHERE id = ?", (key_id,))
        return key, f"link {msgspec.json.decode(rows[0][0])['hash']}".encode()

    def keys(self) -> list[Key]:
        """Every key that was made, the newest last."""
        return sorted(self._all(Key), key=lambda one: one.made_at)

    def has_keys(self) -> bool:
        """Whether any key was ever made: from then on every caller needs one."""
        return bool(self._run("SELECT 1 FROM journal_key LIMIT 1", ()))

    def revoke(self, name: str) -> Key:
        """End a key, by its id or its name; SettingsError where there is none."""
        found = [one for one in self.keys() if name in (one.id, one.name) and not one.revoked_at]
        if len(found) != 1:
            many = f"{len(found)} keys are called {name!r}: name one by its id"
            raise SettingsError(many if found else f"there is no key {name!r}; see `keys list`")
        ended = replace(found[0], revoked_at=time.time())
        (stored,) = self._run("SELECT record FROM journal_key WHERE id = ?", (ended.id,))
        kept = msgspec.json.decode(stored[0]) | msgspec.to_builtins(ended)
        self._keep("key", ended.id, kept)
        return ended

    def save_job(self, job: Job) -> Job:
        """Keep a job as it is now."""
        saved = replace(job, changed_at=time.time())
        self._keep("job", saved.id, saved)
        return saved

    def job(self, job_id: str) -> Job | None:
        """The job of that id."""
        return self._one(Job, job_id)

    def jobs(self) -> list[Job]:
        """Every job, the newest last."""
        return self._all(Job)

    def forget_jobs(self, *, before: float, over: bool = True) -> None:
        """Forget jobs that were over before then; or any that nothing happened to since."""
        for job in self.jobs():
            if (job.is_over or not over) and job.changed_at < before:
                self._run("DELETE FROM journal_job WHERE id = ?", (job.id,))

    def log(self, query: LoggedQuery) -> None:
        """Keep a query; now and then, forget those that are too old to be kept."""
        self._keep("query", query.id, replace(query, question=query.question[:_LONGEST_QUESTION]))
        self._logged += 1
        if self._logged % _PURGE_EVERY == 1:
            self._run(
                "DELETE FROM journal_query WHERE id < "
                "(SELECT id FROM journal_query ORDER BY id DESC LIMIT 1 OFFSET ?)",
                (MOST_QUERIES,),
            )

    def query(self, query_id: str) -> LoggedQuery | None:
        """The query of that id."""
        return self._one(LoggedQuery, query_id)

    def queries(
        self, *, since: float = 0.0, limit: int | None = None, user: str | None = None
    ) -> list[LoggedQuery]:
        """What was asked since then, by that user or by anybody, the newest first."""
        rows = self._run(
            "SELECT record FROM journal_query WHERE id >= ? ORDER BY id DESC LIMIT ?",
            (_stamp(since), MOST_QUERIES * 2 if limit is None or user is not None else limit),
        )
        found = (msgspec.json.decode(row[0], type=LoggedQuery) for row in rows)
        return list(islice((one for one in found if user in (None, one.user)), limit))

    def purge(self, *, before: float) -> int:
        """Forget what was asked before then, with its feedback; how much that was."""
        gone = self._run("DELETE FROM journal_query WHERE id < ? RETURNING id", (_stamp(before),))
        self._run("DELETE FROM journal_feedback WHERE id < ?", (_stamp(before),))
        return len(gone)

    def give_feedback(self, feedback: Feedback) -> None:
        """Keep what somebody thinks of an answer; the last word counts."""
        if self.query(feedback.query) is None:
            raise SettingsError(f"no query {feedback.query!r} is in the log; see `log list`")
        self._keep("feedback", feedback.query, replace(feedback, at=time.time()))

    def feedback(self) -> dict[str, Feedback]:
        """What people thought, by the query."""
        return {one.query: one for one in self._all(Feedback)}

    def _keep(self, table: str, name: str, record: object) -> None:
        self._run(
            f"INSERT INTO journal_{table} (id, record) VALUES (?, ?) "  # noqa: S608 — our names
            "ON CONFLICT (id) DO UPDATE SET record = excluded.record",
            (name, msgspec.json.encode(record).decode()),
        )

    def _one(self, kind: type[Kept], name: str) -> Kept | None:
        if "\0" in name:
            return None
        rows = self._run(
            f"SELECT record FROM journal_{_NAMES[kind]} WHERE id = ?",  # noqa: S608 — our names
            (name,),
        )
        return msgspec.json.decode(rows[0][0], type=kind) if rows else None

    def _all(self, kind: type[Kept]) -> list[Kept]:
        rows = self._run(
            f"SELECT record FROM journal_{_NAMES[kind]} ORDER BY id",  # noqa: S608 — our names
            (),
        )
        return [msgspec.json.decode(row[0], type=kind) for row in rows]


def open_journal(file: Path) -> Journal:
    """The journal in a file of its own, which only its owner may read."""
    import apsw

    from pincite.files import refuse_links
    from pincite.stores.sqlite.connection import translated_errors

    with translated_errors(file):
        refuse_links(file)
        with suppress(FileExistsError):
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        connection = apsw.Connection(str(file))
        connection.set_busy_timeout(5_000)
        # A query that was logged in the second before a power cut may be lost, nothing else.
        for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "trusted_schema = OFF"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        if connection.pragma("user_version") != len(TABLES):
            for table in TABLES:
                connection.execute(table)
            connection.pragma("user_version", len(TABLES))
    lock = threading.Lock()

    def run(statement: str, values: Sequence[Any]) -> list[Row]:
        with lock, translated_errors(file):
            return list(connection.execute(statement, tuple(values)))

    return Journal(run, lambda: _close(connection, lock))


def _close(connection: apsw.Connection, lock: threading.Lock) -> None:
    with lock:
        connection.close()


def new_id(now: float) -> str:
    """An id whose order is that of time."""
    return _stamp(now) + secrets.token_hex(4)


def _stamp(seconds: float) -> str:
    return f"{int(seconds * 1000):012x}"


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
