"""Files handed in to a folder's library: written into it, then followed like any other file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from pincite.errors import FileUnreadable, IndexMissing, SettingsError, StoreDenied
from pincite.files import make_folder, remove, replace_file
from pincite.records import DocumentEntry, Uploaded
from pincite.settings import DEFAULT_MAX_FILE_BYTES

if TYPE_CHECKING:
    from pincite.engine.library import Library
    from pincite.ports import Store
    from pincite.records import DeleteStatus

UPLOADS = "uploads"
_LONGEST_NAME = 200  # bytes


def hand_in(library: Library, store: Callable[[], Store], name: str, data: bytes) -> Uploaded:
    """Write the file and index it; a file that cannot be read is taken away again."""
    plain = _plain_name(name)
    if len(data) > DEFAULT_MAX_FILE_BYTES:
        raise FileUnreadable(
            f"{name}: has {len(data):,} bytes, more than the {DEFAULT_MAX_FILE_BYTES:,} that are "
            "read"
        )
    checksum = hashlib.sha256(data).hexdigest()
    if (held := _held(store, checksum)) is not None:
        return Uploaded("deduplicated", held)
    path = f"{UPLOADS}/{checksum[:8]}/{plain}"
    file = library.root / path
    make_folder(file.parent, 0o755)
    replace_file(file, [data])
    report = library.index()
    if (added := _held(store, checksum)) is not None:
        return Uploaded("indexed", added)
    _remove_upload(library, path)
    told = {one.path: one.reason for one in report.failures}
    told |= {one.path: one.reason for one in report.skipped}
    raise FileUnreadable(f"{name}: {told.get(path, 'is of a kind that is not read')}")


def delete_file(
    library: Library, store: Callable[[], Store], document_id: str, *, of_folder: bool
) -> DeleteStatus:
    """Delete a document with its file; StoreDenied for one that came with the folder."""
    documents = store().documents()
    found = [one for one in documents if one.id == document_id]
    if not found:
        return "not_found"
    path = found[0].path
    if not path.startswith(f"{UPLOADS}/") and not of_folder:
        raise StoreDenied(f"{path} was not handed in but came with the folder; it is not deleted")
    _remove_upload(library, path)
    # An index run refuses to empty an index, as the disk may be away; the last one is meant to go.
    library.index(fresh=len(documents) == 1)
    return "deleted"


def _held(store: Callable[[], Store], checksum: str) -> DocumentEntry | None:
    try:
        documents = store().documents()
    except IndexMissing:
        return None
    return next((one for one in documents if one.checksum == checksum), None)


def _plain_name(name: str) -> str:
    plain = name.replace("\\", "/").rpartition("/")[2].strip()
    if not plain.isprintable() or plain.startswith(".") or not plain:
        raise SettingsError(f"{name!r} cannot be the name of a file")
    if len(plain.encode()) > _LONGEST_NAME:
        raise SettingsError(f"the name of a file has at most {_LONGEST_NAME} bytes")
    return plain


def _remove_upload(library: Library, path: str) -> None:
    file = library.root / path
    remove(file)
    if path.startswith(f"{UPLOADS}/"):
        for folder in (file.parent, file.parent.parent):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
