"""One library, asked: what a search needs beside the store, and what is remembered of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from pincite.engine.models import Embedders
from pincite.engine.remembering import LONGEST, Asked, Memory
from pincite.engine.stopwatch import Stopwatch
from pincite.engine.understanding import aids_for
from pincite.ports import QuestionEmbedder, Reranker, Store
from pincite.records import Filters, LibraryHeader, Mode, SearchResults
from pincite.retrieve.flow import search
from pincite.retrieve.understand.flow import Aids
from pincite.settings import SearchSettings

_MOST_REMEMBERED = 50  # results of a question


@dataclass(frozen=True)
class Searching:
    """Asks the store of one library. Threads may share it."""

    folder: Path | None  # where a glossary may be
    embedders: Embedders
    memory: Memory = field(default_factory=Memory)

    def search(  # noqa: PLR0913 — what is asked, of what, and how
        self,
        question: str,
        store: Store,
        header: LibraryHeader,
        *,
        mode: Mode,
        filters: Filters,
        settings: SearchSettings,
        watch: Stopwatch,
    ) -> SearchResults:
        """What is found, or what was found when the same was asked of the same index before."""
        aids = aids_for(self.folder, settings, self.embedders)
        today = aids.today if settings.date_words else None
        asked = Asked(question, mode, filters, settings, aids.glossary, today, store.version())
        found = self.memory.results.get(asked)
        if found is None:
            found = self._search(asked, aids, store, header, watch)
            if _is_worth_remembering(asked, found) and store.version() == asked.version:
                # Else it may be of another state than it would be remembered for.
                self.memory.results.put(asked, found)
        return found

    def _search(
        self, asked: Asked, aids: Aids, store: Store, header: LibraryHeader, watch: Stopwatch
    ) -> SearchResults:
        return search(
            asked.question,
            store,
            self._embedder(asked, header),
            mode=asked.mode,
            filters=asked.filters,
            settings=asked.settings,
            aids=aids,
            reranker=self._reranker(asked.settings, header),
            lap=watch.lap,
            clock=perf_counter,
        )

    def _embedder(self, asked: Asked, header: LibraryHeader) -> QuestionEmbedder | None:
        if asked.mode == "words" or not asked.question.strip():
            return None
        return self.memory.embedder(self.embedders.of(header))

    def _reranker(self, settings: SearchSettings, header: LibraryHeader) -> Reranker | None:
        if settings.rerank is None:
            return None
        return self.embedders.reranker(settings.rerank, header, seconds=settings.rerank_seconds)


def _is_worth_remembering(asked: Asked, found: SearchResults) -> bool:
    """What failed once may go well another time, and long lists are not asked for twice."""
    is_short = len(asked.question) <= LONGEST
    return is_short and not found.notices and asked.settings.top_k <= _MOST_REMEMBERED
