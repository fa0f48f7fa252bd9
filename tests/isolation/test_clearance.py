"""Labels that are raised: what was open is guarded from then on, wherever it still stands."""

from __future__ import annotations

from dataclasses import replace

from helpers import ABOUT, HEADER, embedded, fill, next_project, shared_team
from pincite.records import EmbeddedDocument, Failure, Scope
from pincite.stores.postgres.store import PostgresStore

OPEN = embedded("a.md", "an open secret")
GUARDED = embedded(
    "a.md", "an open secret, guarded", about=replace(ABOUT, confidentiality="restricted")
)


def replace_path(document: EmbeddedDocument, path: str) -> EmbeddedDocument:
    """The document at another place."""
    return embedded(
        path, *(one.chunk.text for one in document.chunks), about=document.document.metadata
    )


def shared_project() -> tuple[PostgresStore, PostgresStore]:
    """A project with an open document, as its owner and as a reader see it."""
    mine = Scope("ada", next_project())
    team = shared_team()
    team.create(mine)
    store = team.store(mine)
    fill(store, OPEN)
    team.share(mine, "mary", role="reader")
    return store, team.store(Scope("mary", f"ada/{mine.project}"))


def test_a_document_whose_label_is_raised_is_guarded_in_its_past_too() -> None:
    store, marys = shared_project()
    chunk = OPEN.chunks[0].chunk.id
    assert marys.find_chunks(chunk)
    store.replace_document(GUARDED)
    assert [one.superseded for one in store.find_chunks(chunk)] == [True]
    assert marys.find_chunks(chunk) == []
    assert list(marys.past_versions()) == []


def test_a_document_whose_label_is_raised_is_guarded_in_other_generations_too() -> None:
    store, marys = shared_project()
    generations = shared_team().generations(store._scope)
    number = generations.begin()
    coming = shared_team().store(store._scope, generation=number)
    coming.begin(HEADER)
    coming.replace_document(GUARDED)
    assert marys.documents() == []
    assert marys.spellings("s") == {}
    assert store.spellings("s") == {"secret": 1}
    assert store.verify() == coming.verify() == []


def test_words_of_guarded_documents_are_counted_for_those_who_may_see_them() -> None:
    store, marys = shared_project()
    store.replace_document(replace_path(GUARDED, "b.md"))
    assert marys.spellings("s") == {"secret": 1}
    assert store.spellings("s") == {"secret": 2}
    assert marys.spellings("g") == {}


def test_only_who_sees_everything_learns_which_files_could_not_be_read() -> None:

    store, marys = shared_project()
    store.finish([Failure("secret/takeover.pdf", "is damaged")])
    assert [one.path for one in store.problems()] == ["secret/takeover.pdf"]
    assert marys.problems() == []
