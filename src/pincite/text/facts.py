"""What of a sentence can be compared without understanding it: numbers, dates, names, negations."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from pincite.text.finding import key_of
from pincite.text.words import INVISIBLE, STOP_WORDS, WORD, fold


@dataclass(frozen=True, slots=True)
class Facts:
    """What of a sentence can be compared without understanding it."""

    words: frozenset[str]  # as they are compared, less those that say nothing
    numbers: frozenset[str]
    names: tuple[str, ...]
    opening: str  # the first word, which may be a name
    links: frozenset[str]
    negations: int


# Begun where no other could have begun, so that one long word is looked at once.
_LINK = re.compile(
    r"\b(?:https?|ftp)://[^\s<>\"'”)\]]+"
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}\.[\w.]{1,64}"
    r"|(?<![\w./@-])(?:[\w-]{1,63}\.){1,4}[a-z]{2,12}(?:/[^\s<>\"'”)\]]*|(?![\w.-]))"
)
_NUMBER = re.compile(r"(?:(?<![\w.,])[-−])?\d+(?:[.,]\d+)*")
_RAISED = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉½¼¾⅓⅔⅛")
_LETTERS = re.compile(r"(?<!\w)(?=[^\W\d_])\w[\w’'-]*")
_MARKS = " \t\r\n\"'“”„‘’«»([*_`"  # that may stand before the first word of a sentence
# From zero up, in English, German, Spanish and French. "One" is more often a pronoun.
_COUNTED = """
zero,cero,zéro - two,zwei,dos,deux,twice three,third,drei,tres,trois
four,fourth,vier,cuatro,quatre five,fifth,fünf,cinco,cinq six,sixth,sechs,seis
seven,seventh,sieben,siete eight,eighth,acht,ocho,huit
nine,ninth,neun,nueve,neuf ten,tenth,zehn,diez,dix eleven,eleventh,elf,onze
twelve,twelfth,dozen,zwölf,doce,douze thirteen fourteen fifteen sixteen seventeen eighteen nineteen
twenty,twentieth,zwanzig,veinte,vingt
"""
_ROUND = """
0.5,half 30,thirty 40,forty 50,fifty 60,sixty 70,seventy 80,eighty 90,ninety
100,hundred,hundert,cien 1000,thousand,tausend,mille 1000000,million 1000000000,billion
"""
NUMBER_WORDS = {
    **{
        word: str(number)
        for number, words in enumerate(_COUNTED.split())
        for word in words.split(",")
    },
    **{
        word: number
        for number, *words in (one.split(",") for one in _ROUND.split())
        for word in words
    },
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
_NO_NAMES = STOP_WORDS | _NEGATIONS | NUMBER_WORDS.keys() | set(_OPENERS.split())
_UNSPACED_NEGATION = re.compile("不|没|沒|無|无|未|非|ない|ません|なかった|않|없|아니|ไม่")
_CONTRACTED = re.compile(r"\b\w+n[’']t\b")
_NO_NEGATION = re.compile(r"\bno\.?\s*\d|\bnon-")  # "no. 5", "non-surgical"


def facts_of(text: str) -> Facts:
    """The words, numbers, names, links and negations of a text."""
    links = frozenset(link.group().rstrip(".,;:").casefold() for link in _LINK.finditer(text))
    # The same characters for all, so that no name is cut elsewhere than its words are; but 10² is
    # not 102.
    apart = "".join(f" {char}" if char in _RAISED else char for char in text)
    bare = unicodedata.normalize("NFKC", _LINK.sub(" ", apart).translate(INVISIBLE))
    folded = fold(bare)
    words = WORD.findall(folded)
    numbers = set(map(_plain, _NUMBER.findall(folded)))
    numbers |= {NUMBER_WORDS[word] for word in words if word in NUMBER_WORDS}
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


def parts_of(name: str) -> set[str]:
    """The words of a name such as Pepsi-Cola's, as they are compared."""
    parts = (part for part in WORD.findall(name) if part[0].isupper())
    return {key_of(part) for part in parts if fold(part) not in _NO_NAMES}


def _plain(number: str) -> str:
    """1,500 is 1500, and the 06 of a date is 6; 0.50 stays as precise as it was written."""
    number = re.sub(r",(?=\d{3}(?!\d))", "", number).replace("−", "-")
    return number.lstrip("0") or "0" if number.isdigit() else number
