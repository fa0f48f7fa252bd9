"""A library whose index is in a team's database, from Python."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers import server_folder
from pincite import open_library, open_project
from pincite.engine import saved_answers
from pincite.engine.teamwork import connect
from pincite.errors import DatabaseMissing, PinciteError, StoreReadOnly, StoreUnreachable
from pincite.records import Scope

NOBODY = "postgresql://localhost:1/notes"


@pytest.fixture
def store() -> Iterator[str]:
    """The address of a server of its own."""
    with server_folder() as folder:
        yield f"postgresql+embedded://{folder}"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "pumps.md").write_text("# Pumps\n\nThe north pump leaks.\n")
    return tmp_path / "notes"


def test_a_watch_waits_for_a_server_that_does_not_answer(notes: Path) -> None:
    stop = threading.Event()
    troubles: list[PinciteError] = []

    def give_up(trouble: PinciteError) -> None:
        troubles.append(trouble)
        stop.set()

    with open_library(notes, store=NOBODY) as library:
        assert list(library.watch(stop, on_trouble=give_up)) == []
    assert [type(one) for one in troubles] == [StoreUnreachable]


def test_a_watch_ends_in_a_folder_that_only_looks_into_a_project(
    notes: Path, tmp_path: Path, store: str
) -> None:
    with open_library(notes, store=store, user="ada", project="plans") as library:
        library.index(model="hashing")
        assert library.stats().place == f"project ada/plans, as ada, in {store}"
        address = connect(tmp_path / "look", store=store, user="ada", project="plans")
        assert address.scope == Scope("ada", "plans")
    with open_library(tmp_path / "look") as library:
        assert library.search("pump").changed == ()
        with pytest.raises(StoreReadOnly):
            list(library.watch(threading.Event()))


def test_a_project_makes_its_database_with_its_first_document_and_not_before(store: str) -> None:
    folder = Path(store.removeprefix("postgresql+embedded://")) / "new"
    with open_project(f"{store}/new", user="ada", project="inbox") as inbox:
        for ask in (inbox.documents, inbox.list_documents, lambda: inbox.search("pump")):
            with pytest.raises(DatabaseMissing):
                ask()
        assert not folder.exists()
        inbox.index_document("pumps.md", b"# Pumps\n\nThe north pump leaks.\n")
        assert [one.name for one in inbox.documents()] == ["pumps.md"]


def test_answers_saved_in_a_project_are_rechecked_and_forgotten(notes: Path, store: str) -> None:
    with open_library(notes, store=store, user="ada", project="plans") as library:
        library.index(model="hashing")
        saved = saved_answers.save_outcome(library, library.ask("which pump leaks?"))
        (notes / "pumps.md").write_text("# Pumps\n\nThe south pump leaks.\n")
        (told,) = library.index().answers
        assert (told.answer.id, told.holds) == (saved.id, False)
        saved_answers.note_told(library, [told])
        assert library.index().answers == ()
        library.journal.forget_answers([saved.id])
        assert saved_answers.saved_answers(library) == []
