"""Answers as Markdown: nothing of a document becomes live, and all of it is read back exactly."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from markdown_it import MarkdownIt

from pincite.answer.footnotes import escaped, footnotes_in, outcome_as_markdown, unescaped
from pincite.errors import ReceiptInvalid
from pincite.records import (
    Abstention,
    Answer,
    ChunkId,
    Citation,
    Claim,
    DocumentId,
    Locator,
)

HOSTILE = (
    "See [here](https://evil.example/x) and ![pixel](https://evil.example/p.png)",
    "<script>alert(1)</script> <img src=x onerror=alert(1)> <!-- x -->",
    "<https://evil.example> and https://evil.example and www.evil.example and a@evil.example",
    "[^1]: “forged” — forged.md [chunk: " + "0" * 40 + "] (characters 0–6)",
    "first line\n\n[here]: https://evil.example\n\n[here] and [^1]",
    "```\ncode\n```\n\n    more\n\n# Heading\n\n- item\n\n1. item\n\n> quote\n\n***",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "# heading",
    "12345. item",
    "- item",
    "&lt;b&gt; &#60;b&#62; \\<b\\> \\\\[x](y)",
    "“quoted” — other.md [chunk: x]",
    "hidden \u202e direction \u200b and \x1b[31m red \U000e0041",
    "`code` **strong** _em_ ~~gone~~ $x$",
    "javascript:alert(1) //localhost",
    "\\u{41} and \\\\u{41}",
    "| a | b |",
    "a | b",
    ":-- | --:",
    "-- | --",
)


def citation(quote: str, place: str = "notes/lease.md — The lease (line 3)") -> Citation:
    return Citation(
        citation=place,
        quote=quote,
        path="notes/lease.md",
        title="The lease",
        document_id=DocumentId("d" * 40),
        chunk_id=ChunkId("c" * 40),
        start=7,
        end=7 + len(quote),
        locator=Locator(3, 3),
        heading_path=(),
        matches=(),
    )


def copied(quote: str, *, state: str = "quoted") -> str:
    claim = Claim(quote, state, "verbatim", (citation(quote, quote),))  # type: ignore[arg-type]
    return outcome_as_markdown(Answer(quote, (claim,), 0.9))


def kinds(markdown: str) -> set[str]:
    """What a CommonMark parser, and one with tables, sees in it beside text."""
    found = set()
    for parser in (MarkdownIt("commonmark"), MarkdownIt("default", {"html": True})):
        for token in parser.parse(markdown):
            found |= {token.type, *(child.type for child in token.children or ())}
        assert "<a" not in parser.render(markdown)
    return found - {"paragraph_open", "paragraph_close", "inline", "text", "softbreak"}


@pytest.mark.parametrize("state", ["quoted", "supported"])
@pytest.mark.parametrize("quote", HOSTILE)
def test_nothing_in_a_document_becomes_live(quote: str, state: str) -> None:
    assert kinds(copied(quote, state=state)) <= {"strong_open", "strong_close"}


@given(st.lists(st.sampled_from([*"[]()<>!`*_#-+=~|&;:/\\.1 \n\t“”^$@a", "http://", "[^1]: "])))
def test_nothing_that_looks_like_markdown_becomes_live(parts: list[str]) -> None:
    quote = "".join(parts) or "x"
    assert kinds(copied(quote, state="supported")) <= {"strong_open", "strong_close"}


@pytest.mark.parametrize(
    "text",
    [
        "password_protected.xlsx (rows 2–9), page 3.",
        "It costs $2,000 (or $1,500) a year.",
        "2.5 metres - 3 at most; -4 °C; R&D",
        "17,000 | 800",
        "3.1 Rent is due on the first.",
    ],
)
def test_what_markdown_would_not_change_stays_as_it_is(text: str) -> None:
    assert escaped(text) == text
    (note,) = footnotes_in(copied(text).replace(".", r"\.").replace("|", r"\|"))  # as it was before
    assert (note.quote, note.citation) == (text, text)


@given(st.text())
def test_what_is_escaped_is_read_back_exactly_from_one_line(text: str) -> None:
    assert unescaped(escaped(text)) == text
    assert len(escaped(text).splitlines()) <= 1
    assert "”" not in escaped(text)


@pytest.mark.parametrize("quote", HOSTILE)
def test_a_footnote_is_read_back_exactly(quote: str) -> None:
    (note,) = footnotes_in(f"# My page\n\nSome words.\n\n{copied(quote)}\nMore words.\n")
    assert (note.quote, note.citation) == (quote, quote)
    assert (note.chunk_id, note.start, note.end) == ("c" * 40, 7, 7 + len(quote))


def test_what_would_rewrite_the_screen_is_shown_and_not_done() -> None:
    shown = MarkdownIt("commonmark").render(copied("a \u202e b"))
    assert "\u202e" not in shown
    assert r"a \u{202e} b" in shown


def test_the_same_words_are_one_footnote_for_several_claims() -> None:
    claim = Claim("It ends in June.", "supported", "judge", (citation("It ends on 30 June."),))
    copy = outcome_as_markdown(Answer("When?", (claim, claim), 0.9, writer="some-model"))
    assert copy.count("It ends in June. [^1]\n") == 2
    assert copy.count("[^1]: “It ends on 30 June.” — notes/lease") == 1
    assert "*Written by some-model.*" in copy


def test_an_abstention_is_copied_with_what_is_near() -> None:
    near = citation("The yellow buoy lies in 27 metres of water.")
    told = Abstention("Why?", "not_answered", "Nothing answers it.", (), (near,), 0.1)
    copy = outcome_as_markdown(told)
    assert "Nothing answers it." in copy
    assert [note.quote for note in footnotes_in(copy)] == [near.quote]


def test_a_text_that_quotes_other_words_than_its_footnote_cites_those_as_well() -> None:
    copy = copied("It ends on 30 June.").replace("“It ends on 30 June.” [^1]", "“Never.” [^1]")
    assert [note.quote for note in footnotes_in(copy)] == ["It ends on 30 June.", "Never."]


def test_a_footnote_that_was_altered_beyond_reading_is_told_with_its_line() -> None:
    broken = copied("It ends on 30 June.").replace("]: “", "]: ")
    with pytest.raises(ReceiptInvalid, match="line 5 looks like a citation"):
        footnotes_in(broken)


def test_a_text_without_citations_is_none_of_ours() -> None:
    with pytest.raises(ReceiptInvalid, match="holds no citations of pincite"):
        footnotes_in("# My page\n\nSome words.[^1]\n\n[^1]: A footnote of somebody else.\n")
