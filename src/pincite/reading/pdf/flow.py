"""A PDF's bytes → its content. Read this file first."""

from __future__ import annotations

from collections.abc import Sequence

from pincite.reading.pdf.about import about, own_title
from pincite.reading.pdf.blocks import PageBlock
from pincite.reading.pdf.headings import mark_headings, shown_title
from pincite.reading.pdf.opening import opened
from pincite.reading.pdf.outline import outline_of
from pincite.reading.pdf.pages import Column, Pages
from pincite.reading.pdf.paragraphs import blocks_of, joined
from pincite.reading.pdf.running import running_lines
from pincite.reading.pdf.writing import write_blocks
from pincite.reading.source_file import SourceFile
from pincite.records import Content


def read(file: SourceFile) -> Content:
    """The text of a PDF in reading order, with the page and box of each word."""
    with opened(file) as document:
        pages = Pages(document)
        blocks = _blocks(pages.columns())
        mark_headings(blocks, outline_of(document))
        title = own_title(document, file) or shown_title(blocks)
        writer = write_blocks(blocks)
        return writer.content(
            "pdf",
            title=title,
            metadata=about(document, file, pages=pages.count, notes=pages.notes()),
            modality=pages.modality(),
        )


def _blocks(columns: Sequence[Column]) -> list[PageBlock]:
    """Paragraphs, items and tables of all columns, without what runs through every page."""
    running = running_lines([line for column in columns for line in column])
    return joined(
        blocks_of([line for line in column if id(line) not in running]) for column in columns
    )
