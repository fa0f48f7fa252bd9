"""Web pages: headings, paragraphs, lists, tables and code as a browser shows them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.errors import FileUnreadable
from pincite.reading.source_file import SourceFile
from pincite.reading.web.html import read
from pincite.records import BlockKind, Content


def page(html: str | bytes) -> Content:
    data = html.encode() if isinstance(html, str) else html
    return read(SourceFile("page.html", data))


def text(html: str | bytes) -> str:
    return page(html).text


def body(length: int = 40) -> str:
    return "<p>" + "Some words of content. " * length + "</p>"


class TestBlocks:
    def test_headings_open_sections(self) -> None:
        content = page("<h1>One</h1><p>a</p><h3>Deep <em>down</em></h3><p>b</p><h2>Two</h2>")
        assert [section.heading_path for section in content.sections] == [
            ("One",),
            ("One", "Deep down"),
            ("One", "Two"),
        ]

    def test_an_element_with_the_role_of_a_heading_is_one(self) -> None:
        content = page('<div role="heading" aria-level="3">Terms</div><p>a</p>')
        assert content.blocks[0].kind is BlockKind.HEADING
        assert content.sections[0].level == 3

    def test_inline_elements_are_joined_as_a_browser_does(self) -> None:
        html = "<p>It is<b> very</b>\n  <i>im</i>portant,&nbsp;and <a href=x>here</a>.</p>"
        assert text(html) == "It is very important, and here."

    def test_links_side_by_side_do_not_run_together(self) -> None:
        assert text("<p><a href=a>Home</a><a href=b>News</a></p>") == "Home News"

    def test_lines_drawn_with_characters_are_no_text(self) -> None:
        assert text("<div>Ann</div><div>|</div><div>May 1</div><p>---</p>") == "Ann\n\nMay 1"

    def test_line_breaks_are_kept_and_two_of_them_part_paragraphs(self) -> None:
        assert text("<p>one<br>two<br><br>three</p>") == "one\ntwo\n\nthree"

    def test_lists_keep_their_depth_and_numbers(self) -> None:
        html = "<ol start=3><li>c<ul><li>inner</ul><li value=7><p>g</p><p>more</p><li>h</ol>"
        assert text(html) == "3. c\n  - inner\n7. g\n   more\n8. h"

    def test_letters_number_lists_too(self) -> None:
        assert text("<ol type=a><li>first<li>second</ol>") == "a. first\nb. second"

    def test_definitions_stand_below_their_terms(self) -> None:
        assert text("<dl><dt>Pump</dt><dd>It moves water.</dd></dl>") == "Pump\n  It moves water."

    def test_preformatted_text_is_code_as_it_is(self) -> None:
        content = page("<pre><code>def f():\n    return  {1: 2}</code></pre>")
        assert content.text == "def f():\n    return  {1: 2}"
        assert content.blocks[0].kind is BlockKind.CODE

    def test_a_column_of_line_numbers_is_no_code(self) -> None:
        html = (
            "<table><tr><td><pre>1\n2\n3</pre></td><td><pre>x = {}\n\ny = 2</pre></td></tr></table>"
        )
        assert text(html) == "x = {}\n\ny = 2"

    def test_a_long_number_is_no_number_of_a_line(self) -> None:
        digits = "31415" * 1_000  # more than Python makes a number of
        assert page(f"<pre>{digits}</pre>").text == digits

    def test_prose_on_a_typewriter_is_paragraphs(self) -> None:
        paragraph = "This memo says at length what everybody knows\nand nobody does. " * 8
        content = page(f"<pre>   {paragraph}\n\n   {paragraph}</pre>")
        assert [block.kind for block in content.blocks] == [BlockKind.PARAGRAPH] * 2

    def test_quotes_raised_numbers_and_readings_are_told_apart(self) -> None:
        assert text("<p>He said <q>no</q>.</p>") == "He said “no”."
        assert text("<p>10<sup>5</sup> and H<sub>2</sub>O</p>") == "10^5 and H2O"
        assert text("<p>so<sup><a href=#n1>1</a></sup></p>") == "so[1]"
        assert text("<ruby>東<rt>とう</rt>京<rt>きょう</rt></ruby>") == "東京(とうきょう)"

    def test_images_speak_where_they_have_something_to_say(self) -> None:
        assert (
            text('<p><img alt="A pump in a well"> below</p>') == "[image: A pump in a well] below"
        )
        assert text('<p><img alt="logo"><img alt="IMG_1.png"><img src=x>below</p>') == "below"
        assert text('<p><img alt="A fine pump"> A fine pump</p>') == "A fine pump"

    def test_folded_details_are_read(self) -> None:
        assert text("<details><summary>Why?</summary>Because.</details>") == "Why?\n\nBecause."

    def test_entities_and_soft_hyphens_become_plain_text(self) -> None:
        assert text("<p>R&amp;D &lt;b&gt; co&shy;operate &#8364;5</p>") == "R&D <b> cooperate €5"

    def test_an_unclosed_heading_ends_at_the_next_paragraph(self) -> None:
        content = page("<h2><div>Title</div><p>Text<p>More")
        assert content.text == "Title\n\nText\n\nMore"
        assert [block.kind for block in content.blocks][:2] == [
            BlockKind.HEADING,
            BlockKind.PARAGRAPH,
        ]


class TestTables:
    def test_data_are_rows_with_their_caption_before(self) -> None:
        content = page(
            "<table><caption>Prices</caption><tr><th>Part<th>EUR<tr><td>Seal<td>5</table>"
        )
        assert content.text == "Prices\n\n| Part | EUR |\n| Seal | 5 |"
        assert content.blocks[-1].kind is BlockKind.TABLE

    def test_spans_keep_columns_in_place(self) -> None:
        html = (
            "<table><tr><th>Who<th colspan=2>When<tr><td rowspan=2>Ann<td>May<td>1"
            "<tr><td>June<td>2</table>"
        )
        assert text(html) == "| Who | When |  |\n| Ann | May | 1 |\n| Ann | June | 2 |"

    def test_signs_in_columns_of_their_own_join_their_numbers(self) -> None:
        html = (
            "<table><tr><th><th></th><th><th>2023<th><tr><td>Sales<td><td>$<td>(12<td>)"
            "<tr><td>Cost<td><td><td>7<td></table>"
        )
        assert text(html) == "|  | 2023 |\n| Sales | $(12) |\n| Cost | 7 |"

    def test_a_table_that_lays_out_a_page_is_its_content(self) -> None:
        html = f"<table><tr><td>{body()}</td><td><h2>News</h2>{body()}</td></tr></table>"
        assert BlockKind.TABLE not in {block.kind for block in page(html).blocks}

    def test_rows_of_data_between_nested_tables_stay_rows(self) -> None:
        html = (
            "<table><tr><td>Grade<td>A<tr><td>Use<td>bolts"
            "<tr><td><table><tr><td>C<td>0.4</table><td>x</table>"
        )
        assert text(html).startswith("| Grade | A |\n| Use | bolts |\n\n| C | 0.4 |")

    @pytest.mark.parametrize("span", ["999999999999", "-1", "0", "x", "9999"])
    def test_spans_of_any_size_do_no_harm(self, span: str) -> None:
        html = f"<table><tr><th colspan={span} rowspan={span}>a<th>b<tr><td>c<td>d</table>"
        assert len(text(html)) < 5_000


TAGS = (
    "p",
    "div",
    "b",
    "a",
    "table",
    "tr",
    "td",
    "ul",
    "li",
    "h2",
    "pre",
    "br",
    "nav",
    "sup",
    "rt",
)
PIECES = st.one_of(
    st.sampled_from(TAGS).map(lambda tag: f"<{tag} style='opacity:0'>"),
    st.sampled_from(TAGS).flatmap(lambda tag: st.sampled_from((f"<{tag}>", f"</{tag}>"))),
    st.text("ab \n\t\x01\u2003-1", max_size=5),
)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_any_html_gives_blocks_in_order_and_no_error(html: str) -> None:
    try:
        content = page(f"<p>Text</p>{html}")
    except FileUnreadable:
        return
    at = 0
    for block in content.blocks:
        assert at <= block.start < block.end <= len(content.text)
        assert content.text[block.start : block.end].strip()
        at = block.end
    at = 0
    for one in content.omissions:
        assert at <= one.start < one.end <= len(content.text)
        at = one.end


@given(st.lists(st.sampled_from(("alpha", "beta", "gamma")), min_size=1), st.data())
def test_no_visible_word_is_lost_or_made_up(words: list[str], data: st.DataObject) -> None:
    tags = st.sampled_from(("p", "div", "b", "li", "td", "h3", "span", "blockquote", "dd"))
    html = "".join(f"<{(tag := data.draw(tags))}>{word} </{tag}>" for word in words)
    found = text(html)
    assert [word for word in found.replace("|", " ").split() if word != "-"] == words
