"""What each policy does with a document one can picture."""

from __future__ import annotations

from itertools import pairwise

import pytest

from pincite.chunking.flow import chunk_document
from pincite.chunking.pieces import Measure
from pincite.errors import SettingsError
from pincite.models.hashing import HashingEmbedder
from pincite.reading.reader import LibraryReader
from pincite.records import Chunk, Document
from pincite.settings import POLICIES, policy_named

EMBEDDER = HashingEmbedder()


def read(text: str) -> Document:
    return LibraryReader("library").read("notes.md", text.encode())


def words(count: int, topic: str = "pump") -> str:
    """So many tokens in sentences of ten."""
    sentence = f"The {topic} runs on and on until noon."
    tokens = len(EMBEDDER.token_starts(sentence))
    return " ".join([sentence] * (count // tokens))


def chunks_of(text: str, policy: str) -> list[Chunk]:
    return [one.chunk for one in chunk_document(read(text), policy_named(policy), EMBEDDER)]


def overlaps(text: str, chunks: list[Chunk]) -> list[int]:
    measure = Measure(text, EMBEDDER)
    return [measure.tokens(after.start, before.end) for before, after in pairwise(chunks)]


def test_the_presets_are_the_documented_ones() -> None:
    assert {
        name: (one.minimum, one.maximum, one.overlap, one.apart_at_level, one.whole_section)
        for name, one in POLICIES.items()
    } == {
        "vault": (300, 800, 0, 0, None),
        "flat": (0, 512, 50, 0, None),
        "semantic": (0, 512, 50, 0, None),  # what a model does not choose
        "wiki": (0, 500, 100, 2, 1_000),
        "brain": (700, 1_000, 125, 0, None),
    }
    assert [name for name, one in POLICIES.items() if not one.follow_headings] == [
        "flat",
        "semantic",
    ]
    assert policy_named("rule_based") == POLICIES["flat"]


def test_an_unknown_policy_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SettingsError, match="vault, flat, semantic, wiki, brain, rule_based"):
        policy_named("valut")


# vault: sections of 300 to 800 tokens, without overlap


def test_vault_puts_small_sections_together() -> None:
    text = "# Log\n\n" + "\n\n".join(f"## Day {day}\n\n{words(60)}" for day in range(4))
    (only,) = chunks_of(text, "vault")
    assert only.text == text
    assert only.heading_path == ("Log",)


def test_vault_cuts_before_headings_between_the_two_sizes() -> None:
    text = "\n\n".join(f"# Part {number}\n\n{words(500)}" for number in range(3))
    chunks = chunks_of(text, "vault")
    assert [chunk.heading_path for chunk in chunks] == [("Part 0",), ("Part 1",), ("Part 2",)]
    assert all(chunk.text.startswith("# Part") for chunk in chunks)
    assert overlaps(text, chunks) == [0, 0]


def test_vault_cuts_a_long_section_at_sentences_into_even_chunks() -> None:
    text = f"# Long\n\n{words(2_000)}"
    chunks = chunks_of(text, "vault")
    assert all(300 <= chunk.tokens <= 800 for chunk in chunks)
    assert all(chunk.text.endswith("noon.") for chunk in chunks)
    assert "\n\n".join([chunks[0].text[:6], chunks[0].text[8:]]) == chunks[0].text
    assert " ".join(chunk.text for chunk in chunks) == text
    assert max(chunk.tokens for chunk in chunks) < 1.3 * min(chunk.tokens for chunk in chunks)


def test_sections_with_nothing_in_common_are_named_by_the_first() -> None:
    (only,) = chunks_of(f"# A\n\n{words(60)}\n\n# B\n\n{words(60)}", "vault")
    assert only.heading_path == ("A",)


# flat: 512 tokens, 50 of them repeated, whatever the headings say


def test_flat_cuts_by_size_alone_and_repeats_about_fifty_tokens() -> None:
    text = "\n\n".join(f"# Part {number}\n\n{words(90)}" for number in range(20))
    chunks = chunks_of(text, "flat")
    assert all(chunk.tokens <= 512 for chunk in chunks)
    assert all(chunk.tokens >= 350 for chunk in chunks)
    assert all(40 <= tokens <= 50 for tokens in overlaps(text, chunks))
    assert len(chunks) > 3


# wiki: sections of level 2 apart and whole up to 1,000 tokens, else 500 with 100 repeated


def test_wiki_keeps_level_two_sections_apart_however_small() -> None:
    headings = ("# Wiki", "## A", "### Sub", "## B")
    text = "\n\n".join(f"{heading}\n\n{words(20)}" for heading in headings)
    chunks = chunks_of(text, "wiki")
    assert [chunk.heading_path for chunk in chunks] == [("Wiki",), ("Wiki", "A"), ("Wiki", "B")]
    assert chunks[1].text.startswith("## A\n")
    assert "### Sub" in chunks[1].text


def test_wiki_keeps_a_section_whole_up_to_a_thousand_tokens() -> None:
    text = f"## A\n\n{words(950)}\n\n## B\n\n{words(30)}"
    first, second = chunks_of(text, "wiki")
    assert 900 < first.tokens <= 1_000
    assert second.text.startswith("## B")


def test_wiki_cuts_a_larger_section_and_repeats_about_a_hundred_tokens() -> None:
    text = f"## A\n\n{words(2_000)}"
    chunks = chunks_of(text, "wiki")
    assert all(chunk.tokens <= 500 for chunk in chunks)
    assert all(80 <= tokens <= 100 for tokens in overlaps(text, chunks))
    assert len(chunks) >= 4


def test_wiki_cuts_a_large_section_at_its_own_subsections_first() -> None:
    text = f"## A\n\n{words(450)}\n\n### One\n\n{words(450)}\n\n### Two\n\n{words(450)}"
    chunks = chunks_of(text, "wiki")
    assert [chunk.heading_path for chunk in chunks] == [("A",), ("A", "One"), ("A", "Two")]
    assert overlaps(text, chunks) == [0, 0]


def test_wiki_leaves_out_the_headings_of_empty_sections() -> None:
    text = f"# Wiki\n\n## Empty\n\n## Full\n\n{words(30)}"
    assert [chunk.heading_path for chunk in chunks_of(text, "wiki")] == [("Wiki", "Full")]


# brain: 700 to 1,000 tokens, 125 of them repeated


def test_brain_makes_large_chunks_and_repeats_about_an_eighth() -> None:
    text = "\n\n".join(f"## Part {number}\n\n{words(180)}" for number in range(20))
    chunks = chunks_of(text, "brain")
    assert all(chunk.tokens <= 1_000 for chunk in chunks)
    assert all(chunk.tokens >= 700 for chunk in chunks[:-1])
    assert all(100 <= tokens <= 125 for tokens in overlaps(text, chunks))


# All of them


@pytest.mark.parametrize("policy", POLICIES)
def test_a_table_that_is_too_large_is_cut_between_rows(policy: str) -> None:
    rows = [f"| {number} | the pump of number {number} |" for number in range(400)]
    text = "\n".join(["| a | b |", "| --- | --- |", *rows])
    chunks = chunks_of(text, policy)
    assert len(chunks) > 3
    assert all(chunk.text.endswith("|") for chunk in chunks)
    whole = [row for row in rows if any(row in chunk.text for chunk in chunks)]
    assert whole == rows


@pytest.mark.parametrize("policy", ["flat", "brain"])
def test_a_chunk_smaller_than_the_overlap_is_not_repeated_whole(policy: str) -> None:
    # A table that just fits leaves no room for the line before it.
    room = policy_named(policy).maximum - policy_named(policy).overlap
    row = "| a |\n"
    tokens = len(EMBEDDER.token_starts(row))
    table = "| a |\n| - |\n" + row * (room // tokens - 2)
    first, second = chunks_of(f"Two words.\n\n{table}", policy)
    assert first.text == "Two words."
    assert second.text == table.rstrip()


@pytest.mark.parametrize(
    ("policy", "prefix"),
    [
        ("vault", "[doc: Pumps] [type: md] [section: Pumps > Seals]\n"),
        ("wiki", "[Document: Pumps | Section: Seals]\n"),
    ],
)
def test_windows_tell_the_model_of_their_surroundings(policy: str, prefix: str) -> None:
    document = read(f"# Pumps\n\n## Seals\n\n{words(1_500)}")
    windowed = chunk_document(document, policy_named(policy), EMBEDDER)
    windows = windowed[-1].windows
    assert len(windows) > 1
    assert all(window.embedded.startswith(prefix) for window in windows)


@pytest.mark.parametrize(
    ("policy", "path", "embedded"),
    [
        ("vault", "log/pump repairs.txt", "[doc: pump repairs] [type: txt]\nAll is well."),
        ("vault", "log/20240305.txt", "[type: txt]\nAll is well."),
        ("vault", "log/repairs.py", "[type: py]\nAll is well."),
        ("wiki", "log/pump repairs.txt", "[Document: pump repairs]\nAll is well."),
        ("wiki", "log/20240305.txt", "All is well."),
    ],
)
def test_a_document_without_a_title_is_embedded_under_its_files_name_if_that_has_a_word(
    policy: str, path: str, embedded: str
) -> None:
    document = LibraryReader("library").read(path, b"All is well.")
    (only,) = chunk_document(document, policy_named(policy), EMBEDDER)
    assert [window.embedded for window in only.windows] == [embedded]


def test_a_moved_file_has_the_same_windows() -> None:
    text = f"Without any heading. {words(300)}".encode()
    policy = policy_named("vault")
    here, there = (
        chunk_document(LibraryReader("library").read(path, text), policy, EMBEDDER)
        for path in ("notes.md", "else/where/notes.md")
    )
    assert [one.windows for one in here] == [one.windows for one in there]


def test_a_very_long_heading_leaves_room_for_the_text() -> None:
    document = read(f"# {'very ' * 200}long\n\n{words(300)}")
    for one in chunk_document(document, policy_named("vault"), EMBEDDER):
        for window in one.windows:
            tokens = len(EMBEDDER.token_starts(window.embedded))
            own = len(EMBEDDER.token_starts(document.text[window.start : window.end]))
            assert tokens <= EMBEDDER.card.token_limit
            assert tokens - own <= EMBEDDER.card.token_limit // 4


def test_what_is_hidden_in_long_code_stays_hidden_under_every_policy() -> None:
    code = "\n".join(f"value_{number} = {number}" for number in range(400))
    text = f"# Page\n\n```\n{code}\nsecret\u200b\u200bword\n```\n"
    for policy in POLICIES.values():
        chunks = chunk_document(
            LibraryReader("library").read("a.md", text.encode()), policy, EMBEDDER
        )
        assert any("zero-width characters" in part.chunk.flags for part in chunks), policy.name
        assert "secretword" in chunks[-1].chunk.searched


def code_block(lines: int) -> str:
    """About thirteen tokens a line; a sentence ends in the middle of each."""
    return "\n".join(["```", *(f"    call({at})  # stop. Then go" for at in range(lines)), "```"])


def test_wiki_keeps_a_long_code_block_whole_and_embeds_its_beginning() -> None:
    code = code_block(150)
    text = f"## A\n\n{words(450)}\n\n{code}\n\n{words(450)}"
    windowed = chunk_document(read(text), policy_named("wiki"), EMBEDDER)
    assert any(code in one.chunk.text for one in windowed)
    embedded = [window.embedded for one in windowed for window in one.windows]
    assert all(one.partition("\n")[2].strip() for one in embedded)
    assert any("call(0)" in one for one in embedded)
    assert not any("call(149)" in one for one in embedded)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("lines", [150, 1_000])  # beyond what is kept whole, too
def test_no_chunk_begins_in_the_middle_of_a_line_of_code(policy: str, lines: int) -> None:
    text = f"## A\n\nSome words.\n\n{code_block(lines)}\n\n{words(450)}"
    chunks = chunks_of(text, policy)
    starts = [chunk.start for chunk in chunks if chunk.start < text.rindex("```")]
    assert all(text[at - 1] == "\n" for at in starts if at)
