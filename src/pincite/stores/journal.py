"""The journal: keys, jobs, the log of queries and feedback, as plain tables.

One small SQLite file beside an index, or tables of a team's database, with the same statements.
Nothing of it belongs to the index: it can be thrown away, and then keys have to be made again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pincite.errors import LibraryBusy, SettingsError, StoreDamaged, StoreTooNew
from pincite.records.conditions import LEVELS
from pincite.records.journal import Feedback, Job, Key, LoggedQuery, SavedAnswer

if TYPE_CHECKING:
    import apsw

Row = Sequence[Any]
Run = Callable[[str, Sequence[Any]], list[Row]]
"""A statement with `?` for its values → its rows, in a transaction of its own."""
Kept = TypeVar("Kept", Key, Job, LoggedQuery, Feedback, SavedAnswer)

MOST_QUERIES = 50_000  # the oldest ones go
_PAGE = 1_000  # rows
_LONGEST_NAME = 100  # characters
_TABLES = tuple(
    f"CREATE TABLE journal_{name} (id TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT"
    for name in ("key", "job", "query", "feedback", "answer")
)
_FIRST = 4  # tables that a journal has at least; the others came later
_VERSION = 1
_WAIT_MS = 1_500  # for another process that writes
_SECRET = re.compile(r"pincite_([0-9a-f]{16})_[A-Za-z0-9_-]{43}")
_LAST = "g"  # after every id
_MEND = "remove it: then the log begins anew, and API keys have to be made again"


class Journal:
    """Threads may share it."""

    def __init__(
        self,
        run: Run,
        close: Callable[[], None] = lambda: None,
        *,
        shrink: Callable[[], None] = lambda: None,
    ) -> None:
        self._run = run
        self._shrink = shrink
        self.close = close
        # Before queries are read: whether all are logged within some seconds.
        self.settle: Callable[..., bool] = lambda seconds=0.0: True

    def add_key(self, key: Key) -> tuple[Key, str]:
        """Keep a key of these rights; its secret is given once and kept nowhere."""
        import secrets

        name = key.name
        if not (name.strip() and name.isprintable() and len(name) <= _LONGEST_NAME):
            raise SettingsError(f"the name of a key has 1 to {_LONGEST_NAME} printable characters")
        if key.clearance not in ("", *LEVELS):
            raise SettingsError(f"a clearance is one of: {', '.join(LEVELS)}")
        now = time.time()
        if any(one.name == name and one.is_valid(now) for one in self.keys()):
            raise SettingsError(f"there is a key {name!r} already: revoke it, or take another name")
        made = replace(key, id=secrets.token_hex(8), made_at=now)
        secret = f"pincite_{made.id}_{secrets.token_urlsafe(32)}"
        self._keep("key", made.id, made, hash=_hash(secret))
        return made, secret

    def key_of(self, secret: str) -> Key | None:
        """The key whose secret this is; None where there is none, or it is no longer valid."""
        import hmac

        well_formed = _SECRET.fullmatch(secret)
        if not well_formed:
            return None
        rows = self._run("SELECT record FROM journal_key WHERE id = ?", (well_formed[1],))
        # Random and long: a plain hash of it cannot be guessed.
        if not rows or not hmac.compare_digest(_hash_in(rows[0][0]), _hash(secret)):
            return None
        key = _read(rows[0][0], Key)
        return key if key.is_valid(time.time()) else None

    def signer(self, key_id: str) -> tuple[Key, bytes] | None:
        """A key that is valid, and what links made for it are signed with; it ends with the key."""
        key = self._one("key", key_id, Key)
        if key is None or not key.is_valid(time.time()):
            return None
        (stored,) = self._run("SELECT record FROM journal_key WHERE id = ?", (key_id,))
        return key, f"link {_hash_in(stored[0])}".encode()

    def keys(self) -> list[Key]:
        """Every key that was made, the newest last."""
        return sorted(self._all("key", Key), key=lambda one: one.made_at)

    def has_keys(self) -> bool:
        """Whether any key was ever made: from then on every caller needs one."""
        return bool(self._run("SELECT 1 FROM journal_key LIMIT 1", ()))

    def revoke(self, name: str) -> Key:
        """End a key, by its id or its name; SettingsError where there is none."""
        left = [one for one in self.keys() if one.revoked_at is None]
        found = [one for one in left if one.id == name] or [one for one in left if one.name == name]
        if len(found) != 1:
            ids = ", ".join(one.id for one in found)
            many = f"several keys are called {name!r}: name one by its id ({ids})"
            raise SettingsError(
                many if found else f"there is no key {name!r}; see `pincite keys list`"
            )
        ended = replace(found[0], revoked_at=time.time())
        (stored,) = self._run("SELECT record FROM journal_key WHERE id = ?", (ended.id,))
        self._keep("key", ended.id, ended, hash=_hash_in(stored[0]))
        return ended

    def save_job(self, job: Job) -> Job:
        """Keep a job as it is now."""
        saved = replace(job, changed_at=time.time())
        self._keep("job", saved.id, saved)
        return saved

    def job(self, job_id: str) -> Job | None:
        """The job of that id."""
        return self._one("job", job_id, Job)

    def jobs(self, *, left: bool = False) -> list[Job]:
        """Every job, by its id; or those alone that are left to do."""
        if not left:
            return self._all("job", Job)
        # A few of many, asked for every other second: in the text, as every database can.
        rows = self._run(
            "SELECT record FROM journal_job WHERE record LIKE ? OR record LIKE ? ORDER BY id",
            ('%"state": "waiting"%', '%"state": "running"%'),
        )
        return [_read(row[0], Job) for row in rows]

    def forget_jobs(self, *, before: float) -> None:
        """Forget jobs that were over before then."""
        old = (one for one in self.jobs() if one.changed_at < before)
        self._delete("job", [one.id for one in old if one.is_over])

    def log(self, *queries: LoggedQuery) -> None:
        """Keep queries; now and then, forget those that are too old to be kept."""
        marks = ", ".join(["(?, ?)"] * len(queries))
        self._run(
            f"INSERT INTO journal_query (id, record) VALUES {marks} ON CONFLICT DO NOTHING",  # noqa: S608 — our names
            [value for one in queries for value in (one.id, _text(one))],
        )
        if any(one.id.endswith("00") for one in queries):
            oldest = self._run(
                "SELECT id FROM journal_query ORDER BY id DESC LIMIT 1 OFFSET ?",
                (MOST_QUERIES - 1,),
            )
            if oldest:
                self._run("DELETE FROM journal_query WHERE id < ?", oldest[0])
                self._forget_feedback()

    def query(self, query_id: str) -> LoggedQuery | None:
        """The query of that id."""
        self.settle()
        return self._one("query", query_id, LoggedQuery)

    def queries(
        self,
        *,
        since: float = 0.0,
        before: float | None = None,
        limit: int | None = None,
        user: str | None = None,
        key: str | None = None,
        library: str | None = None,
    ) -> list[LoggedQuery]:
        """What was asked then, by that user or with that key, of that library, the newest first."""
        self.settle()
        found: list[LoggedQuery] = []
        end = _LAST if before is None else _stamp(before)
        while limit is None or len(found) < limit:
            rows = self._run(
                "SELECT record, id FROM journal_query WHERE id >= ? AND id < ? "
                "ORDER BY id DESC LIMIT ?",
                (_stamp(since), end, _PAGE),
            )
            page = [_read(row[0], LoggedQuery) for row in rows]
            found += (
                one
                for one in page
                if user in (None, one.user)
                and key in (None, one.key)
                and library in (None, one.library)
            )
            if len(rows) < _PAGE:
                break
            end = rows[-1][1]
        return found[:limit]

    def purge(self, queries: Sequence[LoggedQuery]) -> None:
        """Forget these queries with their feedback, also in the file."""
        self._delete("query", [one.id for one in queries])
        self._forget_feedback()
        self._shrink()

    def give_feedback(self, feedback: Feedback) -> None:
        """Keep what somebody thinks of an answer; the last word counts."""
        if self.query(feedback.query) is None:
            raise SettingsError(f"no query {feedback.query!r} is in the log; see `log list`")
        said = replace(feedback, at=time.time())
        self._keep("feedback", said.query, said)

    def feedback(self) -> dict[str, Feedback]:
        """What people thought, by the query."""
        return {one.query: one for one in self._all("feedback", Feedback)}

    def save_answer(self, answer: SavedAnswer) -> None:
        """Keep an answer."""
        self._keep("answer", answer.id, answer)

    def update_answer(self, answer: SavedAnswer) -> None:
        """Note an answer as it is now; one that was forgotten meanwhile does not come back."""
        self._run("UPDATE journal_answer SET record = ? WHERE id = ?", (_text(answer), answer.id))

    def saved_answers(
        self, *, library: str | None = None, user: str | None = None
    ) -> list[SavedAnswer]:
        """The answers that were saved, of that library and by that user, the newest last."""
        every = self._all("answer", SavedAnswer)
        return [one for one in every if library in (None, one.library) and user in (None, one.user)]

    def forget_answers(self, ids: Sequence[str]) -> None:
        """Forget saved answers, also in the file."""
        self._delete("answer", ids)
        self._shrink()

    def _forget_feedback(self) -> None:
        self._run("DELETE FROM journal_feedback WHERE id NOT IN (SELECT id FROM journal_query)", ())

    def _delete(self, table: str, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), _PAGE):
            some = ids[start : start + _PAGE]
            marks = ", ".join("?" * len(some))
            self._run(f"DELETE FROM journal_{table} WHERE id IN ({marks})", some)  # noqa: S608 — our names

    def _keep(
        self, table: str, name: str, record: Key | Job | Feedback | SavedAnswer, **more: str
    ) -> None:
        self._run(
            f"INSERT INTO journal_{table} (id, record) VALUES (?, ?) "  # noqa: S608 — our names
            "ON CONFLICT (id) DO UPDATE SET record = excluded.record",
            (name, _text(record, **more)),
        )

    def _one(self, table: str, name: str, kind: type[Kept]) -> Kept | None:
        if not (name.isascii() and name.isprintable()):  # no id of ours, and no text for a database
            return None
        rows = self._run(f"SELECT record FROM journal_{table} WHERE id = ?", (name,))  # noqa: S608 — our names
        return _read(rows[0][0], kind) if rows else None

    def _all(self, table: str, kind: type[Kept]) -> list[Kept]:
        rows = self._run(f"SELECT record FROM journal_{table} ORDER BY id", ())  # noqa: S608 — our names
        return [_read(row[0], kind) for row in rows]


def open_journal(file: Path) -> Journal:
    """The journal in a file of its own, which only its owner may read."""
    import apsw

    from pincite.files import refuse_links
    from pincite.stores.sqlite.connection import check_sqlite, translated_errors

    check_sqlite(apsw.sqlite_lib_version())
    with translated_errors(file, mend=_MEND):
        for suffix in ("", "-wal", "-shm", "-journal"):
            refuse_links(file.with_name(file.name + suffix))
        with suppress(FileExistsError):
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW
        connection = apsw.Connection(str(file), flags=flags)
        try:
            _prepare(connection, file)
        except BaseException:
            connection.close()
            raise
    lock = threading.Lock()

    def run(statement: str, values: Sequence[Any]) -> list[Row]:
        with lock, translated_errors(file, mend=_MEND):
            return list(connection.execute(statement, tuple(values)))

    def shrink() -> None:
        """What was deleted would stay in free pages, and in the write-ahead log."""
        is_busy = True
        with suppress(LibraryBusy):
            run("VACUUM", ())
            ((is_busy, _, _),) = run("PRAGMA wal_checkpoint(TRUNCATE)", ())
        if is_busy:
            raise LibraryBusy(
                f"it is forgotten, but another program reads {file} just now, where its bytes may "
                "still stand; the next `pincite log purge` clears them"
            )

    def close() -> None:
        with lock:
            connection.close()

    return Journal(run, close, shrink=shrink)


def _prepare(connection: apsw.Connection, file: Path) -> None:
    """Make the tables where there are none; refuse others than ours."""
    from pincite.stores.sqlite.connection import transaction

    connection.set_busy_timeout(_WAIT_MS)
    # A query that was logged in the second before a power cut may be lost, nothing else.
    chosen = "journal_mode = WAL", "synchronous = NORMAL", "trusted_schema = OFF"
    for pragma in (*chosen, "secure_delete = ON"):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    if connection.pragma("user_version") > _VERSION:
        raise StoreTooNew(f"{file} was written by a newer pincite; upgrade pincite")
    if _objects(connection) in (set(), set(_TABLES[:_FIRST])):
        with transaction(connection):
            # Another process may have made them just now.
            for table in set(_TABLES) - _objects(connection):
                connection.execute(table)
            connection.pragma("user_version", _VERSION)
    if _objects(connection) != set(_TABLES):
        raise StoreDamaged(f"{file} is not as pincite made it; {_MEND}")


def _objects(connection: apsw.Connection) -> set[str]:
    """A view in the place of a table may never come to an end, a trigger change what is kept."""
    rows = connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
    return {str(row[0]) for row in rows}


# Randomness takes longer than all else that is done to log a query, so each process draws once.
_NUMBERS = count(int.from_bytes(os.urandom(4)))


def new_id(now: float) -> str:
    """An id whose order is that of time."""
    return f"{_stamp(now)}{next(_NUMBERS) & 0xFFFFFFFF:08x}"


def _stamp(seconds: float) -> str:
    return f"{max(int(seconds * 1000), 0):012x}"


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _hash_in(record: str) -> str:
    return str(json.loads(record).get("hash", ""))


def _text(record: Key | Job | LoggedQuery | Feedback | SavedAnswer, **more: str) -> str:
    """As JSON; half a character, which no database takes, becomes a question mark."""
    fields = {name: getattr(record, name) for name in record.__slots__} | more
    return json.dumps(fields, ensure_ascii=False, default=str).encode(errors="replace").decode()


def _read(record: str, kind: type[Kept]) -> Kept:
    import msgspec

    try:
        return msgspec.convert(json.loads(record), kind)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise StoreDamaged(f"the journal holds a value that cannot be read ({error})") from error
