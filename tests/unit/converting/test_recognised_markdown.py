"""What is written of a recognition: readable, correctable, and not to be forged by a scan."""

from __future__ import annotations

import hashlib

from hypothesis import given, strategies as st

from pincite.converting.markdown import (
    Recognition,
    is_as_written,
    markdown_of,
    moved,
    source_checksum,
)
from pincite.converting.wire import Line, Opened, Page, Said, SourceKind
from pincite.reading.lines import markdown
from pincite.reading.source_file import SourceFile
from pincite.records import FoundFile

CHECKSUM = hashlib.sha256(b"scan").hexdigest()
LETTER = FoundFile("scans/letter.pdf", 4, CHECKSUM)


def lines(*texts: str) -> tuple[Line, ...]:
    return tuple(Line(text, 0, 24 * n, 300, 24 * n + 20, 0.9) for n, text in enumerate(texts))


def scan(*pages: Page, count: int | None = 9, title: str | None = None) -> Recognition:
    opened = Opened(title=title, pages=count, scanned=tuple(page.number for page in pages))
    return Recognition(SourceKind.PDF, "engine 1", opened, pages=pages)


def written(recognition: Recognition, source: FoundFile = LETTER) -> str:
    text = markdown_of(source, recognition)
    assert text is not None
    return text


def body(text: str) -> str:
    return text.split("\n---\n\n", 1)[1]


def talk(*said: Said) -> Recognition:
    return Recognition(
        SourceKind.VIDEO, "whisper 1", Opened(duration=61.26), said=said, language="en"
    )


def test_pages_get_headings_below_front_matter_that_says_where_they_come_from() -> None:
    text = written(scan(Page(3, lines("Dear Ada,", "the pump leaks."))))
    assert text.startswith(
        "---\n"
        "title: letter\n"
        "source: scans/letter.pdf\n"
        f"source_sha256: {CHECKSUM}\n"
        "modality: ocr\n"
        "engine: engine 1\n"
        "pages: 9\n"
        "confidence: 0.9\n"
        "written_sha256: "
    )
    assert body(text) == "## Page 3\n\nDear Ada,\nthe pump leaks.\n"


def test_blank_pages_and_single_images_get_no_heading() -> None:
    assert "Page 1" not in written(scan(Page(1, ()), Page(2, lines("words"))))
    assert body(written(scan(Page(1, lines("a sign")), count=None))) == "a sign\n"


def test_what_is_said_gets_its_times_and_a_pause_a_blank_line() -> None:
    text = written(
        talk(Said(0.0, 2.1, "Hello."), Said(2.1, 4.6, "All."), Said(3661.9, 3670, "Bye"))
    )
    assert "modality: video_transcript\n" in text
    assert "language: en\nduration: 61.3\nrecording: scans/letter.pdf\n" in text
    assert body(text) == (
        "[00:00:00 - 00:00:02] Hello.\n[00:00:02 - 00:00:04] All.\n\n[01:01:01 - 01:01:10] Bye\n"
    )


def test_nothing_is_written_where_nothing_was_recognised() -> None:
    assert markdown_of(LETTER, scan(Page(1, ()))) is None
    assert markdown_of(LETTER, scan(Page(1, lines("_", "1")))) is None
    assert markdown_of(LETTER, talk(Said(0, 1, " "))) is None


def test_the_files_own_title_is_taken() -> None:
    text = written(scan(Page(1, lines("words")), title="Lease:\n  'north' # pump"))
    content = markdown.read(SourceFile("a.md", text.encode()))
    assert content.title == "Lease: 'north' # pump"


def test_words_broken_at_a_line_end_are_written_whole() -> None:
    text = written(scan(Page(1, lines("the competi-", "tive service pro-", "Vision, x-", "1"))))
    assert body(text).endswith("the competitive\nservice pro-\nVision, x-\n1\n")


def test_a_scan_cannot_forge_headings_rules_quotes_or_html() -> None:
    forged = [
        *("## Page 99", "# Top", "Words", "-----", "More", "=====", "```", "~~~"),
        *("> # quoted", "<script>", "- ## item", "* * *", "[00:00:01 - 00:00:09] said", "[a]: b"),
    ]
    text = written(scan(Page(1, lines(*forged))))
    content = markdown.read(SourceFile("a.md", text.encode()))
    assert [section.heading_path for section in content.sections] == [(), ("Page 1",)]


def test_cells_cannot_break_out_of_their_table() -> None:
    cells = (Line("a | b", 0, 0, 50, 20), Line("c", 200, 0, 220, 20))
    below = (Line("d", 0, 30, 50, 50), Line("e", 200, 30, 220, 50))
    text = written(scan(Page(1, (*cells, *below))))
    assert body(text).endswith("| a \\| b | c |\n| --- | --- |\n| d | e |\n")


@given(st.text(), st.text())
def test_a_corrected_text_is_told_from_what_was_written(words: str, path: str) -> None:
    source = FoundFile(path or "x", 1, CHECKSUM)
    text = written(scan(Page(1, lines("kept words", words))), source)
    assert is_as_written(text)
    assert is_as_written(text.replace("\n", "\r\n"))
    assert source_checksum(text) == CHECKSUM
    assert not is_as_written(text.replace("kept words", "my words"))
    assert not is_as_written(text.replace("title: ", "title: My ", 1))


def test_a_text_that_moves_names_its_new_source_and_keeps_what_it_was() -> None:
    text = written(talk(Said(0, 1, "source: not this")))
    elsewhere = moved(text, "a: b.mp4")
    assert "\nsource: 'a: b.mp4'\n" in elsewhere
    assert "\nrecording: 'a: b.mp4'\n" in elsewhere
    assert elsewhere.endswith("source: not this\n")
    assert is_as_written(elsewhere)
    assert not is_as_written(moved(text.replace("not", "but"), "b.mp4"))
