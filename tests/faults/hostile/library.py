"""All hostile files, each at a path of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hostile import (
    archives,
    data,
    mails,
    mutants,
    old_office,
    pages,
    pdf_bombs,
    pdf_loops,
    pdf_pages,
    programs,
    slides_and_books,
    spoken,
    texts,
    word_documents,
    workbooks,
    xml_tricks,
)
from hostile.case import Case
from soak import SOAK

_FOLDERS: Mapping[str, Sequence[Case]] = {
    "texts": texts.CASES,
    "spoken": spoken.CASES,
    "pdf-bombs": pdf_bombs.CASES,
    "pdf-loops": pdf_loops.CASES,
    "pdf-pages": pdf_pages.CASES,
    "archives": archives.CASES,
    "xml": xml_tricks.CASES,
    "word": word_documents.CASES,
    "workbooks": workbooks.CASES,
    "slides": slides_and_books.CASES,
    "pages": pages.CASES,
    "mails": mails.CASES,
    "data": data.CASES,
    "programs": programs.CASES,
    "old-office": old_office.CASES,
    "noise": mutants.CASES,
}

ALL_FILES: Mapping[str, Case] = {
    f"{folder}/{case.name}": case for folder, cases in _FOLDERS.items() for case in cases
}
# On every change one of each family and of each thing that must become of a file.
_ONE_OF_EACH = {
    (path.split("/")[0], type(case.expected)): path for path, case in ALL_FILES.items()
}.values()
FILES = ALL_FILES if SOAK else {path: ALL_FILES[path] for path in _ONE_OF_EACH}
