"""Where to cut a text: by its sections, paragraphs and sentences. One way for all policies."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import attrgetter

from pincite.chunking.cut import cut
from pincite.chunking.pieces import Boundary, Measure, Piece, document_pieces
from pincite.records import BlockKind, Document
from pincite.settings import ChunkPolicy
from pincite.text.sentences import sentence_spans

Span = tuple[int, int]

Begins = Callable[[Document, Sequence[Piece]], Iterable[int]]
"""A text and its pieces → indexes of those that begin a chunk, unless it would be tiny."""

_LEAST_CHOSEN = 64  # tokens of a chunk that somebody chose
_LONGEST_WHOLE = 100_000  # characters of a section that stays whole, blanks among them
_FURTHEST = 20_000  # characters looked back at for an overlap; more than any overlap needs


def section_spans(
    document: Document, policy: ChunkPolicy, measure: Measure, begins: Begins | None = None
) -> list[Span]:
    """Where each chunk of a text begins and ends; somebody may choose where they begin."""
    largest = policy.maximum - policy.overlap
    pieces = document_pieces(document, measure, largest=largest, whole_code=policy.shorten_code)
    if not policy.follow_headings:
        inside = Boundary.INSIDE
        plain = (inside if one.boundary is inside else Boundary.BLOCK for one in pieces)
        pieces = [replace(one, boundary=at, level=0) for one, at in zip(pieces, plain, strict=True)]
    if begins:
        for at in begins(document, pieces):
            pieces[at] = replace(pieces[at], boundary=Boundary.HEADING, level=1)
        policy = replace(policy, minimum=_LEAST_CHOSEN, overlap=0)
    return list(_chunk_spans(document, pieces, policy, measure))


def _chunk_spans(
    document: Document, pieces: Sequence[Piece], policy: ChunkPolicy, measure: Measure
) -> Iterator[Span]:
    """Where each chunk begins and ends, with its overlap into the chunk before."""
    for group in _groups(pieces, policy):
        tokens = sum(piece.tokens for piece in group)
        is_short = group[-1].end - group[0].start <= _LONGEST_WHOLE
        if policy.whole_section and tokens <= policy.whole_section and is_short:
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
                lowest = max(floor, start - _FURTHEST)
                start = overlap_start(document, lowest, start, policy.overlap, measure)
            yield start, end
            floor = group[first].start


def overlap_start(document: Document, floor: int, start: int, most: int, measure: Measure) -> int:
    """Where the repeated end of the chunk before begins, at most so many tokens back.

    A sentence of the last fifth before that, or else the very token, but in code the next line;
    never as far back as the start of the chunk before.
    """
    sentences = (at for at, _ in sentence_spans(document.text, floor, start) if at > floor)
    fitting = (at for at in sentences if most * 4 // 5 <= measure.tokens(at, start) <= most)
    at = next(fitting, measure.offset_before(start, most))
    block = bisect_right(document.blocks, at, key=attrgetter("start")) - 1
    if block >= 0 and document.blocks[block].kind is BlockKind.CODE:
        at = document.text.find("\n", at - 1, start) + 1 or start
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
