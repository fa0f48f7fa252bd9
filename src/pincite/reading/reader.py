"""A file's bytes → its Document: tell the kind, run its reader, flag what is invisible."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module

from pincite.errors import FileConverted, FileEmpty, FileUnreadable
from pincite.reading.analysis import FactsOf
from pincite.reading.invisible import flagged
from pincite.reading.sniff import CODE, kind_of
from pincite.reading.source_file import SourceFile
from pincite.records import Analysis, Content, Document, Metadata, document_from
from pincite.settings import CONVERTED_FOLDER
from pincite.text.own_files import is_own_file

FileReader = Callable[[str, SourceFile], Content]
"""Module of `reading/` and file → what it holds. The sandbox is one; `read_here` is another."""

KnownAnalysis = Callable[[str, str, FactsOf], Analysis]
"""Path and title of a document, and what is found in files → what is known of its code."""

Labelled = Callable[[str, Metadata], Metadata]
"""Path of a document and what it says about itself → with what a user's labels say of it."""


def read_here(module: str, file: SourceFile) -> Content:
    """Read the file in this very process, and flag what is invisible in it."""
    reader: Callable[[SourceFile], Content] = import_module(f"pincite.reading.{module}").read
    return flagged(reader(file))


@dataclass(frozen=True)
class LibraryReader:
    """Reads the files of one library through `read_file`."""

    library: str
    read_file: FileReader = read_here
    passwords: tuple[str, ...] = ()
    options: frozenset[str] = frozenset()
    converted: frozenset[str] = frozenset()  # paths of files whose text was recognised
    without_text: frozenset[str] = frozenset()  # checksums of files in which there was none
    analysis_of: KnownAnalysis = lambda path, title, found_in: found_in(path)
    # Bytes of another file of the library; None where there is none.
    other_file: Callable[[str], bytes | None] = lambda path: None
    labelled: Labelled = lambda path, metadata: metadata

    def read(self, path: str, data: bytes) -> Document:
        """The document a file holds; FileUnreadable in plain words otherwise."""
        if is_own_file(data):
            raise FileEmpty("is an answer that pincite wrote down, not a document")
        try:
            content = self._content(SourceFile(path, data, self.passwords, self.options))
        except FileUnreadable as error:
            if path in self.converted:
                raise FileConverted(f"is read through {CONVERTED_FOLDER}/{path}.md") from error
            if hashlib.sha256(data).hexdigest() in self.without_text:
                raise FileEmpty("holds no text that could be recognised") from error
            raise
        content = replace(content, metadata=self.labelled(path, content.metadata))
        document = document_from(content, library=self.library, path=path, data=data)

        def found_in(one: str) -> Analysis:
            return document.analysis if one == path else self._found_in(one)

        return replace(document, analysis=self.analysis_of(path, document.title, found_in))

    def _found_in(self, path: str) -> Analysis:
        """What is found in a source file that a page is about."""
        try:
            data = self.other_file(path)
            if data is not None and kind_of(path, data) is CODE:
                return self._content(SourceFile(path, data)).analysis
        except FileUnreadable:
            pass  # it is reported for itself
        return Analysis()

    def _content(self, file: SourceFile) -> Content:
        return self.read_file(kind_of(file.path, file.data).module, file)
