"""Random filters: both searches give exactly what looking at every chunk gives."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import COMPARED, DIMENSIONS, Part, embedded, fill, open_test_store
from memory_store import MemoryStore, Seen, visible
from pincite.records import (
    LEVELS,
    AllOf,
    Analysis,
    AnyOf,
    ChunkId,
    Clause,
    Condition,
    EmbeddedDocument,
    Field,
    Filters,
    Metadata,
    Modality,
    Not,
    Operator,
    Ranking,
    parse_filter,
)
from pincite.vectors import unit
from soak import SEED, times

VECTOR = unit([1.0] * DIMENSIONS, dimensions=DIMENSIONS)
PARTS = times(1, soak=5)  # run side by side
CASES = times(200, soak=2_000)  # in each part, for each store

WORDS = ("pump", "valve", "Straße", "café", "leak", "東京都", "ERR-4042")
TAGS = ("Red", "green", "Straße")
PROJECTS = (None, "Harbour", "mole")
AGENTS = ("Planner", "writer")
AUTHORS = (None, "Ada Lovelace", "Grace Hopper, Ada")
DATES = (None, "2023", "2024-02", "2024-02-29", "2024-03-01T10:00:00", "soon")
LABELS = (None, "public", "Internal", "confidential", "restricted", "eyes only")
LANGUAGES = (None, "en", "en_GB", "pt-BR", "python")
HEADINGS = ("Water", "Maße", "First Steps")
IMPORTS = ("os", "os.path", "json", "a/b")

VALUES: dict[Field, Sequence[str]] = {
    "type": ("md", "txt", "pdf", ""),
    "modality": ("text", "ocr", "code"),
    "language": ("EN", "pt", "pt-br", "python", ""),
    "tag": ("RED", "Green", "strasse", "gre", ""),
    "project": ("harbour", "MOLE", "mol", ""),
    "agent": ("planner", "Writer", ""),
    "author": ("Ada", "hopper", "ada lovelace", ""),
    "confidentiality": LEVELS,
    "date": ("2023", "2024", "2024-02", "2024-02-29", "2024-03-01"),
    "name": ("1", ".md", "note-2.md", "NOTE-?.md", "*", "note-*.txt", "[1]", ""),
    "path": ("a/", "a/note-1.md", "b", "*/note-?.md", "a/*", ""),
    "heading": ("water", "MASSE", "step", "first *", "s", ""),
    "layer": ("api", "API", "domain", ""),
    "symbol": ("run", "Pump.run", ""),
    "import": ("os", "json", "a", ""),
    "text": ("pump", "pump valve", "valves", "東京", "err 4042", "strasse", "…"),
}
OPERATORS: dict[Field, Sequence[Operator]] = {
    **dict.fromkeys(VALUES, ("is",)),
    **dict.fromkeys(("author", "name", "path", "heading"), ("is", "contains", "begins", "matches")),
    **dict.fromkeys(("confidentiality", "date"), ("is", "<", "<=", ">", ">=")),
    "text": ("contains",),
}


def library(chance: random.Random) -> list[EmbeddedDocument]:
    """Few values, so that filters of several parts still let something through."""
    documents = []
    for folder, number in product("ab", range(15)):
        kind = chance.choice(("md", "md", "txt"))
        about = Metadata(
            author=chance.choice(AUTHORS),
            date=chance.choice(DATES),
            modified=chance.choice(DATES),
            language=chance.choice(LANGUAGES),
            project=chance.choice(PROJECTS),
            confidentiality=chance.choice(LABELS),
            agents=tuple(chance.sample(AGENTS, chance.randint(0, 2))),
        )
        made = [random_part(chance) for _ in range(chance.randint(1, 4))]
        tags = tuple(chance.sample(TAGS, chance.randint(0, 2)))
        path = f"{folder}/note-{number}.{kind}"
        documents.append(embedded(path, *made, kind=kind, tags=tags, about=about))
    return documents


def random_part(chance: random.Random) -> Part:
    values = [chance.gauss(0, 1) for _ in range(DIMENSIONS)]
    return Part(
        " ".join(chance.choices(WORDS, k=4)),
        (unit(values, dimensions=DIMENSIONS),),
        tuple(chance.sample(HEADINGS, chance.randint(0, 2))),
        chance.choice((Modality.TEXT, Modality.OCR)),
        Analysis(
            chance.choice((None, "api", "Domain")),
            tuple(chance.sample(("run", "Pump.run"), chance.randint(0, 1))),
            tuple(chance.sample(IMPORTS, chance.randint(0, 2))),
        ),
    )


def random_condition(chance: random.Random, depth: int = 0) -> Condition:
    kind = chance.random()
    if depth < 3 and kind < 0.35:
        parts = tuple(random_condition(chance, depth + 1) for _ in range(chance.randint(2, 3)))
        return AllOf(parts) if chance.random() < 0.4 else AnyOf(parts)
    if depth < 3 and kind < 0.5:
        return Not(random_condition(chance, depth + 1))
    field = chance.choice(tuple(VALUES))
    operator = chance.choice(OPERATORS[field])
    most = 3 if operator == "is" else 1
    return Clause(field, operator, tuple(chance.sample(VALUES[field], chance.randint(1, most))))


def random_filters(chance: random.Random, documents: list[EmbeddedDocument]) -> Filters:
    """An expression most of the time, plain fields sometimes, both together at times."""
    where = str(random_condition(chance)) if chance.random() < 0.8 else None
    ids = [one.document.id for one in chance.sample(documents, 8)]
    plain: dict[str, Any] = {
        "types": ("md",),
        "tags": ("red",),
        "name": "note-1*",
        "clearance": "confidential",
        "since": "2024",
        "phrases": ("pump",),
        "document_ids": tuple(ids),
    }
    chosen = chance.sample(sorted(plain), chance.randint(0, 2) if where else 1)
    return Filters(where=where, **{name: plain[name] for name in chosen})


class EveryChunk:
    """Looks at each chunk on its own, and at the rankings of all."""

    def __init__(self, documents: list[EmbeddedDocument]) -> None:
        store = MemoryStore()
        fill(store, *documents)
        self.all = store.search("pump", VECTOR, filters=Filters(), limit=1_000)
        entries = {entry.id: entry for entry in store.documents()}
        self._seen = [
            Seen(entries[document.document.id], part.chunk, self._phrases_of(store, part.chunk.id))
            for document in documents
            for part in document.chunks
        ]

    @staticmethod
    def _phrases_of(store: MemoryStore, chunk: ChunkId) -> Callable[[str], bool]:
        @cache
        def holds(phrase: str) -> bool:
            filters = Filters(phrases=(phrase,))
            found = store.search(None, VECTOR, filters=filters, limit=1_000)["vector"]
            return chunk in {one.chunk_id for one in found}

        return holds

    def let_through(self, filters: Filters) -> set[ChunkId]:
        condition = filters.condition
        return {one.chunk.id for one in self._seen if visible(one, condition)}

    def documents_of(self, chunks: Collection[ChunkId]) -> list[str]:
        return sorted({one.entry.path for one in self._seen if one.chunk.id in chunks})


@pytest.mark.parametrize("kind", COMPARED)
@pytest.mark.parametrize("number", range(PARTS))
def test_any_filter_gives_the_best_of_exactly_what_it_lets_through(
    kind: str, number: int, tmp_path: Path
) -> None:
    chance = random.Random(f"{SEED}/{number}")
    documents = library(chance)
    every = EveryChunk(documents)
    telling = 0
    with open_test_store(kind, tmp_path / "index") as store:
        fill(store, *documents)
        for _ in range(CASES):
            filters, limit = random_filters(chance, documents), chance.randint(1, 12)
            seen = every.let_through(filters)
            found = store.search("pump", VECTOR, filters=filters, limit=limit)
            nearest = [one.chunk_id for one in every.all["vector"] if one.chunk_id in seen]
            having = {one.chunk_id for one in every.all["words"]} & seen
            assert listed(found["vector"]) == nearest[:limit], filters
            assert len(listed(found["words"])) == min(limit, len(having)), filters
            assert having.issuperset(one.chunk_id for one in found["words"]), filters
            assert [one.path for one in store.documents(filters=filters)] == every.documents_of(
                seen
            )
            telling += 0 < len(seen) < len(every.all["vector"])
    assert telling > CASES // 2  # most filters let some chunks through


def listed(ranking: Ranking) -> list[ChunkId]:
    return [one.chunk_id for one in ranking if one.listed]


def test_conditions_are_written_as_expressions_that_mean_the_same() -> None:
    chance = random.Random(5)
    for _ in range(times(500, soak=2_000)):
        condition = random_condition(chance)
        assert str(parse_filter(str(condition))) == str(condition)


def test_the_random_library_has_chunks_of_every_kind() -> None:
    parts = [part for document in library(random.Random(0)) for part in document.chunks]
    assert len(parts) > 60
    assert len({tuple(np.round(part.windows[0].vector, 3)) for part in parts}) == len(parts)
