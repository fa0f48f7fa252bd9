import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.reading.lines.front_matter import FrontMatter, split_front_matter
from pincite.records import Metadata, level_of


def yaml(*lines: str) -> FrontMatter:
    return split_front_matter("\n".join(("---", *lines, "---", "Body")))


def test_title_tags_author_date_and_language_are_read() -> None:
    front = yaml(
        "Title: Beam buckling",
        "tags: [statics, '#steel']",
        "authors: [Ada Lovelace, Bob]",
        "date: 2024-03-01",
        "lang: en",
    )
    assert front.title == "Beam buckling"
    assert front.metadata == Metadata(
        tags=("statics", "steel"), author="Ada Lovelace, Bob", date="2024-03-01", language="en"
    )


def test_project_confidentiality_and_agents_are_read_under_the_names_in_use() -> None:
    front = yaml("project: Harbour", "classification: Confidential", "agents: [planner, writer]")
    assert front.metadata == Metadata(
        project="Harbour", confidentiality="Confidential", agents=("planner", "writer")
    )
    assert yaml("agent_hint: planner", "agent: planner").metadata.agents == ("planner",)


@pytest.mark.parametrize(
    "lines",
    [
        ("confidentiality: [public, restricted]",),
        ("confidentiality: {level: restricted}",),
        ("confidentiality:",),
        ("classification: restricted", "confidentiality: public"),
        ("title: Plan: the pump [", "confidentiality: restricted"),
        ("a: &anchor b", "Classification: internal"),
    ],
)
def test_a_label_that_cannot_be_read_is_the_strictest(lines: tuple[str, ...]) -> None:
    assert level_of(yaml(*lines).metadata.confidentiality) == level_of("restricted")


def test_of_several_projects_the_first_counts_and_the_report_says_so() -> None:
    metadata = yaml("project: [Lighthouse, Harbour]", "agents: planner, writer").metadata
    assert metadata.project == "Lighthouse"
    assert metadata.agents == ("planner", "writer")
    assert metadata.notes == ("of its 2 projects only Lighthouse counts",)


def test_a_date_that_is_not_sure_stays_as_it_is_written() -> None:
    assert yaml("date: some day in May").metadata.date == "some day in May"


def test_toml_between_plus_signs_is_read() -> None:
    text = '+++\ntitle = "Beams"\ndate = 2024-03-01T10:00:00Z\ntags = ["a"]\n+++\nBody'
    front = split_front_matter(text)
    assert front.title == "Beams"
    assert front.metadata == Metadata(tags=("a",), date="2024-03-01T10:00:00+00:00")
    assert text[front.end :] == "Body"


@pytest.mark.parametrize(
    ("line", "tags"),
    [
        ("tags: '#one #two three'", ("one", "two", "three")),
        ("tags: [Yes, no, 1, 1]", ("Yes", "no", "1")),
        ("tag: single", ("single",)),
        ("tags: [[a], null, '', '#']", ()),
    ],
)
def test_tags_come_as_a_list_or_as_one_string(line: str, tags: tuple[str, ...]) -> None:
    assert yaml(line).metadata.tags == tags


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_the_text_begins_behind_the_closing_line(line_end: str) -> None:
    text = line_end.join(("---", "title: a", "---  ", "", "Body"))
    assert text[split_front_matter(text).end :] == f"{line_end}Body"


@pytest.mark.parametrize(
    "text", ["", "---\n", "--\na: b\n--\n", "---\na: b\n", "---\nA thought.\n---\n"]
)
def test_without_both_lines_there_is_no_front_matter(text: str) -> None:
    assert split_front_matter(text) == FrontMatter()


@pytest.mark.parametrize(
    "lines",
    [
        ["title: a: b"],
        ["title: !!python/object/apply:os.system ['true']"],
        ["a: &a [x]", "title: *a"],
        ["title: a", "x: " + "[" * 1_000 + "]" * 1_000],
    ],
)
def test_unreadable_front_matter_costs_the_metadata_and_no_more(lines: list[str]) -> None:
    front = yaml(*lines)
    assert front.title is None
    assert front.metadata == Metadata()
    assert front.end > 0


def test_a_title_is_one_clean_line() -> None:
    assert yaml(r'title: "a\n b\0\ud800 c"').title == "a b c"


@given(st.text(max_size=80))
def test_no_front_matter_breaks_the_reading(source: str) -> None:
    for fence in ("---", "+++"):
        text = f"{fence}\n{source}\n{fence}\nBody"
        front = split_front_matter(text)
        assert 0 <= front.end <= len(text)
