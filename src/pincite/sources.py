"""Folders of a user → names and bytes of files. The only module that opens user files."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

from pincite.errors import FileUnreadable, FolderMissing, LibraryError, PathRefused
from pincite.files import open_file, replace_file
from pincite.records import FoundFile
from pincite.settings import LABELS_FILE, UPLOADS_FOLDER, SourceSettings

if TYPE_CHECKING:
    import watchfiles

    from pincite.records import SkipKind, Skipped

OWN_LETTERS = 20  # of a checksum, for the folder of an upload: nobody finds a file that has others'
_UPLOAD = re.compile(rf"{UPLOADS_FOLDER}/[0-9a-f]{{{OWN_LETTERS}}}/[^/]+")

_Rule = tuple[re.Pattern[str], bool]  # what it matches, and whether that is ignored
_MOST_RULES = 5_000  # in force at one place; each is tried on every path below it
_LONGEST_RULE = 1_000  # characters; the longest name has 255


@dataclass(frozen=True, slots=True)
class Scan:
    """What a folder holds, by path. Hidden and ignored files are left out without a word."""

    files: tuple[FoundFile, ...]
    skipped: tuple[Skipped, ...]
    unsupported: Mapping[str, int]  # files of unknown kinds by extension, "" where there is none
    labels: Mapping[str, str] = field(default_factory=dict)  # files with labels: their checksums


def is_upload(path: str) -> bool:
    """Whether a file stands where those do that were handed in."""
    return _UPLOAD.fullmatch(path) is not None


def labels_file_of(path: str) -> str:
    """Where labels stand that were given with a file: beside it, if it was handed in.

    A file that came with the folder is labelled from a folder of its own below the uploads.
    """
    folder = path.rpartition("/")[0]
    if not is_upload(path):
        folder = f"{UPLOADS_FOLDER}/{hashlib.sha256(path.encode()).hexdigest()[:OWN_LETTERS]}"
    return f"{folder}/{LABELS_FILE}"


_RACY = 2_000_000_000  # nanoseconds; FAT tells when a file was changed in steps of two seconds
Seen = tuple[int, int, int, int]
"""Of a file: its size, when it was modified and changed (which nobody can set), when it was seen"""


class Checksums:
    """The SHA-256 of files, so that those that did not change need not be read again.

    As git's index, it can be thrown away: then each file is read once more.
    """

    def __init__(self, file: Path | None = None, clock: Callable[[], int] = time.time_ns) -> None:
        self._file = file
        self._clock = clock
        self._is_saved = True

    def seen(self, status: os.stat_result) -> Seen:
        """A file as it is now; whoever hashes it afterwards can `note` it so."""
        return status.st_size, status.st_mtime_ns, status.st_ctime_ns, self._clock()

    def note(self, path: str, seen: Seen, checksum: str) -> None:
        """Remember the checksum of what was read after the file was seen so."""
        self._known[path] = (*seen, checksum)
        self._is_saved = False

    def of(self, path: str, status: os.stat_result) -> str:
        """The checksum; empty where the file may have changed since it was noted.

        A file that was changed shortly before it was seen could change once more and look the
        same; git calls that racily clean.
        """
        match self._known.get(path):
            case [int() as size, int() as modified, int() as changed, int() as at, str() as noted]:
                is_same = (size, modified, changed) == self.seen(status)[:3]
                return noted if is_same and max(modified, changed) + _RACY <= at else ""
        return ""

    def save(self, paths: Iterable[str]) -> None:
        """Keep what is known of these files for the next process, where that can be done."""
        if self._file is None or self._is_saved:
            return
        known = {path: self._known[path] for path in paths if path in self._known}
        with suppress(OSError, PathRefused):
            replace_file(self._file, [json.dumps(known).encode()])
            self._is_saved = True

    @cached_property
    def _known(self) -> dict[str, Sequence[int | str]]:
        with suppress(OSError, ValueError, PathRefused):
            if self._file is not None:
                with open_file(self._file) as file:
                    known = json.load(file)
                return known if isinstance(known, dict) else {}
        return {}


class Folder:
    """A folder of documents. Nothing outside it is ever opened, whatever its links say."""

    def __init__(
        self,
        root: Path,
        settings: SourceSettings | None = None,
        checksums: Checksums | None = None,
    ) -> None:
        _refuse_missing(root)
        self.root = root.resolve()
        self.settings = settings or SourceSettings()
        self.checksums = checksums or Checksums()
        self._read: dict[str, Seen] = {}  # whose checksum nobody noted yet

    def scan(
        self,
        readable: Callable[[str], bool],
        *,
        hashed: bool = False,
        only: Collection[str] | None = None,
    ) -> Scan:
        """Find the files for which `readable(path)`; of these paths only, where they are given.

        A file or folder that cannot be used is a line in `skipped`, never an error. No file is
        read, unless all are to be `hashed`: a checksum that is not known is empty.
        """
        return _Scanner(self, readable, hashed, only).run()

    def read(self, path: str) -> bytes:
        """The bytes of one file below the root; FileUnreadable in plain words otherwise."""
        with self.open(path) as file:
            self._read[path] = self.checksums.seen(os.fstat(file.fileno()))
            data = file.read(self.settings.max_file_bytes + 1)
        self._refuse_size(len(data))
        return data

    def note(self, path: str, checksum: str) -> None:
        """Remember the checksum of the bytes that `read` gave."""
        self.checksums.note(path, self._read.pop(path), checksum)

    def checksum(self, path: str) -> str:
        """The SHA-256 of one file, which is read where it may have changed; or FileUnreadable."""
        with suppress(OSError):
            if known := self.checksums.of(path, os.lstat(self.root / path)):
                return known
        checksum, size = hashlib.sha256(), 0
        with self.open(path) as file:
            seen = self.checksums.seen(os.fstat(file.fileno()))
            while block := file.read(1 << 20):
                checksum.update(block)
                size += len(block)
                self._refuse_size(size)  # also ends the reading of a file that grows and grows
        self.checksums.note(path, seen, checksum.hexdigest())
        return checksum.hexdigest()

    def watch(self, stop: threading.Event) -> Iterator[None]:
        """Yield as soon as changes are seen, then after each burst of them, until `stop` is set.

        Whoever has looked at the folder before looks once more at the first yield, and so misses
        nothing that changed in between.
        """
        import watchfiles

        _refuse_missing(self.root)  # watchfiles would wait for it
        try:
            begun = False
            for changes in watchfiles.watch(
                self.root,
                # The first yield must not wait until the files of our own are left alone.
                watch_filter=lambda change, path: not begun or self._matters(change, path),  # noqa: B023 — as it is by then
                debounce=500,  # ms; an editor saves in several steps, to its user one change
                stop_event=stop,
                rust_timeout=500,
                yield_on_timeout=True,
                ignore_permission_denied=True,
            ):
                if changes or not begun:
                    begun = True
                    yield
        except OSError as error:
            raise LibraryError(f"cannot follow {self.root}: {_in_words(error)}") from error

    def _matters(self, _change: watchfiles.Change, path: str) -> bool:
        *folders, name = Path(path).relative_to(self.root).parts or ("",)
        hidden = name.startswith(".") and name not in self.settings.ignore_files
        below = folders[1:] if folders[:1] == [self.settings.hidden_folder] else folders
        return not (hidden or any(folder.startswith(".") for folder in below))

    @contextmanager
    def open(self, path: str) -> Iterator[BinaryIO]:
        """One file below the root, to read from; FileUnreadable in plain words otherwise."""
        parts = path.split("/")
        if "\0" in path or any(part in ("", ".", "..") for part in parts):
            raise FileUnreadable("is not a path inside the folder")
        try:
            with open_file(self.root.joinpath(*parts)) as file:
                yield file
        except PathRefused as error:
            is_itself = error.path == self.root.joinpath(*parts)
            raise FileUnreadable(error.what if is_itself else "lies behind a link") from error
        except OSError as error:
            raise FileUnreadable(_in_words(error)) from error

    def _refuse_size(self, size: int) -> None:
        if size > (limit := self.settings.max_file_bytes):
            raise FileUnreadable(f"is larger than {limit / 1e6:g} MB")


def _refuse_missing(root: Path) -> None:
    if not root.is_dir():
        what = "is not a folder" if root.exists() else "does not exist"
        raise FolderMissing(f"{root} {what}; name the folder that holds your documents")


def _in_words(error: OSError | FileUnreadable) -> str:
    if isinstance(error, FileUnreadable):
        return str(error)
    if error.errno == errno.ENOTDIR:
        return "lies behind a file, not in a folder"
    return (error.strerror or str(error)).lower()


@dataclass(frozen=True, slots=True)
class _Place:
    """A folder on the way down and the ignore rules that hold in it, the nearest file's last."""

    path: str = ""  # ends with a slash, but for the root
    rules: tuple[tuple[str, list[_Rule]], ...] = ()  # with the folder they count from

    def ignores(self, path: str) -> bool:
        """As git decides: by the last rule that matches, in the nearest file that has one."""
        for base, rules in reversed(self.rules):
            below = path.removeprefix(base)
            for pattern, ignores in reversed(rules):
                if pattern.search(below):
                    return ignores
        return False


def _rule(line: str) -> _Rule | None:
    """The rule for an entry itself; None for comments and for what git would not understand.

    pathspec's expressions also match whatever lies below an entry. Walking down, that is decided
    already, and would undo the usual `*`, `!*/`, `!*.md`: so a slash it marks must end the path,
    while `folder/**` is about what the folder holds and not about the folder.
    """
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    try:
        pattern = GitIgnoreSpecPattern(line)
        if pattern.regex is None or pattern.include is None:
            return None
        source = _linear(pattern.regex.pattern.replace("(?P<ps_d>/)", r"/\Z"))
        return re.compile(source + "." if source.endswith("/") else source), pattern.include
    except (ValueError, re.error):
        return None


def _linear(source: str) -> str:
    """The same expression, with wildcards that never try a second place.

    What stands between two `*`, or between two `**`, can be taken where it is first found: if the
    rest fails from there, it fails from anywhere behind. The lookahead keeps `re` to that choice.
    """
    groups = count()

    def first_found(expression: str) -> str:
        name = f"g{next(groups)}"
        return f"(?=(?P<{name}>{expression}))(?P={name})"

    def in_one_name(part: str) -> str:
        start, *others = part.split("[^/]*")
        kept = [first_found(f"[^/]*?{other}") for other in others[:-1]]
        return "".join([start, *kept, *(f"[^/]*{other}" for other in others[-1:])])

    start, *others = source.replace("(?:/.+)?/", "/(?:.+/)?").split("(?:.+/)?")
    behind = [f"(?:[^/]+/)*?{in_one_name(other)}" for other in others]
    return "".join([in_one_name(start), *map(first_found, behind[:-1]), *behind[-1:]])


@dataclass(frozen=True, slots=True)
class _Scanner:
    """One walk over a folder, without recursion: folders may be nested as deep as they like."""

    folder: Folder
    readable: Callable[[str], bool]
    hashed: bool
    only: Collection[str] | None = None
    labels: dict[str, str] = field(default_factory=dict)
    files: list[FoundFile] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    unsupported: Counter[str] = field(default_factory=Counter)

    def run(self) -> Scan:
        pending = [_Place()]
        while pending:
            pending.extend(self._visit(pending.pop()))
        return Scan(
            files=tuple(sorted(self.files, key=lambda file: file.path)),
            skipped=tuple(sorted(self.skipped, key=lambda skipped: skipped.path)),
            unsupported=dict(sorted(self.unsupported.items())),
            labels=self.labels,
        )

    def _visit(self, place: _Place) -> Iterator[_Place]:
        """Take the files of one folder; give the folders in it."""
        try:
            entries = self._entries(place)
        except OSError as error:
            if not place.path:
                raise LibraryError(f"{self.folder.root}: {_in_words(error)}") from error
            self._skip(place.path, _in_words(error), "unreadable")
            return
        place = self._with_rules(place, {entry.name for entry in entries})
        for entry in (entry for entry in entries if self._is_shown(place, entry.name)):
            try:
                if below := self._take(place, entry):
                    yield below
            except (OSError, FileUnreadable) as error:
                self._skip(place.path + entry.name, _in_words(error), "unreadable")

    def _entries(self, place: _Place) -> Sequence[os.DirEntry[str] | Path]:
        """What is in a folder; where some paths only are wanted, what leads to these."""
        folder = self.folder.root / place.path
        if self.only is None:
            with os.scandir(folder) as listing:
                return list(listing)
        ways = (one.removeprefix(place.path) for one in self.only if one.startswith(place.path))
        names = {*self.folder.settings.ignore_files, *(way.partition("/")[0] for way in ways)}
        return [folder / name for name in sorted(names) if os.path.lexists(folder / name)]

    def _is_shown(self, place: _Place, name: str) -> bool:
        settings = self.folder.settings
        if not place.path and name in (settings.hidden_folder, *settings.own_files):
            return name == settings.hidden_folder
        return not name.startswith(".")

    def _with_rules(self, place: _Place, names: set[str]) -> _Place:
        for name in (name for name in self.folder.settings.ignore_files if name in names):
            try:
                source = self.folder.read(place.path + name).decode("utf-8-sig", "replace")
                lines = source.split("\n")
                room = _MOST_RULES - sum(len(rules) for _, rules in place.rules)
                short = (line.rstrip("\r") for line in lines if len(line) <= _LONGEST_RULE)
                rules = list(islice(filter(None, map(_rule, short)), room + 1))
                place = _Place(place.path, (*place.rules, (place.path, rules[:room])))
                if len(rules) > room or any(len(line) > _LONGEST_RULE for line in lines):
                    reason = (
                        f"is followed in part: at most {_MOST_RULES:,} rules are, and none of more "
                        f"than {_LONGEST_RULE:,} characters"
                    )
                    self._skip(place.path + name, reason, "unreadable")
            except FileUnreadable as error:
                self._skip(place.path + name, str(error), "unreadable")
        return place

    def _take(self, place: _Place, entry: os.DirEntry[str] | Path) -> _Place | None:
        """Take the entry if it is a file; give it back if it is a folder to visit."""
        path = place.path + entry.name
        if entry.name == LABELS_FILE and is_upload(path):
            self.labels[path] = self.folder.checksum(path)
            return None
        status = entry.stat(follow_symlinks=False)
        is_folder = stat.S_ISDIR(status.st_mode)
        if place.ignores(path + "/" if is_folder else path):
            return None
        printable = os.fsencode(path).decode("utf-8", "backslashreplace")
        if printable != path and (is_folder or self.readable(path)):
            self._skip(printable, "has a name that is not valid UTF-8", "unreadable")
        elif is_folder:
            return _Place(path + "/", place.rules)
        elif stat.S_ISLNK(status.st_mode):
            self._take_link(path)
        elif stat.S_ISREG(status.st_mode):
            self._take_file(path, status)
        else:
            self._skip(path, "is not a regular file", "special")
        return None

    def _take_link(self, path: str) -> None:
        """Links are not followed; one that leads to another place in the folder is no loss."""
        try:
            target = (self.folder.root / path).resolve(strict=True)
        except (OSError, RuntimeError):  # RuntimeError: how Python before 3.13 reports a loop
            self._skip(path, "is a link that leads nowhere", "link")
        else:
            if not target.is_relative_to(self.folder.root):
                self._skip(path, "is a link that leads out of the folder", "link")

    def _take_file(self, path: str, status: os.stat_result) -> None:
        size = status.st_size
        if not self.readable(path):
            self.unsupported[PurePosixPath(path).suffix.lower()] += 1
        elif size == 0:
            self._skip(path, "is empty", "empty")
        elif size > (limit := self.folder.settings.max_file_bytes):
            self._skip(path, f"is larger than {limit / 1e6:g} MB", "too_large")
        else:
            known = self.folder.checksums.of(path, status)
            checksum = self.folder.checksum(path) if self.hashed else known
            self.files.append(FoundFile(path, size, checksum))

    def _skip(self, path: str, reason: str, kind: SkipKind) -> None:
        from pincite.records import Skipped

        self.skipped.append(Skipped(path, reason, kind))
