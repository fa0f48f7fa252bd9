"""Receipts of quotes that a test chooses, for the tests that check them."""

from __future__ import annotations

from pincite.answer.checking import check_citations
from pincite.answer.receipts import as_json, citations_in, receipt_of
from pincite.ports import Store
from pincite.records import (
    Answer,
    CheckedCitation,
    Citation,
    Claim,
    EmbeddedDocument,
    Locator,
)
from pincite.settings import AskSettings


def citation_of(document: EmbeddedDocument, quote: str) -> Citation:
    """The first place of the quote."""
    start = document.document.text.index(quote)
    (chunk,) = (one.chunk for one in document.chunks if one.chunk.start <= start < one.chunk.end)
    line = document.document.text.count("\n", 0, start) + 1
    return Citation(
        citation=f"{document.document.path} (line {line})",
        quote=quote,
        path=document.document.path,
        title=document.document.title,
        document_id=document.document.id,
        chunk_id=chunk.id,
        start=start,
        end=start + len(quote),
        locator=Locator(line, line),
        heading_path=(),
        matches=(),
    )


def answer_of(*citations: Citation) -> Answer:
    """Each quote as a claim."""
    claims = tuple(Claim(one.quote, "quoted", "verbatim", (one,)) for one in citations)
    return Answer("What do they say?", claims, 0.9)


def receipt(store: Store, *citations: Citation) -> str:
    """The receipt of an answer that quotes them."""
    made = receipt_of(answer_of(*citations), store, {"ask": AskSettings()}, pincite="0.0.0")
    return as_json(made)


def checked(store: Store, text: str, *, clearance: str = "") -> list[CheckedCitation]:
    """What became of the citations of a receipt or of Markdown."""
    return list(check_citations(citations_in(text.encode()), store, clearance=clearance))
