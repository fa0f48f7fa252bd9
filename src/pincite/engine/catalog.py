"""What a library holds, file by file, and how that stands to the folder."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from pincite.answer.route import subject, suffixes_of
from pincite.ports import Store
from pincite.records import (
    CatalogEntry,
    CatalogState,
    DocumentEntry,
    Failure,
    Filters,
    cited_file,
)
from pincite.retrieve.understand.date_words import DateRange, dates_asked_for
from pincite.text.dates import day_span
from pincite.text.words import WORD, fold

_BY_DATE = re.compile(r"\b(?:(newest|latest|recent(?:ly)?)|oldest|earliest)\b", re.IGNORECASE)
_BY_SIZE = re.compile(r"\b(?:(largest|biggest)|smallest)\b", re.IGNORECASE)
_ADDED = re.compile(r"\b(?:added|uploaded|indexed)\b", re.IGNORECASE)
_ASKS_WHO = re.compile(r"\b(?:by|from|wrote|writ\w+|author\w*|created|made)\b", re.IGNORECASE)
_DATED = re.compile(r"\bdated\b|(?<![\w./-])(?=(?:19|20)\d\d(?![\w./-]))", re.IGNORECASE)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


def catalog(
    store: Store, root: Path | None, question: str, filters: Filters = Filters()
) -> list[CatalogEntry]:
    """Every file by path, or those whose name, title, author, tags or summary speak to a question.

    Its types, dates and authors are kept to; words that only ask for files look for nothing.
    Without a folder the files are in the database.

    Files that could not be read are found by their names and types; a filter of anything else
    keeps them out.
    """
    problems = {one.path: one for one in store.problems()}
    indexed = store.paths()
    unread = _named(filters, problems.keys() - indexed.keys())
    span, words = _understood(question)

    def found(words: Sequence[str], types: Collection[str]) -> list[CatalogEntry]:
        if words:  # also by a part of the name, such as `perks` of PerksPlus.pdf
            documents = store.find_documents(" ".join(words), filters=filters)
            described = {one.id for one in documents}
            named = (name for path, name in indexed.items() if _is_called(path, words))
            more = [name for name in named if name not in described]
            documents += store.documents(more, filters=filters)
        else:
            documents = store.documents(filters=filters)
        entries = [_entry(root, document, problems.get(document.path)) for document in documents]
        entries += [
            CatalogEntry(path, "not read", reason=problems[path].reason)
            for path in unread
            if _is_called(path, words)
        ]
        if not words:
            entries.sort(key=lambda one: one.path)
        return [
            one
            for one in entries
            if (not types or type_of(one) in types) and _is_of(one, span, question)
        ]

    held = {_suffix(path) for path in (*indexed, *problems)}
    kinds = {
        word: types
        for word in words
        if (types := suffixes_of(word) or held & {word, word.removesuffix("s")})
    }
    others = [word for word in words if word not in kinds]
    entries = found(others, {one for types in kinds.values() for one in types})
    if not entries and others:  # video editing
        entries = found(words, ())
        if any(word.endswith("s") for word in kinds):  # hydrophone recordings: by its name only
            entries = [one for one in entries if _is_named(one, words)]
    written = {one.path: len(_authors(one).intersection(words)) for one in entries}
    entries.sort(key=lambda one: -written[one.path])
    if _ASKS_WHO.search(question) and any(written.values()):
        entries = [one for one in entries if written[one.path] == written[entries[0].path]]
    if _BY_DATE.search(question) or _BY_SIZE.search(question):  # the newest minutes are minutes
        entries = [one for one in entries if _is_named(one, others)] or entries
    if by_date := _BY_DATE.search(question):
        entries.sort(key=lambda one: _when(one, question), reverse=bool(by_date[1]))
        entries.sort(key=lambda one: not _when(one, question)[0])  # what says no date comes last
    elif by_size := _BY_SIZE.search(question):
        sizes = {one.path: one.document.size if one.document else 0 for one in entries}
        entries.sort(key=lambda one: sizes[one.path], reverse=bool(by_size[1]))
    return entries


def type_of(entry: CatalogEntry) -> str:
    """The type of the file that a reader would open: of a scan the picture's."""
    if entry.document is None:
        return _suffix(entry.path)
    path, kind = cited_file(entry.document)
    return kind if path == entry.path else _suffix(path)


def _understood(question: str) -> tuple[DateRange, list[str]]:
    """The days that a question asks for, and the words by which it looks for files."""
    today = date.today()
    span, _, said = dates_asked_for(question, today)
    if not said:  # a year is a date without a word before it, too
        question = _DATED.sub(" in ", question)
        span, _, said = dates_asked_for(question, today)
    for one in said:
        question = question.replace(one, " ")
    return span, fold(subject(question)).split()


def _is_of(entry: CatalogEntry, span: DateRange, question: str) -> bool:
    """Whether it is of these days, or its name has one of their years."""
    if span == DateRange():
        return True
    first = span.since.isoformat() if span.since else ""
    last = span.until.isoformat() if span.until else "9999"
    days = day_span(_when(entry, question)[0])
    if days is not None and days[0] <= last and first <= days[1]:
        return True
    return any(first[:4] <= year <= last[:4] for year in _YEAR.findall(_path_and_title(entry)))


def _is_named(entry: CatalogEntry, words: Sequence[str]) -> bool:
    """Whether its path and title have all of the words, in the plural or not."""
    return all(word.removesuffix("s") in fold(_path_and_title(entry)) for word in words)


def _path_and_title(entry: CatalogEntry) -> str:
    return f"{entry.path} {entry.document.title if entry.document else ''}"


def _when(entry: CatalogEntry, question: str) -> tuple[str, str]:
    """Its date, or when it was added where that is asked for; then what decides among equals."""
    known = entry.document
    if known is None:
        return "", ""
    added = known.indexed_at
    return (added if _ADDED.search(question) else known.metadata.date or "", added)


def _authors(entry: CatalogEntry) -> set[str]:
    about = entry.document.metadata.author if entry.document else None
    return set(WORD.findall(fold(about or "")))


def _named(filters: Filters, paths: Iterable[str]) -> list[str]:
    """Of files of which only the name is known, those that the filters let through."""
    if not replace(filters, name=None, path=None, types=None).none_given:
        return []
    name = fold(filters.name or "")
    pattern = name if {"*", "?"} & set(name) else f"*{name}*"
    return [
        path
        for path in paths
        if fnmatchcase(fold(PurePosixPath(path).name), pattern)
        and path.startswith(filters.path or "")
        and (filters.types is None or _suffix(path) in map(fold, filters.types))
    ]


def _suffix(path: str) -> str:
    return PurePosixPath(path).suffix[1:].lower()


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
