"""Which hits take a place among the results, and what is said of those that do not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from helpers import embedded, fill
from memory_store import MemoryStore
from pincite.records import Chunk, ChunkId, DocumentEntry, DocumentId, Hit, Share
from pincite.retrieve.shape import Likeness, Shaped, shape
from pincite.settings import SearchSettings

FEE = (
    "The harbour fee of a boat under ten metres is 40 crowns a night, to be paid at the office "
    "before noon; whoever comes later pays on the next day, together with the fee for water."
)


class Library:
    """A store with documents of one chunk for each text, and hits on all of them in their order."""

    def __init__(self, **texts: Sequence[str]) -> None:
        self.store = MemoryStore()
        documents = [embedded(f"{name}.md", *parts) for name, parts in texts.items()]
        fill(self.store, *documents)
        self.chunks = [part.chunk for document in documents for part in document.chunks]
        self.loaded = 0

    def load(self, ids: Sequence[ChunkId]) -> list[tuple[DocumentEntry, Chunk]]:
        self.loaded += len(ids)
        return self.store.load_chunks(ids)

    def shaped(
        self,
        settings: SearchSettings,
        wanted: int = 10,
        shares: Sequence[dict[str, Share]] = (),
        named: Sequence[DocumentId] = (),
    ) -> Shaped:
        hits = [
            Hit(chunk.id, chunk.document_id, 1.0, shares[number] if shares else {})
            for number, chunk in enumerate(self.chunks)
        ]
        return shape(hits, self.load, settings, wanted=wanted, named=named)

    def kept(self, settings: SearchSettings, wanted: int = 10) -> list[str]:
        return [one.chunk.text for one in self.shaped(settings, wanted).kept]


@pytest.mark.parametrize(("most", "kept"), [(1, "a e"), (0, "a b c d e")])
def test_so_many_chunks_of_each_document_are_kept_in_their_order(most: int, kept: str) -> None:
    library = Library(first="abcd", second="e")
    assert library.kept(SearchSettings(per_document=most)) == kept.split()


def test_the_limit_gives_way_for_a_document_with_most_of_the_best_hits_or_that_is_named() -> None:
    long = Library(report="abcdef", other="gh")
    assert "".join(long.kept(SearchSettings())) == "abcdefgh"
    assert "".join(long.kept(SearchSettings(per_document=3))) == "abcgh"
    even = Library(first="abcd", second="efgh")
    assert "".join(even.kept(SearchSettings())) == "abcefg"
    named = even.shaped(SearchSettings(), named=[even.chunks[0].document_id])
    assert "".join(one.chunk.text for one in named.kept) == "abcdefg"


def test_only_what_would_have_been_among_the_results_is_told_and_loaded() -> None:
    library = Library(a=("one", "two", "three"), b=("four",), c=("five",), d=("six",))
    shaped = library.shaped(SearchSettings(per_document=1), wanted=2)
    assert [one.chunk.text for one in shaped.kept] == ["one", "four"]
    assert len(shaped.dropped) == 2
    assert library.loaded == 2


def test_a_text_that_stands_in_two_files_is_one_result_that_names_both() -> None:
    library = Library(a=(FEE,), copy=(FEE.upper(),), b=("Other things.",))
    shaped = library.shaped(SearchSettings())
    assert [one.document.path for one in shaped.kept] == ["a.md", "b.md"]
    assert shaped.same_text == {library.chunks[0].id: ["copy.md"]}
    assert [one.reason for one in shaped.dropped] == ["the same text as in a.md"]


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        (FEE.replace("noon;", "noon,").upper(), True),
        (FEE.replace("together with", "along with"), True),
        (FEE.replace("the fee for water", "the fee for power"), True),
        # Another figure is another fact, and so is a denial.
        (FEE.replace("to be paid", "not to be paid"), False),
        (FEE.replace("40", "50"), False),
        (FEE + " Children under six stay for nothing, and so do dogs on a lead.", False),
    ],
)
def test_texts_are_the_same_that_differ_in_a_word_or_two_but_in_no_figure(
    other: str, is_same: bool
) -> None:
    likeness = Likeness(0.8)
    likeness.add("Something else altogether.")
    likeness.add(FEE)
    assert likeness.repeats(other) == (1 if is_same else None)


def test_with_one_only_identical_texts_are_the_same_and_with_zero_none_are() -> None:
    for least, same in ((1.0, True), (0.0, False)):
        likeness = Likeness(least)
        likeness.add(FEE)
        assert (likeness.repeats(FEE) is not None) == same
        assert likeness.repeats(FEE.replace("together with", "along with")) is None


def test_what_is_far_and_has_no_word_of_the_question_is_left_out() -> None:
    library = Library(a=("far",), b=("near",), c=("far but named",), d=("by words alone",))
    far, near, word = Share(1, 0.2, 0.1), Share(1, 0.3, 0.1), Share(1, 2.0, 0.1)
    shares = [{"vector": far}, {"vector": near}, {"vector": far, "words": word}, {"words": word}]
    shaped = library.shaped(SearchSettings(), shares=shares)
    assert [one.chunk.text for one in shaped.kept] == ["near", "far but named", "by words alone"]
    assert [one.reason for one in shaped.dropped] == [
        "its similarity of 0.20 is under the floor of 0.25"
    ]
    everything = library.shaped(SearchSettings(similarity_floor=-1), shares=shares)
    assert len(everything.kept) == 4


def test_a_chunk_that_is_cut_is_told_with_its_reason() -> None:
    library = Library(a=("one", "two", "three"), b=("four",))
    dropped = library.shaped(SearchSettings(per_document=1)).dropped
    assert [(one.chunk_id, one.reason) for one in dropped] == [
        (library.chunks[1].id, "second chunk of the same document"),
        (library.chunks[2].id, "third chunk of the same document"),
    ]


def test_short_texts_are_the_same_only_where_they_are_identical() -> None:
    likeness = Likeness(0.1)
    likeness.add("the pump of the mole")
    assert likeness.repeats("the pump of the moles") is None
    assert likeness.repeats("The pump, of the mole!") == 0


def test_what_is_dropped_makes_room_for_what_comes_after_it() -> None:
    library = Library(a=(FEE,), b=(FEE,), c=(FEE,), d=("Another text.",), e=("A third one.",))
    assert library.kept(SearchSettings(), wanted=3) == [FEE, "Another text.", "A third one."]
