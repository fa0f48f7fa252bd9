"""A question becomes cited results: understand, search, fuse, shape, rerank, quote. Start here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from pincite.ports import (
    Clock,
    Lap,
    QuestionEmbedder,
    Reranker,
    Store,
    no_clock,
    no_lap,
)
from pincite.records import (
    ChunkId,
    Filters,
    Hit,
    Mode,
    Ranking,
    Reason,
    Result,
    SearchResults,
)
from pincite.retrieve.fuse import (
    LOOKED_AT,
    best_by_score,
    best_of_each,
    feedback,
    fuse_ranks,
    fuse_scores,
    lifted,
)
from pincite.retrieve.quote import best_quote
from pincite.retrieve.rarity import Rarity, rarity_of
from pincite.retrieve.relevance import Signals, confidence, fitted, signals, with_probabilities
from pincite.retrieve.rerank import rerank
from pincite.retrieve.route import (
    among,
    containing,
    fitting_entries,
    named_documents,
    narrowed,
    preferred_parts,
    with_preferred,
)
from pincite.retrieve.shape import Shaped, shape
from pincite.retrieve.understand.flow import Aids, understand
from pincite.settings import SearchSettings
from pincite.text.words import asks_for_something, question_codes
from pincite.vectors import Vector, unit

_MOST_TOLD = 100  # of what was left out
_MOST_CANDIDATES = (
    6_400  # looked at in one ranking; beyond that a longer list is not worth its time
)


def search(  # noqa: PLR0913 — what is asked, where, and how
    question: str,
    store: Store,
    embedder: QuestionEmbedder | None,
    *,
    mode: Mode,
    filters: Filters,
    settings: SearchSettings,
    aids: Aids = Aids(),
    embed: Callable[[str], Vector] | None = None,
    reranker: Reranker | None = None,
    lap: Lap = no_lap,
    clock: Clock = no_clock,
) -> SearchResults:
    """The chunks that speak most to the question, each with its place and best unit.

    The embedder may be left out for the words search alone; `embed` is asked for vectors in its
    place. With a reranker the best hits are looked at once more, for as long as the clock allows.
    """
    # Half a character, from a broken command line say, can be neither searched nor printed.
    question = question.encode("utf-8", "replace").decode()
    if not asks_for_something(question):
        return SearchResults(question, mode, (), reason="empty_question")
    understood = understand(question, store, None if mode == "words" else embedder, settings, aids)
    scope = filters = narrowed(filters, understood)
    lap("understand")
    vector, made_by, foreignness = None, None, 0.0
    if embedder is not None and mode != "words":
        vector = (embed or embedder.embed_question)(understood.embedded)
        made_by = embedder.card.fingerprint
        foreignness = embedder.foreignness(understood.embedded)
    lap("embed")
    words = None if mode == "vector" else understood.words
    routed = fitting_entries(question, store, filters, settings.route)
    named = named_documents(question, store) if settings.named_weight else ()
    lap("route")
    nowhere: list[str] = []  # phrases of the question

    def asked(limits: Mapping[str, int]) -> dict[str, Ranking]:
        search_in = partial(store.search, words, vector, made_by=made_by, lap=lap)

        def best(seen: Filters) -> dict[str, Ranking]:
            return best_of_each(search_in(filters=seen, limit=max(limits.values())), limits)

        rankings = best(filters)
        for name, seen in preferred_parts(filters, named if vector is not None else ()).items():
            rankings = with_preferred(rankings, name, [best(seen)])
        if routed:
            rankings = with_preferred(rankings, "route", [best(among(filters, routed))])
            by_entry = sorted(rankings["route"], key=lambda one: routed[one.document_id])
            rankings["route"] = tuple(by_entry)
        if understood.phrases:
            held = {one: best(containing(filters, one)) for one in understood.phrases}
            nowhere[:] = [one for one, theirs in held.items() if not any(theirs.values())]
            rankings = with_preferred(rankings, "phrases", held.values())
        return rankings

    wanted = max(settings.top_k, settings.rerank_top if reranker else 0)
    rarity = rarity_of(understood.embedded, store)
    weights = _weights(understood.words, settings, rarity, foreignness)
    in_shape = partial(shape, load=store.load_chunks, settings=settings, wanted=wanted, named=named)
    fused, shaped = _best_hits(asked, in_shape, settings, weights, wanted, lap)
    kept = [one.hit for one in shaped.kept]
    loaded = {one.hit.chunk_id: (one.document, one.chunk) for one in shaped.kept}
    known: dict[ChunkId, Signals] = {}
    # Cosines of another model than it was fitted for would be taken for something else.
    if mode == "hybrid" and settings.fusion == "scores" and made_by == fitted().model:
        best = max((hit.score - hit.lift for hit in fused), default=0.0)
        known = signals(
            understood.embedded, kept, loaded, rarity, best=best, foreignness=foreignness
        )
        kept = with_probabilities(kept, known)
        lap("relevance")
    notices: tuple[str, ...] = ()
    if reranker is not None:
        kept, notices = rerank(question, kept, loaded, reranker, settings=settings, clock=clock)
        lap("rerank")
    results = tuple(
        Result(
            document,
            chunk,
            hit,
            best_quote(chunk, understood.words, rarity, hit.window),
            tuple(shaped.same_text.get(hit.chunk_id, ())),
            rrf_score=hit.rrf_score(settings.rrf_k),
        )
        for hit in kept[: settings.top_k]
        for document, chunk in (loaded[hit.chunk_id],)
    )
    lap("quote")
    return SearchResults(
        question,
        mode,
        results,
        reason=None if results else _why_empty(shaped, store, scope),
        dropped=tuple(shaped.dropped[:_MOST_TOLD]),
        notes=(
            *understood.notes,
            *(f"first where “{one}” stands" for one in understood.phrases if one not in nowhere),
        ),
        notices=(
            *understood.notices,
            *(
                f"No text has the phrase “{one}”; its words were searched for instead."
                for one in nowhere
            ),
            *notices,
        ),
        understood=understood.embedded,
        confidence=confidence([one.hit for one in results], known, rarity.missing),
    )


def _best_hits(
    asked: Callable[[Mapping[str, int]], dict[str, Ranking]],
    in_shape: Callable[[Sequence[Hit]], Shaped],
    settings: SearchSettings,
    weights: Mapping[str, float],
    wanted: int,
    lap: Lap,
) -> tuple[list[Hit], Shaped]:
    """The fused hits, and those in shape; from further down where that leaves too few."""
    limits = {"words": settings.top_k_words, "vector": settings.top_k_vector}
    limits = {search: max(limit, wanted) for search, limit in limits.items()}
    while True:
        rankings = asked(limits)
        phrases = rankings.pop("phrases", ())
        if "vector" not in rankings:
            # BM25 weighs a code among the other words; only against meaning does it need a voice.
            rankings = {"words": rankings["words"]}
        hits = _fused(rankings, settings, weights)
        if phrases:
            hits = lifted(hits, phrases)
        lap("fuse")
        shaped = in_shape(hits)
        lap("load")
        # A longer list brings nothing where one ended by itself, or what follows is too far.
        listed = {
            search: [one.score for one in rankings.get(search, ()) if one.listed]
            for search in limits
        }
        near = listed["vector"]
        is_too_far = bool(near) and near[-1] < settings.similarity_floor
        exhausted = len(listed["words"]) < limits["words"] and (
            len(near) < limits["vector"] or is_too_far
        )
        if len(shaped.kept) == wanted or exhausted or max(limits.values()) >= _MOST_CANDIDATES:
            return hits, shaped
        # One long document filled the candidates and was then capped.
        limits = {search: limit * 4 for search, limit in limits.items()}


def _fused(
    rankings: dict[str, Ranking], settings: SearchSettings, weights: Mapping[str, float]
) -> list[Hit]:
    if settings.fusion == "ranks":
        votes = {**dict.fromkeys(rankings, 1.0), "route": settings.route_weight}
        votes["agent"] = settings.agent_weight
        votes["codes"] = weights["codes"] / (settings.codes_weight or 1.0)
        return fuse_ranks(rankings, votes, k=settings.rrf_k, absent_rank=settings.absent_rank)
    if len(rankings) == 1:
        return fuse_scores(rankings, dict.fromkeys(rankings, 1.0))
    if settings.feedback_weight:
        best = best_by_score(rankings, weights, LOOKED_AT)
        rankings = {**rankings, "feedback": feedback(rankings, best)}
    words, near = ({one.chunk_id for one in rankings.get(name, ())} for name in ("words", "vector"))
    # Each search tells its scores of what the other lists: what is not near has no vector.
    return fuse_scores(rankings, weights, by_words=words - near)


def _weights(
    question: str, settings: SearchSettings, rarity: Rarity, foreignness: float
) -> dict[str, float]:
    """What each ranking counts."""
    codes = settings.codes_weight
    if not question_codes(question):
        # A number may be a name, as in "statement 13", or one of which every text has some.
        codes = settings.numbers_weight * rarity.of_numbers(question) ** 2
    return {
        "words": settings.words_weight + foreignness * settings.foreign_words,
        "vector": max(settings.vector_weight - foreignness * settings.foreign_vector, 0.0),
        "codes": codes,
        "named": settings.named_weight,
        "feedback": settings.feedback_weight,
        "agent": settings.agent_weight,
        "route": settings.route_weight,
    }


def _why_empty(shaped: Shaped, store: Store, scope: Filters) -> Reason:
    """The same in every mode: what the filters and the question's dates leave is looked at."""
    if shaped.dropped:
        return "too_far"
    header = store.header()
    if header is not None and not scope.none_given:
        # By meaning everything that may be seen is found, near or far.
        vector = unit([1.0] * header.model.dimensions, dimensions=header.model.dimensions)
        if not store.search(None, vector, filters=scope, limit=1)["vector"]:
            return "filtered_out"
    return "no_hits"
