"""A drafted claim and the units it cites → a claim with its state.

`quoted`: the claim is the source's own words. `supported`: a judge that can read says that the
quoted words support it, and every number, date, name, link and negation of the claim stands in
them. `unsupported`: everything else. Words are compared with the store, never trusted; the readable
signals can only veto.
"""

from __future__ import annotations

import re
from collections import Counter
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
    if objection := veto(text, proven):
        return Claim(text, "unsupported", objection, proven)
    if judge is None:
        return Claim(text, "unsupported", NO_JUDGE, proven)
    supports = judge.supports(text, "\n".join(_in_context(one) for one in proven))
    return Claim(text, "supported" if supports else "unsupported", judge.name, proven)


def verified_or_unjudged(
    text: str, cited: Sequence[Citation], store: Store, judge: Judge | None
) -> tuple[Claim, str]:
    """As `verified`; where the judge fails, the claim as without one, and what went wrong."""
    try:
        return verified(text, cited, store, judge), ""
    except ModelError as error:
        return verified(text, cited, store, None), str(error)


def veto(claim: str, cited: Sequence[Citation]) -> str:
    """What of the claim does not stand in the words it cites; empty where nothing is missing."""
    said = facts_of(claim)
    told = facts_of("\n".join(_in_context(one) for one in cited))
    # Context helps to understand a quote; a number must stand in the quoted words themselves.
    numbers = facts_of("\n".join(one.quote for one in cited)).numbers
    for missing in sorted(said.numbers - numbers):
        return f"veto: {missing} is not in the quoted words"
    for missing in sorted(said.links - told.links):
        return f"veto: {missing} is not in the quoted words"
    for name in said.names:
        if key_of(name) not in told.words and _MONTHS.get(fold(name), "") not in numbers:
            return f"veto: “{name}” is not in the quoted words"
    nearest = max(cited, key=lambda one: _shared(said.words, facts_of(one.quote).words))
    there = facts_of(nearest.quote)
    is_close = _shared(said.words, there.words) >= _NEARLY_VERBATIM * len(said.words)
    if bool(said.negations) != bool(there.negations) or (
        is_close and said.negations != there.negations
    ):
        return "veto: one of claim and quote is negated, the other is not"
    return ""


@dataclass(frozen=True, slots=True)
class Facts:
    """What of a sentence can be compared without understanding it."""

    words: Counter[str]
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
_NUMBER_SIGN = re.compile(r"\bno\.?\s*\d")  # "no. 5"


def facts_of(text: str) -> Facts:
    """The words, numbers, names, links and negations of a text."""
    links = frozenset(link.rstrip(".,;:") for link in _LINK.findall(text))
    bare = _LINK.sub(" ", text)
    folded = fold(bare)
    words = WORD.findall(folded)
    numbers = {_plain(number) for number in _NUMBER.findall(folded)}
    numbers |= {_NUMBER_WORDS[word] for word in words if word in _NUMBER_WORDS}
    without_number_signs = _NUMBER_SIGN.sub(" ", folded)
    negations = sum(word in _NEGATIONS for word in WORD.findall(without_number_signs))
    negations += len(_CONTRACTED.findall(folded)) + len(_UNSPACED_NEGATION.findall(folded))
    names = dict.fromkeys(match.group() for match in _NAME.finditer(bare))
    return Facts(
        words=Counter(key_of(word) for word in words if word not in STOP_WORDS),
        numbers=frozenset(numbers),
        names=tuple(name for name in names if fold(name) not in STOP_WORDS),
        links=links,
        negations=negations,
    )


def _plain(number: str) -> str:
    """1,500 is 1500, and the 06 of a date is 6; 0.50 stays as precise as it was written."""
    number = number.replace(",", "")
    return number.lstrip("0") or "0" if number.isdigit() else number


def _shared(one: Counter[str], other: Counter[str]) -> int:
    return sum(1 for word in one if word in other)


def _in_context(citation: Citation) -> str:
    return f"{citation.lead}\n{citation.quote}" if citation.lead else citation.quote


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
