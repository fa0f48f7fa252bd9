"""From a citation to the cited lines."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helpers import embedded, fill, part
from memory_store import MemoryStore
from pincite.engine.catalog import catalog
from pincite.errors import CitationNotFound
from pincite.ports import Store
from pincite.records import (
    CitedPlace,
    DocumentEntry,
    DocumentId,
    EmbeddedDocument,
    Locator,
    Place,
    Section,
    locate,
    overlapping,
    place_cited as printed,
)
from pincite.retrieve.cite import find_place

GUIDE = embedded(
    "notes/my guide.md",
    part("# Guide\r\nOne.\r\nTwo.", headings=["Guide"]),
    part("## Seals\nThree.\nFour.", headings=["Guide", "Seals"]),
)
PLAIN = embedded("a.md", "only line")
LINES = ("# Guide", "One.", "Two.", "", "## Seals", "Three.", "Four.")


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


def cited(store: Store, citation: str, *, around: int = 0) -> CitedPlace:
    return find_place(
        store, citation, around=around, root=Path("/library"), seen_from=Path("/library/notes")
    )


@pytest.fixture
def store() -> Store:
    opened = MemoryStore()
    fill(opened, GUIDE, PLAIN, REPORT, TALK, SHEET)
    return opened


@pytest.mark.parametrize(
    ("citation", "first", "last"),
    [
        ("notes/my guide.md:2", 2, 2),
        ("notes/my guide.md:2-3", 2, 3),
        ("my guide.md:2-3", 2, 3),
        ("/library/notes/my guide.md:2-3", 2, 3),
        ("notes/my guide.md#L2-L3", 2, 3),
        ("notes/my guide.md:2:5", 2, 2),
        ("notes/my guide.md:6-99", 6, 7),
        ("notes/my guide.md", 1, 7),
        ("notes/my guide.md (line 6)", 6, 6),
        ("[3] notes/my guide.md — Guide > Seals (lines 5–7)\n    “Three.” (line 6)", 5, 7),
        ("    “Three.” (line 6)", 6, 6),
        ("[1] “Three. Four.”", 6, 7),
        ("[2] (Seals) “…Three.…” (line 6)", 6, 6),
        ("[1] “Four.”\n    notes/my guide.md — Guide (line 2)", 2, 2),
        ("[1] notes/my guide.md — My guide to the seals", 1, 7),
    ],
)
def test_every_form_of_a_citation_leads_to_its_lines(
    store: Store, citation: str, first: int, last: int
) -> None:
    place = cited(store, citation)
    assert place.document.path == "notes/my guide.md"
    assert place.locator == Locator(first, last)
    assert place.first_line == first
    assert place.lines == LINES[first - 1 : last]
    assert not place.superseded


def test_words_that_stand_twice_are_found_at_the_printed_place(store: Store) -> None:
    fill(store, embedded("b.md", "Here is a copy.\nThree."), embedded("c.md", "Three."))
    assert cited(store, "    “Three.” (line 2)").document.path == "b.md"
    assert cited(store, "    “Three.” (line 1)").document.path == "c.md"


def test_words_that_stand_nearly_everywhere_are_found_where_they_stand_so(store: Store) -> None:
    crowd = [embedded(f"{n}.md", "No, they like it. They do like it.") for n in range(99)]
    fill(
        store, *crowd, embedded("z.md", "They say a lot of things. Like, no, they do not. So what?")
    )
    assert cited(store, "[1] “Like, no, they do not.”").document.path == "z.md"
    assert cited(store, "[1] “Guide One.”").document.path == "notes/my guide.md"
    with pytest.raises(CitationNotFound):
        cited(store, "“…”")


def test_a_file_s_name_is_enough_where_no_other_has_it(store: Store) -> None:
    fill(store, embedded("papers/2024/lease.md", "It ends."))
    assert cited(store, "lease.md:1").document.path == "papers/2024/lease.md"
    assert cited(store, "2024/lease.md").document.path == "papers/2024/lease.md"
    assert cited(store, "LEASE.md (line 1)").document.path == "papers/2024/lease.md"
    fill(store, embedded("papers/2025/lease.md", "It ended."))
    both = r"give more of the path: papers/2024/lease.md, papers/2025/lease.md"
    with pytest.raises(CitationNotFound, match=both):
        cited(store, "lease.md:1")
    assert cited(store, "2025/lease.md").lines == ("It ended.",)
    with pytest.raises(CitationNotFound, match="nothing at"):
        cited(store, "ease.md")


@pytest.mark.parametrize("length", [8, 20, 40])
def test_a_chunk_id_or_its_beginning_leads_to_the_chunk_s_lines(store: Store, length: int) -> None:
    place = cited(store, GUIDE.chunks[1].chunk.id[:length])
    assert (place.locator, place.lines) == (Locator(5, 7), LINES[4:])


def test_lines_around_are_given_as_far_as_there_are_any(store: Store) -> None:
    assert cited(store, "notes/my guide.md:4", around=1).lines == LINES[2:5]
    place = cited(store, "notes/my guide.md:1-2", around=3)
    assert (place.first_line, place.lines) == (1, LINES[:5])
    assert cited(store, "notes/my guide.md:7", around=3).lines == LINES[3:]
    assert cited(store, "a.md:1", around=50).lines == ("only line",)


def test_an_old_chunk_id_leads_to_the_words_as_they_were(store: Store) -> None:
    store.replace_document(embedded("a.md", "another line"), replaces=[PLAIN.document.id])
    place = cited(store, PLAIN.chunks[0].chunk.id, around=3)
    assert place.lines == ("only line",)
    assert place.superseded


@pytest.mark.parametrize(
    ("citation", "complaint"),
    [
        ("", "nothing at"),
        ("missing.md", "a citation is a path with lines"),
        ("../../a.md:1", "nothing at"),
        ("abc1234", "nothing at"),  # too short for a chunk id
        ("a.md:2", "has lines 1 to 1"),
        ("notes/my guide.md:3-2", "has lines 1 to 7, not 3 to 2"),
        ("ffffffff", "no chunk's id begins with ffffffff"),
        ("f" * 40, "now or in the past"),
    ],
)
def test_a_citation_that_leads_nowhere_says_why(
    store: Store, citation: str, complaint: str
) -> None:
    with pytest.raises(CitationNotFound, match=complaint):
        cited(store, citation, around=3)


def test_a_beginning_shared_by_several_chunks_is_refused(store: Store) -> None:
    # The first two of counted names whose chunk ids begin alike.
    twins = embedded("23559.md", "x"), embedded("92462.md", "x")
    fill(store, *twins)
    first, second = (twin.chunks[0].chunk.id for twin in twins)
    assert first[:8] == second[:8]
    with pytest.raises(CitationNotFound, match="give more of it"):
        cited(store, first[:8])
    assert cited(store, first[:12]).document.path == "23559.md"


@pytest.mark.parametrize(
    ("citation", "lines"),
    [
        ("report.pdf:p2-3", ("two", "three")),
        ("report.pdf#page=3", ("three",)),
        ("report.pdf — Guide > Seals (pages 1–2)", ("one", "two")),
        ("talk.vtt@00:01:02", ("two",)),
        ("talk.vtt@0:10-1:02", ("one", "two")),
        ("talk.vtt#t=62,3601", ("two", "three")),
        ("[1] talk.vtt — Part 1 (01:00:00–01:00:05)", ("three",)),
        ("talk.vtt (00:01:01–00:01:05, lines 1–2)", ("one", "two")),
        ("budget.xlsx — Plan (row 5)", ("two",)),
        ("budget.xlsx — Costs (rows 1–9)", ("three",)),
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
        ("talk.vtt@01:30:00", "talk.vtt has nothing at time 01:30:00"),
        ("budget.xlsx (row 9)", "nothing at row 9"),
    ],
)
def test_a_place_that_is_not_there_says_so(store: Store, citation: str, complaint: str) -> None:
    with pytest.raises(CitationNotFound, match=complaint):
        cited(store, citation)


def test_a_second_opens_its_captions_with_their_speakers_and_times(store: Store) -> None:
    talk = with_places(
        embedded("panel.vtt", part("Ann: Is it? It is not.\nBo: Why so?"), kind="vtt"),
        Place(5, 11, time_start=1.0, time_end=2.0),
        Place(12, 22, time_start=2.0, time_end=4.5),
        Place(27, 34, time_start=40.0, time_end=41.0),
    )
    fill(store, talk)

    def told(citation: str, around: int = 0) -> list[tuple[float, float, str, bool]]:
        said = cited(store, citation, around=around).captions
        return [(one.start, one.end, one.text, one.is_anchor) for one in said]

    second = (2.0, 4.5, "Ann: It is not.", True)
    assert told("panel.vtt@00:00:03") == [second]
    assert told("panel.vtt (00:00:03–00:00:04)") == [second]
    assert told("“It is not.” (00:00:02–00:00:04)") == [second]
    assert told("panel.vtt@00:00:03", 1) == [
        (1.0, 2.0, "Ann: Is it?", False),
        (2.0, 4.5, "It is not.", True),
        (40.0, 41.0, "Bo: Why so?", False),
    ]
    silence = [second, (40.0, 41.0, "Bo: Why so?", True)]
    assert told("panel.vtt@00:00:20") == silence
    assert len(told("panel.vtt")) == 3


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


class Unlisted(MemoryStore):
    """A store that is so large that nobody should list what is known of all its documents."""

    def documents(
        self,
        ids: Collection[DocumentId] | None = None,
        **more: Any,  # noqa: ANN401 — as it is called
    ) -> list[DocumentEntry]:
        assert ids is not None, "every document was listed"
        return super().documents(ids, **more)


def test_of_a_large_library_only_what_is_asked_for_is_looked_up(tmp_path: Path) -> None:
    store = Unlisted()
    fill(store, GUIDE, PLAIN)
    place = find_place(store, "a.md:1", around=0, root=tmp_path, seen_from=tmp_path)
    assert place.document.path == "a.md"
    assert [one.path for one in catalog(store, tmp_path, "guide")] == ["notes/my guide.md"]
