"""What an update has to do, told from the files and the documents alone."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, strategies as st

from pincite.ingest.sync import Task, compare
from pincite.records import DocumentEntry, DocumentId, FoundFile, Metadata, document_id

RECIPE = "vault/1"


def stored(path: str, content: str, recipe: str = RECIPE, size: int = 0) -> DocumentEntry:
    return DocumentEntry(
        id=id_of(path, content),
        path=path,
        checksum=content,
        type="md",
        title=path,
        metadata=Metadata(),
        chunks=1,
        indexed_at="2024-05-01T00:00:00+00:00",
        recipe=recipe,
        size=size,
    )


def id_of(path: str, content: str) -> DocumentId:
    return document_id("library", path, content)


@dataclass(frozen=True)
class Case:
    """Files and documents as path → content, and what has to be done."""

    files: dict[str, str]
    documents: dict[str, str]
    tasks: tuple[Task, ...] = ()
    deleted: tuple[str, ...] = ()
    unchanged: int = 0
    unreadable: tuple[str, ...] = ()


CASES = {
    "added": Case({"a.md": "1"}, {}, (Task("a.md", "added"),)),
    "unchanged": Case({"a.md": "1"}, {"a.md": "1"}, unchanged=1),
    "changed": Case(
        {"a.md": "2"}, {"a.md": "1"}, (Task("a.md", "changed", (id_of("a.md", "1"),)),)
    ),
    "deleted": Case({"b.md": "2"}, {"a.md": "1", "b.md": "2"}, deleted=("a.md",), unchanged=1),
    "moved": Case(
        {"b/a.md": "1"}, {"a.md": "1"}, (Task("b/a.md", "moved", (id_of("a.md", "1"),)),)
    ),
    "moved and changed is not a move": Case(
        {"b.md": "2"}, {"a.md": "1"}, (Task("b.md", "added"),), deleted=("a.md",)
    ),
    "one of two with the same content moved": Case(
        {"b.md": "1", "c.md": "1"},
        {"a.md": "1", "b.md": "1"},
        (Task("c.md", "moved", (id_of("a.md", "1"),)),),
        unchanged=1,
    ),
    "moved to one place and copied to another": Case(
        {"b.md": "1", "c.md": "1"},
        {"a.md": "1"},
        (Task("b.md", "moved", (id_of("a.md", "1"),)), Task("c.md", "added")),
    ),
    "copied": Case(
        {"a.md": "1", "b.md": "1"}, {"a.md": "1"}, (Task("b.md", "added"),), unchanged=1
    ),
    "moved onto another": Case(
        {"b.md": "1"},
        {"a.md": "1", "b.md": "2"},
        (Task("b.md", "changed", (id_of("b.md", "2"),)),),
        deleted=("a.md",),
    ),
    "unreadable is not moved away": Case(
        {"b.md": "1"}, {"a.md": "1"}, (Task("b.md", "added"),), unreadable=("a.md",)
    ),
    "an unreadable folder keeps all that lies in it": Case(
        {},
        {"a/b/1.md": "1", "a/2.md": "2", "ab.md": "3"},
        deleted=("ab.md",),
        unreadable=("a/",),
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_files_and_documents_say_what_has_to_be_done(case: Case) -> None:
    plan = compare(
        [FoundFile(path, 1, content) for path, content in case.files.items()],
        [stored(path, content) for path, content in case.documents.items()],
        recipe_of=lambda path: RECIPE,
        unreadable=case.unreadable,
    )
    assert plan.tasks == case.tasks
    assert tuple(document.path for document in plan.deleted) == case.deleted
    assert plan.unchanged == case.unchanged


def test_a_document_of_another_recipe_is_cut_again() -> None:
    old = stored("a.md", "1", recipe="flat/1")
    plan = compare([FoundFile("a.md", 1, "1")], [old], recipe_of=lambda path: RECIPE)
    assert plan.tasks == (Task("a.md", "recut", (old.id,)),)
    assert (plan.deleted, plan.unchanged) == ((), 0)


@pytest.mark.parametrize("content", ["1", "2", None], ids=["same", "changed", "gone"])
def test_a_page_is_cut_again_before_the_source_it_is_about(content: str | None) -> None:
    page, source = stored("z.md", "1"), stored("a.py", "1")
    plan = compare(
        [FoundFile("z.md", 1, "1"), *([FoundFile("a.py", 1, content)] if content else [])],
        [page, source],
        recipe_of=lambda path: RECIPE,
        sources_of=lambda path, title: ("a.py",),
    )
    again = () if content == "1" else (Task("z.md", "recut", (page.id,)),)
    changed = (Task("a.py", "changed", (source.id,)),) if content == "2" else ()
    assert plan.tasks == (*again, *changed)


folders = st.dictionaries(st.sampled_from("abcde"), st.sampled_from("123"))


sizes = st.sampled_from([{}, {"1": 1, "2": 1, "3": 3}, {"1": 1, "2": 2, "3": 3}])


@given(files=folders, documents=folders, unreadable=st.sets(st.sampled_from("abcde")), sizes=sizes)
def test_doing_what_is_planned_makes_the_store_equal_to_the_folder(
    files: dict[str, str], documents: dict[str, str], unreadable: set[str], sizes: dict[str, int]
) -> None:
    files = {path: content for path, content in files.items() if path not in unreadable}
    plan = compare(
        [FoundFile(path, sizes.get(content, 1), content) for path, content in files.items()],
        [stored(path, one, size=sizes.get(one, 0)) for path, one in documents.items()],
        recipe_of=lambda path: RECIPE,
        unreadable=unreadable,
    )
    after = {id_of(path, content): path for path, content in documents.items()}
    for task in plan.tasks:
        for gone in task.replaces:
            del after[gone]
        after[id_of(task.path, files[task.path])] = task.path
    for document in plan.deleted:
        del after[document.id]
    kept = {path: documents[path] for path in unreadable & documents.keys()}
    assert after == {id_of(path, content): path for path, content in {**kept, **files}.items()}
    assert plan.unchanged + len(plan.tasks) == len(files)


def test_a_changed_document_of_another_recipe_is_only_changed() -> None:
    old = stored("a.md", "1", recipe="flat/1")
    plan = compare([FoundFile("a.md", 1, "2")], [old], recipe_of=lambda path: RECIPE)
    assert plan.tasks == (Task("a.md", "changed", (old.id,)),)


def test_a_checksum_is_asked_for_only_where_the_size_does_not_tell() -> None:
    files = [FoundFile(path, size, "") for path, size in (("a", 1), ("b", 2), ("c", 3), ("d", 4))]
    documents = [stored("a", "1", size=1), stored("b", "2", size=9), stored("gone", "4", size=4)]
    asked = []

    def checksum(file: FoundFile) -> str:
        asked.append(file.path)
        return str(file.size)

    plan = compare(files, documents, recipe_of=lambda path: RECIPE, checksum=checksum)
    assert [(task.path, task.change) for task in plan.tasks] == [
        ("b", "changed"),
        ("c", "added"),
        ("d", "moved"),
    ]
    assert asked == ["a", "d"]


def test_a_page_that_lacks_vectors_is_cut_again_with_its_source() -> None:
    page, source = stored("z.md", "1", recipe=f"{RECIPE}/lacking 1"), stored("a.py", "1")
    files = [FoundFile("z.md", 1, "1"), FoundFile("a.py", 1, "2")]
    plan = compare(
        files,
        [page, source],
        recipe_of=lambda path: RECIPE,
        sources_of=lambda path, title: ("a.py",),
    )
    assert plan.tasks[0] == Task("z.md", "recut", (page.id,))


def test_a_page_stays_as_it_is_while_its_source_cannot_be_read() -> None:
    page, source = stored("z.md", "1"), stored("a.py", "1")
    plan = compare(
        [FoundFile("z.md", 1, "1")],
        [page, source],
        recipe_of=lambda path: RECIPE,
        unreadable={"a.py"},
        sources_of=lambda path, title: ("a.py",),
    )
    assert (plan.tasks, plan.deleted, plan.unchanged) == ((), (), 1)
