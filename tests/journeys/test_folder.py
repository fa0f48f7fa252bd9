"""A folder is indexed, searched, changed and indexed again, as its owner would."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from model_service import Reply, Service, healthy, running_service
from pincite import Filters, IndexReport, Library, ModelAccess, SearchSettings, open_library
from pincite.engine import INDEX_FOLDER
from pincite.entrypoints.render import asides_as_text
from pincite.errors import (
    FolderMissing,
    IndexMissing,
    LibraryBusy,
    ModelMismatch,
    ModelUnavailable,
    NothingToIndex,
    PinciteError,
    SettingsError,
    StoreDamaged,
)
from pincite.records import DocumentEntry, Progress
from pincite.settings import INGESTION_VERSION
from pincite.stores.sqlite import tables
from pincite.stores.sqlite.connection import connect
from pincite.stores.sqlite.opening import open_for_writing
from pincite.stores.sqlite.reader import DATABASE_NAME

PUMPS = """\
---
tags: [water]
---
# Pumps

The pump in the cellar is from 1984.

## Seals

The seal leaks when it is cold.
Error ERR-4042 means that the seal is worn.

## Service

1. Close the valve.
2. Change the filter.
"""
VALVES = "# Valves\r\n\r\nThe valve sticks in winter.\r\n\r\n| part |\r\n| --- |\r\n| stem |\r\n"
TOKYO = "# 東京\n\n東京都の水道は古い。修理が必要です。\n"
NOTES = "Call the plumber on Monday.\n\nHe knows the boiler.\n"
FILES = {"pumps.md": PUMPS, "deep/er/valves.md": VALVES, "東京.md": TOKYO, "notes.txt": NOTES}


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    return folder


def index(folder: Path, **how: str) -> IndexReport:
    """Build or update, always without a model."""
    with open_library(folder) as library:
        return library.index(**{"model": "hashing", "name": "mine", **how})  # type: ignore[arg-type]


def update(folder: Path) -> IndexReport:
    with open_library(folder) as library:
        return library.index()


def using(folder: Path, service: Service) -> Library:
    folder.mkdir(exist_ok=True)
    return open_library(folder, models=ModelAccess(base_url=service.url))


def documents(folder: Path) -> list[DocumentEntry]:
    with open_library(folder) as library:
        return library.documents()


def rows(folder: Path) -> dict[str, object]:
    """Every document's rows by id, without the time it was indexed at."""
    found: dict[str, object] = {}
    entries = documents(folder)
    connection = connect(folder / ".index" / "index.db", writable=False)
    for entry in entries:
        read = tables.read(connection, entry.id)
        assert read is not None
        *columns, _time, recipe = read.document
        found[entry.id] = (columns, recipe, read.chunks)
    connection.close()
    return found


def without_recipe(rows: dict[str, object]) -> dict[str, object]:
    return {name: (row[0], row[2]) for name, row in rows.items() if isinstance(row, tuple)}


def log_size(folder: Path) -> int:
    return (folder / ".index" / "chunks.jsonl").stat().st_size


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    built = write(tmp_path / "library", FILES)
    index(built)
    return built


# Building and searching


def test_a_folder_is_built_and_every_file_counted(tmp_path: Path) -> None:
    write(tmp_path, {**FILES, "photo.jpg": "x", "empty.md": ""})
    report = index(tmp_path)
    assert (report.added, report.written, report.failures) == (4, 4, ())
    assert report.unsupported == {".jpg": 1}
    assert [(one.path, one.reason) for one in report.skipped] == [("empty.md", "is empty")]
    assert report.chunks == report.embedded == 4
    assert [entry.path for entry in documents(tmp_path)] == sorted(FILES)


@pytest.mark.parametrize(
    ("question", "path", "quote"),
    [
        ("why does the seal leak?", "pumps.md", "The seal leaks when it is cold."),
        ("ERR-4042", "pumps.md", "Error ERR-4042 means that the seal is worn."),
        ("stuck valve, sticks in winter", "deep/er/valves.md", "The valve sticks in winter."),
        ("水道", "東京.md", "東京都の水道は古い。"),
        ("plumber", "notes.txt", "Call the plumber on Monday."),
    ],
)
def test_what_is_found_is_cited_to_the_line(
    folder: Path, question: str, path: str, quote: str
) -> None:
    with open_library(folder) as library:
        best = library.search(question).results[0]
        place = library.show(best.chunk.id, around=0)
    assert (best.document.path, best.quote.text) == (path, quote)
    text = FILES[path]
    assert text[best.quote.start : best.quote.end] == quote
    assert text[best.chunk.start : best.chunk.end] == best.chunk.text
    lines = text.splitlines()
    first, last = best.quote.locator.line_start, best.quote.locator.line_end
    assert quote in "\n".join(lines[first - 1 : last])
    assert place.lines == tuple(lines[place.locator.line_start - 1 : place.locator.line_end])
    assert place.locator == best.chunk.locator


def test_every_citation_of_every_result_shows_the_lines_of_the_file(folder: Path) -> None:
    with open_library(folder) as library:
        for result in library.search("the seal of the pump, the valve, 東京").results:
            lines = FILES[result.document.path].splitlines()
            first, last = result.quote.locator.line_start, result.quote.locator.line_end
            place = library.show(f"{result.document.path}:{first}-{last}", around=0)
            assert place.lines == tuple(lines[first - 1 : last])


def test_filters_and_settings_reach_the_search(folder: Path) -> None:
    with open_library(folder) as library:
        tagged = library.search("valve", filters=Filters(tags=("water",)))
        assert {result.document.path for result in tagged.results} == {"pumps.md"}
        one = library.search("valve", settings=SearchSettings(top_k=1))
        assert len(one.results) == 1
        assert library.search("valve", filters=Filters(types=())).reason == "filtered_out"
        assert library.search(" ").reason == "empty_question"
        assert library.search("turbine", mode="words").reason == "no_hits"
        assert library.search("turbine", mode="vector").reason == "too_far"
        anything = SearchSettings(similarity_floor=-1)
        assert len(library.search("turbine", mode="vector", settings=anything).results) == 4


@pytest.mark.parametrize("top_k", [0, -1, 1_001])
def test_a_number_of_results_that_makes_no_sense_is_refused(folder: Path, top_k: int) -> None:
    with open_library(folder) as library, pytest.raises(SettingsError, match="top-k"):
        library.search("pump", settings=SearchSettings(top_k=top_k))


# Updating


def test_an_update_equals_a_fresh_build_row_for_row(folder: Path, tmp_path: Path) -> None:
    after = {
        "pumps.md": PUMPS.replace("1984", "1985"),  # changed
        "elsewhere/valves.md": VALVES,  # moved
        "twin.md": PUMPS.replace("1984", "1985"),  # copied
        "new.md": "# New\n\nThe boiler hums.",  # added; notes.txt and 東京.md are deleted
    }
    for path in FILES:
        (folder / path).unlink()
    write(folder, after)
    report = update(folder)
    assert (report.changed, report.moved, report.added, report.deleted) == (1, 1, 2, 2)
    fresh = write(tmp_path / "fresh", after)
    index(fresh)
    assert rows(folder) == rows(fresh)
    with open_library(folder) as library:
        assert library.verify() == []


def test_an_update_of_an_unchanged_folder_embeds_and_writes_nothing(folder: Path) -> None:
    before = (log_size(folder), rows(folder))
    report = update(folder)
    assert (report.unchanged, report.written, report.embedded) == (4, 0, 0)
    assert (log_size(folder), rows(folder)) == before


def test_a_touched_file_is_unchanged(folder: Path) -> None:
    (folder / "pumps.md").touch()
    assert update(folder).unchanged == 4


def test_a_moved_file_is_not_embedded_again(folder: Path) -> None:
    (folder / "new place").mkdir()
    (folder / "pumps.md").rename(folder / "new place" / "water.md")
    report = update(folder)
    assert (report.moved, report.deleted, report.unchanged) == (1, 0, 3)
    assert report.embedded == 0
    with open_library(folder) as library:
        assert library.search("ERR-4042").results[0].document.path == "new place/water.md"


def test_files_with_the_same_content_are_embedded_once(tmp_path: Path) -> None:
    write(tmp_path, {f"{number}.md": PUMPS for number in range(5)})
    report = index(tmp_path)
    assert (report.added, report.chunks, report.embedded) == (5, 5, 1)


def test_the_text_of_a_file_that_is_gone_is_a_line_in_the_report(folder: Path) -> None:
    write(folder, {".converted/scans/letter.pdf.md": "# Letter\n\nDear Sir.\n"})
    (left_out,) = update(folder).skipped
    assert left_out.path == ".converted/scans/letter.pdf.md"
    assert left_out.reason == "is the text of scans/letter.pdf, which is gone"


def test_an_index_of_an_older_version_says_first_what_is_done_again(folder: Path) -> None:
    told: list[Progress] = []
    with open_library(folder) as library:
        library.index(on_progress=told.append)
    assert told == []
    connection = connect(folder / ".index" / "index.db", writable=True)
    connection.execute(
        f"UPDATE document SET recipe = replace(recipe, '/{INGESTION_VERSION}/', '/1/')"
    )
    connection.close()
    with open_library(folder) as library:
        report = library.index(on_progress=told.append)
    assert "It reads 4 documents again" in told[0].note
    assert "seconds if that is everything" in told[0].note
    assert not any(progress.note for progress in told[1:])
    assert (report.recut, report.embedded) == (4, 0)


def test_only_the_changed_file_is_embedded(folder: Path) -> None:
    write(folder, {"notes.txt": "The boiler was mended.\n"})
    report = update(folder)
    assert (report.changed, report.unchanged, report.embedded) == (1, 3, 1)
    with open_library(folder) as library:
        assert library.search("plumber", mode="words").results == ()
        assert library.search("mended", mode="words").results[0].document.path == "notes.txt"


def test_a_deleted_file_is_no_longer_found(folder: Path) -> None:
    (folder / "notes.txt").unlink()
    assert update(folder).deleted == 1
    with open_library(folder) as library:
        paths = {result.document.path for result in library.search("plumber boiler").results}
    assert "notes.txt" not in paths


def test_a_fresh_build_reads_and_embeds_everything_again(folder: Path) -> None:
    before = rows(folder)
    with open_library(folder) as library:
        report = library.index(fresh=True)
    assert (report.recut, report.embedded) == (4, 4)
    assert without_recipe(rows(folder)) == without_recipe(before)


def test_a_fresh_build_that_is_stopped_takes_nothing_away(folder: Path) -> None:
    def stop(progress: Progress) -> None:
        raise KeyboardInterrupt

    with open_library(folder) as library:
        with pytest.raises(KeyboardInterrupt):
            library.index(fresh=True, on_progress=stop)
        assert len(library.documents()) == 4
        assert not library.search("valve").complete
        report = library.index()
        assert (report.recut, report.unchanged) == (3, 1)
        assert library.search("valve").complete


def test_a_search_while_a_build_runs_tells_what_can_be_searched_so_far(folder: Path) -> None:
    told: list[tuple[int | None, list[str]]] = []

    def look(progress: Progress) -> None:
        with open_library(folder) as other:
            asides = other.search("valve").asides
        told.append((asides.so_far, list(asides_as_text(asides))))

    with open_library(folder) as library:
        library.index(fresh=True, on_progress=look)
        assert told == [(4, ["The index is being built: 4 documents can be searched so far."])] * 4
        assert library.search("valve").so_far is None


def test_a_build_that_was_stopped_is_not_under_way(folder: Path) -> None:
    def stop(progress: Progress) -> None:
        raise KeyboardInterrupt

    with open_library(folder) as library:
        with pytest.raises(KeyboardInterrupt):
            library.index(fresh=True, on_progress=stop)
        asides = library.search("valve").asides
    assert asides.so_far is None
    (line,) = asides_as_text(asides)
    assert line == "The index is not complete; run `pincite index update` to finish it."


def test_a_model_that_does_not_work_takes_nothing_away(folder: Path) -> None:
    with (
        running_service() as service,
        open_library(folder, models=ModelAccess(base_url=service.url)) as library,
    ):
        service.plays(Reply({"error": "no"}, status=401))
        with pytest.raises(ModelUnavailable):
            library.index(model="openai:none?dimensions=8")
        assert len(library.documents()) == 4
        assert library.search("valve").results


def test_of_a_file_whose_text_a_service_refuses_the_rest_is_whole_and_the_index_moves_on(
    tmp_path: Path,
) -> None:
    parts = ["pump", "valve", "boiler", "cursed seal", "stem", "filter"]
    sections = [f"## The {part}\n\n{f'It is a {part}. ' * 50}\n" for part in parts]
    root = write(tmp_path / "notes", {"big.md": "# Seals\n\n" + "\n".join(sections)})

    def refusing(texts: list[str]) -> Reply:
        is_refused = any("cursed" in text for text in texts)
        return Reply({"error": "unsafe"}, status=400) if is_refused else healthy(texts)

    with running_service() as service, using(root, service) as library:
        service.plays(refusing)
        report = library.index(model="openai:m?dimensions=3")
        (lacking,) = report.lacking
        assert (report.added, report.failures, len(lacking.chunk_ids)) == (1, (), 1)
        stats = library.stats().store
        assert (stats.lacking, stats.vectors) == (1, stats.chunks - 1)
        service.plays(healthy)
        (best, *_) = library.search("cursed seal").results
        assert best.chunk.id == lacking.chunk_ids[0]
        assert library.verify() == []
        library.export_to(tmp_path / "notes.pincite")
        (root / INDEX_FOLDER / DATABASE_NAME).unlink()  # the log tells it all again
    with running_service() as service, using(root, service) as library:
        assert (library.verify(), library.stats().store.lacking) == ([], 1)
        report = library.index()
        assert (report.retried, report.embedded, report.lacking) == (1, 1, ())
        assert library.stats().store.lacking == 0
        assert sum(len(one["input"]) for one in service.requests) == 1
    with using(tmp_path / "elsewhere", service) as moved:
        moved.import_from(tmp_path / "notes.pincite")
        assert moved.stats().store.lacking == 1
        assert moved.verify() == []


def test_a_file_that_was_blanked_is_forgotten_and_is_no_failure(folder: Path) -> None:
    (folder / "notes.txt").write_text(" \n")
    with open_library(folder) as library:
        report = library.index()
        assert (report.failures, [one.path for one in report.skipped]) == ((), ["notes.txt"])
        assert "notes.txt" not in {entry.path for entry in library.documents()}


def test_the_size_limit_of_a_build_holds_for_its_updates(folder: Path) -> None:
    (folder / "small.md").write_text("# Small\n\nA zebra.\n")
    (folder / "large.md").write_text("# Large\n\n" + "A long zebra came by. " * 200)
    with open_library(folder) as library:
        first = library.index(max_file_bytes=2_000)
        assert [one.path for one in first.skipped] == ["large.md"]
        assert [one.path for one in library.index().skipped] == ["large.md"]
        assert library.index(max_file_bytes=10_000).added == 1
        assert library.index().unchanged == 6


def test_a_moved_folder_is_stored_as_it_goes(tmp_path: Path) -> None:
    for number in range(150):
        (tmp_path / f"{number:03}.md").write_text(f"# Note {number}\n\nAbout pump {number}.\n")
    with open_library(tmp_path) as library:
        library.index(model="hashing")
        (tmp_path / "moved").mkdir()
        for file in tmp_path.glob("*.md"):
            file.rename(tmp_path / "moved" / file.name)
        report = library.index()
        assert (report.moved, report.embedded) == (150, 0)

        def stop(progress: Progress) -> None:
            if progress.documents_done == 10:
                raise KeyboardInterrupt

        (tmp_path / "moved").rename(tmp_path / "again")
        with pytest.raises(KeyboardInterrupt):
            library.index(on_progress=stop)
        assert sum(entry.path.startswith("again/") for entry in library.documents()) == 10


def test_a_long_document_does_not_crowd_out_the_others_where_there_is_a_limit(
    tmp_path: Path,
) -> None:
    sections = "\n\n".join(f"## Part {n}\n\nThe pump of part {n} leaks." for n in range(150))
    (tmp_path / "long.md").write_text(f"# Pumps\n\n{sections}\n")
    for number in range(12):
        (tmp_path / f"{number}.md").write_text(f"# Other {number}\n\nA pump, once, in {number}.\n")
    with open_library(tmp_path) as library:
        library.index(model="hashing", policy="wiki")
        limited = SearchSettings(per_document=3)
        found = library.search("pump leaks part", mode="words", settings=limited).results
        usual = library.search("pump leaks part", mode="words").results
    assert len(found) == 10
    assert sum(result.document.path == "long.md" for result in found) == 3
    # The document is what the question is about: nothing of it is held back.
    assert {result.document.path for result in usual} == {"long.md"}


def test_a_chunk_with_the_very_code_comes_before_near_misses(tmp_path: Path) -> None:
    for code in ("4042", "4024", "4107", "4170", "5013"):
        (tmp_path / f"{code}.md").write_text(
            f"# Error {code}\n\nThe code ERR-{code} means that a clock is wrong.\n"
        )
    with open_library(tmp_path) as library:
        library.index(model="hashing")
        first = library.search("ERR-4024").results[0]
    assert first.document.path == "4024.md"
    assert first.hit.shares["codes"].rank == 1


# Identity


def test_two_builds_of_one_folder_give_the_same_ids(folder: Path) -> None:
    before = rows(folder)
    shutil.rmtree(folder / ".index")
    index(folder)
    assert rows(folder) == before


def test_the_folder_s_own_name_does_not_matter_if_the_library_has_one(tmp_path: Path) -> None:
    here, there = write(tmp_path / "here", FILES), write(tmp_path / "there", FILES)
    index(here)
    index(there)
    assert rows(here) == rows(there)


def test_a_library_carried_elsewhere_keeps_its_ids(folder: Path, tmp_path: Path) -> None:
    before = rows(folder)
    carried = folder.rename(tmp_path / "carried away")
    assert update(carried).unchanged == 4
    assert rows(carried) == before


def test_another_library_name_gives_other_ids(folder: Path) -> None:
    before = rows(folder)
    report = index(folder, name="other")
    assert (report.added, report.deleted) == (4, 0)
    assert rows(folder).keys().isdisjoint(before)


# Policy and model


def test_another_policy_cuts_every_file_again(folder: Path, tmp_path: Path) -> None:
    report = index(folder, policy="wiki")
    assert (report.recut, report.unchanged) == (4, 0)
    with open_library(folder) as library:
        assert library.stats().header.policy == "wiki"
    assert update(folder).unchanged == 4
    fresh = write(tmp_path / "fresh", FILES)
    index(fresh, policy="wiki")
    assert rows(folder) == rows(fresh)


def test_an_unknown_policy_or_model_is_refused_and_nothing_changes(folder: Path) -> None:
    before = (log_size(folder), rows(folder))
    with pytest.raises(SettingsError, match="unknown chunk policy"):
        index(folder, policy="nonsense")
    with pytest.raises(SettingsError, match="unknown model"):
        index(folder, model="nonsense")
    assert (log_size(folder), rows(folder)) == before


@pytest.fixture
def filled_by_another(folder: Path) -> Path:
    """A library whose vectors come from an older hashing embedder."""
    store = open_for_writing(folder / ".index")
    header = store.header()
    assert header is not None
    (entry, *_) = store.documents()
    document = store.load_document(entry.id)
    assert document is not None
    store.begin(replace(header, model=replace(header.model, fingerprint="hashing:0:256")))
    store.close()
    return folder


def test_an_index_of_another_model_is_neither_searched_nor_updated(
    filled_by_another: Path,
) -> None:
    with open_library(filled_by_another) as library:
        with pytest.raises(ModelMismatch, match="model_mismatch"):
            library.search("pump")
        with pytest.raises(ModelMismatch, match="pincite reindex --model"):
            library.index()
        assert library.search("pump", mode="words").results == ()


def test_naming_the_model_builds_the_index_anew(filled_by_another: Path) -> None:
    report = index(filled_by_another)
    assert (report.added, report.embedded) == (4, 4)
    with open_library(filled_by_another) as library:
        assert library.search("seal").results[0].document.path == "pumps.md"


# Folders and files that are not as hoped


def test_an_empty_folder_gets_no_index(tmp_path: Path) -> None:
    write(tmp_path, {"photo.jpg": "x"})
    with pytest.raises(NothingToIndex, match=r"files of other kinds: 1 \.jpg"):
        index(tmp_path)
    assert not (tmp_path / ".index").exists()


def test_a_folder_that_became_empty_keeps_its_documents(folder: Path) -> None:
    for path in FILES:
        (folder / path).unlink()
    with pytest.raises(NothingToIndex, match="4 documents; they are kept"):
        update(folder)
    with open_library(folder) as library:
        assert len(library.documents()) == 4
        assert library.search("seal").results[0].document.path == "pumps.md"


def test_a_folder_that_became_empty_is_emptied_on_demand(folder: Path) -> None:
    for path in FILES:
        (folder / path).unlink()
    with open_library(folder) as library:
        library.index(fresh=True)
        assert library.documents() == []


def test_a_folder_that_is_not_there_or_has_no_index_is_told(tmp_path: Path) -> None:
    with pytest.raises(FolderMissing, match="does not exist"):
        open_library(tmp_path / "missing")
    (tmp_path / "file").write_text("x")
    with pytest.raises(FolderMissing, match="is not a folder"):
        open_library(tmp_path / "file")
    with open_library(tmp_path) as library, pytest.raises(IndexMissing, match="no index yet"):
        library.search("pump")


def test_a_file_that_became_unreadable_keeps_its_old_version(folder: Path) -> None:
    before = rows(folder)
    (folder / "pumps.md").write_bytes(b"\x00\x01\x02\xff" * 100)
    report = update(folder)
    assert [failure.path for failure in report.failures] == ["pumps.md"]
    assert (report.unchanged, report.deleted, report.changed) == (3, 0, 0)
    assert rows(folder) == before


def test_a_new_file_that_cannot_be_read_is_a_line_in_the_report(folder: Path) -> None:
    (folder / "broken.md").write_bytes(b"\x00\x01\x02\xff" * 100)
    write(folder, {"z.md": "# Last\n\nThe very last one."})
    report = update(folder)
    assert [failure.path for failure in report.failures] == ["broken.md"]
    assert report.added == 1


# Citations outlive what they cite


def test_a_citation_of_an_old_version_still_shows_its_words(folder: Path) -> None:
    with open_library(folder) as library:
        old = library.search("ERR-4042").results[0]
        assert not library.show(old.chunk.id).superseded
    write(folder, {"pumps.md": "# Pumps\n\nAll pumps were sold.\n"})
    update(folder)
    with open_library(folder) as library:
        place = library.show(old.chunk.id, around=0)
        assert place.superseded
        assert "Error ERR-4042 means that the seal is worn." in place.lines
        assert library.show("pumps.md:3", around=0).lines == ("All pumps were sold.",)


def test_a_citation_of_a_deleted_file_still_shows_its_words(folder: Path) -> None:
    with open_library(folder) as library:
        old = library.search("plumber").results[0]
    (folder / "notes.txt").unlink()
    update(folder)
    with open_library(folder) as library:
        place = library.show(old.chunk.id[:12], around=0)
        assert place.superseded
        assert place.lines[0] == "Call the plumber on Monday."
        assert place.document.path == "notes.txt"


# What is lost on disk comes back


def delete_database(folder: Path) -> None:
    for file in (folder / ".index").glob("index.db*"):
        file.unlink()


def test_a_deleted_database_is_rebuilt_from_the_log_without_embedding(folder: Path) -> None:
    before = rows(folder)
    delete_database(folder)
    report = update(folder)
    assert (report.unchanged, report.embedded) == (4, 0)
    assert rows(folder) == before


def test_a_search_rebuilds_a_deleted_database_by_itself(folder: Path) -> None:
    before = rows(folder)
    delete_database(folder)
    with open_library(folder) as library:
        assert library.search("seal").results[0].document.path == "pumps.md"
    assert rows(folder) == before


def test_a_database_rebuilt_after_many_changes_is_the_same(folder: Path) -> None:
    write(folder, {"pumps.md": "# Pumps\n\nAll pumps were sold.\n"})
    (folder / "notes.txt").rename(folder / "moved.txt")
    (folder / "東京.md").unlink()
    update(folder)
    before = rows(folder)
    delete_database(folder)
    assert update(folder).unchanged == 3
    assert rows(folder) == before


def test_a_deleted_log_is_written_anew_from_the_database(folder: Path) -> None:
    before = rows(folder)
    (folder / ".index" / "chunks.jsonl").unlink()
    with open_library(folder) as library:
        assert library.search("seal").results[0].document.path == "pumps.md"
        with pytest.raises(StoreDamaged, match="verify --repair"):
            library.index()
    with open_library(folder) as library:
        assert library.verify(repair=True) != []
        assert library.verify() == []
    report = update(folder)
    assert (report.unchanged, report.embedded) == (4, 0)
    assert rows(folder) == before


def test_a_torn_last_line_of_the_log_is_cut_off(folder: Path) -> None:
    before = (log_size(folder), rows(folder))
    log = folder / ".index" / "chunks.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    with log.open("ab") as file:
        file.write(lines[-1][: len(lines[-1]) // 2])
    report = update(folder)
    assert (report.unchanged, report.embedded) == (4, 0)
    assert (log_size(folder), rows(folder)) == before


def test_a_log_line_the_database_never_heard_of_is_taken_over(folder: Path) -> None:
    before = rows(folder)
    behind = (folder / ".index" / "index.db").read_bytes()
    write(folder, {"pumps.md": "# Pumps\n\nAll pumps were sold.\n"})
    update(folder)
    after = rows(folder)
    delete_database(folder)
    (folder / ".index" / "index.db").write_bytes(behind)
    with open_library(folder) as library:
        assert library.search("sold", mode="words").results[0].document.path == "pumps.md"
    assert rows(folder) == after != before


def test_following_a_folder_outlives_passing_troubles(folder: Path) -> None:
    stop = threading.Event()
    troubles: list[PinciteError] = []

    def give_way(trouble: PinciteError) -> None:
        troubles.append(trouble)
        busy.close()

    busy = open_for_writing(folder / ".index")
    with open_library(folder) as library:
        reports = library.watch(stop, on_trouble=give_way)
        assert next(reports).unchanged == 4
        stop.set()
    assert [type(trouble) for trouble in troubles] == [LibraryBusy]


def test_following_a_folder_outlives_a_bad_save_and_a_folder_that_is_away(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pincite.engine.library._SECONDS_BETWEEN_TRIES", 0.1)
    stop = threading.Event()
    told: list[PinciteError] = []
    labels = folder / "pincite-labels.json"
    away = folder.with_name("away")
    with open_library(folder) as library:
        reports = library.watch(stop, on_trouble=told.append)
        assert next(reports).unchanged == 4
        labels.write_text("{")
        threading.Timer(1.5, labels.unlink).start()
        assert next(reports).unchanged == 4  # as soon as it has passed
        assert [type(one) for one in told] == [SettingsError]
        folder.rename(away)
        (away / "later.md").write_text("# Later\n\nA zebra.\n")
        threading.Timer(1.5, away.rename, [folder]).start()
        assert next(reports).added == 1
        assert [type(one) for one in told] == [SettingsError, FolderMissing]
        (folder / "last.md").write_text("# Last\n\nA giraffe.\n")
        assert next(reports).added == 1
        stop.set()


def test_a_mended_log_that_a_killed_repair_left_never_replaces_a_newer_one(folder: Path) -> None:
    index_folder = folder / ".index"
    shutil.copy(index_folder / "chunks.jsonl", index_folder / "chunks.jsonl.mended")
    (folder / "later.md").write_text("# Later\n\nA zebra.\n")
    index(folder)
    (index_folder / "index.db").unlink()
    with open_library(folder) as library:
        assert library.search("zebra", mode="words").results


def test_labels_are_followed_by_an_update_without_embedding_again(tmp_path: Path) -> None:
    (tmp_path / "lease.txt").write_text("The lease ends in June.\n")
    labels = tmp_path / "pincite-labels.json"
    with open_library(tmp_path) as library:
        library.index(model="hashing")
        assert library.search("lease", filters=Filters(projects=("lease",))).results == ()
        labels.write_text('{"version": 1, "labels": [{"files": "*.txt", "project": "Lease"}]}')
        report = library.index()
        assert (report.recut, report.embedded) == (1, 0)
        assert library.search("lease", filters=Filters(projects=("lease",))).results
        labels.write_text("{")
        with pytest.raises(SettingsError, match="pincite-labels"):
            library.index()
        labels.unlink()
        library.index()
        assert library.search("lease", filters=Filters(projects=("lease",))).results == ()


def test_a_folder_whose_only_file_is_too_large_is_told_what_to_do(tmp_path: Path) -> None:
    large = write(tmp_path, {"pumps.md": PUMPS})
    with open_library(large) as library:
        with pytest.raises(NothingToIndex) as refused:
            library.index(model="hashing", max_file_bytes=100)
        told = str(refused.value)
        assert "pumps.md is larger than 0.0001 MB; --max-file-size raises the limit" in told
        assert "right folder" not in told
        library.index(model="hashing")
        with pytest.raises(NothingToIndex, match=r"--max-file-size.*1 documents; they are kept"):
            library.index(max_file_bytes=100)
