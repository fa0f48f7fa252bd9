"""The two statements behind a search: quoting, and exactness beyond what one call can give."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import HEADER, at_angle, chunk_ids, embedded, found_by_vector, part
from pincite.ports import Store
from pincite.records import Filters
from pincite.stores.sqlite.filters import match_expression
from pincite.stores.sqlite.opening import open_for_writing
from pincite.text.words import Term, question_terms


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_for_writing(tmp_path / "index")
    opened.begin(HEADER)
    yield opened
    opened.close()


def test_every_term_is_a_quoted_phrase() -> None:
    terms = [Term(("pump",)), Term(("err", "4042")), Term(("東",), prefix=True), Term(('a"b',))]
    assert match_expression(terms) == '"pump" OR "err 4042" OR "東" * OR "a""b"'


@given(st.text())
def test_outside_quotes_an_expression_has_only_our_own_words(question: str) -> None:
    expression = match_expression(question_terms(question))
    outside = expression.split('"')[::2]
    assert set(outside) <= {"", " OR ", " *", " * OR "}


def test_the_nearest_are_exact_though_one_chunk_has_more_windows_than_a_call_can_give(
    store: Store,
) -> None:
    # vec0 gives 4,096 neighbours at most; all of them belong to the first chunk.
    crowd = embedded("crowd.md", part("word " * 5_000, *(n / 5_000 for n in range(4_500))))
    others = [embedded(f"{n}.md", part(f"number {n}", 10 + n)) for n in range(4)]
    for document in (*others, crowd):
        store.replace_document(document)
    expected = [*chunk_ids(crowd), *(name for one in others for name in chunk_ids(one))]
    assert found_by_vector(store, at_angle(0), limit=3) == expected[:3]
    everyone = Filters(types=("md",))
    assert found_by_vector(store, at_angle(0), everyone, limit=3) == expected[:3]


def test_equals_beyond_the_first_windows_that_are_fetched_are_still_ranked_by_id(
    store: Store,
) -> None:
    documents = [embedded(f"{n}.md", part("the pump leaks", 5)) for n in range(60)]
    for document in documents:
        store.replace_document(document)
    by_id = sorted(name for document in documents for name in chunk_ids(document))
    for limit in (1, 2, 5, 14, 15, 16, 59, 60, 61):
        assert found_by_vector(store, at_angle(0), limit=limit) == by_id[:limit]
