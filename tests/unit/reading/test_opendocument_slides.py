from __future__ import annotations

from pincite.reading.office.opendocument.reader import read_text
from pincite.reading.source_file import SourceFile
from pincite.records import Content, OmissionReason
from word_files import open_file


def _read(slides: str, styles: str = "") -> Content:
    data = open_file(slides, kind="presentation", styles=styles)
    return read_text(SourceFile("a.odp", data))


def _slide(title: str, text: str, notes: str = "", style: str = "") -> str:
    return (
        f'<draw:page draw:style-name="{style}"><draw:frame presentation:class="title">'
        f"<draw:text-box><text:p>{title}</text:p></draw:text-box></draw:frame><draw:frame>"
        f"<draw:text-box><text:list><text:list-item><text:p>{text}</text:p></text:list-item>"
        "</text:list></draw:text-box></draw:frame><presentation:notes><draw:frame><draw:text-box>"
        f"<text:p>{notes}</text:p></draw:text-box></draw:frame></presentation:notes></draw:page>"
    )


def test_slides_are_pages_under_their_titles_with_their_notes() -> None:
    slides = _slide("First<text:line-break/>slide", "point", "Say it.") + _slide("Second", "more")
    content = _read(slides)

    assert content.type == "odp"
    assert content.text == "First\nslide\n\n- point\n\nNotes: Say it.\n\nSecond\n\n- more"
    assert [one.heading_path for one in content.sections] == [("First slide",), ("Second",)]
    assert {one.page for one in content.places} == {1, 2}
    assert content.metadata.pages == 2


def test_hidden_slides_are_flagged() -> None:
    hidden = '<style:drawing-page-properties presentation:visibility="hidden"/>'
    style = f'<style:style style:name="dp1" style:family="drawing-page">{hidden}</style:style>'
    content = _read(_slide("Seen", "a") + _slide("Secret", "b", style="dp1"), style)

    flagged = {content.text[one.start : one.end]: one.reason for one in content.omissions}
    assert flagged == {"Secret": OmissionReason.HIDDEN, "b": OmissionReason.HIDDEN}
    assert [one.heading_path for one in content.sections] == [("Seen",)]
