"""A library moves: exported, imported, backed up, restored; nothing is embedded again."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from pincite import EvalWishes, Library, open_library
from pincite.errors import CitationNotFound, IndexExists, LibraryBusy, NothingToIndex, StoreDamaged
from pincite.evals.cases import parse_cases
from pincite.records import Case, SearchResults
from pincite.stores.sqlite.connection import connect
from pincite.stores.sqlite.opening import open_for_writing

QUESTIONS = ("when does the lease end?", "ERR-4042", "who leaks?", "seal", "PSV")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "work").mkdir(parents=True)
    (folder / "lease.md").write_text(
        "# The lease\n\n## Term\n\nThe lease ends on 30 June.\n\n## Errors\n\nERR-4042 again.\n"
    )
    (folder / "work" / "pumps.txt").write_text("The north pump leaks at the seal.\n")
    (folder / "work" / "rows.csv").write_text("part,count\nseal,3\nvalve,4\n")
    (folder / "pincite-glossary.txt").write_text("PSV: safety valve\n")
    (folder / "pincite-eval.jsonl").write_text(
        json.dumps({"question": "when does the lease end?", "documents": ["lease.md"]}) + "\n"
    )
    with open_library(folder) as library:
        library.index(model="hashing")
    return folder


@pytest.fixture
def archive(notes: Path, tmp_path: Path) -> Path:
    with open_library(notes) as library:
        library.export_to(tmp_path / "notes.pincite")
    return tmp_path / "notes.pincite"


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return folder


def cases_in(file: Path) -> tuple[Case, ...]:
    return parse_cases(file.read_text(), name=file.name)


def found(library: Library) -> list[list[tuple[str, str, float]]]:
    def told(results: SearchResults) -> list[tuple[str, str, float]]:
        return [
            (one.document.path, one.quote.text, one.hit.probability or 0) for one in results.results
        ]

    return [told(library.search(question)) for question in QUESTIONS]


def test_an_imported_library_gives_the_same_results(
    notes: Path, archive: Path, elsewhere: Path
) -> None:
    with open_library(elsewhere) as library:
        report = library.import_from(archive)
        assert (report.documents, report.vectors) == (3, 3)
        assert library.verify() == []
        moved = found(library)
    with open_library(notes) as library:
        assert moved == found(library)
        assert any(moved)


def test_beside_the_same_files_an_update_embeds_nothing(
    notes: Path, archive: Path, tmp_path: Path
) -> None:
    copied = tmp_path / "copied"
    shutil.copytree(notes, copied, ignore=shutil.ignore_patterns(".index"))
    with open_library(copied) as library:
        assert not library.import_from(archive).apart
        report = library.index()
        assert (report.unchanged, report.written, report.embedded) == (3, 0, 0)
        (copied / "lease.md").write_text("# Another lease\n\nIt ends in May.\n")
        assert library.search("lease").changed == ("lease.md",)


def test_without_the_files_a_library_is_searched_shown_and_not_called_changed(
    archive: Path, elsewhere: Path
) -> None:
    with open_library(elsewhere) as library:
        assert library.import_from(archive).apart
        results = library.search("when does the lease end?")
        assert results.results[0].document.path == "lease.md"
        assert results.changed == ()
        assert results.complete
        place = library.show("lease.md:5")
        assert not place.changed
        assert "The lease ends on 30 June." in place.lines
        assert {one.state for one in library.catalog()} == {"missing"}


def test_without_the_files_an_update_forgets_nothing_even_if_others_come(
    archive: Path, elsewhere: Path
) -> None:
    with open_library(elsewhere) as library:
        library.import_from(archive)
        with pytest.raises(NothingToIndex, match="are kept"):
            library.index()
        (elsewhere / "new.md").write_text("# New\n\nSomething else.\n")
        with pytest.raises(NothingToIndex, match="imported without their files"):
            library.index()
        assert len(library.documents()) == 3


def test_once_the_files_are_there_the_index_follows_them_again(
    notes: Path, archive: Path, elsewhere: Path
) -> None:
    with open_library(elsewhere) as library:
        library.import_from(archive)
        (elsewhere / "lease.md").write_bytes((notes / "lease.md").read_bytes())
        report = library.index()
        assert (report.unchanged, report.deleted, report.embedded) == (1, 2, 0)
        (elsewhere / "lease.md").unlink()
        assert library.search("lease").changed == ("lease.md",)


def test_what_is_kept_with_a_library_comes_along(
    notes: Path, tmp_path: Path, elsewhere: Path
) -> None:
    with open_library(notes) as library:
        cases = cases_in(notes / "pincite-eval.jsonl")
        run = library.evaluation.run(cases, EvalWishes(label="before"))
        library.export_to(tmp_path / "x.pincite")
    (elsewhere / "pincite-glossary.txt").write_text("PSV: other words\n")
    with open_library(elsewhere) as library:
        report = library.import_from(tmp_path / "x.pincite")
        assert library.evaluation.runs.load("before") == run
    assert set(report.files) == {"pincite-eval.jsonl", "pincite-glossary.txt"}
    assert report.kept == ("pincite-glossary.txt",)
    assert (elsewhere / "pincite-glossary.txt").read_text() == "PSV: other words\n"
    assert cases_in(elsewhere / "pincite-eval.jsonl") == cases


def test_a_backup_keeps_every_citation_and_an_export_does_not(
    notes: Path, tmp_path: Path, elsewhere: Path
) -> None:
    with open_library(notes) as library:
        cited = library.search("when does the lease end?").results[0].chunk.id
        (notes / "lease.md").write_text("# The lease\n\nIt was cancelled.\n")
        library.index()
        library.export_to(tmp_path / "export.pincite")
        assert library.export_to(tmp_path / "backup.pincite", history=True).past == 1
    with open_library(elsewhere) as library:
        library.import_from(tmp_path / "export.pincite")
        with pytest.raises(CitationNotFound):
            library.show(cited)
        library.import_from(tmp_path / "backup.pincite", replace=True)
        place = library.show(cited)
        assert place.superseded
        assert any("30 June" in line for line in place.lines)
        assert library.verify() == []
        # A backup of what was restored has the same past.
        library.export_to(tmp_path / "again.pincite", history=True)
    again, first = (tmp_path / f"{name}.pincite" for name in ("again", "backup"))
    assert again.read_bytes() == first.read_bytes()


def test_a_damaged_library_is_restored_from_its_backup(notes: Path, archive: Path) -> None:
    with open_library(notes) as library:
        before = found(library)
    (notes / ".index" / "index.db").write_bytes(b"not a database" * 1000)
    with open_library(notes) as library:
        with pytest.raises(StoreDamaged):
            library.import_from(archive)
        library.import_from(archive, replace=True)
        assert library.verify() == []
        assert found(library) == before


def test_replacing_keeps_runs_and_takes_the_index(
    notes: Path, archive: Path, elsewhere: Path
) -> None:
    (elsewhere / "mine.md").write_text("# Mine\n\nA zebra.\n")
    (elsewhere / "cases.jsonl").write_text('{"question": "zebra", "documents": ["mine.md"]}\n')
    with open_library(elsewhere) as library, open_library(elsewhere) as another:
        library.index(model="hashing")
        cases = cases_in(elsewhere / "cases.jsonl")
        run = library.evaluation.run(cases, EvalWishes(label="mine"))
        assert another.search("zebra", mode="words").results
        with pytest.raises(IndexExists):
            library.import_from(archive)
        library.import_from(archive, replace=True)
        assert [one.path for one in library.documents()] == [
            *("lease.md", "work/pumps.txt", "work/rows.csv")
        ]
        assert not library.search("zebra", mode="words").results
        assert library.evaluation.runs.load("mine") == run
        assert library.verify() == []
        with open_library(notes) as original:
            assert found(library) == found(original)


def test_an_index_that_somebody_writes_to_is_not_replaced(
    archive: Path, notes: Path, tmp_path: Path
) -> None:
    writer = open_for_writing(notes / ".index")
    try:
        with open_library(notes) as library, pytest.raises(LibraryBusy):
            library.import_from(archive, replace=True)
    finally:
        writer.close()
    assert not (notes / ".index.part").exists()


def test_who_has_the_library_open_finds_what_was_imported(
    notes: Path, archive: Path, elsewhere: Path
) -> None:
    (elsewhere / "mine.md").write_text("# Mine\n\nA zebra.\n")
    with open_library(elsewhere) as library:
        library.index(model="hashing")
    with open_library(elsewhere) as reader, open_library(elsewhere) as library:
        assert reader.search("zebra", mode="words").results
        library.import_from(archive, replace=True)
        assert not reader.search("zebra", mode="words").results
        assert reader.search("lease", mode="words").results
        assert len(reader.documents()) == 3


def test_who_has_the_library_open_finds_what_was_repaired(notes: Path) -> None:
    database = notes / ".index" / "index.db"
    with closing(connect(database, writable=True)) as connection:
        connection.execute("DELETE FROM chunk_words")
    shutil.rmtree(notes / ".index" / "segments")
    with open_library(notes) as reader, open_library(notes) as library:
        assert not reader.search("lease", mode="words").results
        library.verify(repair=True)
        assert reader.search("lease", mode="words").results


def test_who_has_the_library_open_goes_on_while_it_is_repaired(notes: Path) -> None:
    database = notes / ".index" / "index.db"
    with open_library(notes) as reader:
        assert reader.search("lease", mode="words").results
        with closing(open_for_writing(notes / ".index")):
            database.unlink()  # as a repair does, before it makes another one
            assert reader.search("seal", mode="words").results
