"""What every store promises of documents that a question calls by name."""

from __future__ import annotations

import pytest

from helpers import embedded, fill, part
from pincite.ports import Store
from pincite.records import DocumentId

HANDBOOK = embedded("guides/release-handbook.md", part("x"), title="The Release Handbook")
NOTES = embedded("notes/glossary.md", part("y"), title="Glossary")
COPY = embedded("old/release-handbook.txt", part("z"), title="Something else", kind="txt")
JAPANESE = embedded("ja/guide.md", part("w"), title="見学の しおり")


def ids(*documents: object) -> tuple[DocumentId, ...]:
    return tuple(sorted(one.document.id for one in documents))  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("who signs, says the release handbook?", {"the release handbook": ids(HANDBOOK)}),
        ("Release-Handbook: who signs?", {"release handbook": ids(HANDBOOK, COPY)}),
        ("what does release-handbook.txt say?", {"release handbook txt": ids(COPY)}),
        ("see glossary.md please", {"glossary md": ids(NOTES)}),
        # A single word is a word, not a name.
        ("the glossary of terms", {}),
        ("release the handbook", {}),
        ("見学の しおり とは", {"見学の しおり": ids(JAPANESE)}),
        ("", {}),
    ],
)
def test_a_document_is_named_by_its_title_or_its_files_name(
    store: Store, question: str, names: dict[str, tuple[DocumentId, ...]]
) -> None:
    fill(store, HANDBOOK, NOTES, COPY, JAPANESE)
    assert store.named_documents(question) == names


LONG = "when we were about to ship the third time somebody asked whether {} would tell us who signs"


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("the release handbook", {}),
        ("the release-handbook", {}),
        ("the Release Handbook", {"the release handbook": ids(HANDBOOK)}),
        ("release-handbook.txt", {"release handbook txt": ids(COPY)}),
        # Nothing tells a name from other words here.
        ("見学の しおり", {"見学の しおり": ids(JAPANESE)}),
    ],
)
def test_in_a_long_text_a_name_is_written_as_one(
    store: Store, said: str, names: dict[str, tuple[DocumentId, ...]]
) -> None:
    fill(store, HANDBOOK, NOTES, COPY, JAPANESE)
    assert store.named_documents(LONG.format(said)) == names


def test_a_document_that_is_gone_is_not_named_any_more(store: Store) -> None:
    fill(store, HANDBOOK, NOTES)
    store.remove_documents([HANDBOOK.document.id])
    assert store.named_documents("the release handbook") == {}
    assert store.named_documents("glossary.md") == {"glossary md": ids(NOTES)}


def test_a_shortlist_holds_as_many_as_are_asked_for_best_first(store: Store) -> None:
    fill(store, HANDBOOK, NOTES, COPY)
    everyone = store.find_documents("release handbook")
    assert len(everyone) == 2
    assert store.find_documents("release handbook", limit=1) == everyone[:1]
