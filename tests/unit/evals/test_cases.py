from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from pincite.errors import SettingsError
from pincite.evals.cases import dump_cases, parse_cases
from pincite.records import Case, ChunkId, ExpectedPlace, Filters, Modality

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
WORDS = TEXT.filter(str.strip)
NAMES = st.sampled_from(["content", "metadata", "mine_2", "k" * 40])
PATHS = st.sampled_from(["a.md", "notes/über uns.md", "漢字/b.pdf", "x.y z"])
COUNTS = st.integers(1, 10**9)
SECONDS = st.floats(0, 10**9)


def in_order(values: st.SearchStrategy[float]) -> st.SearchStrategy[tuple[float, float]]:
    return st.tuples(values, values).map(lambda ends: (min(ends), max(ends)))


def places() -> st.SearchStrategy[ExpectedPlace]:
    counted = [
        st.builds(ExpectedPlace, PATHS, **{name: in_order(COUNTS)})
        for name in ("lines", "pages", "rows")
    ]
    return st.one_of(*counted, st.builds(ExpectedPlace, PATHS, time=in_order(SECONDS)))


def once_each(values: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(values, max_size=3, unique=True).map(tuple)


FILTERS = st.builds(
    Filters,
    types=st.none() | once_each(TEXT),
    tags=st.none() | once_each(TEXT),
    modalities=st.none() | st.lists(st.sampled_from(Modality), max_size=2).map(tuple),
    name=st.none() | TEXT,
    heading=st.none() | TEXT,
)
ANSWERABLE = st.builds(
    Case,
    question=WORDS,
    kind=NAMES,
    documents=st.dictionaries(PATHS, st.integers(1, 3), max_size=3),
    chunks=once_each(WORDS),
    places=st.lists(places(), max_size=3, unique=True).map(tuple),
    terms=st.lists(WORDS, min_size=1, max_size=3, unique=True).map(tuple),
    filters=FILTERS,
    draft=st.booleans(),
    note=TEXT,
)
UNANSWERABLE = st.builds(
    Case, question=WORDS, kind=NAMES, unanswerable=st.just(True), filters=FILTERS, note=TEXT
)
CASES = st.lists(ANSWERABLE | UNANSWERABLE, max_size=4, unique_by=lambda case: case.id)


def only(line: str) -> Case:
    (case,) = parse_cases(line, name="q.jsonl")
    return case


def problem(*lines: str) -> str:
    with pytest.raises(SettingsError) as caught:
        parse_cases("\n".join(lines), name="q.jsonl")
    return str(caught.value)


def place(**fields: object) -> str:
    return json.dumps({"question": "q", "places": [{"document": "a.md", **fields}]})


@given(CASES)
def test_what_was_written_is_read_back(cases: list[Case]) -> None:
    assert parse_cases(dump_cases(cases), name="q.jsonl") == tuple(cases)


def test_a_file_may_come_from_another_system() -> None:
    cases = (Case(question="q", terms=("x",)), Case(question="r", unanswerable=True))
    text = "\ufeff" + dump_cases(cases).replace("\n", "\r\n\r\n")
    assert parse_cases(text, name="q.jsonl") == cases


def test_only_what_differs_from_the_default_is_written_and_in_a_fixed_order() -> None:
    case = Case(question="Wer öffnet?", documents={"a.md": 1}, draft=True, note="by hand")
    assert dump_cases([case]) == (
        '{"question": "Wer öffnet?", "documents": ["a.md"], "draft": true, "note": "by hand"}\n'
    )


def test_a_full_case_is_understood() -> None:
    case = only(
        '{"question": "q", "kind": "mine", "documents": {"a.md": 3}, "chunks": ["c1"], '
        '"places": [{"document": "a.md", "pages": 4}], "terms": ["4.5 bar"], '
        '"filters": {"tags": ["x"], "name": "a", "modalities": ["code"]}}'
    )
    assert case == Case(
        question="q",
        kind="mine",
        documents={"a.md": 3},
        chunks=(ChunkId("c1"),),
        places=(ExpectedPlace("a.md", pages=(4, 4)),),
        terms=("4.5 bar",),
        filters=Filters(tags=("x",), name="a", modalities=(Modality.CODE,)),
    )


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        (5, (5, 5)),
        ("1:05", (65, 65)),
        ([1.5, "00:02"], (1.5, 2)),
        (["01:00:00", "01:00:01.5"], (3600, 3601.5)),
    ],
)
def test_times_are_understood_as_people_write_them(
    written: object, seconds: tuple[float, float]
) -> None:
    (expected,) = only(place(time=written)).places
    assert expected.time == seconds


def test_a_line_separator_inside_a_question_ends_no_line() -> None:
    assert only('{"question": "a\u2028b", "terms": ["x"]}').question == "a\u2028b"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "is not JSON"),
        ("// later", "comments are not allowed"),
        ('{"terms": ["x"]}', '"question" is missing'),
        ('{"question": " ", "terms": ["x"]}', '"question" takes a text that is not blank'),
        ('{"question": "q", "question": "r"}', 'names "question" twice'),
        ('{"question": "q", "docs": []}', '"docs" is no field here; possible are question, kind'),
        ('{"question": "q", "kind": "all", "terms": ["x"]}', '"kind" takes a short name'),
        ('{"question": "q", "documents": "a.md"}', '"documents" takes a list of paths, or'),
        ('{"question": "q", "documents": {"a.md": 0}}', "whole numbers from 1"),
        ('{"question": "q", "documents": ["a.md", "a.md"]}', "one of them twice"),
        (
            '{"question": "q", "documents": ["/home/a.md"]}',
            '"/home/a.md" is not a path in the library',
        ),
        ('{"question": "q", "terms": [""]}', '"terms" holds a blank'),
        ('{"question": "q", "terms": null}', '"terms" takes a list of texts'),
        ('{"question": "q", "draft": "yes", "terms": ["x"]}', '"draft" takes true or false'),
        ('{"question": "q", "filters": {"tag": ["x"]}}', '"tag" is no field here; possible are'),
        ('{"question": "q", "filters": {"modalities": ["x"]}}', '"modalities" takes a list'),
        ('{"question": "q"}', "expects nothing; give documents"),
        ('{"question": "q", "unanswerable": true, "terms": ["x"]}', "unanswerable but expects"),
        ('{"question": "\\ud800", "terms": ["x"]}', "lone surrogate"),
        (place(), "a place has 0 of lines, pages, time, rows; give exactly one"),
        (place(lines=[8, 3]), '"lines" ends before it begins'),
        (place(rows=1.5), '"rows" takes a whole number from 1'),
        (place(time="soon"), '"soon" is not a time'),
        ('{"question": "q", "places": [{"document": "a", "time": NaN}]}', "holds NaN"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_bad_line_is_told_with_what_to_do(line: str, says: str) -> None:
    told = problem('{"question": "fine", "terms": ["x"]}', line)
    assert told.startswith("q.jsonl line 2: ")
    assert says in told


def test_the_same_question_under_the_same_filters_stands_once() -> None:
    line = '{"question": "q", "terms": ["x"]}'
    other = '{"question": "q", "terms": ["x"], "filters": {"tags": ["y"]}}'
    assert len(parse_cases(f"{line}\n{other}", name="q.jsonl")) == 2
    again = '{"question": "q", "terms": ["y"]}'
    assert problem(line, "", again).startswith("q.jsonl line 3: asks the same as line 1;")


def test_every_bad_line_is_told_up_to_ten() -> None:
    told = problem(*["{"] * 10).splitlines()
    assert [line.partition(":")[0] for line in told] == [
        f"q.jsonl line {number}" for number in range(1, 11)
    ]
    assert problem(*["{"] * 11).splitlines()[10] == "… and 1 more such line"
    assert problem(*["{"] * 30).splitlines()[10] == "… and 20 more such lines"


def test_what_a_file_says_cannot_write_to_the_terminal() -> None:
    told = problem(json.dumps({"question": "q", "\x1b[31m" + "x" * 999: 1}))
    assert "\x1b" not in told
    assert len(told) < 300


@given(st.text().filter(lambda text: bool(text.removeprefix("\ufeff").strip())))
def test_text_that_is_no_case_is_never_taken_for_one(text: str) -> None:
    assert problem(text).startswith("q.jsonl line ")
