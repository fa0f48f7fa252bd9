"""How telling each word of a question is in this library: the fewer chunks have it, the more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import fsum, log

from pincite.ports import Store
from pincite.text.finding import key_of
from pincite.text.words import STOP_WORDS, WORD, exact_terms, fold, is_unspaced

# Words that ask, and say nothing about the subject, rare as they may be in a library.
_ASKING = """
according also am anybody anyone anything aren away because besides briefly called compare consider
describe didn doesn don done during each either else ever every exactly explain find get give given
happen happened happens hasn haven he help her here him his isn just kind kinds know let list long
main many may mean means might more most much must name named need often ones only other others
percentage please regarding say says see shall she should show someone something sort sorts specific
summarise summarize tell thing things think type types want wasn weren whether while whom whose won
wouldn yes yet s t re ve ll d m
"""
SAYS_NOTHING = STOP_WORDS.union(_ASKING.split())
_SHORTEST = 3  # letters
_MOST_WORDS = 40  # that are looked up; a longer question is a pasted text


@dataclass(frozen=True, slots=True)
class Rarity:
    """The weights of a question's words, as a Finder names them."""

    weights: Mapping[str, float]
    missing: tuple[str, ...] = ()  # words, as they were asked, that no chunk has in any form
    highest: float = 1.0  # what a word weighs that no chunk has

    def of(self, found: Iterable[str]) -> float:
        """What these words weigh together; those that are not known count like the rarest."""
        unknown = max(self.weights.values(), default=1.0)
        # `fsum`: sets have no order, and a plain sum of the same parts depends on it.
        return fsum(self.weights.get(word, unknown) for word in found)

    def of_numbers(self, question: str) -> float:
        """How telling the question's rarest number is that some chunk has, from 0 to 1."""
        tokens = (token for term in exact_terms(question) for token in term.tokens)
        weights = [self.weights.get(token, 0.0) for token in tokens]
        return max((one for one in weights if one < self.highest), default=0.0) / self.highest


def telling_words(question: str) -> list[str]:
    """The words of the question that say what it is about, each once; all where none does.

    Scripts without spaces are cut into pairs of characters, as they are indexed.
    """
    words: list[str] = []
    for word in WORD.findall(question):
        is_run = len(word) > 2 and is_unspaced(word)
        words += [word[at : at + 2] for at in range(len(word) - 1)] if is_run else [word]
    telling = [word for word in words if fold(word) not in SAYS_NOTHING]
    return list(dict.fromkeys(telling or words))[:_MOST_WORDS]


def rarity_of(question: str, store: Store) -> Rarity:
    """One call of the store for all words."""
    words = telling_words(question)
    chunks, having = store.chunk_counts(words)
    weights = dict.fromkeys(map(key_of, WORD.findall(question)), 0.0)
    weights |= {key_of(word): log((chunks + 1) / (having[word] + 0.5)) for word in words}
    # Not a pair of characters, nor one of the short words that most grammars are made of.
    missing = tuple(
        word
        for word in words
        if not having[word]
        and not is_unspaced(word)
        and (len(word) > _SHORTEST or word.isupper() or any(map(str.isdigit, word)))
    )
    return Rarity(weights, missing, log((chunks + 1) / 0.5))
