"""Results → passages: chunks that follow each other become one stretch of their document."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from pincite.records import Chunk, DocumentId, Locator, Passage, Result, locate, overlapping
from pincite.text.lines import LineIndex

TextOf = Callable[[DocumentId, int, int], str]
"""A slice of a document's text."""


def passages(results: Sequence[Result], text_of: TextOf) -> list[Passage]:
    """The results as passages, in the order of their best ones.

    Chunks of one section on one page are put together; a passage never runs over a heading that
    is not its own, nor over the end of a page.
    """
    ranks = {result.chunk.id: rank for rank, result in enumerate(results)}
    of_document: defaultdict[DocumentId, list[Result]] = defaultdict(list)
    for result in results:
        of_document[result.document.id].append(result)
    # Stretches of results of one document that follow each other.
    runs: list[list[Result]] = []
    for found in of_document.values():
        for result in sorted(found, key=lambda one: one.chunk.position):
            if runs and follow(runs[-1][-1].chunk, result.chunk):
                runs[-1].append(result)
            else:
                runs.append([result])
    best = [(min(run, key=lambda one: ranks[one.chunk.id]), run) for run in runs]
    best.sort(key=lambda pair: ranks[pair[0].chunk.id])
    made = (passage(first, tuple(result.chunk for result in run), text_of) for first, run in best)
    # A document that was replaced in this moment has another text, or none.
    return [one for one in made if len(one.text) == one.end - one.start]


def passage(best: Result, chunks: tuple[Chunk, ...], text_of: TextOf) -> Passage:
    """Chunks that follow each other as one."""
    start, end = chunks[0].start, chunks[-1].end
    text = chunks[0].text if len(chunks) == 1 else text_of(best.document.id, start, end)
    first, last = chunks[0].locator, chunks[-1].locator
    locator = Locator(
        first.line_start,
        last.line_end,
        *(first.page_start, last.page_end),
        *(first.time_start, last.time_end),
        *(first.row_start, last.row_end),
    )
    return Passage(best.document, chunks, start, end, text, locator, best)


def part_of(one: Passage, start: int, end: int) -> Passage:
    """A slice of the passage's text as a passage of its own, with its own place."""
    lines = LineIndex(one.text).lines_of(start, end)
    above = one.locator.line_start - 1
    inside = one.start + start, one.start + end
    places = {place.start: place for chunk in one.chunks for place in chunk.places}
    held = overlapping([place for _, place in sorted(places.items())], *inside)
    locator = locate(held, *inside, line_start=above + lines[0], line_end=above + lines[1])
    text = one.text[start:end]
    return replace(one, start=inside[0], end=inside[1], text=text, locator=locator)


def follow(one: Chunk, other: Chunk) -> bool:
    """Whether the second goes on where the first ends, in the same section and on the same page."""
    if (one.document_id, one.modality) != (other.document_id, other.modality):
        return False
    sections = bool(one.sections) == bool(other.sections) and (
        not one.sections or one.sections[-1].heading_path == other.sections[0].heading_path
    )
    on_page = one.locator.page_end == other.locator.page_start
    return other.position == one.position + 1 and sections and on_page
