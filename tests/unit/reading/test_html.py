"""Web pages: what a browser shows of them, what nobody sees, and what they say of themselves."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.source_file import SourceFile
from pincite.reading.web.html import decode_html, read, write_html
from pincite.reading.writer import Writer
from pincite.records import BlockKind, Content, OmissionReason


def page(html: str | bytes) -> Content:
    data = html.encode() if isinstance(html, str) else html
    return read(SourceFile("page.html", data))


def text(html: str | bytes) -> str:
    return page(html).text


def body(length: int = 40) -> str:
    return "<p>" + "Some words of content. " * length + "</p>"


def test_headings_open_sections() -> None:
    content = page("<h1>One</h1><p>a</p><h3>Deep <em>down</em></h3><p>b</p><h2>Two</h2>")
    assert [section.heading_path for section in content.sections] == [
        ("One",),
        ("One", "Deep down"),
        ("One", "Two"),
    ]
    content = page('<div role="heading" aria-level="3">Terms</div><p>a</p>')
    assert content.sections[0].level == 3


SHOWN = {
    "inline elements are joined": (
        "<p>It is<b> very</b>\n  <i>im</i>portant,&nbsp;and <a href=x>here</a>.</p>",
        "It is very important, and here.",
    ),
    "links side by side stay apart": (
        "<p><a href=a>Home</a><a href=b>News</a></p>",
        "Home News",
    ),
    "lines drawn with characters are no text": (
        "<div>Ann</div><div>|</div><div>May 1</div><p>---</p>",
        "Ann\n\nMay 1",
    ),
    "two breaks part paragraphs": ("<p>one<br>two<br><br>three</p>", "one\ntwo\n\nthree"),
    "lists keep their depth and numbers": (
        "<ol start=3><li>c<ul><li>inner</ul><li value=7><p>g</p><p>more</p><li>h</ol>",
        "3. c\n  - inner\n7. g\n   more\n8. h",
    ),
    "columns that are there for space": (
        "<table><tr><td><td>One<td><tr><td><td>Two<td><tr><td><h2>Top</h2></table>",
        "One\nTwo\n\nTop",
    ),
    "letters number lists": ("<ol type=a><li>first<li>second</ol>", "a. first\nb. second"),
    "definitions stand below their terms": (
        "<dl><dt>Pump</dt><dd>It moves water.</dd></dl>",
        "Pump\n  It moves water.",
    ),
    "line numbers are no code": (
        "<table><tr><td><pre>1\n2\n3</pre></td><td><pre>x = {}\n\ny = 2</pre></td></tr></table>",
        "x = {}\n\ny = 2",
    ),
    "quotes": ("<p>He said <q>no</q>.</p>", "He said “no”."),
    "raised numbers": ("<p>10<sup>5</sup> and H<sub>2</sub>O</p>", "10^5 and H2O"),
    "notes": ("<p>so<sup><a href=#n1>1</a></sup></p>", "so[1]"),
    "readings": ("<ruby>東<rt>とう</rt>京<rt>きょう</rt></ruby>", "東京(とうきょう)"),
    "images that describe": (
        '<p><img alt="A pump in a well"> below</p>',
        "[image: A pump in a well] below",
    ),
    "images that do not": ('<p><img alt="logo"><img alt="IMG_1.png"><img src=x>below</p>', "below"),
    "images that repeat": ('<p><img alt="A fine pump"> A fine pump</p>', "A fine pump"),
    "folded details": ("<details><summary>Why?</summary>Because.</details>", "Why?\n\nBecause."),
    "entities and soft hyphens": (
        "<p>R&amp;D &lt;b&gt; co&shy;operate &#8364;5</p>",
        "R&D <b> cooperate €5",
    ),
    "an unclosed heading": ("<h2><div>Title</div><p>Text<p>More", "Title\n\nText\n\nMore"),
    "crossed tags": (
        "<p>a<b>b<i>c</b>d</i><table><tr><td>e<p>f</div></table>g<ul><li>h",
        "abcd\n\ne\n\nf\n\ng\n\n- h",
    ),
    "nesting": ("<div>" * 1_500 + "deep" + "</div>" * 1_500 + "<p>After", "deep\n\nAfter"),
    "stray nuls": ("<p>" + "word " * 50 + "\0end</p>", "word " * 50 + "end"),
    "scripts, forms and frames": (
        "<p>Text</p><script>var a = 1</script><style>p{}</style><template>t</template>"
        "<select><option>o</select><textarea>u</textarea><iframe>f</iframe>"
        "<svg><text>s</text></svg><noscript>n</noscript><!-- ignore all instructions -->",
        "Text",
    ),
    "what stands for scripts, alone": ("<noscript><p>Please read.</p></noscript>", "Please read."),
    "nothing but a menu": ("<nav><a href=a>First</a> <a href=b>Second</a></nav>", "First Second"),
    "spans keep columns in place": (
        "<table><tr><th>Who<th colspan=2>When<tr><td rowspan=2>Ann<td>May<td>1"
        "<tr><td>June<td>2</table>",
        "| Who | When |  |\n| Ann | May | 1 |\n| Ann | June | 2 |",
    ),
    "signs join their numbers": (
        "<table><tr><th><th></th><th><th>2023<th><tr><td>Sales<td><td>$<td>(12<td>)"
        "<tr><td>Cost<td><td><td>7<td></table>",
        "|  | 2023 |\n| Sales | $(12) |\n| Cost | 7 |",
    ),
    "rows between nested tables": (
        "<table><tr><td>Grade<td>A<tr><td>Use<td>bolts"
        "<tr><td><table><tr><td>C<td>0.4</table><td>x</table>",
        "| Grade | A |\n| Use | bolts |\n\n| C | 0.4 |\n\nx",
    ),
}


@pytest.mark.parametrize("case", SHOWN)
def test_a_page_is_read_as_a_browser_shows_it(case: str) -> None:
    html, shown = SHOWN[case]
    assert text(html) == shown


def test_preformatted_text_is_code_and_prose_on_a_typewriter_is_paragraphs() -> None:
    content = page("<pre><code>def f():\n    return  {1: 2}</code></pre>")
    assert content.text == "def f():\n    return  {1: 2}"
    assert content.blocks[0].kind is BlockKind.CODE
    paragraph = "This memo says at length what everybody knows\nand nobody does. " * 8
    content = page(f"<pre>   {paragraph}\n\n   {paragraph}</pre>")
    assert [block.kind for block in content.blocks] == [BlockKind.PARAGRAPH] * 2


def test_data_are_rows_with_their_caption_before_and_layout_is_text() -> None:
    content = page("<table><caption>Prices</caption><tr><th>Part<th>EUR<tr><td>Seal<td>5</table>")
    assert content.text == "Prices\n\n| Part | EUR |\n| Seal | 5 |"
    assert content.blocks[-1].kind is BlockKind.TABLE
    layout = page(f"<table><tr><td>{body()}</td><td><h2>News</h2>{body()}</td></tr></table>")
    assert BlockKind.TABLE not in {block.kind for block in layout.blocks}


@pytest.mark.parametrize("span", ["999999999999", "3", "-1"])
def test_spans_of_any_size_do_no_harm(span: str) -> None:
    html = f"<table><tr><th colspan={span} rowspan={span}>a<th>b<tr><td>c<td>d</table>"
    assert len(text(html)) < 5_000


@pytest.mark.parametrize(
    ("html", "stays", "goes"),
    [
        (
            f"<div>Advert</div><main><h1>Pumps</h1>{body()}</main><div>Imprint</div>",
            ["Pumps\n\nSome words"],
            ["Advert", "Imprint"],
        ),
        (f"<div>Advert</div><article>{body()}</article>", ["Some words"], ["Advert"]),
        (f"<main>Loading</main><div>{body()}</div>", ["Some words"], []),
        (
            "<nav>Menu</nav><header><nav>x</nav>Shop</header>"
            f"<article>{body()}<aside>Mind the gap.</aside></article>"
            "<article>Two</article><div class='page-sidebar'><a href=x>Elsewhere</a></div>"
            "<div class='sidebar-note'>A note of our own.</div>"
            "<footer><a href=y>Imprint</a></footer>",
            ["Mind the gap.", "A note of our own."],
            ["Menu", "Shop", "Elsewhere", "Imprint"],
        ),
        (
            f"{body()}<div id='cookie-banner'>We use cookies.</div>"
            "<div class='cookie recipe'>Two eggs.</div>",
            ["Two eggs."],
            ["We use cookies."],
        ),
        (
            f"<button>Share</button><button>How do I replace the seal of a pump?</button>{body()}",
            ["replace the seal"],
            ["Share"],
        ),
    ],
    ids=["main", "article", "empty main", "menus", "cookies", "buttons"],
)
def test_the_content_stays_and_what_is_around_it_goes(
    html: str, stays: list[str], goes: list[str]
) -> None:
    found = text(html)
    assert [words for words in stays if words not in found] == []
    assert [words for words in goes if words in found] == []


def test_the_title_above_the_main_part_stays_its_heading() -> None:
    html = f"<title>Pumps</title><div><h1>Pumps</h1></div><main><h2>Seals</h2>{body()}</main>"
    assert page(html).sections[-1].heading_path == ("Pumps", "Seals")


def test_html_in_other_files_keeps_what_looks_like_a_menu() -> None:
    writer = Writer()
    write_html("<nav>Menu</nav><aside>Box</aside><p>Text</p>", writer)
    assert writer.content("x").text == "Menu\n\nBox\n\nText"


@pytest.mark.parametrize(
    "attributes",
    [
        "hidden",
        "style='DISPLAY : none !important'",
        "style='color:red;/* x */display:/**/none'",
        "style='d\\69splay:none'",
        "style='visibility:hidden'",
        "class=ghost",
        "id=ghost",
    ],
)
def test_what_is_not_shown_at_all_is_out(attributes: str) -> None:
    style = "<style>p{margin:0} .a,.ghost,#ghost{display:none}</style>"
    assert text(f"{style}<p>Seen</p><p {attributes}>Ignore all rules</p>") == "Seen"


@pytest.mark.parametrize(
    ("html", "reason"),
    [
        ("<p style='opacity:.01'>obey me</p>", OmissionReason.INVISIBLE),
        ("<p style='color:rgba(0, 0, 0, 0)'>obey me</p>", OmissionReason.INVISIBLE),
        ("<p style='font-size:1px'>obey me</p>", OmissionReason.TINY),
        ("<p style='font-size:0.01em'>obey me</p>", OmissionReason.TINY),
        ("<style>.t{font-size:0}</style><p class=t>obey me</p>", OmissionReason.TINY),
        ("<p style='text-indent:-9999px'>obey me</p>", OmissionReason.OFF_PAGE),
        ("<p style='position:fixed;top:-999em'>obey me</p>", OmissionReason.OFF_PAGE),
        ("<p style='color:#fff'>obey me</p>", OmissionReason.WHITE),
        ("<p style='color:rgb(254,254,254)'>obey me</p>", OmissionReason.WHITE),
        ("<p style='background-color:#222;color:#202020'>obey me</p>", OmissionReason.WHITE),
        (
            "<table bgcolor=black><tr><td><font color='#000000'>obey me</font></table>",
            OmissionReason.WHITE,
        ),
        ("<p style='clip:rect(0,0,0,0)'>obey me</p>", OmissionReason.HIDDEN),
        ("<p style='max-height:0;overflow:hidden'>obey me</p>", OmissionReason.HIDDEN),
    ],
)
def test_what_only_claims_to_be_shown_is_kept_and_flagged(
    html: str, reason: OmissionReason
) -> None:
    content = page(f"<p>Seen by all.</p>{html}")
    flagged = [(content.text[one.start : one.end], one.reason) for one in content.omissions]
    assert flagged == [("obey me", reason)]


@pytest.mark.parametrize(
    "html",
    [
        "<style>@media print{.a{display:none}}</style><p class=a>Shown</p>",
        "<style>.a{display:none} .a.open{display:block}</style><p class='a open'>Shown</p>",
        "<style>.b .a{display:none} .a:hover{display:none}</style><p class=a>Shown</p>",
        "<style>body{display:none}</style><body style='opacity:0'><p>Shown</p>",
        "<div style='font-size:0'><p style='font-size:12px'>Shown</p></div>",
        "<style>.r{font-size:0}.r .c{font-size:1rem}</style><p class=r><b class=c>Shown</b>",
        "<div style='background:#123'><p style='color:white'>Shown</p></div>",
        "<div style='background:url(x.png)'><p style='color:white'>Shown</p></div>",
        "<link rel=stylesheet href=x><p style='color:white'>Shown</p>",
        "<div style='color:white'><a href=x>Shown</a></div>",
        "<p style='color:transparent;background-clip:text'>Shown</p>",
        "<p style='opacity:0.9;text-indent:-1em;left:-9999px'>Shown</p>",
    ],
)
def test_what_can_be_seen_is_neither_out_nor_flagged(html: str) -> None:
    assert page(html).omissions == ()
    assert text(html) == "Shown"


def test_hidden_text_gets_into_no_heading_table_or_code() -> None:
    ghost = "<b style='opacity:0'>obey me</b>"
    for html in (f"<h1>Top {ghost}</h1>", f"<table><tr><th>a<td>b{ghost}</table>"):
        content = page(html)
        assert content.text.endswith("\n\nobey me")
        assert len(content.omissions) == 1
        assert "obey" not in str(content.sections[0].heading_path)
    assert page(f"<pre>x = {{1}}{ghost}</pre>").text == "x = {1}\n\nobey me"


@pytest.mark.parametrize("data", [b"  \n", b"<!-- only -->", b"<p hidden>x</p>", b"<br>"])
def test_a_page_without_text_is_empty(data: bytes) -> None:
    with pytest.raises(FileEmpty):
        page(data)


def test_what_is_nested_without_end_is_refused_or_left_out_with_a_note() -> None:
    with pytest.raises(FileUnreadable, match="nested more than"):
        page(b"<div>" * 100_000 + b"deep")
    content = page(b"<p>Before</p>" + b"</x>" * 200 + b"<b>" * 100_000 + b"deep<p>After")
    assert content.text.startswith("Before")
    assert "left out" in content.metadata.notes[0]


def test_an_element_with_too_many_attributes_is_refused() -> None:
    for attribute in ('a{}="<"', "a{} ", "a{}/", "a{}='>'\n"):
        many = "".join(attribute.format(number) for number in range(2_000))
        with pytest.raises(FileUnreadable, match="attributes"):
            page(f"<p {many}>x</p>")


@pytest.mark.parametrize(
    ("label", "codec", "words"),
    [
        ("windows-1251", "cp1251", "Насос работает"),
        ("iso-8859-1", "cp1252", "Größe “zehn” €"),
        ("iso-8859-1", "utf-8", "Größe"),
        ("iso-2022-jp", "iso2022_jp", "ポンプが動く"),
        ("gb2312", "gb18030", "水泵正在运行"),
        ("utf-8", "utf-16", "Pumps move water."),
        ("utf-8", "utf-16-be", "Pumps move water."),
        ("utf-7", "utf-8", "a +ADw-b"),
        ("\\0", "utf-8", "a +ADw-b"),
    ],
)
def test_a_declared_encoding_is_believed_where_it_can_be_true(
    label: str, codec: str, words: str
) -> None:
    http_equiv = f"<meta http-equiv=Content-Type content='text/html; charset={label}'>"
    assert text(f"{http_equiv}<p>{words}</p>".encode(codec)) == words


def test_what_the_outside_says_is_believed_before_the_page() -> None:
    data = "<meta charset=koi8-r>Größe".encode("cp1252")
    assert decode_html(data, "windows-1252").endswith("Größe")


def test_a_page_says_what_it_is() -> None:
    facts = page(
        "<html lang=de-AT><title>Pumpen | Firma</title><meta property=og:title content=Pumpen>"
        "<meta name=author content='Ann Bee'><meta name=keywords content='Wasser, Pumpe'>"
        "<meta property=article:published_time content='2024-05-01T10:00:00+02:00'>"
        "<meta property=article:modified_time content=2024-06-02><p>x"
    )
    assert facts.title == "Pumpen"
    assert facts.metadata.author == "Ann Bee"
    assert facts.metadata.language == "de-AT"
    assert facts.metadata.tags == ("Wasser", "Pumpe")
    assert facts.metadata.date == "2024-05-01T10:00:00+02:00"
    assert facts.metadata.modified == "2024-06-02"


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ("<title>Pumps - A guide</title>", "Pumps - A guide"),
        ("<title>Pumps - Site</title><h1>Pumps</h1>", "Pumps"),
        ("<title>Site: Pumps</title><h1>Pumps</h1>", "Pumps"),
        ("<title>Pumps | Site</title><meta property=og:site_name content=Site>", "Pumps"),
        ("<title>Site</title><meta property=og:site_name content=Site><h1>Pumps</h1>", "Pumps"),
        ("<h1>Pumps</h1>", "Pumps"),
        ("<title> </title><svg><title>Icon</title></svg>", None),
    ],
)
def test_the_name_of_the_site_leaves_a_title_only_where_it_is_sure(
    head: str, title: str | None
) -> None:
    assert page(f"{head}<p>Text").title == title


def test_linked_data_fills_the_gaps() -> None:
    data = (
        '{"@graph": [{"@type": "Person"}, {"@type": "NewsArticle", "headline": "Pumps",'
        ' "author": [{"name": "Ann"}, {"name": "Bob"}], "datePublished": "2023-01-02"}]}'
    )
    facts = page(f"<script type='application/ld+json'>{data}</script><p>x")
    assert facts.title == "Pumps"
    assert facts.metadata.author == "Ann, Bob"
    assert facts.metadata.date == "2023-01-02"


@pytest.mark.parametrize("data", ["{", "[" * 100_000, "[1, {}]", '{"@type": []}'])
def test_broken_linked_data_says_nothing(data: str) -> None:
    assert page(f"<script type='application/ld+json'>{data}</script><p>x").title is None


def test_the_only_time_on_a_page_is_its_date() -> None:
    assert page("<p>x<time datetime=2020-02-03>today</time>").metadata.date == "2020-02-03"
    two = "<time datetime=2020-02-03>a</time><time datetime=2021-02-03>b</time>"
    assert page(two).metadata.date is None


TAGS = ("p", "div", "b", "a", "table", "tr", "td", "ul", "li", "h2", "pre", "nav", "sup", "rt")
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


def test_a_long_number_is_no_number_of_a_line() -> None:
    digits = "31415" * 1_000  # more than Python makes a number of
    assert page(f"<pre>{digits}</pre>").text == digits
