"""What people think of answers becomes questions that the library is measured with."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from pincite.engine.searchable import Searchable
from pincite.errors import CitationNotFound
from pincite.records import Case, ExpectedPlace, filters_of
from pincite.records.journal import Feedback, LoggedQuery


def case_of(library: Searchable, query: LoggedQuery, feedback: Feedback) -> Case | None:
    """What a query teaches, with what was said of it; None where that is nothing.

    A good answer expects what it cited, and a good refusal none. Of a search only the first
    result is taken to be meant, so that is a draft, as is whatever was bad: what should have been
    found is for a person to say (`pincite eval confirm`).
    """
    if query.error or not query.is_question:
        return None
    asked = datetime.fromtimestamp(query.at, UTC)
    verdict = f"{'good' if feedback.good else 'bad'} {query.verb} of {asked:%Y-%m-%d}"
    case = Case(
        question=query.question,
        filters=filters_of(query.filters),
        note=f"{verdict}: {feedback.note}" if feedback.note else verdict,
    )
    if not feedback.good:
        return replace(case, draft=True)
    if query.outcome not in ("answer", "results"):
        return replace(case, unanswerable=True)
    is_search = query.outcome == "results"
    places = _places(library, query.chunk_ids[:1] if is_search else query.chunk_ids)
    if not places:
        return None
    documents = dict.fromkeys((place.document for place in places), 1)
    return replace(case, documents=documents, places=places, draft=is_search)


def _places(library: Searchable, chunk_ids: tuple[str, ...]) -> tuple[ExpectedPlace, ...]:
    """Where the chunks stand that are still there."""
    found: dict[ExpectedPlace, None] = {}
    for chunk_id in chunk_ids:
        try:
            cited = library.show(chunk_id, around=0)
        except CitationNotFound:
            continue
        if not cited.superseded:
            found[ExpectedPlace.at(cited.document.path, cited.locator)] = None
    return tuple(found)
