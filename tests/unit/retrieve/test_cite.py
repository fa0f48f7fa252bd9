"""From a citation to the cited lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers import embedded, fill, part
from pincite.errors import CitationNotFound
from pincite.ports import Store
from pincite.records import CitedPlace, Locator
from pincite.retrieve.cite import find_place
from pincite.stores.memory import MemoryStore

GUIDE = embedded(
    "notes/my guide.md",
    part("# Guide\r\nOne.\r\nTwo.", headings=["Guide"]),
    part("## Seals\nThree.\nFour.", headings=["Guide", "Seals"]),
)
PLAIN = embedded("a.md", "only line")
LINES = ("# Guide", "One.", "Two.", "", "## Seals", "Three.", "Four.")


def cited(store: Store, citation: str, *, around: int) -> CitedPlace:
    return find_place(
        store, citation, around=around, root=Path("/library"), seen_from=Path("/library/notes")
    )


@pytest.fixture
def store() -> Store:
    opened = MemoryStore()
    fill(opened, GUIDE, PLAIN)
    return opened


@pytest.mark.parametrize(
    ("citation", "first", "last"),
    [
        ("notes/my guide.md:2", 2, 2),
        ("notes/my guide.md:2-3", 2, 3),
        ("notes/my guide.md:2–3", 2, 3),
        ("./my guide.md:2-3", 2, 3),
        ("my guide.md:2-3", 2, 3),
        ("/library/notes/my guide.md:2-3", 2, 3),
        ("notes/my guide.md#L2-L3", 2, 3),
        ("notes/my guide.md:2:5", 2, 2),
        ("  notes/my guide.md:2-3\n", 2, 3),
        ("notes/my guide.md:6-99", 6, 7),
        ("notes/my guide.md", 1, 7),
        ("notes/my guide.md (line 6)", 6, 6),
        ("notes/my guide.md (lines 5–7)", 5, 7),
        ("notes/my guide.md (lines 5-7)", 5, 7),
        ("notes/my guide.md — Guide > Seals (lines 5–7)", 5, 7),
        ("[3] notes/my guide.md — Guide > Seals (lines 5–7)", 5, 7),
        ("[3] notes/my guide.md — Guide > Seals (lines 5–7)\n    “Three.” (line 6)", 5, 7),
    ],
)
def test_every_form_of_a_citation_leads_to_its_lines(
    store: Store, citation: str, first: int, last: int
) -> None:
    place = cited(store, citation, around=0)
    assert place.document.path == "notes/my guide.md"
    assert place.locator == Locator(first, last)
    assert place.first_line == first
    assert place.lines == LINES[first - 1 : last]
    assert not place.superseded


@pytest.mark.parametrize("length", [8, 20, 40])
def test_a_chunk_id_or_its_beginning_leads_to_the_chunk_s_lines(store: Store, length: int) -> None:
    place = cited(store, GUIDE.chunks[1].chunk.id[:length], around=0)
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
        ("missing.md:1", "nothing at"),
        ("missing.md", "a citation is a path with lines"),
        ("MY GUIDE.md:1", "nothing at"),
        ("../../a.md:1", "nothing at"),
        ("abc1234", "nothing at"),  # too short for a chunk id
        ("a.md:0", "has lines 1 to 1"),
        ("a.md:2", "has lines 1 to 1"),
        ("notes/my guide.md:3-2", "has lines 1 to 7, not 3 to 2"),
        ("notes/my guide.md:8-9", "has lines 1 to 7, not 8 to 9"),
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
        cited(store, first[:8], around=0)
    assert cited(store, first[:12], around=0).document.path == "23559.md"
