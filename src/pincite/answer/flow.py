"""A question becomes a cited answer or an abstention: retrieve, pack, draft, verify, decide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pincite.answer.abstain import abstention, why_not
from pincite.answer.conflicts import differences
from pincite.answer.draft import Declined, extracted, written
from pincite.answer.evidence import Count, Evidence, gathered, packed
from pincite.answer.verify import (
    NO_JUDGE,
    deduplicated,
    quoted,
    stands_there,
    verified_or_unjudged,
)
from pincite.errors import ModelError
from pincite.ports import Judge, Lap, Store, UnitScorer, Writer, no_lap
from pincite.records import Answer, Claim, Outcome, SearchResults
from pincite.retrieve.rarity import rarity_of
from pincite.settings import AskSettings

OnClaim = Callable[[Claim], None]
"""Told each claim as soon as it is checked."""


@dataclass(frozen=True, kw_only=True)
class Readers:
    """Models that an answer may be made with; without any it is in the documents' own words."""

    scorer: UnitScorer | None = None
    writer: Writer | None = None
    judge: Judge | None = None


def ask(  # noqa: PLR0913 — what is asked, of what, and with whose help
    question: str,
    search: Callable[[str], SearchResults],
    store: Store,
    settings: AskSettings,
    *,
    count: Count,
    readers: Readers = Readers(),
    on_claim: OnClaim = lambda claim: None,
    lap: Lap = no_lap,
) -> Outcome:
    """What the documents say to the question, each claim with the very words it rests on."""
    found = search(question)
    lap("search")
    understood = found.understood or found.question
    rarity = rarity_of(understood, store)
    probability = (
        found.confidence.probability
        if found.confidence
        else found.results[0].hit.probability
        if found.results
        else None
    )
    units = gathered(found.results, understood, rarity, readers.scorer)
    units = [one for one in units if stands_there(one.citation, store)]
    own_words = extracted(units, max(settings.claims, settings.nearest))
    nearest = [one.citation for one in own_words[: settings.nearest]]
    abstain = partial(
        abstention, found, missing=rarity.missing, nearest=nearest, probability=probability
    )
    lap("gather")
    if reason := why_not(found, units, rarity.missing, probability, settings.caution):
        return abstain(reason)

    wanted = [quoted(one.citation) for one in own_words[: settings.claims]]
    notices: list[str] = []
    claims: list[Claim] = []
    if readers.writer is not None:
        evidence = packed(units, settings.budget, count)
        try:
            claims, notices = _written(
                found.question, evidence, readers.writer, readers.judge, store, settings, on_claim
            )
        except Declined:
            return abstain("not_answered")
        lap("write")
        if settings.strict and (notices or any(one.state == "unsupported" for one in claims)):
            return abstain("not_supported")
    has_proof = any(one.state != "unsupported" for one in claims)
    if not has_proof:
        if readers.writer is not None:
            notices.append(
                "Nothing that the language model wrote is proven: the answer is in the documents' "
                "own words."
            )
        for one in wanted:
            on_claim(one)
        claims += wanted
    shown = [one for one in claims if settings.show_unsupported or one.state != "unsupported"]
    asides = replace(
        found.asides,
        notices=(*found.notices, *notices),
        notes=(*found.notes, *differences(found.question, units)),
    )
    lap("decide")
    return Answer(
        question=found.question,
        claims=tuple(shown),
        probability=probability,
        writer=readers.writer.name if readers.writer is not None and has_proof else "",
        asides=asides,
        seconds=found.seconds,
    )


def _written(  # noqa: PLR0913, PLR0917 — as above
    question: str,
    evidence: Sequence[Evidence],
    writer: Writer,
    judge: Judge | None,
    store: Store,
    settings: AskSettings,
    on_claim: OnClaim,
) -> tuple[list[Claim], list[str]]:
    """The claims of a language model, each checked as it comes, and what went wrong."""
    claims: list[Claim] = []
    troubles: dict[str, None] = {}
    try:
        for draft in written(question, evidence, writer):
            cited = [one.citation for one in draft.evidence]
            claim, trouble = verified_or_unjudged(draft.text, cited, store, judge)
            if trouble:
                troubles[f"A claim could not be judged: {trouble}"] = None
            checked = [claim]
            if claim.judge == NO_JUDGE and not settings.strict:
                # Nobody can say whether a reworded claim is right: its words are shown instead.
                checked += map(quoted, claim.citations)
            for one in checked:
                before = len(claims)
                claims = deduplicated([*claims, one])
                if len(claims) > before and (
                    settings.show_unsupported or one.state != "unsupported"
                ):
                    on_claim(one)
    except ModelError as error:
        troubles[f"The language model did not finish: {error}"] = None
    return claims, list(troubles)
