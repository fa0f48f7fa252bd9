"""Questions that the library cannot answer, made so that this is certain as far as words go."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pincite.evals.generate.codes import question_for
from pincite.evals.generate.draft import YEAR, Draft, words_of
from pincite.evals.generate.phrases import asked
from pincite.evals.generate.pool import Sightings, order
from pincite.records import Case
from pincite.text.words import fold

_NUMBER = re.compile(r"\d{3,}")
_TRIES = 200
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_YEARS = range(1950, 2050)
# Nobody's names; one is used only where the library has neither of its words.
_NAMES = (
    "Ottavia Brandreth", "Ludo Farquharson", "Hesper Quennell", "Isolde Vantongeren",
    "Caspian Drummle", "Perpetua Stalbridge", "Evander Colquhoun", "Zenobia Thackwray",
    "Barnaby Oxenholme", "Lavinia Pomfret-Hale", "Osric Wetherby", "Thessaly Ranscombe",
)  # fmt: skip


def questions_nowhere(
    drafts: Mapping[str, Sequence[Draft]],
    sightings: Sightings,
    seed: int,
    *,
    language: str,
    knows_authors: bool,
) -> list[Iterator[Draft]]:
    """Questions like those that were drafted, for what no document has."""
    made_up = [
        _codes_nowhere(drafts["codes"], sightings, seed),
        _abbreviations_nowhere(drafts["definitions"], sightings, seed),
        _years_nowhere(drafts["headings"], language, sightings, seed),
    ]
    if knows_authors:
        made_up.append(_titles_nowhere(drafts["facts"], sightings, seed))
        made_up.append(_names_nowhere(language, sightings, seed))
    return made_up


def _codes_nowhere(drafts: Iterable[Draft], sightings: Sightings, seed: int) -> Iterator[Draft]:
    """Codes as the library has them, with a number that it does not have."""
    for draft in drafts:
        for number in _NUMBER.finditer(draft.about):
            if other := _other_number(number.group(), sightings, f"{seed} {draft.about}"):
                code = draft.about[: number.start()] + other + draft.about[number.end() :]
                note = f"made up like {draft.about}: no document has {other}"
                yield _nothing(question_for(code, draft.language), "exact_term", note)
                break


def _abbreviations_nowhere(
    drafts: Iterable[Draft], sightings: Sightings, seed: int
) -> Iterator[Draft]:
    """Abbreviations that look like those of the library, with a letter changed."""
    for draft in drafts:
        short = draft.about
        letters = sorted(_LETTERS, key=lambda letter: order(seed, f"{short} {letter}"))
        other = (f"{short[:-1]}{letter}" for letter in letters if letter != short[-1:])
        unknown = (one for one in other if sightings.count(fold(one)) == 0)
        if len(short) > 2 and (made_up := next(unknown, "")):
            question = asked(draft.language, "stands_for", x=made_up)
            yield _nothing(question, "content", f"made up like {short}: no document has {made_up}")


def _years_nowhere(
    drafts: Iterable[Draft], language: str, sightings: Sightings, seed: int
) -> Iterator[Draft]:
    """Headings as the library has them, in a year that it does not speak of."""
    for draft in drafts:
        if not draft.about or draft.language != language or _NUMBER.search(draft.about):
            continue
        if year := _other_year(sightings, f"{seed} {draft.about}"):
            question = asked(draft.language, "in", x=draft.about, title=year)
            yield _nothing(question, "content", f"no document speaks of {year}")


def _titles_nowhere(drafts: Iterable[Draft], sightings: Sightings, seed: int) -> Iterator[Draft]:
    """Titles as the library has them, of a year that it does not speak of."""
    for draft in drafts:
        years = YEAR.findall(draft.about)
        other = _other_year(sightings, f"{seed} {draft.about}")
        if len(years) == 1 and other:
            question = draft.case.question.replace(years[0], other)
            yield _nothing(question, "metadata", f"no document speaks of {other}")


def _names_nowhere(language: str, sightings: Sightings, seed: int) -> Iterator[Draft]:
    """People whom the library does not know."""
    unknown = [name for name in _NAMES if not any(map(sightings.count, words_of(name)))]
    for name in sorted(unknown, key=lambda name: order(seed, name)):
        question = asked(language, "by", x=name)
        yield _nothing(question, "metadata", f"made up: no document has the name {name}")


def _other_year(sightings: Sightings, seed: str) -> str:
    """A year that no document speaks of; empty if they speak of all."""
    free = [str(year) for year in _YEARS if sightings.count(str(year)) == 0]
    return min(free, key=lambda year: order(int(year), seed), default="")


def _other_number(number: str, sightings: Sightings, seed: str) -> str:
    """Another number with as many digits that stands in no document; empty if none was found."""
    for attempt in range(_TRIES):
        drawn = int(order(attempt, seed), 16) % 10 ** len(number)
        other = str(drawn).zfill(len(number))
        if other[0] == number[0] and other != number and sightings.count(other) == 0:
            return other
    return ""


def _nothing(question: str, kind: str, note: str) -> Draft:
    return Draft(Case(question=question, kind=kind, unanswerable=True, draft=True, note=note))
