"""One library, asked: what a search needs beside the store, its time, and what is remembered."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

from pincite.engine.models import Embedders
from pincite.errors import FileUnreadable, FilterError, SearchCancelled, did_you_mean
from pincite.models.catalog import is_service
from pincite.ports import Store
from pincite.recent import Recent
from pincite.records import Filters, LibraryHeader, Mode, SearchResults, clauses_of
from pincite.retrieve.flow import search
from pincite.retrieve.understand.flow import Aids
from pincite.retrieve.understand.glossary import NO_GLOSSARY, Glossary, parse_glossary
from pincite.settings import DEFAULT_MAX_FILE_BYTES, GLOSSARY_FILE, SearchSettings, SourceSettings
from pincite.sources import Folder
from pincite.text.words import asks_for_something

if TYPE_CHECKING:
    from pincite.vectors import Vector

_VECTORS = 256
_RESULTS = 64
_MOST_REMEMBERED = 50  # results of a question
_LONGEST = 2_000  # characters of a question that is remembered

_Result = TypeVar("_Result")
_LOOKED = 0.05  # seconds between two looks at whether something is still wanted


def _called(call: Callable[[], _Result]) -> _Result:
    return call()


class Stopwatch:
    """Started when made; each lap is added to what its stage took before."""

    def __init__(self, cancelled: Callable[[], bool] = lambda: False) -> None:
        self.seconds: dict[str, float] = {}
        self._since = perf_counter()
        self._cancelled = cancelled

    def lap(self, stage: str) -> None:
        """The stage ends now; SearchCancelled where nobody wants the next one."""
        now = perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._since
        self._since = now
        self._refuse_unwanted(f"after its stage {stage!r}")

    def wait(self, call: Callable[[], _Result]) -> _Result:
        """What a service answers; SearchCancelled as soon as nobody wants it any more.

        The request is left alone: what it brings, or that it fails, nobody hears.
        """
        from concurrent.futures import wait

        from pincite.models.service import called_apart

        answered = called_apart(call)
        while not wait([answered], timeout=_LOOKED).done:
            self._refuse_unwanted("while it waited for a service")
        return answered.result()

    def _refuse_unwanted(self, when: str) -> None:
        try:
            cancelled = self._cancelled()
        except Exception as error:
            # Inside a store it would be taken for damage.
            raise SearchCancelled(
                f"whether it is cancelled could not be asked: {error!r}"
            ) from error
        if cancelled:
            raise SearchCancelled(f"the search was cancelled {when}")


@dataclass(frozen=True)
class Searching:
    """Asks the store of one library, and remembers what was found. Threads may share it."""

    folder: Path | None  # where a glossary may be
    embedders: Embedders
    # By all that they depend on. A language model may say something else each time: what it said
    # first is remembered.
    _results: Recent[tuple[Hashable, ...], SearchResults] = field(
        default_factory=lambda: Recent(_RESULTS)
    )
    _vectors: Recent[tuple[str, str], Vector] = field(default_factory=lambda: Recent(_VECTORS))

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
        refuse_unknown_types(store, filters)
        access, version = self.embedders, store.version()
        glossary = _glossary(self.folder) if self.folder and settings.glossary else NO_GLOSSARY
        today = datetime.now().astimezone().date() if settings.date_words else None
        asked = (question, mode, filters, settings, glossary, today, version)
        found = self._results.get(asked)
        if found is not None:
            return found
        aids = Aids(glossary=glossary, today=today)
        if settings.expand:
            generator = access.generator(settings.expand, somebody_waits=True)
            aids = replace(aids, generator=generator)
        embedder = reranker = None
        # A service may take its time, also to say how large its vectors are.
        wait = watch.wait if is_service(header.model.name) else _called
        if mode != "words" and asks_for_something(question):
            embedder = wait(lambda: access.of(header))

        def embed(text: str) -> Vector:
            key = (header.model.fingerprint, text)
            known = self._vectors.get(key)
            if known is None:
                known = wait(lambda: access.of(header).embed_question(text))
                if len(text) <= _LONGEST:
                    self._vectors.put(key, known)
            return known

        if settings.rerank is not None:
            reranker = access.reranker(settings.rerank, header, seconds=settings.rerank_seconds)
        found = search(
            question,
            store,
            embedder,
            embed=embed,
            mode=mode,
            filters=filters,
            settings=settings,
            aids=aids,
            reranker=reranker,
            lap=watch.lap,
            clock=perf_counter,
        )
        found = replace(found, index_version=header.recipe)
        # What failed once may go well another time, and long lists are not asked for twice.
        is_short = len(question) <= _LONGEST and settings.top_k <= _MOST_REMEMBERED
        if is_short and not found.notices and store.version() == version:
            # Else it may be of another state than it would be remembered for.
            self._results.put(asked, found)
        return found


def _glossary(root: Path) -> Glossary:
    """The library's own; one that cannot be read is told, and the search goes on without it."""
    if not (root / GLOSSARY_FILE).is_file():
        return NO_GLOSSARY
    folder = Folder(root, SourceSettings(max_file_bytes=DEFAULT_MAX_FILE_BYTES))
    try:
        data = folder.read(GLOSSARY_FILE)
    except FileUnreadable as error:
        return Glossary(notes=(f"{GLOSSARY_FILE} {error}",))
    return parse_glossary(data.decode("utf-8", "replace"), GLOSSARY_FILE)


def refuse_unknown_types(store: Store, filters: Filters) -> None:
    """A type that no file of the library has, and none could have, is a slip of the pen."""
    clauses = [one for one in clauses_of(filters.condition) if one.field == "type"]
    asked = {value for one in clauses for value in one.values if value}
    if not asked:
        return
    from pincite.converting.wire import is_convertible
    from pincite.reading.sniff import KINDS

    known = {suffix[1:] for kind in KINDS for suffix in kind.suffixes}
    unknown = {one for one in asked - known if not is_convertible(f"a.{one}")}
    held = {one.type for one in store.documents()} if unknown else set()
    for one in sorted(unknown - held):
        raise FilterError(
            f"unknown type {one!r}{did_you_mean(one, sorted(known | held))}; this library holds "
            f"{', '.join(sorted(held)) or 'nothing'}, and what is said in recordings is found by "
            "video and audio"
        )
