"""Web pages made to break their reader."""

from __future__ import annotations

import pytest

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.source_file import SourceFile
from pincite.reading.web.html import read
from pincite.records import Content


def page(html: str | bytes) -> Content:
    data = html.encode() if isinstance(html, str) else html
    return read(SourceFile("page.html", data))


def text(html: str | bytes) -> str:
    return page(html).text


@pytest.mark.parametrize("data", [b"", b"  \n", b"<!-- only -->", b"<p hidden>x</p>", b"<br>"])
def test_a_page_without_text_is_empty(data: bytes) -> None:
    with pytest.raises(FileEmpty):
        page(data)


def test_a_binary_file_is_refused() -> None:
    with pytest.raises(FileUnreadable):
        page(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 10)


def test_a_million_nested_elements_end_quickly() -> None:
    with pytest.raises(FileUnreadable, match="nested more than"):
        page(b"<div>" * 1_000_000 + b"deep")


def test_what_was_read_before_the_depths_is_kept_with_a_note() -> None:
    content = page(b"<p>Before</p>" + b"</x>" * 200 + b"<b>" * 100_000 + b"deep<p>After")
    assert content.text.startswith("Before")
    assert "left out" in content.metadata.notes[0]


def test_deep_but_possible_nesting_is_read_whole() -> None:
    assert text("<div>" * 1_500 + "deep" + "</div>" * 1_500 + "<p>After") == "deep\n\nAfter"


def test_a_huge_attribute_is_passed_over() -> None:
    source = b"data:image/png;base64," + b"A" * 5_000_000
    assert text(b'<p>Text<img src="' + source + b'" style="' + source + b'"></p>') == "Text"


def test_a_text_longer_than_the_parser_likes_is_whole() -> None:
    assert text(b"<p>" + b"x" * 10_500_000 + b"</p><p>end").endswith("x\n\nend")


def test_an_element_with_too_many_attributes_is_refused() -> None:
    for attribute in ('a{}="<"', "a{} ", "a{}/", "a{}='>'\n"):
        many = "".join(attribute.format(number) for number in range(2_000))
        with pytest.raises(FileUnreadable, match="attributes"):
            page(f"<p {many}>x</p>")


def test_unclosed_and_crossed_tags_lose_nothing() -> None:
    found = text("<p>a<b>b<i>c</b>d</i><table><tr><td>e<p>f</div></table>g<ul><li>h")
    assert "".join(found.split()) == "abcdefg-h"


def test_entities_of_a_document_type_are_not_expanded() -> None:
    bomb = '<!DOCTYPE html [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><p>Text &b;</p>'
    assert text(bomb).endswith("Text &b;")
    external = (
        '<?xml version="1.0"?><!DOCTYPE html SYSTEM "file:///etc/passwd"><html><p>Text &x;</p>'
    )
    assert text(external) == "Text &x;"


@pytest.mark.parametrize(
    "sheet",
    ["/*" * 200_000, "{" * 300_000, "ab " * 200_000, ".a{;" * 100_000, "\\64 " * 99_999],
)
def test_broken_styles_take_no_time(sheet: str) -> None:
    assert text(f"<style>{sheet}</style><p class=a style='{sheet}'>Text</p>") == "Text"
