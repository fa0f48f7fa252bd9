"""The filter expression: what it means, and what is said of a wrong one."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from pincite.errors import FilterError
from pincite.records import (
    FIELDS,
    LEVELS,
    AllOf,
    AnyOf,
    Clause,
    Filters,
    FiltersGiven,
    Modality,
    Not,
    filters_of,
    level_of,
    parse_filter,
)


@pytest.mark.parametrize(
    ("expression", "condition"),
    [
        ("TYPE == .PDF", Clause("type", "is", ("pdf",))),
        ("tag != red", Not(Clause("tag", "is", ("red",)))),
        ("tag in (red, 'dark green')", Clause("tag", "is", ("red", "dark green"))),
        ("name matches *.p?f", Clause("name", "matches", ("*.p?f",))),
        ('author = "O\'Neil \\"x\\" \\\\"', Clause("author", "is", ('O\'Neil "x" \\',))),
        ('tag = "and"', Clause("tag", "is", ("and",))),
        ("symbol = std::vector", Clause("symbol", "is", ("std::vector",))),
        ("date>=2024-05", Clause("date", ">=", ("2024-05",))),
        ("confidentiality < Restricted", Clause("confidentiality", "<", ("restricted",))),
        # `and` binds closer than `or`, `not` closer than both
        (
            "type = a or type = b and not type = c",
            AnyOf(
                (
                    Clause("type", "is", ("a",)),
                    AllOf((Clause("type", "is", ("b",)), Not(Clause("type", "is", ("c",))))),
                )
            ),
        ),
        (
            "(type = a or type = b) AND tag = c",
            AllOf(
                (
                    AnyOf((Clause("type", "is", ("a",)), Clause("type", "is", ("b",)))),
                    Clause("tag", "is", ("c",)),
                )
            ),
        ),
    ],
)
def test_an_expression_means_its_condition(expression: str, condition: object) -> None:
    assert parse_filter(expression) == condition


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("typ = pdf", "character 1 of 'typ = pdf': unknown field 'typ' (did you mean type?)"),
        (
            "type ~ pdf",
            "character 6 of 'type ~ pdf': unknown operator '~'; type takes =, !=, in, not in",
        ),
        ("text = pump", "text has no operator '='; text takes contains"),
        ("type =", "a value is missing at the end"),
        ("", "a field is missing at the end"),
        ("type = and", "here a value belongs, not 'and'; quote it"),
        ("type = pdf tag = x", "character 12 of 'type = pdf tag = x': here `and`, `or`"),
        ("(type = pdf", "')' is missing"),
        ("tag in (red green)", "',' is missing"),
        ('name = "open', "character 8 of 'name = \"open': a quote is not closed"),
        ("date > 2024-13", "'2024-13' is not a date"),
        ("modality = film", "modalities are: text, ocr"),
        ("date > soon", "'soon' is not a date; write 2024, 2024-05 or 2024-05-31"),
        ("confidentiality = secret", "levels are: public, internal, confidential, restricted"),
        ("not " * 60 + "type = pdf", "nested too deeply"),
        ("type = " + "x" * 5_000, "longer than 4096 characters"),
    ],
)
def test_a_wrong_expression_is_told_with_its_place_and_what_would_be_right(
    expression: str, said: str
) -> None:
    with pytest.raises(FilterError) as caught:
        parse_filter(expression)
    assert said in str(caught.value)


@given(
    st.text(max_size=60)
    | st.lists(st.sampled_from([*FIELDS, *"()=,", "and", "or", "not"])).map(" ".join)
)
def test_any_text_is_a_condition_or_a_clear_error(expression: str) -> None:
    try:
        condition = parse_filter(expression)
    except FilterError:
        return
    assert parse_filter(str(condition)) == condition


@given(st.text(min_size=1, max_size=30))
def test_any_value_survives_being_written_and_read(value: str) -> None:
    clause = Clause("tag", "is", (value,))
    assert parse_filter(str(clause)) == clause


def test_wrong_plain_fields_are_errors_too() -> None:
    with pytest.raises(FilterError, match="'secret' is not a confidentiality"):
        _ = Filters(clearance="secret").condition
    with pytest.raises(FilterError, match="'May' is not a date"):
        _ = Filters(since="May").condition
    with pytest.raises(FilterError, match="'' is not a date"):
        _ = Filters(until="").condition


def test_a_wrong_type_is_told_and_not_searched_for() -> None:
    with pytest.raises(FilterError, match=r"types takes a tuple or list of texts, not \(7,\)"):
        Filters(types=[7]).check()  # type: ignore[arg-type]
    with pytest.raises(FilterError, match="'smell' is not a modality; modalities are: text"):
        Filters(modalities=("smell",)).check()  # type: ignore[arg-type]
    with pytest.raises(FilterError, match="name takes a text"):
        Filters(name=("a",)).check()  # type: ignore[arg-type]
    with pytest.raises(FilterError, match="at most 100 tags and phrases"):
        Filters(tags=("a",) * 60, phrases=("b",) * 60).check()


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (None, Filters()),
        ({}, Filters()),
        ({"type": "pdf"}, Filters(types=("pdf",))),
        ({"types": ["pdf", "md"], "since": "2024"}, Filters(types=("pdf", "md"), since="2024")),
        ({"doc_ids": []}, Filters(document_ids=())),
        ({"doc_ids": None}, Filters()),
        ({"tag": "a", "modality": "ocr"}, Filters(tags=("a",), modalities=(Modality.OCR,))),
        ({"where": "type = pdf"}, Filters(where="type = pdf")),
        (Filters(types="pdf"), Filters(types=("pdf",))),  # type: ignore[arg-type]
    ],
)
def test_a_dict_of_filters_means_what_its_names_say(said: FiltersGiven, meant: Filters) -> None:
    assert filters_of(said) == meant


def test_a_name_that_is_no_filter_is_told_with_those_that_are() -> None:
    with pytest.raises(FilterError, match=r"unknown filter 'typ' \(did you mean type\?\); filters"):
        filters_of({"typ": "pdf"})
    with pytest.raises(FilterError, match="filters are Filters"):
        filters_of("pdf")  # type: ignore[arg-type]


def test_what_says_nothing_is_internal_and_what_nobody_knows_is_restricted() -> None:
    assert [level_of(label) for label in LEVELS] == [0, 1, 2, 3]
    assert level_of(None) == 1
    assert level_of(" Public ") == 0
    assert level_of("top secret") == 3
