"""The stems of words, as FTS5's porter tokenizer has them; for stores without FTS5."""

from __future__ import annotations

import re
import threading

import Stemmer

from pincite.text.words import MARKS, without_marks

_TOKEN = re.compile(rf"(?:[^\W_]|[{MARKS}\ue000-\uf8ff])+")

_SHORTEST, _LONGEST = 3, 64  # bytes of a token that FTS5 looks for a stem of


class _Stemmers(threading.local):
    """A stemmer must not be used by two threads at once."""

    def __init__(self) -> None:
        self.stem = Stemmer.Stemmer("porter").stemWord


_of_thread = _Stemmers()


def tokens_of(text: str) -> list[str]:
    """The stems of a text's words, in their order."""
    bare = map(without_marks, _TOKEN.findall(text))
    return [_stemmed(token) for token in bare if token]


def _stemmed(token: str) -> str:
    size = len(token) if token.isascii() else len(token.encode("utf-8", "surrogatepass"))
    return _of_thread.stem(token) if _SHORTEST <= size <= _LONGEST else token
