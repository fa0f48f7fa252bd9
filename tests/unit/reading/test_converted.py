"""Text that was recognised from pages is cited by them."""

from __future__ import annotations

from dataclasses import replace

from pincite.reading.lines import markdown
from pincite.reading.lines.converted import with_pages
from pincite.reading.source_file import SourceFile
from pincite.records import Content, Modality

TEXT = (
    "---\ntitle: Letter\nsource: scans/letter.pdf\nmodality: ocr\n---\n\n"
    "## Page 2\n\nDear Ada.\n\n## Terms\n\n### Page 9\n\nPage 10\n\n## Page 12\n\nYours.\n"
)


def recognised(
    text: str, source: str | None = "scans/letter.pdf", modality: Modality = Modality.OCR
) -> Content:
    content = markdown.read(SourceFile(".converted/scans/letter.pdf.md", text.encode()))
    metadata = replace(content.metadata, source=source)
    return replace(content, metadata=metadata, modality=modality)


def test_each_part_has_the_page_it_stands_below() -> None:
    content = with_pages(recognised(TEXT))
    pages = {content.text[place.start : place.end].strip(): place.page for place in content.places}
    assert pages == {
        "## Page 2\n\nDear Ada.\n\n## Terms\n\n### Page 9\n\nPage 10": 2,
        "## Page 12\n\nYours.": 12,
    }


def test_other_text_keeps_its_places() -> None:
    for content in (recognised(TEXT, source=None), recognised(TEXT, modality=Modality.TEXT)):
        assert with_pages(content) == content


def test_an_image_has_no_pages() -> None:
    assert with_pages(recognised("A sign.\n")).places == ()
