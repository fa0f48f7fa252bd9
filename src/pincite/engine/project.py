"""A team's project: single files are handed in, listed and deleted; all of it can be asked."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pincite.engine.addresses import Address
from pincite.engine.eval_wishes import Gate
from pincite.engine.folders import begun
from pincite.engine.handing_in import (
    checked,
    labels_now,
    labels_of,
    refuse_other_method,
    refuse_too_large,
)
from pincite.engine.models import Embedders, ModelAccess, Wishes, header_for
from pincite.engine.searchable import Searchable
from pincite.engine.team_home import TeamHome
from pincite.errors import FileUnreadable
from pincite.records import (
    Document,
    DocumentEntry,
    DocumentId,
    LibraryHeader,
    Original,
    Progress,
    Scope,
    Uploaded,
)
from pincite.settings import INGESTION_VERSION
from pincite.sources import OWN_LETTERS
from pincite.stores.fields import storable

if TYPE_CHECKING:
    from pincite.engine.project_reindexing import ProjectGenerations
    from pincite.ingest.flow import Parts
    from pincite.records import DeleteStatus, Failure, ReindexReport
    from pincite.records.journal import LogMode
    from pincite.stores.postgres.uploads import UploadStore

_GONE = "was handed in before and is above your clearance now, or was deleted just now"
_TRIES = 3  # to hand in a file while the project moves to another model


def open_project(
    store: str,
    *,
    user: str,
    project: str,
    models: ModelAccess = ModelAccess(),
    log: LogMode = "full",
) -> Project:
    """A project of the team whose database is at this address.

    A project of the user's own is made with its first document; that of another user is written
    `owner/name`, and must have been shared.

    Example:
        >>> with open_project("postgresql://db/team", user="ada", project="plans") as plans:
        ...     plans.index_document("plan.md", b"# Plan")  # doctest: +SKIP
    """
    Scope(user, project)  # says which of the names cannot be
    home = TeamHome(Address(store, user, project), Path("store.json"))
    return Project(Path(project), Embedders(models), home, log=log)


class Project(Searchable):
    """One project of a team, as one of its members. Threads may share it."""

    _home: TeamHome

    def index_document(
        self,
        name: str,
        data: bytes,
        *,
        labels: Mapping[str, Any] | None = None,
        method: str | None = None,
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> Uploaded:
        """Make a file searchable; the same file again is the same document.

        Labels (`project`, `confidentiality`, `author`, `date`, `language`, `tags`, `agents`) say
        what the file cannot say itself. Of a file that is there those change that are named, None
        takes one away, the name that is shown is the last one, and nothing is embedded again
        unless files are read or cut otherwise by now. The method is a chunk policy: the project's
        own, or the first one of a new project. A chunk that the embedding service refuses is found
        by words only (`document.lacking`); handing the file in again tries it again.
        FileUnreadable says why a file cannot be read.
        """
        from pincite.stores.postgres.uploads import MadeOtherwise

        plain = checked(name, data, labels, method)
        self._home.create()
        self._home.refuse_files()
        for tries_left in reversed(range(_TRIES)):
            try:
                return self._index_document(plain, data, labels, method, on_progress)
            except FileUnreadable as error:
                raise type(error)(f"{plain}: {error}") from error
            except MadeOtherwise:
                if not tries_left:
                    raise
        raise AssertionError  # the last try returned or raised

    def _index_document(
        self,
        name: str,
        data: bytes,
        said: Mapping[str, Any] | None,
        method: str | None,
        on_progress: Callable[[Progress], None],
    ) -> Uploaded:
        from pincite.ingest.flow import made

        store = self._uploads()
        header = self._begun(store, method)
        refuse_other_method(header, method)
        refuse_too_large(data, header.max_file_bytes)
        checksum = hashlib.sha256(data).hexdigest()
        held = store.uploaded(checksum)
        # The name it came with first is what citations say; what is shown is the last one.
        path = held[0].path if held else self._path(name, checksum)
        labels = labels_now(held[1] if held else {}, said, name=name, path=path)
        original = Original(path, checksum, labels, data)
        parts = self.making(header, store)(original)
        if held is not None and held[0].recipe == header.recipe:
            if labels != held[1]:
                about = parts.read(path, data).metadata
                if not store.relabel(held[0].id, about, labels):
                    raise FileUnreadable(_GONE)
            return Uploaded("deduplicated", _found(store, checksum))
        embedded = made(path, parts, on_progress)
        if held is not None:
            store.remake_upload(embedded, original, header)
            return Uploaded("reindexed", _found(store, checksum))
        added = store.add_upload(embedded, original, header)
        return Uploaded("indexed" if added else "deduplicated", _found(store, checksum))

    def original(self, document_id: str) -> tuple[str, bytes] | None:
        """Name and bytes of a document's file; None where this user sees none of that id."""
        entry = self.entry(document_id)
        if entry is None:
            return None
        original = self._uploads().handed_in(entry.id)
        if original is None:
            raise FileUnreadable(f"{entry.name}: is kept in the folder that it came from, not here")
        return entry.name, original.data

    def delete_document(
        self, document_id: str, *, of_folder: bool = False, forget: bool = False
    ) -> DeleteStatus:
        """Delete a document with its chunks, words, vectors and earlier versions, in one step.

        Nothing is left of it, whatever `forget` says. One that a folder has comes back with the
        next update there, and is only deleted with `of_folder`.
        """
        known = DocumentId(storable(document_id))
        return "deleted" if self._uploads().delete(known, of_folder=of_folder) else "not_found"

    @property
    def folder(self) -> None:
        """None: its files are in the database."""
        return None

    def reindex(
        self,
        *,
        policy: str | None = None,
        model: str | None = None,
        fresh: bool = False,
        gate: Gate = Gate(),
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> ReindexReport:
        """Move to another model or chunk policy while searches go on in the index as it was.

        The files are those that were handed in; with `fresh` they are read and embedded again
        however they were made. What comes or goes meanwhile is followed. Once nothing is left to
        do, and the gate's questions are answered as well, searches use the new generation.
        """
        from pincite.records import ReindexReport

        current = begun(self._store().header(), self.root)
        wishes = Wishes(policy=policy, model=model)
        header = header_for(current, wishes, self._embedders, folder_name=current.name)
        if header == current and not fresh:
            return ReindexReport("already", current)
        self._home.refuse_files_of_a_folder()
        return self.generations.reindex(header, gate, on_progress)

    def rollback(self) -> LibraryHeader:
        """Go back to the generation before the last switch; how that is made."""
        return self.generations.rollback()

    @property
    def generations(self) -> ProjectGenerations:
        """The indexes of this project side by side, while it moves to another model or policy."""
        from pincite.engine.project_reindexing import ProjectGenerations

        return ProjectGenerations(self.root, self._home, self._embedders, self)

    def _begun(self, store: UploadStore, method: str | None = None) -> LibraryHeader:
        """How documents are made here, by this pincite; by default where this is the first."""
        header = store.header()
        if header is None:
            header = header_for(
                None,
                Wishes(policy=method),
                self._embedders,
                folder_name=self._home.address.scope.name,
            )
            header = store.begun_as(header)
            store.finish()  # no run is under way: each file is whole by itself
        newest = max(header.ingestion_version, INGESTION_VERSION)
        return replace(header, ingestion_version=newest)

    def making(
        self,
        header: LibraryHeader,
        store: UploadStore,
        on_failure: Callable[[Failure], None] = lambda failure: None,
    ) -> Callable[[Original], Parts]:
        """What makes documents of files that were handed in, as a header says."""
        from pincite.engine.indexing import parts_for
        from pincite.reading.reader import LibraryReader

        reader = LibraryReader(header.name, self._sandbox.read, options=frozenset(header.options))
        parts = parts_for(header, self._embedders, store, reader, lambda path: b"", on_failure)

        def parts_of(original: Original) -> Parts:
            labelled = labels_of(original.path, original.labels).labelled
            read = replace(reader, labelled=labelled).read
            return replace(parts, read=read, read_file=lambda path: original.data)

        return parts_of

    def _path(self, name: str, checksum: str) -> str:
        """Where the document stands: names need not be unique, and tell nothing of others."""
        owned = f"{self._home.address.user}/{checksum}".encode()
        return f"{hashlib.sha256(owned).hexdigest()[:OWN_LETTERS]}/{name}"

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
