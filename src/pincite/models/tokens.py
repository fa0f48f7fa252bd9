"""Where a tokenizer's tokens begin, for texts of any length."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

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
    for start, end in _slices(text, slice_characters):
        encoding = tokenizer.encode(text[start:end], add_special_tokens=False)
        starts.extend(start + offset for offset, _ in encoding.offsets)
    return starts


def _slices(text: str, size: int) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(text):
        end = _slice_end(text, start, size)
        yield start, end
        start = end


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
