"""A project is moved or kept as one file, with the files that were handed in to it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from helpers import next_project
from pincite.engine.homes import FolderHome
from pincite.engine.library import Library
from pincite.engine.models import ModelAccess
from pincite.engine.project import Project
from pincite.records import Filters, MemberRole
from projects import NOTE, PLAN, OneModel, Open, paths_found, project_of, share


@pytest.fixture
def handed_in(opened: Open) -> Project:
    """A project with a file of Ada's, and one that both she and Grace handed in."""
    ada = opened("ada")
    ada.index_document("plan.md", PLAN, labels={"tags": ["draft"]})
    ada.index_document("note.md", NOTE)
    share(ada, "grace", "writer", clearance="restricted")
    opened("grace").index_document("her note.md", NOTE)
    return ada


def as_library(project: Project, folder: Path) -> Library:
    folder.mkdir()
    return Library(folder, OneModel(ModelAccess()), project._home)


def names(project: Project) -> list[str]:
    return sorted(one.name for one in project.documents())


def test_a_project_that_is_moved_takes_its_files_along(handed_in: Project, tmp_path: Path) -> None:
    file, name = tmp_path / "moved.pincite", next_project()
    assert as_library(handed_in, tmp_path / "here").export_to(file).originals == 3
    moved = project_of(name, "mary", tmp_path, owner="mary")
    assert as_library(moved, tmp_path / "there").import_from(file).originals == 3
    assert paths_found(moved, "pump", Filters(tags=("draft",))) == ["plan.md"]
    assert moved.reindex(policy="flat").outcome == "switched"
    assert names(moved) == ["her note.md", "note.md", "plan.md"]
    assert moved.index_document("note.md", NOTE).status == "indexed"  # it is not hers
    share(moved, "grace", "writer")
    graces = project_of(name, "grace", tmp_path, owner="mary")
    assert graces.index_document("her note.md", NOTE).status == "deduplicated"


@pytest.mark.parametrize("role", ["writer", "admin"])
def test_a_project_that_is_restored_gives_each_member_their_files_back(
    opened: Open, handed_in: Project, tmp_path: Path, role: MemberRole
) -> None:
    file = tmp_path / "kept.pincite"
    as_library(handed_in, tmp_path / "here").export_to(file, history=True)
    for one in handed_in.documents():
        handed_in.delete_document(one.id)
    share(handed_in, "mary", role, clearance="restricted")
    library = as_library(opened("mary"), tmp_path / "marys")
    assert library.import_from(file, replace=True).originals == 3
    assert opened("grace").index_document("her note.md", NOTE).status == "deduplicated"
    assert handed_in.index_document("plan.md", PLAN).status == "deduplicated"
    assert handed_in._uploads().verify() == []


def test_what_is_handed_in_while_a_project_is_restored_is_not_lost(
    handed_in: Project, tmp_path: Path
) -> None:
    with ThreadPoolExecutor(1) as other:
        with handed_in._home.anew() as aside:
            aside.store.begin(handed_in.stats().header)
            coming = other.submit(handed_in.index_document, "late.md", b"# Late\n\nThe wombat.")
            with pytest.raises(TimeoutError):
                coming.result(timeout=1)
            aside.store.finish()
        assert coming.result().status == "indexed"
    assert names(handed_in) == ["late.md"]


def test_a_folder_that_takes_a_project_over_says_that_it_keeps_no_files(
    handed_in: Project, tmp_path: Path
) -> None:
    file = tmp_path / "moved.pincite"
    as_library(handed_in, tmp_path / "here").export_to(file)
    root = tmp_path / "there"
    root.mkdir()
    with Library(root, OneModel(ModelAccess()), FolderHome(root, root / ".index")) as library:
        report = library.import_from(file)
        assert (report.documents, report.originals, report.left_out) == (3, 0, 3)
        assert library.search("pump", mode="words").results
