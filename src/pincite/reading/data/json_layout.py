"""Where the parts of a JSON text stand, and how a text for programs is laid out for people.

Works on the text itself, so that numbers, doubled keys and the order stay as they are written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from io import StringIO
from typing import NamedTuple

from pincite.errors import FileUnreadable

NAMES = ("title", "name")
"""The keys under which things say what they are called."""

MOST_CHARACTERS = 40_000_000
"""A text laid out for people that is longer than this is a database."""

_DEEPEST_INDENT = 20  # levels; what is deeper is not moved further, or the text would explode

# These are for the shape of a text (see `shape_of`).
_STRING = r'"[^"\r\n]*"'
_STRINGS = re.compile(_STRING)
_SPACE = re.compile(r"[\s,:]*")
_SCALAR = re.compile(_STRING + r'|[^\s{}\[\],:"]+')
# What stands before a bracket, and the bracket; or only many strings, as each takes memory.
_BRACKET = re.compile(rf'[^"{{}}\[\]]*(?:{_STRING}[^"{{}}\[\]]*){{0,1000}}([{{}}\[\]]?)')
# What is empty or short, and holds no other container, stays on its line.
_SHORT = (
    r"[{\[]\s*[}\]]"
    r"|[{\[](?=[^{}\[\]\r\n]{0,80}[}\]])"
    rf'[^"{{}}\[\]\r\n]*(?:{_STRING}[^"{{}}\[\]\r\n]*){{0,1000}}[}}\]]'
)
# A member with its key and what can stand on the same line, or the end of a container.
_LINE = re.compile(
    rf'(?:({_STRING})\s*:\s*)?({_SHORT}|{_STRING}|[{{\[]|[^\s{{}}\[\],:"]+)\s*(,?)'
    r"|([}\]])\s*(,?)"
)
_PLAIN_MEMBER = rf'\s*{_STRING}\s*:\s*(?:{_STRING}|[^\s{{}}\[\],:"]+)\s*,'
_NAMED = re.compile(rf'\{{(?:{_PLAIN_MEMBER}){{0,20}}?\s*"(?:{"|".join(NAMES)})"\s*:\s*({_STRING})')
_LINE_BREAKS = re.compile(r"[\r\n\t]+")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class Member(NamedTuple):
    """An entry of an object or an item of a list, with its place in the text."""

    key: str | None
    start: int  # of the key, or of the value where there is none
    value: int  # where the value begins
    end: int
    is_container: bool


def shape_of(text: str) -> str:
    r"""The text with `__` for each `\\` and `\"`, so that every `"` begins or ends a string."""
    return text.replace("\\\\", "__").replace('\\"', "__")


def members(text: str, shape: str, opening: int) -> Iterator[Member]:
    """The members of the object or list that opens there, in a text that is known to be JSON."""
    has_keys = shape[opening] == "{"
    at = _skip_space(shape, opening + 1)
    while shape[at] not in "}]":
        start, key = at, None
        if has_keys:
            at = _value_end(shape, start)
            key = string_value(text[start:at])
            at = _skip_space(shape, at)
        end = _value_end(shape, at)
        yield Member(key, start, at, end, shape[at] in "{[")
        at = _skip_space(shape, end)


def own_name(text: str, shape: str, opening: int) -> str:
    """What the object that opens there calls itself, in one of its first plain members."""
    found = _NAMED.match(shape, opening)
    return string_value(text[found.start(1) : found.end(1)]) if found else ""


def string_value(string: str) -> str:
    """What a JSON string in its quotation marks says; half a character is no character."""
    return _SURROGATE.sub("\ufffd", json.loads(string)) if "\\" in string else string[1:-1]


def _skip_space(shape: str, at: int) -> int:
    found = _SPACE.match(shape, at)
    return found.end() if found else at


def _value_end(shape: str, at: int) -> int:
    """Behind the value that begins there; brackets are counted, so depth costs nothing."""
    if shape[at] not in "{[":
        scalar = _SCALAR.match(shape, at)
        return scalar.end() if scalar else len(shape)
    depth = 0
    for found in _BRACKET.finditer(shape, at):
        if bracket := found[1]:
            depth += 1 if bracket in "{[" else -1
            if not depth:
                return found.end()
    return len(shape)


def with_plain_strings(text: str) -> str:
    r"""The same JSON, line by line, with letters for `\u00e9` and blanks for line breaks.

    Escapes hide words from readers and from the search: `first\nsecond` holds no word "second".
    """
    if "\\" not in text:
        return text
    written: list[str] = []
    at = 0
    for found in _STRINGS.finditer(shape_of(text)):
        string = text[found.start() : found.end()]
        if "\\" in string:
            written += (text[at : found.start()], _plain_string(string))
            at = found.end()
    return "".join((*written, text[at:]))


def _plain_string(string: str) -> str:
    try:
        value = _LINE_BREAKS.sub(" ", json.loads(string))
    except ValueError:
        return string
    return string if _SURROGATE.search(value) else json.dumps(value, ensure_ascii=False)


def indented(text: str) -> str:
    """The same JSON with a line for each member, save for those of short containers."""
    line_starts = ["\n" + "  " * depth for depth in range(_DEEPEST_INDENT + 1)]
    written = StringIO()
    depth = 0
    for found in _LINE.finditer(shape_of(text)):
        key, _, comma, close, comma_behind = found.groups()
        value = text[found.start(2) : found.end(2)]
        if close:
            depth -= 1
            line = close + comma_behind
        else:
            line = value + comma
            if key:
                line = f"{text[found.start(1) : found.end(1)]}: {line}"
        written.write(line_starts[min(depth, _DEEPEST_INDENT)])
        written.write(line)
        if value in ("{", "["):
            depth += 1
        if written.tell() > MOST_CHARACTERS:
            raise FileUnreadable(f"holds more than {MOST_CHARACTERS:,} characters of text")
    return written.getvalue().removeprefix("\n")
