"""What the styles inside of a page say of its elements, as far as it decides what is seen.

Only plain rules are followed: those at the top of a <style>, for a tag, classes or an id. Rules
inside of @media and the like hold for other screens or for paper. Of a rule with conditions (`.a
.b`, `.a:hover`) it is only believed that it may show something, never that it hides it.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from lxml import etree

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


def declarations(style: str) -> dict[str, str]:
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
            self._known[key] = self._put_together(tag, names)
        return self._known[key]

    def _put_together(self, tag: str, names: set[str]) -> Style:
        rules = [rule for key in (tag, *names) for rule in self._rules.get(key, ())]
        style: dict[str, str] = {}
        for rule in sorted(rules, key=lambda rule: rule.weight):
            if rule.names <= names and rule.tag in ("", tag):
                style.update(_shown(rule.style) if rule.is_conditional else rule.style)
        return style


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
        if depth == 1 and not selectors.startswith("@") and (style := declarations(before)):
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
