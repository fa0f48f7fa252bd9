"""A question becomes a cited answer or an abstention: retrieve, draft, verify, decide."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pincite.answer.abstain import abstention
from pincite.ports import Store
from pincite.records import (
    Answer,
    Citation,
    Claim,
    Outcome,
    Result,
    SearchResults,
    cited_file,
    place_cited,
)
from pincite.retrieve.rarity import rarity_of, telling_words
from pincite.settings import AskSettings

QUOTED_BY = "verbatim"  # the judge of a claim that is the source's own words


def ask(
    question: str, search: Callable[[str], SearchResults], store: Store, settings: AskSettings
) -> Outcome:
    """What the documents say to the question, each claim with the very words it rests on."""
    found = search(question)
    asked = telling_words(found.question)
    missing = rarity_of(found.question, store).missing
    cited = [_citation(result) for result in found.results]
    probability = found.results[0].hit.probability if found.results else None
    is_unlikely = probability is not None and probability < settings.caution
    claims: list[Claim] = []
    if cited and not is_unlikely and len(missing) < len(asked):
        drafted = _quoted(found.results, cited, settings.claims)
        claims = [one for one in drafted if all(stands_there(c, store) for c in one.citations)]
    if not claims:
        return abstention(found, missing, cited[: settings.nearest], probability)
    return Answer(found.question, tuple(claims), probability, found.asides, found.seconds)


def stands_there(citation: Citation, store: Store) -> bool:
    """Whether the words stand at their place, letter for letter."""
    return store.text_of(citation.document_id, citation.start, citation.end) == citation.quote


def _quoted(results: Sequence[Result], cited: Sequence[Citation], most: int) -> list[Claim]:
    """An answer without any language model: the best words of the best results."""
    claims: list[Claim] = []
    enough = (results[0].hit.probability or 0.0) / 2
    for result, citation in zip(results, cited, strict=True):
        is_close = (result.hit.probability or 0.0) >= enough
        if len(claims) < most and is_close and citation.quote not in {one.text for one in claims}:
            claims.append(Claim(citation.quote, "quoted", QUOTED_BY, (citation,)))
    return claims


def _citation(result: Result) -> Citation:
    document, quote = result.document, result.quote
    path, kind = cited_file(document)
    return Citation(
        citation=place_cited(path, kind, quote.heading_path, quote.locator),
        quote=quote.text,
        path=document.path,
        title=document.title,
        document_id=document.id,
        chunk_id=result.chunk.id,
        start=quote.start,
        end=quote.end,
        locator=quote.locator,
        heading_path=quote.heading_path,
        matches=quote.matches,
        boxes=quote.boxes,
    )
