"""Org → Content: the text as it is, sections by starred headlines, blocks of whole lines.

An item is one block with all that belongs to it. Nothing is looked at twice, so any text takes
linear time.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence

from pincite.reading import facts
from pincite.reading.encoding import decode_filled
from pincite.reading.lines.line_blocks import Lines, content_of
from pincite.reading.lines.outline import OutlineBlock
from pincite.reading.source_file import SourceFile
from pincite.records import BlockKind, Content, Metadata

# What Org knows from the start, and what people add most.
_STATES = frozenset(
    (
        *("TODO", "DONE", "NEXT", "WAITING", "WAIT", "HOLD", "STARTED", "DOING"),
        *("CANCELLED", "CANCELED", "SOMEDAY", "PROJ"),
    )
)
_STATE_KEYWORDS = ("TODO", "SEQ_TODO", "TYP_TODO")
_MOST_VALUES = 1_000  # of keywords; more is an attack or an accident

_Values = defaultdict[str, list[str]]
_HEADLINE = re.compile(r"(?P<stars>\*+)[ \t]+(?P<text>\S.*)")
_KEYWORD = re.compile(r"[ \t]*\#\+(?P<name>[A-Za-z][\w-]*):(?P<value>.*)")
_BEGIN = re.compile(r"[ \t]*\#\+begin_(\S+)|[ \t]*\#\+begin(:)", re.IGNORECASE)
_END = re.compile(r"[ \t]*\#\+end_(\S+)|[ \t]*\#\+end(:)|[ \t]*:(end):$", re.IGNORECASE)
_DRAWER = re.compile(r"[ \t]*:([\w-]+):")
_ITEM = re.compile(r"[ \t]*(?:[-+]|\d{1,9}[.)])(?:[ \t]|$)|[ \t]+\*(?:[ \t]|$)")
_TABLE = re.compile(r"[ \t]*(?:\||\+-[-+]*$)")
_TABLE_LINE = re.compile(r"[ \t]*(?:\||\+-|\#\+tblfm:)", re.IGNORECASE)
_FIXED_WIDTH = re.compile(r"[ \t]*:(?:[ \t]|$)")
_COMMENT = re.compile(r"[ \t]*\#(?:[ \t]|$)")
_RULE = re.compile(r"[ \t]*-{5,}")
_CODE_BLOCKS = frozenset(("src", "example", "export"))

_LONGEST_HEADING = 300
_PRIORITY = re.compile(r"\[#[A-Z0-9]{1,2}\][ \t]*")
_COOKIE = re.compile(r"[ \t]*\[(?:\d*/\d*|\d*%)\]")
_TAGS = re.compile(r"[ \t]+:(?:[\w@#%]+:)+$")
_LINK = re.compile(r"\[\[([^\[\]]*)\](?:\[([^\[\]]*)\])?\]")
_MARKUP = re.compile(r"(?<!\w)([*/_=~+])(?=\S)([^*/_=~+]*[^*/_=~+\s])\1(?!\w)")


def read(file: SourceFile) -> Content:
    """Read an Org file. Nothing that it includes or links to is looked at."""
    lines = Lines(decode_filled(file.data))
    # The values of the keywords before the first headline, by their names in capitals.
    values: _Values = defaultdict(list)
    for line in range(1, lines.count + 1):
        source = lines[line]
        if _HEADLINE.match(source) or len(values) > _MOST_VALUES:
            break
        if keyword := _KEYWORD.match(source):
            values[keyword["name"].upper()].append(keyword["value"].strip())
    # The words that mark the state of a task; `#+TODO: DRAFT(d) | SENT` adds to them.
    own = (
        word for keyword in _STATE_KEYWORDS for value in values[keyword] for word in value.split()
    )
    file_tags = " ".join(values["FILETAGS"]).replace(":", " ").split()
    keywords = [tag for value in values["KEYWORDS"] for tag in facts.tags(value)]
    return content_of(
        "org",
        lines,
        org_blocks(lines, _STATES | {word.partition("(")[0] for word in own if word != "|"}),
        title=facts.one_line(" ".join(values["TITLE"])),
        metadata=Metadata(
            tags=facts.tags([*file_tags, *keywords]),
            author=facts.one_line(", ".join(values["AUTHOR"])),
            date=facts.iso_date(next(iter(values["DATE"]), None)),
            language=facts.one_line(next(iter(values["LANGUAGE"]), None)),
        ),
    )


def org_blocks(lines: Lines, states: Collection[str]) -> Iterator[OutlineBlock]:
    """The blocks of the text in order, without overlap; `states` mark tasks in headlines."""
    closings = _Closings(lines)
    line = 1
    while line <= lines.count:
        source = lines[line]
        if not source or _RULE.fullmatch(source):
            line += 1
            continue
        if headline := _HEADLINE.match(source):
            words = headline_words(headline["text"], states)
            block = OutlineBlock(BlockKind.HEADING, line, line, len(headline["stars"]), words)
        else:
            block = _enclosed(lines, line, closings) or _open(lines, line)
        yield block
        line = block.last + 1


def headline_words(source: str, states: Collection[str]) -> str:
    """The words of a headline, without state, priority, progress, tags and markup."""
    text = _TAGS.sub("", f" {source}").strip()
    first, _, rest = text.partition(" ")
    if first in states:
        text = rest.lstrip()
    text = _PRIORITY.sub("", text, count=1).removeprefix("COMMENT ")
    text = _LINK.sub(lambda link: link[2] or link[1], _COOKIE.sub("", text))
    return " ".join(_MARKUP.sub(r"\2", text).split())[:_LONGEST_HEADING].rstrip()


class _Closings:
    """Finds the line that closes a block or drawer, without a search for each."""

    def __init__(self, lines: Lines) -> None:
        self._ends: defaultdict[str, list[int]] = defaultdict(list)
        self._headlines: list[int] = []
        for line in range(1, lines.count + 1):
            source = lines[line]
            if end := _END.match(source):
                self._ends[(end[1] or end[2] or end[3]).lower()].append(line)
            elif _HEADLINE.match(source):
                self._headlines.append(line)
        self._headlines.append(lines.count + 1)

    def after(self, line: int, name: str) -> int | None:
        """The line that closes what begins here; None if a headline or the end comes before."""
        end = _first_after(self._ends.get(name.lower(), ()), line)
        headline = _first_after(self._headlines, line)
        return end if end and headline and end < headline else None


def _first_after(numbers: Sequence[int], line: int) -> int | None:
    place = bisect_right(numbers, line)
    return numbers[place] if place < len(numbers) else None


def _enclosed(lines: Lines, line: int, closings: _Closings) -> OutlineBlock | None:
    """What a line opens and another closes: a block of code, a quotation, a drawer."""
    source = lines[line]
    if begin := _BEGIN.match(source):
        name = begin[1] or begin[2]
        kind = BlockKind.CODE if name.lower() in _CODE_BLOCKS else BlockKind.PARAGRAPH
    elif _DRAWER.fullmatch(source):
        # What a drawer holds is written by programs, line by line.
        name, kind = "end", BlockKind.CODE
    else:
        return None
    last = closings.after(line, name)
    return OutlineBlock(kind, line, last) if last else None


def _open(lines: Lines, line: int) -> OutlineBlock:
    """What goes on for as long as its lines look alike, and else a paragraph."""
    source = lines[line]
    if _TABLE.match(source):
        return OutlineBlock(BlockKind.TABLE, line, lines.run(line, _TABLE_LINE.match))
    if _ITEM.match(source):
        # It goes on while lines are indented deeper than it; headlines never are.
        return OutlineBlock(BlockKind.ITEM, line, lines.last_indented(line, lines.indent(line)))
    for pattern, kind in _RUNS:
        if pattern.match(source):
            return OutlineBlock(kind, line, lines.run(line, pattern.match))
    return OutlineBlock(BlockKind.PARAGRAPH, line, lines.run(line, _goes_on))


def _goes_on(source: str) -> bool:
    return bool(source) and not any(ends(source) for ends in _ENDERS)


_RUNS = (
    (_KEYWORD, BlockKind.PARAGRAPH),
    (_COMMENT, BlockKind.PARAGRAPH),
    (_FIXED_WIDTH, BlockKind.CODE),
)
_ENDERS: tuple[Callable[[str], object], ...] = (
    _HEADLINE.match,
    _KEYWORD.match,
    _BEGIN.match,
    _DRAWER.fullmatch,
    _ITEM.match,
    _TABLE.match,
    _FIXED_WIDTH.match,
    _COMMENT.match,
    _RULE.fullmatch,
)
