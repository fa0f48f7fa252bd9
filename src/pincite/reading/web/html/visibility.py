"""Which text of a page a reader would not have seen, and why.

Some elements are not shown at all; their text is out. Others claim to be shown but cannot be seen:
their text is kept and marked, because that is how instructions are smuggled into pages.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from lxml import etree

from pincite.reading.web.html.colours import Colour, colour_of, is_transparent, look_alike
from pincite.reading.web.html.lengths import is_far_off, is_nothing, is_tiny
from pincite.reading.web.html.styles import UNKNOWN, Style, Stylesheet, declarations
from pincite.records import OmissionReason

_WHITE: Colour = (255, 255, 255)
_FAINTEST = 0.05  # of opacity that a reader can make out
_CLIPPED = ("rect(0", "inset(50%", "inset(100%", "circle(0", "polygon(0 0, 0 0", "polygon(0px 0")


@dataclass(frozen=True, slots=True)
class Look:
    """How the text of an element shows; what is inside of it looks alike unless it says else."""

    is_out: bool = False
    reason: OmissionReason | None = None  # it cannot be seen, and neither can what is inside of it
    is_tiny: bool = False
    colour: Colour | None = None  # None where it cannot be told
    background: Colour | None = None

    @property
    def omitted(self) -> OmissionReason | None:
        """Why a reader does not see the text, if so."""
        if self.reason is not None:
            return self.reason
        if self.is_tiny:
            return OmissionReason.TINY
        if self.colour and self.background and look_alike(self.colour, self.background):
            return OmissionReason.WHITE
        return None


_OUT = Look(is_out=True)


class Visibility:
    """Tells the looks of one page's elements by its own styles and attributes."""

    def __init__(self, root: etree._Element) -> None:
        self._sheet = Stylesheet(root)
        self._special = {"a", "dialog", *self._sheet.tags}  # need no attribute to look special
        # Where styles come from outside, white text may well stand on a dark ground.
        is_styled_outside = any("stylesheet" in one.get("rel", "") for one in root.iter("link"))
        self._default = Look(background=None if is_styled_outside else _WHITE)

    def outer(self, root: etree._Element) -> Look:
        """How the elements around look; they may set colours, but hide nothing."""
        look = self._default
        for ancestor in reversed([*root.iterancestors()]):
            look = self._coloured(ancestor, self._style(ancestor), look)
        return look

    def look(self, element: etree._Element, outer: Look) -> Look:
        """How an element looks inside of one that looks like `outer`."""
        if element.tag not in self._special and not element.attrib:
            return outer
        style = self._style(element)
        if element.tag in ("html", "body"):  # hidden until a script shows them
            return self._coloured(element, style, outer)
        if _is_out(element, style):
            return _OUT
        look = self._coloured(element, style, outer)
        if not style:
            return look
        reason = outer.reason or _unseen(style)
        tiny = _tiny(style, outer=outer.is_tiny)
        if reason is outer.reason and tiny == outer.is_tiny:
            return look
        return replace(look, reason=reason, is_tiny=tiny)

    def _style(self, element: etree._Element) -> Style:
        own = element.get("style")
        ruled = self._sheet.style_of(element)
        return {**ruled, **declarations(own)} if own else ruled

    def _coloured(self, element: etree._Element, style: Style, outer: Look) -> Look:
        colour = _colour(element, style, outer.colour)
        background = _background(element, style, outer.background)
        if colour == outer.colour and background == outer.background:
            return outer
        return replace(outer, colour=colour, background=background)


def _colour(element: etree._Element, style: Style, outer: Colour | None) -> Colour | None:
    named = style.get("color")
    if named is None and element.tag in ("font", "body"):
        named = element.get("color") or element.get("text")
    if named is not None:
        return outer if named == "inherit" else colour_of(named)
    return None if element.tag == "a" else outer  # links have a colour of their own


def _background(element: etree._Element, style: Style, outer: Colour | None) -> Colour | None:
    if style.get("background-image", "none") != "none" or element.get("background"):
        return None
    value = style.get("background-color") or style.get("background") or element.get("bgcolor")
    if value is None or value in ("none", "inherit", "initial", "0") or is_transparent(value):
        return outer
    return colour_of(value)


def _is_out(element: etree._Element, style: Style) -> bool:
    if element.get("hidden", "until-found").lower() != "until-found":
        return True
    if element.tag == "dialog" and element.get("open") is None:
        return True
    return (
        style.get("display") == "none"
        or style.get("visibility") in ("hidden", "collapse")
        or style.get("content-visibility") == "hidden"
    )


def _unseen(style: Style) -> OmissionReason | None:
    """Why what the element shows cannot be seen, whatever stands inside of it."""
    if _is_transparent(style):
        return OmissionReason.INVISIBLE
    if is_far_off(style.get("text-indent", "")):
        return OmissionReason.OFF_PAGE
    if style.get("position") in ("absolute", "fixed") and (
        is_far_off(style.get("left", "")) or is_far_off(style.get("top", ""))
    ):
        return OmissionReason.OFF_PAGE
    clip = style.get("clip") or style.get("clip-path") or ""
    is_shut = style.get("overflow") == "hidden" and (
        is_nothing(style.get("height", "")) or is_nothing(style.get("max-height", ""))
    )
    if clip.startswith(_CLIPPED) or is_shut or style.get("transform", "").startswith("scale(0)"):
        return OmissionReason.HIDDEN
    return None


def _is_transparent(style: Style) -> bool:
    try:
        if float(style.get("opacity", "1").rstrip("%")) <= _FAINTEST:
            return True
    except ValueError:
        pass
    # Letters that show the picture behind them are transparent, and yet to be seen.
    return is_transparent(style.get("color", "")) and style.get("background-clip") != "text"


def _tiny(style: Style, *, outer: bool) -> bool:
    size = style.get("font-size")
    if size is None:
        return outer
    if size == UNKNOWN:
        return False
    # A share of nothing is nothing; any other measure stands for itself.
    return is_tiny(size) or (outer and size.endswith(("%", "em")) and not size.endswith("rem"))
