"""Units of different documents that give another number or date for the same subject."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from pincite.answer.evidence import Evidence
from pincite.retrieve.rarity import Rarity
from pincite.text.dates import MONTHS
from pincite.text.facts import facts_of
from pincite.text.finding import finder_of, key_of
from pincite.text.printable import one_line

_MONTHS = {key_of(name): number for name, number in MONTHS.items()}
_LOOKED_AT = 6  # units; the rest is too far from the question
_SAME_SUBJECT = 0.6  # of the words of both without numbers must be shared
_SPEAKS_TO_IT = 0.6  # of the question's telling words must stand in each


def differences(question: str, units: Sequence[Evidence], rarity: Rarity) -> list[str]:
    """A note for each pair of documents that disagree, with both places and their dates."""
    asked, finder = facts_of(question), finder_of(question)
    enough = _SPEAKS_TO_IT * sum(rarity.weights.values())
    best = sorted(units, key=lambda one: -one.merit)[: 2 * _LOOKED_AT]
    near = [one for one in best if rarity.of(finder.found(_in_context(one))) >= enough]
    notes: dict[frozenset[str], str] = {}
    for one, other in combinations(near[:_LOOKED_AT], 2):
        pair = frozenset((one.citation.document_id, other.citation.document_id))
        here, there = facts_of(one.citation.quote), facts_of(other.citation.quote)
        these, those = (
            (facts.numbers | {_MONTHS[word] for word in facts.words & _MONTHS.keys()})
            - asked.numbers
            for facts in (here, there)
        )
        subject, same = (
            {word for word in facts.words if word.isalpha() and word not in _MONTHS}
            for facts in (here, there)
        )
        is_same = len(subject & same) >= _SAME_SUBJECT * len(subject | same)
        differ = bool(these - those and those - these)  # the year may be the same
        if len(pair) == 2 and pair not in notes and is_same and differ:
            notes[pair] = f"Your documents differ: {_told(one)}; {_told(other)}."
    return list(notes.values())


def _in_context(one: Evidence) -> str:
    return "\n".join((one.citation.quote, one.citation.lead, *one.citation.heading_path))


def _told(one: Evidence) -> str:
    metadata = one.result.document.metadata
    date = metadata.date or metadata.modified
    of = f", of {date[:10]}" if date else ""
    return f"“{one_line(one.citation.quote)}” ({one.citation.citation}{of})"
