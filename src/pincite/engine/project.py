"""A team's project: single files are handed in, listed and deleted; all of it can be asked."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pincite.engine.addresses import Address
from pincite.engine.eval_wishes import Gate
from pincite.engine.models import Embedders, ModelAccess, Wishes, header_for
from pincite.engine.searchable import Searchable
from pincite.engine.team_home import TeamHome
from pincite.errors import FileUnreadable, SettingsError
from pincite.records import (
    Document,
    DocumentEntry,
    DocumentId,
    DocumentPage,
    EmbeddedDocument,
    LibraryHeader,
    Uploaded,
)

if TYPE_CHECKING:
    from pincite.records import DeleteStatus, Progress, ReindexReport
    from pincite.stores.postgres.uploads import UploadStore

_LARGEST_PAGE = 1_000
_LONGEST_NAME = 200  # characters


def open_project(
    store: str, *, user: str, project: str, models: ModelAccess = ModelAccess()
) -> Project:
    """A project of the team whose database is at this address.

    A project of the user's own is made with its first document; that of another user is written
    `owner/name`, and must have been shared.

    Example:
        >>> with open_project("postgresql://db/team", user="ada", project="plans") as plans:
        ...     plans.index_document("plan.md", b"# Plan")  # doctest: +SKIP
    """
    files = Path(tempfile.gettempdir()) / "pincite-projects"
    home = TeamHome(Address(store, user, project), files / "store.json", remembers=False)
    return Project(Path(project), Embedders(models), home)


class Project(Searchable):
    """One project of a team, as one of its members. Threads may share it."""

    _home: TeamHome

    def index_document(
        self, name: str, data: bytes, *, labels: Mapping[str, Any] | None = None
    ) -> Uploaded:
        """Make a file searchable; the same file again is the same document.

        Labels (`project`, `confidentiality`, `author`, `date`, `language`, `tags`, `agents`) say
        what the file cannot say itself; other labels for a file that is there embed nothing again.
        FileUnreadable says why a file cannot be read.
        """
        labels = dict(labels or {})
        store = self._uploads()
        header = self._begun(store)
        if len(data) > header.max_file_bytes:
            raise FileUnreadable(
                f"has {len(data):,} bytes, more than the {header.max_file_bytes:,} that are read"
            )
        checksum = hashlib.sha256(data).hexdigest()
        path = self._path(name, checksum)
        held = store.uploaded(checksum)
        if held is not None and held[0].recipe == header.recipe:
            self._relabelled(store, header, held, data, labels)
            return Uploaded("deduplicated", _found(store, checksum, held[0]))
        if held is not None:
            path = held[0].path  # the name it came with first is what citations say
        document = self._read(header, path, data, labels)
        embedded = self._embedded(store, header, document)
        from pincite.stores.postgres.uploads import Original

        original = Original(path, checksum, labels, data)
        if held is not None:
            store.remake_upload(embedded, original)
            return Uploaded("reindexed", _found(store, checksum, held[0]))
        added = store.add_upload(embedded, original)
        return Uploaded("indexed" if added else "deduplicated", _found(store, checksum))

    def get_document(self, document_id: str) -> Document | None:
        """A document with its text; None where this user can see none of that id."""
        return self._store().load_document(DocumentId(document_id))

    def list_documents(self, *, after: str = "", limit: int = 100) -> DocumentPage:
        """Documents by path, so many at a time; `after` of a page asks for the next one."""
        if not 1 <= limit <= _LARGEST_PAGE:
            raise SettingsError(f"a page has 1 to {_LARGEST_PAGE:,} documents, not {limit}")
        found = self._uploads().page(after, limit + 1)
        more = len(found) > limit
        return DocumentPage(tuple(found[:limit]), found[limit - 1].path if more else None)

    def delete_document(self, document_id: str) -> DeleteStatus:
        """Delete a document with its chunks, words, vectors and earlier versions, in one step."""
        return "deleted" if self._uploads().delete(DocumentId(document_id)) else "not_found"

    def reindex(
        self,
        *,
        policy: str | None = None,
        model: str | None = None,
        gate: Gate = Gate(),
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> ReindexReport:
        """Move to another model or chunk policy while searches go on; see Library.reindex.

        The files are those that were handed in. One that comes meanwhile is caught up with.
        """
        from pincite.engine.indexing import Run
        from pincite.engine.library import Library

        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for original in self._uploads().originals():
                (root / original.path).parent.mkdir(exist_ok=True)
                (root / original.path).write_bytes(original.data)
            library = Library(root, self._embedders, self._home)
            wishes = Wishes(policy=policy, model=model)
            run = Run(root, wishes, self._embedders, on_progress=on_progress)
            report = library.generations.reindex(run, gate, switch=True)
            self._label_anew()
            return report

    def _label_anew(self) -> None:
        """What was said of files when they were handed in holds in the new generation, too."""
        store = self._uploads()
        header = self._begun(store)
        for original in store.originals():
            held = store.uploaded(original.checksum)
            if original.labels and held is not None:
                document = self._read(header, original.path, original.data, original.labels)
                store.relabel(held[0].id, document.metadata, original.labels)

    def _relabelled(
        self,
        store: UploadStore,
        header: LibraryHeader,
        held: tuple[DocumentEntry, dict[str, Any]],
        data: bytes,
        labels: dict[str, Any],
    ) -> None:
        entry, before = held
        if labels != before:
            document = self._read(header, entry.path, data, labels)
            store.relabel(entry.id, document.metadata, labels)

    def _read(
        self, header: LibraryHeader, path: str, data: bytes, labels: dict[str, Any]
    ) -> Document:
        from pincite.ingest.catalog import summarized
        from pincite.reading.labels import parse_labels
        from pincite.reading.reader import LibraryReader
        from pincite.reading.sandbox import Sandbox

        try:
            said = json.dumps({"version": 1, "labels": [{**labels, "files": path}]})
            labelled = parse_labels(said.encode()).labelled
        except (FileUnreadable, TypeError, ValueError) as error:
            raise SettingsError(f"these labels cannot be used: {error}") from error
        with Sandbox() as sandbox:
            reader = LibraryReader(
                header.name,
                sandbox.read,
                options=frozenset(header.options),
                labelled=labelled,
            )
            return summarized(reader.read(path, data))

    def _embedded(
        self, store: UploadStore, header: LibraryHeader, document: Document
    ) -> EmbeddedDocument:
        from pincite.chunking.flow import chunk_document
        from pincite.ingest.embed import EmbeddingPool
        from pincite.settings import policy_named

        embedder = self._embedders.of(header)
        chunk = partial(chunk_document, policy=policy_named(header.policy), embedder=embedder)
        with EmbeddingPool(embedder, store) as pool:
            return EmbeddedDocument(document, pool.collect(pool.submit(chunk(document))))

    def _begun(self, store: UploadStore) -> LibraryHeader:
        """How documents are made here; by default where this is the first."""
        header = store.header()
        if header is None:
            header = header_for(
                None, Wishes(), self._embedders, folder_name=self._home.address.scope.name
            )
            store.begin(header)
        return header

    def _path(self, name: str, checksum: str) -> str:
        """Where the document stands: names need not be unique, and tell nothing of others."""
        plain = name.replace("\\", "/").rpartition("/")[2].strip()
        if not plain or plain in (".", "..") or len(plain) > _LONGEST_NAME:
            raise SettingsError(f"{name!r} cannot be the name of a file")
        if not plain.isprintable():
            raise SettingsError(f"the name of a file must be printable: {name!r}")
        owned = f"{self._home.address.user}/{checksum}".encode()
        return f"{hashlib.sha256(owned).hexdigest()[:8]}/{plain}"

    def _uploads(self) -> UploadStore:
        return self._home.uploads()

    def _differs(self, document: Document | DocumentEntry) -> bool:
        """What was handed in is kept here, and cannot change elsewhere."""
        return False


def _found(
    store: UploadStore, checksum: str, otherwise: DocumentEntry | None = None
) -> DocumentEntry:
    held = store.uploaded(checksum)
    if held is not None:
        return held[0]
    if otherwise is None:
        raise FileUnreadable("was deleted by another call just now; hand it in again")
    return otherwise
