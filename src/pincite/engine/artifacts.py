"""Documents made of other documents: a blueprint, a design review, a workflow, a build plan.

A template asks a question for each section. What answers it is gathered, checked to stand where it
is cited, and put into the one section that it fits best; a section for which there is nothing says
what is open. A language model, where one is named, writes the sections by the same path as `ask`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from pincite.answer.evidence import Evidence, gathered
from pincite.answer.flow import Readers
from pincite.answer.verify import quoted, standing
from pincite.engine.searchable import Searchable
from pincite.errors import SettingsError
from pincite.models.chat import RemoteGenerator
from pincite.ports import Writer
from pincite.records import Answer, Artifact, ArtifactSection, Citation, Claim, FiltersGiven
from pincite.retrieve.rarity import Rarity, rarity_of
from pincite.settings import AskSettings, SearchSettings
from pincite.text.finding import finder_of
from pincite.text.words import fold

KINDS = ("blueprint", "pdr", "workflow", "build-plan")
_TEMPERATURE = 0.3
_RESULTS = 20  # of each search
_ABOUT_IT = 0.85  # of the subject's telling words must stand in a unit or above it
_SHORTEST = 4  # words of a unit: less is a title, or a cell
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

    evidence: Evidence
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
    subject = rarity_of(about, store)
    best: dict[tuple[str, int, int], _Candidate] = {}
    for number, section in enumerate(sections):
        on_section(section.heading)
        for query in (section.question, f"{about} {' '.join(section.cues[:5])}".strip()):
            found = library.search(
                query,
                filters=filters,
                settings=SearchSettings(top_k=_RESULTS),
                cancelled=cancelled,
            )
            units = gathered(found.results, section.question, rarity_of(query, store), scorer)
            for one in _fitting(units, section, about, subject, number):
                cited = one.evidence.citation
                key = (cited.document_id, cited.start, cited.end)
                if key not in best or best[key].fit < one.fit:
                    best[key] = one
    claims: list[list[Claim]] = []
    said: set[str] = set()
    for number, section in enumerate(sections):
        mine = sorted((one for one in best.values() if one.section == number), key=lambda c: -c.fit)
        chosen: list[Citation] = []
        for one in mine:
            words = fold(" ".join(one.evidence.citation.quote.split()))
            if one.fit < _FAR * mine[0].fit or len(chosen) == section.most:
                break
            if words not in said:
                said.add(words)
                chosen.append(one.evidence.citation)
        # Documents by their best unit, and each from its beginning on, as they are read.
        order = {one.document_id: at for at, one in reversed(list(enumerate(chosen)))}
        chosen.sort(key=lambda one: (order[one.document_id], one.start))
        claims.append([quoted(one) for one in standing(chosen, store)])
    return claims


def _fitting(
    units: Sequence[Evidence], section: Section, about: str, subject: Rarity, number: int
) -> Iterator[_Candidate]:
    """The units that speak of the subject, and of what the section asks for."""
    finder = finder_of(about)
    wanted = _ABOUT_IT * subject.of(finder.found(about))
    for one in units:
        cited = one.citation
        above = (cited.lead, *cited.heading_path, cited.title)
        if len(cited.quote.split()) < _SHORTEST or cited.quote.strip() in cited.heading_path:
            continue
        in_quote = subject.of(finder.found(cited.quote))
        if subject.of(finder.found("\n".join((cited.quote, *above)))) < wanted:
            continue
        # What stands below a heading of that name speaks of it; a word in the sentence says less.
        headed = _has(section.cues, " ".join(cited.heading_path[-1:]))
        spoken = _has(section.cues, f"{cited.lead} {cited.quote}")
        if section.cues and not (headed or spoken):
            continue
        weight = 1.0 + headed + 0.5 * spoken + 0.5 * bool(in_quote)
        yield _Candidate(one, number, one.merit * weight)


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
