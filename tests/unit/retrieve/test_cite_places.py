"""From a page, a row or a time to the lines of the text that stand there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from helpers import embedded, fill, part
from pincite.errors import CitationNotFound
from pincite.ports import Store
from pincite.records import CitedPlace, EmbeddedDocument, Place, Section, locate, overlapping
from pincite.records import place_cited as printed
from pincite.retrieve.cite import find_place
from pincite.stores.memory import MemoryStore


def with_places(made: EmbeddedDocument, *places: Place) -> EmbeddedDocument:
    (only,) = made.chunks
    located = locate(places, 0, only.chunk.end, line_start=1, line_end=only.chunk.locator.line_end)
    chunk = replace(only.chunk, places=places, locator=located)
    document = replace(made.document, places=places)
    return EmbeddedDocument(document, (replace(only, chunk=chunk),))


REPORT = with_places(
    embedded("report.pdf", part("one\ntwo\nthree"), kind="pdf"),
    Place(0, 3, page=1),
    Place(4, 7, page=2),
    Place(8, 13, page=3),
)
TALK = with_places(
    embedded("talk.vtt", part("one\ntwo\nthree"), kind="vtt"),
    Place(0, 3, time_start=5.0, time_end=60.0),
    Place(4, 7, time_start=61.0, time_end=65.5),
    Place(8, 13, time_start=3600.0, time_end=3605.0),
)
_SHEET = with_places(
    embedded("budget.xlsx", part("one\ntwo\nthree"), kind="xlsx"),
    Place(0, 3, page=1, row=2),
    Place(4, 7, page=1, row=5),
    Place(8, 13, page=2, row=2),
)
SHEET = replace(
    _SHEET,
    document=replace(
        _SHEET.document, sections=(Section(("Plan",), 1, 0, 8), Section(("Costs",), 1, 8, 13))
    ),
)


@pytest.fixture
def store() -> Store:
    opened = MemoryStore()
    fill(opened, REPORT, TALK, SHEET)
    return opened


def cited(store: Store, citation: str) -> CitedPlace:
    return find_place(store, citation, around=0, root=Path("/library"), seen_from=Path("/library"))


@pytest.mark.parametrize(
    ("citation", "lines"),
    [
        ("report.pdf:p2", ("two",)),
        ("report.pdf:p2-3", ("two", "three")),
        ("report.pdf#page=3", ("three",)),
        ("[2] report.pdf (page 2)", ("two",)),
        ("report.pdf — Guide > Seals (pages 1–2)", ("one", "two")),
        ("report.pdf:2", ("two",)),
        ("talk.vtt@00:01:02", ("two",)),
        ("talk.vtt@1:02", ("two",)),
        ("talk.vtt@0:10-1:02", ("one", "two")),
        ("talk.vtt#t=3601", ("three",)),
        ("talk.vtt#t=62,3601", ("two", "three")),
        ("[1] talk.vtt — Part 1 (01:00:00–01:00:05)", ("three",)),
        ("talk.vtt (00:01:01–00:01:05)", ("two",)),
        ("talk.vtt (00:01:01–00:01:05, lines 1–2)", ("one", "two")),
        ("budget.xlsx — Plan (row 5)", ("two",)),
        ("budget.xlsx (rows 4–6)", ("two",)),
        ("budget.xlsx (row 2)", ("one",)),
        ("budget.xlsx — Costs (rows 1–9)", ("three",)),
        ("budget.xlsx — Costs (sheet 2)", ("three",)),
    ],
)
def test_a_page_a_time_or_rows_lead_to_their_lines(
    store: Store, citation: str, lines: tuple[str, ...]
) -> None:
    assert cited(store, citation).lines == lines


@pytest.mark.parametrize(
    ("citation", "complaint"),
    [
        ("report.pdf:p4", "report.pdf has nothing at page 4"),
        ("report.pdf:p4-5", "nothing at page 4–5"),
        ("talk.vtt@00:30:00", "talk.vtt has nothing at time 00:30:00"),
        ("report.pdf@00:01:00", "nothing at time"),
        ("budget.xlsx (row 9)", "nothing at row 9"),
    ],
)
def test_a_place_that_is_not_there_says_so(store: Store, citation: str, complaint: str) -> None:
    with pytest.raises(CitationNotFound, match=complaint):
        cited(store, citation)


@pytest.mark.parametrize("made", [REPORT, TALK, SHEET])
def test_what_is_printed_for_a_place_leads_back_to_it(store: Store, made: EmbeddedDocument) -> None:
    document = made.document
    for place in document.places:
        line = document.text.count("\n", 0, place.start) + 1
        held = overlapping(document.places, place.start, place.end)
        locator = locate(held, place.start, place.end, line_start=line, line_end=line)
        (section,) = (one for one in document.sections if one.start <= place.start < one.end)
        found = cited(store, printed(document.path, document.type, section.heading_path, locator))
        assert document.text[place.start : place.end] in found.lines
