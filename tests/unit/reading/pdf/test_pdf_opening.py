"""Passwords, damage, scans, limits, and what a PDF says about itself."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings, strategies as st

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.pdf import reader, words
from unit.reading.pdf.make_pdf import Bookmark, Page, content_of, lines, pdf, picture, text

_PAGE = Page([text("Hello World", 72, 700)])
_SCAN = Page([picture(20, 20, 570, 750)])


@pytest.mark.parametrize(
    ("password", "typed"),
    [("secret", "secret"), ("pässwört", "pässwört"), ("", "any"), ("SaSLprep", "SªSL\xadprep")],
)
def test_an_encrypted_file_opens_with_its_password(password: str, typed: str) -> None:
    data = pdf(_PAGE, password=password)
    assert content_of(data, "wrong", typed).text == "Hello World"


def test_without_its_password_it_says_how_to_give_it() -> None:
    with pytest.raises(FileUnreadable, match="give its password with `pincite index"):
        content_of(pdf(_PAGE, password="secret"))
    with pytest.raises(FileUnreadable, match="none of the 2 passwords given opens it"):
        content_of(pdf(_PAGE, password="secret"), "wrong", "worse")


@pytest.mark.parametrize(
    "data", [b"", b"%PDF", b"%PDF-1.7\n", b"%PDF-1.7\nnothing of the kind\n%%EOF", b"MZ\x90\0" * 99]
)
def test_what_is_no_pdf_is_called_damaged(data: bytes) -> None:
    with pytest.raises(FileUnreadable, match=r"^is damaged"):
        content_of(data)


def test_a_file_whose_table_is_wrong_is_mended() -> None:
    data = pdf(_PAGE)
    at = data.index(b"xref")
    assert content_of(data[:at] + b"% not any more\n" + data[at + 100 :]).text == "Hello World"


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_damage_is_mended_or_reported_and_nothing_else(data: st.DataObject) -> None:
    whole = pdf(_PAGE, _SCAN, outline=[Bookmark("Hello World", 1)], info={"Title": "T"})
    at = data.draw(st.integers(0, len(whole) - 1))
    length = data.draw(st.integers(0, 200))
    other = data.draw(st.binary(max_size=40))
    broken = whole[:at] + other + whole[at + length :]
    try:
        content = content_of(broken)
    except FileUnreadable:
        return
    assert content.text


def test_scans_alone_are_refused_with_what_to_do() -> None:
    with pytest.raises(FileUnreadable, match=r"^holds only scanned pages.*`pincite convert --ocr`"):
        content_of(pdf(_SCAN, _SCAN))


def test_scans_among_other_pages_are_noted() -> None:
    content = content_of(pdf(_PAGE, _SCAN, _SCAN, _PAGE, _SCAN))
    assert content.metadata.notes == ("pages 2–3 and 5 are scans without text",)
    assert content_of(pdf(_PAGE, _SCAN)).metadata.notes == ("page 2 is a scan without text",)


def test_a_blank_page_is_no_scan() -> None:
    assert content_of(pdf(_PAGE, Page())).metadata.notes == ()
    with pytest.raises(FileEmpty, match="holds no text"):
        content_of(pdf(Page(), Page([picture(20, 20, 100, 50)])))


def test_pages_beyond_the_limit_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_MOST_PAGES", 2)
    content = content_of(pdf(_PAGE, _PAGE, _PAGE, _PAGE))
    assert {place.page for place in content.places} == {1, 2}
    assert content.metadata.pages == 4
    assert content.metadata.notes[0].startswith("pages 3–4 were not read")


def test_a_page_with_too_much_text_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "_MOST_CHARACTERS", 5)
    content = content_of(pdf(_PAGE))
    assert content.text == "Hello"
    assert content.metadata.notes == ("page 1 was read in part only, being too long",)


def test_what_the_file_says_of_itself_is_kept() -> None:
    info = {
        "Title": "The Year's Report",
        "Author": "Ann Example",
        "Keywords": "cost, benefit; cost",
        "CreationDate": "D:20240131120000+01'00'",
        "ModDate": "D:20240201",
    }
    content = content_of(pdf(_PAGE, info=info, language="pt-br"))
    assert content.title == "The Year's Report"
    assert content.metadata.author == "Ann Example"
    assert content.metadata.tags == ("cost", "benefit")
    assert content.metadata.date == "2024-01-31T12:00:00+01:00"
    assert content.metadata.modified == "2024-02-01"
    assert content.metadata.language == "pt-BR"
    assert content.metadata.pages == 1


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("D:20240131120000-05'30'", "2024-01-31T12:00:00-05:30"),
        ("D:20240131120000Z", "2024-01-31T12:00:00+00:00"),
        ("D:202401311200", "2024-01-31T12:00:00"),
        ("D:202401", "2024-01"),
        ("D:20241399", None),
        ("yesterday", None),
    ],
)
def test_dates_are_given_as_far_as_they_are_known(written: str, date: str | None) -> None:
    assert content_of(pdf(_PAGE, info={"CreationDate": written})).metadata.date == date


def test_a_title_may_be_in_the_xmp() -> None:
    xmp = "<dc:title><rdf:Alt><rdf:li xml:lang='x-default'>Cats &amp; Dogs</rdf:li></rdf:Alt>"
    assert content_of(pdf(_PAGE, xmp=xmp)).title == "Cats & Dogs"


@pytest.mark.parametrize(
    "title",
    [
        "untitled",
        "Microsoft Word - plan.doc",
        "Slide 1",
        " ",
    ],
)
def test_a_title_that_a_program_made_up_is_none(title: str) -> None:
    shown = [text("What It Is About", 72, 740, size=20), *lines(["Some words of text."], 72, 700)]
    assert content_of(pdf(Page(shown), info={"Title": title})).title == "What It Is About"
    assert content_of(pdf(_PAGE, info={"Title": title})).title is None


_WITHOUT_FILES = """
import resource, sys
from pincite.reading.pdf import read
from pincite.reading.source_file import SourceFile
data = sys.stdin.buffer.read()
resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
sys.stdout.write(read(SourceFile("file.pdf", data, ("wrong",))).text)
"""


def test_nothing_is_opened_while_a_file_is_read() -> None:
    """As in the process that reads foreign files, which can open none."""
    data = pdf(
        Page([text("white on", 72, 700, colour="1 g"), picture(0, 0, 612, 792)]),
        Page([text("日本語", 72, 700, font="U"), text("שלום", 72, 600, font="U")]),
        outline=[Bookmark("x", 1)],
        info={"Title": "T", "CreationDate": "D:2024"},
        password="right",
    )
    opened = pdf(Page([text("A Title", 72, 700, size=30), *lines(["Hello."] * 9, 72, 600)]))
    for file in (opened, data):
        done = subprocess.run(
            [sys.executable, "-c", _WITHOUT_FILES], input=file, capture_output=True, check=False
        )
        told = done.stdout + done.stderr
        assert b"Hello." in told or b"is encrypted" in told
