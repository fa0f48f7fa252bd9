"""What a citation is called in brackets."""

from __future__ import annotations

import pytest

from pincite.records import ChunkId, Citation, DocumentId, Locator


@pytest.mark.parametrize(
    ("locator", "source"),
    [
        (Locator(3, 3), "[source: The lease, line 3]"),
        (Locator(3, 4), "[source: The lease, lines 3–4]"),
        (Locator(30, 31, page_start=2, page_end=2), "[source: The lease, page 2]"),
        (Locator(30, 31, page_start=2, page_end=3), "[source: The lease, pages 2–3]"),
        (Locator(5, 9, page_start=1, page_end=1, row_start=2, row_end=9), "rows 2–9]"),
        (Locator(9, 9, time_start=754.5, time_end=760.0), "[source: The lease, t=12:34]"),
        (Locator(9, 9, time_start=4354.0), "[source: The lease, t=01:12:34]"),
    ],
)
def test_a_citation_names_its_source_by_title_and_place(locator: Locator, source: str) -> None:
    citation = Citation(
        citation="lease.pdf (page 2)",
        quote="It ends.",
        path="lease.pdf",
        title="The lease",
        document_id=DocumentId("d"),
        chunk_id=ChunkId("c"),
        start=0,
        end=8,
        locator=locator,
        heading_path=(),
        matches=(),
    )
    assert citation.source.endswith(source)
