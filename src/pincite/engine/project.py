"""A team's project: single files are handed in, listed and deleted; all of it can be asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pincite.engine.addresses import Address
from pincite.engine.folders import begun
from pincite.engine.models import Embedders, ModelAccess, Wishes, header_for
from pincite.engine.searchable import Searchable
from pincite.engine.team_home import TeamHome
from pincite.errors import FileUnreadable, LibraryBusy, SettingsError
from pincite.records import (
    Document,
    DocumentEntry,
    DocumentId,
    DocumentPage,
    EmbeddedDocument,
    LibraryHeader,
    Progress,
    Uploaded,
)

if TYPE_CHECKING:
    from pincite.records import DeleteStatus, ReindexReport
    from pincite.stores.postgres.uploads import Original, UploadStore

_GONE = "was handed in before and is above your clearance now, or was deleted just now"
_LARGEST_PAGE = 1_000
_LONGEST_NAME = 200  # bytes
_TRIES = 3  # to hand in a file while the project moves to another model


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
    home = TeamHome(Address(store, user, project), Path("store.json"), remembers=False)
    return Project(Path(project), Embedders(models), home)


class Project(Searchable):
    """One project of a team, as one of its members. Threads may share it."""

    _home: TeamHome

    def index_document(
        self, name: str, data: bytes, *, labels: Mapping[str, Any] | None = None
    ) -> Uploaded:
        """Make a file searchable; the same file again is the same document.

        Labels (`project`, `confidentiality`, `author`, `date`, `language`, `tags`, `agents`) say
        what the file cannot say itself; other labels for a file that is there embed nothing again,
        and without any it keeps those it has.
        FileUnreadable says why a file cannot be read.
        """
        from pincite.stores.postgres.uploads import MadeOtherwise

        self._home.create()
        for tries_left in reversed(range(_TRIES)):
            try:
                return self._index_document(name, data, labels)
            except MadeOtherwise:
                if not tries_left:
                    raise
        raise AssertionError  # the last try returned or raised

    def _index_document(self, name: str, data: bytes, said: Mapping[str, Any] | None) -> Uploaded:
        from pincite.stores.postgres.uploads import Original

        store = self._uploads()
        header = self._begun(store)
        if len(data) > header.max_file_bytes:
            raise FileUnreadable(
                f"has {len(data):,} bytes, more than the {header.max_file_bytes:,} that are read"
            )
        checksum = hashlib.sha256(data).hexdigest()
        held = store.uploaded(checksum)
        # The name it came with first is what citations say.
        path = self._path(name, checksum) if held is None else held[0].path
        labels = dict(said) if said is not None else held[1] if held is not None else {}
        original = Original(path, checksum, labels, data)
        if held is not None and held[0].recipe == header.recipe:
            if labels != held[1]:
                about = self._read(header, original).metadata
                if not store.relabel(held[0].id, about, labels):
                    raise FileUnreadable(_GONE)
            return Uploaded("deduplicated", _found(store, checksum))
        embedded = self._embedded(store, header, self._read(header, original))
        if held is not None:
            store.remake_upload(embedded, original, header)
            return Uploaded("reindexed", _found(store, checksum))
        added = store.add_upload(embedded, original, header)
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
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> ReindexReport:
        """Move to another model or chunk policy while searches go on in the index as it was.

        The files are those that were handed in. What comes or goes meanwhile is followed, and only
        when nothing is left to do does the new generation become the live one.
        """
        from pincite.records import ReindexReport

        current = begun(self._store().header(), self.root)
        wishes = Wishes(policy=policy, model=model)
        header = header_for(current, wishes, self._embedders, folder_name=current.name)
        if header == current:
            return ReindexReport("already", current)
        self._home.refuse_files_of_a_folder()
        done = 0
        with closing(self._home.write_next()) as coming:
            coming.begin(header)
            while True:
                coming.forget_deleted()
                while (found := coming.to_make()) is not None:
                    owner, original = found
                    document = self._read(header, original)
                    embedded = self._embedded(coming, header, document)
                    coming.take_over(embedded, original, owner)
                    done += 1
                    total = max(done, self._store().stats().documents)
                    on_progress(Progress(done, total, done, total, original.path))
                coming.finish()
                with suppress(LibraryBusy):  # a file came or went just now
                    self._home.switch()
                    return ReindexReport("switched", header)

    def _read(self, header: LibraryHeader, original: Original) -> Document:
        from pincite.ingest.catalog import summarized
        from pincite.reading.labels import parse_labels
        from pincite.reading.reader import LibraryReader
        from pincite.reading.sandbox import Sandbox

        try:
            said = json.dumps(
                {"version": 1, "labels": [{**original.labels, "files": original.path}]}
            )
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
            return summarized(reader.read(original.path, original.data))

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
        if not plain or plain in (".", "..") or len(plain.encode()) > _LONGEST_NAME:
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


def _found(store: UploadStore, checksum: str) -> DocumentEntry:
    held = store.uploaded(checksum)
    if held is None:
        raise FileUnreadable(_GONE)
    return held[0]
