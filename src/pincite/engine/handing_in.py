"""Files that are handed in: what they may be called, what is said of them, where a folder has them.

A folder stays the truth: a file that is handed in is written into it, as `uploads/…`, with a labels
file beside it where something is said of it, and is followed like any other file from then on.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from pincite.engine.folders import is_readable, look_for
from pincite.errors import FileUnreadable, SettingsError, did_you_mean
from pincite.files import make_folder, remove, remove_ours, replace_file
from pincite.records import LEVELS, LibraryHeader
from pincite.settings import (
    DEFAULT_MAX_FILE_BYTES,
    LABELS_FILE,
    UPLOADS_FOLDER,
    SourceSettings,
    policy_named,
)
from pincite.sources import OWN_LETTERS, Folder, is_upload, labels_file_of

if TYPE_CHECKING:
    from pincite.ports import Store
    from pincite.reading.labels import LabelsFile

_LONGEST_NAME = 200  # bytes
_LABELS = ("project", "confidentiality", "author", "date", "language", "tags", "agents")
_ALLOWED = (
    "labels are project, author, language (texts), date (2024-05-31, 2024-05 or 2024), "
    f"confidentiality ({', '.join(LEVELS[:-1])} or {LEVELS[-1]}), tags and agents (lists of texts)"
)


def _plain_name(name: object) -> str:
    """What a file that is handed in is called, without the folders before it."""
    if not isinstance(name, str):
        raise SettingsError(f"the name of a file must be a str, not {type(name).__name__}")
    plain = name.replace("\\", "/").rpartition("/")[2].strip()
    if not plain.isprintable():
        raise SettingsError(f"the name of a file must be printable: {name!r}")
    if not plain or plain.startswith(".") or len(plain.encode()) > _LONGEST_NAME:
        raise SettingsError(
            f"{name!r} cannot be the name of a file: it needs 1 to {_LONGEST_NAME} bytes and no "
            "dot before them"
        )
    if plain.casefold() in SourceSettings().own_files:
        raise SettingsError(f"{plain!r} is a file of pincite's own, which is not handed in")
    return plain


def checked(name: object, data: object, labels: object, method: str | None = None) -> str:
    """The plain name of a file that can be handed in with these labels; SettingsError otherwise.

    It also says what a type checker would: not every program has one.
    """
    plain = _plain_name(name)
    if method is not None:
        policy_named(method)
    if not isinstance(data, bytes):
        raise SettingsError(
            f"{plain}: data must be the bytes of the file, not {type(data).__name__}; open it with "
            'mode "rb", or write text.encode()'
        )
    if not isinstance(labels, Mapping | None):
        raise SettingsError(
            f'{plain}: labels must be a mapping such as {{"tags": ["lease"]}}, not '
            f"{type(labels).__name__}"
        )
    for label in labels or ():
        if label == "name":
            raise SettingsError("`name` is no label: hand the file in under that name")
        if label not in _LABELS:
            meant = did_you_mean(str(label), [*_LABELS])
            raise SettingsError(f"there is no label {label!r}{meant}; {_ALLOWED}")
    labels_of(plain, {key: one for key, one in (labels or {}).items() if one is not None})
    return plain


def refuse_too_large(data: bytes, limit: int) -> None:
    """A file that would not be read is not taken in."""
    if len(data) > limit:
        raise FileUnreadable(f"has {len(data):,} bytes, more than the {limit:,} that are read")


def refuse_other_method(header: LibraryHeader | None, method: str | None) -> None:
    """All documents of an index are cut by one policy."""
    if method is None or header is None or policy_named(method).name == header.policy:
        return
    raise SettingsError(
        f"the documents here are cut by the policy {header.policy}, and one alone cannot be cut by "
        f"{method}; leave the method out, or move all of them with `pincite reindex --policy "
        f"{method}`"
    )


def labels_of(files: str, said: Mapping[str, Any]) -> LabelsFile:
    """What is said of a file, as a reader takes it; SettingsError where it cannot be used."""
    from pincite.reading.labels import parse_labels

    told = {"version": 1, "labels": [{**said, "files": files}]}
    try:
        data = json.dumps(told, ensure_ascii=False).encode()
        labels = parse_labels(data)
    except (FileUnreadable, TypeError, ValueError) as error:
        raise SettingsError(f"these labels cannot be used: {error}; {_ALLOWED}") from error
    if b"\\u0000" in data:
        raise SettingsError("these labels cannot be used: NUL is in no text")
    return labels


def labels_now(
    known: Mapping[str, Any], said: Mapping[str, Any] | None, *, name: str, path: str
) -> dict[str, Any]:
    """What is said of a file by now: what is not named stays, and None takes something away.

    Its name is said where the path has another one.
    """
    own = None if name == path.rpartition("/")[2] else name
    labels = {**known, **(said or {}), "name": own}
    return {key: one for key, one in labels.items() if one is not None}


class Uploads:
    """The files that were handed in to a folder, and what is said of them."""

    def __init__(self, root: Path, folder: Callable[[int], Folder]) -> None:
        self._root = root
        self._folder = folder
        self._keeping = Lock()  # of two who bring the same file, one writes it

    def keep(
        self, store: Store | None, name: str, data: bytes, labels: Mapping[str, Any] | None
    ) -> tuple[str, bool]:
        """Write a file that was checked, and its labels; where it stands, and if it did not before.

        Content that stands in the folder already gets the labels, and is not written again.
        """
        if not is_readable(name):
            hint = "" if "." in name else "; a text needs a name such as notes.txt"
            raise FileUnreadable(f"is of a kind that is not read{hint}")
        header = store.header() if store else None
        folder = self._folder(header.max_file_bytes if header else DEFAULT_MAX_FILE_BYTES)
        refuse_too_large(data, folder.settings.max_file_bytes)
        checksum = hashlib.sha256(data).hexdigest()
        with self._keeping:
            if path := self._standing(folder, store, checksum):
                self._label(path, self._said_of(path), labels, name)
                self._look_for(folder, path)
                return path, False
            folder_name = f"{UPLOADS_FOLDER}/{checksum[:OWN_LETTERS]}"
            if others := _files_in(self._root / folder_name):
                raise SettingsError(
                    f"{folder_name}/{others[0]} was changed since it was handed in, and is kept; "
                    "move it to another folder to hand the file in once more"
                )
            path = f"{folder_name}/{name}"
            self.take_away(path)  # labels whose file is gone
            try:
                # Labels first: nobody may see the file without them.
                self._label(path, {}, labels, name)
                _write(self._root / path, data)
                self._look_for(folder, path)
            except BaseException:
                self.take_away(path)
                raise
        return path, True

    def is_kept(self, store: Store, path: str) -> bool:
        """Whether the file is as it was handed in, and no document was ever made of it."""
        folder = self._folder(sys.maxsize)
        with suppress(FileUnreadable):
            checksum = folder.checksum(path)
            given = is_upload(path) and checksum.startswith(path.split("/")[1])
            return given and not store.documents(checksum=checksum)
        return False

    def take_away(self, path: str) -> None:
        """Remove a file with its labels, and the folders that were made for them."""
        from pincite.stores.sqlite.connection import translated_errors

        labels = self._root / labels_file_of(path)
        with translated_errors(self._root / path):
            remove(self._root / path)
            remove_ours(labels.parent, labels.name)
            remove_ours(labels.parent.parent)

    def _standing(self, folder: Folder, store: Store | None, checksum: str) -> str:
        """Where a file of this content stands, indexed or not yet; empty where there is none."""
        own = self._root / UPLOADS_FOLDER / checksum[:OWN_LETTERS]
        paths = [f"{UPLOADS_FOLDER}/{own.name}/{name}" for name in _files_in(own)]
        if store is not None:
            paths += [one.path for one in store.documents(checksum=checksum)]
        for path in paths:
            with suppress(FileUnreadable):
                look_for(folder, path)
                if folder.checksum(path) == checksum:
                    return path
        return ""

    def _look_for(self, folder: Folder, path: str) -> None:
        """Refuse what a run would not read, or not with its labels."""
        labels = labels_file_of(path)
        if labels not in look_for(folder, path).labels and os.path.lexists(self._root / labels):
            remove_ours((self._root / labels).parent, LABELS_FILE)
            raise FileUnreadable(
                f"cannot be labelled: a rule in .gitignore or .pinciteignore hides {labels}"
            )

    def _said_of(self, path: str) -> dict[str, Any]:
        """What the labels file of a file says by now: people may have changed it."""
        from pincite.reading.labels import parse_labels

        file = labels_file_of(path)
        if not os.path.lexists(self._root / file):
            return {}
        try:
            return parse_labels(self._folder(DEFAULT_MAX_FILE_BYTES).read(file)).said
        except FileUnreadable as error:
            raise FileUnreadable(f"{file} {error}") from error

    def _label(
        self, path: str, known: dict[str, Any], labels: Mapping[str, Any] | None, name: str
    ) -> None:
        if not is_upload(path):  # what came with the folder keeps its name
            name = known.get("name") or path.rpartition("/")[2]
        said = labels_now(known, labels, name=name, path=path)
        if said == known:
            return
        file = self._root / labels_file_of(path)
        if not said:
            remove_ours(file.parent, file.name)
            return
        files = f"{path.rpartition('/')[0]}/" if is_upload(path) else path
        told = {"version": 1, "labels": [{"files": files, **said}]}
        _write(file, json.dumps(told, ensure_ascii=False, indent=2).encode() + b"\n")


def _write(file: Path, data: bytes) -> None:
    from pincite.stores.sqlite.connection import translated_errors

    with translated_errors(file):
        make_folder(file.parent, 0o755)
        replace_file(file, [data])


def _files_in(folder: Path) -> list[str]:
    """The names of what people see in the folder of an upload, but for its labels."""
    with suppress(OSError):
        found = sorted(os.listdir(folder))  # noqa: PTH208 — names, not paths
        return [name for name in found if name != LABELS_FILE and not name.startswith(".")]
    return []
