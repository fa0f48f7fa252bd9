"""XML: elements as named lines, feeds by their entries, nothing from outside."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.data.xml import read
from pincite.reading.source_file import SourceFile
from pincite.records import Content


def xml(source: str | bytes) -> Content:
    data = source.encode() if isinstance(source, str) else source
    return read(SourceFile("data.xml", data))


def test_elements_of_one_parent_stay_together_with_their_names() -> None:
    source = (
        "<book><country><name>Canada</name><capital>Ottawa</capital></country>"
        "<country><name>France</name><capital>Paris</capital></country></book>"
    )
    assert xml(source).text == "name: Canada\ncapital: Ottawa\n\nname: France\ncapital: Paris"


def test_long_text_is_a_paragraph_without_a_name() -> None:
    words = "Some words of content. " * 30
    assert xml(f"<a><body>{words}</body><end>x</end></a>").text == f"{words.strip()}\n\nend: x"


def test_a_wrapper_around_one_element_is_passed_over() -> None:
    source = "<row><cell><data>Ann</data></cell><cell><data>Rome</data></cell></row>"
    assert xml(source).text == "data: Ann\ndata: Rome"


def test_attributes_for_people_are_kept_and_others_are_not() -> None:
    source = (
        '<menu title="Main"><item id="a7" label="Open file" href="x.html"/>'
        '<item help="Closes the window.">Close</item></menu>'
    )
    assert xml(source).text == (
        "title: Main\nitem: label: Open file\nitem: Close; help: Closes the window."
    )
    assert xml(source).title == "Main"


def test_text_between_long_elements_is_not_lost() -> None:
    long = f"<s><x>{'word ' * 2_500}</x><y>end</y></s>"
    found = xml(f"<a>before {long} between {long} after</a>").text.split("\n\n")
    assert [line for line in found if "word" not in line and line != "y: end"] == [
        "before",
        "between",
        "after",
    ]


def test_mixed_text_in_any_encoding_is_one_line() -> None:
    source = "<a><p>Some <b>große</b> words.</p><p>More.</p></a>"
    assert xml(source.encode("utf-16")).text == "p: Some große words.\np: More."


RSS = """<?xml version="1.0"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/">
<channel><title>Pump News</title><description>All about pumps</description><language>en</language>
<item><title>Seals &amp; more</title><pubDate>Mon, 06 May 2024 10:00:00 GMT</pubDate>
<author>ann@example.org (Ann)</author><description>Short.</description>
<content:encoded><![CDATA[<p>The <b>long</b> text.</p><script>x</script>]]></content:encoded></item>
<item><title>Valves</title><description>They &lt;i&gt;stick&lt;/i&gt;.</description></item>
</channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Pump News</title>
<updated>2024-05-06T10:00:00Z</updated><author><name>Ann</name></author>
<entry><title>Seals</title><published>2024-05-05</published><summary>Short.</summary>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>They leak.</p></div></content>
</entry></feed>"""


def test_a_feed_is_a_section_for_each_entry() -> None:
    content = xml(RSS)
    assert content.text == (
        "All about pumps\n\nSeals & more\n\nann@example.org (Ann), Mon, 06 May 2024 10:00:00 GMT"
        "\n\nThe long text.\n\nValves\n\nThey stick."
    )
    assert [one.heading_path for one in content.sections] == [(), ("Seals & more",), ("Valves",)]
    assert content.title == "Pump News"
    assert content.metadata.language == "en"


def test_an_atom_feed_is_read_alike() -> None:
    content = xml(ATOM)
    assert content.text == "Seals\n\n2024-05-05\n\nThey leak."
    assert content.metadata.author == "Ann"
    assert content.metadata.date == "2024-05-06T10:00:00+00:00"


def test_xhtml_is_read_as_a_web_page() -> None:
    source = (
        '<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x.dtd">'
        '<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>Pumps</h1><p>A&nbsp;b</p></body></html>'
    )
    content = xml(source)
    assert (content.type, content.text) == ("html", "Pumps\n\nA b")


@pytest.mark.parametrize(
    "doctype",
    [
        "<!DOCTYPE note>",
        '<!DOCTYPE note SYSTEM "note.dtd">',
        '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://127.0.0.1:1/plist.dtd">',
        "<!DOCTYPE note []>",
        "<!DOCTYPE note [\n<!-- <!ENTITY> -->\n<!ELEMENT note (#PCDATA)> ] >",
        """<!DOCTYPE note SYSTEM 'x' [<!ATTLIST note lang CDATA "]>" kind (a|b) 'a'>]>""",
    ],
)
def test_a_document_type_that_defines_no_entity_does_no_harm(doctype: str) -> None:
    source = f"<?xml version='1.0'?>{doctype}<note><p>Salt &amp; &#x70;epper</p></note>"
    assert xml(source).text == "p: Salt & pepper"


def test_what_a_document_type_defines_is_not_added_to_the_text() -> None:
    source = '<!DOCTYPE n SYSTEM "x" [<!ATTLIST n title CDATA "Told by nobody">]><n>A &nbsp; b</n>'
    assert xml(source).text == "n: A &nbsp; b"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("no xml", "damaged"),
        ('<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', "document type definition"),
        ('<!DOCTYPE a [<!ELEMENT a ANY><!ENTITY % x "y">]><a/>', "document type definition"),
        ("<!DOCTYPE a [<!ELEMENT a %x;>]><a/>", "document type definition"),
        ("<!DOCTYPE a [<![INCLUDE[<!ELEMENT a ANY>]]>]><a/>", "document type definition"),
        ('<!DOCTYPE a [ ]><!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', "damaged"),
        ("<a>" * 100_000 + "deep" + "</a>" * 100_000, "nested too deeply"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(source: str, message: str) -> None:
    with pytest.raises(FileUnreadable, match=message):
        xml(source)


def test_xml_without_text_is_empty() -> None:
    with pytest.raises(FileEmpty):
        xml('<a id="1"><b/><c>  </c></a>')


WORDS = st.sampled_from(("alpha", "beta", "gamma"))
TREES = st.recursive(
    WORDS,
    lambda inner: st.lists(inner, min_size=1, max_size=4).map(
        lambda parts: "".join(f"<e>{part}</e>" for part in parts)
    ),
    max_leaves=20,
)


@given(TREES, WORDS, WORDS)
def test_no_text_is_lost_or_made_up(tree: str, before: str, after: str) -> None:
    found = xml(f"<e>{before}<e>{tree}</e>{after}</e>").text
    wanted = tree.replace("<e>", " ").replace("</e>", " ").split()
    assert "".join(found.replace("e: ", "").split()) == "".join([before, *wanted, after])
