"""Questions for all of something: everything is looked at, and the answer says how much that was.

Counted are documents with a passage that has every telling word of the question, in whatever form;
words in quotes, and names of several words, as they stand. Nothing is guessed from the meaning, so
that whoever reads the count knows what was counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import log

from pincite.answer.evidence import citation_of
from pincite.errors import SearchCancelled, SettingsError
from pincite.ports import Store
from pincite.records import Citation, Counted, DocumentEntry, Filters, Progress
from pincite.retrieve.quote import ranked_quotes
from pincite.retrieve.rarity import Rarity, rarity_of, telling_words
from pincite.text.finding import Finder, finder_of, key_of
from pincite.text.words import STOP_WORDS, WORD, fold

_NOT = re.compile(
    r"\b(?:do|does|did|is|are|was|were|has|have|had|can|could|will|would)(?:n[’']t\b|\s+(?:not|never)\b)"
    r"|\b(?:without|lack|lacks|lacking|never|not|no)\b",
    re.IGNORECASE,
)
# What asks for all, and for documents; it says nothing about the subject.
_ASKING = re.compile(
    r"^\W*(?:please\s+)?(?:list|name|count|show|give|find|enumerate)\b(?:\s+me)?"
    r"|\bhow (?:many|often)\b|\b(?:which|what|all|every|each|any|number|total|of|the|documents?"
    r"|files?|notes?|places?|passages?|pages?|words?|terms?|phrases?|mention(?:s|ed|ing)?|contain(?:s|ed|ing)?|discuss(?:es|ed|ing)?"
    r"|talk(?:s|ed|ing)? about|refer(?:s|red|ring)? to|say(?:s|ing)?|about|there)\b",
    re.IGNORECASE,
)
# The kind of thing that is counted is no word of the passage: "which contracts do not mention …".
_KIND = re.compile(
    r"^\W*(?:which|what|how many|(?:list|name|count|show|give|find)(?: me)?(?: all| every)?)"
    r"(?: of)?(?: the| my| our)?((?: [\w-]+){1,3}?)(?= (?:that |which )?(?:do|does|did|are|is|was"
    r"|were|has|have|had|can|will|would|mention|contain|say|discuss|talk|refer|use|need|name|hold)"
    r"\w*\b)",
    re.IGNORECASE,
)
_TOO_MUCH = re.compile(
    r"\b(?:or|neither|nor|either|except)\b|\bbut\s+not\b|\band\s+not\b|\bhow many times\b"
    r"|\bmore than\b|\bless than\b|\bat (?:least|most)\b",
    re.IGNORECASE,
)
_PHRASE = re.compile(r"[“\"]([^”\"]+)[”\"]|(?<=\s)((?:[A-Z][\w-]+\s+)+[A-Z][\w-]+)")
_COMMON = log(2)  # the weight of a word that half of the chunks have
_UNITS = 8  # of a chunk that are looked at, the likest first


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a passage must have."""

    words: tuple[str, ...]
    sought: str  # the telling ones of them
    keys: frozenset[str]
    common: frozenset[str]  # of the keys: half of the library has them, so the document may
    phrases: tuple[tuple[str, ...], ...]
    finder: Finder
    rarity: Rarity

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
    negated = _NOT.search(question) is not None
    documents = store.documents(filters=filters)
    if not documents:
        raise SettingsError("the filters let no document through, so there is nothing to count")
    hits: list[Citation] = []
    holding: list[str] = []
    for done, document in enumerate(documents, start=1):
        if cancelled():
            raise SearchCancelled("cancelled")
        found = list(_hits(document, store, wanted))
        hits += found
        if found:
            holding.append(document.path)
        on_progress(Progress(done, len(documents), done, len(documents), document.path))
    held = set(holding)
    return Counted(
        question=question,
        words=wanted.words,
        negated=negated,
        looked_at=len(documents),
        total=len(documents),
        documents=tuple(one.path for one in documents if (one.path in held) is not negated),
        hits=() if negated else tuple(hits),
        unread=tuple(one for one in store.problems() if one.path not in store.paths()),
        complete=store.is_complete(),
    )


def _wanted(question: str, store: Store) -> _Wanted:
    phrases = [found[1] or found[2] for found in _PHRASE.finditer(question)]
    unquoted = _PHRASE.sub(" ", question)
    if found := _TOO_MUCH.search(unquoted):
        raise SettingsError(
            f"“{found[0]}” cannot be counted: ask for documents that have all of some words, or "
            "have not, one question for each"
        )
    kind = _KIND.match(question)
    subject = question[kind.end(1) :] if kind else question
    plain = _ASKING.sub(" ", _NOT.sub(" ", subject))
    words = [word for word in telling_words(plain) if fold(word) not in STOP_WORDS]
    if not words:
        raise SettingsError(
            "it does not say what to look for: name what the documents are to hold, such as "
            '`--all "which documents mention rye flour?"`'
        )
    sought = " ".join(words)
    rarity = rarity_of(sought, store)
    keys = frozenset(map(key_of, words))
    common = frozenset(key for key in keys if rarity.weights.get(key, _COMMON) < _COMMON)
    common = common if common < keys else frozenset()
    return _Wanted(
        tuple(words),
        " ".join(word for word in words if key_of(word) not in common),
        keys,
        common,
        tuple(tuple(map(key_of, WORD.findall(one))) for one in phrases),
        finder_of(sought),
        rarity,
    )


def _hits(document: DocumentEntry, store: Store, wanted: _Wanted) -> Iterator[Citation]:
    """The passages of a document that have all that is wanted, each once."""
    places: set[tuple[object, ...]] = set()
    chunks = [chunk for _, chunk in store.load_chunks(store.chunk_ids(document.id))]
    if wanted.common:
        anywhere = wanted.finder.found("\n".join([document.title, *(c.searched for c in chunks)]))
        if not anywhere >= wanted.common:
            return
    for chunk in chunks:
        if not wanted.stands_in(chunk.searched, *chunk.headings, document.title):
            continue
        for quote in ranked_quotes(chunk, wanted.sought, wanted.rarity, None, most=_UNITS):
            around = (quote.lead, *quote.heading_path, document.title)
            place: tuple[object, ...] = (quote.start, quote.end)
            # Of a sentence that is too long to be shown, the rest is in the chunk.
            text = chunk.searched if quote.cut_before or quote.cut_after else quote.text
            # What only its heading says is told once, not with each sentence below it.
            place = place if wanted.finder.found(text) else quote.heading_path
            if place not in places and wanted.stands_in(text, *around):
                places.add(place)
                yield citation_of(document, chunk, quote, wanted.sought)


def _has(text: str, phrase: tuple[str, ...]) -> bool:
    """Whether the words of a phrase follow each other."""
    keys = [key_of(word) for word in WORD.findall(text)]
    return any(
        tuple(keys[at : at + len(phrase)]) == phrase
        for at in range(len(keys) - len(phrase) + 1)
        if keys[at] == phrase[0]
    )
