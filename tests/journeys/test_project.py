"""A team's project: files are handed in, found, listed and deleted by those who may."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from helpers import next_project, shared_team
from pincite.engine.library import Library
from pincite.engine.models import ModelAccess
from pincite.engine.project import Project, open_project
from pincite.errors import (
    ProjectMissing,
    SettingsError,
    StoreBusy,
    StoreDenied,
)
from pincite.records import Original
from pincite.settings import INGESTION_VERSION
from pincite.stores.postgres.uploads import MadeOtherwise
from projects import NOTE, PLAN, OneModel, Open, Refusing, paths_found, project_of, share

PUBLIC = {"confidentiality": "public"}
STAGES = 6  # of a search for words that have looked into the index


def test_a_file_that_an_older_pincite_made_is_made_anew(opened: Open) -> None:
    project = opened("ada")
    first = project.index_document("plan.md", PLAN)
    store = project._uploads()
    older = replace(project._begun(store), ingestion_version=INGESTION_VERSION - 1)
    store.begin(older)
    original = Original(first.document.path, first.document.checksum, {}, PLAN)
    embedded = store.load_embedded(first.document.id)
    assert embedded is not None
    store.remake_upload(embedded, original, older)
    (held,) = project.documents()
    assert held.recipe == older.recipe

    again = project.index_document("plan.md", PLAN)
    assert (again.status, again.document.id) == ("reindexed", first.document.id)
    assert again.document.recipe == first.document.recipe != older.recipe
    assert project.index_document("plan.md", PLAN).status == "deduplicated"
    assert store.verify() == []


def test_a_reindex_names_the_uploads_that_lack_vectors(opened: Open) -> None:
    project = opened("ada")
    refusing = Project(project.root, Refusing(), project._home)
    refusing.index_document("plan.md", PLAN)
    report = refusing.reindex(policy="flat")
    assert report.outcome == "switched"
    assert report.index is not None
    (lacking,) = report.index.lacking
    assert "1 of 1 chunks have no vector yet" in lacking.reason


def test_two_members_may_hand_in_the_same_file(opened: Open) -> None:
    ada = opened("ada")
    mine = ada.index_document("plan.md", PLAN)
    share(ada, "grace", "writer")
    theirs = opened("grace").index_document("plan.md", PLAN)
    assert theirs.status == "indexed"
    assert theirs.document.id != mine.document.id
    assert ada.delete_document(mine.document.id) == "deleted"
    assert [one.id for one in ada.documents()] == [theirs.document.id]


def test_a_reader_cannot_hand_in_or_delete(opened: Open) -> None:
    ada = opened("ada")
    plan = ada.index_document("plan.md", PLAN)
    with pytest.raises(ProjectMissing):
        opened("mary").list_documents()
    share(ada, "mary", "reader")
    mary = opened("mary")
    assert len(mary.list_documents().documents) == 1
    with pytest.raises(StoreDenied):
        mary.index_document("note.md", NOTE)
    with pytest.raises(StoreDenied):
        mary.delete_document(plan.document.id)


def test_what_is_above_a_members_clearance_is_not_there_for_them(opened: Open) -> None:
    ada = opened("ada")
    secret = ada.index_document("plan.md", PLAN, labels={"confidentiality": "restricted"})
    share(ada, "grace", "admin", clearance="internal")
    grace = opened("grace")
    assert grace.list_documents().documents == ()
    assert grace.get_document(secret.document.id) is None
    assert grace.delete_document(secret.document.id) == "not_found"
    assert paths_found(grace, "pump") == []
    with pytest.raises(StoreDenied, match="above their clearance"):
        grace.index_document("own.md", NOTE, labels={"confidentiality": "confidential"})


def test_a_project_that_is_made_from_a_folder_takes_no_single_files(
    opened: Open, tmp_path: Path
) -> None:
    project = opened("ada")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "plan.md").write_bytes(PLAN)
    Library(tmp_path / "notes", OneModel(ModelAccess()), project._home).index()
    with pytest.raises(SettingsError, match="is made from a folder"):
        project.index_document("note.md", NOTE)


def test_a_project_looks_into_no_folder_whatever_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = next_project()
    (tmp_path / name).mkdir()
    (tmp_path / name / "pincite-glossary.txt").write_text("pump = secret machine\n")
    monkeypatch.chdir(tmp_path)
    project = project_of(name, "ada", tmp_path)
    project.index_document("plan.md", PLAN)
    assert not any("secret" in note for note in project.search("pump", mode="words").notes)
    with pytest.raises(SettingsError, match="names a folder"):
        open_project("postgresql://nowhere/plans", user="ada", project="..").documents()


def test_a_project_that_was_dropped_and_made_again_is_found(opened: Open) -> None:
    project = opened("ada")
    project.index_document("plan.md", PLAN)
    assert paths_found(project, "pump") == ["plan.md"]
    shared_team().drop(project._home.address.scope)
    project.index_document("note.md", NOTE)
    assert paths_found(project, "valve") == ["note.md"]


def test_the_first_who_hands_a_file_in_says_how_documents_are_made(opened: Open) -> None:
    project = opened("ada")
    project.index_document("plan.md", PLAN)
    store = project._uploads()
    header = store.header()
    assert header is not None
    other = replace(header, model=replace(header.model, fingerprint="another"))
    assert store.begun_as(other) == header
    assert len(project.documents()) == 1


def test_a_document_made_by_the_model_before_is_made_again(opened: Open) -> None:
    project = opened("ada")
    plan = project.index_document("plan.md", PLAN)
    store = project._uploads()
    header = store.header()
    made = store.load_embedded(plan.document.id)
    assert header is not None
    assert made is not None
    other = replace(header, model=replace(header.model, fingerprint="another"))
    original = Original("x/note.md", "c" * 64, {}, NOTE)
    with pytest.raises(MadeOtherwise):
        store.add_upload(made, original, other)
    assert len(project.documents()) == 1


def test_a_folder_is_not_indexed_into_a_project_of_files_that_were_handed_in(
    opened: Open, tmp_path: Path
) -> None:
    project = opened("ada")
    project.index_document("plan.md", PLAN)
    (tmp_path / "other.md").write_text("Another text.")
    library = Library(tmp_path, OneModel(ModelAccess()), project._home)
    for action in (library.index, library.reindex):
        with pytest.raises(SettingsError, match="handed in one by one"):
            action()
    assert [one.name for one in project.documents()] == ["plan.md"]


@pytest.mark.parametrize("is_lowered_before_it_ends", [False, True])
def test_what_was_found_with_more_clearance_is_not_remembered_for_less(
    opened: Open, is_lowered_before_it_ends: bool
) -> None:
    ada = opened("ada")
    ada.index_document("plan.md", PLAN, labels={"confidentiality": "restricted"})
    ada.index_document("open.md", b"# Open\n\nThe pump is old.\n", labels=PUBLIC)
    scope = ada._home.address.scope
    shared_team().share(scope, "eve", clearance="public")
    eve = opened("eve")
    asked = 0

    def meanwhile() -> bool:
        nonlocal asked
        asked += 1
        if asked == 1:  # the search has begun, and looked into nothing yet
            shared_team().share(scope, "eve", clearance="restricted")
        if asked == STAGES and is_lowered_before_it_ends:
            shared_team().share(scope, "eve", clearance="public")
        return False

    found = eve.search("pump", mode="words", cancelled=meanwhile)
    assert len(found.results) == 2
    assert asked > STAGES
    shared_team().share(scope, "eve", clearance="public")
    assert paths_found(eve, "pump") == ["open.md"]


def test_a_project_that_moves_to_another_model_during_a_search_says_so(opened: Open) -> None:
    project = opened("ada")
    project.index_document("plan.md", PLAN)
    header = project._store().header()
    assert header is not None
    other = replace(header, model=replace(header.model, fingerprint="another:256"))

    def meanwhile() -> bool:
        project._home.uploads().begin(other)
        return False

    with pytest.raises(StoreBusy, match="just now, while it was searched; ask again"):
        project.search("pump", cancelled=meanwhile)
