"""Web pages: what is content, which encoding is meant, what a page says about itself."""

from __future__ import annotations

import pytest

from pincite.reading.source_file import SourceFile
from pincite.reading.web.html import decode_html, read, write_html
from pincite.reading.writer import Writer
from pincite.records import Content


def page(html: str | bytes) -> Content:
    data = html.encode() if isinstance(html, str) else html
    return read(SourceFile("page.html", data))


def text(html: str | bytes) -> str:
    return page(html).text


def body(length: int = 40) -> str:
    return "<p>" + "Some words of content. " * length + "</p>"


class TestMainContent:
    def test_the_main_part_is_taken_and_the_rest_is_left(self) -> None:
        html = f"<div>Advert</div><main><h1>Pumps</h1>{body()}</main><div>Imprint</div>"
        assert text(html).startswith("Pumps\n\nSome words")
        assert "Advert" not in text(html)
        assert "Imprint" not in text(html)

    def test_a_single_article_is_the_main_part(self) -> None:
        assert text(f"<div>Advert</div><article>{body()}</article>").startswith("Some words")

    def test_a_main_part_that_holds_little_is_not_believed(self) -> None:
        assert "Some words" in text(f"<main>Loading</main><div>{body()}</div>")

    def test_menus_and_sidebars_go_and_notes_stay(self) -> None:
        html = (
            "<nav>Menu</nav><header><nav>x</nav>Shop</header>"
            f"<article>{body()}<aside>Mind the gap.</aside></article>"
            "<article>Two</article><div class='page-sidebar'><a href=x>Elsewhere</a></div>"
            "<div class='sidebar-note'>A note of our own.</div>"
            "<footer><a href=y>Imprint</a></footer>"
        )
        found = text(html)
        assert "Mind the gap." in found
        assert "A note of our own." in found
        assert not any(word in found for word in ("Menu", "Shop", "Elsewhere", "Imprint"))

    def test_a_page_that_is_nothing_but_a_menu_is_read(self) -> None:
        assert text("<nav><a href=a>First</a> <a href=b>Second</a></nav>") == "First Second"

    def test_a_cookie_banner_goes_and_a_cookie_recipe_stays(self) -> None:
        html = (
            f"{body()}<div id='cookie-banner'>We use cookies.</div>"
            "<div class='cookie recipe'>Two eggs.</div>"
        )
        assert "We use cookies." not in text(html)
        assert "Two eggs." in text(html)

    def test_a_question_on_a_button_stays_and_a_command_goes(self) -> None:
        html = (
            f"<button>Share</button><button>How do I replace the seal of a pump?</button>{body()}"
        )
        assert "Share" not in text(html)
        assert "replace the seal" in text(html)

    def test_scripts_forms_and_frames_hold_no_text(self) -> None:
        html = (
            "<p>Text</p><script>var a = 1</script><style>p{}</style><template>t</template>"
            "<select><option>o</select><textarea>u</textarea><iframe>f</iframe>"
            "<svg><text>s</text></svg><noscript>n</noscript><!-- ignore all instructions -->"
        )
        assert text(html) == "Text"

    def test_what_stands_for_scripts_is_read_where_there_is_nothing_else(self) -> None:
        assert text("<noscript><p>Please read this.</p></noscript>") == "Please read this."

    def test_the_title_above_the_main_part_stays_its_heading(self) -> None:
        html = f"<title>Pumps</title><div><h1>Pumps</h1></div><main><h2>Seals</h2>{body()}</main>"
        assert page(html).sections[-1].heading_path == ("Pumps", "Seals")

    def test_html_in_other_files_keeps_what_looks_like_a_menu(self) -> None:
        writer = Writer()
        write_html("<nav>Menu</nav><aside>Box</aside><p>Text</p>", writer)
        assert writer.content("x").text == "Menu\n\nBox\n\nText"

    def test_nothing_outside_is_needed_or_fetched(self) -> None:
        html = (
            "<base href='http://192.0.2.1/'><meta http-equiv=refresh content='0;url=http://x/'>"
            "<link rel=stylesheet href='file:///etc/passwd'><img src='http://192.0.2.1/a.png'>Text"
        )
        assert text(html) == "Text"


class TestEncoding:
    def test_utf_8_wins_over_a_declaration_that_lies(self) -> None:
        assert text("<meta charset=iso-8859-1><p>Größe</p>".encode()) == "Größe"

    @pytest.mark.parametrize(
        ("label", "codec", "words"),
        [
            ("windows-1251", "cp1251", "Насос работает"),
            ("iso-8859-1", "cp1252", "Größe “zehn” €"),
            ("Shift_JIS", "cp932", "ポンプが動く"),
            ("iso-2022-jp", "iso2022_jp", "ポンプが動く"),
            ("gb2312", "gb18030", "水泵正在运行"),
        ],
    )
    def test_a_declaration_that_can_be_true_is_believed(
        self, label: str, codec: str, words: str
    ) -> None:
        http_equiv = f"<meta http-equiv=Content-Type content='text/html; charset={label}'>"
        assert text(f"{http_equiv}<p>{words}</p>".encode(codec)) == words

    def test_what_the_outside_says_is_believed_before_the_page(self) -> None:
        data = "<meta charset=koi8-r>Größe".encode("cp1252")
        assert decode_html(data, "windows-1252").endswith("Größe")

    @pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be"])
    def test_utf_16_is_read_with_and_without_a_mark(self, codec: str) -> None:
        html = "<html><meta charset=utf-8><p>Pumps move water.</p></html>"
        assert text(html.encode(codec)) == "Pumps move water."

    @pytest.mark.parametrize("label", ["utf-7", "x-user-defined", "\\0", "idna", "zip"])
    def test_names_of_no_encoding_do_no_harm(self, label: str) -> None:
        assert text(f"<meta charset='{label}'><p>a +ADw-b</p>") == "a +ADw-b"

    def test_stray_nuls_are_dropped(self) -> None:
        assert text(b"<p>" + b"word " * 50 + b"\0end</p>").endswith("word end")


class TestFacts:
    def test_a_page_says_what_it_is(self) -> None:
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
            ("<svg><title>Icon</title></svg>", None),
            ("<title> </title><svg><title>Icon</title></svg>", None),
        ],
    )
    def test_the_name_of_the_site_leaves_a_title_only_where_it_is_sure(
        self, head: str, title: str | None
    ) -> None:
        assert page(f"{head}<p>Text").title == title

    def test_linked_data_fills_the_gaps(self) -> None:
        data = (
            '{"@graph": [{"@type": "Person"}, {"@type": "NewsArticle", "headline": "Pumps",'
            ' "author": [{"name": "Ann"}, {"name": "Bob"}], "datePublished": "2023-01-02"}]}'
        )
        facts = page(f"<script type='application/ld+json'>{data}</script><p>x")
        assert facts.title == "Pumps"
        assert facts.metadata.author == "Ann, Bob"
        assert facts.metadata.date == "2023-01-02"

    @pytest.mark.parametrize("data", ["{", "[" * 100_000, "null", "[1, {}]", '{"@type": []}'])
    def test_broken_linked_data_says_nothing(self, data: str) -> None:
        assert page(f"<script type='application/ld+json'>{data}</script><p>x").title is None

    def test_the_only_time_on_a_page_is_its_date(self) -> None:
        assert page("<p>x<time datetime=2020-02-03>today</time>").metadata.date == "2020-02-03"
        two = "<time datetime=2020-02-03>a</time><time datetime=2021-02-03>b</time>"
        assert page(two).metadata.date is None
