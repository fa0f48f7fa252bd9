"""Which words can be mistyped, and which words of a text they are compared with."""

from __future__ import annotations

from pincite.text.words import WORD, fold, is_unspaced

SHORTEST_MISTYPED = 4  # letters; of shorter words nearly every other one is an edit away
_SHORTEST_KEPT = SHORTEST_MISTYPED - 1  # one letter may have been typed too much
_LONGEST_KEPT = 32  # letters; longer ones are blobs, not something people type


def spellings_in(text: str) -> set[str]:
    """The words of a text as they are spelled, folded; without numbers, codes and blobs."""
    return {
        word
        for word in WORD.findall(fold(text))
        if _SHORTEST_KEPT <= len(word) <= _LONGEST_KEPT and word.isalpha() and not is_unspaced(word)
    }


def can_be_mistyped(word: str) -> bool:
    """Whether anything can be said about how a word should be spelled."""
    return SHORTEST_MISTYPED <= len(word) <= _LONGEST_KEPT and not is_unspaced(word)
