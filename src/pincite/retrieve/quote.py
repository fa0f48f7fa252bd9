"""Chunk and question → the units that answer it best, with the words of the question in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from math import fsum, sqrt

from pincite.ports import Embedder, UnitScorer
from pincite.records import (
    Chunk,
    Locator,
    Modality,
    OmissionReason,
    Quote,
    Section,
    line_boxes,
    locate,
    overlapping,
)
from pincite.retrieve.rarity import Rarity
from pincite.retrieve.units import LONGEST, Unit, units_of
from pincite.text.dates import MONTHS
from pincite.text.facts import NUMBER_WORDS
from pincite.text.finding import Finder, finder_of, key_of
from pincite.text.lines import LineIndex
from pincite.text.printable import one_line
from pincite.text.sentences import trim
from pincite.text.words import STOP_WORDS, WORD, words_in, words_in_names

# What a signal counts, against 1 for a unit that has all words of the question which the chunk has.
# Chosen on questions that no figure is reported of (docs/decisions/0025).
_TURNS_ROUND = re.compile(
    r"\b(?:not(?! (?:limited|only)\b)|never|no|without|except|exceptions?|don['’]?ts?"
    r"|exclu(?:d\w+|sions?))\b",
    re.IGNORECASE,
)
_CONTEXT = 0.7  # a word in what introduces the unit, or in the heading above, against one in it
_PAIR = 0.03  # two words that stand next to each other here as in the question
_TYPE = 0.15  # it holds what the question wants: a number, a time, a name, a reason, a step
_DEFINES = 0.6  # it defines what is asked for
_WEAK = 0.5  # titles, questions and fragments, against the rest
_THAT_YEAR = 0.3  # more, of a unit that tells of the question's year, among others of other years
_OTHER_YEAR = 0.5  # of those others
_SCORER = 1.0  # a score of 1 by a model
_FOLLOWS = 0.6  # of the merit of the unit right before it
_MOST_SCORED = 8  # units of a chunk that a model looks at; the others share few words with it

_AROUND = 160  # characters of the units before and after that are shown as context
_BEFORE_MATCH = 80  # characters shown before the first match of a cut unit


def best_quote(
    chunk: Chunk, question: str, rarity: Rarity, window: tuple[int, int] | None
) -> Quote:
    """The unit that answers the question best."""
    return ranked_quotes(chunk, question, rarity, window, most=1)[0]


def ranked_quotes(
    chunk: Chunk,
    question: str,
    rarity: Rarity,
    window: tuple[int, int] | None,
    *,
    most: int,
    scorer: UnitScorer | None = None,
) -> tuple[Quote, ...]:
    """The units that answer the question best, best first; always at least one.

    A word counts the more, the fewer chunks of the library and the fewer units of the chunk have
    it. Of units that are equal, what the vector search liked best comes first; then the order.
    """
    finder = finder_of(question)
    units = quotable(chunk)
    merits = _merits(chunk, question, finder, units, rarity)
    in_window = [window is not None and window[0] <= unit.start < window[1] for unit in units]

    def place(at: int) -> tuple[float, bool, int]:
        # Sums of the same parts in another order differ in the last digit.
        return -round(merits[at], 9), not in_window[at], at

    order = sorted(range(len(units)), key=place)
    if scorer is not None:
        looked_at = order[:_MOST_SCORED]
        texts = [
            f"{units[at].lead.rstrip(':')}: {text}" if units[at].lead else text
            for at in looked_at
            for text in (_seen(chunk, units[at]),)
        ]
        told = scorer(question, texts)
        for at, score in zip(looked_at, told, strict=True):
            merits[at] += _SCORER * score
    if most > 1:
        # What follows a unit often goes on with what it says; none passes the one it follows.
        before = [0.0, *merits]
        merits = [
            max(own, _FOLLOWS * above + (1 - _FOLLOWS) * own)
            for own, above in zip(merits, before, strict=False)
        ]
    order.sort(key=place)
    return tuple(quote_of(chunk, units, at, finder, merits[at]) for at in order[:most])


def quotable(chunk: Chunk) -> tuple[Unit, ...]:
    """The units of the chunk; all of it where it has none."""
    return units_of(chunk) or (Unit(chunk.start, chunk.end, "sentence"),)


def by_cosine(embedder: Embedder) -> UnitScorer:
    """The embedder as a reader of units, as far as it knows the language of the question."""

    embed_question = lru_cache(maxsize=1)(embedder.embed_question)  # for one chunk after the other

    def scores(question: str, units: Sequence[str]) -> list[float]:
        known = 1 - embedder.foreignness(question)
        if not known:
            return [0.0] * len(units)
        asked = embed_question(question)
        batches = range(0, len(units), embedder.batch)
        told = (embedder.embed_passages(units[at : at + embedder.batch]) for at in batches)
        return [known * float(vector @ asked) for vectors in told for vector in vectors]

    return scores


def _merits(
    chunk: Chunk, question: str, finder: Finder, units: Sequence[Unit], rarity: Rarity
) -> list[float]:
    """How much each unit says of what was asked: about 1 where it has all words of it."""
    seen = [_seen(chunk, unit) for unit in units]
    own = [finder.found(text) for text in seen]
    if chunk.modality is Modality.CODE:  # "parse height" is in parseHeight
        own = [finder.found(chunk.searched_in(unit.start, unit.end)) for unit in units]
    headings = [section_at(chunk, unit.start).heading_path[-1:] for unit in units]
    contexts = {
        context: finder.found(context)
        for context in dict.fromkeys([*(unit.lead for unit in units), *chain(*headings)])
    }
    having = Counter(word for words in (*own, *contexts.values()) for word in words)
    weights = {word: sqrt(max(rarity.of((word,)), 0.0) / count) for word, count in having.items()}
    every = fsum(weights.values()) or 1.0
    pairs, holds_answer = _pairs(question), _holds_answer(question)
    asked_years = set(_YEAR.findall(question))
    years = [set(_YEAR.findall(text)) if asked_years else set() for text in seen]
    # Where units tell of several years, it is the year that says which one is meant.
    by_year = any(asked_years & one for one in years) and any(
        one and not asked_years & one for one in years
    )

    def weight(words: set[str]) -> float:
        # `fsum`: sets have no order, and a plain sum of the same parts depends on it.
        return fsum(weights[word] for word in words) / every

    merits = []
    for unit, text, words, heading, told in zip(units, seen, own, headings, years, strict=True):
        around = contexts[unit.lead].union(*(contexts[one] for one in heading))
        merit = weight(words) + _CONTEXT * weight(around - words)
        if not merit:
            merits.append(0.0)
            continue
        if words:
            merit += _PAIR * len(pairs & _pairs(text))
        if unit.term:
            # None where what it defines is mostly about other words than the question's.
            defined = finder.found(f"{unit.term} {words_in_names(unit.term)}")
            telling = {key_of(word) for word in words_in(unit.term)} - STOP_WORDS
            if 2 * len(defined) >= len(telling):
                merit += _DEFINES * weight(defined & weights.keys())
        if holds_answer is not None and holds_answer(unit, text):
            merit += _TYPE
        if by_year and told:
            merit = merit + _THAT_YEAR if asked_years & told else merit * _OTHER_YEAR
        merits.append(merit * _WEAK if unit.weak else merit)
    return merits


def _seen(chunk: Chunk, unit: Unit) -> str:
    if not chunk.omissions:  # of most chunks, and quicker
        return chunk.text[unit.start - chunk.start : unit.end - chunk.start]
    return chunk.seen(unit.start, unit.end)


def _pairs(text: str) -> set[tuple[str, str]]:
    """The words that stand next to each other."""
    return set(pairwise(map(key_of, words_in(text))))


# What the answer should hold, by the words that ask for it.
_ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|long|old|far|high|deep|big|large|often|tall|fast|wide|heavy)\b"
    r"|\bwhat (?:percent|percentage|number|age|temperature|price|cost)\b"
    r"|\bwie ?(?:viele?n?|lange|oft|alt|hoch|weit|groß|tief|schnell)\b"
    r"|\bcu[aá]nt[oa]s?\b|\bcombien\b|多少|几|幾|كم",
    re.IGNORECASE,
)
_ASKS_TIME = re.compile(
    r"\bwhen\b|\b(?:what|which|in what) (?:year|date|day|month|time|century|decade)\b|\bwann\b"
    r"|\bin welchem (?:jahr|monat)\b|\bcu[aá]ndo\b|\bqué año\b|\bquand\b"
    r"|什么时候|何时|哪一?年|متى|أي عام",
    re.IGNORECASE,
)
_ASKS_NAME = re.compile(
    r"\b(?:who|whom|whose|where|which (?:city|country|person|company|team))\b|\bqui[eé]n(?:es)?\b"
    r"|\bd[oó]nde\b",
    re.IGNORECASE,
)
_ASKS_REASON = re.compile(
    r"\b(?:why|warum|weshalb|por qué|pourquoi)\b|为什么|为何|لماذا", re.IGNORECASE
)
_ASKS_STEPS = re.compile(
    r"\bhow (?:do|can|should|must) (?:i|we|you|one)\b|\bhow to\b"
    r"|\bwie (?:kann|muss|soll) (?:ich|man)\b|\bcómo (?:puedo|se)\b|如何|怎么",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<![\d.,])(?:19|20)\d\d(?![\d.,]*\d)")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_YEAR_OR_CLOCK = re.compile(r"(?<!\d)\d{4}(?!\d)|\d:\d\d")
_NAME = re.compile(r"(?<=[\w,;:)] )[A-Z][\w'’-]+")
_REASON = re.compile(
    r"\b(?:because|since|so that|therefore|due to|owing to|in order to|as a result|otherwise|weil"
    r"|denn|damit|porque|debido)\b|因为|由于|لأن",
    re.IGNORECASE,
)
_TIMES = """
monday tuesday wednesday thursday friday saturday sunday century centuries jahrhundert siglo today
yesterday
"""
_NUMBER_WORDS = NUMBER_WORDS.keys() | {"one"}
_TIME_WORDS = {name for name in MONTHS if len(name) > 3 or name in ("may", "mai")} | set(
    _TIMES.split()
)
_NUMBER_SIGNS, _TIME_SIGNS = frozenset("一二三四五六七八九十百千万亿"), frozenset("年月日")


def _holds_answer(question: str) -> Callable[[Unit, str], bool] | None:
    """Whether a unit holds the kind of thing that is asked for; None where that is not said."""
    if _ASKS_NUMBER.search(question):
        asked = set(_NUMBER.findall(question))
        return lambda _, text: (
            not asked.issuperset(_NUMBER.findall(text))
            or not _NUMBER_WORDS.isdisjoint(words_in(text))
            or not _NUMBER_SIGNS.isdisjoint(text)
        )
    if _ASKS_TIME.search(question):
        return lambda _, text: (
            _YEAR_OR_CLOCK.search(text) is not None
            or not _TIME_WORDS.isdisjoint(words_in(text.lower()))
            or not _TIME_SIGNS.isdisjoint(text)
        )
    if _ASKS_NAME.search(question):
        named = set(words_in(question.lower()))
        return lambda _, text: any(name.lower() not in named for name in _NAME.findall(text))
    if _ASKS_REASON.search(question):
        return lambda _, text: _REASON.search(text) is not None
    if _ASKS_STEPS.search(question):
        return lambda unit, _: unit.kind in ("item", "code")
    return None


_JOINED = re.compile(r"[ \u00a0,./–-]{0,2}")


def answering_words(question: str, text: str) -> tuple[tuple[int, int], ...]:
    """Where the text holds the kind of thing that is asked for: numbers, times, names, a reason."""
    asked = set(words_in(question.lower()))
    if _ASKS_REASON.search(question):
        reason = _REASON.search(text)
        return ((reason.start(), len(text.rstrip())),) if reason else ()
    if _ASKS_NUMBER.search(question):
        telling, pattern = _NUMBER_WORDS, _NUMBER
    elif _ASKS_TIME.search(question):
        telling, pattern = _TIME_WORDS, _NUMBER
    elif _ASKS_NAME.search(question):
        telling, pattern = set(), _NAME
    else:
        return ()
    spans = [one.span() for one in pattern.finditer(text) if one.group().lower() not in asked]
    words = (one for one in WORD.finditer(text) if one.group().lower() in telling - asked)
    joined: list[tuple[int, int]] = []
    for start, end in sorted([*spans, *(one.span() for one in words)]):
        # "30 June 2025" is one thing.
        if joined and _JOINED.fullmatch(text, joined[-1][1], max(start, joined[-1][1])):
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def quote_of(
    chunk: Chunk, units: Sequence[Unit], at: int, finder: Finder, merit: float = 0.0
) -> Quote:
    """One of the units as it is shown, with what stands around it."""
    unit = units[at]
    before, after = (units[max(at - 1, 0) : at], units[at + 1 : at + 2])
    whole = trim(chunk.text, unit.start - chunk.start, unit.end - chunk.start)
    start, end = _shown(chunk.text, *whole, finder)
    lines = LineIndex(chunk.text)
    places = overlapping(chunk.places, chunk.start + start, chunk.start + end)
    section = section_at(chunk, chunk.start + start)
    return Quote(
        start=chunk.start + start,
        end=chunk.start + end,
        text=chunk.text[start:end],
        locator=_locator(chunk, lines, start, end),
        heading_path=section.heading_path,
        section=_locator(
            chunk,
            lines,
            *trim(chunk.text, max(section.start - chunk.start, 0), section.end - chunk.start),
        ),
        matches=finder.matches(chunk.text[start:end]),
        cut_before=start > whole[0],
        cut_after=end < whole[1],
        boxes=line_boxes(places),
        hyphens=tuple(
            (max(one.start - chunk.start - start, 0), one.end - chunk.start - start)
            for one in overlapping(chunk.omissions, chunk.start + start, chunk.start + end)
            if one.reason is OmissionReason.HYPHEN
        ),
        kind=unit.kind,
        merit=merit,
        lead=_lead(unit, chunk.text[start:end], section.heading_path),
        before="".join(chunk.seen(one.start, one.end)[-_AROUND:] for one in before),
        # The rest of a unit that is too long comes before what follows it.
        after=chunk.seen(chunk.start + end, chunk.start + whole[1])[:_AROUND].strip()
        or "".join(chunk.seen(one.start, one.end)[:_AROUND] for one in after),
    )


def _lead(unit: Unit, text: str, headings: Sequence[str]) -> str:
    """What introduces a unit; of an item of a list also a heading that turns it round: below “What
    is not covered” a bare item says the opposite.
    """
    above = headings[-1] if headings and unit.kind in ("item", "row") else ""
    if _TURNS_ROUND.search(above) and not _TURNS_ROUND.search(f"{unit.lead} {text}"):
        return " — ".join(filter(None, (one_line(above), unit.lead)))
    return unit.lead


def _shown(text: str, start: int, end: int, finder: Finder) -> tuple[int, int]:
    """The unit, or where it is too long the part around its first matched word."""
    if end - start <= LONGEST:
        return start, end
    matches = finder.matches(text[start:end])
    if matches and matches[0][1] > LONGEST:
        start += max(text.rfind(" ", start, start + matches[0][0] - _BEFORE_MATCH) - start, 0)
    cut = min(end, start + LONGEST)
    if cut < end:
        # Never inside a word, nor a number of a script without blanks: it would be another one.
        least = start + LONGEST // 2  # a number that is longer is none that anybody reads
        cut = next((at for at in range(cut, least - 1, -1) if text[at].isspace()), cut)
        while cut > least and text[cut - 1].isdigit() and text[cut].isdigit():
            cut -= 1
    return trim(text, start, cut)


def section_at(chunk: Chunk, at: int) -> Section:
    """The section that a place of the document belongs to; the whole chunk where there are none."""
    for section in chunk.sections:
        if section.start <= at < section.end:
            return section
    return Section(chunk.heading_path, 0, chunk.start, chunk.end)


def _locator(chunk: Chunk, lines: LineIndex, start: int, end: int) -> Locator:
    """Where a slice of the chunk's text stands in the document."""
    end = min(end, len(chunk.text))
    above = chunk.locator.line_start - 1
    first, last = lines.lines_of(start, end)
    inside = (chunk.start + start, chunk.start + end)
    return locate(
        overlapping(chunk.places, *inside),
        *inside,
        line_start=above + first,
        line_end=above + last,
    )
