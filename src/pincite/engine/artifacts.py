"""Documents made of other documents: a blueprint, a design review, a workflow, a build plan.

A template asks a question for each section. What answers it is gathered, checked to stand where it
is cited, and put into the one section that it fits best; a section for which there is nothing says
what is open. A language model, where one is named, writes the sections by the same path as `ask`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path

import msgspec

from pincite.answer.evidence import citation_of
from pincite.answer.flow import Readers
from pincite.answer.verify import quoted, standing
from pincite.engine.queries import CALLER, UNLOGGED
from pincite.engine.searchable import Searchable
from pincite.engine.toml_files import parse_toml
from pincite.errors import SettingsError
from pincite.models.chat import RemoteGenerator
from pincite.ports import Store
from pincite.reading.lines.outline import code_spans
from pincite.records import (
    Abstention,
    Answer,
    Artifact,
    ArtifactSection,
    Chunk,
    Citation,
    Claim,
    DocumentEntry,
    DocumentId,
    Filters,
    FiltersGiven,
    Modality,
    Quote,
    filters_of,
)
from pincite.retrieve.quote import ranked_quotes
from pincite.retrieve.rarity import Rarity, rarity_of
from pincite.retrieve.route import among
from pincite.settings import AskSettings, SearchSettings
from pincite.text.finding import finder_of
from pincite.text.printable import one_line
from pincite.text.verbs import VERBS
from pincite.text.words import STOP_WORDS, WORD, fold

KINDS = ("blueprint", "pdr", "workflow", "build-plan")
_TEMPERATURE = 0.3
_RESULTS = 20  # of each search
_MOST_PAGES = 4  # about the subject as a whole, which are read from end to end
_CHUNKS_OF_A_PAGE = 200
_UNITS_OF_A_CHUNK = 40
_ABOUT_IT = 0.85  # of the subject's telling words must stand in a unit or above it
_FIRST_WORDS = 3  # among which a sentence that says what the subject is names it
_LONGEST_LEAD = 160  # characters of what introduces a unit
_SHORTEST = 4  # words of a unit: less is a title, or a cell
# How well a unit fits a section: by the heading that it stands below, by what it says, and by
# telling the reader to do something where that is wanted; all of it less where its page or its
# heading names the subject, and the unit does not.
_HEADED, _SAID, _TOLD_TO = 2.0, 1.0, 1.5
_BARELY = 0.4  # of that, of one that does not, nor says what it is for
_DEFINED = 0.5  # more, of a sentence that says what something is
_BELOW_ITS_NAME, _ON_ITS_PAGE = 0.8, 0.5
_FARTHER = 0.03  # what each place among what was found takes away
_FAR = 0.45  # of the fit of the best unit of a section: less says too little
_ENGLISH = 0.25  # of the words of an English text, at least, are its little ones
_FOREIGN = (
    "none of the template's words stands in what was found about it: the templates of pincite look "
    "for English words, and documents in other languages need one of their own"
)
_PLACEHOLDER = re.compile(r"\{(?!about\})\w*\}")
_POINTS_ELSEWHERE = re.compile(
    r"(?:this|the following|these) (?:page|task|section|document|guide|tutorial|example|command|"
    r"article|steps?)\b|(?:see|refer to|learn|visit|for (?:more|further)|below)\b"
    r"|read (?:more|about|the (?:doc|guide|page)\w*)\b"
    r"|note that you can find\b|how to\b|here (?:is|are)\b"
    r"|(?:it|they|this|that|these|those|he|she|there|but|so|however|also|instead|then it)\b",
    re.IGNORECASE,
)
_NEEDS_THE_REST = re.compile(
    r"\b(?:the following|as follows|(?:see|refer to|visit|consult) (?:the|also|\[|[A-Z])"
    r"|(?:described|explained|outlined) in\b|for (?:more|further) (?:information|details)"
    r"|tutorials?|you(?:['’]ll| will| just| have just)\b|let['’]s\b"
    r"|th(?:is|ese|ose) (?:folder|file|command|example|value|section|page|task|guide|step|object"
    r"|field|method|approach|change|list|name|way|case|topic|document)s?\b"
    r"|(?:example|manifest|figure|table|command|diagram|listed|shown)s? (?:below|above)\b"
    r"|(?:below|above) (?:example|manifest|figure|table|command|diagram)s?\b)"
    r"|\b(?:again|instead|below|above)[.!]?$",
    re.IGNORECASE,
)
_EMPTY_LEAD = re.compile(r"\W*(?:none|(?:the )?(?:sample |example )?output\b.*)\W*", re.I | re.S)
_OTHER_PAGES = re.compile(
    r"\b(?:what\W+s next|see also|further reading|references?)\b", re.IGNORECASE
)
_LIMITS = re.compile(
    r"\b(?:can(?:no|['’])t|limitations?|limits|not supported|caveats?|troubleshoot\w*"
    r"|known issues?)\b",
    re.IGNORECASE,
)
_DEFINES = re.compile(r"(?:[\w`*’'-]+\s+){1,5}?(?:is|are|was|means)\s+(?:an?|the|one)\b")
_SERVES = re.compile(
    r"\b(?:is|are|was|were) (?:used|useful|valuable|needed|meant|intended|designed|built|there)"
    r" (?:for|to|so)\b|\b(?:lets?|allows?|enables?|helps?) (?:you|users?|people|us|the|an?)\b"
    r"|\b(?:manages?|provides?|produces?|ensures?|records?|measures?|protects?|offers?)"
    r" (?:an?|one|the|that)\b|\bspecifically intended\b|\bmeans that you\b",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\d{1,2}[.)]\s")
# Nouns as well, or too common for a heading, but not where a sentence begins.
_MORE_VERBS = """
ask call change check click copy count cut download drain edit export fill find fit fix get go grant
hang hold import keep label launch leave let level lift list load lock log make mark measure mix
mount move note open place plot post press print pull push put read record reload repeat report
reset return roll rotate run save scale schedule select set sign start stop store switch take test
tie turn type update upgrade upload use wait wash watch weigh wipe
"""
_TELLS_TO = re.compile(
    r"(?:first,? |then,? |next,? |now,? |finally,? |always |in .{1,30}, )?"
    rf"(?:{'|'.join(sorted(VERBS.union(_MORE_VERBS.split())))}|back up)\b",
    re.IGNORECASE,
)


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A section of a template."""

    heading: str
    question: str
    open: str = ""  # what is not said, where nothing is found
    cues: tuple[str, ...] = ()  # of which a unit must have one, or its heading; `fail*`: any ending
    headings: tuple[str, ...] = ()  # words of headings, where they are others than the cues
    steps: bool = False  # it also takes what tells the reader to do something
    most: int = 6

    def fits(self, quote: Quote, heading: str, *, opens: bool) -> float:
        """How well a unit fits into it; `opens`: it is the first below its heading, or begins with
        the subject.
        """
        tells_to = _NUMBERED.match(quote.text) or _TELLS_TO.match(quote.text)
        if not (self.cues or self.headings or self.steps):
            is_prose = quote.kind in ("sentence", "definition", "caption")
            defines, serves = _DEFINES.match(quote.text), _SERVES.search(quote.text)
            fit = 0.5 + quote.merit + (_DEFINED if defines else 0.0)
            fit *= 1.0 if defines or serves else _BARELY
            return fit if opens and is_prose and not tells_to else 0.0
        headed = _has(self.headings or self.cues, heading)
        if _LIMITS.search(heading) and not headed:
            return 0.0
        said = _has(self.cues, f"{quote.lead} {quote.text}")
        if self.steps and not tells_to:
            return 0.0
        return _HEADED * headed + _SAID * said + _TOLD_TO * self.steps


class Template(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an artifact is made of; `{about}` stands for its subject."""

    title: str
    section: tuple[Section, ...]


@dataclass(frozen=True)
class _Work:
    """What is made, of what, and who hears of it."""

    library: Searchable
    sections: Sequence[Section]
    about: str
    filters: Filters
    on_section: Callable[[str], None]
    cancelled: Callable[[], bool]


@dataclass(frozen=True)
class _Candidate:
    """A unit for a section."""

    citation: Citation
    section: int
    fit: float
    is_step: bool = False  # an item of a numbered list


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
    template = parse_toml(text, Template, f"the template {name}")
    whole = (one.heading.strip() and one.question.strip() for one in template.section)
    if not template.section or not all(whole):
        raise SettingsError(
            f"the template {name} needs sections, each with a heading and a question"
        )
    for section in template.section:
        if section.most < 1:
            raise SettingsError(
                f"the template {name}: `most` of “{section.heading}” is {section.most}, and must "
                "be at least 1"
            )
    texts = [text for one in template.section for text in (one.heading, one.question, one.open)]
    if unknown := _PLACEHOLDER.search("\n".join((template.title, *texts))):
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
    asking: AskSettings = AskSettings(),
    profile: str | None = None,
    judge: str = "",
    on_section: Callable[[str], None] = lambda heading: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Artifact:
    """The artifact about a subject, every line of it cited or marked as open."""
    if not about.strip():
        raise SettingsError('say what it is to be about, such as --about "the tide gauge"')
    seen = filters_of(filters)
    readers = Readers()
    if profile is not None:
        model = library.writer(profile)
        if isinstance(model, RemoteGenerator):
            model = replace(model, temperature=_TEMPERATURE)
        readers = Readers(writer=model, judge=library.judge(judge, profile))
    sections = [_with_subject(one, about) for one in template.section]
    with library._queries.noting("make", about, seen, profile or "") as noted:
        before = CALLER.set(UNLOGGED)  # the searches of its sections are nobody's questions
        try:
            work = _Work(library, sections, about, seen, on_section, cancelled)
            (claims, notices), writer = _gathered(work), ""
            if profile is not None:
                writer, troubles = _written(work, claims, readers, asking)
                notices += troubles
        finally:
            CALLER.reset(before)
        cited = [one.chunk_id for found in claims for claim in found for one in claim.citations]
        noted.fill(
            outcome="answer" if cited else "no_hits",
            chunk_ids=tuple(dict.fromkeys(cited)),
            writer=writer,
        )
    parts = (
        ArtifactSection(one.heading, tuple(found), "" if found else one.open)
        for one, found in zip(sections, claims, strict=True)
    )
    title = template.title.replace("{about}", about)
    return Artifact(title, about, tuple(parts), writer, notices)


def as_answer(artifact: Artifact) -> Answer:
    """All its claims as one answer, for a receipt."""
    claims = tuple(claim for section in artifact.sections for claim in section.claims)
    return Answer(artifact.title, claims, None, writer=artifact.writer)


def _with_subject(section: Section, about: str) -> Section:
    """The section with its subject filled in."""
    return msgspec.structs.replace(
        section,
        heading=section.heading.replace("{about}", about),
        question=section.question.replace("{about}", about),
        open=(section.open or f"anything about “{section.heading}”").replace("{about}", about),
    )


def _gathered(work: _Work) -> tuple[list[list[Claim]], tuple[str, ...]]:
    """In the documents' own words, each unit in the section that it fits best; and what to know."""
    library, sections, about, filters = work.library, work.sections, work.about, work.filters
    store = library._store()
    subject = _Subject(about, rarity_of(about, store))
    if not subject.words:
        raise SettingsError(f"“{about}” does not say what it is to be about")
    near: dict[str, tuple[DocumentEntry, Chunk]] = {}  # what was found, the nearest first
    pages: dict[DocumentId, None] = {}  # documents about the subject as a whole

    def look(query: str) -> None:
        wanted = SearchSettings(top_k=_RESULTS)
        found = library.search(query, filters=filters, settings=wanted, cancelled=work.cancelled)
        for one in found.results:
            near.setdefault(one.chunk.id, (one.document, one.chunk))
            if _is_page(one.document, subject) and len(pages) < _MOST_PAGES:
                pages[one.document.id] = None

    look(about)
    for section in sections:
        work.on_section(section.heading)
        look(section.question)
        look(f"{about} {' '.join(section.cues[:5])}".strip())
    whole = SearchSettings(top_k=_CHUNKS_OF_A_PAGE, per_document=0, similarity_floor=-1)
    for page in pages:
        of_it = library.search(about, filters=among(filters, [page]), settings=whole)
        for one in sorted(of_it.results, key=lambda result: result.chunk.start):
            near.setdefault(one.chunk.id, (one.document, one.chunk))
    code = {one.id: _Code.of(one, store) for one, _ in near.values()}
    found = [
        replace(one, fit=one.fit / (1 + _FARTHER * place))
        for place, (document, chunk) in enumerate(near.values())
        for one in _candidates(document, chunk, sections, subject, code[document.id])
    ]
    claims = [
        [quoted(one) for one in standing(chosen, store)] for chosen in _shared_out(found, sections)
    ]
    cues = tuple(word for one in sections for word in (*one.cues, *one.headings))
    looked_at = ("\n".join((*chunk.headings, chunk.text)) for _, chunk in near.values())
    about_it = [text for text in looked_at if subject.is_named(text)]
    is_foreign = bool(about_it and cues) and not any(_has(cues, one) for one in about_it)
    words = [fold(word) for text in about_it for word in WORD.findall(text)]
    is_english = sum(word in STOP_WORDS for word in words) >= _ENGLISH * len(words)
    return claims, (_FOREIGN,) if is_foreign and not is_english else ()


def _candidates(
    document: DocumentEntry,
    chunk: Chunk,
    sections: Sequence[Section],
    subject: _Subject,
    code: _Code,
) -> Iterator[_Candidate]:
    """The units of a chunk that speak of the subject, each for the section that it fits best."""
    if chunk.modality is Modality.CODE:
        return
    is_page = _is_page(document, subject)
    asked = f"What is {subject.about}?"
    units = ranked_quotes(chunk, asked, subject.rarity, None, most=_UNITS_OF_A_CHUNK)
    above: tuple[str, ...] | None = None
    steps: list[tuple[Citation, list[float]]] = []  # of one numbered list
    for unit in sorted(units, key=lambda one: one.start):
        if code.holds(unit):
            continue
        quote = replace(unit, lead="") if code.follows(unit) else unit
        is_first, above = quote.heading_path != above, quote.heading_path
        heading = above[-1] if above else ""
        if subject.is_said(quote, document.title):
            weight = 1.0
        elif subject.is_named(heading) or (is_page and heading in ("", document.title)):
            weight = _BELOW_ITS_NAME
        elif is_page:
            weight = _ON_ITS_PAGE
        elif _NUMBERED.match(quote.text):  # another item of its list may speak of it
            weight = 0.0
        else:
            continue
        if not _stands_alone(quote):
            continue
        opens = is_first or subject.opens(quote.text)
        # A page's title speaks for what each of its sections begins with, and not for all of it.
        below = "" if heading == document.title else heading
        below += f"\n{document.title}" if below and is_first else ""
        fits = [weight * one.fits(quote, below, opens=opens) for one in sections]
        cited = citation_of(document, chunk, quote, subject.about)
        if _NUMBERED.match(quote.text):
            if is_first or (steps and not _follows(quote, steps[-1][0])):
                yield from _together(steps)
                steps = []
            steps.append((cited, fits))
        # A word alone is not enough where the unit does not name the subject.
        elif max(fits) > (0.0 if subject.is_named(quote.text, quote.lead) else _SAID * weight):
            yield _Candidate(cited, fits.index(max(fits)), max(fits))
    yield from _together(steps)


def _follows(quote: Quote, before: Citation) -> bool:
    """Whether the number of an item is the next one, or each is 1, as Markdown allows."""
    number, last = (int(re.split(r"\D", text)[0]) for text in (quote.text, before.quote))
    return number == last + 1 or number == last == 1


def _together(steps: Sequence[tuple[Citation, list[float]]]) -> Iterator[_Candidate]:
    """The items of a numbered list, all for the section that they fit best as a whole."""
    # An item that leads in, alone, says too little.
    if len(steps) > 1 or (steps and not steps[0][0].quote.endswith(":")):
        totals = [sum(each) for each in zip(*(fits for _, fits in steps), strict=True)]
        section = totals.index(max(totals))
        fit = max(fits[section] for _, fits in steps)
        yield from (_Candidate(cited, section, fit, is_step=True) for cited, _ in steps if fit > 0)


@dataclass(frozen=True)
class _Code:
    """Where a document has blocks of code."""

    text: str
    spans: Sequence[tuple[int, int]]

    @classmethod
    def of(cls, entry: DocumentEntry, store: Store) -> _Code:
        document = store.load_document(entry.id) if entry.type == "md" else None
        return cls(document.text, code_spans(document.text)) if document else cls("", ())

    def holds(self, quote: Quote) -> bool:
        return any(start <= quote.start < end for start, end in self.spans)

    def follows(self, quote: Quote) -> bool:
        """Whether what seems to introduce a unit introduces a block before it."""
        return bool(quote.lead) and any(
            end <= quote.start
            and one_line(self.text[max(start - 2 * _LONGEST_LEAD, 0) : start]).endswith(quote.lead)
            for start, end in self.spans
        )


def _is_page(document: DocumentEntry, subject: _Subject) -> bool:
    """Whether a document is about the subject as a whole, by its title or its file's name."""
    name = re.sub(r"[-_.]", " ", document.name)
    return subject.is_named(document.title) or subject.is_named(name)


def _stands_alone(quote: Quote) -> bool:
    """Whether a unit can be read without what stands around it, and says something."""
    text = one_line(quote.text)
    is_for_others = _OTHER_PAGES.search("\n".join(quote.heading_path[-1:])) is not None
    if is_for_others or quote.kind in ("code", "heading") or _EMPTY_LEAD.fullmatch(quote.lead):
        return False
    if _NUMBERED.match(text):  # the others of its list stand around it
        return True
    if len(text.split()) < _SHORTEST or text in quote.heading_path:
        return False
    if text.endswith((":", "?", ",")):
        return False
    return not (_POINTS_ELSEWHERE.match(text) or _NEEDS_THE_REST.search(text))


def _shared_out(
    candidates: Sequence[_Candidate], sections: Sequence[Section]
) -> Iterator[list[Citation]]:
    """The best units of each section, in the order in which they are read; none stands twice.

    A numbered list is taken whole or not at all, in however many chunks it stands.
    """
    groups: dict[object, dict[str, _Candidate]] = {}  # each by its words
    for one in candidates:
        at = one.citation
        alone, listed = (at.document_id, at.start), (at.document_id, at.heading_path, one.section)
        group = groups.setdefault(listed if one.is_step else alone, {})
        group.setdefault(fold(" ".join(at.quote.split())), one)
    best: dict[str, tuple[float, list[_Candidate]]] = {}  # of those that say the same
    for group in groups.values():
        words, fit = "\n".join(sorted(group)), max(one.fit for one in group.values())
        if words not in best or fit > best[words][0]:
            best[words] = (fit, [*group.values()])
    for number, section in enumerate(sections):
        mine = [one for one in best.values() if one[1][0].section == number]
        mine.sort(key=lambda one: -one[0])
        chosen: list[Citation] = []
        for fit, members in mine:
            if len(chosen) < section.most and fit >= _FAR * mine[0][0]:
                chosen += (one.citation for one in members)
        # Documents by their best unit, and each from its beginning on.
        order = {one.document_id: at for at, one in reversed(list(enumerate(chosen)))}
        yield sorted(chosen, key=lambda one: (order[one.document_id], one.start))


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
        return self.rarity.of(self._found(*texts)) >= wanted

    def is_said(self, quote: Quote, title: str) -> bool:
        """Whether a unit names it, or a part of it below the rest; speech has no heading."""
        is_spoken = quote.locator.time_start is not None
        above = () if is_spoken else (quote.lead, *quote.heading_path, title)
        return bool(self._found(quote.text)) and self.is_named(quote.text, *above)

    def opens(self, text: str) -> bool:
        """Whether a sentence begins with it, as one does that says what it is."""
        return self.is_named(" ".join(text.split()[: _FIRST_WORDS + len(self.words)]))

    def _found(self, *texts: str) -> set[str]:
        return self.words & finder_of(self.about).found("\n".join(texts))


@cache
def _cue_pattern(cues: tuple[str, ...]) -> re.Pattern[str]:
    words = (re.escape(one).replace(r"\*", r"\w*") for one in cues)
    return re.compile(rf"(?<!\w)(?:{'|'.join(words)})s?(?!\w)", re.IGNORECASE)


def _has(cues: tuple[str, ...], text: str) -> bool:
    return bool(cues) and _cue_pattern(cues).search(text) is not None


def _written(
    work: _Work, claims: list[list[Claim]], readers: Readers, asking: AskSettings
) -> tuple[str, tuple[str, ...]]:
    """Put what a language model can prove in the place of the gathered claims, section by section.

    Gives the model's name, empty where nothing of it stands, and what went wrong. A section that
    the model fails at, or has nothing new for, keeps the documents' own words.
    """
    name = readers.writer.name if readers.writer else ""
    notices: list[str] = []
    said: set[str] = set()
    has_written = False
    for number, section in enumerate(work.sections):
        work.on_section(f"{section.heading}, by {name}")
        told = work.library.ask(
            section.question,
            filters=work.filters,
            # What was found is about the subject: nobody but the model says that it is no answer.
            asking=replace(asking, caution=0.0, claims=section.most),
            readers=readers,
            cancelled=work.cancelled,
        )
        if isinstance(told, Abstention) and told.reason == "not_answered":
            claims[number] = []
            continue
        drafted: Sequence[Claim] = ()
        if isinstance(told, Answer) and told.writer:
            drafted = [one for one in told.claims if one.state != "unsupported"]
        else:
            notices += (f"{section.heading}: {one}" for one in told.asides.notices)
        new = [one for one in drafted if one.words not in said]
        has_written |= bool(new)
        claims[number] = new or [one for one in claims[number] if one.words not in said]
        said |= {one.words for one in claims[number]}
    return name if has_written else "", tuple(notices)
