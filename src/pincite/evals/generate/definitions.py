"""What a text explains, abbreviations and things → "What is …?"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice

from pincite.evals.generate.draft import Clear, Idea, Source, plain, telling
from pincite.evals.generate.headings import is_dull, topic_of
from pincite.evals.generate.phrases import asked
from pincite.text.naming import abbreviations_in
from pincite.text.words import fold

_FURTHEST = 200_000  # characters that are looked at
_MOST = 40  # of one document
_BACK = 120  # characters before "is a" in which its sentence must begin
_SHORTEST = 45  # characters of a sentence that explains something
_LONGEST_TERM = 5  # words
_GLOSSARY = re.compile(
    r"\b(?:glossary|glossar|glossaire|glosario|vocabulary|terminology|terms|abbreviations|acronyms"
    r"|definitions|begriffe|abkürzungen)\b|术语|词汇|用語",
    re.IGNORECASE,
)

# "Logs are an important part": says what something is worth, not what it is.
_PRAISE = (
    "bit|little|lot|good|great|nice|useful|important|central|key|critical|essential|large|big|huge"
    "|common|popular|great|perfect|best|better|worst|easiest|simplest|preferred|recommended|required"
    "|beta|alpha|stable|experimental|optional|new|same|only|first|second|last|next|most|more|default"
    "|case|result|reason|example|sample|following|list of|number of|part of|matter|must|mess|pity"
)
_IS_A = re.compile(rf"\s(is|are)\s+(?:an?|the|one\sof)\s(?!(?:{_PRAISE})\b)")
_BEGINS = re.compile(
    r"\A|[.!?][\"”’)]*\s+|\n\s*\n|[>}#][ \t]*\n|\n#[^\n]*\n|\n(?=[ \t]*(?:[-*+>]|\d+[.)])[ \t])"
)
_END = re.compile(r"[.!?](?=\s)|\n[ \t\r]*\n|\Z")
_SUBJECT = re.compile(r"(?:(An?|The)\s)?((?:[\w’'+.-]+\s){0,4}[\w’'+#-]+)")
# Such a sentence goes on from the one before, or its subject says nothing without it.
_NO_SUBJECT = """
this that these those it he she they we you i there here what which who one another each every some
any all both such other others his her its their our your my also however therefore thus then if
when while where since because although so but and or as in on at for with by from to of below above
two three several whether examples former latter note only not result reason difference problem idea
point answer goal purpose default following first second third next last main same rest aim example
question thing things way value name usual common best worst more most less least easiest simplest
current new old big small good bad important recommended possible biggest largest smallest chapter
culprit exception advantage key trick benefit drawback alternative solution cause list table figure
output command step option
"""
_GOES_ON = frozenset(_NO_SUBJECT.split())
_LEAD_IN = re.compile(
    r"^[ \t]*(?:[-*+][ \t]+)?\*\*([^*\n]{2,60}?)[.:]?\*\*[.:]?[ \t]+(?=\S)([^\n]{20,})",
    re.MULTILINE,
)
_BRACKETED = re.compile(r"\s*\([^()]*\)")


@dataclass(frozen=True, slots=True)
class Explained:
    """Something that a document explains: what it is called, and where that stands."""

    name: str
    at: tuple[int, int]
    long: str = ""  # what an abbreviation stands for
    said: str = ""  # how a sentence begins to explain it: "is a lease", "are leases"

    @property
    def keys(self) -> tuple[str, ...]:
        """What others may explain as well, or have a heading for and so explain it better."""
        return (f"definition {fold(self.name)}", *(() if self.long else topic_of(self.name)))


def explained_in(source: Source) -> Iterator[Explained]:
    """The abbreviations and things that a document explains."""
    if not source.is_prose or source.language is None:
        return
    abbreviations = (
        Explained(one.short, (one.start, one.end), one.long)
        for one in abbreviations_in(source.text[:_FURTHEST])
    )
    in_english = _sentences(source) if source.language == "en" else ()
    found = chain(abbreviations, _entries(source), in_english)
    yield from islice(found, _MOST)


def from_definitions(source: Source, explained: Iterable[Explained]) -> Iterator[Idea]:
    """A question for each thing that the document explains."""
    for one in explained:
        yield Idea(
            question=_question(one, source),
            kind="content",
            note=f"the text explains “{one.name}”",
            clear=Clear(one_alone=one.keys, none_shared=one.keys),
            about=one.name if one.long else "",
            at=one.at,
            terms=(one.long or one.name,),
        )


def _entries(source: Source) -> Iterator[Explained]:
    """In a glossary each heading is a term; and `**Term.** Its explanation`, also elsewhere."""
    is_glossary = _GLOSSARY.search(source.document.title) is not None
    for section, term in source.sections:
        above = "\n".join(section.heading_path[:-1])
        explained = section.end - section.start > len(term) + _SHORTEST
        if explained and (is_glossary or _GLOSSARY.search(above)):
            yield from _term(term, (section.start, section.end))
    for match in _LEAD_IN.finditer(source.text[:_FURTHEST]):
        if is_glossary or match[2].startswith(("A ", "An ")):  # reads like an explanation
            yield from _term(_BRACKETED.sub("", match[1]), match.span())


def _sentences(source: Source) -> Iterator[Explained]:
    """`A lease is a contract …`, at the beginning of a sentence."""
    text = source.text[:_FURTHEST]
    for match in _IS_A.finditer(text):
        begins = list(_BEGINS.finditer(text, max(0, match.start() - _BACK), match.start()))
        if not begins:
            continue
        start = begins[-1].end()
        end = _END.search(text, match.end())
        subject = _SUBJECT.fullmatch(plain(text[start : match.start()]))
        if subject and end and end.end() - start >= _SHORTEST and _can_be_asked(subject):
            article = f"{subject[1].lower()} " if subject[1] else ""
            for one in _term(subject[2], (start, end.end())):
                yield replace(one, said=f"{match[1]} {article}{_in_case(one.name, text)}")


def _can_be_asked(subject: re.Match[str]) -> bool:
    words = fold(subject[2]).split()
    return (
        not _GOES_ON.intersection(words)
        and not words[0].endswith("ing")
        and bool(telling(subject[2]))
        and (subject[1] != "The" or len(words) > 1)
    )


def _term(written: str, at: tuple[int, int]) -> Iterator[Explained]:
    term = plain(written).strip(" .:")
    if len(term.split()) <= _LONGEST_TERM and not is_dull(term):
        yield Explained(term, at)


def _question(explained: Explained, source: Source) -> str:
    language, name = source.language or "en", explained.name
    if explained.long:
        return asked(language, "stands_for", x=name)
    if explained.said:
        return f"What {explained.said}?"
    if language != "en":
        return asked(language, "is", x=name)
    if name.startswith("The "):
        return f"What is the {name.removeprefix('The ')}?"
    articles = re.findall(rf"\b(an?|the)\s{re.escape(name)}\b", source.text, re.IGNORECASE)
    if not articles:
        return f"What does “{name}” mean?"
    article = min(articles, key=lambda one: -articles.count(one)).lower()
    return f"What is {article} {_in_case(name, source.text)}?"


def _in_case(term: str, text: str) -> str:
    """The term in small letters where the text has it so."""
    small = term[0].lower() + term[1:]
    return small if re.search(rf"(?<=\s){re.escape(small)}\b", text) else term
