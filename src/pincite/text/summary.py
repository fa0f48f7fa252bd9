"""A few sentences of a document that tell what it is about, taken from it word for word."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pincite.text.markup import without_markup
from pincite.text.sentences import sentence_spans
from pincite.text.words import STOP_WORDS, WORD, indexed_words, is_unspaced

LONGEST = 300
"""Characters of a summary, at most."""

_BETWEEN = " · "  # at most
_MOST_SENTENCES = 3
_FURTHEST = 200_000  # characters looked at: what a document is about shows at its beginning
_FEWEST_WORDS = 4
_FEWEST_LETTERS = 20
_FEWEST_UNSPACED = 8  # letters of scripts without spaces, which say as much with fewer
_LEAST_SHARE = 0.7  # letters and blanks of a sentence; else it is a formula or a table

_TITLE_BONUS = 1.0  # of a sentence with all words of the title
_SMOOTHING = 4  # words; without it a sentence of one frequent word would be the best
_HALF_WAY = 6  # sentences from the beginning at which one counts half as much
_HALF_WAY_SPOKEN = 20  # speakers take their time
_DANGLING_SHARE = 0.35
_OPEN_SHARE = 0.4  # of what lacks its full stop or is all capitals: a label rather
_ABOUT_BONUS = 1.5
_LEAST_WORTH = 0.3  # of the best sentence's; better a short summary than one with fillers

_LETTER = re.compile(r"[^\W\d_]")
_ENDS = re.compile(r"[.!?…。！？｡][\"'”’»)\]」』）]*$")
_MARKUP = re.compile(r"\s*(?:\.\. |#\+|\||:[\w -]{1,40}:|\{\{|\{%|[@$]|https?://|!\[|\[\^)")
# Legal matter, lists of names, and what asks the reader to do something with the page.
_BOILERPLATE = re.compile(
    r".*(?:©|\(c\) \d{4}|copyright|all rights reserved|licensed under"
    r"|alle rechte vorbehalten"  # codespell:ignore alle
    r"|tous droits réservés|todos los derechos|project gutenberg|this ebook|disclaimer"
    r"|cookies?\b|javascript|table of contents|click here|indicate by check mark"
    r"|generated (?:using|by)|last (?:updated|modified|reviewed))"
    r"|(?:present|apologies|attendees|participants|anwesend|entschuldigt|date|datum|from|to|cc"
    r"|subject|author|phone|tel|e-?mail)\s?:",
    re.IGNORECASE,
)
# Lines in capitals above a plain text.
_HEADLINES = re.compile(r"\A(?:(?=[^\n]{0,60}?[A-Z]{4})[ -`{-~]+\r?\n)+")
# Says what the document itself does: "This page shows how to".
_ABOUT = re.compile(
    r"(?:this|dieser?s?|cet|cette|este|esta|questo|questa)\s\w+\s(?:will\s)?"
    r"(?:aims?|describes?|explains?|shows?|covers?|provides?|contains?|lists?|discuss(?:es)?"
    r"|presents?|introduces?|documents?|gives?|outlines?|summari[sz]es?|prints?|walks?|defines?"
    r"|beschreibt|erklärt|zeigt|enthält|décrit|explique|présente|describe|explica|muestra|descrive"
    r"|is (?:about|an?|the))\b"
    r"|in this (?:paper|article|report|talk|post|guide|tutorial)\b"
    r"|we (?:present|propose|introduce)\b"
    r"|本(?:文|书|页|指南|ページ|書|章)|この(?:ページ|文書|記事|章|ガイド)",
    re.IGNORECASE,
)
# What such a sentence speaks of was said before it.
_DANGLING = re.compile(
    r"(?:this|that|these|those|it|its|they|their|he|his|she|her|however|therefore|thus|also|but"
    r"|and|so|then|instead|otherwise|moreover|for example|for instance"
    r"|in this case|as a result|see|note"
    r"|dies|diese|dieser|dieses|er|sie|es|aber|jedoch|dann"  # codespell:ignore sie
    r"|cela|ils|elles|mais|esto|pero)\b",
    re.IGNORECASE,
)
_MORE_STOP_WORDS = (
    "also may more most other only just like use used using each one two new see make need get via "
    "per able both here out over own same than up while within without "
    "der die das den dem des ein eine einen einem einer und nicht sind war wird werden von mit zu "
    "zum zur auf für im in an auch bei nach aus um es sich dass wie man nur noch wir er "
    "oder ist als sie "  # codespell:ignore oder,ist,als,sie
    "le la les un une des du de et ou est sont dans pour par sur avec que qui ne pas ce cette il "
    "elle on el los las una unos y o es son en con por para que se su como del al lo più che di "
    "da per non sono il lo gli nel della dei uno um uma os as e do da dos das em no na não com se "
    "het een van en is dat op voor met zijn niet aan "
    "te "  # codespell:ignore te
    "и в не на что с по как это он она они из за для от к"
)
_STOP_WORDS = STOP_WORDS | frozenset(_MORE_STOP_WORDS.split())


@dataclass(frozen=True, slots=True)
class _Sentence:
    place: int
    text: str
    words: frozenset[str]


def summary(passages: Iterable[str], *, title: str = "", spoken: bool = False) -> str:
    """At most three whole sentences of the passages, in their order; empty where there are none.

    After SumBasic (Nenkova and Vanderwende 2005): sentences with the frequent words of the
    document, and after each choice those with others. Words of the title count more, and so does
    the beginning.
    """
    sentences = list(_sentences(passages))
    counts = Counter(word for one in sentences for word in one.words)
    total = sum(counts.values())
    weights = {word: count / total for word, count in counts.items()}
    half_way = _HALF_WAY_SPOKEN if spoken else _HALF_WAY
    scale = _Scale(weights, frozenset(_content_words(title)), half_way)
    return _joined(one.text for one in _chosen(sentences, scale))


def first_sentences(passages: Iterable[str]) -> str:
    """As many whole sentences from the beginning as a summary may have."""
    chosen: list[str] = []
    for sentence in _sentences(passages):
        if len(_joined([*chosen, sentence.text])) > LONGEST:
            break
        chosen.append(sentence.text)
    return _joined(chosen)


def beginning(text: str) -> str:
    """The first words of a text, as many as a summary may have; with a mark where more follow."""
    line = " ".join(text[: 10 * LONGEST].split())
    if len(line) <= LONGEST:
        return line
    cut = line.rfind(" ", LONGEST // 2, LONGEST - 1)
    return f"{line[: cut if cut > 0 else LONGEST - 1].rstrip()}…"


def _joined(sentences: Iterable[str]) -> str:
    """One after the other; a dot stands behind those that lack their full stop."""
    text = ""
    for sentence in sentences:
        if text and not _ENDS.search(text):
            text += _BETWEEN
        elif text and not text.endswith(("。", "！", "？", "」", "』")):
            text += " "
        text += sentence
    return text


class _Scale:
    """Tells how much a sentence is worth for a summary, given what was chosen before."""

    def __init__(
        self, weights: dict[str, float], title_words: frozenset[str], half_way: int
    ) -> None:
        self._weights = weights
        self._title_words = title_words
        self._half_way = half_way

    def worth(self, sentence: _Sentence) -> float:
        """From 0; the frequent words of the document decide, and then form and place."""
        weight = sum(self._weights[word] for word in sentence.words)
        worth = weight / (len(sentence.words) + _SMOOTHING)
        if self._title_words:
            shared = len(self._title_words & sentence.words) / len(self._title_words)
            worth *= 1 + _TITLE_BONUS * shared
        if _ABOUT.match(sentence.text):
            worth *= _ABOUT_BONUS
        elif sentence.place and _DANGLING.match(sentence.text):
            worth *= _DANGLING_SHARE
        if not _ENDS.search(sentence.text) or _is_shouted(sentence.text):
            worth *= _OPEN_SHARE
        return worth / (1 + sentence.place / self._half_way)

    def said(self, sentence: _Sentence) -> None:
        """From now on the words of this sentence count for little."""
        for word in sentence.words:
            self._weights[word] **= 2


def _chosen(sentences: Sequence[_Sentence], scale: _Scale) -> list[_Sentence]:
    """The best sentence, and then what says something else and is not much worse."""
    fitting = [one for one in sentences if len(one.text) <= LONGEST]
    least = _LEAST_WORTH * max(map(scale.worth, fitting), default=0.0)
    left = [one for one in fitting if scale.worth(one) >= least]
    chosen: list[_Sentence] = []
    room = LONGEST
    while left and len(chosen) < _MOST_SENTENCES:
        best = max(left, key=lambda one: (scale.worth(one), -one.place))
        chosen.append(best)
        scale.said(best)
        room -= len(best.text) + len(_BETWEEN)
        left = [one for one in left if one.text != best.text and len(one.text) <= room]
    return sorted(chosen, key=lambda one: one.place)


def _is_shouted(text: str) -> bool:
    capitals = sum(char.isupper() for char in text)
    return 2 * capitals > len(text)


def _sentences(passages: Iterable[str]) -> Iterator[_Sentence]:
    """The sentences that say something, numbered from 0, without markup and line breaks."""
    read = place = 0
    for passage in passages:
        if _MARKUP.match(passage):
            continue
        text = without_markup(_HEADLINES.sub("", passage[: _FURTHEST - read]))
        read += len(passage)
        for start, end in sentence_spans(text, 0, len(text)):
            sentence = " ".join(text[start:end].split())
            words = frozenset(_content_words(sentence))
            letters = len(_LETTER.findall(sentence))
            if any(map(is_unspaced, words)):
                enough = letters >= _FEWEST_UNSPACED
            else:
                enough = letters >= _FEWEST_LETTERS and len(sentence.split()) >= _FEWEST_WORDS
            mostly = letters + sentence.count(" ") >= _LEAST_SHARE * len(sentence)
            announces = sentence.endswith((":", "："))
            furniture = announces or _MARKUP.match(sentence) or _BOILERPLATE.match(sentence)
            if len(words) >= 2 and enough and mostly and not furniture:
                yield _Sentence(place, sentence, words)
                place += 1
        if read >= _FURTHEST:
            break


def _content_words(text: str) -> Iterator[str]:
    for word in WORD.findall(indexed_words(text)):
        if len(word) > 1 and not word.isdigit() and word not in _STOP_WORDS:
            yield word
