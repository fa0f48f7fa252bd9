"""What a filter lets through, said as plainly as can be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pincite.records import Chunk, DocumentEntry, Filters
from pincite.text.words import fold


def visible(entry: DocumentEntry, chunk: Chunk, filters: Filters) -> bool:
    """Whether everything that is asked for holds."""
    tags = _folded(entry.metadata.tags)
    analysis = chunk.analysis
    return all(
        (
            filters.document_ids is None or entry.id in filters.document_ids,
            filters.types is None or entry.type in filters.types,
            filters.modalities is None or chunk.modality in filters.modalities,
            filters.tags is None or (filters.tags != () and _folded(filters.tags) <= tags),
            filters.name is None or fold(filters.name) in fold(entry.name),
            filters.path is None or entry.path.startswith(filters.path),
            filters.heading is None
            or any(fold(filters.heading) in fold(heading) for heading in chunk.headings),
            _any_of(filters.languages, (entry.metadata.language or "",)),
            _any_of(filters.layers, (analysis.layer or "",)),
            _any_of(filters.symbols, analysis.symbols),
            filters.imports is None
            or any(
                fold(held) == fold(wanted)
                or fold(held).startswith(tuple(fold(wanted) + mark for mark in "./:"))
                for held in analysis.imports
                for wanted in filters.imports
            ),
        )
    )


def _any_of(wanted: Sequence[str] | None, held: Iterable[str]) -> bool:
    return wanted is None or bool(_folded(wanted) & _folded(held))


def _folded(values: Iterable[str]) -> set[str]:
    return {fold(value) for value in values}
