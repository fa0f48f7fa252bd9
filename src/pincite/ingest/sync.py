"""Files of the folder and documents of the store → what has to be done. Pure comparison."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from pincite.records import DocumentEntry, DocumentId, FoundFile, split_recipe

Sources = Callable[[str, str], Collection[str]]
"""Path and title of a document → the source files it is about."""
Change = Literal["added", "changed", "moved", "recut", "retried"]


@dataclass(frozen=True, slots=True)
class Task:
    """One file to make searchable, and the documents that then have to go."""

    path: str
    change: Change
    replaces: tuple[DocumentId, ...] = ()
    lacking: int = 0  # chunks that got no vector the last time; the others have theirs


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that makes the store equal to the folder."""

    tasks: tuple[Task, ...]
    deleted: tuple[DocumentEntry, ...]
    unchanged: int


def compare(
    files: Iterable[FoundFile],
    documents: Iterable[DocumentEntry],
    *,
    recipe_of: Callable[[str], str],
    unreadable: Collection[str] = (),
    sources_of: Sources = lambda path, title: (),
    checksum: Callable[[FoundFile], str] = lambda file: file.checksum,
) -> Plan:
    """What to do with the files that are there and the documents that are stored.

    A page about source files is cut again where one of these is another now, and before it: a run
    that is stopped in between would not know of it any more.

    A file that cannot be read right now keeps the version that is stored. A file that went away
    while another with the same content came is a move: the new one replaces the old one.
    `checksum` is asked only where the size does not tell. `recipe_of` tells for a path how its
    document is made.
    """
    found = {file.path: file for file in files}
    stored = {document.path: document for document in documents}
    vanished = {
        path: document
        for path, document in stored.items()
        if path not in found and not is_unreadable(path, unreadable)
    }
    leaving: dict[str, list[str]] = {}
    for path, document in sorted(vanished.items()):
        leaving.setdefault(document.checksum, []).append(path)
    same = {
        path
        for path in found.keys() & stored.keys()
        if stored[path].size in (0, found[path].size)  # 0 where an older pincite stored it
        and stored[path].checksum == checksum(found[path])
    }
    # A source that cannot be read right now is as it was.
    differing = {
        path
        for path in (found.keys() | stored.keys()) - same
        if not is_unreadable(path, unreadable)
    }
    sizes = {document.size for document in vanished.values()}
    tasks = []
    pages = []
    unchanged = 0
    for path, file in sorted(found.items()):
        old = stored.get(path)
        if old is None:
            may_be_moved = file.size in sizes or 0 in sizes
            moved_from = leaving.get(checksum(file)) if may_be_moved else None
            if moved_from:
                came_from = vanished.pop(moved_from.pop(0))
                tasks.append(Task(path, "moved", (came_from.id,)))
            else:
                tasks.append(Task(path, "added"))
        elif path not in same:
            tasks.append(Task(path, "changed", (old.id,)))
        elif not differing.isdisjoint(sources_of(path, old.title)):
            pages.append(Task(path, "recut", (old.id,)))
        elif old.recipe != (recipe := recipe_of(path)):
            is_same = split_recipe(old.recipe)[0] == recipe
            lacking = old.lacking if is_same else 0
            tasks.append(Task(path, "retried" if is_same else "recut", (old.id,), lacking))
        else:
            unchanged += 1
    return Plan((*pages, *tasks), tuple(vanished.values()), unchanged)


def is_unreadable(path: str, unreadable: Collection[str]) -> bool:
    """Whether the file, or a folder it lies in, is among those; a folder's path ends with "/"."""
    folders = (path[: at + 1] for at, char in enumerate(path) if char == "/")
    return path in unreadable or any(folder in unreadable for folder in folders)
