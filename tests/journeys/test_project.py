"""A team's project: files are handed in, found, listed and deleted by those who may."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helpers import next_project, shared_team
from pincite import Case, Gate
from pincite.engine.addresses import Address
from pincite.engine.homes import FolderHome
from pincite.engine.library import Library
from pincite.engine.making import Making, making
from pincite.engine.models import Embedders, ModelAccess
from pincite.engine.project import Project
from pincite.engine.team_home import TeamHome
from pincite.errors import (
    FileUnreadable,
    LibraryBusy,
    ProjectMissing,
    SettingsError,
    StoreBusy,
    StoreDenied,
)
from pincite.models.hashing import HashingEmbedder
from pincite.ports import Embedder
from pincite.records import (
    Document,
    Filters,
    LibraryHeader,
    MemberRole,
    Original,
    Progress,
    Scope,
)
from pincite.settings import INGESTION_VERSION
from pincite.stores.postgres.uploads import MadeOtherwise, UploadStore
from pincite.vectors import Vector
from two_models import Backwards

PLAN = b"# Plan\n\nThe harbour pump is replaced in May.\n"
NOTE = b"# Note\n\nThe valve of the mole sticks in winter.\n"

PUBLIC = {"confidentiality": "public"}
STAGES = 6  # of a search for words that have looked into the index

Open = Callable[[str], Project]


class Counting(HashingEmbedder):
    """Remembers how many passages it embedded."""

    count = 0

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        Counting.count += len(texts)
        return super().embed_passages(texts)


class OneModel(Embedders):
    """Knows the small model of the tests alone."""

    def named(self, name: str) -> Embedder:
        return Counting()

    def of(self, header: LibraryHeader) -> Embedder:
        return Counting()


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    """Ada's project, opened by whoever asks."""
    name = next_project()
    team = shared_team()

    def open_as(user: str) -> Project:
        whose = name if user == "ada" else f"ada/{name}"
        home = TeamHome(
            Address("postgresql://shared", user, whose),
            tmp_path / "store.json",
            team=team,
            remembers=False,
        )
        return Project(Path(name), OneModel(ModelAccess()), home)

    return open_as


def paths_found(project: Project, question: str, filters: Filters = Filters()) -> list[str]:
    found = project.search(question, mode="words", filters=filters)
    return [one.document.name for one in found.results]


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


def test_what_was_handed_in_moves_to_another_policy_with_its_labels(opened: Open) -> None:
    project = opened("ada")
    plan = project.index_document("plan.md", PLAN, labels={"tags": ["draft"]})
    report = project.reindex(policy="flat")
    assert report.outcome == "switched"
    (entry,) = project.documents()
    assert (entry.id, entry.metadata.tags) == (plan.document.id, ("draft",))
    assert project.index_document("plan.md", PLAN, labels={"tags": ["draft"]}).status == (
        "deduplicated"
    )


def test_a_file_that_comes_again_without_labels_keeps_those_it_has(opened: Open) -> None:
    project = opened("ada")
    project.index_document("plan.md", PLAN, labels={"confidentiality": "restricted"})
    again = project.index_document("plan.md", PLAN)
    assert again.document.metadata.confidentiality == "restricted"


def test_a_reindex_keeps_what_each_member_handed_in_as_guarded_as_it_was(opened: Open) -> None:
    ada = opened("ada")
    ada.index_document("note.md", NOTE)
    share(ada, "grace", "writer", clearance="restricted")
    share(ada, "mary", "reader")
    opened("grace").index_document("salaries.md", PLAN, labels={"confidentiality": "restricted"})
    assert ada.reindex(policy="flat").outcome == "switched"
    assert paths_found(ada, "pump") == ["salaries.md"]
    assert paths_found(opened("mary"), "pump") == []
    assert [one.name for one in opened("mary").list_documents().documents] == ["note.md"]


def test_what_comes_and_goes_during_a_reindex_is_followed(opened: Open) -> None:
    project = opened("ada")
    gone = project.index_document("gone.md", PLAN)
    project.index_document("kept.md", NOTE)

    def meddle(progress: Progress) -> None:
        if progress.documents_done == 1:
            project.index_document("late.md", b"# Late\n\nThe wombat arrives.")
            assert project.delete_document(gone.document.id) == "deleted"

    assert project.reindex(policy="flat", on_progress=meddle).outcome == "switched"
    assert sorted(one.name for one in project.documents()) == ["kept.md", "late.md"]
    assert paths_found(project, "wombat") == ["late.md"]
    assert project._uploads().verify() == []


def test_labels_that_change_during_a_reindex_are_followed(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = opened("ada")
    project.index_document("early.md", PLAN, labels={"tags": ["old"]})
    project.index_document("late.md", NOTE, labels={"tags": ["old"]})
    made = Making.made

    def meddle_while_it_is_made(self: Making, original: Original, known: UploadStore) -> object:
        document = made(self, original, known)
        with monkeypatch.context() as patched:
            patched.setattr(Making, "made", made)
            project.index_document("early.md", PLAN, labels={"tags": ["new"]})
            project.index_document("late.md", NOTE, labels={"tags": ["new"]})
        return document

    with monkeypatch.context() as patched:
        patched.setattr(Making, "made", meddle_while_it_is_made)
        assert project.reindex(policy="flat").outcome == "switched"
    assert [one.metadata.tags for one in project.documents()] == [("new",), ("new",)]
    assert project._uploads().verify() == []


def test_labels_that_changed_since_a_reindex_stay_so_when_it_is_taken_back(opened: Open) -> None:
    project = opened("ada")
    project.index_document("plan.md", PLAN, labels={"tags": ["old"]})
    project.reindex(policy="flat")
    project.index_document("plan.md", PLAN, labels={"tags": ["new"]})
    project.rollback()
    assert [one.metadata.tags for one in project.documents()] == [("new",)]
    assert paths_found(project, "pump", Filters(tags=("new",))) == ["plan.md"]
    assert project._uploads().verify() == []


class BackwardsToo(OneModel):
    """Knows a second model, which looks for the opposite of what is asked."""

    def named(self, name: str) -> Embedder:
        return Backwards(64) if name == "backwards" else super().named(name)

    def of(self, header: LibraryHeader) -> Embedder:
        return Backwards(64) if header.model.dimensions == 64 else super().of(header)


@pytest.fixture
def asked(opened: Open) -> tuple[Project, list[Case]]:
    """A project with a model that is worse than its own, and questions that show it."""
    project = opened("ada")
    project._embedders = BackwardsToo(ModelAccess())
    for thing in ("valve", "pump", "boiler", "gauge", "rotor", "seal"):
        text = f"# The {thing}\n\nPetra looks after the {thing}.\n"
        project.index_document(f"{thing}.md", text.encode())
    return project, [
        Case(question=f"who looks after {one.title}?", documents={one.path: 1})
        for one in project.documents()
    ]


def test_a_project_stays_with_its_index_where_a_new_one_answers_worse(
    asked: tuple[Project, list[Case]],
) -> None:
    project, cases = asked
    live = project.stats().header
    report = project.reindex(model="backwards", gate=Gate(cases))
    assert report.outcome == "worse"
    assert report.gate is not None
    assert not report.gate.holds
    assert project.stats().header == live
    assert [one.role for one in project.generations.stats()] == ["live", "next"]
    project.generations.cancel()
    assert [one.role for one in project.generations.stats()] == ["live"]


def test_a_project_moves_to_an_index_that_answers_as_well_and_back_again(
    asked: tuple[Project, list[Case]],
) -> None:
    project, cases = asked
    live = project.stats().header
    report = project.reindex(policy="flat", gate=Gate(cases))
    assert report.outcome == "switched"
    assert report.gate is not None
    assert report.gate.holds
    assert project.rollback() == live == project.stats().header


def test_a_file_that_cannot_be_read_any_more_keeps_a_project_as_it_is(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = opened("ada")
    project.index_document("plan.md", PLAN)
    note = project.index_document("note.md", NOTE)
    read = Making.read

    def read_plans_alone(self: Making, original: Original) -> Document:
        if original.path.endswith("note.md"):
            raise FileUnreadable("is in a format that is read no more")
        return read(self, original)

    seen: list[Progress] = []
    with monkeypatch.context() as patched:
        patched.setattr(Making, "read", read_plans_alone)
        report = project.reindex(policy="flat", on_progress=seen.append)
    assert (report.outcome, report.lost) == ("incomplete", (note.document.path,))
    assert [one.reason for one in report.index.failures] == ["is in a format that is read no more"]
    assert [(one.documents_done, one.documents_total) for one in seen] == [(1, 2), (2, 2)]
    assert seen[-1].bytes_done == seen[-1].bytes_total == len(PLAN) + len(NOTE)
    assert sorted(one.name for one in project.documents()) == ["note.md", "plan.md"]
    assert project.reindex(policy="flat").outcome == "switched"


def test_a_rollback_that_would_lose_a_file_is_refused(opened: Open) -> None:
    project = opened("ada")
    project.index_document("plan.md", PLAN)
    project.reindex(policy="flat")
    project.index_document("late.md", NOTE)
    with pytest.raises(LibraryBusy, match="1 files were handed in or deleted"):
        project._home.rollback()


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


def share(project: Project, user: str, role: MemberRole, clearance: str = "internal") -> None:
    address = project._home.address
    shared_team().share(
        Scope(address.user, address.project),
        user,
        role=role,
        clearance=clearance,
    )


@pytest.fixture
def handed_in(opened: Open) -> Project:
    """A project with a file of Ada's and one of Grace's."""
    ada = opened("ada")
    ada.index_document("plan.md", PLAN, labels={"tags": ["draft"]})
    share(ada, "grace", "writer", clearance="restricted")
    opened("grace").index_document("note.md", NOTE)
    return ada


def as_library(project: Project, folder: Path) -> Library:
    folder.mkdir()
    return Library(folder, OneModel(ModelAccess()), project._home)


def test_a_project_that_is_moved_takes_its_files_along(
    opened: Open, handed_in: Project, tmp_path: Path
) -> None:
    file = tmp_path / "moved.pincite"
    assert as_library(handed_in, tmp_path / "here").export_to(file).originals == 2
    other = TeamHome(
        Address("postgresql://shared", "ada", next_project()),
        tmp_path / "there" / "store.json",
        team=shared_team(),
        remembers=False,
    )
    moved = Project(Path("moved"), OneModel(ModelAccess()), other)
    assert as_library(moved, tmp_path / "there").import_from(file).originals == 2
    assert paths_found(moved, "pump", Filters(tags=("draft",))) == ["plan.md"]
    assert moved.index_document("note.md", NOTE).status == "deduplicated"  # nobody else is here
    assert moved.reindex(policy="flat").outcome == "switched"
    assert sorted(one.name for one in moved.documents()) == ["note.md", "plan.md"]


def test_a_project_that_is_restored_gives_each_member_their_files_back(
    opened: Open, handed_in: Project, tmp_path: Path
) -> None:
    file = tmp_path / "kept.pincite"
    library = as_library(handed_in, tmp_path / "here")
    library.export_to(file, history=True)
    for one in handed_in.documents():
        handed_in.delete_document(one.id)
    assert library.import_from(file, replace=True).originals == 2
    assert opened("grace").index_document("note.md", NOTE).status == "deduplicated"
    assert handed_in.index_document("plan.md", PLAN).status == "deduplicated"
    assert handed_in._uploads().verify() == []


def test_a_folder_that_takes_a_project_over_says_that_it_keeps_no_files(
    handed_in: Project, tmp_path: Path
) -> None:
    file = tmp_path / "moved.pincite"
    as_library(handed_in, tmp_path / "here").export_to(file)
    root = tmp_path / "there"
    root.mkdir()
    with Library(root, OneModel(ModelAccess()), FolderHome(root, root / ".index")) as library:
        report = library.import_from(file)
        assert (report.documents, report.originals, report.left_out) == (2, 0, 2)
        assert library.search("pump", mode="words").results


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
