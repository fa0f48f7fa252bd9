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
from pincite.errors import FileUnreadable, StoreFull, StoreReadOnly
from pincite.files import make_folder, open_file, remove, replace_file
from pincite.records import FoundFile
from pincite.settings import CONVERTED_FOLDER

State = Literal["absent", "current", "outdated", "corrected"]
"""Of a file's text: not there, of these very bytes, of others, of others but corrected by hand."""

_NOTHING_FOUND = ".nothing-found"  # hidden, so that no reader takes it for a document
_LARGEST = 64 << 20  # bytes of one text
_FOR_ALL = 0o777  # less what the user's umask takes: people read these texts
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
        target = self._place(path)
        try:
            make_folder(target.parent, _FOR_ALL)
            replace_file(target, [text.encode()])
        except OSError as error:
            raise _in_words(error, target) from error

    def remove_as_written(self, path: str) -> None:
        """Take the text of a file away, unless somebody corrected it."""
        text = self._read(path)
        if text is not None and is_as_written(text):
            remove(self._place(path))

    def remove_of(self, is_path: Callable[[str], bool]) -> list[str]:
        """Take the texts of such files away, also what somebody corrected; whose they were."""
        removed = sorted(filter(is_path, self._paths()))
        for path in removed:
            remove(self._place(path))
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
                remove(self._place(path))
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
            make_folder(self._folder, _FOR_ALL)
            with open_file(notes, "ab") as lines:
                lines.write(f"{line}\n".encode())
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
            with open_file(place) as file:
                return file.read(_LARGEST).decode("utf-8", "replace")
        except (FileNotFoundError, NotADirectoryError):
            return None
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


def _in_words(error: OSError, place: Path) -> Exception:
    if error.errno in _FULL:
        return StoreFull(f"the disk is full; {place} could not be written, earlier ones are kept")
    if error.errno in _READ_ONLY:
        return StoreReadOnly(f"{place} cannot be written: {(error.strerror or '').lower()}")
    return FileUnreadable(f"is recognised, but cannot be kept: {(error.strerror or '').lower()}")
