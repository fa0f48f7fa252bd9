"""Text of a shape that nobody writes: it is cut into chunks of a usual size, and held in little."""

from __future__ import annotations

import tracemalloc

import pytest

from pincite.chunking.flow import chunk_document
from pincite.chunking.pieces import Measure, document_pieces
from pincite.models.hashing import HashingEmbedder
from pincite.reading.lines.plain import paragraphs
from pincite.reading.reader import LibraryReader
from pincite.reading.writer import Heading, sections_under
from pincite.records import Chunk
from pincite.settings import POLICIES, policy_named
from pincite.text.lines import LineIndex
from small_memory import read_in_small_memory

EMBEDDER = HashingEmbedder()
ANY_POLICY = pytest.mark.parametrize("policy", POLICIES)


def chunks_of(text: str, policy: str, name: str = "a.txt") -> list[Chunk]:
    document = LibraryReader("library").read(name, text.encode())
    return [one.chunk for one in chunk_document(document, policy_named(policy), EMBEDDER)]


@ANY_POLICY
@pytest.mark.parametrize(
    ("name", "text"),
    [("a.txt", "x" * 500_000), ("a.json", "1" * 500_000), ("a.md", "# " + "é" * 500_000)],
)
def test_a_word_without_end_is_cut_into_chunks_of_a_usual_size(
    name: str, text: str, policy: str
) -> None:
    chunks = chunks_of(text, policy, name)
    assert max(len(one.text) for one in chunks) < 20_000
    assert chunks[-1].end == len(text)


def test_a_long_word_is_measured_as_many_and_its_neighbours_are_not() -> None:
    text = f"one two {'x' * 1_599} three"
    measure = Measure(text, EMBEDDER)
    assert measure.tokens(0, 8) == 2
    assert measure.tokens(8, 1_607) == 100
    assert measure.tokens(0, len(text)) == 103
    assert Measure("one " + "x" * 900, EMBEDDER).tokens(0, 904) == 2


@ANY_POLICY
@pytest.mark.parametrize("blank", [" ", "\n", "\r\n", "\t\n"])
def test_no_chunk_runs_across_blanks_without_end(blank: str, policy: str) -> None:
    chunks = chunks_of(f"one{blank * 100_000}two", policy)
    assert [one.text.strip() for one in chunks] == ["one", "two"]
    assert max(len(one.text) for one in chunks) < 25_000  # with the overlap


def test_sentences_without_number_are_joined_behind_the_first() -> None:
    sentences = 320_000
    document = LibraryReader("library").read("a.txt", b"go. " * sentences)
    pieces = document_pieces(document, Measure(document.text, EMBEDDER), largest=800)
    assert 300_000 < len(pieces) < 301_000
    assert sum(piece.tokens for piece in pieces) == 2 * sentences
    assert pieces[-1].end == 4 * sentences - 1


def test_paragraphs_and_sections_without_number_end_in_one() -> None:
    found = list(paragraphs("w\n\n" * 250_000))
    assert len(found) == 200_000
    assert found[-1] == (199_999 * 3, 750_000)
    headings = [Heading(at, 1, "h") for at in range(60_000)]
    sections = list(sections_under(headings, 60_000))
    assert len(sections) == 50_000
    assert sections[-1].end == 60_000


def test_millions_of_lines_are_counted_in_little_memory() -> None:
    text = "ab\n" * 300_000
    tracemalloc.start()
    lines = LineIndex(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert lines.count == 300_000
    assert peak < 16 * len(text)


@pytest.mark.parametrize("around", range(4))
def test_lines_are_the_same_wherever_a_text_is_looked_at_in_parts(around: int) -> None:
    text = "x" * (99_998 + around) + "\r\n\r\n\ny\rz"
    lines = LineIndex(text)
    shown = [text[lines.start_of(at) : lines.end_of(at)] for at in range(1, lines.count + 1)]
    assert shown == ["x" * (99_998 + around), "", "", "y", "z"]


def test_what_every_chunk_carries_is_little() -> None:
    imports = "".join(f"import {'a' * 50}{number}\n" for number in range(1_000))
    chunks = chunks_of(imports + "def f():\n    pass\n", "vault", "a.py")
    carried = chunks[-1].analysis.imports
    assert 4_900 < sum(map(len, carried)) <= 5_000
    assert carried[0] == "a" * 50 + "0"
    tags = ", ".join(f"tag{number}" for number in range(5_000))
    front = f"---\ntitle: {'long ' * 1_000}\ntags: [{tags}]\n---\n"
    document = LibraryReader("library").read("a.md", f"{front}Text\n".encode())
    assert len(document.title) == 500
    assert len(document.about) == 5_000
    assert len(document.metadata.tags) == 5_000


def test_a_banner_of_hashes_is_no_riddle() -> None:
    front = b"---\n" + b"#" * 60 + b"\nJust text\n---\n"
    assert "Just text" in read_in_small_memory("pincite.reading.lines.markdown", "read", "a", front)


def test_millions_of_short_rows_fit_into_the_memory_of_a_reader() -> None:
    said = read_in_small_memory("pincite.reading.data.table", "read", "a.csv", b"a,b\n" * 1_200_000)
    assert said.count("\n") == 500_000
