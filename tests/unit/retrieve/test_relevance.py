from __future__ import annotations

from collections.abc import Sequence

import pytest

from helpers import embedded, part
from pincite.records import ChunkId, DocumentEntry, EmbeddedDocument, Hit, Share
from pincite.retrieve.relevance import Loaded, Signals, fitted, signals, with_probabilities

QUESTION = "who signs the release?"


def hit(document: EmbeddedDocument, score: float, cosine: float) -> Hit:
    (one,) = document.chunks
    shares = {"vector": Share(1, cosine, score)}
    return Hit(one.chunk.id, document.document.id, score, shares)


def loaded(documents: Sequence[EmbeddedDocument]) -> Loaded:
    entries = {}
    for one in documents:
        document = one.document
        entry = DocumentEntry(
            id=document.id,
            path=document.path,
            checksum=document.checksum,
            type=document.type,
            title=document.title,
            metadata=document.metadata,
            chunks=1,
            indexed_at="2024-05-01T00:00:00Z",
            recipe="",
        )
        entries[one.chunks[0].chunk.id] = (entry, one.chunks[0].chunk)
    return entries


SIGNED = embedded("signed.md", part("Ada signs every release."), title="Rules")
OTHER = embedded("other.md", part("Bread is baked at night."), title="Bakery")


def test_the_words_of_a_question_count_in_text_title_and_headings() -> None:
    in_title = embedded("title.md", part("Ada does."), title="Who signs it")
    in_heading = embedded("heading.md", part("Ada does.", headings=["Signing a release"]))
    every = (SIGNED, OTHER, in_title, in_heading)
    hits = [hit(one, 0.5, 0.5) for one in every]
    found = signals(QUESTION, hits, loaded(every), hits)
    assert [one.coverage for one in found.values()] == [1, 0, 0.5, 1]


def test_documents_behind_the_results_share_the_question_too() -> None:
    hits = [hit(SIGNED, 0.9, 0.5), hit(OTHER, 0.9, 0.5)]
    known = loaded([SIGNED])
    (one_of_two,) = with_probabilities(QUESTION, hits[:1], known, hits)
    (alone,) = with_probabilities(QUESTION, hits[:1], known, hits[:1])
    assert one_of_two.probability is not None
    assert alone.probability is not None
    assert one_of_two.probability < alone.probability


def test_other_chunks_of_the_same_document_are_no_rivals() -> None:
    first = hit(SIGNED, 0.9, 0.5)
    second = first._replace(chunk_id=ChunkId("another"))
    (told,) = signals(QUESTION, [first], loaded([SIGNED]), [first, second]).values()
    assert told.share == pytest.approx(0, abs=0.01)


def test_the_fitted_weights_say_that_more_is_better() -> None:
    weights = fitted()
    least = weights.log_odds(Signals(share=-6, cosine=0, coverage=0))
    most = weights.log_odds(Signals(share=0, cosine=1, coverage=1))
    assert min(weights.share, weights.cosine, weights.coverage) > 0
    assert weights.probability(Signals(share=-6, cosine=0, coverage=0)) < 0.05
    assert least < 0 < most


def probability(hits: Sequence[Hit], documents: Sequence[EmbeddedDocument]) -> list[float | None]:
    return [one.probability for one in with_probabilities(QUESTION, hits, loaded(documents), hits)]


def test_a_nearer_hit_with_more_of_the_words_is_likelier() -> None:
    near, far = probability([hit(SIGNED, 0.9, 0.8), hit(OTHER, 0.5, 0.2)], [SIGNED, OTHER])
    assert near is not None
    assert far is not None
    assert 0 < far < near < 1
