"""What a text says its abbreviations stand for."""

from __future__ import annotations

import pytest

from pincite.text.abbreviations import abbreviations_in, expansion, name_key


@pytest.mark.parametrize(
    ("short", "before", "long"),
    [
        ("CTD", "of Conductivity, Temperature and Depth", "Conductivity, Temperature and Depth"),
        ("SBOM", "a Software Bill of Materials", "Software Bill of Materials"),
        ("ABAC", "attribute-based access control", "attribute-based access control"),
        ("CTD", "Temperature and Depth", ""),
        ("AB", "", ""),
        ("A", "Apple", ""),
    ],
)
def test_an_abbreviation_is_matched_with_its_words(short: str, before: str, long: str) -> None:
    assert expansion(short, before) == long


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("We use Reciprocal Rank Fusion (RRF) here.", "RRF", "Reciprocal Rank Fusion"),
        ("RRF (Reciprocal Rank Fusion) is old.", "RRF", "Reciprocal Rank Fusion"),
        ("All service level agreements (SLAs) hold.", "SLA", "service level agreements"),
    ],
)
def test_both_orders_are_found_with_their_place(text: str, short: str, long: str) -> None:
    (found,) = abbreviations_in(text)
    assert (found.short, found.long) == (short, long)
    assert short in text[found.start : found.end]
    assert long in text[found.start : found.end]


@pytest.mark.parametrize(
    "text",
    ["The pump (ACME) leaks.", "RRF (see chapter four) is old.", "Rank Fusion\n(RRF)", "(RF)"],
)
def test_brackets_that_explain_nothing_are_left_alone(text: str) -> None:
    assert list(abbreviations_in(text)) == []


def test_names_are_compared_by_their_words() -> None:
    assert name_key("Attribute-based  Access\nControl") == name_key(
        "attribute based access control"
    )
