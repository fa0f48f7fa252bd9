"""The parts inside a Word file that its text refers to."""

from __future__ import annotations

from collections.abc import Iterator

from pincite.reading.office.docx.names import Element
from pincite.reading.office.office_parts import OfficeParts
from pincite.records import Metadata

_USUAL_MAIN_PART = "word/document.xml"


class Parts:
    """The document, and the parts that it refers to; parsed when they are asked for."""

    def __init__(self, data: bytes) -> None:
        self._parts = OfficeParts(data)
        self._main = self._parts.main(_USUAL_MAIN_PART)
        self._relations = self._parts.relations(self._main)

    def main(self) -> Element:
        """The document itself."""
        return self._parts.parsed(self._main)

    def facts(self) -> tuple[str | None, Metadata]:
        """The title and what else the file says about itself."""
        return self._parts.facts()

    def related(self, kind: str) -> Iterator[Element]:
        """The parts that the document refers to as this: "styles", "numbering", "footnotes"."""
        return (self._parts.parsed(one.part) for one in self._relations if one.kind == kind)

    def first(self, kind: str) -> Element | None:
        """The first of these parts; None where there is none."""
        return next(self.related(kind), None)

    def by_relation(self, identifier: str) -> Element | None:
        """The part that the document refers to by this identifier."""
        found = (one.part for one in self._relations if one.identifier == identifier)
        return next(map(self._parts.parsed, found), None)
