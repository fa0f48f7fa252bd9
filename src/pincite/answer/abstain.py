"""When there is no answer: why, in words for whoever asked, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pincite.answer.evidence import Evidence
from pincite.answer.verify import facts_of
from pincite.records import Abstention, AbstentionReason, Citation, Reason, SearchResults
from pincite.retrieve.rarity import telling_words

# What is asked of everything, not of one place. "How many bar …" is asked of one place.
_ALL = re.compile(
    r"^\W*(?:list|name|show|give|find|count)\b.{0,20}\b(?:all|every|each)\b"
    r"|^\W*(?:which|what|who)\b.*\b(?:do|does|did|is|are|was|were|has|have|had|can|will)"
    r"(?:n[’']t\b|\s+not\b|\s+never\b)"
    r"|^\W*(?:which|what|how many)\s+(?:of\s+)?(?:\w+\s+){0,2}"
    r"(?:documents?|files?|notes|pages|emails?|mails|reports|talks)\b",
    re.IGNORECASE,
)
_HOW_MANY = re.compile(r"\bhow many\b|\bhow often\b|\bnumber of\b", re.IGNORECASE)


_NOTHING_TO_LOOK_AT: Mapping[Reason | None, AbstentionReason] = {
    "empty_question": "not_understood",
    "filtered_out": "nothing_found",
    "phrase_not_found": "nothing_found",
}
_MESSAGES: Mapping[AbstentionReason, str] = {
    "not_understood": "I don't see a question in this: it holds no word to look for.",
    "nothing_found": "I don't see anything in your documents that this question may look at. You "
    "may want to ask with fewer filters or without quotes.",
    "out_of_domain": "I don't see an answer to this in your documents: nothing mentions {missing}. "
    "You may want to ingest documents about it.",
    "too_far": "I don't see anything near this in your documents. You may want to ingest documents "
    "about {subject}.",
    "not_answered": "I don't see enough in your documents to answer this, though something comes "
    "near. You may want to ingest documents about {subject}.",
    "counting": "I don't see this said in one place: it asks for all of something, and an answer "
    "looks at the best places only. You may want to go through `pincite search --top-k 100`.",
    "not_supported": "I don't see words in your documents that support what the language model "
    "wrote.",
}


def why_not(
    found: SearchResults,
    units: Sequence[Evidence],
    missing: Sequence[str],
    probability: float | None,
    caution: float,
) -> AbstentionReason | None:
    """Why the question should not be answered from these units; None where it may be.

    Where there is no probability, as with a model that it was not fitted for, the words decide.
    """
    if found.reason in _NOTHING_TO_LOOK_AT:
        return _NOTHING_TO_LOOK_AT[found.reason]
    if not units:
        return "out_of_domain" if missing else "too_far"
    if _ALL.search(found.question):
        return "counting"
    if probability is None:
        is_likely = 2 * len(missing) < len(telling_words(found.question))
    else:
        is_likely = probability >= caution
    if is_likely:
        return None
    best = max(units, key=lambda one: one.merit)
    has_no_number = not facts_of(best.citation.quote).numbers
    if not missing and has_no_number and _HOW_MANY.search(found.question):
        return "counting"
    return "out_of_domain" if missing else "not_answered"


def abstention(
    found: SearchResults,
    reason: AbstentionReason,
    missing: tuple[str, ...],
    nearest: Sequence[Citation],
    *,
    probability: float | None,
) -> Abstention:
    """Say that the documents do not answer this, as far as can be told."""
    return Abstention(
        question=found.question,
        reason=reason,
        message=_MESSAGES[reason].format(
            missing=_listed(missing), subject=_listed(telling_words(found.question))
        ),
        missing_terms=missing,
        nearest=tuple(nearest),
        probability=probability,
        asides=found.asides,
        seconds=found.seconds,
    )


def _listed(words: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in words[:6])
