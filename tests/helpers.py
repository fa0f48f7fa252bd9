"""Builders that tests share: small documents, vectors, stores and embedders."""

from __future__ import annotations

import atexit
import hashlib
import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import cast

import numpy as np
import psycopg

from memory_store import MemoryStore
from pincite.errors import ModelError
from pincite.models.hashing import HashingEmbedder
from pincite.ports import Lap, Store, no_lap
from pincite.records import (
    Analysis,
    Chunk,
    ChunkId,
    Document,
    EmbeddedChunk,
    EmbeddedDocument,
    Filters,
    LibraryHeader,
    Locator,
    Metadata,
    Modality,
    ModelCard,
    Ranking,
    Scope,
    Section,
    StoredWindow,
    Window,
)
from pincite.stores.postgres.embedded import EmbeddedServer
from pincite.stores.postgres.indexes import IndexSettings
from pincite.stores.postgres.store import PostgresStore
from pincite.stores.postgres.team import Team
from pincite.stores.sqlite.opening import open_for_writing
from pincite.text.lines import LineIndex
from pincite.vectors import Vector, unit
from soak import SOAK

DIMENSIONS = 8
HEADER = LibraryHeader(
    name="library",
    policy="vault",
    model=ModelCard("test", "test:1", dimensions=DIMENSIONS, token_limit=64),
    ingestion_version=1,
    max_file_bytes=1_000_000,
)
ABOUT = Metadata(author="Ada", date="2024-05-01", language="en")
OTHER_MODEL = replace(HEADER, model=replace(HEADER.model, fingerprint="test:2", dimensions=4))


def at_angle(degrees: float) -> Vector:
    """A unit vector; two of them are the nearer, the nearer their angles."""
    turned = np.radians(degrees)
    values = [float(np.cos(turned)), float(np.sin(turned)), *[0.0] * (DIMENSIONS - 2)]
    return unit(values, dimensions=DIMENSIONS)


@dataclass(frozen=True)
class Part:
    """What one chunk of a built document is like; as many windows as vectors."""

    text: str
    vectors: tuple[Vector, ...] = (at_angle(0),)
    headings: tuple[str, ...] = ()
    modality: Modality = Modality.TEXT
    analysis: Analysis = field(default_factory=Analysis)


def part(text: str, *angles: float, headings: Sequence[str] = ()) -> Part:
    """A chunk with a window at each angle."""
    return Part(text, tuple(map(at_angle, angles or (0,))), tuple(headings))


def embedded(
    path: str,
    *parts: Part | str,
    kind: str = "md",
    title: str = "Untitled",
    tags: tuple[str, ...] = (),
    about: Metadata = ABOUT,
    library: str = HEADER.name,
) -> EmbeddedDocument:
    """A document made of chunks with a blank line between them."""
    made = [one if isinstance(one, Part) else Part(one) for one in parts]
    text = "\n\n".join(one.text for one in made)
    document = Document(
        library=library,
        path=path,
        checksum=hashlib.sha256(text.encode()).hexdigest(),
        type=kind,
        title=title,
        text=text,
        sections=(Section((), 0, 0, len(text)),),
        metadata=replace(about, tags=tags),
    )
    return EmbeddedDocument(document, tuple(_chunks(document, made)))


def _chunks(document: Document, parts: Sequence[Part]) -> Iterator[EmbeddedChunk]:
    lines = LineIndex(document.text)
    start = 0
    for position, one in enumerate(parts):
        end = start + len(one.text)
        chunk = Chunk(
            document_id=document.id,
            modality=one.modality,
            position=position,
            start=start,
            end=end,
            text=one.text,
            sections=(Section(one.headings, len(one.headings), start, end),),
            locator=Locator(*lines.lines_of(start, end)),
            tokens=len(one.text.split()),
            analysis=one.analysis,
        )
        yield EmbeddedChunk(chunk, tuple(_windows(chunk, one.vectors)))
        start = end + 2


def _windows(chunk: Chunk, vectors: Sequence[Vector]) -> Iterator[StoredWindow]:
    size = max(len(chunk.text) // max(len(vectors), 1), 1)
    for number, vector in enumerate(vectors):
        start = chunk.start + number * size
        end = chunk.end if number == len(vectors) - 1 else start + size
        window = Window(start, end, f"{number} {chunk.text}")
        yield StoredWindow(start, end, window.fingerprint, vector)


def chunk_ids(document: EmbeddedDocument) -> list[ChunkId]:
    """The ids of its chunks, in their order."""
    return [one.chunk.id for one in document.chunks]


STORES: tuple[str, ...] = ("sqlite", "postgres")
COMPARED: tuple[str, ...] = ("sqlite with segments", "postgres")  # with the reference store
if SOAK:
    STORES = ("memory", "sqlite", "sqlite with segments", "postgres", "postgres with an index")
    COMPARED = ("sqlite", "sqlite with segments", "postgres")


class _WithIndexes:
    """Makes segments, or the index for vectors, before each search, as a finished run does."""

    def __init__(self, store: Store, make: Callable[[], object]) -> None:
        self._store = store
        self._make = make

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def search(
        self,
        question: str | None,
        vector: Vector | None,
        *,
        filters: Filters,
        limit: int,
        made_by: str | None = None,
        lap: Lap = no_lap,
    ) -> dict[str, Ranking]:
        self._make()
        return self._store.search(
            question, vector, filters=filters, limit=limit, made_by=made_by, lap=lap
        )


_project_numbers = itertools.count(1)


def next_project() -> str:
    """The name of a project that no other test has."""
    return f"project-{next(_project_numbers)}"


def quick_place() -> Path:
    """Where folders are quick to sync: in memory, if there is room for a database."""
    memory = Path("/dev/shm")
    has_room = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 2 << 30
    return memory if has_room else Path(tempfile.gettempdir())


@contextmanager
def server_folder() -> Iterator[Path]:
    """A folder for a server's files, which go with the block. Short: a socket's path must be."""
    with tempfile.TemporaryDirectory(
        prefix="pincite-server-", dir="/tmp", ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)


@cache
def shared_server() -> str:
    """The address of a PostgreSQL server of this process's own, which ends with it."""
    ending = ExitStack()
    server = EmbeddedServer(ending.enter_context(server_folder()))
    address = ending.enter_context(server).start()
    atexit.register(ending.close)
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")  # quicker, and nobody cuts its power
        connection.execute("SELECT pg_reload_conf()")
    return address


@cache
def shared_login(name: str, password: str = "") -> str:
    """A login of the shared server that owns nothing."""
    with psycopg.connect(shared_server(), autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{password}'")
    return name


_database_numbers = itertools.count(1)


def new_database() -> str:
    """The address of an empty database in the shared server."""
    name = f"database{next(_database_numbers)}"
    with psycopg.connect(shared_server(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return shared_server().replace("/postgres?", f"/{name}?")


@cache
def shared_team() -> Team:
    """A team in the shared server, for all tests that need one."""
    team = Team.at(new_database())
    atexit.register(team.close)
    return team


def is_exact(store: Store) -> bool:
    """Whether all vectors are compared: an index gives some of many equals, not the first."""
    return not (isinstance(store, _WithIndexes) and isinstance(store._store, PostgresStore))


def _indexed(project: PostgresStore) -> Store:
    """However few windows there are, they are looked for in an index."""
    project._index = IndexSettings(from_windows=0, rebuilt_after=0)

    def make_once() -> None:
        # One space serves all tests, and its index follows what is added to it.
        with project._reading() as (_, state):
            view = state.view
        if view is not None and view.index is None:
            project.make_index()

    return cast(Store, _WithIndexes(project, make_once))


@contextmanager
def open_test_store(kind: str, folder: Path) -> Iterator[Store]:
    """An empty store of the kind, not yet begun."""
    if kind == "memory":
        yield MemoryStore()
        return
    if kind.startswith("postgres"):
        scope = Scope("ada", next_project())
        shared_team().create(scope)
        with closing(shared_team().store(scope)) as project:
            yield project if kind == "postgres" else _indexed(project)
        return
    with closing(open_for_writing(folder)) as store:
        if kind == "sqlite":
            yield store
        else:
            yield cast(Store, _WithIndexes(store, store._update_segments))


def fill(store: Store, *documents: EmbeddedDocument) -> None:
    """Begin the store and put the documents in."""
    store.begin(HEADER)
    for document in documents:
        store.replace_document(document)


def found_by_words(
    store: Store, question: str, filters: Filters = Filters(), limit: int = 100
) -> list[ChunkId]:
    """The chunks a question finds by its words, best first."""
    ranking = store.search(question, None, filters=filters, limit=limit)["words"]
    return [ranked.chunk_id for ranked in ranking]


def found_by_vector(
    store: Store, vector: Vector, filters: Filters = Filters(), limit: int = 100
) -> list[ChunkId]:
    """The chunks that stand nearest, best first."""
    ranking = store.search(None, vector, filters=filters, limit=limit)["vector"]
    return [ranked.chunk_id for ranked in ranking]


class CountingEmbedder:
    """A hashing embedder that remembers what it embedded, and fails where it is told to."""

    parallel = 1
    passage_overhead = 0

    def __init__(
        self, *, batch: int = 64, fails_on: str | None = None, error: ModelError | None = None
    ) -> None:
        self.inner = HashingEmbedder()
        self.card = self.inner.card
        self.batch = batch
        self.texts: list[str] = []
        self._fails_on = fails_on
        self._error = error or ModelError("the model gave up")

    def token_starts(self, text: str) -> Sequence[int]:
        return self.inner.token_starts(text)

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        self.texts.extend(texts)
        if self._fails_on is not None and any(self._fails_on in text for text in texts):
            raise self._error
        return self.inner.embed_passages(texts)

    def embed_question(self, text: str) -> Vector:
        return self.inner.embed_question(text)

    def foreignness(self, question: str) -> float:
        return self.inner.foreignness(question)

    def knows(self, word: str) -> bool:
        return self.inner.knows(word)


class FixedEmbedder:
    """Every question points the same way, and every word is known."""

    card = HEADER.model

    def embed_question(self, text: str) -> Vector:
        return at_angle(0)

    def foreignness(self, question: str) -> float:
        return 0.0

    def knows(self, word: str) -> bool:
        return True
