"""A drafted claim and the units it cites → a claim with its state.

`quoted`: the claim is the source's own words. `supported`: a judge that can read says that the
quoted words support it, and every number, date, name, link and negation of the claim stands in
them. `unsupported`: everything else. Words are compared with the store, never trusted; the readable
signals can only veto.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pincite.errors import ModelError
from pincite.ports import Judge, Store
from pincite.records import Citation, Claim
from pincite.text.finding import key_of
from pincite.text.words import STOP_WORDS, WORD, fold

VERBATIM = "verbatim"  # the judge of a claim that is the source's own words
NO_JUDGE = "no judge"
NO_EVIDENCE = "no such evidence"


def stands_there(citation: Citation, store: Store) -> bool:
    """Whether the words stand at their place, letter for letter."""
    return store.text_of(citation.document_id, citation.start, citation.end) == citation.quote


def quoted(citation: Citation) -> Claim:
    """The source's own words as a claim."""
    return Claim(citation.quote, "quoted", VERBATIM, (citation,))


def verified(text: str, cited: Sequence[Citation], store: Store, judge: Judge | None) -> Claim:
    """The claim with its state and who gave it; ModelError where the judge cannot tell."""
    proven = tuple(one for one in cited if stands_there(one, store))
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


def verified_or_unjudged(
    text: str, cited: Sequence[Citation], store: Store, judge: Judge | None
) -> tuple[Claim, str]:
    """As `verified`; where the judge fails, the claim as without one, and what went wrong."""
    try:
        return verified(text, cited, store, judge), ""
    except ModelError as error:
        return verified(text, cited, store, None), str(error)


def veto(claim: str, quotes: Sequence[str], context: Sequence[str] = ()) -> str:
    """What of the claim does not stand in the quotes; empty where nothing is missing.

    Context helps to understand a quote, so a name may stand there; a number may not.
    """
    said, told = facts_of(claim), facts_of("\n".join(quotes))
    around = facts_of("\n".join(context)).words
    missing = sorted(said.numbers - told.numbers) + sorted(said.links - told.links)
    missing += [
        name
        for name in said.names
        if not _parts(name) <= told.words | around
        and _MONTHS.get(fold(name), "") not in told.numbers
    ]
    if missing:
        return f"veto: “{missing[0]}” is not in the quoted words"
    nearest = max(map(facts_of, quotes), key=lambda facts: len(said.words & facts.words))
    is_close = len(said.words & nearest.words) >= _NEARLY_VERBATIM * len(said.words)
    is_negated, is_there = bool(said.negations), bool(nearest.negations)
    if is_negated != is_there or (is_close and said.negations != nearest.negations):
        return "veto: one of claim and quote is negated, the other is not"
    return ""


@dataclass(frozen=True, slots=True)
class Facts:
    """What of a sentence can be compared without understanding it."""

    words: frozenset[str]  # as they are compared, less those that say nothing
    numbers: frozenset[str]
    names: tuple[str, ...]
    links: frozenset[str]
    negations: int


_NEARLY_VERBATIM = 0.7  # of the claim's words: then each negation is compared, not only whether
_LINK = re.compile(r"(?:https?://|www\.)[^\s<>\"'”)\]]+|[\w.+-]+@[\w-]+\.[\w.]+")
_NUMBER = re.compile(r"\d+(?:,\d{3}(?!\d))+(?:\.\d+)?|\d+(?:\.\d+)*")
# A sentence begins with a capital letter whatever its first word is: that one is no name yet.
_NAME = re.compile(r"(?<![\w.!?:;\"“”'’(\[«*_-])(?<!^)(?<![.!?:] )[A-Z][\w’'-]*[\w]")
_MONTH_NAMES = """
january,jan february,feb march,mar april,apr may june,jun july,jul august,aug september,sep,sept
october,oct november,nov december,dec
"""
_MONTHS = {
    name: str(number)
    for number, names in enumerate(_MONTH_NAMES.split(), start=1)
    for name in names.split(",")
}
# "One" is more often a pronoun.
_TWO_TO_TWENTY = """
two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty
"""
_ROUND = {"hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9}
_TENS = "thirty forty fifty sixty seventy eighty ninety"
_NUMBER_WORDS = {
    **{word: str(number) for number, word in enumerate(_TWO_TO_TWENTY.split(), start=2)},
    **{word: str(10 * number) for number, word in enumerate(_TENS.split(), start=3)},
    **{word: str(number) for word, number in _ROUND.items()},
}
# English, German, French, Spanish, Italian, Russian, Arabic
_NEGATION_WORDS = """
not no never none neither nor without cannot nobody nothing nowhere
nicht kein keine keiner keines keinen keinem nie niemals ohne weder nichts
pas jamais aucun aucune sans rien nunca sin ningún ninguna ninguno jamás tampoco nada
non mai senza nessun nessuna не нет ни без никогда لا لم لن ليس ليست غير بدون
"""
_NEGATIONS = frozenset(_NEGATION_WORDS.split())
_UNSPACED_NEGATION = re.compile("不|没|沒|無|无|未|非|ない|ません|なかった|않|없|아니|ไม่")
_CONTRACTED = re.compile(r"\b\w+n[’']t\b")
_NO_NEGATION = re.compile(r"\bno\.?\s*\d|\bnon-")  # "no. 5", "non-surgical"


def facts_of(text: str) -> Facts:
    """The words, numbers, names, links and negations of a text."""
    links = frozenset(link.rstrip(".,;:") for link in _LINK.findall(text))
    # The same characters for all, so that no name is cut elsewhere than its words are.
    bare = unicodedata.normalize("NFKC", _LINK.sub(" ", text))
    folded = fold(bare)
    words = WORD.findall(folded)
    numbers = {_plain(number) for number in _NUMBER.findall(folded)}
    numbers |= {_NUMBER_WORDS[word] for word in words if word in _NUMBER_WORDS}
    negations = sum(word in _NEGATIONS for word in WORD.findall(_NO_NEGATION.sub(" ", folded)))
    negations += len(_CONTRACTED.findall(folded)) + len(_UNSPACED_NEGATION.findall(folded))
    names = dict.fromkeys(match.group() for match in _NAME.finditer(bare))
    return Facts(
        words=frozenset(key_of(word) for word in words if word not in STOP_WORDS),
        numbers=frozenset(numbers),
        names=tuple(name for name in names if fold(name) not in STOP_WORDS),
        links=links,
        negations=negations,
    )


def _parts(name: str) -> set[str]:
    """The words of a name such as Pepsi-Cola's, as they are compared."""
    parts = (part for part in WORD.findall(name) if part[0].isupper())
    return {key_of(part) for part in parts if fold(part) not in STOP_WORDS}


def _plain(number: str) -> str:
    """1,500 is 1500, and the 06 of a date is 6; 0.50 stays as precise as it was written."""
    number = number.replace(",", "")
    return number.lstrip("0") or "0" if number.isdigit() else number


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


def deduplicated(claims: Iterable[Claim]) -> list[Claim]:
    """Each claim once, by its words."""
    kept: dict[str, Claim] = {}
    for claim in claims:
        kept.setdefault(_SPACE.sub(" ", claim.text).strip(_AROUND).casefold(), claim)
    return list(kept.values())
