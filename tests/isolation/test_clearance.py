"""Labels that are raised: what was open is guarded from then on, wherever it still stands."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

from helpers import ABOUT, HEADER, embedded, fill, next_project, shared_team
from pincite.records import EmbeddedDocument, Failure, Original, Scope
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


def raise_in_the_next_generation(store: PostgresStore) -> PostgresStore:
    """What is made beside says that the document is restricted; the live one still does not."""
    number = shared_team().generations(store._scope).begin()
    coming = shared_team().store(store._scope, generation=number)
    coming.begin(HEADER)
    coming.replace_document(GUARDED)
    return coming


def test_a_document_whose_label_is_raised_is_guarded_in_other_generations_too() -> None:
    store, marys = shared_project()
    coming = raise_in_the_next_generation(store)
    assert marys.documents() == []
    assert marys.spellings("s") == {}
    assert store.spellings("s") == {"secret": 1}
    assert store.verify() == coming.verify() == []


def test_a_document_that_is_guarded_elsewhere_says_so_itself() -> None:
    """An export carries what it says, and nothing else tells an import how guarded it is."""
    store, _ = shared_project()
    store.replace_document(embedded("a.md", "an open secret, told again"))
    raise_in_the_next_generation(store)
    kept = [store.load_embedded(one.id) for one in store.documents()]
    versions = [*store.past_versions(), *(one for one in kept if one is not None)]
    assert len(versions) == 2
    assert {one.document.metadata.confidentiality for one in versions} == {"restricted"}


def test_labels_that_rise_in_two_generations_at_once_wait_for_each_other() -> None:
    store, _ = shared_project()
    coming = raise_in_the_next_generation(store)
    paths = [f"{number}.md" for number in range(6)]

    def raised(there: PostgresStore, level: str) -> None:
        for path in paths:
            about = replace(ABOUT, confidentiality=level)
            there.replace_document(embedded(path, f"{level} {there is coming}", about=about))

    with ThreadPoolExecutor(2) as both:
        for level in ("public", "internal", "confidential", "restricted"):
            for one in [both.submit(raised, there, level) for there in (store, coming)]:
                one.result()
    assert store.verify() == coming.verify() == []


def test_words_of_guarded_documents_are_counted_for_those_who_may_see_them() -> None:
    store, marys = shared_project()
    store.replace_document(replace_path(GUARDED, "b.md"))
    assert marys.spellings("s") == {"secret": 1}
    assert store.spellings("s") == {"secret": 2}
    assert marys.spellings("g") == {}


def test_a_document_that_was_guarded_elsewhere_stays_so_once_it_is_removed() -> None:
    store, marys = shared_project()
    raise_in_the_next_generation(store)
    store.remove_documents([OPEN.document.id])
    assert [one.document.text for one in store.past_versions()] == [OPEN.document.text]
    assert list(marys.past_versions()) == []
    assert marys.find_chunks(OPEN.chunks[0].chunk.id) == []


def test_a_document_that_was_guarded_elsewhere_stays_so_through_a_repair() -> None:
    store, marys = shared_project()
    raise_in_the_next_generation(store)
    store.repair()
    assert [one.path for one in store.documents()] == ["a.md"]
    assert marys.documents() == []


def test_nobody_remembers_the_words_of_a_document_that_was_guarded_elsewhere() -> None:
    store, marys = shared_project()
    assert "secret" in marys.spellings("s")
    before = marys.version()
    raise_in_the_next_generation(store)
    assert marys.spellings("s") == {}
    assert marys.version() != before  # by which programs remember what was found


def test_a_file_is_guarded_as_the_documents_are_that_were_made_of_it() -> None:
    mine = Scope("ada", next_project())
    team = shared_team()
    team.create(mine)
    inbox = team.uploads(mine)
    inbox.begin(HEADER)
    file = Original("a.md", OPEN.document.checksum, {}, b"an open secret")
    assert inbox.add_upload(OPEN, file, HEADER)
    team.share(mine, "mary", role="writer")
    marys = team.uploads(Scope("mary", f"ada/{mine.project}"))
    with closing(team.only_writer(mine, team.generations(mine).begin())) as coming:
        coming.begin(HEADER)
        (unmade,) = coming.to_make()
        coming.take_over(GUARDED, file, unmade.owner)
    inbox.remove_documents([OPEN.document.id])
    assert inbox.to_make() == [unmade]
    assert marys.to_make() == []
    assert marys.original(unmade) is None


def test_only_who_sees_everything_learns_which_files_could_not_be_read() -> None:
    store, marys = shared_project()
    store.finish([Failure("secret/takeover.pdf", "is damaged")])
    assert [one.path for one in store.problems()] == ["secret/takeover.pdf"]
    assert marys.problems() == []
