"""A drafted claim and the units it cites → a claim with its state.

`quoted`: the claim is the source's own words. `supported`: a judge that can read says that the
quoted words support it, and every number, date, name, link and negation of the claim stands in
them. `unsupported`: everything else. Words are compared with the store, never trusted; the readable
signals can only veto.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pincite.ports import Judge, Store
from pincite.records import Citation, Claim, DocumentId
from pincite.text.dates import MONTHS
from pincite.text.facts import facts_of, parts_of
from pincite.text.words import fold

VERBATIM = "verbatim"  # the judge of a claim that is the source's own words
NO_JUDGE = "no judge"
VETO = "veto: "
NO_EVIDENCE = "no such evidence"


def standing(cited: Sequence[Citation], store: Store) -> list[Citation]:
    """Those whose words stand at their place, letter for letter. Each document is read once."""
    extents: dict[DocumentId, tuple[int, int]] = {}
    for one in cited:
        start, end = extents.get(one.document_id, (one.start, one.end))
        extents[one.document_id] = min(start, one.start), max(end, one.end)
    texts = {
        document: (start, store.text_of(document, start, end))
        for document, (start, end) in extents.items()
    }
    kept = []
    for one in cited:
        offset, text = texts[one.document_id]
        if text[one.start - offset : one.end - offset] == one.quote:
            kept.append(one)
    return kept


def quoted(citation: Citation) -> Claim:
    """The source's own words as a claim."""
    return Claim(citation.quote, "quoted", VERBATIM, (citation,))


def verified(text: str, cited: Sequence[Citation], store: Store, judge: Judge | None) -> Claim:
    """The claim with its state and who gave it; ModelError where the judge cannot tell."""
    proven = tuple(standing(cited, store))
    if not proven:
        return Claim(text, "unsupported", NO_EVIDENCE, ())
    for one in proven:
        if _is_slice(text, one.quote):
            # A slice may say the opposite of the sentence it was cut from, so all of it is shown.
            return quoted(one)
    quotes, leads = [one.quote for one in proven], [one.lead for one in proven]
    if objection := veto(text, quotes, leads):
        return Claim(text, "unsupported", objection, proven)
    if judge is None:
        return Claim(text, "unsupported", NO_JUDGE, proven)
    supports = judge.supports(text, "\n".join(filter(None, (*leads, *quotes))))
    return Claim(text, "supported" if supports else "unsupported", judge.name, proven)


_NEARLY_VERBATIM = 0.6  # of the claim's words: then the first one and each negation are compared


def veto(claim: str, quotes: Sequence[str], context: Sequence[str] = ()) -> str:
    """What of the claim does not stand in the quotes; empty where nothing is missing.

    Context helps to understand a quote, so a name may stand there; a number may not.
    """
    said, told = facts_of(claim), facts_of("\n".join(quotes))
    around = facts_of("\n".join(context)).words
    missing = sorted(said.numbers - told.numbers) + sorted(said.links - told.links)
    nearest = max(map(facts_of, quotes), key=lambda facts: len(said.words & facts.words))
    is_close = len(said.words & nearest.words) >= _NEARLY_VERBATIM * len(said.words)
    # A first word has a capital whatever it is; in other words than the quote's it may be any.
    names = (*said.names, said.opening) if is_close and said.opening[:1].isupper() else said.names
    missing += [
        name
        for name in names
        if not parts_of(name) <= told.words | around
        and MONTHS.get(fold(name), "") not in told.numbers
    ]
    if missing:
        return f"{VETO}“{missing[0]}” is not in the quoted words"
    is_negated, is_there = bool(said.negations), bool(nearest.negations)
    if is_negated != is_there or (is_close and said.negations != nearest.negations):
        return f"{VETO}one of claim and quote is negated, the other is not"
    return ""


_SPACE = re.compile(r"\s+")
_AROUND = " \t\r\n\"'“”„‟‘’«»*_`.…!?。！？"


def _is_slice(claim: str, quote: str) -> bool:
    """Whether the claim is words of the quote as they stand there, whole words only."""
    wanted, words = (_SPACE.sub(" ", text).strip(_AROUND) for text in (claim, quote))
    if not wanted:
        return False
    at = words.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        begins_inside = at > 0 and (words[at - 1] + wanted[0]).isalnum()
        ends_inside = end < len(words) and (wanted[-1] + words[end]).isalnum()
        if not begins_inside and not ends_inside:
            return True
        at = words.find(wanted, at + 1)
    return False
