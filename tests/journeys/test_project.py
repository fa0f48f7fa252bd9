"""A team's project: files are handed in, found, listed and deleted by those who may."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helpers import next_project, shared_team
from pincite.engine.library import Library
from pincite.engine.making import making
from pincite.engine.models import ModelAccess
from pincite.engine.project import Project, open_project
from pincite.errors import (
    FileUnreadable,
    ModelRefused,
    ProjectMissing,
    SettingsError,
    StoreBusy,
    StoreDenied,
)
from pincite.ports import Embedder
from pincite.records import Filters, LibraryHeader, Original
from pincite.settings import INGESTION_VERSION
from pincite.stores.postgres.uploads import MadeOtherwise
from pincite.vectors import Vector
from projects import NOTE, PLAN, Counting, OneModel, Open, paths_found, project_of, share

PUBLIC = {"confidentiality": "public"}
STAGES = 6  # of a search for words that have looked into the index


def test_a_file_that_is_handed_in_is_found_and_cited(opened: Open) -> None:
    project = opened("ada")
    uploaded = project.index_document("plan.md", PLAN)
    assert uploaded.status == "indexed"
    (result,) = project.search("harbour pump", mode="words").results
    assert result.document.id == uploaded.document.id
    assert result.quote.text == "The harbour pump is replaced in May."
    assert not project.search("harbour pump", mode="words").changed


def test_the_same_file_again_is_the_same_document_and_embeds_nothing(opened: Open) -> None:
    project = opened("ada")
    first = project.index_document("plan.md", PLAN)
    before = Counting.count
    again = project.index_document("copy.md", PLAN)
    assert (again.status, again.document.id) == ("deduplicated", first.document.id)
    assert Counting.count == before
    assert len(project.documents()) == 1


def test_other_labels_for_the_same_file_embed_nothing(opened: Open) -> None:
    project = opened("ada")
    project.index_document("plan.md", PLAN, labels={"tags": ["draft"]})
    before = Counting.count
    again = project.index_document("plan.md", PLAN, labels={"tags": ["final"], "author": "Ada"})
    assert again.status == "deduplicated"
    assert (again.document.metadata.tags, again.document.metadata.author) == (("final",), "Ada")
    assert Counting.count == before
    assert paths_found(project, "pump", Filters(tags=("final",))) == ["plan.md"]
    assert paths_found(project, "pump", Filters(tags=("draft",))) == []


def test_a_file_of_an_older_recipe_is_made_anew(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = opened("ada")
    first = project.index_document("plan.md", PLAN)
    store = project._uploads()
    header = store.header()
    assert header is not None

    store.begin(replace(header, ingestion_version=INGESTION_VERSION + 1))
    again = project.index_document("plan.md", PLAN)
    assert (again.status, again.document.id) == ("reindexed", first.document.id)
    assert again.document.recipe != first.document.recipe
    assert len(project.documents()) == 1


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


def test_the_name_that_is_shown_follows_the_last_upload_and_citations_stay(opened: Open) -> None:
    project = opened("ada")
    first = project.index_document("plan.txt", b"The harbour pump is replaced in May.")
    (before,) = project.search("harbour", mode="words").results
    vectors = Counting.count
    again = project.index_document("pump-plan.txt", b"The harbour pump is replaced in May.")
    assert (again.status, Counting.count) == ("deduplicated", vectors)
    assert (again.document.id, again.document.path) == (first.document.id, first.document.path)
    assert (again.document.name, again.document.title) == ("pump-plan.txt", "pump-plan")
    (after,) = project.search("harbour", mode="words").results
    assert (after.citation, after.chunk.id) == (before.citation, before.chunk.id)
    assert [one.name for one in project.documents()] == ["pump-plan.txt"]
    project.reindex(policy="flat")
    assert [one.name for one in project.documents()] == ["pump-plan.txt"]
    back = project.index_document("plan.txt", b"The harbour pump is replaced in May.")
    assert (back.document.name, back.document.title) == ("plan.txt", "plan")


class NoHarbours(Counting):
    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        if any("harbour" in text for text in texts):
            raise ModelRefused("no harbours")
        return super().embed_passages(texts)


class Refusing(OneModel):
    def of(self, header: LibraryHeader) -> Embedder:
        return NoHarbours()


def test_an_upload_whose_text_a_service_refuses_is_found_by_words_and_tried_again(
    opened: Open,
) -> None:
    project = opened("ada")
    first = Project(project.root, Refusing(ModelAccess()), project._home).index_document(
        "plan.md", PLAN
    )
    assert (first.status, first.document.lacking) == ("indexed", 1)
    assert project.search("harbour pump", mode="words").results
    assert project._uploads().verify() == []
    again = project.index_document("plan.md", PLAN)
    assert (again.status, again.document.lacking) == ("reindexed", 0)
    assert project.index_document("plan.md", PLAN).status == "deduplicated"


def test_a_reindex_names_the_uploads_that_lack_vectors(opened: Open) -> None:
    project = opened("ada")
    refusing = Project(project.root, Refusing(ModelAccess()), project._home)
    refusing.index_document("plan.md", PLAN)
    report = refusing.reindex(policy="flat")
    assert report.outcome == "switched"
    assert report.index is not None
    (lacking,) = report.index.lacking
    assert "1 of 1 chunks have no vector yet" in lacking.reason


def test_a_name_is_given_with_the_file_and_not_as_a_label(opened: Open) -> None:
    with pytest.raises(SettingsError, match="hand the file in under that name"):
        opened("ada").index_document("plan.md", PLAN, labels={"name": "a\x1b[31m/../b"})


def test_a_hundred_uploads_of_one_file_at_once_make_one_document(opened: Open) -> None:
    project = opened("ada")
    project.index_document("note.md", NOTE)

    def upload(number: int) -> str:
        return project.index_document(f"plan-{number}.md", PLAN).status

    with ThreadPoolExecutor(16) as pool:
        statuses = Counter(pool.map(upload, range(100)))
    assert statuses == {"indexed": 1, "deduplicated": 99}
    assert len(project.documents()) == 2
    assert project._uploads().verify() == []


def test_files_of_one_name_are_documents_of_their_own(opened: Open) -> None:
    project = opened("ada")
    first = project.index_document("plan.md", PLAN)
    second = project.index_document("plan.md", NOTE)
    assert first.document.path != second.document.path
    assert {one.name for one in project.documents()} == {"plan.md"}


def test_two_members_may_hand_in_the_same_file(opened: Open) -> None:
    ada = opened("ada")
    mine = ada.index_document("plan.md", PLAN)
    share(ada, "grace", "writer")
    theirs = opened("grace").index_document("plan.md", PLAN)
    assert theirs.status == "indexed"
    assert theirs.document.id != mine.document.id
    assert ada.delete_document(mine.document.id) == "deleted"
    assert [one.id for one in ada.documents()] == [theirs.document.id]


def test_a_deleted_document_is_gone_with_its_words_vectors_and_past(opened: Open) -> None:
    project = opened("ada")
    kept = project.index_document("note.md", NOTE)
    gone = project.index_document("plan.md", PLAN)
    (chunk,) = project._store().chunk_ids(gone.document.id)
    assert project.delete_document(gone.document.id) == "deleted"
    assert project.delete_document(gone.document.id) == "not_found"
    assert project.get_document(gone.document.id) is None
    assert paths_found(project, "pump") == []
    assert project._store().find_chunks(chunk) == []
    assert list(project._store().past_versions()) == []
    assert [one.id for one in project.documents()] == [kept.document.id]
    assert project._uploads().verify() == []


def test_documents_are_listed_page_by_page(opened: Open) -> None:
    project = opened("ada")
    for number in range(7):
        project.index_document(f"{number}.md", b"# %d\n\nThe pump." % number)
    pages = [project.list_documents(limit=3)]
    while pages[-1].after is not None:
        pages.append(project.list_documents(after=pages[-1].after, limit=3))
    assert [len(page.documents) for page in pages] == [3, 3, 1]
    assert [one for page in pages for one in page.documents] == project.documents()
    with pytest.raises(SettingsError, match="a page has 1 to 1,000"):
        project.list_documents(limit=0)


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


@pytest.mark.parametrize(
    ("name", "data", "labels", "error", "said"),
    [
        ("", PLAN, {}, SettingsError, "cannot be the name"),
        ("../..", PLAN, {}, SettingsError, "cannot be the name"),
        ("a\n.md", PLAN, {}, SettingsError, "printable"),
        ("a.md", PLAN, {"colour": "red"}, SettingsError, "colour"),
        ("a.md", PLAN, {"confidentiality": "top"}, SettingsError, "top"),
        ("a.md", PLAN, {"date": "soon"}, SettingsError, "soon"),
        ("a.md", b"", {}, FileUnreadable, "a.md: is empty"),
        ("a.md", "# Plan", {}, SettingsError, "a.md: data must be the bytes of the file, not str"),
        ("a.md", PLAN, ["draft"], SettingsError, "a.md: labels must be a mapping"),
        (7, PLAN, {}, SettingsError, "the name of a file must be a str, not int"),
        ("a.pdf", b"%PDF-1.4 no", {}, FileUnreadable, "damaged"),
    ],
)
def test_what_cannot_be_handed_in_is_told_and_leaves_nothing(
    opened: Open,
    name: Any,  # noqa: ANN401 — whatever a program without a type checker gives
    data: Any,  # noqa: ANN401 — as above
    labels: Any,  # noqa: ANN401 — as above
    error: type[Exception],
    said: str,
) -> None:
    project = opened("ada")
    project.index_document("note.md", NOTE)
    with pytest.raises(error, match=said):
        project.index_document(name, data, labels=labels)
    assert len(project.documents()) == 1


def test_a_project_is_complete_with_each_file(opened: Open) -> None:
    project = opened("ada")
    plan = project.index_document("plan.md", PLAN)
    assert project.search("pump", mode="words").complete
    project.index_document("plan.md", PLAN, labels={"tags": ["draft"]})
    project.index_document("note.md", NOTE)
    project.delete_document(plan.document.id)
    assert project.search("valve", mode="words").complete


@pytest.mark.parametrize("labels", [None, {}, {"tags": ["draft"]}])
def test_a_file_that_comes_again_keeps_the_labels_that_are_not_named(
    opened: Open, labels: dict[str, Any] | None
) -> None:
    project = opened("ada")
    project.index_document("plan.md", PLAN, labels={"confidentiality": "restricted"})
    again = project.index_document("plan.md", PLAN, labels=labels)
    assert again.document.metadata.confidentiality == "restricted"
    assert again.document.metadata.tags == (() if not labels else ("draft",))
    bare = project.index_document("plan.md", PLAN, labels={"confidentiality": None})
    assert bare.document.metadata.confidentiality is None


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


@pytest.mark.parametrize("odd", ["nul \0", "half \udc80"])
def test_odd_characters_find_nothing_and_break_nothing(opened: Open, odd: str) -> None:
    project = opened("ada")
    project.index_document("plan.md", PLAN)
    assert project.get_document(odd) is None
    assert project.delete_document(odd) == "not_found"
    assert project.list_documents(after=odd).documents is not None
    with pytest.raises(SettingsError):
        project.index_document(odd, NOTE)
    with pytest.raises(SettingsError):
        project.index_document("note.md", NOTE, labels={"tags": [odd]})


def test_a_document_made_by_the_model_before_is_made_again(opened: Open) -> None:
    project = opened("ada")
    project.index_document("plan.md", PLAN)
    store = project._uploads()
    header = store.header()
    assert header is not None
    other = replace(header, model=replace(header.model, fingerprint="another"))
    original = Original("x/note.md", "c" * 64, {}, NOTE)
    with making(header, Counting()) as how:
        made = how.made(original, store)
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
