"""Flags characters that nobody sees but that programs read: a place to hide orders in a text.

What belongs to a script or to an emoji is let be: joiners in Persian or Hindi, the marks of
direction beside Hebrew, the break opportunities of Khmer, the tags of Scotland's flag.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from heapq import merge
from operator import attrgetter

from pincite.records import Content, Omission, OmissionReason, Section, without

# Scripts whose letters join, or are kept from joining, by characters without width.
_JOINED = (
    "\u0600-\u07ff\u0840-\u08ff\u0900-\u0dff\u0e00-\u0fff\u1000-\u109f\u1700-\u18af\u1900-\u1cff"
    "\ua840-\ua8ff\ua930-\ua9ff\uaa00-\uaadf\uabc0-\uabff\ufb50-\ufdff\ufe70-\ufefc"
    "\U00010a00-\U00011fff"
)
# Thai, Lao, Tibetan, Myanmar, Khmer and their neighbours: words without blanks between them.
_UNSPACED = "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u1950-\u1aad\ua9e0-\ua9ff\uaa60-\uaadf"
# With what modifies them.
_EMOJI = (
    "\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u27bf\u2934\u2935\u2b05-\u2b55"
    "\u3030\u303d\u3297\u3299\ufe0f\U0001f000-\U0001faff"
)
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u05ff\u0608-\u065f\u066d-\u06ef\u06fa-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
    "\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"

_FOUND = re.compile(
    # The flags of England, Scotland and Wales are spelt in tags, in five or six of them.
    "(?P<FLAG>\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f)"
    "|(?P<TAG>[\U000e0000-\U000e007f]+)"
    "|(?P<ZERO_WIDTH>(?:"
    "[\u2060-\u2064\u206a-\u206f\ufeff]"
    f"|(?<![{_UNSPACED}])\u200b(?![{_UNSPACED}])"
    "|(?<![\u1800-\u18af])\u180e(?![\u1800-\u18af])"
    f"|(?<![{_JOINED}])(?:\u200c|(?<![{_EMOJI}])\u200d|\u200d(?![{_EMOJI}]))(?![{_JOINED}])"
    f"|[{_SELECTORS}]{{3,}}"  # one or two choose a form; more of them spell something
    "){1,100000})"  # each takes memory
    "|(?P<DIRECTION>[\u202d\u202e]+)"
    "|(?P<EMBEDDING>[\u202a-\u202c\u2066-\u2069]+)"
    "|(?P<HYPHEN>\u00ad+)"
)


def flagged(content: Content) -> Content:
    """The content with an omission for each stretch of characters that do not show.

    Title, headings, author and tags, which travel without omissions, lose them.
    """
    metadata = content.metadata
    # The content's own omissions and those found, in order and without overlap. What the file
    # itself hides stays as the reader marked it. Elsewhere what is found goes first: a zero-width
    # character in a long block of code is still worth a flag.
    own = content.omissions
    omissions: Iterable[Omission] = own
    if not content.text.isascii():
        found = list(_found(content.text))
        hidden, own_hidden = _hidden(found), _hidden(own)
        omissions = merge(
            own_hidden,
            _outside(hidden, own_hidden),
            _outside(_not_hidden(own), hidden),
            _outside(_not_hidden(found), own),
            key=attrgetter("start"),
        )
    return replace(
        content,
        title=_visible_or_none(content.title),
        sections=tuple(map(_visible_section, content.sections)),
        omissions=tuple(omissions),
        metadata=replace(
            metadata,
            author=_visible_or_none(metadata.author),
            tags=tuple(tag for one in metadata.tags if (tag := visible(one))),
        ),
    )


def visible(text: str) -> str:
    """The text without its characters that do not show."""
    return text if text.isascii() else without(text, 0, _found(text)).strip()


def _visible_or_none(text: str | None) -> str | None:
    return visible(text or "") or None


def _visible_section(section: Section) -> Section:
    if all(heading.isascii() for heading in section.heading_path):
        return section
    path = tuple(visible(heading) for heading in section.heading_path)
    return replace(section, heading_path=tuple(heading for heading in path if heading))


def _hidden(omissions: Iterable[Omission]) -> list[Omission]:
    return [one for one in omissions if one.reason.is_hidden]


def _not_hidden(omissions: Iterable[Omission]) -> list[Omission]:
    return [one for one in omissions if not one.reason.is_hidden]


def _found(text: str) -> Iterator[Omission]:
    """Each stretch that does not show and does not belong, in order."""
    line_end, beside_right_to_left = -1, False
    for found in _FOUND.finditer(text):
        name = found.lastgroup or ""
        if name == "EMBEDDING":
            if found.start() > line_end:
                line_start = text.rfind("\n", 0, found.start()) + 1
                line_end = text.find("\n", found.start())
                line_end = len(text) if line_end < 0 else line_end
                inside = _RIGHT_TO_LEFT.search(text, line_start, line_end)
                beside_right_to_left = inside is not None
            if beside_right_to_left:
                continue
            name = "DIRECTION"
        if name != "FLAG":
            yield Omission(found.start(), found.end(), OmissionReason[name])


def _outside(omissions: Iterable[Omission], taken: Sequence[Omission]) -> Iterator[Omission]:
    """What is left of the omissions outside those taken; both in order and without overlap."""
    place = 0
    for omission in omissions:
        start = omission.start
        while place < len(taken) and taken[place].end <= start:
            place += 1
        following = place
        while following < len(taken) and taken[following].start < omission.end:
            if start < taken[following].start:
                yield Omission(start, taken[following].start, omission.reason)
            start = max(start, taken[following].end)
            following += 1
        if start < omission.end:
            yield Omission(start, omission.end, omission.reason)
