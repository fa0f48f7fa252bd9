from __future__ import annotations

import argparse

import pytest
from speed import sizes_from
from speed_parts.corpora import Corpus, edited
from speed_parts.synthetic import (
    ClusteredEmbedder,
    SyntheticLibrary,
    Vocabulary,
    chunk_by_paragraph,
)
from speed_parts.table import markdown

from pincite.vectors import unit

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


def test_edits_one_after_the_other_all_stay() -> None:
    before = corpus_of_documents(4)
    after = edited(edited(before, every=2, first=0), every=2, first=0)
    once = edited(before, every=2, first=0)
    assert len({corpus.files[0].checksum for corpus in (before, once, after)}) == 3
    assert after.files[1] == before.files[1]


def test_sizes_are_read_with_their_letters_in_order_and_once() -> None:
    assert sizes_from("1M,1k, 50k,1000") == [1_000, 50_000, 1_000_000]


@pytest.mark.parametrize("text", ["", "1k,", "ten", "-1k", "5", "1g", "100m"])
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
