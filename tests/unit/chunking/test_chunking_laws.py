"""Laws that hold for every document under every policy."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from pincite.chunking.flow import chunk_document
from pincite.chunking.pieces import Measure
from pincite.models.hashing import HashingEmbedder
from pincite.reading.reader import LibraryReader
from pincite.records import Block, BlockKind, Chunk, Document, WindowedChunk
from pincite.settings import POLICIES, ChunkPolicy
from pincite.text.lines import LineIndex

# The presets, and the same a tenth of the size: small documents then have many chunks.
SMALL = {
    name: replace(
        policy,
        name=f"small {name}",
        minimum=policy.minimum // 10,
        maximum=policy.maximum // 10,
        overlap=policy.overlap // 10,
        whole_section=policy.whole_section and policy.whole_section // 10,
    )
    for name, policy in POLICIES.items()
}
EVERY_POLICY = [*POLICIES.values(), *SMALL.values()]
EMBEDDER = HashingEmbedder(dimensions=8, token_limit=64)

WORDS = ["pump", "leaks", "the", "of", "ERR-4042", "v1.2.3", "don't", "e.g.", "naïve", "🚀", "👩‍👧"]
words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)
latin = st.builds(lambda text, end: text + end, words, st.sampled_from([".", "!", "?", ""]))
cjk = st.text(st.sampled_from("東京都人工智能研究水"), min_size=1, max_size=30).map("{}。".format)
sentences = st.lists(latin | cjk, min_size=1, max_size=8).map(" ".join)
long_sentences = st.builds(lambda text, times: " ".join([text] * times), words, st.integers(5, 60))
long_words = st.integers(50, 3_000).map(lambda size: "水" * size)
headings = st.builds(lambda level, text: f"{'#' * level} {text}", st.integers(1, 4), words)
lists = st.lists(sentences.map("- {}".format), min_size=1, max_size=8).map("\n".join)
rows = st.builds(lambda a, b: f"| {a} | {b} |", words, words)
tables = st.builds(
    lambda body: "\n".join(["| a | b |", "| --- | --- |", *body]),
    st.lists(rows, min_size=1, max_size=12),
)
fences = st.lists(words.map("    {}  # é".format) | st.just(""), max_size=15).map(
    lambda lines: "\n".join(["```python", *lines, "```"])
)
others = st.sampled_from(
    ["> a quote\n> of two lines", "[x]: http://example.org", "<div>raw</div>", "---", "Setext\n==="]
)
parts = st.one_of(
    headings,
    headings,
    sentences,
    sentences,
    lists,
    tables,
    fences,
    others,
    long_sentences,
    long_words,
)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = "\n\n".join(draw(st.lists(parts, min_size=1, max_size=14)))
    text = draw(st.sampled_from(["", "\n\n", "---\ntags: [a]\n---\n"])) + text
    text += draw(st.sampled_from(["", "\n", "\n\n  \n"]))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    path = draw(st.sampled_from(["notes/a.md", "a.txt"]))
    return LibraryReader("library").read(path, text.encode())


def cut(document: Document, policy: ChunkPolicy) -> list[WindowedChunk]:
    return chunk_document(document, policy, EMBEDDER)


def most_tokens(policy: ChunkPolicy) -> int:
    return max(policy.maximum, policy.whole_section or 0)


def covered(spans: list[tuple[int, int]], length: int) -> set[int]:
    return {at for start, end in spans for at in range(start, min(end, length))}


def has(chunk: Chunk, block: Block) -> bool:
    return chunk.start <= block.start and block.end <= chunk.end


policies = st.sampled_from(EVERY_POLICY)
some = settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])


@some
@given(policy=policies, document=documents())
def test_chunks_are_exact_slices_in_order_with_ids_of_their_own(
    policy: ChunkPolicy, document: Document
) -> None:
    chunks = [one.chunk for one in cut(document, policy)]
    lines = LineIndex(document.text)
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    for position, chunk in enumerate(chunks):
        assert chunk.text == document.text[chunk.start : chunk.end]
        assert chunk.text.strip()
        assert not chunk.text[-1].isspace()
        assert (chunk.document_id, chunk.position) == (document.id, position)
        first, last = chunk.locator.line_start, chunk.locator.line_end
        assert lines.start_of(first) <= chunk.start <= lines.end_of(first)
        assert lines.start_of(last) < chunk.end <= lines.end_of(last)
    for before, after in pairwise(chunks):
        assert before.start < after.start
        assert before.end < after.end


@some
@given(policy=policies, document=documents())
def test_every_character_of_every_block_is_in_a_chunk(
    policy: ChunkPolicy, document: Document
) -> None:
    chunks = [one.chunk for one in cut(document, policy)]
    reached = covered([(chunk.start, chunk.end) for chunk in chunks], len(document.text))
    for block in document.blocks:
        if policy.apart_at_level and block.kind is BlockKind.HEADING:
            continue  # the heading of an empty section may be left out
        missing = set(range(block.start, block.end)) - reached
        assert all(document.text[at].isspace() for at in missing)
    assert chunks


@some
@given(policy=policies, document=documents())
def test_no_chunk_is_larger_than_the_policy_allows(policy: ChunkPolicy, document: Document) -> None:
    code = [one for one in document.blocks if one.kind is BlockKind.CODE and policy.shorten_code]
    measure = Measure(document.text, EMBEDDER)
    for one in cut(document, policy):
        assert one.chunk.tokens == len(EMBEDDER.token_starts(one.chunk.text))
        kept_whole = sum(measure.tokens(at.start, at.end) for at in code if has(one.chunk, at))
        assert one.chunk.tokens <= most_tokens(policy) + kept_whole


@some
@given(policy=policies, document=documents())
def test_windows_cover_their_chunk_and_fit_the_model(
    policy: ChunkPolicy, document: Document
) -> None:
    for chunk, windows in ((one.chunk, one.windows) for one in cut(document, policy)):
        for window in windows:
            assert chunk.start <= window.start < window.end <= chunk.end
            assert window.embedded.endswith(document.text[window.start : window.end])
            tokens = len(EMBEDDER.token_starts(window.embedded))
            assert tokens <= EMBEDDER.card.token_limit
        reached = covered([(one.start, one.end) for one in windows], len(document.text))
        missing = set(range(chunk.start, chunk.end)) - reached
        assert all(document.text[at].isspace() for at in missing)
        assert len({(one.start, one.end) for one in windows}) == len(windows)


@some
@given(policy=policies, document=documents())
def test_the_same_document_is_always_cut_in_the_same_way(
    policy: ChunkPolicy, document: Document
) -> None:
    assert cut(document, policy) == cut(replace(document), policy)


@some
@given(policy=policies, document=documents())
def test_chunks_overlap_only_as_much_as_the_policy_says(
    policy: ChunkPolicy, document: Document
) -> None:
    measure = Measure(document.text, EMBEDDER)
    for before, after in pairwise(one.chunk for one in cut(document, policy)):
        assert measure.tokens(after.start, before.end) <= policy.overlap


@some
@given(policy=policies, document=documents())
def test_a_table_or_code_that_fits_is_in_one_chunk_whole(
    policy: ChunkPolicy, document: Document
) -> None:
    measure = Measure(document.text, EMBEDDER)
    chunks = [one.chunk for one in cut(document, policy)]
    for block in document.blocks:
        fits = measure.tokens(block.start, block.end) <= policy.maximum - policy.overlap
        if block.kind in (BlockKind.TABLE, BlockKind.CODE) and fits:
            assert any(has(chunk, block) for chunk in chunks)


@some
@given(policy=policies.filter(lambda policy: policy.follow_headings), document=documents())
def test_no_chunk_ends_with_a_heading_whose_text_would_fit(
    policy: ChunkPolicy, document: Document
) -> None:
    measure = Measure(document.text, EMBEDDER)
    room = policy.maximum - policy.overlap
    chunks = [one.chunk for one in cut(document, policy)]
    for block, following in pairwise(document.blocks):
        fits = measure.tokens(block.start, following.end) <= room
        if block.kind is BlockKind.HEADING and following.kind is not BlockKind.HEADING and fits:
            assert all(chunk.end != block.end for chunk in chunks)


@pytest.mark.parametrize("policy", EVERY_POLICY, ids=lambda policy: policy.name)
def test_a_document_that_is_only_a_heading_is_one_chunk(policy: ChunkPolicy) -> None:
    document = LibraryReader("library").read("a.md", b"# Only a heading\n")
    (only,) = cut(document, policy)
    assert only.chunk.text == "# Only a heading"
    assert len(only.windows) == 1
