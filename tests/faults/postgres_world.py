"""What the fault tests of a team's database share: changes by seed, and what must hold of them."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

import psycopg

from helpers import HEADER, at_angle, chunk_ids, embedded, part
from pincite.errors import PinciteError, StoreUnreachable
from pincite.records import DocumentId, EmbeddedDocument, Filters, Original
from pincite.stores.codec import embedded_to_json
from pincite.stores.postgres.store import PostgresStore
from pincite.stores.postgres.uploads import UploadStore
from postgres_server import KILLED, SCHEMA_OPTIONS

NOTES = 6
PATIENCE = 60.0  # seconds until a test gives up on what should happen at once
Held = dict[str, int]  # path → version


# Documents that change


def document(path: str, version: int) -> EmbeddedDocument:
    """Some chunks that all carry the version, as does the title."""
    parts = [
        part(f"a valve of version{version} in part{number} of {path}", number * 5, 90 + number)
        for number in range(2 + version % 4)
    ]
    return embedded(path, *parts, title=f"version {version}")


@dataclass(frozen=True)
class Change:
    """A document as it shall be; without a version it shall be gone."""

    path: str
    version: int | None

    def applied(self, held: Held) -> Held:
        others = {path: version for path, version in held.items() if path != self.path}
        return others if self.version is None else {**others, self.path: self.version}


class Changes:
    """Adds, replaces and removes documents of one store, by seed."""

    def __init__(self, store: UploadStore, seed: str, held: Held, *, first: int = 1) -> None:
        self._store = store
        self._chance = random.Random(seed)
        self._version = first
        self.held = held
        self.known: dict[DocumentId, EmbeddedDocument] = {}  # every version there ever was

    def next(self) -> Change:
        self._version += 1
        kind = self._chance.random()
        if kind < 0.25 and self.held:
            return Change(self._chance.choice(sorted(self.held)), None)
        if kind < 0.4:
            return Change(f"upload{self._version}.md", self._version)
        return Change(f"note{self._chance.randrange(NOTES)}.md", self._version)

    def apply(self, change: Change) -> None:
        """Any number of times: the second changes nothing."""
        before = self.held.get(change.path)
        gone = [] if before is None else [document(change.path, before).document.id]
        is_upload = change.path.startswith("upload")
        if change.version is None and is_upload:
            self._store.delete(gone[0])
        elif change.version is None:
            self._store.remove_documents(gone)
        else:
            made = document(change.path, change.version)
            self.known[made.document.id] = made
            if is_upload:
                original = Original(change.path, change.path, {}, b"a file")
                self._store.add_upload(made, original, HEADER)
            else:
                self._store.replace_document(made, replaces=gone)
        self.held = change.applied(self.held)


# What goes on at the same time, in threads


class Background:
    """Does a step again and again in a thread, until it is told to wait or to end."""

    def __init__(self, step: Callable[[], None]) -> None:
        self._step = step
        self._go, self._idle = threading.Event(), threading.Event()
        self._ended = False
        self._thread = threading.Thread(target=self._run)
        self.failure: Exception | None = None

    def _run(self) -> None:
        while not self._ended:
            if not self._go.is_set():
                self._idle.set()
                self._go.wait()
                self._idle.clear()
                continue
            try:
                self._step()
            except Exception as error:  # noqa: BLE001 — told by `check`
                self.failure = error
                break
        self._idle.set()

    def resume(self) -> None:
        self._idle.clear()
        self._go.set()

    def pause(self) -> None:
        """Until the step under way is done."""
        self._go.clear()
        assert self._idle.wait(PATIENCE), "the step under way does not end"
        if self.failure is not None:
            raise self.failure

    def __enter__(self) -> Self:
        self._go.set()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        self._go.set()
        self._thread.join(PATIENCE)
        if self.failure is not None:
            raise self.failure


@dataclass
class Persistent:
    """Makes changes, each again until the server took it."""

    changes: Changes
    done: int = 0
    refused: int = 0
    wrong: list[str] = field(default_factory=list)

    def step(self) -> None:
        change = self.changes.next()
        while True:
            try:
                self.changes.apply(change)
            except StoreUnreachable:
                self.refused += 1
                time.sleep(0.02)
                continue
            except PinciteError as error:
                self.wrong.append(repr(error))
            self.done += 1
            return


@dataclass
class Reader:
    """Searches, and compares each document it meets with the versions there were."""

    store: PostgresStore
    known: dict[DocumentId, EmbeddedDocument]
    allowed: tuple[type[PinciteError], ...] = ()
    searches: int = 0
    refused: int = 0
    versions: set[DocumentId] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)

    def step(self) -> None:
        try:
            self._look()
        except self.allowed:
            self.refused += 1
        except Exception as error:  # noqa: BLE001 — nothing else may be raised here
            self.wrong.append(repr(error))

    def _look(self) -> None:
        found = self.store.search("valve", at_angle(3), filters=Filters(), limit=500)
        self.searches += 1
        met: set[DocumentId] = set()
        for kind, ranking in found.items():
            chunks: dict[DocumentId, set[str]] = {}
            for ranked in ranking:
                chunks.setdefault(ranked.document_id, set()).add(ranked.chunk_id)
            for document_id, ids in chunks.items():
                if ids != set(chunk_ids(self.known[document_id])):
                    self.wrong.append(f"{kind}: {self._path(document_id)} in part")
            paths = Counter(map(self._path, chunks))
            self.wrong.extend(f"{kind}: {path} twice" for path, n in paths.items() if n > 1)
            met |= chunks.keys()
        if {one.document_id for one in found["words"]} != {
            one.document_id for one in found["vector"]
        }:
            self.wrong.append("words and vectors of other documents")
        self.versions |= met
        if met:
            self._load(min(met))

    def _load(self, document_id: DocumentId) -> None:
        """It may be gone by now, but then entirely."""
        ids = chunk_ids(self.known[document_id])
        loaded = [chunk.id for _, chunk in self.store.load_chunks(ids)]
        if loaded not in ([], ids):
            self.wrong.append(f"{len(loaded)} of {len(ids)} chunks loaded")
        whole = self.store.load_embedded(document_id)
        if whole is not None and chunk_ids(whole) != ids:
            self.wrong.append(f"a document with {len(whole.chunks)} of {len(ids)} chunks")

    def _path(self, document_id: DocumentId) -> str:
        return self.known[document_id].document.path


# What must hold, whatever happened


def wait_for_the_dead(url: str) -> None:
    """Until the server noticed that the killed are gone; what they had asked for is then done."""
    until = time.monotonic() + PATIENCE
    with psycopg.connect(url, autocommit=True) as connection:
        living = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s"
        while connection.execute(living, (KILLED,)).fetchone() != (0,):
            assert time.monotonic() < until, "connections of a killed process stay"
            time.sleep(0.005)


def held_by(store: PostgresStore) -> Held:
    return {one.path: int(one.title.split()[1]) for one in store.documents()}


def broken_promises(url: str, store: PostgresStore, *allowed: Held) -> list[str]:
    """Everything that is wrong with the store; empty when it is in one of the allowed states."""
    found = [f"{one.part}: {one.problem}" for one in store.verify()]
    found.extend(disagreements(url))
    held = held_by(store)
    if held not in allowed:
        found.append(f"holds {held}, allowed are {allowed}")
    for one in store.documents():
        whole = store.load_embedded(one.id)
        made = document(one.path, held[one.path])
        if whole is None or embedded_to_json(whole) != embedded_to_json(made):
            found.append(f"{one.path} is not what was written")
    return found


_DISAGREEMENTS = {
    "a document with more or fewer chunks than it says": """
        SELECT count(*) FROM document WHERE chunks <>
        (SELECT count(*) FROM chunk WHERE chunk.document = document.row)""",
    "chunks without a window": """
        SELECT count(*) FROM chunk WHERE row NOT IN (SELECT chunk FROM window_vector)""",
    "words of chunks that are not there, or chunks without": """
        SELECT count(*) FROM (SELECT DISTINCT owner FROM posting) AS held
        FULL JOIN chunk ON chunk.row = held.owner WHERE held.owner IS NULL OR row IS NULL""",
    "words about documents that are not there, or documents without": """
        SELECT count(*) FROM (SELECT DISTINCT owner FROM about_posting) AS held
        FULL JOIN document ON document.row = held.owner WHERE held.owner IS NULL OR row IS NULL""",
    "spellings that are not those of the documents": """
        SELECT count(*) FROM spelling AS counted FULL JOIN (
            SELECT generation, word COLLATE "C" AS word, level, count(*) AS documents
            FROM document CROSS JOIN unnest(spelled) AS word GROUP BY 1, 2, 3
        ) AS held USING (generation, word, level)
        WHERE counted.documents IS DISTINCT FROM held.documents""",
    "tokens that are not had by as many as they say": """
        SELECT count(*) FROM token WHERE (chunks, documents) <> (
            (SELECT count(*) FROM posting
             WHERE (posting.generation, posting.token) = (token.generation, id)),
            (SELECT count(*) FROM about_posting
             WHERE (about_posting.generation, about_posting.token) = (token.generation, id)))
        OR chunks + documents < 1""",
    "two tokens with one number": """
        SELECT count(*) - count(DISTINCT (generation, id)) FROM token""",
    "files without their documents, or documents without their files": """
        SELECT count(*) FROM original FULL JOIN
        (SELECT upload FROM document WHERE upload IS NOT NULL) AS handed_in
        ON checksum = upload WHERE checksum IS NULL OR upload IS NULL""",
    "a past document without chunks": """
        SELECT count(*) FROM past_document WHERE row NOT IN (SELECT document FROM past_chunk)""",
    "counts that are not those of the rows": """
        SELECT count(*) FROM generation WHERE (documents, chunks, windows, words, about_words) <>
        ((SELECT count(*) FROM document), (SELECT count(*) FROM chunk),
         (SELECT count(*) FROM window_vector), (SELECT coalesce(sum(length), 0) FROM chunk),
         (SELECT coalesce(sum(about_length), 0) FROM document))""",
}


def disagreements(url: str) -> list[str]:
    """Counted here, without the product's own `verify`; the project is the database's only one."""
    with psycopg.connect(url, options=SCHEMA_OPTIONS) as connection:
        return [
            what
            for what, statement in _DISAGREEMENTS.items()
            if connection.execute(statement).fetchone() != (0,)
        ]
