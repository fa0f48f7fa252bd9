"""When there is no answer: why, in words for whoever asked, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import fsum

from pincite.answer.evidence import Evidence
from pincite.answer.route import KIND
from pincite.records import Abstention, AbstentionReason, Citation, Reason, SearchResults
from pincite.retrieve.rarity import Rarity
from pincite.text.facts import facts_of
from pincite.text.finding import key_of

# What is asked of every document, not of one place: a list of other things, such as of rules, may
# well stand in one. "How many bar …" is asked of one place, and so is "what if the tenant does not
# pay".
_FILES = rf"(?:{KIND}|leases?|talks?)\b"
_ALL = re.compile(
    r"^\W*count\s+(?:all|every|each)\b"
    rf"|^\W*(?:list|name|(?:show|give|find)(?:\s+me)?)\s+(?:all|every|each)\s+(?:\w+\s+){{0,2}}{_FILES}"
    rf"|^\W*which\s+(?:\w+\s+)?{_FILES}\s+(?:do|are|were|have|had|did|can|will)"
    r"(?:n[’']t\b|\s+(?:not|never)\b)"
    rf"|^\W*(?:which|how many)\s+(?:of\s+)?(?:\w+\s+){{0,2}}{_FILES}"
    r"\s+(?:\w+\s+)?(?:mention|contain|say|discuss|talk|refer|cite|tagged|about)",
    re.IGNORECASE,
)
_HOW_MANY = re.compile(r"\bhow many\b|\bhow often\b|\bnumber of\b", re.IGNORECASE)


_NOTHING_TO_LOOK_AT: Mapping[Reason | None, AbstentionReason] = {
    "empty_question": "not_understood",
    "filtered_out": "nothing_found",
}
_MESSAGES: Mapping[AbstentionReason, str] = {
    "not_understood": "I don't see a question in this: it holds no word to look for.",
    "nothing_found": "I don't see anything in your documents that this question may look at. You "
    "may want to ask with fewer filters.",
    "out_of_domain": "I don't see an answer to this in your documents: nothing mentions {missing}. "
    "You may want to ingest documents about it.",
    "too_far": "I don't see anything near this in your documents{unsaid}. You may want to ingest "
    "documents about it.",
    "not_answered": "I don't see enough in your documents to answer this, though something comes "
    "near{unsaid}. You may want to ask in other words, or to ingest a document that says it.",
    "counting": "I don't see this said in one place: it asks for all of something, and an answer "
    "looks at the best places only. Ask for the places that mention it, or which documents do, and "
    "count those.",
    "not_supported": "I don't see a proven answer: a claim of the language model has no proof, or "
    "the model failed, and `--strict` lets neither pass.",
}


def why_not(
    found: SearchResults, units: Sequence[Evidence], rarity: Rarity, caution: float
) -> AbstentionReason | None:
    """Why the question should not be answered from these units; None where it may be.

    Where there is no probability, as with a model that it was not fitted for, the words decide.
    """
    if found.reason in _NOTHING_TO_LOOK_AT:
        return _NOTHING_TO_LOOK_AT[found.reason]
    missing = fsum(rarity.weights[key_of(word)] for word in rarity.missing)
    is_elsewhere = 2 * missing >= fsum(rarity.weights.values()) > 0
    if not units:
        return "out_of_domain" if is_elsewhere else "too_far"
    if _ALL.search(found.question):
        return "counting"
    if found.confidence is None:
        is_likely = not is_elsewhere
    else:
        is_likely = found.confidence.probability >= caution
    if is_likely:
        return None
    best = max(units, key=lambda one: one.merit)
    has_no_number = not facts_of(best.citation.quote).numbers
    if not rarity.missing and has_no_number and _HOW_MANY.search(found.question):
        return "counting"
    is_near = found.confidence is not None and 2 * found.confidence.probability >= caution
    return "out_of_domain" if is_elsewhere and not is_near else "not_answered"


def abstention(
    found: SearchResults,
    reason: AbstentionReason,
    rarity: Rarity,
    nearest: Sequence[Citation],
    notices: Sequence[str] = (),
) -> Abstention:
    """Say that the documents do not answer this, as far as can be told."""
    missing = ", ".join(f"“{word}”" for word in rarity.missing[:6])
    return Abstention(
        question=found.question,
        reason=reason,
        message=_MESSAGES[reason].format(
            missing=missing, unsaid=f": nothing mentions {missing}" if missing else ""
        ),
        missing_terms=rarity.missing,
        nearest=tuple(nearest),
        probability=found.confidence.probability if found.confidence else None,
        parts=found.confidence.parts if found.confidence else {},
        asides=replace(found.asides, notices=(*found.notices, *notices)),
        seconds=found.seconds,
    )
