"""The parts inside an Office file of 2007 and later, found by their relationships.

Nothing outside of the file is touched: relationships that lead there are not followed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from posixpath import dirname, join, normpath

from lxml.etree import _Element as Element

from pincite.errors import FileUnreadable
from pincite.reading import facts
from pincite.reading.xml_safely import parse_xml
from pincite.reading.zipped import SafeZip
from pincite.records import Metadata

_RELATIONSHIP = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"
_TERMS = "{http://purl.org/dc/terms/}"
_KEYWORDS = "{http://schemas.openxmlformats.org/package/2006/metadata/core-properties}keywords"
# The strict form of the standard has namespaces of its own; elements and attributes are the same.
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w{1,30})")
# What libraries leave in the files that they make from their own templates.
_OF_TEMPLATES = ("2013-01-27T09:14:16Z", "2013-01-27T09:15:58Z", "2013-12-23T23:15:00Z")
_NO_AUTHORS = ("openpyxl", "python-docx", "python-pptx", "Apache POI")
_NO_TITLES = ("PowerPoint Presentation", "Presentation", "PowerPoint-Präsentation")


@dataclass(frozen=True, slots=True)
class Relation:
    """How one part refers to another: by an identifier, for a purpose."""

    identifier: str
    kind: str  # the end of its type: "slide", "notesSlide", "chart"
    part: str  # the other part's name


class OfficeParts:
    """The XML parts of one file, parsed when they are asked for."""

    def __init__(self, data: bytes) -> None:
        self.archive = SafeZip(data)

    def main(self, usual: str) -> str:
        """The name of the part that holds the document."""
        named = (one.part for one in self.relations("") if one.kind == "officeDocument")
        main = next(named, usual)
        if not self.archive.has(main):
            raise FileUnreadable("is damaged: the part that holds its text is missing")
        return main

    def parsed(self, name: str) -> Element:
        """The root of an XML part."""
        data = self.archive.read(name)
        return parse_xml(_STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006", data))

    def relations(self, source: str) -> list[Relation]:
        """What a part refers to inside the file; "" is the file itself."""
        folder = dirname(source)
        name = join(folder, "_rels", f"{source.removeprefix(folder).strip('/')}.rels")
        if not self.archive.has(name):
            return []
        found = []
        for one in parse_xml(self.archive.read(name)).iter(_RELATIONSHIP):
            target = normpath(join("/", folder, one.get("Target", ""))).lstrip("/")
            if one.get("TargetMode") != "External" and self.archive.has(target):
                kind = one.get("Type", "").rpartition("/")[2]
                found.append(Relation(one.get("Id", ""), kind, target))
        return found

    def facts(self) -> tuple[str | None, Metadata]:
        """The title and what else the file says about itself."""
        named = (one.part for one in self.relations("") if one.kind == "core-properties")
        name = next(named, "")
        try:
            root = self.parsed(name)
        except FileUnreadable:  # missing or damaged, which the text need not suffer from
            return None, Metadata()
        created, modified = (root.findtext(_TERMS + one) for one in ("created", "modified"))
        title = facts.one_line(root.findtext(_DUBLIN_CORE + "title"))
        author = facts.one_line(root.findtext(_DUBLIN_CORE + "creator"))
        is_own = created not in _OF_TEMPLATES and author not in _NO_AUTHORS
        return title if title not in _NO_TITLES else None, Metadata(
            tags=facts.tags((root.findtext(_KEYWORDS) or "").replace(";", ",")),
            author=author if is_own else None,
            date=facts.iso_date(created) if created not in _OF_TEMPLATES else None,
            modified=facts.iso_date(modified) if modified not in _OF_TEMPLATES else None,
            language=facts.one_line(root.findtext(_DUBLIN_CORE + "language")),
        )
