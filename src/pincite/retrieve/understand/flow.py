"""A question becomes what is searched: phrases, dates, typos, other names. Read this file first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from pincite.errors import ModelError
from pincite.ports import Generator, QuestionEmbedder, Store
from pincite.records import Understood
from pincite.retrieve.understand.expansion import expanded
from pincite.retrieve.understand.glossary import FROM_GLOSSARY, NO_GLOSSARY, Glossary
from pincite.retrieve.understand.names import Renamed, other_names
from pincite.retrieve.understand.quoted import quoted_phrases, quoted_spans
from pincite.retrieve.understand.typos import Correction, corrections
from pincite.settings import SearchSettings
from pincite.text.words import LONGEST_QUERY, WORD, tied

_COUNTS = 3  # times that what was asked counts against what was added
_LONGEST = 1_000  # characters; a longer question is a pasted text, which says all by itself


@dataclass(frozen=True, kw_only=True)
class Aids:
    """What helps to understand a question beside the library itself."""

    glossary: Glossary = NO_GLOSSARY
    generator: Generator | None = None  # gives other words for the question
    today: date | None = None  # what "last week" is counted from; None leaves dates alone


def understand(
    question: str,
    store: Store,
    embedder: QuestionEmbedder | None,
    settings: SearchSettings,
    aids: Aids = Aids(),
) -> Understood:
    """What to search for, and what was done to the question, in words."""
    # In a longer text quotes cite or stress something; in a query they ask for it.
    phrases = quoted_phrases(question) if len(WORD.findall(question)) <= LONGEST_QUERY else ()
    notes = list(aids.glossary.notes)
    since: date | None = None
    until: date | None = None
    text = question
    if settings.date_words and aids.today is not None and len(question) <= _LONGEST:
        # Its many patterns are worth their time only where dates are asked for.
        from pincite.retrieve.understand.date_words import dates_asked_for

        dates, text, words = dates_asked_for(question, aids.today)
        since, until = dates.since, dates.until
        notes += [f"only {dates} (for “{' … '.join(words)}”)"] if words else []
    reading = _read(text, store, embedder, settings, aids.glossary)
    notes += reading.notes
    added: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    if aids.generator is not None:
        try:
            added, note = expanded(text, aids.generator)
            notes.append(note)
        except ModelError as error:
            notices = (f"Searched without other words from the language model: {error}.",)
    return Understood(
        words=_weighed(reading.asked, (*map(tied, reading.names), *added)),
        embedded=reading.embedded,
        phrases=phrases,
        since=_iso(since),
        until=_iso(until),
        notes=tuple(notes),
        notices=notices,
    )


@dataclass(frozen=True)
class _Reading:
    """What the library's own words make of a question."""

    asked: str  # with what was meant beside what was typed
    embedded: str
    names: tuple[str, ...] = ()  # other ones for what is asked about
    notes: tuple[str, ...] = ()


def _read(
    text: str,
    store: Store,
    embedder: QuestionEmbedder | None,
    settings: SearchSettings,
    glossary: Glossary,
) -> _Reading:
    if len(text) > _LONGEST:
        return _Reading(text, text)
    mistyped: list[Correction] = []
    if settings.typos:
        knows = embedder.knows if embedder else lambda word: False
        mistyped = corrections(text, store, knows=knows, exact=quoted_spans(text))
    corrected = _replaced(text, [(one.start, one.end, one.meant) for one in mistyped])
    renamed = other_names(
        corrected,
        store,
        glossary,
        from_documents=settings.acronyms,
        exact=quoted_spans(corrected),
    )
    # The model reads a full name better than a short one that it may never have seen.
    full = [(one.end, one.end, f" ({one.others[0]})") for one in renamed if one.by_short]
    return _Reading(
        asked=" ".join((text, *(one.meant for one in mistyped))),
        embedded=_replaced(corrected, full),
        names=_names(renamed, by_words_alone=embedder is None),
        notes=_told(mistyped, renamed),
    )


def _names(renamed: Sequence[Renamed], *, by_words_alone: bool) -> tuple[str, ...]:
    """The names to search for as words.

    Where meaning is searched as well, the model has read the full name already: in words, too, it
    would draw everything to the place that explains it. What somebody wrote into the glossary is
    asked for in either way.
    """
    return tuple(
        name
        for one in renamed
        for meaning, name in zip(one.meanings, one.others, strict=True)
        if by_words_alone or meaning.source == FROM_GLOSSARY
    )


def _weighed(asked: str, added: Sequence[str]) -> str:
    """What was asked and what was added to it, of which each counts a third of a word asked for."""
    times = _COUNTS if added and len(asked) <= _LONGEST else 1
    return " ".join([*[asked] * times, *added])


def _replaced(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    """The text with other words at these places, which come in their order."""
    for start, end, new in reversed(edits):
        text = text[:start] + new + text[end:]
    return text


def _told(mistyped: Sequence[Correction], renamed: Sequence[Renamed]) -> tuple[str, ...]:
    """What was done, in words."""
    told = [f"also searched for: {one.meant} (for “{one.typed}”)" for one in mistyped]
    for one in renamed:
        told += [f"{each.short} = {each.long} ({each.source})" for each in one.meanings]
    return tuple(dict.fromkeys(told))


def _iso(day: date | None) -> str | None:
    return None if day is None else day.isoformat()
