"""Where a tokenizer's tokens begin, for texts of any length."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pincite.text.words import WORD, is_unspaced

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# Long enough to make the calls few, short enough to keep a tokenizer's working copies (about
# a hundred bytes for each character) small.
SLICE_CHARACTERS = 32_768

# Kana and Han are written without spaces: each character stands for itself.
CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"

_SURROGATE = re.compile("[\ud800-\udfff]")
_MARK = re.compile(r"[^\w\s]")


def encodable(text: str) -> str:
    """The text with lone surrogates replaced, one character for one: offsets stay true."""
    return _SURROGATE.sub("\ufffd", text)


def token_starts(
    tokenizer: Tokenizer, text: str, slice_characters: int = SLICE_CHARACTERS
) -> Sequence[int]:
    """The character offset at which each token begins, special tokens left out.

    The text is encoded in slices, so that 20 MB cost little memory. Slices end where a word
    ends, which no tokenizer of words or word pieces can tell from the whole. Only a stretch
    without any space or mark, longer than a slice, is cut inside a word; each such cut may
    count a token or two too many.
    """
    starts = array("I")
    text = encodable(text)
    start = 0
    while start < len(text):
        end = _slice_end(text, start, slice_characters)
        encoding = tokenizer.encode(text[start:end], add_special_tokens=False)
        starts.extend(start + offset for offset, _ in encoding.offsets)
        start = end
    return starts


# Pieces of one word in a language that a tokenizer was made for, at most; in a language it never
# saw there are so many more that the rest hardly differs.
_FAMILIAR_PIECES, _MORE_WHEN_FOREIGN = 1.3, 3.0
_UNSPACED_WORD = 2  # characters
_ENOUGH_WORDS = 4  # to tell a language
_UNKNOWN = frozenset(("[UNK]", "<unk>"))
_DIGIT = re.compile(r"\d")


def foreignness(tokenizer: Tokenizer, text: str) -> float:
    """How little a tokenizer knows of the text's language, from 0 to 1.

    What it does not know falls apart into many pieces for a word. Single characters tell a model
    next to nothing, so they count twice.
    """
    # Numbers and codes are of no language.
    words = [word for word in WORD.findall(encodable(text)) if not _DIGIT.search(word)]
    count = sum(map(_size, words))
    if not count:
        return 0.0
    pieces = sum(_pieces(tokenizer, word) for word in words)
    more = (pieces / count - _FAMILIAR_PIECES) / _MORE_WHEN_FOREIGN
    # One long technical term is no foreign language yet.
    return min(max(more, 0.0), 1.0) * min(count / _ENOUGH_WORDS, 1.0)


def is_whole(tokenizer: Tokenizer, word: str) -> bool:
    """Whether the tokenizer has the word as one piece."""
    tokens = tokenizer.encode(encodable(word), add_special_tokens=False).tokens
    return len(tokens) == 1 and _UNKNOWN.isdisjoint(tokens)


def _size(word: str) -> float:
    """How many words it is; in scripts without spaces it may be a whole sentence."""
    return len(word) / _UNSPACED_WORD if is_unspaced(word) else 1


def _pieces(tokenizer: Tokenizer, word: str) -> float:
    encoding = tokenizer.encode(word, add_special_tokens=False)
    if not _UNKNOWN.isdisjoint(encoding.tokens):
        return (_FAMILIAR_PIECES + _MORE_WHEN_FOREIGN) * _size(word)
    if len(word) == 1:
        return 1
    return sum(2 if end - start == 1 else 1 for start, end in encoding.offsets)


def _slice_end(text: str, start: int, size: int) -> int:
    """The last good place to cut within `size` characters: a space, else a mark, else anywhere."""
    end = start + size
    if end >= len(text):
        return len(text)
    inside_spaces = 0
    for at in range(end, start, -1):
        if text[at].isspace():
            # Before all spaces: many tokenizers make them part of the word that follows.
            if not text[at - 1].isspace():
                return at
            inside_spaces = inside_spaces or at
    marks = [mark.start() for mark in _MARK.finditer(text, start + 1, end)]
    return inside_spaces or (marks[-1] if marks else end)
