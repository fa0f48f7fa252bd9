"""A library: index, search, show, verify. Each verb is one call of a journey."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pincite.engine.eval_wishes import Gate
from pincite.engine.folders import begun, is_apart
from pincite.engine.homes import patiently, refuse_team
from pincite.engine.models import Wishes
from pincite.engine.searchable import Searchable
from pincite.errors import (
    CitationNotFound,
    ConsentNeeded,
    FileUnreadable,
    IndexMissing,
    LibraryBusy,
    LibraryClosed,
    PinciteError,
    StoreDenied,
    StoreReadOnly,
)
from pincite.settings import DEFAULT_MAX_FILE_BYTES, SourceSettings

if TYPE_CHECKING:
    from pincite.converting.flow import ConversionReport
    from pincite.converting.process import OcrEngine
    from pincite.engine.evaluation import Evaluation
    from pincite.engine.handing_in import Uploads
    from pincite.engine.indexing import Run
    from pincite.engine.reindexing import LibraryGenerations
    from pincite.ports import Store
    from pincite.records import (
        DeleteStatus,
        Document,
        DocumentEntry,
        Finding,
        ForgetReport,
        IndexReport,
        LibraryHeader,
        MoveReport,
        Progress,
        ReindexReport,
        Uploaded,
    )
    from pincite.sources import Checksums, Folder
    from pincite.stores.archive import Sink


_DOCUMENT_ID = re.compile("[0-9a-f]{40}")
_SECONDS_BETWEEN_TRIES = 5.0


class Library(Searchable):
    """One folder of documents and its index. Safe to search from several threads at once."""

    def index(  # noqa: PLR0913 — each is a choice of the user's
        self,
        *,
        name: str | None = None,
        policy: str | None = None,
        model: str | None = None,
        max_file_bytes: int | None = None,
        options: tuple[str, ...] | None = None,
        summaries: str | None = None,
        fresh: bool = False,
        passwords: tuple[str, ...] = (),
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> IndexReport:
        """Make the index equal to the folder: new, changed, moved and deleted files are followed.

        Name, chunk policy, model, size limit and options (`comments` and `tracked-changes` of Word
        documents are read, too) are remembered in the index; give them to change them. So is the
        language model that writes the `summaries` ("" takes them from the text). Passwords open
        encrypted files and are not remembered. With `fresh` everything is read, cut and embedded
        again.
        """
        wishes = Wishes(
            name=name,
            policy=policy,
            model=model,
            max_file_bytes=max_file_bytes,
            options=options,
            summaries=summaries,
            fresh=fresh,
        )
        self._home.refuse_folder()
        from pincite.engine.saved_answers import recheck_changed

        report = self._run(wishes, passwords, on_progress).go(self._home)
        return replace(report, answers=recheck_changed(self))

    def reindex(  # noqa: PLR0913 — each is a choice of the user's
        self,
        *,
        policy: str | None = None,
        model: str | None = None,
        fresh: bool = False,
        gate: Gate = Gate(),
        switch: bool = True,
        passwords: tuple[str, ...] = (),
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> ReindexReport:
        """Move to another model or chunk policy while searches go on in the index as it was.

        A new generation is made beside it. Once it is complete, and answers the gate's questions
        as well, searches use it. What was stopped goes on where it was, also without arguments.
        """
        wishes = Wishes(policy=policy, model=model, fresh=fresh)
        self._home.refuse_folder()
        run = self._run(wishes, passwords, on_progress)
        return self.generations.reindex(run, gate, switch=switch)

    def rollback(self) -> LibraryHeader:
        """Go back to the generation before the last switch; how that is made."""
        return self.generations.rollback()

    @property
    def generations(self) -> LibraryGenerations:
        """The indexes of this library side by side, while it moves to another model or policy."""
        from pincite.engine.reindexing import LibraryGenerations

        return LibraryGenerations(self.root, self._home, self._embedders, self)

    def watch(
        self,
        stop: threading.Event,
        *,
        passwords: tuple[str, ...] = (),
        on_trouble: Callable[[PinciteError], None] = lambda trouble: None,
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> Iterator[IndexReport]:
        """Follow the folder until `stop` is set: a first report, then one for each change.

        Whatever goes wrong (another writer, a full disk, a labels file that cannot be read, a
        folder that is away) is told to `on_trouble` once, and tried again until a report says that
        it has passed. Only a missing consent ends it, and a folder that never may write.
        """
        is_awaited, told = True, ""
        while not stop.is_set():
            try:
                changes = self._folder(DEFAULT_MAX_FILE_BYTES).watch(stop)
                for _ in chain([None], changes):
                    report = self.index(passwords=passwords, on_progress=on_progress)
                    if is_awaited or report.paths or report.failures or report.answers:
                        is_awaited, told = False, ""
                        yield report
            except (ConsentNeeded, LibraryClosed):
                raise
            except PinciteError as trouble:
                if self.place and isinstance(trouble, StoreReadOnly):
                    raise
                if str(trouble) != told:
                    on_trouble(trouble)
                is_awaited, told = True, str(trouble)
                stop.wait(_SECONDS_BETWEEN_TRIES)

    def index_document(
        self,
        name: str,
        data: bytes,
        *,
        labels: Mapping[str, Any] | None = None,
        method: str | None = None,
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> Uploaded:
        """Make a file searchable that is handed in: it is written into the folder, as `uploads/…`.

        The same content is the same document, wherever it stands in the library. Labels (`project`,
        `confidentiality`, `author`, `date`, `language`, `tags`, `agents`) say what the file cannot
        say itself. Of content that is there those change that are named, None takes one away, and
        nothing is embedded again. The method is a chunk policy: the library's own, or the first
        one of a library without an index. FileUnreadable says why a file cannot be read; a file
        that could not be indexed is taken away again, also where `on_progress` raises an error of
        ours to stop it.
        """
        from pincite.engine.handing_in import checked, refuse_other_method

        plain = checked(name, data, labels, method)
        self._home.refuse_folder()
        with _naming(plain), closing(patiently(self._home.write)) as store:
            header = store.header()
            refuse_other_method(header, method)
            wishes = Wishes() if header else Wishes(policy=method)
            path, is_new = self._uploads.keep(store, plain, data, labels)
            try:
                run = self._run(wishes, on_progress=on_progress)
                return self._indexed(run, store, path, is_new=is_new)
            except PinciteError:
                if is_new:
                    self._uploads.take_away(path)
                raise

    @property
    def is_written(self) -> bool:
        """Whether an index run is under way, here or in another process."""
        return self._home.is_written()

    def keep_upload(
        self, name: str, data: bytes, labels: Mapping[str, Any] | None = None
    ) -> tuple[str, bool]:
        """Only write a file that is handed in, for `index_upload` or the next update.

        Where it stands, and whether it did not before.
        """
        from pincite.engine.handing_in import checked

        plain = checked(name, data, labels)
        with _naming(plain):
            try:
                store: Store | None = self._store()
            except IndexMissing:
                store = None
            return self._uploads.keep(store, plain, data, labels)

    def index_upload(
        self,
        path: str,
        *,
        is_new: bool,
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> Uploaded:
        """Make a file searchable that was kept. One that cannot be read is taken away again.

        Nobody is waited for: LibraryBusy while another process writes.
        """
        run = self._run(Wishes(), on_progress=on_progress)
        with _naming(path), closing(self._home.write()) as store:
            try:
                return self._indexed(run, store, path, is_new=is_new)
            except FileUnreadable:
                if self._uploads.is_kept(store, path):
                    self._uploads.take_away(path)
                raise

    def take_back_upload(self, path: str) -> None:
        """Remove a file that was kept and never made searchable, whoever writes meanwhile."""
        if self._uploads.is_kept(self._store(), path):
            self._uploads.take_away(path)

    def _indexed(self, run: Run, store: Store, path: str, *, is_new: bool) -> Uploaded:
        done = run.add(self._home, store, self._sandbox, path)
        # It may have been followed before this call came to it.
        return replace(done, status="indexed") if is_new else done

    def original(self, document_id: str) -> tuple[str, bytes] | None:
        """Name and bytes of a document's file as it is now; None where there is none of that id.

        Of recognised text it is the scan or the recording. FileUnreadable where the file is gone.
        """
        from pincite.engine.indexing import recognised_from

        entry = self.entry(document_id)
        if entry is None:
            return None
        source = recognised_from(entry.path)
        path = source or entry.path
        with _naming(path), self._files.open(path) as file:
            return source.rpartition("/")[2] or entry.name, file.read()

    def delete_document(
        self, document_id: str, *, of_folder: bool = False, forget: bool = False
    ) -> DeleteStatus:
        """Delete a document and its file, if it was handed in; with `of_folder` any other, too.

        With `forget` its past goes as well, as with the method of that name.
        """
        from pincite.sources import is_upload

        if forget:
            refuse_team(self._home)
        entry = self.entry(document_id)
        if entry is None:  # what was deleted before has a past
            return self._forget_past(document_id, of_folder=of_folder) if forget else "not_found"
        if not of_folder and not is_upload(entry.path):
            raise StoreDenied(
                f"{entry.path} was not handed in but came with the folder; it is only deleted "
                "with of_folder=true"
            )
        with closing(patiently(self._home.write)) as store:
            if not store.documents([entry.id]):
                return "not_found"
            if os.path.lexists(self.root / entry.path) and self._differs(entry):
                raise LibraryBusy(
                    f"{entry.path} is another file by now than the one that was indexed, and is "
                    "not deleted; look at it again after `pincite index update`"
                )
            self._uploads.take_away(entry.path)
            self._run(Wishes()).drop(self._home, store, entry)
        if forget:
            self._forget_past(entry.id, of_folder=of_folder)
        return "deleted"

    def _forget_past(self, document_id: str, *, of_folder: bool) -> DeleteStatus:
        from pincite.sources import is_upload

        versions = 0

        def confirmed(report: ForgetReport) -> bool:
            nonlocal versions
            versions = max(versions, report.versions)  # a second attempt finds none left
            return of_folder or all(map(is_upload, report.paths))

        if not _DOCUMENT_ID.fullmatch(document_id):
            return "not_found"  # `forget` also knows paths
        try:
            report = patiently(lambda: self.forget(document_id, confirmed=confirmed))
        except CitationNotFound:
            return "not_found"
        if report is None:
            raise StoreDenied("it was not handed in but came with the folder; it is not forgotten")
        return "deleted" if versions else "not_found"

    def convert(  # noqa: PLR0913 — each is a choice of the user's
        self,
        *,
        ocr: bool = False,
        engine: OcrEngine | None = None,
        speech_model: str | Path | None = None,
        language: str | None = None,
        force: bool = False,
        passwords: tuple[str, ...] = (),
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> ConversionReport:
        """Recognise the text of images, scanned pages and recordings, as Markdown in `.converted`.

        Without `ocr` and `speech_model` it only tells what there is. What was recognised before,
        or was corrected by hand, is left alone unless `force` is given.
        """
        from pincite.engine.converting import ConversionWishes, convert_library

        _ = self._home.files  # LibraryClosed after `close`
        wishes = ConversionWishes(
            ocr=ocr,
            engine=engine,
            speech_model=None if speech_model is None else Path(speech_model),
            language=language,
            force=force,
            passwords=passwords,
        )
        return convert_library(self.root, wishes, on_progress)

    @property
    def evaluation(self) -> Evaluation:
        """Stored questions asked and judged: how well this library finds things."""
        from pincite.engine.evaluation import Evaluation

        return Evaluation(self, self._store(), self._embedders, self._home.files)

    def require_consent(self) -> None:
        """Ask now for all that the index wants; ConsentNeeded where not all of it is allowed."""
        self._embedders.require(begun(self._store().header(), self.root))

    def verify(self, *, repair: bool = False) -> list[Finding]:
        """What does not agree inside the index; with `repair`, what was mended."""
        self._release()  # a repair replaces the database under an open reader
        with closing(self._home.mend()) as store:
            findings = store.verify()
            if repair and findings:
                store.repair()
            return findings

    def forget(
        self,
        *documents: str,
        base: str | Path | None = None,
        confirmed: Callable[[ForgetReport], bool] = lambda report: True,
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> ForgetReport | None:
        """Forget documents for good: every version that the index ever held, in all its files.

        Each is named by its path, as in `show`, or by the beginning of an id. Its file must be gone
        from the folder, or be ignored. `confirmed` is told what is about to go; where it says no,
        nothing happens and None comes back. Stopped half-way, the same call does the rest.
        """
        from pincite.engine.forgetting import forget_documents

        try:
            return forget_documents(
                self._folder(DEFAULT_MAX_FILE_BYTES),
                self._home,
                lambda: self.journal,
                documents,
                seen_from=Path(base).resolve() if base is not None else self.root,
                confirmed=confirmed,
                on_progress=on_progress,
            )
        finally:
            self._live.leave()
            self.forget_questions()

    def export_to(
        self,
        file: str | Path | Sink,
        *,
        history: bool = False,
        overwrite: bool = False,
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> MoveReport:
        """Write the whole library into one file, as it stands now, while others go on writing.

        With `history` also what it held before, for a backup; without, what was deleted stays
        here. Of a team's project it is what its user may see. A file may also be a stream, to
        which the bytes are written.
        """
        from pincite.engine.exporting import export_library

        return export_library(
            self.root,
            self._home,
            Path(file) if isinstance(file, str) else file,
            history=history,
            overwrite=overwrite,
            on_progress=on_progress,
        )

    def import_from(
        self,
        file: str | Path,
        *,
        replace: bool = False,
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> MoveReport:
        """Become the library that a file holds, whole or not at all; nothing is embedded again.

        Where there is an index already, only with `replace`.
        """
        from pincite.engine.importing import import_library

        self._release()  # the index is replaced under an open reader
        return import_library(
            Path(file), self.root, self._home, replace=replace, on_progress=on_progress
        )

    def _run(
        self,
        wishes: Wishes,
        passwords: tuple[str, ...] = (),
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> Run:
        from pincite.engine.indexing import Run

        return Run(self.root, wishes, self._embedders, self._folder, passwords, on_progress)

    def _folder(self, max_file_bytes: int) -> Folder:
        from pincite.sources import Folder

        settings = SourceSettings(max_file_bytes=max_file_bytes)
        return Folder(self.root, settings, self._checksums)

    @cached_property
    def _files(self) -> Folder:
        """For looks at files that were found: a search does not look for the folder, too."""
        return self._folder(sys.maxsize)

    @cached_property
    def _uploads(self) -> Uploads:
        from pincite.engine.handing_in import Uploads

        return Uploads(self.root, self._folder)

    @cached_property
    def _checksums(self) -> Checksums:
        from pincite.sources import Checksums

        return Checksums(self._home.files / "checksums.json")

    def _differs(self, document: Document | DocumentEntry) -> bool:
        """Whether the file is not any more what was indexed."""
        try:
            return self._files.checksum(document.path) != document.checksum
        except FileUnreadable:
            return not is_apart(self._home.files)  # imported without its files: nothing to compare


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Why a file cannot be read, with its name."""
    try:
        yield
    except FileUnreadable as error:
        raise type(error)(f"{name}: {error}") from error
