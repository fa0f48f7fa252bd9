"""The XML names of OpenDocument, and how its attributes are read."""

from __future__ import annotations

import re

from lxml import etree

Element = etree._Element

_OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
OFFICE = f"{{{_OASIS}office:1.0}}"
TEXT = f"{{{_OASIS}text:1.0}}"
TABLE = f"{{{_OASIS}table:1.0}}"
DRAW = f"{{{_OASIS}drawing:1.0}}"
STYLE = f"{{{_OASIS}style:1.0}}"
FORMAT = f"{{{_OASIS}xsl-fo-compatible:1.0}}"
PRESENTATION = f"{{{_OASIS}presentation:1.0}}"
FORM = f"{{{_OASIS}form:1.0}}"
META = f"{{{_OASIS}meta:1.0}}"
MANIFEST = f"{{{_OASIS}manifest:1.0}}"
DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"
LINK = "{http://www.w3.org/1999/xlink}href"
XML_ID = "{http://www.w3.org/XML/1998/namespace}id"

_NUMBER = re.compile(r"\d{1,9}")


def number(element: Element, name: str, *, otherwise: int, most: int) -> int:
    """An attribute that is a whole number, kept within what makes sense."""
    text = element.get(name, "")
    return min(int(text), most) if _NUMBER.fullmatch(text) else otherwise
