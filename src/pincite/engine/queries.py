"""The log of queries: whichever door a question comes through, it is noted in the journal."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, Any

from pincite.errors import IndexMissing, PinciteError

if TYPE_CHECKING:
    from pincite.engine.homes import Home
    from pincite.records import Outcome, SearchResults
    from pincite.records.journal import LoggedQuery, LogMode
    from pincite.stores.journal import Journal

_log = logging.getLogger(__name__)
_MOST_CHUNKS = 100  # whose ids are kept of one query


@dataclass(frozen=True)
class Caller:
    """Who asks, as far as the door knows."""

    door: str = "library"
    user: str = ""
    agent: str = ""


_NOBODY_SAID = Caller()
CALLER: ContextVar[Caller] = ContextVar("pincite_caller", default=_NOBODY_SAID)
UNLOGGED = Caller(door="eval")  # questions that nobody asks in earnest


class QueryLog:
    """Notes what is asked of one library. What cannot be noted is answered all the same."""

    def __init__(self, home: Home, library: str, mode: LogMode) -> None:
        self.mode = mode
        self._home = home
        self._library = library
        self._opening = Lock()
        self._journal: Journal | None = None

    def journal(self) -> Journal:
        """The journal, opened once."""
        with self._opening:
            if self._journal is None:
                self._journal = self._home.journal()
            return self._journal

    @contextmanager
    def noting(self, verb: str, question: str, profile: str = "") -> Iterator[Noted]:
        """Note a query when the block ends, with its error if it fails."""
        caller = CALLER.get()
        if self.mode == "off" or caller is UNLOGGED:
            yield Noted(None)
            return
        from pincite.records.journal import LoggedQuery
        from pincite.stores.journal import new_id

        now = time.time()
        noted = Noted(
            LoggedQuery(
                new_id(now),
                now,
                verb,
                self._library,
                door=caller.door,
                user=caller.user,
                agent=caller.agent,
                question=question if self.mode == "full" else "",
                profile=profile,
            )
        )
        try:
            yield noted
        except PinciteError as error:
            noted.fill(outcome="error", error=type(error).__name__)
            raise
        finally:
            self._keep(noted.query)

    def _keep(self, query: LoggedQuery | None) -> None:
        if query is None:
            return
        try:
            self.journal().log(query)
        except IndexMissing:
            return  # there is nothing yet to ask, nor a place for the log
        except (PinciteError, OSError) as error:
            self.mode = "off"
            _log.warning("queries are not logged from now on: %s", error)

    def close(self) -> None:
        """Give the journal back."""
        with self._opening:
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
        made = self.fill(
            chunk_ids=tuple(one.chunk.id for one in found.results[:_MOST_CHUNKS]),
            model=model,
            retrieval_seconds=sum(found.seconds.values()),
            tokens=sum(one.chunk.tokens for one in found.results),
            outcome=found.reason or "results",
        )
        return replace(found, query_id=made)

    def told(self, told: Outcome, model: str, retrieval: Mapping[str, float]) -> Outcome:
        """The answer with the query's id."""
        cited = (
            told.nearest
            if told.outcome == "abstention"
            else [citation for claim in told.claims for citation in claim.citations]
        )
        searched = sum(retrieval.values())
        made = self.fill(
            chunk_ids=tuple(dict.fromkeys(one.chunk_id for one in cited))[:_MOST_CHUNKS],
            model=model,
            retrieval_seconds=searched,
            generation_seconds=sum(told.seconds.values()) - searched,
            outcome=told.reason if told.outcome == "abstention" else "answer",
        )
        return replace(told, query_id=made)
