"""Files that were handed in move to another model or policy, and what happens meanwhile counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from pincite import Case, Gate
from pincite.engine.models import ModelAccess
from pincite.engine.project import Project
from pincite.errors import FileUnreadable, SettingsError
from pincite.ports import Embedder
from pincite.reading.reader import LibraryReader
from pincite.records import (
    Document,
    Filters,
    LibraryHeader,
    Progress,
    Uploaded,
)
from pincite.stores.postgres import tables
from pincite.vectors import Vector
from projects import NOTE, PLAN, Counting, OneModel, Open, paths_found, share
from two_models import Backwards


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


def test_a_fresh_reindex_embeds_again_what_is_as_it_should_be(opened: Open) -> None:
    project = opened("ada")
    plan = project.index_document("plan.md", PLAN)
    embedded = Counting.count
    assert project.reindex().outcome == "already"
    assert Counting.count == embedded
    assert project.reindex(fresh=True).outcome == "switched"
    assert Counting.count > embedded
    assert [one.id for one in project.documents()] == [plan.document.id]


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


class Meddling(OneModel):
    """Does something else while documents are embedded."""

    def __init__(self, meddle: Callable[[], object]) -> None:
        super().__init__(ModelAccess())
        self._meddle = meddle

    def of(self, header: LibraryHeader) -> Embedder:
        meddle = self._meddle

        class Embedding(Counting):
            def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
                if any("pump" in text or "valve" in text for text in texts):
                    meddle()
                return super().embed_passages(texts)

        return Embedding()


def test_labels_that_change_during_a_reindex_are_followed(opened: Open) -> None:
    project = opened("ada")
    project.index_document("early.md", PLAN, labels={"tags": ["old"]})
    project.index_document("late.md", NOTE, labels={"tags": ["old"]})

    def relabel() -> None:
        opened("ada").index_document("early.md", PLAN, labels={"tags": ["new"]})
        opened("ada").index_document("late.md", NOTE, labels={"tags": ["new"]})

    project._embedders = Meddling(relabel)
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
    read = LibraryReader.read

    def read_plans_alone(self: LibraryReader, path: str, data: bytes) -> Document:
        if path.endswith("note.md"):
            raise FileUnreadable("is in a format that is read no more")
        return read(self, path, data)

    seen: list[Progress] = []
    with monkeypatch.context() as patched:
        patched.setattr(LibraryReader, "read", read_plans_alone)
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
    with pytest.raises(SettingsError, match="files were handed in or deleted since"):
        project._home.rollback()


def test_a_relabel_waits_for_the_document_that_is_being_made_of_the_file(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = opened("ada")
    project.index_document("plan.md", PLAN, labels={"tags": ["old"]})
    write = tables.write
    relabels: list[Future[Uploaded]] = []

    def write_slowly(*arguments: Any, **more: Any) -> bool:  # noqa: ANN401 — as it is called
        done = write(*arguments, **more)
        if not relabels:
            relabels.append(other.submit(relabel))
            time.sleep(0.5)  # for the other to come before this one is committed
        return done

    def relabel() -> Uploaded:
        return project.index_document("plan.md", PLAN, labels={"tags": ["new"]})

    with ThreadPoolExecutor(1) as other, monkeypatch.context() as patched:
        patched.setattr(tables, "write", write_slowly)
        assert project.reindex(policy="flat").outcome == "switched"
        assert relabels[0].result().status == "deduplicated"
    assert [one.metadata.tags for one in project.documents()] == [("new",)]


def test_a_file_that_lost_its_document_gets_it_back_with_a_reindex(opened: Open) -> None:
    project = opened("ada")
    plan = project.index_document("plan.md", PLAN)
    project.index_document("note.md", NOTE)
    project._uploads().remove_documents([plan.document.id])
    assert project.reindex(policy="flat").outcome == "switched"
    assert sorted(one.name for one in project.documents()) == ["note.md", "plan.md"]
