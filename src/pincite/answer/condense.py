"""A conversation → one question that stands by itself, as retrieval knows no earlier turns.

Without a model it is done by rules: a question that points back ("who signed it?") gets the
subject of the one before, one that leaves words out ("and in 2023?") takes its place in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pincite.errors import ModelError
from pincite.ports import Writer
from pincite.text.finding import key_of
from pincite.text.printable import one_line
from pincite.text.words import STOP_WORDS, WORD, fold, is_unspaced

_LONGEST = 1_000  # characters of a question that are carried on
_MOST_TURNS = 20
_POINTS_BACK = re.compile(
    r"\b(it|its|itself|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those|"
    r"there|then|the same|the former|the latter|the (?:first|second|third|last|other) one|"
    r"such an? one|one of them)\b|[它他她这那其]|[こそあ][れの]",
    re.IGNORECASE,
)
_PREPOSITIONS = "in|on|at|for|from|by|with|without|during|before|after|since|until|under|to|of"
_ASKED = """
what who whom whose which when where why how does do did is are was were can could should would
will may must tell show give explain please me us about many much long often come else
"""
_ASKING = frozenset(_ASKED.split())
_AUXILIARY = "is|are|was|were|has|have|had|do|does|did|can|could|may|must|will|would|should"
_NO_NOUN = "|".join([*sorted(STOP_WORDS | _ASKING), _PREPOSITIONS])
# "that", "there" and "it" that point nowhere: the words around them say so.
_NO_POINTER = re.compile(
    r"\b(?:is|are|was|were|will be|has|have) there\b|\bthere (?:is|are|was|were|will)\b"
    r"|\b(?:say|says|said|state|states|know|means?|show|shows|so|something|anything|one|ones|all"
    r"|documents?|files?|people|rules?) that\b|\bthis (?:year|month|week|library)\b"
    r"|\b(?:it is|is it) (?:true|possible|allowed) (?:that|to)\b"
    # "boats that are longer", "the rope that holds"
    rf"|\b(?!(?:{_NO_NOUN})\b)[\w-]+ that (?:{_AUXILIARY})\b"
    r"|\b(?:the|an?|every|each|any) [\w-]+ that \w"
    # "how long does it take to repair a buoy", but not "… to double": there it is who does so.
    r"|\bit (?:takes?|costs?) (?:[\w'’]+ ){0,4}?to \w+ (?:an?\b|the\b|every\b|(?-i:[A-Z\d]))",
    re.IGNORECASE,
)
_LEADS_ON = re.compile(
    r"^(?:(?:and|but|or|so|also|ok(?:ay)?)\b[\s,]*)*(?:(?:what about|how about|same for)\b[\s,]*)?",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"(?:thanks?(?: you)?|thx|ok(?:ay)?|great|perfect|nice|cool|hello|hi|hey|yes|no|good|super|wow"
    r"|very|a lot|so much|there|[\s,.!])+",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(rf"^(?:{_PREPOSITIONS})\b", re.IGNORECASE)
_HAS_AUXILIARY = re.compile(rf"\b(?:{_AUXILIARY})\b", re.IGNORECASE)
_LONGEST_UNSPACED = 4  # characters of a fragment in a script without spaces
# "who is Petra?", but not "what was decided?": nothing in it says what that is about.
_ASKS_OF_ONE = re.compile(
    r"(?:who|what|where|when|how) (?:is|are|was|were) .*(?<!\w[^e]ed)", re.IGNORECASE
)
_NAME = re.compile(r"(?<=\s)[A-Z][\w-]*(?: [A-Z][\w-]*)*")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_THING = re.compile(r"\b(?:the|an?|our|my|your) [\w-]+", re.IGNORECASE)
_W = rf"(?!(?:{_PREPOSITIONS}|it|they|he|she|there|this|that)\b)[\w'’-]+"
# What it asks of: what stands between "does" and the verb, or behind "is".
_SUBJECT = re.compile(
    rf"(?<=\bwhat )(?:do|does|did) (?P<does>(?:{_W} ){{0,4}}{_W})"
    rf"(?= {_W}(?:$| (?:{_PREPOSITIONS})\b))"
    rf"|\b(?:is|are|was|were) (?P<is>(?:{_W} ){{0,4}}?(?!(?:the|an?|our|my|your)\b){_W})"
    rf"(?=$| (?:{_PREPOSITIONS})\b| \w+ed\b)",
    re.IGNORECASE,
)
_INSTRUCTION = (
    "Rewrite the last question of the conversation so that it can be understood without the rest. "
    "Put in the names that it refers to, change nothing else, and write the question only. If it "
    "stands by itself, repeat it as it is."
)


def condense(turns: Sequence[str], writer: Writer | None = None) -> str:
    """The last question, with what it takes from the questions before it.

    `turns` are what the person said, the last at the end. A writer that fails is done without.
    """
    asked = [one_line(turn) for turn in turns[-_MOST_TURNS:] if turn.strip()]
    asked = [one for one in asked[:-1] if not _COURTESY.fullmatch(one)] + asked[-1:]
    if not asked:
        return ""
    if _COURTESY.fullmatch(asked[-1]):
        return asked[-1]
    asked[:-1] = [turn[:_LONGEST] for turn in asked[:-1]]
    if writer is not None and len(asked) > 1:
        conversation = "\n".join(f"- {one}" for one in asked)
        try:
            told = one_line(writer.generate(_INSTRUCTION, conversation, most_tokens=200))
        except ModelError:
            told = ""
        if len(told) <= _LONGEST and _is_of(asked, told):
            return told
    whole = asked[0]
    for question in asked[1:]:
        whole = _following(whole, question)
    return whole


def _is_of(asked: Sequence[str], told: str) -> bool:
    """Whether a model's question is the last one, with words of the conversation and no others: a
    small model likes to answer, or to make up a year.
    """
    said, known = (_telling(one) for one in (told, " ".join(asked)))
    return bool(said) and _telling(_LEADS_ON.sub("", asked[-1])) <= said <= known


def _telling(text: str) -> set[str]:
    words = (word for word in WORD.findall(text) if fold(word) not in STOP_WORDS | _ASKING)
    return {key_of(word) for word in words if not _POINTS_BACK.fullmatch(word)}


def _following(before: str, question: str) -> str:
    """The question, complete by itself, after one that was."""
    plain = _LEADS_ON.sub("", question).strip()
    words = [word for word in map(fold, WORD.findall(plain)) if word not in STOP_WORDS | _ASKING]
    # Left out is a verb or a subject: nothing but a name, a time or a place is there.
    is_fragment = 0 < len(WORD.findall(plain)) <= 6 and (
        plain != question or _PREPOSITION.match(plain) is not None
    )
    if is_fragment and not _has_verb(plain):
        return _replaced(before, plain.rstrip("?!. "))
    pointer = _POINTS_BACK.search(_NO_POINTER.sub(" ", plain))
    if not words and pointer is None:  # "why?", "and?"
        return f"{question.rstrip('?!. ')}: {before}"
    # With one telling word, it is whole if it is long or asks who or what that is.
    is_whole = len(words) > 1 or (
        len(words) == 1
        and (
            len(WORD.findall(plain)) > 3
            or _ASKS_OF_ONE.fullmatch(plain.rstrip("?!. "))
            or (is_unspaced(words[0]) and len(words[0]) > _LONGEST_UNSPACED)
        )
    )
    if pointer is None and is_whole:
        return question
    subject = _subject(before, {*words})
    return f"{question.rstrip('?!. ')} ({subject})?" if subject else question


def _has_verb(text: str) -> bool:
    """Whether it asks something of its own: "who pays", "at what time is …", not "on which day"."""
    asked = _PREPOSITION.sub("", text)
    first = fold(next(iter(WORD.findall(asked)), ""))
    is_asked = first in _ASKING and first not in ("may", "me", "us", "about")
    return is_asked and (asked == text or _HAS_AUXILIARY.search(asked) is not None)


def _replaced(before: str, fragment: str) -> str:
    """The question before, with the fragment in the place of what it stands for.

    That is what has the same preposition; else the one year or name, or what it asks of.
    """
    before = before.rstrip("?!. ")
    places: list[tuple[int, int]] = []
    if preposition := _PREPOSITION.match(fragment):
        phrase = rf"\b{preposition[0]}\b(?: {_W}){{1,4}}(?=$|,| (?:{_PREPOSITIONS})\b)"
        places = [one.span() for one in re.finditer(phrase, before, re.IGNORECASE)]
        if len(fragment.split()) == 1 or _ASKING & set(map(fold, fragment.split()[1:])):
            places = []
    else:
        for slot in (_YEAR, _NAME, _SUBJECT, _THING):
            if slot is _SUBJECT or slot.fullmatch(f" {fragment}", 1):
                places = [one.span(one.lastgroup or 0) for one in slot.finditer(before)]
                if len(places) == 1:
                    break
    if len(places) != 1:
        return f"{before}, {fragment}?"
    ((start, end),) = places
    taken = before[start:end].split()
    if (  # a verb behind it stays: "in Hamburg repaired"
        preposition
        and len(taken) == len(fragment.split()) + 1
        and taken[-1].islower()
        and fold(taken[-2]) not in {"a", "an", "the", "our", "my", "your"}
    ):
        end -= len(taken[-1]) + 1
    return f"{before[:start]}{fragment}{before[end:]}?"


def _subject(before: str, known: set[str]) -> str:
    """What the question before was about: its words that say something, in their order."""
    kept = [
        word
        for word in WORD.findall(before)
        if fold(word) not in STOP_WORDS | _ASKING | known and len(word) > 1
    ]
    return " ".join(dict.fromkeys(kept))[:_LONGEST]
