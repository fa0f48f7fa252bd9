"""Questions for all of something: everything is looked at, and the answer says how much that was.

Counted are documents with a passage that has every telling word of the question, in whatever form,
and every phrase of it, words in quotes or a name of several words, next to each other. Nothing is
guessed from the meaning, so that whoever reads the count knows what was counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from math import log
from pathlib import PurePosixPath

from pincite.answer.evidence import citation_of
from pincite.errors import SearchCancelled, SettingsError
from pincite.ports import Store
from pincite.reading.sniff import kind_by_name
from pincite.records import (
    AllOf,
    Citation,
    Clause,
    Condition,
    Counted,
    DocumentEntry,
    Failure,
    Filters,
    Progress,
)
from pincite.retrieve.quote import quotable, quote_of, section_at
from pincite.retrieve.rarity import SAYS_NOTHING, rarity_of, telling_words
from pincite.text.finding import Finder, finder_of, key_of
from pincite.text.printable import one_line
from pincite.text.words import STOP_WORDS, WORD, fold, is_unspaced, question_codes

_SAYING = (
    r"(?:mention(?:s|ed|ing)?|contain(?:s|ed|ing)?|discuss(?:es|ed|ing)?|talk(?:s|ed|ing)? about"
    r"|refer(?:s|red|ring)? to|say(?:s|ing)?|appear(?:s|ed|ing)?|occur(?:s|red|ring)?|found|used)\b"
)
# Kinds of documents: "how many seals were counted" is not asked of documents that are seals.
_DOCUMENTS = re.compile(
    r"\b(?:agreement|article|book|chapter|contract|document|draft|e-?mail|file|form|guide|interview"
    r"|invoice|lease|letter|list|log|mail|manual|meeting|memo|message|minute|note|page|paper"
    r"|passage|place|plan|post|presentation|protocol|recipe|recording|report|section|sheet|slide"
    r"|table|talk|text|transcript|video)s?$"
    r"|\b(?:diary|entry|policy|summary|diaries|entries|policies|summaries)$",
    re.IGNORECASE,
)
_DO_SAY = re.compile(
    rf" (?:that |which )?(?:do(?:es)?(?:n[’']t)? )?(?:not |never )?(?:{_SAYING}|without|lack)",
    re.IGNORECASE,
)
# Not the beginning of a name, nor "not-for-profit" and "invoice no. 7".
_NOT = re.compile(
    r"(?<![\w-])(?:[A-Za-z]+[nN][’'][tT]|[Ww]ithout|lack|lacks|lacking|never|not|no"
    r"|WITHOUT|LACK|LACKS|LACKING|NEVER|NOT|NO)(?![\w-]|\.?\s*\d)"
)
_NOT_SAYING = re.compile(rf"{_NOT.pattern}\s+{_SAYING}", re.IGNORECASE)
# What asks for all, and for documents; it says nothing about the subject.
_ASKING = re.compile(
    r"^\W*(?:please\s+)?(?:list|name|count|show|give|find|enumerate)\b(?:\s+me)?"
    r"|\bhow (?:many|often)\b|\b(?:which|what|all|every|each|any|number|total|of|the|documents?"
    r"|files?|notes?|places?|passages?|pages?|words?|terms?|phrases?|about|there)\b"
    rf"|\b(?:written|authored) by\b|\b{_SAYING}",
    re.IGNORECASE,
)
# The kind of thing that is counted is no word of the passage: "which contracts do not mention …".
_KIND = re.compile(
    r"^\W*(?:which|what|how many|(?:list|name|count|show|give|find)(?: me)?(?: all| every)?)"
    r"(?: of)?(?: the| my| our)?((?: [\w-]+){1,3}?)(?= (?:that |which )?(?:do|does|did|are|is|was"
    r"|were|has|have|had|can|will|would|mention|contain|say|discuss|talk|refer|use|need|name|hold"
    r"|(?-i:without|lack|never|not))\w*\b)",
    re.IGNORECASE,
)
_TOO_MUCH = re.compile(
    r"\b(?:or|neither|nor|either|except)\b|\bbut\s+not\b|\band\s+not\b|\bhow many times\b"
    r"|\bmore than\b|\bless than\b|\bat (?:least|most)\b",
    re.IGNORECASE,
)
_NO_COUNTING = re.compile(r"^\W*(?:when|why|how(?! (?:many|often)))\b", re.IGNORECASE)
_QUOTED = re.compile(r"[“\"]([^”\"]+)[”\"]")
_NAME = re.compile(r"(?<=\s)(?:[A-Z][\w-]+\s+)+[A-Z][\w-]+")
_GAP = " | "  # in the place of what was taken out, so that no phrase goes across it …
_TAKEN = " || "  # … and that is looked for
_COMMON = log(2)  # the weight of a word that half of the chunks have


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a passage must have."""

    words: tuple[str, ...]  # and phrases, as people read them
    negated: bool  # … or must not have
    sought: str  # the telling words, those of phrases as well
    keys: frozenset[str]
    common: frozenset[str]  # of the keys: half of the library has them, so the document may
    phrases: tuple[str, ...]
    finder: Finder

    def stands_in(self, *texts: str) -> bool:
        """Whether the texts have all of it together; each phrase stands in one of them."""
        found: set[str] = set()
        for text in texts:
            found |= self.finder.found(text)
        return found >= self.keys - self.common and all(
            any(_has(text, phrase) for text in texts) for phrase in self.phrases
        )


def counted(
    question: str,
    store: Store,
    filters: Filters,
    *,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Counted:
    """Every document that the filters let through, looked at; each hit with its citation."""
    wanted = _wanted(question, store)
    documents = store.documents(filters=filters)
    if not documents:
        raise SettingsError("the filters let no document through, so there is nothing to count")
    hits: list[Citation] = []
    held: set[str] = set()
    for done, document in enumerate(documents, start=1):
        if cancelled():
            raise SearchCancelled("cancelled")
        found = list(_hits(document, store, wanted))
        hits += found
        if found:
            held.add(document.path)
        on_progress(Progress(done, len(documents), done, len(documents), document.path))
    problems, looked_at = store.problems(), {one.path for one in documents}
    return Counted(
        question=question,
        words=wanted.words,
        negated=wanted.negated,
        looked_at=len(documents),
        documents=tuple(one.path for one in documents if (one.path in held) is not wanted.negated),
        hits=() if wanted.negated else tuple(hits),
        unread=tuple(
            one
            for one in problems
            if one.path not in looked_at and _may_be_in(filters.condition, one.path)
        ),
        outdated=tuple(one for one in problems if one.path in looked_at),
        partly=tuple(
            Failure(one.path, "; ".join(one.metadata.notes))
            for one in documents
            if one.metadata.notes
        ),
        complete=store.is_complete(),
    )


def _may_be_in(condition: Condition, path: str) -> bool:
    """Whether a file that was not read may be one that a filter lets through, by its path."""
    match condition:
        case AllOf(parts):
            return all(_may_be_in(part, path) for part in parts)
        case Clause("type", "is", values):
            # What is inside decides between types of one kind, such as docx and odt.
            kind = kind_by_name(path)
            return kind is None or any(kind_by_name(f"a.{one}") is kind for one in values)
        case Clause("path" | "name" as field, how, values):
            held = path if field == "path" else fold(PurePosixPath(path).name)
            form = {"begins": "{}*", "contains": "*{}*"}.get(how, "{}").format
            wanted = values if field == "path" else map(fold, values)
            return any(fnmatchcase(held, form(one.replace("[", "[[]"))) for one in wanted)
        case Clause("document"):
            return False  # it is none
        case _:
            return True


def _wanted(question: str, store: Store) -> _Wanted:
    # What is in quotes is looked for, whatever it says; only the rest asks.
    phrases = [one for one in map(one_line, _QUOTED.findall(question)) if WORD.search(one)]
    asking = _QUOTED.sub(_TAKEN, question)
    if found := _TOO_MUCH.search(asking):
        raise SettingsError(
            f"“{found[0]}” cannot be counted: ask for documents that have all of some words, or "
            "have not, one question for each"
        )
    if found := _NO_COUNTING.match(asking):
        raise SettingsError(
            f"“{found[0].strip()}” does not ask for documents: leave out --all for an answer, or "
            'ask such as `--all "which documents mention rye flour?"`'
        )
    kind = _KIND.match(asking)
    is_kind = kind and (_DOCUMENTS.search(kind[1]) or _DO_SAY.match(asking, kind.end(1)))
    subject = asking[kind.end(1) :] if kind and is_kind else asking
    plain = _ASKING.sub(_GAP, _NOT_SAYING.sub(_GAP, subject))
    phrases += map(one_line, _NAME.findall(plain))
    said = _NAME.sub(_TAKEN, plain)
    codes = [
        one for one in (part.strip("?!.,;:()") for part in said.split()) if question_codes(one)
    ]
    for code in codes:
        said = said.replace(code, _TAKEN)
    before, *after = _NOT.split(said)
    if after and (_TAKEN in before or not SAYS_NOTHING.issuperset(map(fold, WORD.findall(before)))):
        raise SettingsError(
            "it says what is to be there and then what is not: put what belongs together in "
            "quotes, or ask which documents “do not mention” something"
        )
    said = _GAP.join((before, *after))
    told = telling_words(" ".join([said, *phrases]))
    every = [word for word in told if fold(word) not in STOP_WORDS]
    words = [word for word in telling_words(said) if word in every]
    if not words and not phrases and not codes:
        raise SettingsError(
            "it does not say what to look for: name what the documents are to hold, such as "
            '`--all "which documents mention rye flour?"`'
        )
    sought = " ".join((*every, *codes)) or " ".join(phrases)
    rarity = rarity_of(sought, store)
    spelled = (token for code in codes for term in question_codes(code) for token in term.tokens)
    keys = frozenset(map(key_of, every)).union(spelled)
    common = frozenset(key for key in keys if rarity.weights.get(key, _COMMON) < _COMMON)
    common = common if common < keys else frozenset()
    return _Wanted(
        words=(*words, *codes, *phrases),
        negated=bool(after) or _NOT_SAYING.search(subject) is not None,
        sought=" ".join((*(word for word in every if key_of(word) not in common), *codes))
        or sought,
        keys=keys,
        common=common,
        phrases=tuple(phrases),
        finder=finder_of(sought),
    )


def _hits(document: DocumentEntry, store: Store, wanted: _Wanted) -> Iterator[Citation]:
    """The passages of a document that have all that is wanted, each once."""
    places: set[object] = set()
    chunks = [chunk for _, chunk in store.load_chunks(store.chunk_ids(document.id))]
    if wanted.common:
        anywhere = wanted.finder.found("\n".join([document.title, *(c.searched for c in chunks)]))
        if not anywhere >= wanted.common:
            return
    for chunk in chunks:
        if not wanted.stands_in(chunk.searched, *chunk.headings, document.title):
            continue
        units = quotable(chunk)
        for at, unit in enumerate(units):
            text = chunk.searched_in(unit.start, unit.end)
            headings = section_at(chunk, unit.start).heading_path
            # What only its heading says is told once, not with each sentence below it.
            place = (unit.start, unit.end) if wanted.finder.found(text) else headings
            if place not in places and wanted.stands_in(text, unit.lead, *headings, document.title):
                places.add(place)
                quote = quote_of(chunk, units, at, wanted.finder)
                yield citation_of(document, chunk, quote, wanted.sought)


def _has(text: str, phrase: str) -> bool:
    """Whether the words of a phrase follow each other; without spaces, its characters."""
    if any(map(is_unspaced, WORD.findall(phrase))):
        return "".join(fold(phrase).split()) in "".join(fold(text).split())
    return f" {_keys(phrase)} " in f" {_keys(text)} "


def _keys(text: str) -> str:
    return " ".join(map(key_of, WORD.findall(text)))
