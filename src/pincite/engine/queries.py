"""The log of queries: whichever door a question comes through, it is noted in the journal."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from threading import Condition, Lock, Thread
from typing import TYPE_CHECKING, Any

from pincite.errors import (
    IndexMissing,
    LibraryClosed,
    SearchCancelled,
    SettingsError,
    StoreReadOnly,
)
from pincite.records.journal import LoggedQuery, LogMode
from pincite.settings import LOG_MODES
from pincite.stores.journal import new_id

if TYPE_CHECKING:
    from pincite.engine.homes import Home
    from pincite.records import Filters, Outcome, SearchResults
    from pincite.stores.journal import Journal

_log = logging.getLogger(__name__)
_MOST_CHUNKS = 50  # whose ids are kept of one query
_LONGEST = 1_000  # characters of a question
_LONGEST_AGENT = 100
_MOST_WAITING = 1_000  # queries; more are not logged while a database is slow
_MOST_AT_ONCE = 100  # queries in one statement
_IDLE = 0.2  # seconds without a query until the thread that writes ends
_PATIENCE = 2.0  # seconds that whoever reads the log or closes the library waits for it
_PAUSE = 60.0  # seconds without a log after it could not be written


@dataclass(frozen=True)
class Caller:
    """Who asks, as far as the door knows."""

    door: str = "library"
    user: str = ""
    key: str = ""
    agent: str = ""


CALLER: ContextVar[Caller] = ContextVar("pincite_caller", default=Caller())  # noqa: B039 — frozen
UNLOGGED = Caller(door="eval")  # questions that nobody asks in earnest


class QueryLog:
    """Notes what is asked of one library. What cannot be noted is answered all the same.

    A thread of its own writes, so that nobody waits for a database that is slow or locked.
    """

    def __init__(self, home: Home, mode: LogMode) -> None:
        if mode not in LOG_MODES:
            raise SettingsError(f"log must be one of: {', '.join(LOG_MODES)}")
        self._mode = mode
        self._home = home
        self._opening = Lock()
        self._journal: Journal | None = None
        self._waiting: list[LoggedQuery] = []
        self._changed = Condition()  # guards what waits, and the thread
        self._writer: Thread | None = None
        self._paused_until = 0.0
        self._told = ""
        self._is_closed = False

    def journal(self) -> Journal:
        """The journal, opened once; whoever reads queries in it finds all that were noted."""
        with self._opening:
            return self._opened()

    def _journal_to_write(self) -> Journal:
        with self._opening:  # not while it writes: others read in the journal meanwhile
            return self._opened()

    def _opened(self) -> Journal:
        if self._is_closed:  # nobody would close what the writer opens now
            raise LibraryClosed("this library was closed")
        if self._journal is None:
            self._journal = self._home.journal()
            self._journal.settle = self._flush
        return self._journal

    @contextmanager
    def noting(
        self, verb: str, question: str, filters: Filters, profile: str = ""
    ) -> Iterator[Noted]:
        """Note a query when the block ends, with its error if it fails."""
        caller = CALLER.get()
        if self._mode == "off" or caller is UNLOGGED:
            yield Noted(None)
            return
        now = time.time()
        library, user = self._home.known_as()
        noted = Noted(
            LoggedQuery(
                new_id(now),
                now,
                verb,
                library,
                door=caller.door,
                user=caller.user or user,
                key=caller.key,
                agent=caller.agent[:_LONGEST_AGENT],
                question=question[:_LONGEST] if self._mode == "full" else "",
                filters=_given(filters) if self._mode == "full" else {},
                profile=profile,
            )
        )
        try:
            yield noted
        except SearchCancelled:
            noted.fill(outcome="cancelled")
            raise
        except BaseException as error:
            noted.fill(outcome="error", error=type(error).__name__)
            raise
        finally:
            if noted.query is not None:
                self._put(noted.query)

    def _put(self, query: LoggedQuery) -> None:
        with self._changed:
            if len(self._waiting) == _MOST_WAITING or time.monotonic() < self._paused_until:
                return
            self._waiting.append(query)
            if self._writer is None:
                try:
                    self._writer = Thread(target=self._write, name="pincite-log")
                    self._writer.start()
                except RuntimeError:  # no more threads, or the interpreter ends
                    self._writer = None
                    self._waiting.clear()
            elif len(self._waiting) == 1:
                self._changed.notify_all()

    def _write(self) -> None:
        """Write what waits until nothing comes any more. It is not left behind at the end."""
        while True:
            with self._changed:
                if not self._waiting:
                    self._changed.wait(_IDLE)
                if not self._waiting:
                    self._writer = None
                    return
                batch = self._waiting[:_MOST_AT_ONCE]
            trouble = self._trouble_with(batch)
            with self._changed:
                if trouble is not None:
                    self._tell(trouble)
                    self._paused_until = time.monotonic() + _PAUSE
                    self._waiting.clear()
                del self._waiting[: len(batch)]
                self._changed.notify_all()

    def _trouble_with(self, batch: list[LoggedQuery]) -> Exception | None:
        try:
            self._journal_to_write().log(*batch)
        except (IndexMissing, LibraryClosed):
            return None  # there is nothing to ask, nor a place for the log
        except Exception as error:  # noqa: BLE001 — whatever it is, nobody who searches must feel it
            return None if self._is_closed else error
        return None

    def _tell(self, trouble: Exception) -> None:
        """Once for each trouble. Who reads a folder that they may not write to needs no log."""
        if str(trouble) != self._told:
            self._told = str(trouble)
            level = logging.INFO if isinstance(trouble, StoreReadOnly) else logging.WARNING
            _log.log(level, "queries are not logged for now: %s", self._told)

    def _flush(self, seconds: float = _PATIENCE) -> bool:
        """Whether all that was noted is written by then."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting, seconds)

    def close(self) -> None:
        """Give the journal back, when what was noted is written; later nothing is noted."""
        if not self._flush():
            self._tell(TimeoutError("it takes too long to write them"))
        with self._opening:
            self._is_closed = True
            if self._journal is not None:
                self._journal.close()
                self._journal = None


class Noted:
    """A query while it is answered."""

    def __init__(self, query: LoggedQuery | None) -> None:
        self.query = query

    def fill(self, **facts: Any) -> str:  # noqa: ANN401 — each as the record has it
        """Add what is known by now; gives the query's id."""
        if self.query is None:
            return ""
        self.query = replace(self.query, **facts)
        return self.query.id

    def found(self, found: SearchResults, model: str) -> SearchResults:
        """The results with the query's id."""
        if self.query is None:
            return found
        made = self.fill(
            chunk_ids=tuple(one.chunk.id for one in found.results[:_MOST_CHUNKS]),
            model=model,
            retrieval_seconds=sum(found.seconds.values()),
            tokens=sum(one.chunk.tokens for one in found.results),
            outcome=found.reason or "results",
        )
        return replace(found, query_id=made)

    def told(self, told: Outcome, retrieval: Mapping[str, float]) -> Outcome:
        """The answer with the query's id; what was found for it is noted before."""
        cited = (
            [citation for claim in told.claims for citation in claim.citations]
            if told.outcome == "answer"
            else told.nearest
        )
        searched = sum(retrieval.values())
        made = self.fill(
            chunk_ids=tuple(dict.fromkeys(one.chunk_id for one in cited))[:_MOST_CHUNKS],
            writer=told.writer if told.outcome == "answer" else "",
            retrieval_seconds=searched,
            generation_seconds=sum(told.seconds.values()) - searched,
            outcome="answer" if told.outcome == "answer" else told.reason,
        )
        return replace(told, query_id=made)


def _given(filters: Filters) -> dict[str, Any]:
    """The filters that were given, unless they are so long that they would fill the log."""
    given = {
        name: value for name in filters.__slots__ if (value := getattr(filters, name)) is not None
    }
    return given if len(str(given)) <= _LONGEST else {}
