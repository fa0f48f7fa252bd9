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
from pincite.chunking.cut import cut
from pincite.chunking.pieces import Measure, span_pieces
from pincite.chunking.sections import Begins, section_spans
from pincite.chunking.transcript import recording_spans
from pincite.ports import Embedder
from pincite.records import (
    Analysis,
    BlockKind,
    Chunk,
    Document,
    Modality,
    Omission,
    Window,
    WindowedChunk,
    locate,
    overlapping,
    without,
)
from pincite.settings import ChunkPolicy
from pincite.text.lines import LineIndex

_WORD = re.compile(r"[\w$]+")
_MOST_CARRIED = 5_000  # characters of names; two hundred imports
# `20240305` and `7f3a9c` are numbers, of which a model of meaning makes noise.
_A_WORD = re.compile(r"[^\W\d_]{3}|[^\W\d_\x00-\x7f]")
_OVERLAP_SHARE = 8  # one eighth of a window is repeated in the next

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
        windows = _chunk_windows(document, chunk, policy, measure, embedder)
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


def _chunk_windows(
    document: Document, chunk: Chunk, policy: ChunkPolicy, measure: Measure, embedder: Embedder
) -> tuple[Window, ...]:
    """Overlapping slices that together hold all of the chunk that a reader would see, in order.

    Small models read 256 tokens and get worse beyond; a chunk is longer. Nothing is cut off: a long
    chunk is embedded as several windows, and is found by its best one.
    """
    room = embedder.card.token_limit - embedder.passage_overhead
    prefix = _context_prefix(document, chunk.heading_path, policy)
    starts = embedder.token_starts(prefix)
    prefix = prefix[: starts[room // 4]] if len(starts) > room // 4 else prefix
    prefix = f"{prefix}\n" if prefix else ""
    room -= len(embedder.token_starts(prefix))
    spans = _window_spans(document, chunk, measure, room) if chunk.tokens > room else []
    seen = [
        (start, end, text)
        for start, end in spans
        if (text := _embedded_text(chunk, start, end)).strip()
    ]
    whole = (chunk.start, chunk.end, _embedded_text(chunk, chunk.start, chunk.end))
    return tuple(Window(start, end, prefix + text) for start, end, text in seen or [whole])


def _window_spans(
    document: Document, chunk: Chunk, measure: Measure, room: int
) -> Iterator[tuple[int, int]]:
    """Slices with room for the prefix, each repeating some of the one before."""
    overlap = room // _OVERLAP_SHARE
    pieces = span_pieces(
        document.text,
        chunk.start,
        chunk.end,
        measure,
        largest=room - overlap,
        kind=BlockKind.CODE if chunk.modality is Modality.CODE else BlockKind.PARAGRAPH,
    )
    for first, after in cut(pieces, minimum=0, maximum=room - overlap):
        begin = first
        while begin and measure.tokens(pieces[begin - 1].start, pieces[after - 1].end) <= room:
            begin -= 1
            if measure.tokens(pieces[begin].start, pieces[first].start) >= overlap:
                break
        yield pieces[begin].start, pieces[after - 1].end


def _embedded_text(chunk: Chunk, start: int, end: int) -> str:
    """A slice of the chunk less what is to be left out of it."""
    text = chunk.text[start - chunk.start : end - chunk.start]
    return without(text, start, overlapping(chunk.omissions, start, end))


def _context_prefix(document: Document, heading_path: tuple[str, ...], policy: ChunkPolicy) -> str:
    """What the embedder is told of a window's surroundings; the reader never sees it.

    A document without a title goes by its file's name, if that has a word in it; source code does
    not, which has names enough. The folder is left out on purpose: a file that was moved needs no
    new vectors.
    """
    named = document.modality is not Modality.CODE and _A_WORD.search(document.title)
    title = document.title if document.own_title or named else ""
    if policy.document_and_section:
        below_title = heading_path[heading_path[:1] == (title,) :]
        parts = [("Document", title), ("Section", " > ".join(below_title))]
        said = " | ".join(f"{what}: {value}" for what, value in parts if value)
        return f"[{said}]" if said else ""
    parts = [("doc", title), ("type", document.type), ("section", " > ".join(heading_path))]
    return " ".join(f"[{what}: {value}]" for what, value in parts if value)
