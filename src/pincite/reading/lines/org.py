"""Org → Content: the text as it is, sections by starred headlines, blocks of whole lines."""

from __future__ import annotations

from collections import defaultdict

from pincite.reading import facts
from pincite.reading.encoding import decode_filled
from pincite.reading.lines.line_blocks import Lines, content_of
from pincite.reading.lines.org_blocks import HEADLINE, KEYWORD, org_blocks
from pincite.reading.source_file import SourceFile
from pincite.records import Content, Metadata

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


def read(file: SourceFile) -> Content:
    """Read an Org file. Nothing that it includes or links to is looked at."""
    lines = Lines(decode_filled(file.data))
    values = _values(lines)
    return content_of(
        "org",
        lines,
        org_blocks(lines, _states(values)),
        title=facts.one_line(" ".join(values["TITLE"])),
        metadata=Metadata(
            tags=_tags(values),
            author=facts.one_line(", ".join(values["AUTHOR"])),
            date=facts.iso_date(next(iter(values["DATE"]), None)),
            language=facts.one_line(next(iter(values["LANGUAGE"]), None)),
        ),
    )


def _values(lines: Lines) -> _Values:
    """The values of the keywords before the first headline, by their names in capitals."""
    values: _Values = defaultdict(list)
    for line in range(1, lines.count + 1):
        source = lines[line]
        if HEADLINE.match(source) or len(values) > _MOST_VALUES:
            break
        if keyword := KEYWORD.match(source):
            values[keyword["name"].upper()].append(keyword["value"].strip())
    return values


def _states(values: _Values) -> frozenset[str]:
    """The words that mark the state of a task; `#+TODO: DRAFT(d) | SENT` adds to them."""
    own = (
        word for keyword in _STATE_KEYWORDS for value in values[keyword] for word in value.split()
    )
    return _STATES | {word.partition("(")[0] for word in own if word != "|"}


def _tags(values: _Values) -> tuple[str, ...]:
    file_tags = " ".join(values["FILETAGS"]).replace(":", " ").split()
    keywords = [tag for value in values["KEYWORDS"] for tag in facts.tags(value)]
    return facts.tags([*file_tags, *keywords])
