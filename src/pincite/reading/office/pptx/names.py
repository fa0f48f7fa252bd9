"""The names that the XML of presentations uses."""

from __future__ import annotations

from lxml.etree import _Element

Element = _Element

_SCHEMAS = "http://schemas.openxmlformats.org"
SLIDE = f"{{{_SCHEMAS}/presentationml/2006/main}}"
DRAWING = f"{{{_SCHEMAS}/drawingml/2006/main}}"
RELATION = f"{{{_SCHEMAS}/officeDocument/2006/relationships}}"
CHART = f"{{{_SCHEMAS}/drawingml/2006/chart}}"
DIAGRAM = f"{{{_SCHEMAS}/drawingml/2006/diagram}}"
MATH = f"{{{_SCHEMAS}/officeDocument/2006/math}}"
CHOICE = f"{{{_SCHEMAS}/markup-compatibility/2006}}"
