"""Chunk → windows: overlapping slices that fit the embedder, each with its place in words.

Small models read 256 tokens and get worse beyond; a chunk is longer. Nothing is cut off: a long
chunk is embedded as several windows, and is found by its best one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pincite.chunking.cut import cut
from pincite.chunking.pieces import Measure, span_pieces
from pincite.ports import Embedder
from pincite.records import BlockKind, Chunk, Document, Modality, Window, overlapping, without
from pincite.settings import ChunkPolicy

# `20240305` and `7f3a9c` are numbers, of which a model of meaning makes noise.
_A_WORD = re.compile(r"[^\W\d_]{3}|[^\W\d_\x00-\x7f]")
_OVERLAP_SHARE = 8  # one eighth of a window is repeated in the next


def chunk_windows(
    document: Document, chunk: Chunk, policy: ChunkPolicy, measure: Measure, embedder: Embedder
) -> tuple[Window, ...]:
    """One window or more, in order, that together hold all of the chunk that a reader would see."""
    room = embedder.card.token_limit - embedder.passage_overhead
    prefix = context_prefix(document, chunk.heading_path, policy)
    starts = embedder.token_starts(prefix)
    prefix = prefix[: starts[room // 4]] if len(starts) > room // 4 else prefix
    prefix = f"{prefix}\n" if prefix else ""
    room -= len(embedder.token_starts(prefix))
    spans = _spans(document, chunk, measure, room) if chunk.tokens > room else []
    seen = [
        (start, end, text)
        for start, end in spans
        if (text := _embedded_text(chunk, start, end)).strip()
    ]
    whole = (chunk.start, chunk.end, _embedded_text(chunk, chunk.start, chunk.end))
    return tuple(Window(start, end, prefix + text) for start, end, text in seen or [whole])


def _spans(
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


def context_prefix(document: Document, heading_path: tuple[str, ...], policy: ChunkPolicy) -> str:
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
