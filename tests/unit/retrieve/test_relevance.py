from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

import pytest

from helpers import embedded, part
from pincite.records import DocumentEntry, EmbeddedDocument, Hit, Share
from pincite.retrieve.rarity import Rarity
from pincite.retrieve.relevance import (
    Loaded,
    Signals,
    confidence,
    fitted,
    signals,
    with_probabilities,
)

QUESTION = "who signs the release?"
ONE_WORD = Rarity({"park": 1.0})


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
EVERY_WORD_ALIKE = Rarity({"sign": 1.0, "releas": 1.0})


def told(
    documents: Sequence[EmbeddedDocument],
    *,
    cosine: float = 0.5,
    question: str = QUESTION,
    rarity: Rarity = EVERY_WORD_ALIKE,
    foreignness: float = 0.0,
) -> list[Signals]:
    hits = [hit(one, 0.5, cosine) for one in documents]
    known = signals(question, hits, loaded(documents), rarity, best=0.5, foreignness=foreignness)
    return [known[one.chunk_id] for one in hits]


def test_the_words_of_a_question_count_in_text_title_and_headings() -> None:
    in_title = embedded("title.md", part("Ada does."), title="Who signs it")
    in_heading = embedded("heading.md", part("Ada does.", headings=["Signing a release"]))
    found = told([SIGNED, OTHER, in_title, in_heading])
    assert [one.coverage for one in found] == [1, 0, 0.5, 1]


def test_a_word_counts_the_more_the_rarer_it_is() -> None:
    only_signs = embedded("signs.md", part("Ada signs it."))
    (rare,) = told([only_signs], rarity=Rarity({"sign": 3.0, "releas": 1.0}))
    (common,) = told([only_signs], rarity=Rarity({"sign": 1.0, "releas": 3.0}))
    assert (rare.coverage, common.coverage) == (0.75, 0.25)


def test_words_count_together_only_where_they_stand_close_to_each_other() -> None:
    apart = embedded("apart.md", part("Ada signs it. " + "Bread is baked. " * 20 + "A release."))
    near, far = told([SIGNED, apart])
    assert near.coverage == far.coverage == 1
    assert near.together == 1
    assert far.together == 0.5


def test_what_the_title_says_is_little_evidence_of_an_answer() -> None:
    about_it = embedded("about.md", part("Bread is baked at night."), title="Release")
    (one,) = told([about_it])
    assert one.coverage == 0.5
    assert 0 < one.together < 0.25


def test_a_code_counts_wherever_it_stands() -> None:
    coded = embedded("coded.md", part("The release fails with ERR-4042."))
    (one,) = told([coded], question="ERR-4042", rarity=Rarity({"err": 2.0, "4042": 3.0}))
    assert one.together == one.coverage == 1
    assert one.nearness == pytest.approx(1)


def test_a_question_of_words_that_say_nothing_covers_nothing() -> None:
    (one,) = told([SIGNED], rarity=Rarity({"sign": 0.0, "releas": 0.0}))
    assert (one.coverage, one.together) == (0, 0)


def test_words_stand_in_for_meaning_in_a_language_that_the_model_does_not_read() -> None:
    (read,) = told([SIGNED], cosine=0.6)
    (half,) = told([SIGNED], cosine=0.6, foreignness=0.5)
    (unread,) = told([SIGNED], cosine=0.6, foreignness=1.0)
    (without_words,) = told([OTHER], cosine=0.6, foreignness=1.0)
    assert read.nearness == 0.6
    assert half.nearness == pytest.approx(0.8)
    assert unread.nearness == 1
    assert without_words.nearness == 0


def test_what_stands_together_word_for_word_is_near_whatever_the_model_says() -> None:
    (together,) = told([SIGNED], cosine=0.1)
    (apart,) = told([OTHER], cosine=0.1)
    assert (together.nearness, apart.nearness) == (0.5, 0.1)


def test_a_hit_without_a_cosine_has_no_probability() -> None:
    by_words = hit(SIGNED, 0.5, 0.5)._replace(shares={"words": Share(1, 3.0, 0.5)})
    known = signals(
        QUESTION, [by_words], loaded([SIGNED]), EVERY_WORD_ALIKE, best=0.5, foreignness=0
    )
    (one,) = with_probabilities([by_words], known)
    assert one.probability is None
    assert confidence([one], known, ()) is None


def test_the_fitted_weights_say_that_more_is_better() -> None:
    nothing = Signals(cosine=0, coverage=0, together=0, unread=0, behind=0)
    near = replace(nothing, cosine=0.8)
    every_word = replace(near, coverage=1, together=1)
    behind = replace(every_word, behind=0.5)
    probability = fitted().probability
    assert probability(nothing) < 0.1
    assert probability(nothing) < probability(near) < probability(every_word)
    assert probability(every_word) > 0.8
    assert probability(behind) < probability(every_word)


def test_the_confidence_is_that_of_the_best_hit_with_its_parts() -> None:
    best = hit(SIGNED, 0.5, 0.5)
    known = {best.chunk_id: told([SIGNED])[0]}
    (best,) = with_probabilities([best], known)
    sure = confidence([best], known, ("Mongolia",))
    assert sure is not None
    assert sure.probability == best.probability
    assert sure.parts == asdict(known[best.chunk_id])
    assert sure.missing_terms == ("Mongolia",)


def test_one_word_of_the_same_stem_is_no_answer_where_the_meaning_is_far() -> None:
    parks = embedded("phone.md", part("Write to One Apple Park Way."), title="Rules")
    (far,) = told([parks], cosine=0.1, question="is there parking?", rarity=ONE_WORD)
    assert (far.together, far.words) == (1.0, 1)
    assert fitted().probability(far) < 0.3
    assert fitted().probability(replace(far, words=2)) > 0.3
