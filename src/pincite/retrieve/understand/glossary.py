"""The library's own glossary file → names that stand for each other.

A line says what a name means, `RRF = Reciprocal Rank Fusion`, or several names for the same,
`car = automobile, motor car`. What follows a `#` at the beginning of a line or after a space is a
comment. A name may have several lines.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from pincite.text.naming import name_key

FROM_GLOSSARY = "glossary"
_COMMENT = re.compile(r"(?:^|\s)#.*")
_MOST_ENTRIES = 10_000  # lines, and names right of a `=` in all of them
_MOST_NOTES = 3  # a file that is no glossary at all would fill the screen


@dataclass(frozen=True, slots=True)
class Meaning:
    """A name and another one for the same; in an abbreviation's line the full name is the other."""

    short: str
    long: str
    source: str = FROM_GLOSSARY


@dataclass(frozen=True, eq=False)  # a file's text is parsed once, so the same one is the same
class Glossary:
    """What a library's people call things, by the `name_key` of either name."""

    meanings: Mapping[str, tuple[Meaning, ...]] = field(default_factory=dict)
    longest: int = 0  # words of a name
    notes: tuple[str, ...] = ()  # lines that could not be understood


NO_GLOSSARY = Glossary()


@lru_cache(maxsize=8)
def parse_glossary(text: str, name: str) -> Glossary:
    """The glossary of a file. A line that says nothing is told and left out.

    A search must not fail because of a slip in a file that only helps it, nor wait for one that is
    endless.
    """
    meanings: defaultdict[str, list[Meaning]] = defaultdict(list)
    notes, room = [], _MOST_ENTRIES
    lines = text.splitlines()
    for number, written in enumerate(lines[:_MOST_ENTRIES], start=1):
        line = _COMMENT.sub("", written.removeprefix("\ufeff")).strip()
        # The left name with each right one; nothing where a side is missing.
        short, _, right = (part.strip() for part in line.partition("="))
        others = [one.strip() for one in right.split(",")] if name_key(short) else []
        found = [Meaning(short, one) for one in others if name_key(one)][:room]
        if line and not found:
            notes.append(f"{name}, line {number}: left out; a line is NAME = OTHER NAME, …")
        room -= len(found)
        for one in found:
            for key in {name_key(one.short), name_key(one.long)}:
                meanings[key].append(one)
        if not room:
            break
    more = len(notes) - _MOST_NOTES
    told = [*notes[:_MOST_NOTES], *([f"{name}: {more} more lines left out"] if more > 0 else [])]
    if len(lines) > _MOST_ENTRIES or not room:
        told.append(f"{name}: what follows the first {_MOST_ENTRIES:,} names or lines is left out")
    longest = max((len(key.split()) for key in meanings), default=0)
    return Glossary({key: tuple(held) for key, held in meanings.items()}, longest, tuple(told))
