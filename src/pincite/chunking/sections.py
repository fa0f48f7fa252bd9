"""Where to cut a text: by its sections, paragraphs and sentences. One way for all policies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from pincite.chunking.cut import cut
from pincite.chunking.measure import Measure
from pincite.chunking.pieces import Boundary, Piece, document_pieces
from pincite.records import Document
from pincite.settings import ChunkPolicy
from pincite.text.sentences import sentence_spans

Span = tuple[int, int]

_FURTHEST = 20_000  # characters looked back at for an overlap; more than any overlap needs


def section_spans(document: Document, policy: ChunkPolicy, measure: Measure) -> list[Span]:
    """Where each chunk of a text begins and ends."""
    pieces = document_pieces(document, measure, largest=policy.maximum - policy.overlap)
    if not policy.follow_headings:
        pieces = [_as_plain_text(piece) for piece in pieces]
    return list(_chunk_spans(document.text, pieces, policy, measure))


def _as_plain_text(piece: Piece) -> Piece:
    boundary = Boundary.BLOCK if piece.boundary is not Boundary.INSIDE else piece.boundary
    return Piece(piece.start, piece.end, piece.tokens, boundary)


def _chunk_spans(
    text: str, pieces: Sequence[Piece], policy: ChunkPolicy, measure: Measure
) -> Iterator[Span]:
    """Where each chunk begins and ends, with its overlap into the chunk before."""
    for group in _groups(pieces, policy):
        tokens = measure.tokens(group[0].start, group[-1].end)
        if policy.whole_section and tokens <= policy.whole_section:
            yield group[0].start, group[-1].end
            continue
        runs = cut(
            group,
            minimum=max(policy.minimum - policy.overlap, 0),
            maximum=policy.maximum - policy.overlap,
        )
        floor = group[0].start
        for first, after in runs:
            start, end = group[first].start, group[after - 1].end
            if first and policy.overlap:
                start = _overlap_start(text, max(floor, start - _FURTHEST), start, policy, measure)
            yield start, end
            floor = group[first].start


def _overlap_start(text: str, floor: int, start: int, policy: ChunkPolicy, measure: Measure) -> int:
    """Where the repeated end of the chunk before begins, at most `overlap` tokens back.

    A sentence of the last fifth before that, or else the very token; never as far back as the
    start of the chunk before.
    """
    begins = [at for at, _ in sentence_spans(text, floor, start) if at > floor]
    low, high = policy.overlap * 4 // 5, policy.overlap
    for at in begins:
        if low <= measure.tokens(at, start) <= high:
            return at
    at = measure.offset_before(start, policy.overlap)
    return at if at > floor else start


def _groups(pieces: Sequence[Piece], policy: ChunkPolicy) -> list[list[Piece]]:
    """Stretches that are cut apart from each other; one, unless the policy keeps sections apart."""
    if not policy.apart_at_level:
        return [list(pieces)] if pieces else []
    groups = []
    for group in _split_at_level(pieces, policy.apart_at_level):
        tokens = sum(piece.tokens for piece in group)
        fits = policy.whole_section is not None and tokens <= policy.whole_section
        groups.extend([group] if fits else _split_at_level(group, policy.apart_at_level + 1))
    with_text = [group for group in groups if any(not piece.level for piece in group)]
    return with_text or groups


def _split_at_level(pieces: Sequence[Piece], level: int) -> list[list[Piece]]:
    starts = [at for at, piece in enumerate(pieces) if at and 0 < piece.level <= level]
    edges = [0, *starts, len(pieces)]
    return [list(pieces[start:end]) for start, end in pairwise(edges) if start < end]
