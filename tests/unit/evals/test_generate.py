"""Documents become draft cases: what can be relied on, whatever the documents are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drafting import Read, read
from pincite.evals.cases import dump_cases, parse_cases
from pincite.evals.generate import draft_cases
from pincite.evals.generate.pool import Pool
from pincite.evals.generate.sightings import Sightings
from pincite.records import Case, Document, Section


def note(number: int, topic: str) -> Read:
    """A note about a topic of its own, with something for most kinds of question."""
    return read(
        f"notes/{topic}.md",
        f"---\ntitle: All about the {topic}\nauthor: {topic.title()} Brae\n"
        f"date: 20{number:02}-03-04\ntags: [{topic}s]\n---\n\n"
        f"# All about the {topic}\n\nThe {topic} stands in the yard and is looked after by us.\n\n"
        f"## Oil the {topic}\n\nTake the can and put three drops on the {topic} each week.\n\n"
        f"## Codes\n\nA {topic} drive is a box that turns the {topic} when the wind does not.\n"
        f"ERR-{number}17{number} means that the {topic} does not turn.\n",
    )


TOPICS = ("mill", "pump", "loom", "kiln", "forge", "crane", "winch", "lathe", "sieve", "bell")
NOTES = [note(10 + number, topic) for number, topic in enumerate(TOPICS)]
TALK = """# Boats for beginners

[00:00:00] Ada: Good evening. We begin with the copper kettle, which is older than this house.

[00:00:20] Ada: And then there is a wooden rudder. It lay in the shed for years and years.

[00:00:40] Ada: Nobody had seen the rudder. The kettle was known to all.
"""


def drafts(*documents: Read, most: int = 60, seed: int = 0) -> list[Case]:
    return draft_cases(iter(documents), most=most, seed=seed)


def questions(*documents: Read) -> list[str]:
    return [case.question for case in drafts(*documents) if not case.unanswerable]


@settings(max_examples=20)
@given(st.permutations(NOTES), st.integers(0, 5))
def test_the_same_documents_and_seed_give_the_same_drafts_in_whatever_order(
    documents: list[Read], seed: int
) -> None:
    assert drafts(*documents, most=30, seed=seed) == drafts(*NOTES, most=30, seed=seed)


def test_another_seed_gives_other_drafts() -> None:
    assert drafts(*NOTES, most=10, seed=1) != drafts(*NOTES, most=10, seed=2)


@settings(max_examples=30)
@given(st.integers(-1, 80))
def test_no_more_are_drafted_than_were_asked_for(most: int) -> None:
    made = drafts(*NOTES, most=most)
    assert len(made) <= max(most, 0)
    if 0 <= most <= 40:
        assert len(made) == most


def test_drafts_can_be_stored_and_say_where_they_come_from() -> None:
    made = drafts(*NOTES, read("talk.transcript.md", TALK))
    assert parse_cases(dump_cases(made), name="drafts") == tuple(made)
    assert all(case.draft and case.note for case in made)


def test_what_a_draft_expects_is_there() -> None:
    texts = {document.path: document.text for document, _ in NOTES}
    for case in drafts(*NOTES):
        paths = {*case.documents, *(place.document for place in case.places)}
        assert bool(paths) is not case.unanswerable
        assert all(term in texts[path] for path in paths for term in case.terms)


def test_drafts_are_spread_over_kinds_and_documents() -> None:
    made = drafts(*NOTES, most=40)
    kinds = Counter(case.kind for case in made)
    documents = Counter(path for case in made for path in case.documents)
    assert min(kinds[kind] for kind in ("metadata", "content", "exact_term")) >= 8
    assert set(documents) == {document.path for document, _ in NOTES}
    assert max(documents.values()) <= 6


def test_nothing_is_asked_twice() -> None:
    made = drafts(*NOTES, *NOTES)
    assert len({case.question for case in made}) == len(made)


def test_about_one_in_eight_cannot_be_answered_and_asks_for_what_stands_nowhere() -> None:
    made = drafts(*NOTES, most=40)
    unanswerable = [case for case in made if case.unanswerable]
    everything = " ".join(f"{document.text} {document.about}" for document, _ in NOTES)
    assert len(unanswerable) == 5
    for case in unanswerable:
        # The note ends with what no document has: a number, a name, a year.
        assert case.note.rpartition(" ")[2] not in everything
        assert case.note.rpartition(" ")[2] in case.question


def test_a_year_that_only_a_date_holds_is_known() -> None:
    years = [str(year) for year in range(1950, 2050) if year != 1999]
    budget = read(
        "budget.md",
        "---\ntitle: Budget 2001\nauthor: Ada Brae\ndate: 1999-05-01\n---\n\n# Budget\n\n"
        f"## Roof repairs\n\nThe roof was repaired in {' and '.join(years)}, and that is all.\n",
    )
    assert not [case for case in drafts(budget) if "1999" in case.question]


def test_what_cannot_be_seen_is_never_asked_for() -> None:
    page = (
        "<html lang='en'><title>Mills of the island</title><body><h1>Mills of the island</h1>"
        "<p>There is one mill and it is in use for the whole of the year, as it ever was.</p>"
        "<p style='opacity:0'>A secret word is a word that nobody knows. XQ-7001 is one.</p>"
        "<p>A sluice gate is a board that lets the water in from the river.</p>"
        "<p>And YQ-7002 is its number.</p></body>"
    )
    document, chunks = read("mills.html", page)
    assert "A secret word is a word" in document.text
    asked = " ".join(questions((document, chunks)))
    assert "sluice gate" in asked
    assert "YQ-7002" in asked
    assert "secret word" not in asked
    assert "XQ-7001" not in asked


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n" * 100_000,
        "A" * 200_000,
        "A-" * 100_000,
        "the thing is a " * 15_000,
        "(AB) " * 40_000,
        "# a\n\n" * 20_000,
        "**a** " * 30_000,
        "**" * 50_000,
        "```\n" * 50_001,
        "word " * 40_000 + "(WORD)",
        "a_b." * 50_000,
        "the old mill, " * 15_000,
    ],
)
def test_hostile_texts_are_cheap(text: str) -> None:
    sections = (Section((), 0, 0, len(text)),)
    document = Document("lib", "a.md", "0", "md", "Mill", text, sections)
    assert len(draft_cases([(document, [])], most=5)) <= 5


@given(st.lists(st.lists(st.text(max_size=2), max_size=5), max_size=8), st.text(max_size=2))
def test_sightings_are_never_too_few(documents: list[list[str]], sought: str) -> None:
    sightings = Sightings()
    for keys in documents:
        sightings.note(keys)
    assert sightings.count(sought) >= sum(sought in keys for keys in documents)


def test_sightings_are_mostly_right_and_end_at_255() -> None:
    sightings = Sightings()
    for number in range(300):
        sightings.note(["mill", "mill", f"mill {number}"])
    assert sightings.count("mill") == 255
    assert sightings.count("nowhere") == 0
    assert sum(sightings.count(f"mill {number}") == 1 for number in range(300)) > 290


PATHS = st.lists(st.text(max_size=3), max_size=12, unique=True)


@given(PATHS.flatmap(lambda paths: st.tuples(st.just(paths), st.permutations(paths))))
def test_a_sample_depends_on_what_comes_and_not_on_when(
    orders: tuple[list[str], list[str]],
) -> None:
    paths, shuffled = orders
    assert kept(paths, 4) == kept(shuffled, 4)
    assert len(kept(paths, 4)) == min(4, len(paths))


def kept(paths: Iterable[str], size: int) -> list[str]:
    pool: Pool[str] = Pool(size, seed=3)
    for path in paths:
        assert pool.wants(path) or len(list(pool)) == size
        pool.keep(path, [path])
    return list(pool)
