"""Question → other names for what it names: abbreviations and what they stand for, synonyms."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice

from pincite.ports import Store
from pincite.records import Filters
from pincite.retrieve.understand.glossary import Glossary, Meaning
from pincite.text.naming import abbreviations_in, name_key
from pincite.text.words import STOP_WORDS, WORD, fold, question_codes

_RUN = re.compile(r"\S+")
_LONGEST_NAME = 8  # words
_SHORTEST_PLURAL = 3  # letters
_MOST_WORDS = 64  # of the question that are looked at
_MOST_MEANINGS = 3  # of one name
_MOST_LOOKED_AT = 50  # meanings of one name, of which the question may have some already
_LOOKED_INTO = 20  # chunks, to see how a word is written


@dataclass(frozen=True, slots=True)
class Renamed:
    """A name in the question, where it stands, and what the same is called elsewhere."""

    start: int
    end: int
    meanings: tuple[Meaning, ...]
    by_short: bool  # the question has the short name, and wants the long ones

    @property
    def others(self) -> tuple[str, ...]:
        """The names that the question does not have."""
        return tuple(one.long if self.by_short else one.short for one in self.meanings)


@dataclass(frozen=True, slots=True)
class _Name:
    start: int
    end: int
    text: str
    keys: tuple[str, ...]  # also without a plural's s, and with one


def other_names(
    question: str,
    store: Store,
    glossary: Glossary,
    *,
    from_documents: bool,
    exact: Sequence[tuple[int, int]] = (),
) -> list[Renamed]:
    """The names of the question that have others, in their order; none inside `exact`."""
    # Documents are asked about single words only: abbreviations.
    longest = max(min(glossary.longest, _LONGEST_NAME), int(from_documents))
    # Not where a name is part of a code, or the question itself says what it stands for.
    codes = [run.span() for run in _RUN.finditer(question) if question_codes(run.group())]
    explained = [(one.start, one.end) for one in abbreviations_in(question)]
    names = list(_names(question, longest, [*exact, *codes, *explained])) if longest else []
    asked = {key for name in names for key in name.keys}
    known = _known(asked, store, glossary, from_documents=from_documents)
    is_ordinary = cache(partial(_is_ordinary, store))  # a search; meanings and words may be many
    found: list[Renamed] = []
    for name in names:
        if any(one.start < name.end and name.start < one.end for one in found):
            continue  # part of a longer name
        all_known = (one for key in name.keys for one in known.get(key, ()))
        meanings = list(islice(all_known, _MOST_LOOKED_AT))
        by_short = tuple(
            one
            for one in meanings
            if name_key(one.short) in name.keys
            and _is_meant(one.short, name.text, question, is_ordinary)
        )
        by_long = tuple(one for one in meanings if name_key(one.long) in name.keys)
        if by_short or by_long:
            chosen = by_short or by_long
            found.append(Renamed(name.start, name.end, chosen, by_short=bool(by_short)))
    # Only what the question does not say already, each name once, and not too many.
    new = []
    for one in sorted(found, key=lambda one: one.start):
        others = {
            key: meaning
            for meaning, other in reversed([*zip(one.meanings, one.others, strict=True)])
            if (key := name_key(other)) not in asked
        }
        if others:
            first = tuple(reversed(others.values()))[:_MOST_MEANINGS]
            new.append(replace(one, meanings=first))
    return new


def _names(question: str, longest: int, exact: Sequence[tuple[int, int]]) -> Iterator[_Name]:
    """Every run of words that may be a name, longest first."""
    words = list(WORD.finditer(question))[:_MOST_WORDS]
    for count in range(min(longest, len(words)), 0, -1):
        for at in range(len(words) - count + 1):
            start, end = words[at].start(), words[at + count - 1].end()
            if any(first < end and start < last for first, last in exact):
                continue
            yield _Name(start, end, question[start:end], _keys(question[start:end]))


def _keys(name: str) -> tuple[str, ...]:
    """What a name is looked up by: in the singular and in the plural, if it is no abbreviation."""
    key = name_key(name)
    if name.isupper() or len(key) < _SHORTEST_PLURAL:
        return (key,)
    return key, key.removesuffix("s") if key.endswith("s") else f"{key}s"


def _known(
    keys: Iterable[str], store: Store, glossary: Glossary, *, from_documents: bool
) -> Mapping[str, Sequence[Meaning]]:
    """What is meant by these keys: first what people wrote down, then what the documents say."""
    known: defaultdict[str, list[Meaning]] = defaultdict(list)
    for key in keys:
        known[key].extend(glossary.meanings.get(key, ()))
    if from_documents:
        # Not by the long name: a question that has it finds most of what there is, and asking for
        # the short one, too, lowered every figure we looked at (docs/decisions/0019).
        for one in store.definitions([key for key in keys if " " not in key]):
            meaning = Meaning(one.short, one.long, "your documents")
            known[name_key(one.short)].append(meaning)
    return known


def _is_meant(short: str, written: str, question: str, is_ordinary: Callable[[str], bool]) -> bool:
    """Whether the word of the question is the abbreviation and not an ordinary word.

    IT is not it. In small letters, or where all of the question is in capitals, an abbreviation is
    meant unless the library itself has the word in small letters more often.
    """
    if sum(letter.isupper() for letter in short) < 2:
        return True
    if written.removesuffix("s") == short and not question.isupper():
        return True
    small = fold(written)
    unsure = written in (small, small.upper())
    return unsure and small not in STOP_WORDS and not is_ordinary(small)


def _is_ordinary(store: Store, word: str) -> bool:
    ranking = store.search(word, None, filters=Filters(), limit=_LOOKED_INTO)["words"]
    loaded = store.load_chunks([one.chunk_id for one in ranking])
    text = "\n".join(chunk.text for _, chunk in loaded)
    written: list[str] = re.findall(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE)
    return written.count(word) > len(written) / 2
