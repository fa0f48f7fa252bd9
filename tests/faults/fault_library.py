"""What the fault tests share: a folder that changes by seed, and what must hold of its index."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import apsw
from filelock import FileLock

from pincite.chunking.flow import chunk_document
from pincite.engine import open_library
from pincite.errors import PinciteError
from pincite.models.hashing import HashingEmbedder
from pincite.reading.reader import LibraryReader
from pincite.records import (
    DocumentId,
    EmbeddedChunk,
    EmbeddedDocument,
    LibraryHeader,
    StoredWindow,
)
from pincite.settings import DEFAULT_MAX_FILE_BYTES, INGESTION_VERSION, policy_named
from pincite.stores.lines import Entry, encode
from pincite.stores.rows import ChunkRows, Row
from pincite.stores.sqlite import tables
from pincite.stores.sqlite.connection import connect
from pincite.stores.sqlite.generations import GenerationFolders
from pincite.stores.sqlite.opening import LOCK_NAME
from pincite.stores.sqlite.reader import DATABASE_NAME
from pincite.stores.sqlite.replay import apply
from pincite.stores.sqlite.store import SqliteStore

INDEX_FOLDER = ".index"
NAME = "faults"  # ids follow from the library's name, so that two folders can be compared
MODEL = "hashing"
POLICY = "wiki"  # cuts at second-level headings: many chunks from little text
WORDS = ("valve", "pump", "boiler", "gauge", "rotor", "seal", "steam", "iron", "oil", "signal")
SECRET = ("secret.md", b"# Salaries\n\nThe pump earns most.\n")  # handed in, and what is said of it
GUARDED = {"confidentiality": "restricted"}

Rows = dict[str, tuple[Row, tuple[ChunkRows, ...]]]  # by document id


class NaiveStore(SqliteStore):
    """What one writes first: row by row, the log last. Every fault test must catch it."""

    def _write(self, entry: Entry) -> None:
        entry = {**entry, "time": datetime.now(UTC).isoformat(timespec="seconds")}
        apply(self._connection, entry, self._log.size() + len(encode(entry)))
        self._log.append(entry)


def open_naive(index: Path) -> NaiveStore:
    index.mkdir(exist_ok=True)
    lock = FileLock(index / LOCK_NAME)
    lock.acquire(timeout=0)
    store = NaiveStore(index, lock)
    store.recover()
    return store


@contextmanager
def quick_folder(otherwise: Path) -> Iterator[Path]:
    """A folder in memory where there is one: faults there are the same, and syncing is quick."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield otherwise
        return
    with tempfile.TemporaryDirectory(dir=memory, prefix="pincite-") as name:
        yield Path(name)


# A folder that changes


def note(rng: random.Random) -> str:
    """Some sections of a few words, now and then one that needs several windows."""

    def words(count: int) -> str:
        return " ".join(rng.choice(WORDS) + str(rng.randrange(50)) for _ in range(count))

    sizes = [rng.choice((8, 15, 30)) for _ in range(rng.randint(1, 4))]
    if rng.random() < 0.15:
        sizes.append(330)
    parts = [f"## Part {number}\n\n{words(size)}\n" for number, size in enumerate(sizes)]
    return f"# Note {rng.randrange(10_000)}\n\n" + "\n".join(parts)


def change_folder(root: Path, seed: str) -> None:
    """Write, modify, move and delete some files; the same seed does the same."""
    rng = random.Random(seed)
    files = sorted(root.glob("*/*.md"))
    for path in rng.sample(files, min(2, len(files))):
        save(path, path.read_text() + f"\n## Later\n\n{rng.choice(WORDS)} {rng.random()}\n")
    for path in rng.sample(files, min(1, len(files))):
        path.rename(path.with_name(f"moved{rng.randrange(10**6)}.md"))
    files = sorted(root.glob("*/*.md"))
    if len(files) > 6:
        for path in rng.sample(files, 2):
            path.unlink()
    for _ in range(max(2, 7 - len(files))):
        path = root / rng.choice("ab") / f"note{rng.randrange(10**6)}.md"
        path.parent.mkdir(exist_ok=True)
        save(path, note(rng))


def save(path: Path, text: str) -> None:
    """At one go, as editors do: half a file would be another file."""
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(text)
    unfinished.replace(path)


def files_of(root: Path) -> dict[str, str]:
    """Path → checksum of what the folder holds."""
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.glob("*/*.md"))
    }


def build(root: Path) -> None:
    with open_library(root) as library:
        library.index(name=NAME, model=MODEL, policy=POLICY)


def build_elsewhere(root: Path, elsewhere: Path) -> Rows:
    """The rows of an index made at one go from the same files."""
    shutil.copytree(root, elsewhere, ignore=shutil.ignore_patterns(INDEX_FOLDER))
    build(elsewhere)
    fresh = rows_of(elsewhere)
    shutil.rmtree(elsewhere)
    return fresh


def header() -> LibraryHeader:
    return LibraryHeader(
        NAME, POLICY, HashingEmbedder().card, INGESTION_VERSION, DEFAULT_MAX_FILE_BYTES
    )


def embedded(path: str, text: str) -> EmbeddedDocument:
    """A document as the index makes it, for tests that speak to a store."""
    embedder = HashingEmbedder()
    document = LibraryReader(NAME).read(path, text.encode())
    chunks = []
    for part in chunk_document(document, policy_named(POLICY), embedder):
        vectors = embedder.embed_passages([window.embedded for window in part.windows])
        windows = (
            StoredWindow(window.start, window.end, window.fingerprint, made)
            for window, made in zip(part.windows, vectors, strict=True)
        )
        chunks.append(EmbeddedChunk(part.chunk, tuple(windows)))
    return EmbeddedDocument(document, tuple(chunks))


# What was promised to the caller


class Acknowledgements:
    """A file on disk before the work goes on: what the index said it had stored."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def begin(self, files: dict[str, str]) -> None:
        self._append({"begin": files})

    def held(self, documents: dict[str, str]) -> None:
        self._append({"held": documents})

    def stored(self, path: str, checksum: str) -> None:
        self._append({"stored": path, "checksum": checksum})

    def finished(self) -> None:
        self._append({"finished": True})

    def _append(self, line: dict[str, object]) -> None:
        with self._path.open("ab") as file:
            file.write(json.dumps(line).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def read(self) -> Promised:
        promised = Promised({}, {}, {}, in_the_middle=False)
        lines = self._path.read_bytes().split(b"\n")[:-1] if self._path.exists() else []
        for line in map(json.loads, lines):
            if "begin" in line:
                promised = Promised(promised.after(), line["begin"], {}, in_the_middle=True)
            elif "held" in line:
                promised = Promised(line["held"], line["held"], {}, in_the_middle=False)
            elif "stored" in line:
                promised.stored[line["stored"]] = line["checksum"]
            else:
                promised = Promised(promised.files, promised.files, {}, in_the_middle=False)
        return promised


@dataclass(frozen=True)
class Promised:
    """Documents stored before this run, the folder it saw, what it acknowledged since."""

    before: dict[str, str]
    files: dict[str, str]
    stored: dict[str, str]
    in_the_middle: bool

    def after(self) -> dict[str, str]:
        return {**self.before, **self.stored}

    def broken_by(self, documents: dict[str, str]) -> list[str]:
        """What the index lost or invented."""
        broken = []
        for path, checksum in self.stored.items():
            if documents.get(path) != checksum:
                broken.append(f"{path} was acknowledged and is not there")
        for path, checksum in self.before.items():
            allowed = {checksum, self.files.get(path)}
            if documents.get(path) not in allowed:
                broken.append(f"{path} was there before and is neither old nor new")
            if checksum in self.files.values() and checksum not in documents.values():
                broken.append(f"{path} was moved and is at neither place")
        for path, checksum in documents.items():
            if checksum not in (self.before.get(path), self.files.get(path)):
                broken.append(f"{path} holds what no file ever held")
        return broken


# What must hold of an index, whatever happened


def broken_promises(root: Path, promised: Promised) -> list[str]:
    """Everything that is wrong with the index after a fault; empty when all is well."""
    index = root / INDEX_FOLDER
    if not index.is_dir():
        return promised.broken_by({})
    try:
        with open_library(root) as library:
            found = [f"{one.part}: {one.problem}" for one in library.verify()]
    except PinciteError as error:
        return [f"{type(error).__name__}: {error}"]
    return found or [*disagreements(live_folder(root)), *promised.broken_by(documents_of(root))]


def disagreements(index: Path) -> list[str]:
    """Counted here, without the product's own `verify`."""
    connection = connect(index / DATABASE_NAME, writable=True)
    try:
        if not connection.execute("SELECT count(*) FROM meta WHERE key = 'header'").get:
            return []
        statements = {
            "a document with more or fewer chunks than it says": """
                SELECT count(*) FROM document WHERE chunks <>
                (SELECT count(*) FROM chunk WHERE chunk.document = document.rowid)""",
            "chunks that belong to nothing": """
                SELECT count(*) FROM chunk WHERE document NOT IN (SELECT rowid FROM document)""",
            "chunks without a window": """
                SELECT count(*) FROM chunk WHERE rowid NOT IN (SELECT chunk FROM window)""",
            "chunks and words that differ": """
                SELECT count(*) FROM (SELECT rowid FROM chunk FULL JOIN
                (SELECT rowid AS words FROM chunk_words) ON words = rowid
                WHERE words IS NULL OR rowid IS NULL)""",
            "windows and vectors that differ": """
                SELECT count(*) FROM (SELECT rowid FROM window FULL JOIN
                (SELECT rowid AS vector FROM window_vector) ON vector = rowid
                WHERE vector IS NULL OR rowid IS NULL)""",
        }
        found = [
            what for what, statement in statements.items() if connection.execute(statement).get
        ]
        if connection.execute("PRAGMA integrity_check").get != "ok":
            found.append("a database that is not sound")
        try:
            connection.execute(
                "INSERT INTO chunk_words (chunk_words, rank) VALUES ('integrity-check', 1)"
            )
        except apsw.Error:
            found.append("words that do not match their text")
        return found
    finally:
        connection.close()


def documents_of(root: Path) -> dict[str, str]:
    """Path → checksum of what the index holds."""
    return {str(row[1]): str(row[3]) for row, _ in rows_of(root).values()}


def rows_of(root: Path) -> Rows:
    """Everything the database holds of its documents, but for when it was stored."""
    return rows_in(live_folder(root))


def live_folder(root: Path) -> Path:
    """Where the generation is that is searched."""
    folders = GenerationFolders(root / INDEX_FOLDER)
    return folders.folder(folders.numbers().live)


def rows_in(index: Path) -> Rows:
    """The same, of the index in this folder."""
    connection = connect(index / DATABASE_NAME, writable=True)
    try:
        if not connection.execute("SELECT count(*) FROM meta WHERE key = 'header'").get:
            return {}
        rows = {}
        for (document_id,) in connection.execute("SELECT id FROM document ORDER BY id").fetchall():
            read = tables.read(connection, DocumentId(str(document_id)))
            assert read is not None
            *columns, _indexed_at, recipe = read.document
            rows[str(document_id)] = ((*columns, recipe), read.chunks)
        return rows
    finally:
        connection.close()


def assert_same_rows(left: Rows, right: Rows, why: str = "") -> None:
    """Row for row, vectors to the last bit."""
    assert left == right, why
