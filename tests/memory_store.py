"""The reference store: everything in dictionaries, every search a plain loop over all chunks.

Slow and simple, to compare the real stores with. BM25 is as FTS5 has it, over lists of stemmed
words; filters are said as plainly as can be.
"""

from __future__ import annotations

import math
import operator
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

import numpy as np

from pincite.errors import IndexMissing
from pincite.ports import Lap, no_lap
from pincite.records import (
    INSIDE,
    LEVELS,
    AllOf,
    AnyOf,
    Chunk,
    ChunkId,
    Clause,
    Condition,
    Definition,
    Document,
    DocumentEntry,
    DocumentId,
    EmbeddedChunk,
    EmbeddedDocument,
    Failure,
    Filters,
    Finding,
    FoundChunk,
    LibraryHeader,
    Not,
    Ranked,
    Ranking,
    StoreStats,
    level_of,
    recipe_lacking,
)
from pincite.stores.spaces import refuse_other_space
from pincite.text.dates import day_span
from pincite.text.naming import abbreviations_in, document_names, longest_only, name_key, names_said
from pincite.text.stems import tokens_of
from pincite.text.words import (
    Term,
    exact_terms,
    fold,
    indexed_codes,
    indexed_words,
    phrase_term,
    question_terms,
    spellings_in,
)
from pincite.vectors import Vector, unit

_K1, _B = 1.2, 0.75  # BM25's usual constants, as in FTS5

_Name = TypeVar("_Name", bound=Hashable)

_SIGNS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": operator.eq,
}


class MemoryStore:
    """Holds one library in memory; slow and simple, to compare the others with."""

    def __init__(self) -> None:
        self._header: LibraryHeader | None = None
        self._kept: dict[DocumentId, Kept] = {}
        self._past: list[EmbeddedDocument] = []
        self._updated: str | None = None
        self._complete = False
        self._problems: list[Failure] = []

    def header(self) -> LibraryHeader | None:
        """How this index is made; None before the first build."""
        return self._header

    def begin(self, header: LibraryHeader) -> None:
        """Set how the index is made. Another embedding space or name forgets all documents."""
        before = self._header
        self._header = header
        self._complete = self._complete and header == before
        if before is not None and (
            before.name != header.name
            or before.model.fingerprint != header.model.fingerprint
            or before.model.dimensions != header.model.dimensions
        ):
            self.remove_documents(list(self._kept))

    def replace_document(
        self,
        embedded: EmbeddedDocument,
        *,
        replaces: Sequence[DocumentId] = (),
        recipe: str | None = None,
    ) -> None:
        """Make the document searchable and forget those it replaces, in one step."""
        if self._header is None:
            raise IndexMissing("the index was not begun: call begin() first")
        for chunk in embedded.chunks:
            for window in chunk.windows:
                unit(window.vector, dimensions=self._header.model.dimensions)
        document = embedded.document
        at_path = [
            kept.entry.id for kept in self._kept.values() if kept.entry.path == document.path
        ]
        self.remove_documents([*replaces, *at_path])
        self._updated = datetime.now(UTC).isoformat(timespec="seconds")
        entry = DocumentEntry(
            id=document.id,
            path=document.path,
            checksum=document.checksum,
            type=document.type,
            title=document.title,
            metadata=document.metadata,
            chunks=len(embedded.chunks),
            indexed_at=self._updated,
            recipe=recipe_lacking(recipe or self._header.recipe, embedded.lacking),
            size=document.size,
            summary=document.summary,
        )
        self._kept[document.id] = Kept(embedded, entry)
        self._complete = False

    def finish(self, problems: Sequence[Failure] = ()) -> None:
        """Note that a run came to its end: the index is equal to the folder, but for these."""
        self._complete = True
        self._problems = [Failure(one.path, one.reason) for one in problems]

    def make_index(self) -> bool:
        """All vectors are compared."""
        return False

    def problems(self) -> list[Failure]:
        """The files that the last run could not read."""
        return self._problems

    def is_complete(self) -> bool:
        """Whether the last run came to its end."""
        return self._complete

    def remove_documents(self, ids: Sequence[DocumentId]) -> None:
        """Forget the documents with all their chunks, words and vectors."""
        self._complete = self._complete and not ids
        for document_id in ids:
            kept = self._kept.pop(document_id, None)
            if kept is not None:
                self._past.append(kept.embedded)

    def version(self) -> str:
        """Another one whenever a search may find something else."""
        return f"{len(self._past)} {' '.join(self._kept)}"

    def documents(
        self,
        ids: Collection[DocumentId] | None = None,
        *,
        checksum: str | None = None,
        after: str = "",
        limit: int | None = None,
        filters: Filters = Filters(),
    ) -> list[DocumentEntry]:
        """Every document by path, or only these, those of a file, or so many behind a path."""
        seen = {kept.entry.id for kept, _ in self._chunks(filters)}
        held = [
            kept.entry
            for name, kept in self._kept.items()
            if (ids is None or name in ids)
            and checksum in (None, kept.entry.checksum)
            and kept.entry.path > after
            and (filters.none_given or name in seen)
        ]
        return sorted(held, key=lambda entry: entry.path)[:limit]

    def paths(self) -> dict[str, DocumentId]:
        """Which document stands where, by path."""
        return dict(sorted((kept.entry.path, name) for name, kept in self._kept.items()))

    def named_documents(self, question: str) -> dict[str, tuple[DocumentId, ...]]:
        """The documents that the question calls by name, by that name."""
        said = set(names_said(question))
        found: defaultdict[str, list[DocumentId]] = defaultdict(list)
        for kept in self._kept.values():
            for name in document_names(kept.entry.title, kept.entry.name):
                if name in said:
                    found[name].append(kept.entry.id)
        return {name: tuple(sorted(found[name])) for name in longest_only(found)}

    def recorded_documents(self, recording: str, filters: Filters) -> list[DocumentId]:
        """The documents of a recording of which something may be seen."""
        seen = {kept.entry.id: kept for kept, _ in self._chunks(filters)}
        return sorted(
            name for name, kept in seen.items() if kept.entry.metadata.recording == recording
        )

    def find_documents(
        self, question: str, *, filters: Filters = Filters(), limit: int | None = None
    ) -> list[DocumentEntry]:
        """The documents whose name, title, author, tags, type or summary speak to it."""
        words = {kept.entry.id: kept.about for kept in self._kept.values()}
        scores = _bm25(question_terms(question), words)
        seen = {kept.entry.id for kept, _ in self._chunks(filters)}
        best = sorted((one for one in scores if one in seen), key=lambda one: -scores[one])
        return [self._kept[name].entry for name in best[:limit]]

    def known_vectors(self, fingerprints: Iterable[str]) -> dict[str, Vector]:
        """The vectors already stored for these embedded texts."""
        wanted = set(fingerprints)
        return {
            window.fingerprint: window.vector
            for _, part in self._chunks(Filters())
            for window in part.windows
            if window.fingerprint in wanted
        }

    def search(
        self,
        question: str | None,
        vector: Vector | None,
        *,
        filters: Filters,
        limit: int,
        made_by: str | None = None,
        lap: Lap = no_lap,
    ) -> dict[str, Ranking]:
        """All rankings in one call: `words` and `codes` for a question, `vector` for a vector."""
        refuse_other_space(self._header, made_by)
        return _rankings(list(self._kept.values()), question, vector, filters, limit, lap)

    def _chunks(self, filters: Filters) -> Iterator[tuple[Kept, EmbeddedChunk]]:
        return _seen_chunks(self._kept.values(), filters)

    def notices(self) -> tuple[str, ...]:
        """Nothing hinders searches."""
        return ()

    def chunk_counts(self, words: Sequence[str]) -> tuple[int, Mapping[str, int]]:
        """How many chunks there are, and how many of them have each word, in any of its forms."""
        held = [kept.words(part) for kept, part in self._chunks(Filters())]
        return len(held), {
            word: sum(bool(_count_of(Term((fold(word),)), text)) for text in held) for word in words
        }

    def spellings(self, initial: str) -> Mapping[str, int]:
        """The library's words with this first letter, and how many documents have each."""
        counts = Counter(word for kept in self._kept.values() for word in kept.spelled)
        return {word: count for word, count in counts.items() if word.startswith(initial)}

    def definitions(self, keys: Sequence[str]) -> list[Definition]:
        """What documents say abbreviations stand for, most frequent first."""
        said: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for kept in self._kept.values():
            for (short, key), long in kept.defined.items():
                if name_key(short) in keys:
                    said[short, key].append(long)
        ordered = sorted(said, key=lambda name: (-len(said[name]), name))
        return [Definition(name[0], min(said[name]), len(said[name])) for name in ordered]

    def load_chunks(self, ids: Sequence[ChunkId]) -> list[tuple[DocumentEntry, Chunk]]:
        """The chunks with their documents, in the order of the ids; unknown ids are left out."""
        known = {part.chunk.id: (kept.entry, part.chunk) for kept, part in self._chunks(Filters())}
        return [known[chunk_id] for chunk_id in ids if chunk_id in known]

    def load_document(self, document_id: DocumentId) -> Document | None:
        """The whole document, text and all."""
        kept = self._kept.get(document_id)
        return None if kept is None else kept.embedded.document

    def load_embedded(self, document_id: DocumentId) -> EmbeddedDocument | None:
        """The whole document with its chunks, windows and vectors."""
        kept = self._kept.get(document_id)
        return None if kept is None else kept.embedded

    def past_versions(self) -> Iterator[EmbeddedDocument]:
        """The versions of documents that are not held any more, oldest first."""
        yield from self._past

    @contextmanager
    def snapshot(self) -> Iterator[MemoryStore]:
        """A copy of this store as it stands now."""
        frozen = copy(self)
        frozen._kept, frozen._past = dict(self._kept), list(self._past)
        yield frozen

    def text_of(self, document_id: DocumentId, start: int, end: int) -> str:
        """A slice of the document's text; empty where there is no such document."""
        kept = self._kept.get(document_id)
        return "" if kept is None else kept.embedded.document.text[start:end]

    def chunk_ids(self, document_id: DocumentId) -> list[ChunkId]:
        """The document's chunks in their order; none of an unknown one."""
        kept = self._kept.get(document_id)
        return [] if kept is None else [part.chunk.id for part in kept.embedded.chunks]

    def find_chunks(self, id_prefix: str) -> list[FoundChunk]:
        """The chunks whose id begins so, first among today's documents, then in the past."""
        for versions, superseded in (
            ([kept.embedded for kept in self._kept.values()], False),
            (self._past[::-1], True),
        ):
            found = {
                part.chunk.id: FoundChunk(version.document, part.chunk, superseded=superseded)
                for version in versions
                for part in version.chunks
                if part.chunk.id.startswith(id_prefix)
            }
            if found:
                return list(found.values())
        return []

    def forgotten_at(self, name: str) -> str:
        return ""

    def stats(self) -> StoreStats:
        """What the index holds."""
        held = [part for _, part in self._chunks(Filters())]
        windows = sum(len(part.windows) for part in held)
        return StoreStats(
            documents=len(self._kept),
            chunks=len(held),
            windows=windows,
            vectors=windows,
            lacking=sum(not part.windows for part in held),
            words=len(held),
            database_bytes=0,
            segments_bytes=0,
            log_bytes=0,
            last_updated=self._updated,
            complete=self._complete,
        )

    def verify(self) -> list[Finding]:
        """There is only one copy of everything, so nothing can disagree."""
        return []

    def repair(self) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """Nothing to give back."""


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


def _seen_chunks(every: Iterable[Kept], filters: Filters) -> Iterator[tuple[Kept, EmbeddedChunk]]:
    """All chunks that the filters let see, with their documents."""
    for kept in every:
        for part in kept.embedded.chunks:
            seen = Seen(kept.entry, part.chunk, partial(_holds_phrase, part.chunk))
            if visible(seen, filters.condition):
                yield kept, part


def _holds_phrase(chunk: Chunk, phrase: str) -> bool:
    fields = (chunk.searched, "\n".join(chunk.headings))
    tokens = (tokens_of(indexed_words(field)) for field in fields)
    return any(_count_of(phrase_term(phrase), one) for one in tokens)


def _tokens(*fields: str) -> list[str]:
    """An empty token keeps a phrase from running over the edge of a field."""
    return [token for field in fields for token in (*tokens_of(field), "")]


def _rankings(
    every: Sequence[Kept],
    question: str | None,
    vector: Vector | None,
    filters: Filters,
    limit: int,
    lap: Lap,
) -> dict[str, Ranking]:
    """`words` and `codes` for a question, `vector` for a vector."""
    words: Ranking = ()
    near: Ranking = ()
    found: dict[str, Ranking] = {}
    if question is not None:
        words = _by_words(every, question_terms(question), filters)
        found["words"] = words[:limit]
        lap("words")
        codes = _by_words(every, exact_terms(question), filters)
        if codes[:limit]:
            found["codes"] = codes[:limit]
        lap("codes")
    if vector is not None:
        near = _by_vector(every, vector, filters)
        found["vector"] = near[:limit]
        lap("vector")
    if question is not None and vector is not None:
        found["words"] += _unlisted(words[limit:], near[:limit])
        found["vector"] += _unlisted(near[limit:], words[:limit])
        lap("compare")
    return found


def _by_words(every: Sequence[Kept], terms: Sequence[Term], filters: Filters) -> Ranking:
    words = {part.chunk.id: kept.words(part) for kept, part in _seen_chunks(every, Filters())}
    scores = _bm25(terms, words)
    seen = {part.chunk.id: kept.entry.id for kept, part in _seen_chunks(every, filters)}
    return _ordered(Ranked(name, seen[name], scores[name]) for name in scores if name in seen)


def _by_vector(every: Sequence[Kept], vector: Vector, filters: Filters) -> Ranking:
    ranked = []
    for kept, part in _seen_chunks(every, filters):
        if not part.windows:
            continue
        best = max(part.windows, key=lambda window: float(np.dot(window.vector, vector)))
        score = float(np.dot(best.vector, vector))
        window = (best.start, best.end)
        ranked.append(Ranked(part.chunk.id, kept.entry.id, score, window, best.vector))
    return _ordered(ranked)


def _ordered(ranked: Iterable[Ranked]) -> Ranking:
    return tuple(sorted(ranked, key=lambda one: (-one.score, one.chunk_id)))


def _unlisted(beyond: Ranking, other: Ranking) -> Ranking:
    """What the other search lists of those that stand too far down here."""
    wanted = {one.chunk_id for one in other}
    return tuple(replace(one, listed=False) for one in beyond if one.chunk_id in wanted)


def _bm25(terms: Sequence[Term], words: Mapping[_Name, list[str]]) -> dict[_Name, float]:
    """BM25 of everything that holds one of the terms."""
    average = sum(map(len, words.values())) / max(len(words), 1) or 1
    summed: defaultdict[_Name, float] = defaultdict(float)
    for term in terms:
        found = {
            name: count for name, tokens in words.items() if (count := _count_of(term, tokens))
        }
        # FTS5's floor: a word in more than half of all chunks weighs next to nothing.
        weight = math.log((len(words) - len(found) + 0.5) / (len(found) + 0.5))
        for name, count in found.items():
            length = _K1 * (1 - _B + _B * len(words[name]) / average)
            summed[name] += max(weight, 1e-6) * count * (_K1 + 1) / (count + length)
    return summed


def _count_of(term: Term, tokens: list[str]) -> int:
    """How often the term's words stand next to each other."""
    wanted = [stem for token in term.tokens for stem in tokens_of(token)]
    if not wanted:
        return 0
    *before, last = wanted
    size = len(before)
    return sum(
        tokens[at : at + size] == before
        and (tokens[at + size].startswith(last) if term.prefix else tokens[at + size] == last)
        for at in range(len(tokens) - size)
    )


@dataclass(frozen=True)
class Seen:
    """What a condition is asked of."""

    entry: DocumentEntry
    chunk: Chunk
    holds_phrase: Callable[[str], bool]


def visible(seen: Seen, condition: Condition) -> bool:
    """Whether the condition holds."""
    match condition:
        case AllOf(parts):
            return all(visible(seen, part) for part in parts)
        case AnyOf(parts):
            return any(visible(seen, part) for part in parts)
        case Not(part):
            return not visible(seen, part)
        case Clause():
            return any(_holds(seen, condition, value) for value in condition.values)


def _holds(seen: Seen, clause: Clause, value: str) -> bool:
    about = seen.entry.metadata
    match clause.field:
        case "text":
            return seen.holds_phrase(value)
        case "date":
            return _dated(about.date or about.modified or "", clause.operator, value)
        case "confidentiality":
            level = level_of(about.confidentiality)
            return bool(_SIGNS[clause.operator](level, LEVELS.index(value)))
        case _:
            return any(_compared(clause, held, value) for held in _held(seen, clause))


def _held(seen: Seen, clause: Clause) -> Iterable[str]:
    """What stands in the field."""
    entry, chunk = seen.entry, seen.chunk
    held: dict[str, tuple[str | None, ...]] = {
        "document": (entry.id,),
        "type": (entry.type,),
        "modality": (chunk.modality.value,),
        "language": (entry.metadata.language,),
        "tag": entry.metadata.tags,
        "project": (entry.metadata.project,),
        "agent": entry.metadata.agents,
        "author": (entry.metadata.author,),
        "name": (entry.name,),
        "path": (entry.path,),
        "heading": chunk.headings,
        "layer": (chunk.analysis.layer,),
        "symbol": chunk.analysis.symbols,
        "import": chunk.analysis.imports,
    }
    values = [value or "" for value in held[clause.field]]
    return values or ([""] if clause.operator == "is" else [])


def _compared(clause: Clause, held: str, value: str) -> bool:
    if clause.field not in ("document", "path"):
        held, value = fold(held), fold(value)
    match clause.operator:
        case "contains":
            return value in held
        case "begins":
            return held.startswith(value)
        case "matches":
            pattern = re.escape(value).replace(r"\*", ".*").replace(r"\?", ".")
            return re.fullmatch(pattern, held, re.DOTALL) is not None
        case _:
            marks = INSIDE.get(clause.field, "") if value else ""
            return held == value or held.startswith(tuple(value + mark for mark in marks))


def _dated(said: str, sign: str, asked: str) -> bool:
    """A date known only by its month may be any day of it, and is let through where it may fit."""
    held, span = day_span(said), day_span(asked)
    if not asked:
        return sign == "is" and held is None
    if held is None or span is None:
        return False
    return {
        "<": held[0] < span[0],
        "<=": held[0] <= span[1],
        ">": held[1] > span[1],
        ">=": held[1] >= span[0],
        "is": held[0] <= span[1] and held[1] >= span[0],
    }[sign]
