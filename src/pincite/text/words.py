"""What counts as a word when documents are indexed and questions are asked.

Both sides go through the same folding, so that a question meets the text it should:

- case, compatibility forms and ligatures are folded (`ﬁ` = `fi`, `Ｂ` = `b`, `ß` = `ss`);
- scripts written without spaces are cut into overlapping pairs of characters;
- codes such as `ERR-4042`, `v1.2.3`, `a@b.c` and `C++` are words of their own, beside their parts.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, takewhile

from pincite.text.dates import MONTHS

# Thai, Lao, Myanmar, Khmer, kana, Han, Hangul. The middle dot and double hyphen of Katakana are
# punctuation and stay out.
_UNSPACED = (
    "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u309f\u30a1-\u30fa"
    "\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
    "\U00020000-\U0003ffff"
)
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")

# Accents and vowel signs of Latin, Cyrillic, Hebrew, Arabic and the scripts of India: part of the
# word they stand in, though Python's \w leaves them out.
MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0730-\u074a\u07a6-\u07b0\u0900-\u0963\u0966-\u0dff\u0f18-\u0fbc\u1ab0-\u1aff\u1dc0-\u1dff"
)
WORD = re.compile(rf"[{_UNSPACED}]+|(?:[^\W_{_UNSPACED}]|[{MARKS}])+")

# Word characters joined by single marks, optionally closed by + or #; or a word with a leading
# dot (.NET). Longer than 64 characters it is a link or a blob, not something people type.
# Begun only at the start of a word, so that a blob of any length is cheap; of so many parts at
# most, as each takes memory.
_CODE = re.compile(
    r"(?<!\w)(?:\w+(?:(?:::|[-.@/+:])\w+){1,9999}|(?=\w[^\W_]*_\w)\w+)(?:\+\+|#)?"
    r"|(?<!\w)\w+(?:\+{1,2}|#)(?!\w)|(?<![\w.])\.\w+"
)
_LONGEST_CODE = 64

# FTS5's unicode61 keeps private-use characters inside a token, so a mark moved there makes a
# code one token.
_MARKS_TO_PRIVATE_USE = {ord(mark): 0xE000 + ord(mark) for mark in "-._@/+:#"}
_MARKS_FROM_PRIVATE_USE = {moved: mark for mark, moved in _MARKS_TO_PRIVATE_USE.items()}

LONGEST_QUERY = 12  # words; a longer text mentions and quotes things without asking for them
_LONGEST_QUESTION = 4_096  # characters; the rest of a longer one cannot change the ranking much
_MOST_TERMS = 64
_MOST_REPEATED = 4  # times that one of them counts

# Words that say nothing about the subject. Leaving them out makes the words search three times
# faster on 57,000 documents; in other languages their frequency alone makes them weigh little.
_STOP_WORDS = """
a about all an and any are as at be been but by can could did do does for from had has have how i
if in into is it its me my no not of on or our so some such than that the their them then there
these they this to was we were what when where which who why will with would you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())

# Soft hyphens and characters without width stand inside words without being part of them.
INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))

_PLAIN_WORDS = "".join(char if char.isalnum() else " " for char in map(chr, range(128)))

# Where a name such as parseHTTPReply goes on to its next word.
_NEXT_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_TIE = "\u203f"  # between words that are one term
_SPACE = re.compile(r"\s+")

_NEVER_IN_COMPOUNDS = frozenset("_@+#")
_DOTTED_NAME = re.compile(r"[.:]\w{3}|\w{3}[.:]")  # os.path, std::vector; not e.g. or U.S.

SHORTEST_MISTYPED = 4  # letters; of shorter words nearly every other one is an edit away
_SHORTEST_KEPT = SHORTEST_MISTYPED - 1  # one letter may have been typed too much
_LONGEST_KEPT = 32  # letters; longer ones are blobs, not something people type
_TWO_EDITS_FROM = 8  # letters
_VERBS = ("may", "march", "mar")


@dataclass(frozen=True, slots=True)
class Term:
    """Words that must stand next to each other; with `prefix` the last may go on."""

    tokens: tuple[str, ...]
    prefix: bool = False


def fold(text: str) -> str:
    """The text with case and compatibility forms folded."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text.translate(INVISIBLE)).casefold()


def words_in(text: str) -> list[str]:
    """The words of a text as they are written; those of plain text in small letters.

    Most texts are plain, and cutting them at what is no letter is ten times as fast.
    """
    if text.isascii():
        return text.lower().translate(_PLAIN_WORDS).split()
    return WORD.findall(text)


def indexed_words(text: str) -> str:
    """The text as the words index reads it: folded, unspaced scripts as overlapping pairs."""
    folded = fold(text)
    if folded.isascii():
        return folded
    return _UNSPACED_RUN.sub(lambda run: f" {' '.join(_pairs(run.group()))} ", folded)


def indexed_codes(text: str) -> str:
    """The codes of a text, each as one token."""
    return " ".join(_codes(fold(text)))


def words_in_names(code: str) -> str:
    """The words that names in source code are put together from, so that people find them."""
    names = dict.fromkeys(WORD.findall(code))
    split = (_NEXT_WORD.sub(" ", name) for name in names)
    return " ".join(words for words in split if " " in words)


def question_codes(question: str) -> list[Term]:
    """The codes of a question: what must match to the letter.

    Compounds such as high-fat, client/server and i.e. look like codes and are plain words; asked
    for to the letter they would push better chunks down (docs/decisions/0014).
    """
    folded = fold(question.replace("\0", " ")[:_LONGEST_QUESTION])
    return [Term((code,)) for code in _real_codes(folded)][:_MOST_TERMS]


def exact_terms(question: str) -> list[Term]:
    """What of a question should be met to the letter: its codes; where it has none, its numbers.

    Day and year beside a month's name are left out: any 22 would pass for the day of 22 June.
    """
    if codes := question_codes(question):
        return codes
    written = WORD.findall(question[:_LONGEST_QUESTION])
    words = [fold(word) for word in written]
    dated: set[str] = set()
    for at, word in enumerate(words):
        # In small letters, "may" and "march" are verbs more often than months.
        if word in MONTHS and (word not in _VERBS or written[at][0].isupper()):
            dated.update(
                words[max(at - 1, 0) : at], takewhile(str.isdecimal, words[at + 1 : at + 3])
            )
    terms = dict.fromkeys(question_terms(question))
    numbers = [term for term in terms if all(map(str.isdecimal, term.tokens))]
    return [term for term in numbers if not dated.issuperset(term.tokens)]


def tied(words: str) -> str:
    """The words so that a question asks for them next to each other, and for none alone."""
    return _SPACE.sub(_TIE, words.strip())


@lru_cache(maxsize=16)
def question_terms(question: str) -> Sequence[Term]:
    """What to look for: each term on its own is a match, more of them a better one.

    A term comes as often as it is asked for, within reason: what a long question repeats, it is
    about.
    """
    folded = fold(question.replace("\0", " ")[:_LONGEST_QUESTION])
    terms = [Term((code,)) for code in _real_codes(folded)]
    for run in folded.split():
        terms.extend(_terms_of_run(run))
    telling = Counter(
        one for one in terms if len(one.tokens) != 1 or one.tokens[0] not in STOP_WORDS
    )
    telling = telling or Counter(terms)
    counted = islice(telling.items(), _MOST_TERMS)
    return [term for term, count in counted for _ in range(min(count, _MOST_REPEATED))]


def asks_for_something(question: str) -> bool:
    """Whether it holds more than a letter or digit: one is enough only as C# or 水 are."""
    words = [match[0] for match in islice(WORD.finditer(question), 2)]
    if len("".join(words)) > 1 or any(map(is_unspaced, words)):
        return True
    return bool(words and question_codes(question))


def phrase_term(phrase: str) -> Term:
    """The words of a phrase, next to each other; without any where it holds none."""
    folded = fold(phrase.replace("\0", " ")[:_LONGEST_QUESTION])
    words = WORD.findall(folded)
    tokens = [token for word in words for token in (_pairs(word) if is_unspaced(word) else [word])]
    ends_unspaced = bool(words) and is_unspaced(words[-1])
    if ends_unspaced and len(words[-1]) > 1:
        tokens.pop()  # in the text the last character may go on to another
    return Term(tuple(tokens), prefix=ends_unspaced and len(words[-1]) == 1)


def is_unspaced(word: str) -> bool:
    """Whether a word is of a script written without spaces."""
    return _UNSPACED_RUN.fullmatch(word) is not None


def without_marks(word: str) -> str:
    """The word without accents, as the words index compares it."""
    if word.isascii():
        return word
    decomposed = unicodedata.normalize("NFD", word)
    bare = "".join(char for char in decomposed if not "\u0300" <= char <= "\u036f")
    return unicodedata.normalize("NFC", bare)  # Hangul was taken apart, too


def _terms_of_run(run: str) -> list[Term]:
    """The terms of one stretch without white space."""
    pieces = WORD.findall(run)
    terms: list[Term] = []
    plain = parts = [piece for piece in pieces if not is_unspaced(piece)]
    if _TIE in run and len(plain) == len(pieces) > 1:
        return [Term(tuple(plain))]
    if len(plain) > 1 or _codes(run):
        # The parts of ERR-4042 or C++ alone would only bring noise; those of client/server help.
        parts = [piece for piece in plain if len(piece) > 1 and piece.isalpha()]
    if len(plain) > 1 and (_real_codes(run) or not parts):
        terms.append(Term(tuple(plain)))
    terms.extend(Term((piece,)) for piece in parts)
    for piece in pieces:
        if is_unspaced(piece):
            terms.extend(_terms_of_unspaced(piece))
    return terms


def _terms_of_unspaced(run: str) -> list[Term]:
    if len(run) == 1:
        return [Term((run,), prefix=True)]
    pairs = _pairs(run)[:-1]
    each = [Term((pair,)) for pair in pairs]
    return each if len(pairs) == 1 else [Term(tuple(pairs)), *each]


def _pairs(run: str) -> list[str]:
    """Overlapping pairs, and the last character alone so that it too can be found by prefix."""
    return [run[at : at + 2] for at in range(len(run))]


def _codes(folded: str) -> list[str]:
    return [
        match.group().translate(_MARKS_TO_PRIVATE_USE)
        for match in _CODE.finditer(folded)
        if match.end() - match.start() <= _LONGEST_CODE
    ]


def _real_codes(folded: str) -> list[str]:
    """Codes less what only looks like one, each once."""
    return list(dict.fromkeys(filter(_is_no_compound, _codes(folded))))


def _is_no_compound(code: str) -> bool:
    written = code.translate(_MARKS_FROM_PRIVATE_USE)
    return (
        any(char.isdigit() for char in written)
        or not _NEVER_IN_COMPOUNDS.isdisjoint(written)
        or _DOTTED_NAME.search(written) is not None
    )


def spellings_in(text: str) -> set[str]:
    """The words of a text as they are spelled, folded; without numbers, codes and blobs."""
    return {
        word
        for word in WORD.findall(fold(text))
        if _SHORTEST_KEPT <= len(word) <= _LONGEST_KEPT and word.isalpha() and not is_unspaced(word)
    }


def edits_allowed(word: str) -> int:
    """How many letters of a word may be wrong; 0 where nothing can be said."""
    if len(word) < SHORTEST_MISTYPED or len(word) > _LONGEST_KEPT or is_unspaced(word):
        return 0
    return 2 if len(word) >= _TWO_EDITS_FROM else 1
