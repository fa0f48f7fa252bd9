"""When there is no answer: why, in words for whoever asked, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence

from pincite.records import Abstention, AbstentionReason, Citation, SearchResults


def abstention(
    found: SearchResults,
    missing: tuple[str, ...],
    nearest: Sequence[Citation],
    probability: float | None,
) -> Abstention:
    """Say that the documents do not answer this, as far as can be told."""
    reason = _reason(found, missing)
    return Abstention(
        question=found.question,
        reason=reason,
        message=_message(reason, missing),
        missing_terms=missing,
        nearest=tuple(nearest),
        probability=probability,
        asides=found.asides,
        seconds=found.seconds,
    )


def _reason(found: SearchResults, missing: tuple[str, ...]) -> AbstentionReason:
    if found.reason == "empty_question":
        return "not_understood"
    if found.reason in ("filtered_out", "phrase_not_found"):
        return "nothing_found"
    if missing:
        return "out_of_domain"
    return "not_answered" if found.results else "too_far"


def _message(reason: AbstentionReason, missing: tuple[str, ...]) -> str:
    terms = ", ".join(f"“{word}”" for word in missing)
    match reason:
        case "not_understood":
            return "I don't see a question in this: it holds no word to look for."
        case "nothing_found":
            return (
                "I don't see anything in your documents that this question may look at. You may "
                "want to ask with fewer filters."
            )
        case "out_of_domain":
            return (
                f"I don't see an answer to this in your documents: nothing mentions {terms}. You "
                "may want to ingest documents about it."
            )
        case "too_far":
            return (
                "I don't see anything near this in your documents. You may want to ingest "
                "documents about it."
            )
        case "not_answered":
            return (
                "I don't see an answer to this in your documents, though some come near. You may "
                "want to ingest a document that answers it."
            )
