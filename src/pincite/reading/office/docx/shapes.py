"""What lies under the text in a shape."""

from __future__ import annotations

from pincite.reading.office.docx.names import DRAWING, Element
from pincite.reading.xml_safely import tag_of

_SHAPE = "{http://schemas.microsoft.com/office/word/2010/wordprocessingShape}"
_OLD_SHAPE = "{urn:schemas-microsoft-com:vml}"
_WHITES = frozenset(("bg1", "lt1", "white", "window", "#fff", "#ffffff", "ffffff"))


def is_filled(content: Element) -> bool:
    """Whether the shape around this text (`txbxContent`) has a colour other than white."""
    box = content.getparent()
    shape = None if box is None else box.getparent()
    if shape is None:
        return False
    if tag_of(shape).startswith(_OLD_SHAPE):
        return _is_old_shape_filled(shape)
    properties = shape.find(_SHAPE + "spPr")
    for fill in () if properties is None else properties:
        if fill.tag == DRAWING + "noFill":
            return False
        if fill.tag == DRAWING + "solidFill":
            colours = (colour.get("val", "").lower() for colour in fill)
            return not any(colour in _WHITES for colour in colours)
        if tag_of(fill).endswith("Fill"):  # a gradient, a pattern or a picture
            return True
    reference = shape.find(f"{_SHAPE}style/{DRAWING}fillRef")
    return reference is not None and reference.get("idx") != "0"


def _is_old_shape_filled(shape: Element) -> bool:
    if shape.get("filled", "t") in ("f", "false"):
        return False
    colour = shape.get("fillcolor", "white").split(" ")[0].lower()
    return colour not in _WHITES or shape.find(_OLD_SHAPE + "fill") is not None
