"""Files that are handed in to a folder's library and to a team's project: one promise for both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pincite.engine.homes import FolderHome
from pincite.engine.library import Library
from pincite.engine.models import Embedders, ModelAccess
from pincite.engine.project import Project
from pincite.errors import FileUnreadable, ModelUnavailable, SearchCancelled, SettingsError
from pincite.ports import Generator
from pincite.records import DocumentEntry, Filters, Progress
from projects import NOTE, PLAN, Counting, OneModel, Refusing, new_project

Door = Library | Project
Opened = Callable[..., Door]

ODD = Filters(tags=("odd",))
PLAIN = b"The harbour pump is replaced in May."


@pytest.fixture(params=["folder", "project"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    """One library, opened as often as somebody asks, with the models they have."""
    home = tmp_path / "notes"
    home.mkdir()
    project = new_project(tmp_path)("ada")

    def door(embedders: Embedders | None = None) -> Door:
        models = embedders or OneModel(ModelAccess())
        if request.param == "project":
            return Project(project.root, models, project._home)
        return Library(home, models, FolderHome(home, home / ".index"))

    return door


def found(door: Door, question: str, **how: Any) -> list[str]:  # noqa: ANN401 — as `search` has it
    return [one.document.name for one in door.search(question, mode="words", **how).results]


def begin(door: Door, **other: Any) -> None:  # noqa: ANN401 — as a header has it
    """Say that documents are made otherwise from now on."""
    with closing(door._home.write()) as store:
        header = store.header()
        assert header is not None
        store.begin(replace(header, **other))


def test_a_file_that_is_handed_in_is_found_and_cited(opened: Opened) -> None:
    door = opened()
    uploaded = door.index_document("plan.md", PLAN)
    assert (uploaded.status, uploaded.document.name) == ("indexed", "plan.md")
    (result,) = door.search("harbour pump", mode="words").results
    assert result.document.id == uploaded.document.id
    assert result.quote.text == "The harbour pump is replaced in May."
    assert not door.search("harbour pump", mode="words").changed


def test_the_same_content_again_is_the_same_document_and_embeds_nothing(opened: Opened) -> None:
    door = opened()
    first = door.index_document("plan.md", PLAN)
    before = Counting.count
    again = door.index_document("copy.md", PLAN)
    assert (again.status, again.document.id) == ("deduplicated", first.document.id)
    assert Counting.count == before
    assert [one.name for one in door.documents()] == ["copy.md"]


def test_files_of_one_name_are_documents_of_their_own(opened: Opened) -> None:
    door = opened()
    first = door.index_document("plan.md", PLAN)
    second = door.index_document("a/plan.md", NOTE)
    assert first.document.path != second.document.path
    assert [one.name for one in door.documents()] == ["plan.md", "plan.md"]


def test_a_document_is_known_by_its_id_with_its_text_and_its_file(opened: Opened) -> None:
    door = opened()
    plan = door.index_document("plan.md", PLAN).document
    document = door.get_document(plan.id)
    assert door.entry(plan.id) == plan
    assert document is not None
    assert document.text == PLAN.decode()
    assert door.original(plan.id) == ("plan.md", PLAN)
    assert [(one.document, one.state) for one in door.catalog()] == [(plan, "indexed")]


@pytest.mark.parametrize("unknown", ["0" * 40, "", "nul \0", "half \udc80"])
def test_an_unknown_id_is_none_of_any_document(opened: Opened, unknown: str) -> None:
    door = opened()
    door.index_document("plan.md", PLAN)
    assert door.entry(unknown) is None
    assert door.get_document(unknown) is None
    assert door.original(unknown) is None
    assert door.delete_document(unknown) == "not_found"
    assert door.list_documents(after=unknown).documents is not None


@pytest.mark.parametrize("forget", [False, True])
def test_a_deleted_document_is_gone(opened: Opened, forget: bool) -> None:
    door = opened()
    kept = door.index_document("note.md", NOTE)
    gone = door.index_document("plan.md", PLAN)
    (chunk,) = door._store().chunk_ids(gone.document.id)
    assert door.delete_document(gone.document.id, forget=forget) == "deleted"
    assert door.delete_document(gone.document.id) == "not_found"
    assert door.get_document(gone.document.id) is None
    assert found(door, "pump") == []
    assert [one.id for one in door.documents()] == [kept.document.id]
    remembered = [one.superseded for one in door._store().find_chunks(chunk)]
    assert remembered == ([True] if isinstance(door, Library) and not forget else [])
    assert door.search("valve", mode="words").complete
    assert door._store().verify() == []
    assert door.index_document("plan.md", PLAN).status == "indexed"


def test_documents_are_listed_page_by_page_and_under_filters(opened: Opened) -> None:
    door = opened()
    for number in range(7):
        tags = ["odd"] if number % 2 else ["even"]
        text = b"# %d\n\nThe pump." % number
        door.index_document(f"{number}.md", text, labels={"tags": tags})
    pages = [door.list_documents(limit=3)]
    while pages[-1].after is not None:
        pages.append(door.list_documents(after=pages[-1].after, limit=3))
    assert [len(page.documents) for page in pages] == [3, 3, 1]
    assert [one for page in pages for one in page.documents] == door.documents()
    odd = door.list_documents(filters={"tag": "odd"}, limit=2)
    assert len(odd.documents) == 2
    (last,) = door.list_documents(filters={"tag": "odd"}, after=odd.after or "").documents
    assert {one.metadata.tags for one in (*odd.documents, last)} == {("odd",)}
    for question in ("", "pump", "md"):  # all, by what they say, by a part of the name
        names = [one.path.rpartition("/")[2] for one in door.catalog(question, filters=ODD)]
        assert sorted(names) == ["1.md", "3.md", "5.md"]


def test_a_file_whose_indexing_is_stopped_is_not_there(opened: Opened) -> None:
    door = opened()
    door.index_document("note.md", NOTE)

    def stop(progress: Progress) -> None:
        raise SearchCancelled("stopped")

    with pytest.raises(SearchCancelled):
        door.index_document("plan.md", PLAN, on_progress=stop)
    assert [one.name for one in door.documents()] == ["note.md"]
    assert found(door, "pump") == []
    assert door.index_document("plan.md", PLAN).status == "indexed"
    assert found(door, "pump") == ["plan.md"]
    assert door.list_documents(filters=Filters(types=("pdf",))).documents == ()
    with pytest.raises(SettingsError, match="a page has 1 to 1,000"):
        door.list_documents(limit=0)
    with pytest.raises(SettingsError, match="unknown filter"):
        door.list_documents(filters={"colour": "red"})


# What is said of a file.

LABELS = {
    "project": "Harbour",
    "confidentiality": "confidential",
    "author": "Ada",
    "date": "2024-05",
    "language": "en",
    "tags": ["draft"],
    "agents": ["planner"],
}


def test_labels_say_what_the_file_cannot(opened: Opened) -> None:
    door = opened()
    about = door.index_document("plan.md", PLAN, labels=LABELS).document.metadata
    assert {name: getattr(about, name) for name in LABELS} == {
        **LABELS,
        "tags": ("draft",),
        "agents": ("planner",),
    }
    assert found(door, "pump", filters={"project": "harbour", "clearance": "confidential"})
    assert not found(door, "pump", filters={"clearance": "internal"})


def test_labels_that_change_embed_nothing_and_those_not_named_stay(opened: Opened) -> None:
    door = opened()
    door.index_document("plan.md", PLAN, labels={"tags": ["draft"], "author": "Ada"})
    before = Counting.count
    again = door.index_document("plan.md", PLAN, labels={"tags": ["final"], "author": None})
    about = again.document.metadata
    assert (again.status, about.tags, about.author) == ("deduplicated", ("final",), None)
    assert door.index_document("plan.md", PLAN).document.metadata.tags == ("final",)
    assert Counting.count == before
    assert found(door, "pump", filters=Filters(tags=("final",))) == ["plan.md"]
    assert found(door, "pump", filters=Filters(tags=("draft",))) == []
    bare = door.index_document("plan.md", PLAN, labels={"tags": None}).document
    assert bare.metadata.tags == ()


def test_the_name_that_is_shown_follows_the_last_upload_and_citations_stay(opened: Opened) -> None:
    door = opened()
    first = door.index_document("plan.txt", PLAIN)
    (before,) = door.search("harbour", mode="words").results
    vectors = Counting.count
    again = door.index_document("pump-plan.txt", PLAIN)
    assert (again.status, Counting.count) == ("deduplicated", vectors)
    assert (again.document.id, again.document.path) == (first.document.id, first.document.path)
    assert (again.document.name, again.document.title) == ("pump-plan.txt", "pump-plan")
    (after,) = door.search("harbour", mode="words").results
    assert (after.citation, after.chunk.id) == (before.citation, before.chunk.id)
    door.reindex(policy="flat")
    assert [one.name for one in door.documents()] == ["pump-plan.txt"]
    back = door.index_document("plan.txt", PLAIN).document
    assert (back.name, back.title, back.path) == ("plan.txt", "plan", first.document.path)


# What cannot be handed in.


REFUSED: Sequence[tuple[Any, Any, Any, type[Exception], str]] = (
    ("", PLAN, {}, SettingsError, "cannot be the name"),
    ("../..", PLAN, {}, SettingsError, "cannot be the name"),
    (".hidden.md", PLAN, {}, SettingsError, "cannot be the name"),
    ("a" * 201 + ".md", PLAN, {}, SettingsError, "1 to 200 bytes"),
    ("a\n.md", PLAN, {}, SettingsError, "printable"),
    ("half \udc80.md", PLAN, {}, SettingsError, "printable"),
    ("pincite-labels.json", b"{}", {}, SettingsError, "a file of pincite's own"),
    ("x/Pincite-Analysis.json", b"{}", {}, SettingsError, "a file of pincite's own"),
    ("a.md", PLAN, {"colour": "red"}, SettingsError, "no label 'colour'; labels are project"),
    ("a.md", PLAN, {"tag": ["x"]}, SettingsError, "did you mean tags"),
    ("a.md", PLAN, {"name": "b.md"}, SettingsError, "hand the file in under that name"),
    ("a.md", PLAN, {"confidentiality": "top"}, SettingsError, "top.*public, internal"),
    ("a.md", PLAN, {"date": "soon"}, SettingsError, "soon"),
    ("a.md", PLAN, {"tags": "draft"}, SettingsError, "lists of texts"),
    ("a.md", PLAN, {"tags": ["nul \0"]}, SettingsError, "NUL"),
    ("a.md", PLAN, {"tags": ["half \udc80"]}, SettingsError, "cannot be used"),
    ("a.md", PLAN, {"tags": [b"bytes"]}, SettingsError, "cannot be used"),
    ("a.md", PLAN, ["draft"], SettingsError, "a.md: labels must be a mapping"),
    ("a.md", "# Plan", {}, SettingsError, "a.md: data must be the bytes of the file, not str"),
    (7, PLAN, {}, SettingsError, "the name of a file must be a str, not int"),
    ("a.md", b"", {}, FileUnreadable, "a.md: is empty"),
    ("a.xyz", PLAN, {}, FileUnreadable, "a.xyz: is of a kind that"),
    ("a.pdf", b"%PDF-1.4 no", {}, FileUnreadable, "damaged"),
    ("a.txt", b"x" * 20_000_001, {}, FileUnreadable, "more than the 20,000,000"),
)


def test_what_cannot_be_handed_in_is_told_and_leaves_nothing(
    opened: Opened, tmp_path: Path
) -> None:
    door = opened()
    door.index_document("note.md", NOTE)
    uploads = tmp_path / "notes" / "uploads"
    before = sorted(uploads.rglob("*"))
    for name, data, labels, error, said in REFUSED:
        with pytest.raises(error, match=said):
            door.index_document(name, data, labels=labels)
        assert sorted(uploads.rglob("*")) == before, name
    assert [one.name for one in door.documents()] == ["note.md"]
    assert door.search("valve", mode="words").complete


def test_a_method_is_the_policy_of_a_new_library_and_no_other_later(opened: Opened) -> None:
    door = opened()
    with pytest.raises(SettingsError, match="unknown chunk policy 'best'"):
        door.index_document("plan.md", PLAN, method="best")
    door.index_document("plan.md", PLAN, method="rule_based")
    assert door.stats().header.policy == "flat"
    assert door.index_document("note.md", NOTE, method="rule_based").status == "indexed"
    with pytest.raises(SettingsError, match=r"cut by the policy flat.*reindex --policy semantic"):
        door.index_document("other.md", b"# Other\n\nText.\n", method="semantic")
    assert len(door.documents()) == 2


# How documents are made.


def test_a_document_that_was_made_otherwise_is_made_again(opened: Opened) -> None:
    door = opened()
    first = door.index_document("plan.md", PLAN)
    begin(door, edition=2)
    again = door.index_document("plan.md", PLAN)
    assert (again.status, again.document.id) == ("reindexed", first.document.id)
    assert again.document.recipe != first.document.recipe
    assert door.index_document("plan.md", PLAN).status == "deduplicated"


class Model:
    """A language model that sees one subject in all documents, and writes them one summary."""

    cuts = 0

    def generate(self, instruction: str, text: str, *, most_tokens: int) -> str:
        if "numbered" not in instruction:
            return "Written by a model."
        Model.cuts += 1
        return "1"


class WithModel(OneModel):
    def generator(self, name: str, *, somebody_waits: bool = False) -> Generator:
        return Model()


def test_a_language_model_cuts_and_sums_up_where_the_library_wants_it(opened: Opened) -> None:
    door = opened(WithModel(ModelAccess()))
    door.index_document("note.md", NOTE)
    begin(door, policy="semantic", summaries="openai:test")
    cuts = Model.cuts
    text = " ".join(f"The pump of boat {number} is old, and somebody knows." for number in range(9))
    plan = door.index_document("plan.txt", text.encode()).document
    assert plan.summary == "Written by a model."
    assert plan.recipe.startswith("semantic/")
    assert Model.cuts > cuts


def test_a_text_that_a_service_refuses_is_found_by_words_and_tried_again(opened: Opened) -> None:
    first = opened(Refusing()).index_document("plan.md", PLAN)
    door = opened()
    assert (first.status, first.document.lacking) == ("indexed", 1)
    assert found(door, "harbour pump") == ["plan.md"]
    again = door.index_document("plan.md", PLAN)
    assert (again.status, again.document.lacking) == ("reindexed", 0)
    assert door.index_document("plan.md", PLAN).status == "deduplicated"


def test_a_service_that_does_not_answer_leaves_nothing(opened: Opened) -> None:
    door = opened()
    door.index_document("note.md", NOTE)
    with pytest.raises(ModelUnavailable):
        opened(Refusing(ModelUnavailable)).index_document("plan.md", PLAN, labels={"tags": ["x"]})
    assert [one.name for one in door.documents()] == ["note.md"]
    assert door.index_document("plan.md", PLAN).document.metadata.tags == ()


# Several at once.


def test_many_uploads_of_one_file_at_once_make_one_document(opened: Opened) -> None:
    doors = [opened() for _ in range(4)]
    doors[0].index_document("note.md", NOTE)

    def upload(number: int) -> str:
        return doors[number % 4].index_document(f"plan-{number % 5}.md", PLAN).status

    with ThreadPoolExecutor(8) as pool:
        statuses = Counter(pool.map(upload, range(40)))
    assert statuses == {"indexed": 1, "deduplicated": 39}
    assert len(doors[0].documents()) == 2
    assert doors[0]._store().verify() == []


def test_uploads_and_deletions_at_once_all_take_place(opened: Opened) -> None:
    doors = [opened() for _ in range(2)]
    names = [f"{number}.md" for number in range(12)]

    def upload(name: str) -> DocumentEntry:
        return doors[len(name) % 2].index_document(name, f"# {name}\n".encode()).document

    with ThreadPoolExecutor(6) as pool:
        entries = list(pool.map(upload, names))
        gone = pool.map(lambda one: doors[0].delete_document(one.id), entries[::2])
        assert list(gone) == ["deleted"] * 6
    assert sorted(one.name for one in doors[1].documents()) == sorted(names[1::2])
