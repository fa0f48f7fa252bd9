"""How source code is cut, and how much of a code block is embedded."""

from __future__ import annotations

import pytest

from pincite.chunking.code import code_spans, long_code_omissions
from pincite.chunking.pieces import Measure
from pincite.models.hashing import HashingEmbedder
from pincite.records import Block, BlockKind, Document, OmissionReason, Section
from pincite.settings import POLICIES, policy_named

EMBEDDER = HashingEmbedder()


def document(*parts: tuple[tuple[str, ...], str]) -> Document:
    """A file made of definitions; each line that is not indented further begins a block."""
    sections, blocks, text = [], [], ""
    for path, code in parts:
        start = len(text)
        for statement in code.split("\n"):
            blocks.append(Block(BlockKind.CODE, len(text), len(text) + len(statement)))
            text += statement + "\n"
        sections.append(Section(path, len(path), start, len(text)))
    return Document("l", "a.py", "0", "py", "a", text, tuple(sections), tuple(blocks))


def chunks(source: Document, policy: str = "vault") -> list[str]:
    measure = Measure(source.text, EMBEDDER)
    return [
        source.text[start:end] for start, end in code_spans(source, policy_named(policy), measure)
    ]


def function(name: str, statements: int) -> str:
    return "\n".join([f"def {name}():", *[f"    go({name}, {at})" for at in range(statements)]])


@pytest.mark.parametrize("policy", POLICIES)
def test_each_function_is_a_chunk_under_every_policy(policy: str) -> None:
    parts = [function(name, 15) for name in ("a", "b", "c")]
    source = document(*(((part[4],), part) for part in parts))
    assert chunks(source, policy) == parts


def test_tiny_definitions_go_together() -> None:
    source = document(*(((f"f{at}",), function(f"f{at}", 1)) for at in range(12)))
    sizes = [len(EMBEDDER.token_starts(chunk)) for chunk in chunks(source)]
    assert 1 < len(sizes) < 6
    assert all(size >= 64 for size in sizes)


def test_tiny_definitions_keep_to_their_class() -> None:
    methods = [(cls, f"m{at}") for cls in ("A", "B") for at in range(6)]
    source = document(*((path, "    " + function("_".join(path), 1)) for path in methods))
    assert all(("A_" in chunk) != ("B_" in chunk) for chunk in chunks(source))


@pytest.mark.parametrize("policy", POLICIES)
def test_a_long_function_is_cut_between_statements(policy: str) -> None:
    source = document((("a",), function("a", 400)))
    found = chunks(source, policy)
    assert len(found) > 2
    assert "\n".join(found) + "\n" == source.text
    most = policy_named(policy).maximum
    assert all(len(EMBEDDER.token_starts(chunk)) <= most for chunk in found)


def test_a_block_that_is_too_long_is_cut_between_lines() -> None:
    lines = [f"    row number {at} of a long table" for at in range(600)]
    text = "\r".join(lines)
    source = Document(
        *("l", "a.py", "0", "py", "a", text),
        sections=(Section((), 0, 0, len(text)),),
        blocks=(Block(BlockKind.CODE, 0, len(text)),),
    )
    assert [line for chunk in chunks(source) for line in chunk.split("\r")] == lines


def test_what_does_not_fit_a_line_is_cut_anyway() -> None:
    text = "x=1;" * 5_000
    source = Document(
        *("l", "a.js", "0", "js", "a", text),
        sections=(Section((), 0, 0, len(text)),),
        blocks=(Block(BlockKind.CODE, 0, len(text)),),
    )
    assert "".join(chunks(source)) == text


def wiki(*blocks: tuple[BlockKind, str]) -> Document:
    placed, text = [], ""
    for kind, said in blocks:
        placed.append(Block(kind, len(text), len(text) + len(said)))
        text += said + "\n\n"
    section = Section((), 0, 0, len(text))
    return Document("l", "a.md", "0", "md", "a", text, (section,), tuple(placed))


def test_the_rest_of_a_long_code_block_is_left_out_from_a_line_end_on() -> None:
    code = "\n".join(["```python", *[f"call(number_{at})" for at in range(300)], "```"])
    page = wiki((BlockKind.PARAGRAPH, "Words."), (BlockKind.CODE, code), (BlockKind.CODE, code))
    measure = Measure(page.text, EMBEDDER)
    found = long_code_omissions(page, measure)
    assert len(found) == 2
    for omission, block in zip(found, page.blocks[1:], strict=True):
        assert omission.reason is OmissionReason.LONG_CODE
        assert page.text[omission.start] == "\n"
        assert omission.end == block.end
        assert 500 <= measure.tokens(block.start, omission.start) < 520


def test_short_code_and_long_prose_are_embedded_whole() -> None:
    page = wiki(
        (BlockKind.CODE, "```\n" + "call()\n" * 50 + "```"), (BlockKind.PARAGRAPH, "word " * 900)
    )
    assert long_code_omissions(page, Measure(page.text, EMBEDDER)) == ()


def test_one_endless_line_of_code_is_not_left_out() -> None:
    page = wiki((BlockKind.CODE, "call() " * 900))
    assert long_code_omissions(page, Measure(page.text, EMBEDDER)) == ()
