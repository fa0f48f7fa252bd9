"""What the reference store holds of one document, and which of its chunks may be seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from pincite.records import Chunk, DocumentEntry, EmbeddedChunk, EmbeddedDocument, Filters
from pincite.stores.memory.bm25 import count_of
from pincite.stores.memory.filters import Seen, visible
from pincite.text.abbreviations import abbreviations_in, name_key
from pincite.text.spelling import spellings_in
from pincite.text.stems import tokens_of
from pincite.text.words import indexed_codes, indexed_words, phrase_term


@dataclass(frozen=True)
class Kept:
    """A document with its chunks and vectors."""

    embedded: EmbeddedDocument
    entry: DocumentEntry

    @property
    def spelled(self) -> set[str]:
        """Its words as they are spelled."""
        chunks = [part.chunk for part in self.embedded.chunks]
        texts = (text for chunk in chunks for text in (chunk.searched, *chunk.headings))
        return spellings_in("\n".join((self.embedded.document.about, *texts))) if chunks else set()

    @property
    def defined(self) -> dict[tuple[str, str], str]:
        """What its abbreviations stand for, by the short form and the key of the long one."""
        seen = (one.chunk.seen(one.chunk.start, one.chunk.end) for one in self.embedded.chunks)
        found = [one for text in seen for one in abbreviations_in(text)]
        return {(one.short, name_key(one.long)): one.long for one in reversed(found)}

    @property
    def about(self) -> list[str]:
        """The words of its name, title, author, tags and summary."""
        document = self.embedded.document
        return _tokens(*map(indexed_words, (document.about, document.path, document.summary)))

    def words(self, part: EmbeddedChunk) -> list[str]:
        """The words that one of its chunks is found by."""
        about, headings = self.embedded.document.about, "\n".join(part.chunk.headings)
        codes = indexed_codes(f"{about}\n{headings}\n{part.chunk.searched}")
        return _tokens(*map(indexed_words, (part.chunk.searched, about, headings)), codes)


def chunks(every: Iterable[Kept], filters: Filters) -> Iterator[tuple[Kept, EmbeddedChunk]]:
    """All chunks that the filters let see, with their documents."""
    for kept in every:
        for part in kept.embedded.chunks:
            seen = Seen(kept.entry, part.chunk, partial(_holds_phrase, part.chunk))
            if visible(seen, filters.condition):
                yield kept, part


def _holds_phrase(chunk: Chunk, phrase: str) -> bool:
    fields = (chunk.searched, "\n".join(chunk.headings))
    tokens = (tokens_of(indexed_words(field)) for field in fields)
    return any(count_of(phrase_term(phrase), one) for one in tokens)


def _tokens(*fields: str) -> list[str]:
    """An empty token keeps a phrase from running over the edge of a field."""
    return [token for field in fields for token in (*tokens_of(field), "")]
