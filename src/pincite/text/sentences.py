"""Text → the spans of its sentences, covering all of it."""

from __future__ import annotations

import re

# A sentence ends at a full stop and the like followed by space, at a CJK full stop, before a
# blank line, and before a line that begins an item, a heading, a table row, a fence or a time
# stamp. Closing quotes and brackets belong to the sentence they close. A row of dots is looked at
# once, from its start, so that a long one is cheap. The pattern begins with every character that
# can end a sentence: so all others are passed over at once.
_END = re.compile(
    r"""[.!?…。！？｡\n](?:"""
    r"""(?<=[.!?…])(?<![.!?…]{2})[.!?…]*["'”’»)\]*_]*(?=\s)"""
    r"""|(?<=[。！？｡])[。！？｡]*["'”’」』）]*"""
    r"""|(?<=\n)[ \t\r]*(?=\n)"""
    r"""|(?<=\n)(?=[ \t]*(?:[-*+][ \t]|\d{1,9}[.)][ \t]|\#{1,6}[ \t]|\||```|~~~|\[?\d\d:\d\d))"""
    r""")"""
)

# A full stop after one of these is no end. Single letters are initials: "J. Doe".
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"'])(?:[A-Za-z]|e\.g|i\.e|cf|vs|etc|approx|ca|no|nr|fig|eq|vol|pp?|st|dr|mr|mrs|ms"
    r"|prof|sr|jr|z\.B|bzw|usw|d\.h|p\.ej)$",
    re.IGNORECASE,
)
_LONGEST_ABBREVIATION = 8


def sentence_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The sentences of `text[start:end]`, without the space around them; blank ones left out."""
    spans: list[tuple[int, int]] = []
    at = start
    for match in _END.finditer(text, start, end):
        if _is_abbreviation(text, at, match):
            continue
        _add_trimmed(spans, text, at, match.end())
        at = match.end()
    _add_trimmed(spans, text, at, end)
    return spans


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without the white space at its two ends; empty where there is nothing else."""
    end = min(end, len(text))
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _is_abbreviation(text: str, sentence_start: int, stop: re.Match[str]) -> bool:
    if stop.group() != ".":
        return False
    before = text[max(sentence_start, stop.start() - _LONGEST_ABBREVIATION) : stop.start()]
    # The number of a list's item, or of a heading, belongs to it.
    is_number = before.strip().lstrip("# ").isdigit() and stop.start() - sentence_start == len(
        before
    )
    return is_number or _ABBREVIATION.search(before) is not None


def _add_trimmed(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    start, end = trim(text, start, end)
    if start < end:
        spans.append((start, end))
