"""The embedded store's verbs. The log is written first; the database follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pincite.errors import IndexMissing, StoreReadOnly
from pincite.files import replace_file
from pincite.records import DocumentId, EmbeddedDocument, LibraryHeader
from pincite.stores.codec import embedded_to_json, header_to_json
from pincite.stores.lines import Entry, encode
from pincite.stores.sqlite.connection import transaction, translated_errors
from pincite.stores.sqlite.meta import log_position
from pincite.stores.sqlite.reader import IndexReader
from pincite.stores.sqlite.replay import apply, catch_up, library_entry
from pincite.stores.sqlite.schema import MIGRATIONS, migrate, schema_version
from pincite.vectors import unit

if TYPE_CHECKING:
    from filelock import FileLock

    from pincite.records import Failure, Finding


class SqliteStore(IndexReader):
    """One library's index folder, read and, with its lock, written."""

    def __init__(self, folder: Path, lock: FileLock | None) -> None:
        super().__init__(folder, writable=lock is not None)
        self._lock = lock
        self._writing = False

    def recover(self) -> None:
        """Bring the schema up to date and the database up to the log; for the writer."""
        from pincite.stores.sqlite import repair

        with translated_errors(self._database):
            repair.finish(self._database, self._log)
            migrate(self._connection)
            self._log.cut_torn_tail(log_position(self._connection))
            catch_up(self._connection, self._log)

    def is_behind(self) -> bool:
        """Whether the log holds something the database has not heard of."""
        if self.is_of_older_schema():
            return True
        with translated_errors(self._database):
            return log_position(self._connection) < self._log.size()

    def is_of_older_schema(self) -> bool:
        """Whether there are no tables yet, or not all that are read today."""
        if not self._database.exists():
            return True
        with translated_errors(self._database):
            return schema_version(self._connection) < len(MIGRATIONS)

    def begin(self, header: LibraryHeader) -> None:
        """Set how the index is made. Another embedding space or name forgets all documents."""
        if header != self.header():
            self._write(library_entry(header_to_json(header)))

    def replace_document(
        self,
        embedded: EmbeddedDocument,
        *,
        replaces: Sequence[DocumentId] = (),
        recipe: str | None = None,
    ) -> None:
        """Make the document searchable and forget those it replaces, in one step."""
        header = self.header()
        if header is None:
            raise IndexMissing("the index was not begun: call begin() first")
        for chunk in embedded.chunks:
            for window in chunk.windows:
                unit(window.vector, dimensions=header.model.dimensions)
        self._write(
            {
                "event": "document",
                "recipe": header.recipe if recipe is None else recipe,
                "replaces": list(replaces),
                "document": embedded_to_json(embedded),
            }
        )
        self._update_segments(only_if_due=True)

    def remove_documents(self, ids: Sequence[DocumentId]) -> None:
        """Forget the documents with all their chunks, words and vectors."""
        if ids:
            self._write({"event": "removed", "documents": list(ids)})

    def finish(self, problems: Sequence[Failure] = ()) -> None:
        """Note that a run came to its end: the index is equal to the folder, but for these."""
        told = [[one.path, one.reason] for one in problems]
        if not self.is_complete() or told != [[one.path, one.reason] for one in self.problems()]:
            self._write({"event": "finished", "problems": told})
        self._update_segments()

    def take_over(self, entries: Iterable[Entry]) -> None:
        """Fill this empty index with the entries of another one's log."""
        with translated_errors(self._log.path):
            replace_file(self._log.path, map(encode, entries))
        self.recover()
        self._update_segments()

    def make_index(self) -> bool:
        """Segments take the place of an index, and a run's end made them."""
        return False

    def _update_segments(self, *, only_if_due: bool = False) -> None:
        """Make what searches look at first follow the tables.

        Where there is no room for it, or no right to write, searches go on with the tables: what
        can be done without must not fail what is done.
        """
        header = self.header()
        with translated_errors(self._database), suppress(OSError):
            if header and (not only_if_due or self._shelf.is_due(self._connection)):
                self._shelf.bring_up_to_date(self._connection, dimensions=header.model.dimensions)

    def _write(self, entry: Entry) -> None:
        """First the log, on disk; then the database, in one transaction."""
        if self._lock is None:
            raise StoreReadOnly("this store was opened for reading")
        if self._writing:
            self.recover()  # the write before this one failed on its way
        entry = {**entry, "time": datetime.now(UTC).isoformat(timespec="seconds")}
        self._writing = True
        position = self._log.append(entry)
        with translated_errors(self._database), transaction(self._connection):
            apply(self._connection, entry, position)
        self._writing = False

    def verify(self) -> list[Finding]:
        """Everything that does not agree inside the index; empty for a healthy one."""
        from pincite.stores.sqlite import verify

        return verify.findings(self._database, self._log, self._shelf)

    def repair(self) -> None:
        """Make everything agree again, from whatever is still sound."""
        from pincite.stores.sqlite import repair

        super().close()
        with translated_errors(self._database):
            repair.prepare(self._database, self._log)
        self.recover()
        self._update_segments()

    def close(self) -> None:
        """Give back every resource."""
        super().close()
        if self._lock is not None:
            self._lock.release()
