"""A question becomes a cited answer or an abstention: retrieve, pack, draft, verify, decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from pincite.answer.abstain import abstention, why_not
from pincite.answer.draft import Declined, Draft, extracted, written
from pincite.answer.evidence import Count, Evidence, differences, gathered, packed
from pincite.answer.verify import NO_JUDGE, VETO, quoted, standing, verified
from pincite.errors import ModelError
from pincite.ports import Judge, Lap, Store, UnitScorer, Writer, no_lap
from pincite.records import Answer, Claim, Outcome, SearchResults
from pincite.retrieve.rarity import Rarity, rarity_of
from pincite.settings import AskSettings
from pincite.text.printable import one_line

OnClaim = Callable[[Claim], None]
"""Told each claim as soon as it is checked."""


def no_claim(claim: Claim) -> None:
    """Nobody is told."""


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
    on_claim: OnClaim = no_claim,
    lap: Lap = no_lap,
) -> Outcome:
    """What the documents say to the question, each claim with the very words it rests on."""
    found, units, rarity = _evidence(question, search, store, readers)
    if found.results and not units:
        # All of it was replaced between the search and the check: as it is now, then.
        found, units, rarity = _evidence(question, search, store, readers)
    own_words = extracted(units, max(settings.claims, settings.nearest))
    nearest = [one.citation for one in own_words[: settings.nearest]]
    abstain = partial(abstention, found, rarity=rarity, nearest=nearest)
    lap("gather")
    if reason := why_not(found, units, rarity, settings.caution):
        return abstain(reason)

    claims = [quoted(one.citation) for one in own_words[: settings.claims]]
    notices: list[str] = []
    writer = readers.writer
    if writer is not None:
        evidence = packed(units, settings.budget, count)
        tell = no_claim if settings.strict else on_claim  # nothing is shown that may be taken back
        drafts = written(
            found.question,
            evidence,
            writer,
            most=settings.claims,
            persona=settings.persona,
            lap=lap,
        )
        try:
            drafted, notices = _checked(drafts, readers.judge, store, settings, tell)
        except Declined:
            return abstain("not_answered")
        lap("write")
        is_unproven = not drafted or any(one.state == "unsupported" for one in drafted)
        if settings.strict and (notices or is_unproven):
            return abstain("not_supported", notices=notices)
        if any(one.state != "unsupported" for one in drafted):
            claims = drafted
        else:
            notices.append("The answer is in the documents' own words: nothing else is proven.")
            claims, writer = [*drafted, *claims], None
    shown = [one for one in claims if settings.show_unsupported or one.state != "unsupported"]
    for one in shown:
        # What a model drafted was told as it came, but for a strict answer.
        if settings.strict or (writer is None and one.state != "unsupported"):
            on_claim(one)
    differing = differences(found.question, units, rarity)
    lap("decide")
    return Answer(
        question=found.question,
        claims=tuple(shown),
        probability=found.confidence.probability if found.confidence else None,
        parts=found.confidence.parts if found.confidence else {},
        writer=writer.name if writer is not None else "",
        differences=tuple(differing),
        asides=replace(found.asides, notices=(*found.notices, *notices)),
        seconds=found.seconds,
    )


def _evidence(
    question: str, search: Callable[[str], SearchResults], store: Store, readers: Readers
) -> tuple[SearchResults, list[Evidence], Rarity]:
    """What is found, as units that stand at their place."""
    found = search(question)
    understood = found.understood or found.question
    rarity = rarity_of(understood, store)
    units = gathered(found.results, understood, rarity, readers.scorer)
    there = set(standing([one.citation for one in units], store))
    return found, [one for one in units if one.citation in there], rarity


def _checked(
    drafts: Iterable[Draft],
    judge: Judge | None,
    store: Store,
    settings: AskSettings,
    on_claim: OnClaim,
) -> tuple[list[Claim], list[str]]:
    """The claims of a language model, each checked as it comes, and what went wrong."""
    claims: list[Claim] = []
    said: set[tuple[str, bool]] = set()
    proven = 0
    troubles: dict[str, None] = {}
    try:
        for draft in drafts:
            cited = [one.citation for one in draft.evidence]
            try:
                claim = verified(draft.text, cited, store, judge)
            except ModelError as error:
                claim = verified(draft.text, cited, store, None)
                troubles[f"A claim could not be judged: {error}"] = None
            checked = [claim]
            is_unjudged = claim.judge == NO_JUDGE or claim.judge.startswith(VETO)
            if is_unjudged and not settings.strict:
                # Nobody can say whether a reworded claim is right: its words are shown instead.
                checked += map(quoted, claim.citations)
            for one in checked:
                is_proven = one.state != "unsupported"
                words = (one_line(one.text).casefold(), is_proven)
                if words in said or proven == settings.claims:
                    continue
                said.add(words)
                claims.append(one)
                proven += is_proven
                if settings.show_unsupported or is_proven:
                    on_claim(one)
            if proven == settings.claims:
                break
    except ModelError as error:
        troubles[f"The language model did not finish: {error}"] = None
    return claims, list(troubles)
