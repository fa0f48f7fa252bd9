"""Which words can be mistyped, and how far a word is from what was perhaps meant."""

from __future__ import annotations

from pincite.text.words import WORD, fold, is_unspaced

SHORTEST_MISTYPED = 4  # letters; of shorter words nearly every other one is an edit away
_SHORTEST_KEPT = SHORTEST_MISTYPED - 1  # one letter may have been typed too much
_LONGEST_KEPT = 32  # letters; longer ones are blobs, not something people type
_TWO_EDITS_FROM = 8  # letters


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
