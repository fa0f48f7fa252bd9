"""Files that are handed in to a folder, which stays the truth: people see what they gave."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pincite import Library, open_library
from pincite.engine.folders import set_apart
from pincite.engine.homes import patiently
from pincite.errors import (
    FileUnreadable,
    LibraryBusy,
    NothingToIndex,
    PathRefused,
    SettingsError,
    StoreDenied,
)
from pincite.records import Metadata
from pincite.stores.sqlite.opening import write_lock
from projects import NOTE, PLAN

LEASE = b"# Lease\n\nThe lease of the harbour office ends in June.\n"
LABELS = {"project": "Harbour", "confidentiality": "restricted", "tags": ["law"]}
NO_PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n%%EOF"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "lease.md").write_bytes(LEASE)
    return folder


@pytest.fixture
def library(root: Path) -> Iterator[Library]:
    with open_library(root) as opened:
        opened.index(model="hashing")
        yield opened


def visible(root: Path) -> list[str]:
    """What a person sees in the folder."""
    files = (one.relative_to(root) for one in root.rglob("*") if one.is_file())
    return sorted(one.as_posix() for one in files if not one.parts[0].startswith("."))


def labels_beside(file: Path) -> Path:
    return file.parent / "pincite-labels.json"


def told(library: Library) -> dict[str, Metadata]:
    return {one.path: one.metadata for one in library.documents()}


def test_a_file_and_what_is_said_of_it_stand_in_the_folder(library: Library, root: Path) -> None:
    plan = library.index_document("plan.md", PLAN, labels=LABELS).document
    own = f"uploads/{hashlib.sha256(PLAN).hexdigest()[:20]}"
    assert visible(root) == ["lease.md", f"{own}/pincite-labels.json", f"{own}/plan.md"]
    assert (root / plan.path).read_bytes() == PLAN
    assert json.loads(labels_beside(root / plan.path).read_bytes()) == {
        "version": 1,
        "labels": [{"files": f"{own}/", **LABELS}],
    }


@pytest.mark.parametrize("labels", [LABELS, {}])
def test_an_update_finds_nothing_to_do_and_a_fresh_build_the_same_metadata(
    library: Library, root: Path, labels: dict[str, object]
) -> None:
    library.index_document("plan.md", PLAN, labels=labels)
    library.index_document("renamed.md", PLAN)
    before = told(library)
    report = library.index()
    assert (report.written, report.unchanged, report.skipped) == (0, 2, ())
    assert told(library) == before
    assert library.index(fresh=True).recut == 2
    assert told(library) == before
    assert library.index().written == 0


def test_nothing_else_in_the_folder_is_looked_at(library: Library, root: Path) -> None:
    (root / "lease.md").write_bytes(b"# Another lease\n")
    (root / "new.md").write_bytes(NOTE)
    (root / "broken.pdf").write_bytes(NO_PDF)
    plan = library.index_document("plan.md", PLAN, labels=LABELS).document
    assert set(told(library)) == {"lease.md", plan.path}
    report = library.index()
    assert (report.changed, report.added, len(report.failures)) == (1, 1, 1)
    library.delete_document(plan.id)
    assert set(told(library)) == {"lease.md", "new.md"}
    (root / "lease.md").unlink()
    library.index_document("plan.md", PLAN)
    assert "lease.md" in told(library)
    assert [one.path for one in library.catalog() if one.state == "not read"] == ["broken.pdf"]


def test_an_index_is_as_complete_as_it_was(library: Library, root: Path) -> None:
    library.index_document("plan.md", PLAN)
    assert library.search("pump", mode="words").complete
    store = library._home.write()
    store.remove_documents([library.documents()[0].id])  # as of a run that is stopped
    store.close()
    library.index_document("note.md", NOTE)
    assert not library.search("pump", mode="words").complete


def test_content_of_the_folder_itself_gets_labels_where_it_stands(
    library: Library, root: Path
) -> None:
    done = library.index_document("copy.md", LEASE, labels=LABELS)
    assert (done.status, done.document.path, done.document.name) == (
        "deduplicated",
        "lease.md",
        "lease.md",
    )
    assert done.document.metadata.confidentiality == "restricted"
    (labels,) = (one for one in visible(root) if one != "lease.md")
    assert json.loads((root / labels).read_bytes())["labels"] == [{"files": "lease.md", **LABELS}]
    assert library.index().written == 0
    library.index(fresh=True)
    assert told(library)["lease.md"].tags == ("law",)
    assert library.delete_document(done.document.id, of_folder=True) == "deleted"
    assert visible(root) == []


def test_labels_that_people_write_beside_a_file_are_followed(library: Library, root: Path) -> None:
    plan = library.index_document("plan.md", PLAN, labels=LABELS).document
    beside = labels_beside(root / plan.path)
    beside.write_text(beside.read_text().replace("law", "lease"))
    assert library.index().recut == 1
    assert told(library)[plan.path].tags == ("lease",)
    library.index_document("plan.md", PLAN, labels={"author": "Ada"})
    assert told(library)[plan.path].tags == ("lease",)
    beside.write_text("{")
    report = library.index()
    assert [one.path for one in report.failures] == [plan.path]
    assert "pincite-labels.json is not as docs/filters.md says" in report.failures[0].reason
    assert told(library)[plan.path].confidentiality == "restricted"
    with pytest.raises(FileUnreadable, match=r"pincite-labels\.json is not as"):
        library.index_document("plan.md", PLAN)
    beside.unlink()
    assert library.index().recut == 1
    assert told(library)[plan.path] == Metadata()


def test_a_rule_that_hides_a_file_is_told_and_the_file_is_not_kept(
    library: Library, root: Path
) -> None:
    (root / ".gitignore").write_text("*.log.md\n")
    with pytest.raises(FileUnreadable, match=r"a\.log\.md: is hidden by a rule in \.gitignore"):
        library.index_document("a.log.md", PLAN)
    (root / ".pinciteignore").write_text("uploads/\n")
    with pytest.raises(FileUnreadable, match="hidden by a rule"):
        library.index_document("plan.md", PLAN, labels=LABELS)
    with pytest.raises(FileUnreadable, match="cannot be labelled: a rule in"):
        library.index_document("lease.md", LEASE, labels=LABELS)
    assert visible(root) == ["lease.md"]
    assert told(library)["lease.md"].confidentiality is None


def test_a_file_that_was_changed_since_is_neither_written_over_nor_deleted(
    library: Library, root: Path
) -> None:
    plan = library.index_document("plan.md", PLAN).document
    (root / plan.path).write_bytes(NOTE)
    with pytest.raises(SettingsError, match="was changed since it was handed in, and is kept"):
        library.index_document("plan.md", PLAN)
    with pytest.raises(LibraryBusy, match="is another file by now"):
        library.delete_document(plan.id)
    assert (root / plan.path).read_bytes() == NOTE
    library.index()
    (entry,) = (one for one in library.documents() if one.path == plan.path)
    assert library.original(entry.id) == ("plan.md", NOTE)
    assert library.delete_document(entry.id) == "deleted"
    assert visible(root) == ["lease.md"]


def test_what_people_put_into_a_folder_of_that_name_was_not_handed_in(
    library: Library, root: Path
) -> None:
    (root / "uploads").mkdir()
    (root / "uploads" / "own.md").write_bytes(NOTE)
    library.index()
    (own,) = (one for one in library.documents() if one.path == "uploads/own.md")
    with pytest.raises(StoreDenied, match="was not handed in"):
        library.delete_document(own.id)
    assert (root / "uploads" / "own.md").exists()


def test_the_file_of_a_document_is_given_as_it_is_and_nothing_behind_a_link(
    library: Library, root: Path, tmp_path: Path
) -> None:
    (lease,) = library.documents()
    (root / "lease.md").unlink()
    with pytest.raises(FileUnreadable, match=r"lease\.md: no such file"):
        library.original(lease.id)
    (tmp_path / "secret.md").write_text("secret")
    (root / "lease.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(FileUnreadable, match="is a link"):
        library.original(lease.id)


def test_the_file_of_recognised_text_is_the_scan(library: Library, root: Path) -> None:
    (root / "scan.pdf").write_bytes(NO_PDF)
    (root / ".converted").mkdir()
    (root / ".converted" / "scan.pdf.md").write_text("The boiler is old.\n")
    library.index()
    (scan,) = (one for one in library.documents() if one.path != "lease.md")
    assert library.original(scan.id) == ("scan.pdf", NO_PDF)


def test_nothing_is_written_through_a_link(library: Library, root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (root / "uploads").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PathRefused):
        library.index_document("plan.md", PLAN, labels=LABELS)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_page_about_a_file_is_cut_again_when_the_file_comes_and_when_it_goes(
    library: Library, root: Path
) -> None:
    code = b"def start_pump():\n    return 1\n"
    path = f"uploads/{hashlib.sha256(code).hexdigest()[:20]}/pump.py"
    (root / "guide.md").write_text("# Guide\n\nFirst call start_pump, then wait.\n")
    pages = {"version": 1, "pages": {"guide.md": path}}
    (root / "pincite-analysis.json").write_text(json.dumps(pages))
    library.index()

    def of_pumps() -> list[str]:
        found = library.search("guide", mode="words", filters={"symbol": "start_pump"})
        return [one.document.path for one in found.results]

    assert of_pumps() == []
    pump = library.index_document("pump.py", code).document
    assert of_pumps() == ["guide.md"]
    library.delete_document(pump.id)
    assert of_pumps() == []


def test_the_first_file_makes_the_index_of_all_that_is_there(root: Path) -> None:
    with open_library(root) as library:
        done = library.index_document("plan.md", PLAN, method="rule_based")
        assert (done.status, library.stats().header.policy) == ("indexed", "flat")
        assert len(library.documents()) == 2


def test_a_library_whose_files_are_elsewhere_takes_none(library: Library, root: Path) -> None:
    (root / "lease.md").unlink()
    set_apart(root / ".index")
    with pytest.raises(NothingToIndex, match="were imported without their files"):
        library.index_document("plan.md", PLAN)
    assert visible(root) == []


# In two steps, as a job does it.


def test_a_file_that_was_only_kept_is_indexed_by_the_next_update(
    library: Library, root: Path
) -> None:
    path, is_new = library.keep_upload("plan.md", PLAN, LABELS)
    assert is_new
    assert library.keep_upload("plan.md", PLAN) == (path, False)
    assert path not in told(library)
    assert library.index().added == 1
    assert told(library)[path].tags == ("law",)
    assert library.index_upload(path, is_new=False).status == "deduplicated"
    with open_library(root) as after_a_kill:
        assert after_a_kill.index_upload(path, is_new=True).status == "indexed"
    assert library.keep_upload("lease.md", LEASE) == ("lease.md", False)


def test_a_kept_file_that_cannot_be_read_is_taken_away(library: Library, root: Path) -> None:
    path, is_new = library.keep_upload("broken.pdf", NO_PDF)
    with pytest.raises(FileUnreadable, match=r"broken\.pdf"):
        library.index_upload(path, is_new=is_new)
    assert visible(root) == ["lease.md"]
    (root / "lease.md").unlink()
    with pytest.raises(FileUnreadable, match=r"lease\.md: is not there any more"):
        library.index_upload("lease.md", is_new=False)


# Beside others who write.


def test_uploads_beside_a_watch_all_come_in(library: Library) -> None:
    stop = threading.Event()
    watch = threading.Thread(target=lambda: list(library.watch(stop)))
    watch.start()
    try:
        done = [
            library.index_document(f"{number}.md", f"# Note {number}\n".encode())
            for number in range(15)
        ]
        assert {one.status for one in done} == {"indexed"}
        for one in done[1:]:
            assert library.delete_document(one.document.id) == "deleted"
    finally:
        stop.set()
        watch.join()
    assert set(told(library)) == {"lease.md", done[0].document.path}
    assert library.verify() == []


def test_the_past_of_what_was_deleted_can_be_forgotten_later(library: Library, root: Path) -> None:
    plan = library.index_document("plan.md", PLAN).document
    (lease,) = (one for one in library.documents() if one.path == "lease.md")
    library.delete_document(plan.id)
    assert b"harbour pump" in (root / ".index" / "chunks.jsonl").read_bytes()
    assert library.delete_document(plan.id, forget=True) == "deleted"
    assert library.delete_document(plan.id, forget=True) == "not_found"
    assert not [one for one in root.rglob("chunks.jsonl") if b"harbour pump" in one.read_bytes()]
    (root / "lease.md").unlink()
    (root / "note.md").write_bytes(NOTE)
    library.index()
    with pytest.raises(StoreDenied, match="is not forgotten"):
        library.delete_document(lease.id, forget=True)
    assert library.delete_document(lease.path, forget=True, of_folder=True) == "not_found"
    assert library.delete_document(lease.id, forget=True, of_folder=True) == "deleted"


def test_a_document_is_forgotten_while_others_search(library: Library) -> None:
    stop = threading.Event()
    troubles: list[BaseException] = []

    def search() -> None:
        try:
            while not stop.is_set():
                assert library.search("lease", mode="words").results
        except BaseException as trouble:  # noqa: BLE001 — whatever it is, it is told below
            troubles.append(trouble)

    searching = [threading.Thread(target=search) for _ in range(2)]
    for thread in searching:
        thread.start()
    try:
        for number in range(4):
            text = f"# The wombat {number}\n".encode()
            gone = library.index_document(f"{number}.md", text).document
            assert library.delete_document(gone.id, forget=True) == "deleted"
    finally:
        stop.set()
        for thread in searching:
            thread.join()
    assert troubles == []


def test_another_writer_is_waited_for(library: Library, root: Path) -> None:
    lock = write_lock(root / ".index")

    def finish() -> None:
        time.sleep(0.6)  # longer than a lock is tried for
        lock.release()

    # A lock of filelock is a thread's own: it is let go by the one that has it.
    uploading = threading.Thread(target=library.index_document, args=("plan.md", PLAN))
    uploading.start()
    finish()
    uploading.join()
    assert len(library.documents()) == 2


def test_nobody_waits_for_ever(library: Library, root: Path) -> None:
    lock = write_lock(root / ".index")
    try:
        with pytest.raises(LibraryBusy):
            patiently(library._home.write, seconds=0.1)
    finally:
        lock.release()
