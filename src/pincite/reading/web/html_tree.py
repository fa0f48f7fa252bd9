"""HTML → a tree of elements, with limits, and which text of it a reader would not have seen.

Some elements are not shown at all; their text is out. Others claim to be shown but cannot be seen:
their text is kept and marked, because that is how instructions are smuggled into pages.

Of the styles inside of a page only plain rules are followed: those at the top of a <style>, for a
tag, classes or an id. Rules inside of @media and the like hold for other screens or for paper. Of a
rule with conditions (`.a .b`, `.a:hover`) it is only believed that it may show something, never
that it hides it.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict, deque
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import NamedTuple

from lxml import etree

from pincite.errors import FileEmpty, FileUnreadable
from pincite.records import OmissionReason

DEEPEST = 2_000  # elements inside each other; the parser gives up at 2,048, without the rest

# The parser compares each attribute of an element with all others. What parts attributes, and
# their names from their values, is counted with the value behind it; each can be read in one way
# only, so that a long tag is looked at once.
_MOST_ATTRIBUTES = 500
_QUOTED = r"""(?:"[^"]*"|'[^']*')"""
_OVERFILLED = re.compile(
    rf"""<[A-Za-z](?:[^<>"'\s/=]*(?:{_QUOTED}|[\s/=]+(?:{_QUOTED}|(?![\s/="']))))"""
    f"{{{2 * _MOST_ATTRIBUTES}}}"
)

_MOST_COMPLAINTS = 100

# Elements that hold no text of the page.
_WITHOUT_TEXT = frozenset(
    (
        *("head", "title", "meta", "link", "base", "script", "style", "template", "svg"),
        *("iframe", "frame", "object", "embed", "applet", "video", "audio", "canvas", "map"),
        *("select", "option", "datalist", "textarea", "input", "meter", "progress", "noembed"),
        *("annotation", "annotation-xml", "rp"),
    )
)
_WITHOUT_SCRIPTS = frozenset(("noscript", "noframes"))

_WHITE: Colour = (255, 255, 255)
_FAINTEST = 0.05  # of opacity that a reader can make out
_CLIPPED = ("rect(0", "inset(50%", "inset(100%", "circle(0", "polygon(0 0, 0 0", "polygon(0px 0")

Style = Mapping[str, str]

_NO_STYLE: Style = {}
UNKNOWN = "unknown"  # a value that cannot be told

_PROPERTIES = (
    *("display", "visibility", "content-visibility", "opacity", "font-size", "color"),
    *("background", "background-color", "background-image", "background-clip", "text-indent"),
    *("position", "left", "top", "clip", "clip-path", "transform", "overflow"),
)
_DECLARATION = re.compile(
    r"(?:^|;)\s*(?:-webkit-)?(" + "|".join((*_PROPERTIES, "height", "max-height")) + r")\s*:"
    r"\s*([^;]*)",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_ESCAPE = re.compile(r"\\([0-9a-f]{1,6})\s?", re.IGNORECASE)
_BRACE = re.compile(r"([^{}]*)([{}]|\Z)")  # the end too, so that no text is gone over twice
# Of so many names at most: each takes memory.
_COMPOUND = re.compile(r"([a-z][a-z0-9]*)?((?:[.#][\w-]+){0,100})", re.IGNORECASE)
_CONDITION = re.compile(r"[\s>+~]")
_MOST_RULES = 20_000
_MOST_ALIKE = 100  # rules for one name; the last ones count
_MOST_SELECTORS = 100  # of one rule
_SHOWN_BY_CONDITION = ("font-size", "color", "background", "background-color")

Colour = tuple[int, int, int]

_NAMED: dict[str, Colour] = {
    **{"white": (255, 255, 255), "snow": (255, 250, 250), "ivory": (255, 255, 240)},
    **{"whitesmoke": (245, 245, 245), "ghostwhite": (248, 248, 255), "black": (0, 0, 0)},
    **{"silver": (192, 192, 192), "gray": (128, 128, 128), "grey": (128, 128, 128)},
    **{"red": (255, 0, 0), "maroon": (128, 0, 0), "yellow": (255, 255, 0), "lime": (0, 255, 0)},
    **{"green": (0, 128, 0), "aqua": (0, 255, 255), "blue": (0, 0, 255), "navy": (0, 0, 128)},
}
_HEX = re.compile(r"#?([0-9a-f]{6}|[0-9a-f]{3})(?:[0-9a-f]{2}|[0-9a-f])?")
_RGB = re.compile(r"rgba?\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})\s*(?:[,/]\s*[\d.%]+\s*)?\)")
_CLEAR = re.compile(r"(?:rgb|hsl)a?\([^()]{1,60}[,/]\s{0,9}0?(?:\.0{0,9})?%?\s{0,9}\)")
_FAINTEST_COLOUR = 12  # of 255: the difference that a reader can make out

_LENGTH = re.compile(r"([-+]?(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9}))\s*(px|pt|em|rem|%|vw|vh|ex|ch|)")
# Pixels that one of each unit has, about.
_PIXELS = {"px": 1.0, "pt": 1.3, "em": 16.0, "rem": 16.0, "%": 0.16, "vw": 12.0, "vh": 8.0}
_SMALLEST_READ = 1.0  # pixels; what is larger can be made out
_FAR = -900.0  # pixels beyond the edge; -9999px is customary


class Step(NamedTuple):
    """One step of a walk: an element opens, or a stretch of text is met, or an element closes."""

    kind: str  # "start", "text" or "end"
    element: etree._Element
    look: Look
    text: str = ""


@dataclass(frozen=True, slots=True)
class Tree:
    """A parsed page; `is_cut` where it is nested so deeply that the parser gave up on the rest."""

    root: etree._Element
    is_cut: bool

    @property
    def body(self) -> etree._Element:
        """The body of the page, or all of it where there is none."""
        body = self.root.find("body")
        return self.root if body is None else body


def parse_html(text: str) -> Tree:
    """The page as a tree; nothing outside is fetched. FileEmpty where there is no element."""
    if _OVERFILLED.search(text):
        raise FileUnreadable(f"has an element with more than {_MOST_ATTRIBUTES} attributes")
    parser = etree.HTMLParser(
        encoding="utf-8",
        no_network=True,
        recover=True,
        huge_tree=True,  # else text or a picture of more than 10 MB would end the page
        remove_comments=True,
        remove_pis=True,
        collect_ids=False,
    )
    root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    # Without any element the parser returns None, whatever its type says.
    if not isinstance(root, etree._Element):
        raise FileEmpty("holds no text")
    # The parser keeps its first 100 complaints only; with fewer than that none were lost.
    complaints = parser.error_log
    limit_met = any(one.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for one in complaints)
    return Tree(root, limit_met or (len(complaints) >= _MOST_COMPLAINTS and _is_too_deep(root)))


def walk(
    root: etree._Element,
    visibility: Visibility,
    left_out: Container[etree._Element] = frozenset(),
    *,
    with_noscript: bool = False,
) -> Iterator[Step]:
    """All of the tree that has text to show, in order; what is left out is passed over whole."""
    events = etree.iterwalk(root, events=("start", "end"))
    looks = [visibility.outer(root)]
    passed_over: etree._Element | None = None
    for event, element in events:
        if event == "start":
            look = visibility.look(element, looks[-1])
            tag = element.tag
            if (
                look.is_out
                or tag in _WITHOUT_TEXT
                or element in left_out
                or (tag in _WITHOUT_SCRIPTS and not with_noscript)
            ):
                passed_over = element
                events.skip_subtree()
                continue
            looks.append(look)
            yield Step("start", element, look)
            if element.text:
                yield Step("text", element, look, element.text)
            continue
        if element is passed_over:
            passed_over = None
        else:
            yield Step("end", element, looks.pop())
        if element.tail and element is not root:
            yield Step("text", element, looks[-1], element.tail)


def _is_too_deep(root: etree._Element) -> bool:
    events = etree.iterwalk(root, events=("start", "end"))
    depths = accumulate(1 if event == "start" else -1 for event, _ in events)
    return any(depth >= DEEPEST for depth in depths)


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
        if self.colour and self.background and _look_alike(self.colour, self.background):
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
        size = style.get("font-size")
        if size is None:
            tiny = outer.is_tiny
        elif size == UNKNOWN:
            tiny = False
        else:
            # A share of nothing is nothing; any other measure stands for itself.
            is_share = size.endswith(("%", "em")) and not size.endswith("rem")
            tiny = _pixels(size) <= _SMALLEST_READ or (outer.is_tiny and is_share)
        if reason is outer.reason and tiny == outer.is_tiny:
            return look
        return replace(look, reason=reason, is_tiny=tiny)

    def _style(self, element: etree._Element) -> Style:
        own = element.get("style")
        ruled = self._sheet.style_of(element)
        return {**ruled, **_declarations(own)} if own else ruled

    def _coloured(self, element: etree._Element, style: Style, outer: Look) -> Look:
        named = style.get("color")
        if named is None and element.tag in ("font", "body"):
            named = element.get("color") or element.get("text")
        if named is not None:
            colour = outer.colour if named == "inherit" else _colour_of(named)
        else:
            # Links have a colour of their own.
            colour = None if element.tag == "a" else outer.colour
        background = _background(element, style, outer.background)
        if colour == outer.colour and background == outer.background:
            return outer
        return replace(outer, colour=colour, background=background)


def _background(element: etree._Element, style: Style, outer: Colour | None) -> Colour | None:
    if style.get("background-image", "none") != "none" or element.get("background"):
        return None
    value = style.get("background-color") or style.get("background") or element.get("bgcolor")
    if value is None or value in ("none", "inherit", "initial", "0") or _is_no_colour(value):
        return outer
    return _colour_of(value)


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
    if _pixels(style.get("text-indent", "")) <= _FAR:
        return OmissionReason.OFF_PAGE
    if style.get("position") in ("absolute", "fixed") and any(
        _pixels(style.get(side, "")) <= _FAR for side in ("left", "top")
    ):
        return OmissionReason.OFF_PAGE
    clip = style.get("clip") or style.get("clip-path") or ""
    is_shut = style.get("overflow") == "hidden" and any(
        _pixels(style.get(height, "")) == 0 for height in ("height", "max-height")
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
    return _is_no_colour(style.get("color", "")) and style.get("background-clip") != "text"


@dataclass(frozen=True, slots=True)
class _Rule:
    tag: str
    names: frozenset[str]  # ".class" and "#id", all of which an element must have
    order: int
    style: Style
    is_conditional: bool

    @property
    def weight(self) -> tuple[int, int, int, int]:
        """Of two rules the one that weighs more holds, as the cascade has it."""
        ids = sum(name.startswith("#") for name in self.names)
        return (ids, len(self.names) - ids, bool(self.tag), self.order)


def _declarations(style: str) -> dict[str, str]:
    """The declarations that matter here, by property; the last of each holds."""
    if "/*" in style:
        style = _COMMENT.sub("", style)
    if "\\" in style:
        style = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16) % 0x110000), style)
    return {
        found[1].lower(): found[2].lower().replace("!important", "").strip()
        for found in _DECLARATION.finditer(style)
    }


class Stylesheet:
    """The plain rules of a page's own <style> elements."""

    def __init__(self, root: etree._Element) -> None:
        self._rules: dict[str, deque[_Rule]] = defaultdict(lambda: deque(maxlen=_MOST_ALIKE))
        sheets = (one.text or "" for one in root.iter("style") if _is_for_screens(one))
        for count, rule in enumerate(_rules("".join(sheets))):
            if count >= _MOST_RULES:
                break
            self._rules[min(rule.names, default=rule.tag)].append(rule)
        self._known: dict[tuple[str, frozenset[str]], Style] = {}

    @property
    def tags(self) -> set[str]:
        """The elements that have a rule without any class or id."""
        return {rule.tag for rules in self._rules.values() for rule in rules if not rule.names}

    def style_of(self, element: etree._Element) -> Style:
        """What the rules say of the element, without its own `style`."""
        if not self._rules:
            return _NO_STYLE
        tag, own_id = str(element.tag), element.get("id")
        names = {f".{name}" for name in element.get("class", "").split()}
        if own_id:
            names.add(f"#{own_id}")
        if tag not in self._rules and self._rules.keys().isdisjoint(names):
            return _NO_STYLE
        key = (tag, frozenset(names))
        if key not in self._known:
            rules = [rule for key in (tag, *names) for rule in self._rules.get(key, ())]
            style: dict[str, str] = {}
            for rule in sorted(rules, key=lambda rule: rule.weight):
                if rule.names <= names and rule.tag in ("", tag):
                    style.update(_shown(rule.style) if rule.is_conditional else rule.style)
            self._known[key] = style
        return self._known[key]


def _is_for_screens(sheet: etree._Element) -> bool:
    return sheet.get("media", "all").strip().lower() in ("", "all", "screen")


def _rules(sheet: str) -> Iterator[_Rule]:
    """The rules outside of any other block, less those that say nothing of visibility."""
    depth = 0
    selectors = ""
    for order, found in enumerate(_BRACE.finditer(_COMMENT.sub("", sheet))):
        before, brace = found.groups()
        if brace == "{":
            depth += 1
            if depth == 1:
                selectors = before.rpartition(";")[2].strip()
            continue
        if depth == 1 and not selectors.startswith("@") and (style := _declarations(before)):
            yield from _rules_for(selectors.split(",", _MOST_SELECTORS), order, style)
        depth = max(depth - 1, 0)


def _rules_for(selectors: Iterable[str], order: int, style: dict[str, str]) -> Iterator[_Rule]:
    # What slides open on a click is closed by a rule for its height; that does not hide it.
    kept = {name: value for name, value in style.items() if name in _PROPERTIES}
    for selector in selectors:
        parts = _CONDITION.split(selector.strip())
        compound = _COMPOUND.match(parts[-1])
        if not kept or compound is None or not compound.group():
            continue
        names = re.findall(r"[.#][\w-]+", compound[2] or "")
        is_conditional = len(parts) > 1 or compound.end() < len(parts[-1])
        tag = (compound[1] or "").lower()
        yield _Rule(tag, frozenset(names), order, kept, is_conditional)


def _shown(style: Style) -> dict[str, str]:
    """What a rule whose conditions we do not check may change: what hides becomes uncertain."""
    return {name: UNKNOWN for name in _SHOWN_BY_CONDITION if name in style}


def _colour_of(value: str) -> Colour | None:
    """The colour a style or attribute names; None where it is another kind of value."""
    value = value.strip().lower()
    if value in _NAMED:
        return _NAMED[value]
    if found := _HEX.fullmatch(value):
        digits = found[1] if len(found[1]) == 6 else "".join(2 * digit for digit in found[1])
        return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)
    if found := _RGB.fullmatch(value):
        return int(found[1]), int(found[2]), int(found[3])
    return None


def _is_no_colour(value: str) -> bool:
    """Whether a colour lets everything through."""
    return value == "transparent" or _CLEAR.fullmatch(value) is not None


def _look_alike(one: Colour, other: Colour) -> bool:
    """Whether text in one colour on a ground of the other cannot be read."""
    return all(
        abs(first - second) <= _FAINTEST_COLOUR for first, second in zip(one, other, strict=True)
    )


def _pixels(length: str) -> float:
    """About so many; not a number, which compares with none, where it is no length."""
    found = _LENGTH.fullmatch(length.strip())
    return float(found[1]) * _PIXELS.get(found[2] or "px", 8.0) if found else math.nan
