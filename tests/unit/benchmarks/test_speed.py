"""What the speed benchmark is made of: drawn libraries, edits, sizes, tables."""

from __future__ import annotations

import argparse

import numpy as np
import pytest
from hypothesis import given, strategies as st
from speed import sizes_from
from speed_parts.corpora import Corpus, edited
from speed_parts.synthetic import (
    FEWEST,
    MOST,
    ClusteredEmbedder,
    SyntheticLibrary,
    Vocabulary,
    chunk_by_paragraph,
    document_sizes,
)
from speed_parts.table import markdown

from pincite.text.lines import LineIndex
from pincite.vectors import Vector, unit

SEARCHES = ("words", "bm25s", "vector", "numpy", "hybrid", "embedding", "whole")


def corpus_of_documents(count: int) -> Corpus:
    library = SyntheticLibrary(Vocabulary.of(["one two three"]), chunks=count * 1_000)
    return Corpus(
        files=library.files[:count],
        read=library.read,
        chunk=chunk_by_paragraph,
        embedder=ClusteredEmbedder([unit([1.0, 0.0], dimensions=2)]),
    )


def test_an_edit_changes_every_so_many_files_and_no_word() -> None:
    before = corpus_of_documents(10)
    after = edited(before, every=4, first=1)
    changed = [
        old.path
        for old, new in zip(before.files, after.files, strict=True)
        if old.checksum != new.checksum
    ]
    assert changed == [before.files[number].path for number in (1, 5, 9)]
    for file in after.files:
        assert after.read(file.path).checksum == file.checksum
        assert after.read(file.path).text == before.read(file.path).text


def test_sizes_are_read_with_their_letters_in_order_and_once() -> None:
    assert sizes_from("1M,1k, 50k,1000") == [1_000, 50_000, 1_000_000]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ten",
        "1g",
    ],
)
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is no size"):
        sizes_from(text)


def test_tables_show_ratios_and_a_dash_for_what_was_not_measured() -> None:
    figures = {"chunks": 1_015.0}
    figures |= {f"{name}_p50_ms": 2.0 for name in SEARCHES}
    figures |= {f"{name}_p95_ms": 1_234.5 for name in SEARCHES}
    search, build, room = markdown([figures | {"words_p50_ms": 7.0}]).split("\n\n")[1::2]
    assert search.splitlines()[2].startswith("| 1,015 | 7.00 / 1,234 | 3.50 × | 2.00 / 1,234 |")
    assert set(build.splitlines()[2].split(" | ")[1:-1]) == {"–"}
    assert len({line.count("|") for line in room.splitlines()}) == 1


TEXTS = (
    "The rate was cut. The bank was not.",
    "Rates rise and the market falls, they say.",
    "A bond is a loan.",
    " \n",
)
DIMENSIONS = 64


def centres(count: int) -> list[Vector]:
    drawn = np.random.default_rng(1).standard_normal((count, DIMENSIONS))
    return [unit(row, dimensions=DIMENSIONS) for row in drawn]


@given(chunks=st.integers(1, 20_000), seed=st.integers(0, 100))
def test_documents_hold_all_chunks_and_only_the_last_is_short(chunks: int, seed: int) -> None:
    sizes = document_sizes(chunks, np.random.default_rng(seed))
    assert sum(sizes) == chunks
    assert all(FEWEST <= size <= MOST for size in sizes[:-1])
    assert 1 <= sizes[-1] <= MOST


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
