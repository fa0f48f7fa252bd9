"""Words that the library does not have → those it has that were probably meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pincite.ports import Store
from pincite.text.finding import key_of
from pincite.text.spelling import edits_allowed
from pincite.text.words import STOP_WORDS, WORD, fold, question_codes

_RUN = re.compile(r"\S+")
_MOST_CORRECTED = 8  # words of one question; more is another language or a pasted page
_MOST_LOOKED_UP = 64
_COMMON = 10  # documents; a word of so many may have two letters mistyped


@dataclass(frozen=True, slots=True)
class Correction:
    """A word of the question, where it stands, and what it is taken for."""

    start: int
    end: int
    typed: str
    meant: str


def corrections(
    question: str,
    store: Store,
    *,
    knows: Callable[[str], bool],
    exact: Sequence[tuple[int, int]],
) -> list[Correction]:
    """What was probably meant by words that no chunk has and that nobody `knows`.

    Nothing inside the `exact` stretches is changed.
    """
    words = [
        word
        for word in _plain_words(question)
        if not any(start <= word.start() < end for start, end in exact)
    ][:_MOST_LOOKED_UP]
    _, having = store.chunk_counts(list(dict.fromkeys(word.group() for word in words)))
    found = []
    for word in words:
        typed = fold(word.group())
        if not having[word.group()] and not knows(typed) and (meant := _meant(typed, store)):
            found.append(Correction(*word.span(), word.group(), meant))
    return found if len(found) <= _MOST_CORRECTED else []


def _plain_words(question: str) -> Iterator[re.Match[str]]:
    """The words that could be mistyped: no codes, no numbers, no names such as NASA or Meyer.

    The first word of a question may have a capital without being a name.
    """
    shouted = question.isupper()
    first = WORD.search(question)
    for run in _RUN.finditer(question):
        if question_codes(run.group()):
            continue
        for word in WORD.finditer(question, run.start(), run.end()):
            text = word.group()
            is_first = first is not None and word.span() == first.span()
            small = text[1:] if is_first else text
            usual = shouted or small == small.lower()
            typed = fold(text)
            if usual and text.isalpha() and edits_allowed(typed) and typed not in STOP_WORDS:
                yield word


def _meant(typed: str, store: Store) -> str:
    """The one nearest word of the library, in its most frequent form.

    Two words that are as near are a guess, and so is a rare one that is two edits away: a right
    word that the library does not have would become another one (docs/decisions/0030). Looked for
    among those with the same first letter, or with the second one, where it was typed too early or
    something before it: hardly anybody gets the first letter wrong, and a large library's words
    are many.
    """
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import extract

    most = edits_allowed(typed)
    near: list[tuple[int, int, str]] = []
    for initial in dict.fromkeys(typed[:2]):
        spelled = store.spellings(initial)
        # Its answers are said to be scores; of this scorer they are numbers of edits.
        for word, edits, _ in extract(
            typed, spelled.keys(), scorer=OSA.distance, score_cutoff=most, limit=None
        ):
            near.append((int(edits), -spelled[word], word))
    edits, documents, meant = min(near, default=(0, 0, ""))
    nearest = {key_of(word) for one, _, word in near if one == edits}
    is_certain = len(nearest) == 1 and (edits == 1 or -documents >= _COMMON)
    return meant if is_certain else ""
