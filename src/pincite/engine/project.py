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
from pincite.engine.making import making
from pincite.engine.models import Embedders, ModelAccess, Wishes, header_for
from pincite.engine.searchable import Searchable
from pincite.engine.team_home import TeamHome
from pincite.errors import FileUnreadable, SettingsError
from pincite.records import (
    Document,
    DocumentEntry,
    DocumentId,
    DocumentPage,
    LibraryHeader,
    Original,
    Progress,
    Scope,
    Uploaded,
)
from pincite.settings import INGESTION_VERSION
from pincite.stores.fields import storable

if TYPE_CHECKING:
    from pincite.engine.project_reindexing import ProjectGenerations
    from pincite.records import DeleteStatus, ReindexReport
    from pincite.records.journal import LogMode
    from pincite.stores.postgres.uploads import UploadStore

_GONE = "was handed in before and is above your clearance now, or was deleted just now"
_LARGEST_PAGE = 1_000
_LONGEST_NAME = 200  # bytes
_OWN_LETTERS = 20  # before a name: nobody finds a file that gets those of another
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
        self, name: str, data: bytes, *, labels: Mapping[str, Any] | None = None
    ) -> Uploaded:
        """Make a file searchable; the same file again is the same document.

        Labels (`project`, `confidentiality`, `author`, `date`, `language`, `tags`, `agents`) say
        what the file cannot say itself. Of a file that is there those change that are named, None
        takes one away, the name that is shown is the last one, and nothing is embedded again
        unless files are read or cut otherwise by now. A chunk that the embedding service refuses
        is found by words only (`document.lacking`); handing the file in again tries it again.
        FileUnreadable says why a file cannot be read.
        """
        from pincite.stores.postgres.uploads import MadeOtherwise

        _refuse_other_types(name, data, labels)
        self._home.create()
        self._home.refuse_files()
        for tries_left in reversed(range(_TRIES)):
            try:
                return self._index_document(name, data, labels)
            except FileUnreadable as error:
                raise type(error)(f"{name}: {error}") from error
            except MadeOtherwise:
                if not tries_left:
                    raise
        raise AssertionError  # the last try returned or raised

    def _index_document(self, name: str, data: bytes, said: Mapping[str, Any] | None) -> Uploaded:
        store = self._uploads()
        header = self._begun(store)
        if len(data) > header.max_file_bytes:
            raise FileUnreadable(
                f"has {len(data):,} bytes, more than the {header.max_file_bytes:,} that are read"
            )
        checksum = hashlib.sha256(data).hexdigest()
        held = store.uploaded(checksum)
        # The name it came with first is what citations say; what is shown is the last one.
        path = self._path(name, checksum)
        known: dict[str, Any] = {}
        if held is not None:
            known = {**held[1], "name": path.rpartition("/")[2]}
            path = held[0].path
        if "name" in (said or {}):
            raise SettingsError("`name` is no label of an upload: hand the file in under that name")
        labels = {key: one for key, one in {**known, **(said or {})}.items() if one is not None}
        if labels.get("name") == path.rpartition("/")[2]:
            del labels["name"]
        original = Original(path, checksum, labels, data)
        with making(header, self._embedders.of(header)) as how:
            if held is not None and held[0].recipe == header.recipe:
                if labels != held[1]:
                    about = how.read(original).metadata
                    if not store.relabel(held[0].id, about, labels):
                        raise FileUnreadable(_GONE)
                return Uploaded("deduplicated", _found(store, checksum))
            embedded = how.made(original, store)
        if held is not None:
            store.remake_upload(embedded, original, header)
            return Uploaded("reindexed", _found(store, checksum))
        added = store.add_upload(embedded, original, header)
        return Uploaded("indexed" if added else "deduplicated", _found(store, checksum))

    def get_document(self, document_id: str) -> Document | None:
        """A document with its text; None where this user can see none of that id."""
        return self._store().load_document(DocumentId(storable(document_id)))

    def list_documents(self, *, after: str = "", limit: int = 100) -> DocumentPage:
        """Documents by path, so many at a time; `after` of a page asks for the next one."""
        if not 1 <= limit <= _LARGEST_PAGE:
            raise SettingsError(f"a page has 1 to {_LARGEST_PAGE:,} documents, not {limit}")
        found = self._uploads().page(storable(after), limit + 1)
        more = len(found) > limit
        return DocumentPage(tuple(found[:limit]), found[limit - 1].path if more else None)

    def delete_document(self, document_id: str) -> DeleteStatus:
        """Delete a document with its chunks, words, vectors and earlier versions, in one step."""
        known = DocumentId(storable(document_id))
        return "deleted" if self._uploads().delete(known) else "not_found"

    @property
    def folder(self) -> None:
        """None: its files are in the database."""
        return None

    def reindex(
        self,
        *,
        policy: str | None = None,
        model: str | None = None,
        gate: Gate = Gate(),
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> ReindexReport:
        """Move to another model or chunk policy while searches go on in the index as it was.

        The files are those that were handed in. What comes or goes meanwhile is followed. Once
        nothing is left to do, and the gate's questions are answered as well, searches use the new
        generation.
        """
        from pincite.records import ReindexReport

        current = begun(self._store().header(), self.root)
        wishes = Wishes(policy=policy, model=model)
        header = header_for(current, wishes, self._embedders, folder_name=current.name)
        if header == current:
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

    def _begun(self, store: UploadStore) -> LibraryHeader:
        """How documents are made here, by this pincite; by default where this is the first."""
        header = store.header()
        if header is None:
            header = header_for(
                None, Wishes(), self._embedders, folder_name=self._home.address.scope.name
            )
            header = store.begun_as(header)
            store.finish()  # no run is under way: each file is whole by itself
        newest = max(header.ingestion_version, INGESTION_VERSION)
        return replace(header, ingestion_version=newest)

    def _path(self, name: str, checksum: str) -> str:
        """Where the document stands: names need not be unique, and tell nothing of others."""
        plain = name.replace("\\", "/").rpartition("/")[2].strip()
        if not plain.isprintable():
            raise SettingsError(f"the name of a file must be printable: {name!r}")
        if not plain or plain in (".", "..") or len(plain.encode()) > _LONGEST_NAME:
            raise SettingsError(f"{name!r} cannot be the name of a file")
        owned = f"{self._home.address.user}/{checksum}".encode()
        return f"{hashlib.sha256(owned).hexdigest()[:_OWN_LETTERS]}/{plain}"

    def _uploads(self) -> UploadStore:
        return self._home.uploads()

    def _differs(self, document: Document | DocumentEntry) -> bool:
        """What was handed in is kept here, and cannot change elsewhere."""
        return False


def _refuse_other_types(name: object, data: object, labels: object) -> None:
    """What a type checker would say: not every program has one."""
    if not isinstance(name, str):
        raise SettingsError(f"the name of a file must be a str, not {type(name).__name__}")
    if not isinstance(data, bytes):
        raise SettingsError(
            f"{name}: data must be the bytes of the file, not {type(data).__name__}; open it with "
            'mode "rb", or write text.encode()'
        )
    if not isinstance(labels, Mapping | None):
        raise SettingsError(
            f'{name}: labels must be a mapping such as {{"tags": ["lease"]}}, not '
            f"{type(labels).__name__}"
        )


def _found(store: UploadStore, checksum: str) -> DocumentEntry:
    held = store.uploaded(checksum)
    if held is None:
        raise FileUnreadable(_GONE)
    return held[0]
