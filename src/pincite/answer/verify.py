"""A drafted claim and the units it cites → a claim with its state.

`quoted`: the claim is the source's own words. `supported`: a judge that can read says that the
quoted words support it, and every number, date, name, link and negation of the claim stands in
them. `unsupported`: everything else. Words are compared with the store, never trusted; the readable
signals can only veto.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from pincite.ports import Judge, Store
from pincite.records import Citation, Claim, DocumentId
from pincite.text.finding import key_of
from pincite.text.words import INVISIBLE, STOP_WORDS, WORD, fold

VERBATIM = "verbatim"  # the judge of a claim that is the source's own words
NO_JUDGE = "no judge"
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
        if not _parts(name) <= told.words | around
        and _MONTHS.get(fold(name), "") not in told.numbers
    ]
    if missing:
        return f"veto: “{missing[0]}” is not in the quoted words"
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
    opening: str  # the first word, which may be a name
    links: frozenset[str]
    negations: int


_NEARLY_VERBATIM = 0.6  # of the claim's words: then the first one and each negation are compared
# Begun where no other could have begun, so that one long word is looked at once.
_LINK = re.compile(
    r"\b(?:https?|ftp)://[^\s<>\"'”)\]]+"
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}\.[\w.]{1,64}"
    r"|(?<![\w./@-])(?:[\w-]{1,63}\.){1,4}[a-z]{2,12}(?:/[^\s<>\"'”)\]]*|(?![\w.-]))"
)
_NUMBER = re.compile(r"(?<![\w.,])[-−](?=\d)|\d+(?:[.,]\d+)*")
_LETTERS = re.compile(r"(?<!\w)(?=[^\W\d_])\w[\w’'-]*")
_MARKS = " \t\r\n\"'“”„‘’«»([*_`"  # that may stand before the first word of a sentence
_MONTH_NAMES = """
january,jan february,feb march,mar april,apr may june,jun july,jul august,aug september,sep,sept
october,oct november,nov december,dec
"""
_MONTHS = {
    name: str(number)
    for number, names in enumerate(_MONTH_NAMES.split(), start=1)
    for name in names.split(",")
}
# From zero up, in English, German, Spanish and French. "One" is more often a pronoun.
_COUNTED = """
zero,cero,zéro - two,zwei,dos,deux,twice three,third,drei,tres,trois
four,fourth,vier,cuatro,quatre five,fifth,fünf,cinco,cinq six,sixth,sechs,seis
seven,seventh,sieben,siete eight,eighth,acht,ocho,huit
nine,ninth,neun,nueve,neuf ten,tenth,zehn,diez,dix eleven,eleventh,elf,onze
twelve,twelfth,dozen,zwölf,doce,douze thirteen fourteen fifteen sixteen seventeen eighteen nineteen
twenty,twentieth,zwanzig,veinte,vingt
"""
_ROUND = {
    **{"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80},
    **{
        "ninety": 90,
        "hundred": 100,
        "thousand": 1_000,
        "million": 10**6,
        "billion": 10**9,
        "half": 0.5,
    },
    **{"hundert": 100, "tausend": 1_000, "cien": 100, "mille": 1_000},
}
_NUMBER_WORDS = {
    **{
        word: str(number)
        for number, words in enumerate(_COUNTED.split())
        for word in words.split(",")
    },
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
# Words that begin a sentence with a capital letter, and are no names.
_OPENERS = """
according after although before both each every following here however it its no not only several
since some such then therefore these those though thus under until upon when where while yes
"""
_NO_NAMES = STOP_WORDS | _NEGATIONS | _NUMBER_WORDS.keys() | set(_OPENERS.split())
_UNSPACED_NEGATION = re.compile("不|没|沒|無|无|未|非|ない|ません|なかった|않|없|아니|ไม่")
_CONTRACTED = re.compile(r"\b\w+n[’']t\b")
_NO_NEGATION = re.compile(r"\bno\.?\s*\d|\bnon-")  # "no. 5", "non-surgical"


def facts_of(text: str) -> Facts:
    """The words, numbers, names, links and negations of a text."""
    links = frozenset(link.group().rstrip(".,;:").casefold() for link in _LINK.finditer(text))
    # The same characters for all, so that no name is cut elsewhere than its words are.
    bare = unicodedata.normalize("NFKC", _LINK.sub(" ", text).translate(INVISIBLE))
    folded = fold(bare)
    words = WORD.findall(folded)
    numbers = set(map(_plain, _NUMBER.findall(folded)))  # a minus sign is one of its own
    numbers |= {_NUMBER_WORDS[word] for word in words if word in _NUMBER_WORDS}
    negations = sum(word in _NEGATIONS for word in WORD.findall(_NO_NEGATION.sub(" ", folded)))
    negations += len(_CONTRACTED.findall(folded)) + len(_UNSPACED_NEGATION.findall(folded))
    names = dict.fromkeys(_names(bare))
    return Facts(
        words=frozenset(key_of(word) for word in words if word not in STOP_WORDS),
        numbers=frozenset(numbers),
        names=tuple(name for name in names if fold(name) not in _NO_NAMES),
        opening=next((word.group() for word in _LETTERS.finditer(bare)), ""),
        links=links,
        negations=negations,
    )


def _names(text: str) -> Iterator[str]:
    """Words with a capital; the first of a sentence only where another one follows it."""
    words = list(_LETTERS.finditer(text))
    for word, after in zip_longest(words, words[1:]):
        if word.group()[0].isupper():
            before = text[max(word.start() - 8, 0) : word.start()].rstrip(_MARKS)
            is_first = not before or before[-1] in ".!?:"
            is_followed = (
                after is not None
                and after.group()[0].isupper()
                and text[word.end() : after.start()].isspace()
            )
            if not is_first or is_followed:
                yield word.group()


def _parts(name: str) -> set[str]:
    """The words of a name such as Pepsi-Cola's, as they are compared."""
    parts = (part for part in WORD.findall(name) if part[0].isupper())
    return {key_of(part) for part in parts if fold(part) not in _NO_NAMES}


def _plain(number: str) -> str:
    """1,500 is 1500, and the 06 of a date is 6; 0.50 stays as precise as it was written."""
    number = re.sub(r",(?=\d{3}(?!\d))", "", number).replace("−", "-")
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
