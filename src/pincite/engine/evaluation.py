"""Evaluating a library: ask stored questions, keep the runs, compare them, draft new questions."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pincite.engine.eval_wishes import EvalWishes
from pincite.engine.homes import FolderHome
from pincite.engine.queries import CALLER, UNLOGGED
from pincite.errors import ModelError, SettingsError
from pincite.ports import Store, Writer
from pincite.records import (
    Case,
    Chunk,
    Document,
    DocumentId,
    EvalRun,
    EvalSetup,
    ExpectedPlace,
    Outcome,
    Progress,
    SearchResults,
    filters_of,
)
from pincite.settings import RUNS_FOLDER, policy_named

if TYPE_CHECKING:
    from pincite.answer.flow import Readers
    from pincite.engine.library import Library
    from pincite.engine.models import Embedders
    from pincite.engine.searchable import Searchable
    from pincite.stores.runs import RunFolder

VARIANTS_FOLDER = "variants"
_GIT_PATIENCE = 5  # seconds
LOGGED_KIND = "log"  # of questions that were really asked
_ANSWERING = ("gather", "write", "decide")  # stages of an answer, after those of its search
_WARM_UP = "Which documents are there, and what do they say?"  # nobody's question


class Evaluation:
    """The eval runs of one library."""

    def __init__(self, library: Library, store: Store, embedders: Embedders, files: Path) -> None:
        self._library = library
        self._store = store
        self._embedders = embedders
        self._files = files

    @property
    def runs(self) -> RunFolder:
        """The runs that are kept with the library."""
        from pincite.stores.runs import RunFolder

        return RunFolder(self._files / RUNS_FOLDER)

    def run(
        self,
        cases: Sequence[Case],
        wishes: EvalWishes,
        *,
        passwords: tuple[str, ...] = (),
        on_indexing: Callable[[Progress], None] = lambda progress: None,
        on_progress: Callable[[int, int], None] = lambda done, of: None,
    ) -> EvalRun:
        """Ask every question, judge what comes back, and keep the run.

        The passwords open encrypted files where another chunk policy is tried.
        """
        if not cases:
            raise SettingsError("there is no question to ask; drafts count only with --drafts")
        wishes.check()
        readers = self._readers(wishes)  # says what is missing before anything is done
        self.runs.prepare()
        with self._cut_as_wished(wishes.policy, passwords, on_indexing) as library:
            run = asked_all(library, cases, wishes, on_progress, readers=readers)
        self.runs.save(run)
        return run

    def logged(self, *, since: float = 0.0) -> list[Case]:
        """What was asked of this library since then, each question once, as cases without labels.

        The oldest first. Only of a full log is it known what was asked. What could not be asked
        under its filters is left out.
        """
        cases: dict[str, Case] = {}
        for query in self._library.queries(since=since)[::-1]:
            is_refused = query.error in ("FilterError", "SettingsError")
            if query.is_question and not is_refused:
                filters = filters_of(query.filters)
                case = Case(question=query.question, kind=LOGGED_KIND, filters=filters)
                cases.setdefault(case.id, case)
        return list(cases.values())

    def _readers(self, wishes: EvalWishes) -> Readers | None:
        from pincite.answer.flow import Readers

        if wishes.profile is None:
            return None
        return Readers(
            writer=_Failing(self._embedders.writer(wishes.profile)),
            judge=self._embedders.judge(wishes.judge, wishes.profile),
        )

    def out_of_reach(self, cases: Sequence[Case]) -> list[str]:
        """What cases expect and no search can find: gone since, or never there; in words."""
        held = {document.path: document.id for document in self._store.documents()}
        expected = {path for case in cases for path in case.documents}
        places = {place for case in cases for place in case.places}
        chunks = {chunk for case in cases for chunk in case.chunks}
        expected.update(place.document for place in places)
        return [
            *sorted(expected - held.keys()),
            *sorted(self._never_met({one for one in places if one.document in held}, held)),
            *sorted(f"chunk {one}" for one in chunks if not self._store.load_chunks([one])),
        ]

    def _never_met(
        self, places: Set[ExpectedPlace], held: Mapping[str, DocumentId]
    ) -> Iterator[str]:
        """The places that no chunk of their documents has anything of."""
        from pincite.evals.judge import overlaps
        from pincite.evals.wording import where

        for path in {place.document for place in places}:
            ids = self._store.chunk_ids(held[path])
            locators = [chunk.locator for _, chunk in self._store.load_chunks(ids)]
            for place in (one for one in places if one.document == path):
                if not any(overlaps(place, path, locator) for locator in locators):
                    yield f"{path}, {where(place)}"

    def draft(
        self,
        *,
        most: int,
        seed: int = 0,
        model: str | None = None,
        on_trouble: Callable[[ModelError], None] = lambda trouble: None,
    ) -> list[Case]:
        """Questions drafted from the documents themselves, for someone to confirm."""
        from pincite.evals.generate import draft_cases

        generator = None if model is None else self._embedders.generator(model)
        return draft_cases(
            self._documents(), most=most, seed=seed, generator=generator, on_trouble=on_trouble
        )

    def _documents(self) -> Iterator[tuple[Document, list[Chunk]]]:
        for entry in self._store.documents():
            document = self._store.load_document(entry.id)
            chunks = self._store.load_chunks(self._store.chunk_ids(entry.id))
            if document is not None:  # else it was removed by another process just now
                yield document, [chunk for _, chunk in chunks]

    @contextmanager
    def _cut_as_wished(
        self,
        policy: str | None,
        passwords: tuple[str, ...],
        on_indexing: Callable[[Progress], None],
    ) -> Iterator[Library]:
        """The library, or the same files cut by another policy in an index of their own."""
        from pincite.engine.library import Library

        header = self._library.stats().header
        if policy in (None, header.policy):
            yield self._library
            return
        self._embedders.require(header)  # below, what it names is given as the user's own words
        folder = self._files / VARIANTS_FOLDER / policy_named(str(policy)).name
        home = FolderHome(self._library.root, folder)
        with Library(self._library.root, self._embedders, home) as variant:
            variant.index(
                name=header.name,
                policy=policy,
                model=header.model.name,
                max_file_bytes=header.max_file_bytes,
                options=header.options,
                summaries=header.summaries,
                passwords=passwords,
                on_progress=on_indexing,
            )
            _refuse_other_files(self._library, variant)
            yield variant


def asked_all(
    of: Searchable,
    cases: Sequence[Case],
    wishes: EvalWishes,
    on_progress: Callable[[int, int], None],
    *,
    readers: Readers | None = None,
) -> EvalRun:
    """Ask every question and judge what comes back; the readers are those of the answers."""
    from pincite.evals.flow import evaluate

    made_at = datetime.now(UTC)
    blank = EvalRun(
        id=f"{made_at:%Y%m%d-%H%M%S-%f}",
        label=wishes.label,
        made_at=made_at.isoformat(timespec="seconds"),
        cases=wishes.cases_name,
        setup=_setup(of, wishes, readers),
    )

    def ask(case: Case) -> SearchResults:
        of.forget_questions()
        return of.search(
            case.question, mode=wishes.mode, filters=case.filters, settings=wishes.settings
        )

    def tell(case: Case) -> Outcome:
        told = of.ask(
            case.question,
            filters=case.filters,
            settings=wishes.settings,
            asking=wishes.asking,
            readers=readers,
        )
        if readers is not None and isinstance(readers.writer, _Failing):
            readers.writer.refuse_failure()
        answering = {one: told.seconds[one] for one in _ANSWERING if one in told.seconds}
        return replace(told, seconds=answering)

    before = CALLER.set(UNLOGGED)
    try:
        # Loads the model, whose time is not the search's, and shows that it works.
        of.search(_WARM_UP, mode=wishes.mode, settings=wishes.settings)
        return evaluate(
            cases, ask, blank, tell=tell if wishes.ask else None, on_progress=on_progress
        )
    finally:
        CALLER.reset(before)


class _Failing:
    """A language model whose failure is told, where an answer would do without it.

    Else the documents' own words would be taken for the model's.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._failure: ModelError | None = None

    @property
    def name(self) -> str:
        return self._writer.name

    def generate(self, instruction: str, text: str, *, most_tokens: int) -> str:
        try:
            return self._writer.generate(instruction, text, most_tokens=most_tokens)
        except ModelError as error:
            self._failure = error
            raise

    def stream(self, instruction: str, text: str, *, most_tokens: int) -> Iterator[str]:
        try:
            yield from self._writer.stream(instruction, text, most_tokens=most_tokens)
        except ModelError as error:
            self._failure = error
            raise

    def refuse_failure(self) -> None:
        """Raise what went wrong since the last time."""
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure


def _refuse_other_files(library: Library, variant: Library) -> None:
    """Only of the same files does a difference come from how they are cut."""
    held, cut = (
        {(one.path, one.checksum) for one in each.documents()} for each in (library, variant)
    )
    if held != cut:
        paths = sorted({path for path, _ in held ^ cut})
        some = ", ".join(paths[:3])
        raise SettingsError(
            f"the index and the folder do not agree on {len(paths)} files ({some}); run "
            "`pincite index update`, and give --passwords where files are encrypted"
        )


def _setup(of: Searchable, wishes: EvalWishes, readers: Readers | None) -> EvalSetup:
    from pincite import __version__

    stats = of.stats()
    writer = readers.writer.name if readers and readers.writer else ""
    asking = {"writer": writer, "judge": wishes.judge, **asdict(wishes.asking)}
    return EvalSetup(
        mode=wishes.mode,
        settings=asdict(wishes.settings),
        policy=stats.header.policy,
        model=stats.header.model.name,
        fingerprint=stats.header.model.fingerprint,
        index=f"{stats.header.recipe} of {stats.store.last_updated}",
        documents=stats.store.documents,
        chunks=stats.store.chunks,
        version=__version__,
        commit=_commit(of.folder) if of.folder else "",
        abstain_below=wishes.abstain_below,
        asking=asking if wishes.ask else None,
    )


def _commit(folder: Path) -> str:
    """The commit of the repository that the folder is in; empty where there is none, or no Git."""
    git = shutil.which("git")
    if git is None:
        return ""
    try:
        said = subprocess.run(  # noqa: S603 — a fixed command, nothing of the user's but the folder
            [git, "-C", str(folder), "rev-parse", "HEAD"],
            capture_output=True,
            text=True,
            timeout=_GIT_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return said.stdout.strip() if said.returncode == 0 else ""
