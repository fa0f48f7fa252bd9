import json
from itertools import pairwise
from textwrap import dedent

import pytest
from hypothesis import given, strategies as st

from pincite.errors import FileEmpty
from pincite.reading.data.structured import (
    indented,
    members,
    read as read_structured,
    shape_of,
    with_plain_strings,
)
from pincite.reading.source_file import SourceFile
from pincite.records import Content

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=20,
)
containers = st.lists(json_values, max_size=4) | st.dictionaries(st.text(max_size=4), json_values)


def read(text: str, path: str = "data/a.json") -> Content:
    return read_structured(SourceFile(path, text.encode()))


def outline(content: Content) -> list[tuple[str, str]]:
    return [(block.kind.value, content.text[block.start : block.end]) for block in content.blocks]


def paths(content: Content) -> list[tuple[str, ...]]:
    return [section.heading_path for section in content.sections]


def canonical(value: object) -> str:
    """For comparing: NaN is not equal to itself, but to its text."""
    return json.dumps(value)


@given(json_values, st.sampled_from([None, 0, 2]), st.booleans())
def test_laying_out_keeps_the_value(value: object, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert canonical(json.loads(indented(text))) == canonical(value)
    assert indented(indented(text)) == indented(text)


@given(containers)
def test_members_stand_where_they_are_said_to(value: object) -> None:
    text = json.dumps(value, indent=1)
    found = list(members(text, shape_of(text), 0))
    values = [json.loads(text[one.value : one.end]) for one in found]
    expected = list(value.values()) if isinstance(value, dict) else value
    assert canonical(values) == canonical(expected)
    if isinstance(value, dict):
        assert [one.key for one in found] == list(value)


@given(st.dictionaries(st.text(max_size=4), json_values, min_size=1), st.sampled_from([None, 2]))
def test_sections_cover_the_text_and_blocks_hold_every_word(
    value: dict[str, object], indent: int | None
) -> None:
    try:
        content = read(json.dumps({"key": value}, indent=indent))
    except FileEmpty:
        return
    text = content.text
    assert (content.sections[0].start, content.sections[-1].end) == (0, len(text))
    assert all(one.end == two.start for one, two in pairwise(content.sections))
    assert all(one.end <= two.start for one, two in pairwise(content.blocks))
    inside = "".join(text[block.start : block.end] for block in content.blocks)
    assert "".join(inside.split()) == "".join(text.split())
    starts = {section.start for section in content.sections}
    for block in content.blocks:
        assert not starts & set(range(block.start + 1, block.end))


def test_a_readable_file_is_kept_and_parted_by_its_keys() -> None:
    text = dedent("""\
        {
          "name": "Gull",
          "version": "1.2",
          "scripts": {
            "start": "sail"
          },
          "licence": "MIT",
          "private": true,
          "crew": [
            "Ada"
          ]
        }
        """)
    content = read(text)
    assert content.text == text
    assert content.title == "Gull"
    assert paths(content) == [(), ("scripts",), (), ("crew",)]
    assert outline(content) == [
        ("code", '{\n  "name": "Gull",\n  "version": "1.2",'),
        ("code", '  "scripts": {\n    "start": "sail"\n  },'),
        ("code", '  "licence": "MIT",\n  "private": true,'),
        ("code", '  "crew": [\n    "Ada"\n  ]\n}'),
    ]


def test_the_members_of_large_values_have_sections_of_their_own() -> None:
    ports = {f"port {number}": {"depth": "x" * 300} for number in range(4)}
    content = read(json.dumps({"ports": {**ports, "total": 4}, "end": 1}, indent=2))
    assert paths(content) == [
        ("ports",),
        *(("ports", f"port {number}") for number in range(4)),
        ("ports",),
        (),
    ]
    assert [section.level for section in content.sections] == [1, 2, 2, 2, 2, 2, 1]


def test_items_are_called_what_they_call_themselves() -> None:
    items = [{"id": 1, "title": 'Oil "lamp"'}, {"id": 2}, {"name": "Rope"}]
    content = read(json.dumps(items, indent=1))
    assert paths(content) == [('Oil "lamp"',), (), ("Rope",)]
    assert len(content.blocks) == 3


def test_what_programs_wrote_on_one_line_is_laid_out() -> None:
    value = {"title": "Dépôt", "boxes": [{"n": number, "at": [1, 2]} for number in range(200)]}
    content = read(json.dumps(value))
    assert json.loads(content.text) == value
    assert content.text.startswith('{\n  "title": "Dépôt",\n  "boxes": [\n    {\n      "n": 0,\n')
    assert '"at": [1, 2]' in content.text


def test_escapes_become_letters_on_the_same_lines() -> None:
    text = '{\n  "caf\\u00e9": "one\\ntwo\\tthree \\u003cb\\u003e",\n  "b": "\\ud83d\\ude00"\n}'
    assert read(text).text == '{\n  "café": "one two three <b>",\n  "b": "😀"\n}'
    assert with_plain_strings(r'["\"q\" C:\\new \u0007"]') == r'["\"q\" C:\\new \u0007"]'


def test_what_a_file_says_about_itself() -> None:
    about = {
        "title": "  Rope\ncare ",
        "authors": [{"name": "Ada"}, "Bob"],
        "created_at": "2024-05-01T10:00:00Z",
        "updated": "2024-06-31",
        "keywords": ["rope", "rope", 3],
        "lang": "en",
    }
    content = read(json.dumps(about, indent=1))
    assert content.title == "Rope care"
    assert content.metadata.author == "Ada, Bob"
    assert content.metadata.date == "2024-05-01T10:00:00+00:00"
    assert content.metadata.modified is None
    assert content.metadata.tags == ("rope",)
    assert content.metadata.language == "en"
    assert read('{"title": {"a": 1}, "tags": 7, "author": [[1]]}').title is None


def test_settings_with_comments_are_plain_text() -> None:
    text = '// for people\n{\n  "a": 1,\n}\n\n// more\n'
    content = read(text)
    assert (content.type, content.text) == ("json", text)
    assert [kind for kind, _ in outline(content)] == ["paragraph", "paragraph"]


def test_a_transcript_is_read_as_one() -> None:
    segments = [
        {"start": 0.0, "end": 2.5, "text": "Cast off."},
        {"start": 2.5, "end": 4, "text": "Aye."},
    ]
    content = read(json.dumps({"segments": segments}), "talk.json")
    assert any(place.time_end == 2.5 for place in content.places)
    lines = "\n".join(map(json.dumps, segments))
    assert any(place.time_end == 2.5 for place in read(lines, "talk.jsonl").places)


def test_rows_keep_the_numbers_of_their_lines() -> None:
    text = '{"id": 1, "title": "Oar"}\n\n{"id": 2}\nnot json at all\n'
    content = read(text, "rows.jsonl")
    assert (content.type, content.text) == ("jsonl", text)
    assert [(text[place.start : place.end], place.row) for place in content.places] == [
        ('{"id": 1, "title": "Oar"}', 1),
        ('{"id": 2}', 3),
        ("not json at all", 4),
    ]
    assert paths(content) == [("Oar",), ()]
    assert [kind for kind, _ in outline(content)] == ["paragraph"] * 3


def test_long_rows_are_laid_out_and_keep_their_numbers() -> None:
    rows = [{"id": number, "text": "word " * 500} for number in range(3)]
    text = "\n".join(map(json.dumps, rows)) + '\n"' + "broken " * 400
    content = read(text, "rows.ndjson")
    shown = [content.text[place.start : place.end] for place in content.places]
    assert [json.loads(row) for row in shown[:3]] == rows
    assert shown[3].startswith('"broken')
    assert [place.row for place in content.places] == [1, 2, 3, 4]
    assert content.text.startswith('{\n  "id": 0,\n  "text": ')


@pytest.mark.parametrize("text", ["{}", "[]", '""', "[[], {}]", "  \n"])
def test_what_holds_no_word_is_empty(text: str) -> None:
    with pytest.raises(FileEmpty):
        read(text)


@pytest.mark.parametrize(
    "text",
    [
        '"only a string"',
        '{"a": "unclosed',
        '{"a":' * 50_000 + "1" + "}" * 50_000,
        '{"a": 1e400, "b": NaN, "c": -Infinity}',
        '{"a": 1, "a": {"b": 2}, "a": 3}',
        '"a' + '\\"' * 100_000,
    ],
)
def test_hostile_texts_are_read_or_refused_in_peace(text: str) -> None:
    content = read(text)
    assert content.blocks
    assert content.sections[-1].end == len(content.text)


def test_numbers_stay_as_they_are_written() -> None:
    numbers = ", ".join(['{"n": 1.50}', '{"n": 1e400}', '{"n": 12345678901234567890}'] * 60)
    text = read(f"[{numbers}]").text
    assert text.count("1.50") == text.count("1e400") == text.count("12345678901234567890") == 60
