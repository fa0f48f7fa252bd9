"""Checking citations: what became of them since is told rightly, and an altered one is noticed."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator

import pytest

from helpers import embedded, fill, open_test_store
from pincite.answer.footnotes import escaped, outcome_as_markdown
from pincite.answer.receipts import sha256
from pincite.ports import Store
from pincite.records import CheckedCitation, EmbeddedDocument, Metadata
from receipts import answer_of, checked, citation_of, receipt

ROOMS = "The office has two rooms with a view of the harbour, and a kitchen for all."
ENDS = "The lease of the harbour office ends on 30 June 2025."
COSTS = "It costs 900 euros for each month, to be paid before the third working day."
KEYS = "The keys hang in the hall, and must never leave the house without a note."
BUOY = embedded("buoy.md", "The yellow buoy lies in 27 metres of water.", "It is not lit.")


def lease(*parts: str, path: str = "lease.md") -> EmbeddedDocument:
    return embedded(path, *parts)


FIRST = lease(f"{ROOMS} {ENDS} {COSTS}", KEYS)


def after(store: Store, *now: EmbeddedDocument, quote: str = ENDS) -> CheckedCitation:
    """What became of a quote of the first version, once these documents stand in its place."""
    fill(store, FIRST, BUOY)
    proof = receipt(store, citation_of(FIRST, quote))
    copy = outcome_as_markdown(answer_of(citation_of(FIRST, quote)))
    store.remove_documents([FIRST.document.id])
    for document in now:
        store.replace_document(document)
    (told,) = checked(store, proof)
    assert checked(store, copy) == [told], "Markdown tells the same while the log is there"
    return told


def test_words_at_their_place_are_valid(store: Store) -> None:
    fill(store, FIRST, BUOY)
    cited = [
        citation_of(FIRST, ENDS),
        citation_of(FIRST, KEYS),
        citation_of(BUOY, "It is not lit."),
    ]
    told = checked(store, receipt(store, *cited))
    assert [(one.state, one.now, one.message) for one in told] == [
        ("valid", one.citation, "") for one in cited
    ]


def test_a_new_version_with_the_words_at_the_same_place_is_valid(store: Store) -> None:
    told = after(store, lease(f"{ROOMS} {ENDS} {COSTS}", "The keys are lost."))
    assert (told.state, told.message) == ("valid", "")


def test_words_at_the_same_place_with_another_text_around_them_are_valid_and_it_is_said(
    store: Store,
) -> None:
    told = after(store, lease(f"{ROOMS[::-1]} {ENDS} {COSTS}", KEYS))
    assert (told.state, told.message) == ("valid", "the surrounding text has changed")


@pytest.mark.parametrize(
    "now",
    [ENDS.replace("30", "31"), ENDS.replace("ends", "never ends"), "Nobody knows when it ends."],
)
def test_other_words_at_the_place_are_changed_and_shown(store: Store, now: str) -> None:
    told = after(store, lease("New.", f"{ROOMS} {now} {COSTS}", KEYS))
    assert (told.state, told.became, told.now) == ("changed", now, "lease.md (line 3)")
    assert "which the log still holds" in told.message


def test_a_change_is_shown_where_the_text_around_it_changed_as_well(store: Store) -> None:
    now = ENDS.replace("2025", "2026")
    told = after(store, lease(f"{now} It is cheap."))
    assert (told.state, told.became) == ("changed", now)


def test_words_that_stand_further_down_have_moved(store: Store) -> None:
    told = after(store, lease("A line above.", "Another.", f"{ROOMS} {ENDS} {COSTS}", KEYS))
    assert (told.state, told.now) == ("moved", "lease.md (line 5)")


def test_a_renamed_file_has_moved(store: Store) -> None:
    told = after(store, lease(f"{ROOMS} {ENDS} {COSTS}", KEYS, path="archive/old lease.md"))
    assert (told.state, told.now) == ("moved", "archive/old lease.md (line 1)")


def test_the_same_words_in_another_document_have_moved_and_are_not_valid(store: Store) -> None:
    told = after(store, lease(f"Somebody wrote: {ENDS}", path="letter.md"))
    assert (told.state, told.now) == ("moved", "letter.md (line 1)")
    assert "the surrounding text has changed" in told.message


def test_a_copy_elsewhere_does_not_hide_that_the_document_changed(store: Store) -> None:
    now = ENDS.replace("2025", "2031")
    told = after(
        store,
        lease(f"{ROOMS} {now} {COSTS}", KEYS),
        lease(f"{ROOMS} {ENDS} {COSTS}", KEYS, path="copy.md"),
    )
    assert (told.state, told.became) == ("changed", now)


def test_the_words_further_down_do_not_hide_that_the_passage_changed(store: Store) -> None:
    now = ENDS.replace("2025", "2031")
    told = after(store, lease(f"{ROOMS} {now} {COSTS}", KEYS, f"Until last year: {ENDS}"))
    assert (told.state, told.became) == ("changed", now)


def test_a_passage_that_was_cut_out_is_gone(store: Store) -> None:
    told = after(store, lease(f"{ROOMS} {COSTS}", KEYS))
    assert (told.state, told.now) == ("gone", "")
    assert told.message.startswith("the passage is not there any more")


def test_a_passage_that_was_cut_out_did_not_become_what_stood_beside_it(store: Store) -> None:
    rows = [f"Pump {number} of the harbour has cost {number}00 euros." for number in range(9)]
    fill(store, first := lease(*rows))
    proof = receipt(store, citation_of(first, rows[4]))
    store.remove_documents([first.document.id])
    store.replace_document(lease("All pumps.", *rows[:3], *rows[6:]))
    (told,) = checked(store, proof)
    assert (told.state, told.became) == ("gone", "")


def test_words_with_a_denial_put_before_them_are_not_valid(store: Store) -> None:
    told = after(store, lease(f"{ROOMS} It is not true any more: {ENDS} {COSTS}", KEYS))
    assert (told.state, told.now) == ("moved", "lease.md (line 1)")
    assert "the surrounding text has changed" in told.message


def test_a_document_that_was_truncated_inside_the_quote_has_changed(store: Store) -> None:
    told = after(store, lease(f"{ROOMS} {ENDS[:40]}"))
    assert (told.state, told.became) == ("changed", ENDS[:40].strip())


def test_a_document_that_was_truncated_before_the_quote_has_lost_the_passage(store: Store) -> None:
    assert after(store, lease(ROOMS)).state == "gone"


def test_a_document_that_was_deleted_is_gone(store: Store) -> None:
    told = after(store)
    assert (told.state, told.now) == ("gone", "")
    assert told.message == (
        "the document is not there any more; it stood so in an earlier version, which the log "
        "still holds"
    )


@pytest.fixture
def elsewhere(store: Store) -> str:
    """A receipt of another index, whose log this store does not have."""
    fill(store, BUOY)
    with open_test_store("memory", None) as other:  # type: ignore[arg-type]
        fill(other, FIRST)
        return receipt(other, citation_of(FIRST, ENDS))


@pytest.mark.parametrize(
    ("now", "state"),
    [
        (f"{ROOMS} {ENDS} Then nothing.", "valid"),
        (f"Above. {ROOMS} {ENDS} {COSTS}", "valid"),  # in the line that is cited
        (f"Above. {ROOMS} {ENDS} Then nothing.", "moved"),
        (f"Above. {ROOMS} {ENDS.replace('30', '3')} {COSTS}", "changed"),
        (f"Until then it held that: {ENDS} Then nothing.", "gone"),
    ],
)
def test_without_the_log_the_text_around_proves_which_words_are_meant(
    store: Store, elsewhere: str, now: str, state: str
) -> None:
    store.replace_document(lease(now))
    (told,) = checked(store, elsewhere)
    assert told.state == state
    if state == "gone":
        assert "nothing shows that they are the ones cited" in told.message


def test_what_is_labelled_above_the_clearance_and_not_seen_is_not_allowed(store: Store) -> None:
    secret = embedded("plan.md", KEYS, about=Metadata(confidentiality="confidential"))
    fill(store, secret)
    proof = receipt(store, citation_of(secret, KEYS))
    # Whoever sees the document is told of it, whatever its label was.
    assert [one.state for one in checked(store, proof, clearance="public")] == ["valid"]
    with open_test_store("memory", None) as empty:  # type: ignore[arg-type]
        fill(empty, BUOY)
        for clearance, state in (
            ("public", "not_allowed"),
            ("internal", "not_allowed"),
            ("confidential", "gone"),
            ("", "gone"),
        ):
            assert [one.state for one in checked(empty, proof, clearance=clearance)] == [state]


def alterations(count: int) -> Iterator[tuple[str, str]]:
    """Quotes and what was made of them: another character, number or negation."""
    chance = random.Random(7)
    for number in range(count):
        quote = chance.choice([ROOMS, ENDS, COSTS, KEYS])
        at = chance.randrange(len(quote))
        letter = chance.choice("abcdefghij 0123456789.,")
        match number % 6:
            case 0:
                other = quote[:at] + letter + quote[at + 1 :]
            case 1:
                other = quote[:at] + letter + quote[at:]
            case 2:
                other = quote[:at] + quote[at + 1 :]
            case 3:
                other = re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), quote)
            case 4:
                other = re.sub(" (ends|has|costs|hang)", r" never \1", quote)
            case _:
                other = quote.replace(" never", "").replace("has", "lacks").swapcase()
        if other != quote:
            yield quote, other


@pytest.mark.parametrize("superseded", [False, True])
def test_quotes_altered_by_a_character_a_number_or_a_negation_are_all_noticed(
    store: Store, superseded: bool
) -> None:
    altered = list(alterations(560))
    assert len(altered) >= 500
    # The altered words stand elsewhere: whoever only looks for them finds every one.
    decoy = embedded("decoy.md", *dict.fromkeys(other for _, other in altered))
    fill(store, FIRST, BUOY, decoy)
    cited = {quote: citation_of(FIRST, quote) for quote in (ROOMS, ENDS, COSTS, KEYS)}
    proof = json.loads(receipt(store, *(cited[quote] for quote, _ in altered)))
    copies = [outcome_as_markdown(answer_of(cited[quote])) for quote, _ in altered]
    if superseded:
        store.remove_documents([FIRST.document.id])
        store.replace_document(lease(f"Above. {ROOMS} {ENDS} {COSTS}", KEYS))
    for (_, other), claim in zip(altered, proof["claims"], strict=True):
        claim["citations"][0]["quote"] = other  # only the quote
    assert states(store, proof) == {"misquoted"}
    for claim in proof["claims"]:
        claim["citations"][0]["quote_sha256"] = sha256(claim["citations"][0]["quote"])
    assert states(store, proof) == {"misquoted"}
    for claim in proof["claims"]:
        claim["text"] = claim["citations"][0]["quote"]  # whatever can be altered
    assert states(store, proof) == {"misquoted"}
    for (quote, other), copy in zip(altered[:60], copies, strict=False):
        body, footnote = copy.rsplit("\n[^1]: ", 1)
        for forged in (
            copy.replace(escaped(quote), escaped(other)),
            copy.replace(escaped(quote), escaped(other), 1),
            f"{body}\n[^1]: {footnote.replace(escaped(quote), escaped(other))}",
        ):
            found = [one for one in checked(store, forged) if one.quote == other]
            assert {one.state for one in found} == {"misquoted"}


def test_a_quoted_claim_that_says_other_words_than_its_quote_is_noticed(store: Store) -> None:
    fill(store, FIRST)
    proof = json.loads(receipt(store, citation_of(FIRST, ENDS)))
    proof["claims"][0]["text"] = ENDS.replace("2025", "2052")
    (told,) = checked(store, json.dumps(proof))
    assert (told.state, told.became) == ("misquoted", ENDS)


def states(store: Store, proof: object) -> set[str]:
    return {one.state for one in checked(store, json.dumps(proof))}
