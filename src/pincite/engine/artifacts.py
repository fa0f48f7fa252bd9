"""Documents made of other documents: a blueprint, a design review, a workflow, a build plan.

A template asks a question for each section. What answers it is gathered, checked to stand where it
is cited, and put into the one section that it fits best; a section for which there is nothing says
what is open. A language model, where one is named, writes the sections by the same path as `ask`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from pincite.answer.evidence import Evidence, citation_of, gathered
from pincite.answer.flow import Readers
from pincite.answer.footnotes import holds_footnotes
from pincite.answer.verify import quoted, standing
from pincite.engine.searchable import Searchable
from pincite.errors import SettingsError
from pincite.models.chat import RemoteGenerator
from pincite.ports import Store, Writer
from pincite.records import (
    Answer,
    Artifact,
    ArtifactSection,
    Citation,
    Claim,
    FiltersGiven,
    Quote,
    Result,
)
from pincite.retrieve.quote import ranked_quotes
from pincite.retrieve.rarity import Rarity, rarity_of
from pincite.settings import AskSettings, SearchSettings
from pincite.text.finding import finder_of
from pincite.text.words import STOP_WORDS, fold

KINDS = ("blueprint", "pdr", "workflow", "build-plan")
_TEMPERATURE = 0.3
_RESULTS = 20  # of each search
_MOST_PAGES = 4  # about the subject as a whole, whose headings are looked at
_UNITS_OF_A_CHUNK = 40
_HEADED = 4.0  # what a unit below a fitting heading weighs more than one that stands anywhere
_PLACEHOLDER = re.compile(r"\{(?!about\})\w*\}")
_ABOUT_IT = 0.85  # of the subject's telling words must stand in a unit or above it
_SHORTEST = 4  # words of a unit: less is a title, or a cell
_POINTS_ELSEWHERE = re.compile(
    r"(?:this|the following|these) (?:page|task|section|document|guide|tutorial|example|command|"
    r"article|steps?)\b|(?:see|refer to|read|learn|click|visit)\b|for (?:more|further)\b|below\b"
    r"|(?:in|on) this (?:page|section|tutorial|task)\b|note that you can find\b",
    re.IGNORECASE,
)
_LIMITS = re.compile(
    r"\b(?:can(?:no|['’])t|limitations?|limits|not supported|caveats?|troubleshoot\w*|known issues?"
    r"|what\W+s next|see also|further reading|references?)\b",
    re.IGNORECASE,
)
_FAR = 0.35  # of the merit of the best unit of a section: less says too little


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A section of a template."""

    heading: str
    question: str
    open: str  # what is not said, where nothing is found
    cues: tuple[str, ...] = ()  # words of which a unit, or a heading above it, must have one
    most: int = 6


class Template(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an artifact is made of; `{about}` stands for its subject."""

    title: str
    section: tuple[Section, ...]


@dataclass(frozen=True)
class _Candidate:
    """A unit for a section."""

    citation: Citation
    section: int
    fit: float


def template_named(kind: str) -> Template:
    """One that is shipped."""
    if kind not in KINDS:
        raise SettingsError(f"there is no template {kind!r}; there are: {', '.join(KINDS)}")
    source = files("pincite.engine").joinpath("templates", f"{kind}.toml")
    return parse_template(source.read_text("utf-8"), kind)


def template_in(file: Path) -> Template:
    """One of the user's own."""
    try:
        return parse_template(file.read_bytes().decode("utf-8-sig"), str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"the template {file} cannot be read: {error}") from error


def parse_template(text: str, name: str) -> Template:
    """A template; SettingsError says what is wrong with it."""
    try:
        template = msgspec.convert(tomllib.loads(text), Template)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise SettingsError(f"the template {name}: {error}") from error
    if not template.section or any(one.most < 1 for one in template.section):
        raise SettingsError(f"the template {name} needs sections, each of at least one line")
    if unknown := _PLACEHOLDER.search(text):
        raise SettingsError(
            f"the template {name} has {unknown[0]}; only {{about}} stands for anything"
        )
    return template


def make(  # noqa: PLR0913 — what is made, of what, and by whom
    library: Searchable,
    template: Template,
    about: str,
    *,
    filters: FiltersGiven = None,
    profile: str | None = None,
    judge: str = "",
    on_section: Callable[[str], None] = lambda heading: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Artifact:
    """The artifact about a subject, every line of it cited or marked as open."""
    if not about.strip():
        raise SettingsError('say what it is to be about, such as --about "the tide gauge"')
    asked = [replace_about(one, about) for one in template.section]
    if profile is None:
        claims = _gathered(library, asked, about, filters, on_section, cancelled)
    else:
        claims = _written(library, asked, filters, (profile, judge), on_section, cancelled)
    sections = [
        ArtifactSection(one.heading, tuple(found), "" if found else one.open)
        for one, found in zip(asked, claims, strict=True)
    ]
    writer = library.writer(profile).name if profile is not None else ""
    return Artifact(template.title.replace("{about}", about), about, tuple(sections), writer)


def as_answer(artifact: Artifact) -> Answer:
    """All its claims as one answer, for a receipt."""
    claims = tuple(claim for section in artifact.sections for claim in section.claims)
    return Answer(artifact.title, claims, None, writer=artifact.writer)


def replace_about(section: Section, about: str) -> Section:
    """The section with its subject filled in."""
    return msgspec.structs.replace(
        section,
        heading=section.heading.replace("{about}", about),
        question=section.question.replace("{about}", about),
        open=section.open.replace("{about}", about),
    )


def _gathered(
    library: Searchable,
    sections: Sequence[Section],
    about: str,
    filters: FiltersGiven,
    on_section: Callable[[str], None],
    cancelled: Callable[[], bool],
) -> list[list[Claim]]:
    """In the documents' own words: each unit in the section that it fits best."""
    store = library._store()
    scorer = library._scorer()
    subject = _Subject(about, rarity_of(about, store))
    if not subject.words:
        raise SettingsError(f"“{about}” does not say what it is to be about")
    own: dict[str, bool] = {}  # whether a document is one that we made of others
    pages: dict[str, Result] = {}  # documents about the subject as a whole

    def search(query: str) -> list[Result]:
        wanted = SearchSettings(top_k=_RESULTS)
        found = library.search(query, filters=filters, settings=wanted, cancelled=cancelled)
        results = [one for one in found.results if not _is_own(library, one, own)]
        for one in results:
            if subject.is_named(one.document.title) and len(pages) < _MOST_PAGES:
                pages.setdefault(one.document.id, one)
        return results

    candidates: list[_Candidate] = []
    for number, section in enumerate(sections):
        on_section(section.heading)
        for query in (section.question, f"{about} {' '.join(section.cues[:5])}".strip()):
            rarity = rarity_of(query, store)
            units = gathered(search(query), section.question, rarity, scorer)
            candidates += _scattered(units, section, subject, number)
    for number, section in enumerate(sections):
        candidates += _below_headings(pages.values(), section, store, number)
    return [
        [quoted(one) for one in standing(chosen, store)]
        for chosen in _shared_out(candidates, sections)
    ]


def _shared_out(
    candidates: Sequence[_Candidate], sections: Sequence[Section]
) -> Iterator[list[Citation]]:
    """The best units of each section, in the order in which they are read; none stands twice."""
    best: dict[tuple[str, int, int], _Candidate] = {}
    for one in candidates:
        key = (one.citation.document_id, one.citation.start, one.citation.end)
        if key not in best or best[key].fit < one.fit:
            best[key] = one
    said: set[str] = set()
    for number, section in enumerate(sections):
        mine = sorted((one for one in best.values() if one.section == number), key=lambda c: -c.fit)
        chosen: list[Citation] = []
        for one in mine:
            words = fold(" ".join(one.citation.quote.split()))
            if one.fit < _FAR * mine[0].fit or len(chosen) == section.most:
                break
            if words not in said:
                said.add(words)
                chosen.append(one.citation)
        # Documents by their best unit, and each from its beginning on.
        order = {one.document_id: at for at, one in reversed(list(enumerate(chosen)))}
        yield sorted(chosen, key=lambda one: (order[one.document_id], one.start))


def _is_own(library: Searchable, result: Result, known: dict[str, bool]) -> bool:
    """Whether a document is an artifact, or another text of ours: it proves nothing by itself."""
    name = result.document.id
    if name not in known:
        document = library.get_document(name)
        known[name] = document is not None and holds_footnotes(document.text)
    return known[name]


@dataclass(frozen=True)
class _Subject:
    """What an artifact is about."""

    about: str
    rarity: Rarity

    @property
    def words(self) -> set[str]:
        """Its telling words."""
        found = finder_of(self.about).found(self.about)
        return {one for one in found if fold(one) not in STOP_WORDS}

    def is_named(self, *texts: str) -> bool:
        """Whether the texts have most of it together."""
        wanted = _ABOUT_IT * self.rarity.of(self.words)
        return self.rarity.of(finder_of(self.about).found("\n".join(texts))) >= wanted


def _below_headings(
    pages: Iterable[Result], section: Section, store: Store, number: int
) -> Iterator[_Candidate]:
    """What stands below a heading that asks for the same, on a page about the subject."""
    for place, page in enumerate(pages):
        if not section.cues:
            continue
        chunks = store.load_chunks(store.chunk_ids(page.document.id))
        for entry, chunk in chunks:
            quotes = ranked_quotes(
                chunk, section.question, Rarity({}), None, most=_UNITS_OF_A_CHUNK
            )
            for quote in quotes:
                heading = " ".join(quote.heading_path[-1:])
                if _has(section.cues, heading) and _is_fit(quote, section):
                    cited = citation_of(entry, chunk, quote, section.question)
                    # The first page is the nearest; what stands first in a section leads it.
                    yield _Candidate(cited, number, _HEADED / (1 + place) - quote.start * 1e-7)


def _scattered(
    units: Sequence[Evidence], section: Section, subject: _Subject, number: int
) -> Iterator[_Candidate]:
    """Single units that name the subject and speak of what the section asks for."""
    for one in units:
        cited = one.citation
        above = (cited.lead, *cited.heading_path, cited.title)
        is_spoken = cited.locator.time_start is not None
        if not subject.is_named(cited.quote, *(() if is_spoken else above)):
            continue
        if not subject.words & finder_of(subject.about).found(cited.quote):
            continue
        spoken = _has(section.cues, f"{cited.lead} {cited.quote}")
        if (section.cues and not spoken) or not _is_fit(one.quote, section):
            continue
        yield _Candidate(cited, number, one.merit * (1.0 + spoken))


def _is_fit(quote: Quote, section: Section) -> bool:
    """Whether a unit can stand by itself, and is not about the opposite."""
    text = quote.text.strip()
    if quote.kind in ("code", "heading") or len(text.split()) < _SHORTEST:
        return False
    if text.endswith((":", "?")) or _POINTS_ELSEWHERE.match(text) or text in quote.heading_path:
        return False
    speaks_of_limits = _has(section.cues, "limit") or _has(section.cues, "fail")
    return speaks_of_limits or _LIMITS.search(" ".join(quote.heading_path[-1:])) is None


@cache
def _cue_pattern(cues: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(
        rf"\b(?:{'|'.join(re.escape(one) for one in cues)})\w{{0,3}}\b", re.IGNORECASE
    )


def _has(cues: tuple[str, ...], text: str) -> bool:
    return bool(cues) and _cue_pattern(cues).search(text) is not None


def _written(
    library: Searchable,
    sections: Sequence[Section],
    filters: FiltersGiven,
    who: tuple[str, str],
    on_section: Callable[[str], None],
    cancelled: Callable[[], bool],
) -> list[list[Claim]]:
    """By a language model, each section as an answer; what it cannot prove is left out."""
    profile, judge = who
    writer: Writer = library.writer(profile)
    if isinstance(writer, RemoteGenerator):
        writer = replace(writer, temperature=_TEMPERATURE)
    readers = Readers(writer=writer, judge=library.judge(judge, profile))
    claims: list[list[Claim]] = []
    said: set[str] = set()
    for section in sections:
        on_section(section.heading)
        told = library.ask(
            section.question,
            filters=filters,
            asking=AskSettings(claims=section.most),
            readers=readers,
            cancelled=cancelled,
        )
        found = told.claims if isinstance(told, Answer) else ()
        new = [one for one in found if one.state != "unsupported" and one.words not in said]
        said |= {one.words for one in new}
        claims.append(new)
    return claims


def as_json(
    artifact: Artifact, claim_as_json: Callable[[Claim], Mapping[str, Any]]
) -> dict[str, Any]:
    """Its sections with their claims, as plain values."""
    return {
        "title": artifact.title,
        "about": artifact.about,
        "writer": artifact.writer,
        "sections": [
            {
                "heading": one.heading,
                "claims": [claim_as_json(claim) for claim in one.claims],
                "open": one.open,
            }
            for one in artifact.sections
        ],
    }
