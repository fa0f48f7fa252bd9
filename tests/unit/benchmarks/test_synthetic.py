from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from speed_parts.synthetic import (
    FEWEST,
    MOST,
    ClusteredEmbedder,
    SyntheticLibrary,
    Vocabulary,
    chunk_by_paragraph,
    document_sizes,
)

from pincite.text.lines import LineIndex
from pincite.vectors import Vector, unit

TEXTS = (
    "The rate was cut. The bank was not.",
    "Rates rise and the market falls, they say.",
    "A bond is a loan.",
    " \n",
)
DIMENSIONS = 64


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return Vocabulary.of(TEXTS)


def centres(count: int) -> list[Vector]:
    drawn = np.random.default_rng(1).standard_normal((count, DIMENSIONS))
    return [unit(row, dimensions=DIMENSIONS) for row in drawn]


def test_passages_have_the_lengths_of_the_texts_and_none_is_empty(vocabulary: Vocabulary) -> None:
    random = np.random.default_rng(3)
    lengths = Counter(len(vocabulary.passage(random).split()) for _ in range(300))
    assert set(lengths) == {5, 8}
    assert 150 < lengths[8] < 250  # two of the three texts that hold words


def test_words_are_as_frequent_as_in_the_texts(vocabulary: Vocabulary) -> None:
    random = np.random.default_rng(3)
    drawn = Counter(" ".join(vocabulary.passage(random) for _ in range(3_000)).split())
    expected = Counter(" ".join(TEXTS).split())
    assert drawn.keys() == expected.keys()
    for word, count in expected.items():
        share = drawn[word] / drawn.total()
        assert share == pytest.approx(count / expected.total(), rel=0.15)


@given(chunks=st.integers(1, 20_000), seed=st.integers(0, 100))
def test_documents_hold_all_chunks_and_only_the_last_is_short(chunks: int, seed: int) -> None:
    sizes = document_sizes(chunks, np.random.default_rng(seed))
    assert sum(sizes) == chunks
    assert all(FEWEST <= size <= MOST for size in sizes[:-1])
    assert 1 <= sizes[-1] <= MOST


def test_a_file_is_the_same_document_each_time_it_is_read(vocabulary: Vocabulary) -> None:
    first, second = (SyntheticLibrary(vocabulary, chunks=700, seed=2) for _ in range(2))
    assert first.files == second.files
    for file in reversed(first.files):
        assert first.read(file.path) == second.read(file.path)
        assert first.read(file.path).checksum == file.checksum


def test_another_seed_is_another_library(vocabulary: Vocabulary) -> None:
    one, other = (SyntheticLibrary(vocabulary, chunks=200, seed=seed) for seed in (1, 2))
    path = one.files[0].path
    assert one.files[0].checksum != other.files[0].checksum
    assert one.read(path).text != other.read(path).text


@given(chunks=st.integers(1, 400))
def test_a_library_has_as_many_chunks_as_asked_for_all_in_their_places(chunks: int) -> None:
    library = SyntheticLibrary(Vocabulary.of(TEXTS), chunks=chunks)
    documents = [library.read(file.path) for file in library.files]
    cut = [chunk_by_paragraph(document) for document in documents]
    assert sum(map(len, cut)) == chunks
    for document, parts in zip(documents, cut, strict=True):
        lines = LineIndex(document.text)
        for position, part in enumerate(parts):
            chunk, (window,) = part.chunk, part.windows
            assert chunk.text == document.text[chunk.start : chunk.end] == window.embedded
            assert chunk.text.strip() == chunk.text != ""
            assert chunk.position == position
            assert chunk.tokens == len(chunk.text.split())
            place = (chunk.locator.line_start, chunk.locator.line_end)
            assert place == lines.lines_of(chunk.start, chunk.end)


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_a_text_has_one_unit_vector(text: str) -> None:
    embedder = ClusteredEmbedder(centres(5))
    (vector,) = embedder.embed_passages([text])
    assert vector.dtype == np.float32
    assert float(np.linalg.norm(vector)) == pytest.approx(1, abs=1e-5)
    assert np.array_equal(vector, ClusteredEmbedder(centres(5)).embed_question(text))


def test_vectors_lie_in_clusters_around_the_centres() -> None:
    around = centres(5)
    embedder = ClusteredEmbedder(around)
    vectors = np.array(embedder.embed_passages([f"text {number}" for number in range(200)]))
    cosines = vectors @ np.array(around).T
    assert set(cosines.argmax(axis=1)) == set(range(5))
    assert cosines.max(axis=1).mean() == pytest.approx(0.78, abs=0.03)
    assert len(np.unique(vectors, axis=0)) == 200


def test_tokens_begin_where_words_do() -> None:
    assert list(ClusteredEmbedder(centres(1)).token_starts("a bond is a loan")) == [0, 2, 7, 10, 12]
