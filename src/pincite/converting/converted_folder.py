"""Where recognised text is kept: `.converted/<path>.md`, for people to read and to correct.

A text that somebody corrected is never written over unless that is asked for. What turned out to
hold nothing to read is remembered, so that it is not looked at again in each run.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal

from pincite.converting.markdown import is_as_written, moved, source_checksum
from pincite.errors import FileUnreadable, LibraryError, StoreFull, StoreReadOnly
from pincite.records import FoundFile
from pincite.settings import CONVERTED_FOLDER

State = Literal["absent", "current", "outdated", "corrected"]
"""Of a file's text: not there, of these very bytes, of others, of others but corrected by hand."""

_NOTHING_FOUND = ".nothing-found"  # hidden, so that no reader takes it for a document
_LARGEST = 64 << 20  # bytes of one text
_FULL = (errno.ENOSPC, errno.EDQUOT)
_READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)


class ConvertedFolder:
    """The recognised texts of one library."""

    def __init__(self, root: Path) -> None:
        self._folder = root / CONVERTED_FOLDER
        self._nothing: set[str] | None = None

    def state(self, file: FoundFile) -> State:
        """How the text of a file stands to the file as it is now."""
        text = self._read(file.path)
        if text is None:
            return "absent"
        if source_checksum(text) == file.checksum:
            return "current"
        return "outdated" if is_as_written(text) else "corrected"

    def is_corrected(self, path: str) -> bool:
        """Whether somebody changed the text of this file since it was written."""
        text = self._read(path)
        return text is not None and not is_as_written(text)

    def write(self, path: str, text: str) -> None:
        """Put the text of a file in its place: the whole of it, or nothing."""
        target, draft = self._place(path), self._folder / f".draft-{os.getpid()}"
        try:
            self._refuse_links(target)
            target.parent.mkdir(parents=True, exist_ok=True)
            draft.unlink(missing_ok=True)
            try:
                with draft.open("x", encoding="utf-8", newline="\n") as file:
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())
                draft.replace(target)
            finally:
                draft.unlink(missing_ok=True)
        except OSError as error:
            raise _in_words(error, target) from error

    def remove_as_written(self, path: str) -> None:
        """Take the text of a file away, unless somebody corrected it."""
        text = self._read(path)
        if text is not None and is_as_written(text):
            self._place(path).unlink()

    def remove_of(self, is_path: Callable[[str], bool]) -> list[str]:
        """Take the texts of such files away, also what somebody corrected; whose they were."""
        removed = sorted(filter(is_path, self._paths()))
        for path in removed:
            self._refuse_links(self._place(path))
            self._place(path).unlink()
        return removed

    def follow_moves(self, files: Iterable[FoundFile]) -> tuple[list[str], list[str]]:
        """Take texts along to where their files went, and say where; and whose files are gone."""
        by_path = {file.path: file for file in files}
        alone = sorted(path for path in self._paths() if path not in by_path)
        if not alone:
            return [], []
        homeless = {
            file.checksum: path for path, file in by_path.items() if not self._place(path).exists()
        }
        arrived, left = [], []
        for path in alone:
            text = self._read(path) or ""
            target = homeless.pop(source_checksum(text) or "", None)
            if target is None:
                left.append(path)
            else:
                self.write(target, moved(text, target))
                self._place(path).unlink()
                arrived.append(target)
        return arrived, left

    def holds_nothing(self, file: FoundFile, engine: str) -> bool:
        """Whether an engine looked at these very bytes before, and found no text."""
        return f"{file.checksum} {engine}" in self._noted()

    def note_nothing(self, file: FoundFile, engine: str) -> None:
        """Remember that an engine finds no text in these bytes."""
        if self.holds_nothing(file, engine):
            return
        self._noted().add(line := f"{file.checksum} {engine}")
        notes = self._folder / _NOTHING_FOUND
        try:
            self._refuse_links(notes)
            self._folder.mkdir(exist_ok=True)
            with notes.open("a", encoding="utf-8") as lines:
                lines.write(line + "\n")
        except OSError as error:
            raise _in_words(error, notes) from error

    def empty_checksums(self) -> frozenset[str]:
        """Of all files in which some engine found no text."""
        return frozenset(line.partition(" ")[0] for line in self._noted())

    def _noted(self) -> set[str]:
        """Checksum and engine of what was looked at in vain."""
        if self._nothing is None:
            self._nothing = set((self._content(self._folder / _NOTHING_FOUND) or "").splitlines())
        return self._nothing

    def _read(self, path: str) -> str | None:
        return self._content(self._place(path))

    def _content(self, place: Path) -> str | None:
        """What a file of ours holds; None where there is none, or something that is no file."""
        try:
            self._refuse_links(place)
            if not place.is_file():
                return None
            with place.open("rb") as file:
                return file.read(_LARGEST).decode("utf-8", "replace")
        except OSError as error:
            raise _in_words(error, place) from error

    def _paths(self) -> Iterator[str]:
        """The files whose texts are here, whether they still exist or not."""
        for folder, folders, names in os.walk(self._folder):
            folders[:] = (name for name in folders if not name.startswith("."))
            for name in names:
                if name.endswith(".md") and not name.startswith("."):
                    place = Path(folder, name).relative_to(self._folder)
                    yield place.as_posix().removesuffix(".md")

    def _place(self, path: str) -> Path:
        return self._folder / f"{path}.md"

    def _refuse_links(self, place: Path) -> None:
        """Nothing outside the library is read or written, whatever links lead there."""
        while place != self._folder.parent:
            if place.is_symlink():
                raise LibraryError(
                    f"{place} is a link; recognised text is only kept inside the library"
                )
            place = place.parent


def _in_words(error: OSError, place: Path) -> Exception:
    if error.errno in _FULL:
        return StoreFull(f"the disk is full; {place} could not be written, earlier ones are kept")
    if error.errno in _READ_ONLY:
        return StoreReadOnly(f"{place} cannot be written: {(error.strerror or '').lower()}")
    return FileUnreadable(f"is recognised, but cannot be kept: {(error.strerror or '').lower()}")
