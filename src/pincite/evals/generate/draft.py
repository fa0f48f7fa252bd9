"""A document as drafts are made from it, and a draft."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from pincite.evals.generate.phrases import language_of
from pincite.records import (
    Case,
    Chunk,
    Document,
    ExpectedPlace,
    Modality,
    Omission,
    Section,
    locate,
    overlapping,
)
from pincite.text.lines import LineIndex
from pincite.text.markup import without_markup
from pincite.text.sentences import trim
from pincite.text.words import STOP_WORDS, fold

_LONGEST_TITLE = 90
_NO_TITLE = re.compile(r"_?index|readme|untitled|document\d*|glossary|contents|start|home", re.I)
_KIND_OF_FILE = re.compile(r"\s*\((?:transcript|draft|copy|final)\)$", re.I)
_WORD = re.compile(r"\w+")
_TEMPLATES = ("{{", "{%", "<")  # of site generators: what looks like a heading there is none
_MOST_SECTIONS = 1_000  # of one document that are looked at
_NUMBER = re.compile(
    r"(?:(?:step|chapter|part|section|appendix|kapitel|teil|chapitre)\s+)?"
    r"(?:\d+(?:\.\d+)*[.):]?|[ivxIVX]{1,5}[.)]|[A-Z][.)]|[一二三四五六七八九十]{1,3}、)\s*(?=\D)",
    re.IGNORECASE,
)
YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_LONGEST_QUESTION = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Clear:
    """What must hold of a whole library for a question to mean one document and no other.

    The keys are those that documents are known by, see `Sightings`.
    """

    one_alone: tuple[str, ...]  # at least one of them stands in one document only
    none_shared: tuple[str, ...] = ()  # none of them stands in more than one
    none_common: tuple[str, ...] = ()  # none of them stands in many
    all_known: tuple[str, ...] = ()  # each of them stands in some document

    def holds(self, count: Callable[[str], int], *, many: int) -> bool:
        """Whether it does, by how many documents each key stands in."""
        return (
            any(count(key) == 1 for key in self.one_alone)
            and all(count(key) <= 1 for key in self.none_shared)
            and all(count(key) < many for key in self.none_common)
            and all(count(key) > 0 for key in self.all_known)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Idea:
    """What could be asked about one document."""

    question: str
    kind: str
    note: str  # where it came from, for whoever confirms it
    clear: Clear
    about: str = ""  # the heading, title or code that it asks for
    at: tuple[int, int] | None = None  # the stretch that answers it
    terms: tuple[str, ...] = ()
    rank: int = 0  # among the ideas for its document; 0 is the best


@dataclass(frozen=True, slots=True)
class Draft:
    """An idea as a case; `clear` is None where nothing needs to hold."""

    case: Case
    clear: Clear | None = None
    rank: int = 0
    about: str = ""
    language: str = "en"


class Source:
    """One document: what a reader sees of it, and where that stands."""

    def __init__(self, document: Document, chunks: Sequence[Chunk]) -> None:
        self.document = document
        self.chunks = chunks
        self.path = document.path
        self.text = document.text

    @cached_property
    def language(self) -> str | None:
        """One that we can ask in."""
        told = self.document.metadata.language
        return "en" if self.is_code else language_of(self.text, told)

    @cached_property
    def title(self) -> str:
        """The document's own title, fit for a question; empty where it has none."""
        title = _KIND_OF_FILE.sub("", plain(self.document.title))
        usable = self.document.own_title and len(title) <= _LONGEST_TITLE
        return title if usable and not _NO_TITLE.fullmatch(title) and telling(title) else ""

    @property
    def is_code(self) -> bool:
        """Whether it is source code."""
        return self.document.modality is Modality.CODE

    @property
    def is_dated(self) -> bool:
        """Whether it speaks of some time, so that it makes sense to ask for another."""
        return self.document.metadata.date is not None or YEAR.search(self.path) is not None

    @property
    def is_prose(self) -> bool:
        """Whether it was written to be read."""
        return self.document.modality in (Modality.TEXT, Modality.OCR)

    @property
    def is_recording(self) -> bool:
        """Whether its text was spoken."""
        spoken = (Modality.VIDEO_TRANSCRIPT, Modality.AUDIO_TRANSCRIPT)
        return self.document.modality in spoken

    @cached_property
    def sections(self) -> tuple[tuple[Section, str], ...]:
        """The sections with their own headings, without number and markup; empty if none."""
        everything = (Section((), 0, 0, len(self.text)),)
        first = self.document.sections[:_MOST_SECTIONS] or everything
        return tuple(
            (one, "" if self.text.startswith(_TEMPLATES, one.start) else _heading_of(one))
            for one in first
        )

    def is_seen(self, start: int, end: int) -> bool:
        """Whether a reader sees all of the stretch: what is hidden must not get into a draft."""
        return not overlapping(self._hidden, start, end)

    def place(self, start: int, end: int) -> ExpectedPlace:
        """Where the stretch stands, as a reader would say it, without blank lines at its ends."""
        start, end = trim(self.text, start, end)
        held = overlapping(self.document.places, start, end)
        first, last = self._lines.lines_of(start, end)
        at = locate(held, start, end, line_start=first, line_end=last)
        return ExpectedPlace.at(self.path, at)

    @cached_property
    def _lines(self) -> LineIndex:
        return LineIndex(self.text)

    @cached_property
    def _hidden(self) -> tuple[Omission, ...]:
        return tuple(one for one in self.document.omissions if one.reason.is_hidden)


def drafts_of(source: Source, ideas: Iterable[Idea]) -> Iterator[Draft]:
    """The ideas as cases; those that are too long, or speak of what nobody sees, are left out."""
    for idea in ideas:
        if len(idea.question) > _LONGEST_QUESTION or not (
            idea.at is None or source.is_seen(*idea.at)
        ):
            continue
        case = Case(
            question=idea.question,
            kind=idea.kind,
            documents={source.path: 1},
            places=() if idea.at is None else (source.place(*idea.at),),
            # A term that markup or a line end goes through is not to be found as it is.
            terms=tuple(term for term in idea.terms if term in source.text),
            draft=True,
            note=idea.note,
        )
        yield Draft(case, idea.clear, idea.rank, idea.about, source.language or "en")


def _heading_of(section: Section) -> str:
    if not section.heading_path:
        return ""
    heading = plain(section.heading_path[-1])
    if number := _NUMBER.match(heading):
        heading = heading[number.end() :]
    return heading.strip(" :.—–-#")


def plain(text: str) -> str:
    """The text without markup, on one line."""
    return " ".join(without_markup(text).split())


def words_of(text: str) -> list[str]:
    """The words of a text, folded; the same on both sides of every comparison."""
    return _WORD.findall(fold(text))


def telling(text: str) -> list[str]:
    """The words that say what a text is about."""
    return [
        word
        for word in words_of(text)
        if word not in STOP_WORDS and not word.isdigit() and (len(word) > 2 or not word.isascii())
    ]
