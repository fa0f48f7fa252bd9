"""Vetoes: what of a claim must stand in the words it cites."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from pincite.answer.verify import veto


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("Rent is 1500.", "The rent is 1,500 pounds."),
        ("It ends on 30 June 2025.", "Ends: 2025-06-30."),
        ("Three boats lie there.", "3 boats lie in the basin."),
        ("Ada's lease ended.", "The lease of Ada ended."),
        ("It is not open.", "It isn't open."),
        ("See no. 5.", "The rule is number 5."),
        ("不要开门", "请不要开门。"),
    ],
)
def test_the_same_facts_in_other_words_are_no_reason_for_a_veto(claim: str, quote: str) -> None:
    assert veto(claim, [quote]) == ""


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("Rent is 1500.", "The rent is 1,600 pounds."),
        ("Pressure is 3.1 bar.", "Pressure is 31 bar."),
        ("It ends in July.", "It ends on 2025-06-30."),
        ("Four boats lie there.", "3 boats lie in the basin."),
        ("The lease of Bob ended.", "The lease of Ada ended."),
        ("The lease of Coca-Cola ended.", "The lease of Pepsi-Cola ended."),
        ("It is open.", "It isn't open."),
        ("It is open and has no ramp.", "It is not open and has no ramp."),
        ("The door is nicht offen.", "Die door is offen."),
        ("可以开门", "不可以开门。"),
        ("Write to a@evil.example.", "Write to us."),
        ("Pay at evil.example/pay now.", "Pay now."),
        ("Ida Garrow signed it.", "Ada Garrow signed it."),
        ("Bob signed the lease.", "Ada signed the lease."),
        ("It was signed by **Bob**.", "It was signed by Ada."),
        ('They chose "Bob" for it.', "They chose Ada for it."),
        ("They chose plan B.", "They chose plan A."),
        ("It was signed by Éric.", "It was signed by Ada."),
        ("Es waren sechs Boote.", "Es waren fünf Boote."),
        ("It fell to -5 degrees.", "It fell to 5 degrees."),
        ("There were zero boats.", "There were boats."),
        ("It fell to 5 degrees.", "It fell to -5 degrees."),
        ("It was -5 in 2025.", "It was -3 in 2024 and 5 in 2025."),
        ("There are 102 of them.", "There are 10² of them."),
        ("It costs 1,5 euros.", "It costs 1 or 5 euros."),
    ],
)
def test_what_does_not_stand_in_the_quote_is_vetoed(claim: str, quote: str) -> None:
    assert veto(claim, [quote]).startswith("veto: ")


def test_a_name_may_stand_in_what_introduces_the_quote_but_a_number_may_not() -> None:
    assert veto("The lease of Ada ends.", ["It ends."], ["The lease of Ada:"]) == ""
    assert veto("The lease of 7 ends.", ["It ends."], ["The lease of 7:"]) != ""


def test_the_quote_that_is_nearest_to_the_claim_decides_whether_it_is_negated() -> None:
    quotes = ["Dogs are not allowed on the pier.", "The pier opens at 9."]
    assert veto("The pier opens at 9.", quotes) == ""
    assert veto("Dogs are allowed on the pier.", quotes) != ""


@given(st.text(max_size=200))
def test_a_claim_is_never_vetoed_by_its_own_words(text: str) -> None:
    assert veto(text, [text]) == ""


def test_a_word_of_any_length_is_looked_at_in_linear_time() -> None:
    """A naive pattern for addresses would take minutes for this."""
    assert veto("x" * 300_000, ["y" * 300_000]) == ""
