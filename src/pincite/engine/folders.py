"""Folders as libraries: finding them, looking into them, refusing what cannot be one."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pincite.errors import (
    FileUnreadable,
    FolderMissing,
    IndexMissing,
    IndexOutdated,
    NothingToIndex,
)
from pincite.files import remove, replace_file
from pincite.records import DocumentEntry, Filters, FoundFile, LibraryHeader, fields_of
from pincite.settings import APART_FILE, CONVERTED_FOLDER

if TYPE_CHECKING:
    from pincite.sources import Folder, Scan

INDEX_FOLDER = ".index"
# Any of them; `generation` says which one is live, and the first one may be gone; `store.json` says
# in which database the index is.
_OWN_INDEX_FILES = ("chunks.jsonl", "index.db", "generation")
_INDEX_FILES = (*_OWN_INDEX_FILES, "store.json")


def find_library(start: str | Path = ".") -> Path:
    """The nearest folder with an index, going up from where one stands."""
    here = Path(start).expanduser().resolve()
    if not here.exists():
        raise FolderMissing(f"{start} does not exist")
    for folder in (here, *here.parents):
        if has_index(folder):
            return folder
    raise IndexMissing(
        f"neither {here} nor a folder above it has an index; run `pincite index build FOLDER`"
    )


def library_around(start: str | Path) -> Path | None:
    """The nearest folder with an index, if there is one."""
    try:
        return find_library(start)
    except IndexMissing:
        return None


def has_index(folder: Path) -> bool:
    """Whether the folder has an index, in itself or in a database."""
    return any((folder / INDEX_FOLDER / name).exists() for name in _INDEX_FILES)


def has_own_index(folder: Path) -> bool:
    """Whether there is an index in the folder itself, used or not."""
    return any((folder / INDEX_FOLDER / name).exists() for name in _OWN_INDEX_FILES)


def begun(header: LibraryHeader | None, root: Path) -> LibraryHeader:
    """How the index of this folder is made; IndexMissing before its first build."""
    if header is None:
        raise IndexMissing(f"the index of {root} is empty; run `pincite index build {root}`")
    return header


def is_readable(path: str) -> bool:
    """Whether there is a reader for a file of this name."""
    from pincite.reading.sniff import MARKDOWN, kind_by_name

    kind = kind_by_name(path)
    if path.startswith(f"{CONVERTED_FOLDER}/"):
        return kind is MARKDOWN
    return kind is not None


def look_for(folder: Folder, path: str) -> Scan:
    """One file, and its labels, as a run would find them; FileUnreadable where it would not."""
    from pincite.sources import labels_file_of

    scan = folder.scan(is_readable, only=(path, labels_file_of(path)))
    if any(file.path == path for file in scan.files):
        return scan
    reasons = {one.path: one.reason for one in scan.skipped}
    if path not in reasons and not os.path.lexists(folder.root / path):
        reasons[path] = "is not there any more"
    hidden = "is hidden by a rule in .gitignore or .pinciteignore, or lies behind a link"
    raise FileUnreadable(reasons.get(path, hidden))


def refuse_empty(root: Path, scan: Scan) -> None:
    """A folder with nothing to read does not get an index."""
    if scan.files:
        return
    others = ", ".join(
        f"{count} {suffix or 'without suffix'}" for suffix, count in scan.unsupported.items()
    )
    told = _left_out(scan) + (f"; files of other kinds: {others}" if others else "")
    raise NothingToIndex(
        f"{root} holds no file that pincite can read{told or '; is it the right folder?'}"
    )


def _left_out(scan: Scan) -> str:
    """The first files that would be read if they were other than they are."""
    named = [f"{one.path} {one.reason}" for one in scan.skipped[:3]]
    if any(one.kind == "too_large" for one in scan.skipped):
        named.append("--max-file-size raises the limit")
    return "".join(f"; {one}" for one in named)


def refuse_forgetting(root: Path, scan: Scan, stored: int) -> None:
    """An empty folder is more often a disk that is not mounted than a wish to forget all."""
    if stored and not scan.files:
        raise NothingToIndex(
            f"{root} holds no file that pincite can read{_left_out(scan)}; but its index holds "
            f"{stored} documents; they are kept. If you meant to empty it, run `pincite index "
            "build --fresh`"
        )


def set_apart(files: Path) -> None:
    """Note that the folder of this index holds none of the documents' files."""
    replace_file(files / APART_FILE, ())


def is_apart(files: Path) -> bool:
    """Whether the documents' files are elsewhere: the library was imported without them."""
    return (files / APART_FILE).exists()


def join_files(files: Path) -> None:
    """Note that the index follows its folder again."""
    remove(files / APART_FILE)


def refuse_forgetting_apart(
    root: Path,
    files: Path,
    scan: Scan,
    documents: Sequence[DocumentEntry],
    checksum: Callable[[FoundFile], str],
) -> None:
    """What was imported without its files must not go because some other file came."""
    if not is_apart(files):
        return
    paths, checksums = ({one.path for one in documents}, {one.checksum for one in documents})
    if not any(one.path in paths or checksum(one) in checksums for one in scan.files):
        raise NothingToIndex(
            f"the {len(documents)} documents of this library were imported without their files, "
            f"and {root} holds none of them; they are kept. Put the files there first, or run "
            "`pincite index build --fresh` to forget the documents"
        )


_LABELS_SINCE = 3  # the ingestion version that first read projects, agents and confidentiality


def refuse_unread_labels(header: LibraryHeader, filters: Filters) -> None:
    """An index that never read such labels would let through what they should hold back."""
    asked = {"project", "agent", "confidentiality"} & set(fields_of(filters.condition))
    if asked and header.ingestion_version < _LABELS_SINCE:
        raise IndexOutdated(
            f"this index was made by a pincite that did not read {' or '.join(sorted(asked))} "
            "yet; run `pincite index update` once"
        )
