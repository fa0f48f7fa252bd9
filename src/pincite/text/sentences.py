"""Text → the spans of its sentences, covering all of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

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


def sentence_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The sentences of `text[start:end]`, without the space around them; blank ones left out."""
    at = start
    for match in _END.finditer(text, start, end):
        if _is_abbreviation(text, at, match):
            continue
        yield from _trimmed(text, at, match.end())
        at = match.end()
    yield from _trimmed(text, at, end)


# What can end a sentence of running prose, in the scripts that we read, with the quotes and
# brackets that it closes. A row of marks is one end, looked at once.
_PROSE_END = re.compile(
    r"""(?<![.!?…])[.!?…]+["'”’»)\]*_`]*(?:\[\d{1,3}\])*(?=\s)"""
    r"""|[。！？｡]+["'”’」』）]*|[؟۔।॥։።។။]+["'”’»)]*|\n[ \t\r]*(?=\n)"""
)
_INLINE_CODE = re.compile(r"`[^`\n]+`")
_WORD_BEFORE = re.compile(r"[^\s(\[\"'“„«/]+$")
_LONGEST_WORD = 24  # characters before a full stop that are looked at
# A name or a number follows these: the sentence goes on.
_TITLES = """
adm bzgl bzw capt cf cmdr col d.h dipl dr e.g eq evtl fig figs gen ggf gov hon hr i.e ing inkl insb
kap lt maj mr mrs ms nr núm p.ej pág págs pp prof rev sen sog sr sra srta st vgl vol vols vs z.b
zzgl
"""
# These may stand at the end of a sentence, too.
_SHORTENED = """
apr approx aug ave bros ca ch chap co corp dec dept ed eds est etc feb inc jan jr jul jun ltd mich
mio mrd mt nov oct okt op orig ph.d ref sep sept str tel transl u.a univ usf usw
"""
_BEFORE_NAMES, _MAYBE_AT_THE_END = frozenset(_TITLES.split()), frozenset(_SHORTENED.split())
_LETTERS_WITH_STOPS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]$")  # J. Doe, U.S., z.B.
_BEGINNING = re.compile(
    r"\s+(?:The|This|That|These|It|He|She|They|We|In|A|An|But|However|As|Der|Die|Das|Es|El|La|Los)\b"
)
_MONTHS_AND_SUCH = re.compile(
    r"Jan|Feb|März|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|Jahrh|Jh|Lebensjahr|Klasse|Auflage"
)


def prose_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The sentences of running prose, less the space around them; blank ones left out.

    Unlike `sentence_spans`, by which documents are cut for the index, it knows nothing of lists
    and tables, and more of abbreviations, dates, ellipses, code and other scripts.
    """
    codes = iter(_INLINE_CODE.finditer(text, start, end))
    code = next(codes, None)
    at = start
    for stop in _PROSE_END.finditer(text, start, end):
        while code is not None and code.end() <= stop.start():
            code = next(codes, None)
        if code is not None and code.start() < stop.start() < code.end() - 1:
            continue
        if _goes_on(text, at, stop, end):
            continue
        yield from _trimmed(text, at, stop.end())
        at = stop.end()
    yield from _trimmed(text, at, end)


def _goes_on(text: str, sentence_start: int, stop: re.Match[str], end: int) -> bool:
    """Whether the sentence is not over at this mark."""
    if text[stop.start()] not in ".…!?":
        return False
    following = text[stop.end() : min(stop.end() + 8, end)]
    after = next((char for char in following if not char.isspace()), "")
    if after.islower() or after in ",;)":
        return True  # "e. coli", "Yahoo! was", "… and so on"
    if stop.group() != ".":
        return False
    before = text[max(sentence_start, stop.start() - _LONGEST_WORD) : stop.start()]
    found = _WORD_BEFORE.search(before)
    word = found.group() if found else ""
    if word.isdigit():
        opens = len(word) < 4 and not text[sentence_start : stop.start()].strip(
            " #\t\n*_0123456789"
        )
        dated = len(word) <= 2 and _MONTHS_AND_SUCH.match(text, stop.end() + 1) is not None
        return opens or dated  # the number of an item, a heading or a day
    word = word.lower()
    if word in _BEFORE_NAMES or (word in ("no", "art", "p") and after.isdigit()):
        return True
    is_short = word in _MAYBE_AT_THE_END or _LETTERS_WITH_STOPS.fullmatch(word) is not None
    return is_short and _BEGINNING.match(text, stop.end()) is None


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without the white space at its two ends; empty where there is nothing else."""
    end = min(end, len(text))
    part = text[start:end]
    start += len(part) - len(part.lstrip())
    return start, max(end - (len(part) - len(part.rstrip())), start)


def _is_abbreviation(text: str, sentence_start: int, stop: re.Match[str]) -> bool:
    if stop.group() != ".":
        return False
    before = text[max(sentence_start, stop.start() - _LONGEST_ABBREVIATION) : stop.start()]
    # The number of a list's item, or of a heading, belongs to it.
    is_number = before.strip().lstrip("# ").isdigit() and stop.start() - sentence_start == len(
        before
    )
    return is_number or _ABBREVIATION.search(before) is not None


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    start, end = trim(text, start, end)
    if start < end:
        yield start, end
