"""Where to cut source code: at its definitions. And how much of a code block is embedded."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, takewhile

from pincite.chunking.cut import cut
from pincite.chunking.pieces import (
    EMBEDDED_CODE,
    WHOLE_CODE,
    Boundary,
    Measure,
    Piece,
    document_pieces,
)
from pincite.records import BlockKind, Document, Omission, OmissionReason
from pincite.settings import ChunkPolicy

# Tokens. Functions below this are one-liners, which nobody looks for one by one.
_MINIMUM = 64
# A function and its neighbour are two things, even if both are small; methods of one class less so.
_ACROSS_DEFINITION = 1.2


def code_spans(document: Document, policy: ChunkPolicy, measure: Measure) -> list[tuple[int, int]]:
    """Where each chunk of source code begins and ends: one for each function, if it fits.

    What is tiny goes with its neighbours, what is too long is cut between statements. That is so
    under every policy; only how long is too long is the policy's to say.
    """
    pieces = document_pieces(document, measure, largest=policy.maximum)
    # Where sections begin → 1 if they share no name with the one before, 2 if they share one …
    levels = {
        section.start: 1 + _shared(before.heading_path, section.heading_path)
        for before, section in pairwise(document.sections)
    }
    marked = [_at_definition(piece, levels.get(piece.start)) for piece in pieces]
    runs = cut(
        marked,
        minimum=min(_MINIMUM, policy.maximum),
        maximum=policy.maximum,
        across=_ACROSS_DEFINITION,
    )
    return [(marked[first].start, marked[after - 1].end) for first, after in runs]


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _at_definition(piece: Piece, level: int | None) -> Piece:
    return piece if level is None else replace(piece, boundary=Boundary.HEADING, level=level)


def long_code_omissions(document: Document, measure: Measure) -> tuple[Omission, ...]:
    """What to leave out of long code blocks: all lines behind the one that fills the measure."""
    omissions = []
    for block in document.blocks:
        tokens = measure.tokens(block.start, block.end)
        full = measure.offset_after(block.start, EMBEDDED_CODE)
        if block.kind is not BlockKind.CODE or full is None or tokens > WHOLE_CODE:
            continue
        line_end = document.text.find("\n", full, block.end)
        if line_end >= 0:
            omissions.append(Omission(line_end, block.end, OmissionReason.LONG_CODE))
    return tuple(omissions)
