"""What a library holds, file by file, and how that stands to the folder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pincite.ports import Store
from pincite.records import CatalogEntry, CatalogState, DocumentEntry, Failure, Filters
from pincite.text.words import fold


def catalog(
    store: Store, root: Path | None, question: str, filters: Filters = Filters()
) -> list[CatalogEntry]:
    """Every file by path, or those whose name, title, author, tags or summary speak to a question.

    Without a folder the files are in the database.

    Files that could not be read are found by their names, and no filter lets them through.
    """
    problems = {one.path: one for one in store.problems()}
    wanted = fold(question).split()
    indexed = store.paths()
    see = partial(store.documents, filters=filters)
    documents = store.find_documents(question, filters=filters) if wanted else see()
    if wanted:  # also by a part of the name, such as `perks` of PerksPlus.pdf
        described = {one.id for one in documents}
        named = (name for path, name in indexed.items() if _is_called(path, wanted))
        documents += see([name for name in named if name not in described])
    unread = [
        CatalogEntry(problem.path, "not read", reason=problem.reason)
        for path, problem in problems.items()
        if filters.none_given and path not in indexed and _is_called(path, wanted)
    ]
    found = [_entry(root, document, problems.get(document.path)) for document in documents]
    return [*found, *unread] if wanted else sorted([*found, *unread], key=lambda one: one.path)


def _is_called(path: str, words: Sequence[str]) -> bool:
    return all(word in fold(path) for word in words)


def _entry(root: Path | None, document: DocumentEntry, problem: Failure | None) -> CatalogEntry:
    """A document with its state; by its file's size, as reading all files would take long."""
    state: CatalogState = "indexed"
    reason = ""
    try:
        size = (root / document.path).lstat().st_size if root else document.size
    except OSError:
        state = "missing"
    else:
        if problem is not None:
            state, reason = "changed", f"the new version cannot be read: it {problem.reason}"
        elif document.size and size != document.size:
            state = "changed"
        elif document.metadata.notes:
            state, reason = "partly read", "; ".join(document.metadata.notes)
        elif document.lacking:
            state, reason = "partly embedded", f"no vector yet for {document.lacking} of its chunks"
    return CatalogEntry(document.path, state, document, reason)
