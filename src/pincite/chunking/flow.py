"""Document → its chunks, each with the windows that are embedded. Read this file first.

Where to cut is decided by what the document is: sections and paragraphs for text, definitions for
code, minutes for transcripts, one chunk for each frame of a video.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from operator import attrgetter

from pincite.chunking.code import code_spans, long_code_omissions
from pincite.chunking.pieces import Measure
from pincite.chunking.sections import Begins, section_spans
from pincite.chunking.transcript import recording_spans
from pincite.chunking.windows import chunk_windows
from pincite.ports import Embedder
from pincite.records import (
    Analysis,
    Chunk,
    Document,
    Modality,
    Omission,
    WindowedChunk,
    locate,
    overlapping,
)
from pincite.settings import ChunkPolicy
from pincite.text.lines import LineIndex

_WORD = re.compile(r"[\w$]+")
_MOST_CARRIED = 5_000  # characters of names; two hundred imports

_START = attrgetter("start")
ModalSpan = tuple[int, int, Modality]


def chunk_document(
    document: Document, policy: ChunkPolicy, embedder: Embedder, begins: Begins | None = None
) -> list[WindowedChunk]:
    """The document's chunks in order; at least one wherever it has any block."""
    measure = Measure(document.text, embedder)
    if policy.shorten_code and document.modality is not Modality.CODE:
        # The rest of long blocks of code is left out of what is embedded; it says little there.
        known = document.omissions
        rests = [
            Omission(start, end, rest.reason)
            for rest in long_code_omissions(document, measure)
            for start, end in _between(
                overlapping(known, rest.start, rest.end), rest.start, rest.end
            )
        ]
        ordered = sorted((*known, *rests), key=_START)
        document = replace(document, omissions=tuple(ordered))
    analysis = replace(
        document.analysis,
        imports=_carried(document.analysis.imports),
        entry_points=_carried(document.analysis.entry_points),
    )
    lines = LineIndex(document.text)
    chunks: list[WindowedChunk] = []
    for start, end, modality in _spans(document, policy, measure, begins):
        places = overlapping(document.places, start, end)
        first, last = lines.lines_of(start, end)
        after_section = bisect_left(document.sections, end, key=_START)
        first_section = max(bisect_right(document.sections, start, key=_START) - 1, 0)
        chunk = Chunk(
            document_id=document.id,
            modality=modality,
            position=len(chunks),
            start=start,
            end=end,
            text=document.text[start:end],
            sections=document.sections[first_section:after_section],
            locator=locate(places, start, end, line_start=first, line_end=last),
            tokens=measure.tokens(start, end),
            places=places,
            omissions=overlapping(document.omissions, start, end),
            analysis=chunk_analysis(analysis, document.text[start:end]),
        )
        windows = chunk_windows(document, chunk, policy, measure, embedder)
        chunks.append(WindowedChunk(chunk, windows))
    return chunks


_RECORDED = (Modality.VIDEO_TRANSCRIPT, Modality.AUDIO_TRANSCRIPT, Modality.VIDEO_FRAME)


def _spans(
    document: Document, policy: ChunkPolicy, measure: Measure, begins: Begins | None
) -> list[ModalSpan]:
    """Start, end and modality of each chunk."""
    if document.modality in _RECORDED:
        return recording_spans(document, measure, policy)
    if document.modality is Modality.CODE:
        spans = code_spans(document, policy, measure)
    else:
        spans = section_spans(document, policy, measure, begins)
    return [(start, end, document.modality) for start, end in spans]


def _between(omissions: Iterable[Omission], start: int, end: int) -> Iterator[tuple[int, int]]:
    """What is left of a stretch beside those: what is hidden in it stays hidden."""
    for omission in omissions:
        if start < omission.start:
            yield start, omission.start
        start = max(start, omission.end)
    if start < end:
        yield start, end


def _carried(names: Sequence[str]) -> tuple[str, ...]:
    """The first of a file's names: what every one of its chunks carries must be little."""
    reached = accumulate(map(len, names))
    return tuple(name for name, at in zip(names, reached, strict=True) if at <= _MOST_CARRIED)


def chunk_analysis(analysis: Analysis, text: str) -> Analysis:
    """The analysis with only those symbols that the chunk's text names, as whole words.

    Imports, layer and entry points are the file's and hold for all of its chunks.
    """
    if not analysis.symbols:
        return analysis
    words = set(_WORD.findall(text))
    return replace(
        analysis,
        symbols=tuple(symbol for symbol in analysis.symbols if _last_word(symbol) in words),
    )


def _last_word(symbol: str) -> str:
    """What a text calls it: `parse` for `Parser.parse`, `Parser::parse` or `Parser#parse`."""
    if symbol.isidentifier():
        return symbol
    found = _WORD.findall(symbol)
    return found[-1] if found else symbol
