"""Planted damage is found by `verify` and mended by `verify(repair=True)`."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import apsw
import pytest
import sqlite_vec
from fault_library import (
    INDEX_FOLDER,
    Rows,
    assert_same_rows,
    build,
    change_folder,
    disagreements,
    embedded,
    header,
    quick_folder,
    rows_of,
)

from pincite.engine import Library, open_library
from pincite.errors import PinciteError, StoreDamaged, StoreError, StoreTooNew
from pincite.records import Finding
from pincite.stores.lines import decode, encode
from pincite.stores.sqlite.connection import connect
from pincite.stores.sqlite.opening import open_for_writing
from pincite.stores.sqlite.reader import DATABASE_NAME, LOG_NAME
from soak import SEED, times

QUESTION = "valve7 signal9 boiler3"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with quick_folder(tmp_path) as folder:
        yield folder


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with a past: files were added, changed, moved and deleted."""
    root = tmp_path_factory.mktemp("healthy") / "library"
    root.mkdir()
    for step in range(3):
        change_folder(root, f"damage/{step}")
        build(root)
    return root


@dataclass(frozen=True)
class Index:
    """The files to damage."""

    root: Path

    @property
    def database(self) -> Path:
        return self.root / INDEX_FOLDER / DATABASE_NAME

    @property
    def log(self) -> Path:
        return self.root / INDEX_FOLDER / LOG_NAME

    def sql(self, *statements: str) -> None:
        connection = connect(self.database, writable=True)
        try:
            connection.execute("PRAGMA foreign_keys = OFF")
            for statement in statements:
                connection.execute(statement).fetchall()
        finally:
            connection.close()

    def lines(self) -> list[bytes]:
        return self.log.read_bytes().splitlines(keepends=True)

    def line_of(self, event: str, *, last: bool = False) -> int:
        lines = [n for n, line in enumerate(self.lines()) if f'"event":"{event}"'.encode() in line]
        return lines[-1 if last else 0]

    def living_line(self) -> int:
        """A line in the middle whose document the index still holds."""
        connection = connect(self.database, writable=True)
        held = {row[0] for row in connection.execute("SELECT id FROM document")}
        connection.close()
        living = []
        for number, line in enumerate(self.lines()):
            entry = decode(line)
            if entry and entry["event"] == "document" and entry["document"]["id"] in held:
                living.append(number)
        return living[len(living) // 2]

    def write_lines(self, lines: Sequence[bytes]) -> None:
        self.log.write_bytes(b"".join(lines))


@pytest.fixture
def index(healthy: Path, folder: Path) -> Index:
    root = folder / "library"
    shutil.copytree(healthy, root)
    return Index(root)


def found(root: Path) -> list[tuple[str, str]]:
    """What a search gives: place and words of each result."""
    with open_library(root) as library:
        results = library.search(QUESTION).results
    return [(result.document.path, result.chunk.text) for result in results]


def repaired(root: Path) -> list[Finding]:
    with open_library(root) as library:
        findings = library.verify(repair=True)
        assert library.verify() == []
    assert disagreements(root / INDEX_FOLDER) == []
    return findings


# Damage of the database that leaves it a database


def fourth(table: str) -> str:
    return f"(SELECT rowid FROM {table} ORDER BY rowid LIMIT 1 OFFSET 3)"


def vector(values: str) -> tuple[str, ...]:
    """Another vector for a window: vec0 takes it without a word."""
    return (
        f"DELETE FROM window_vector WHERE rowid = {fourth('window')}",
        f"INSERT INTO window_vector (rowid, embedding) VALUES ({fourth('window')}, {values})",
    )


NAN = "CAST(x'" + "0000c07f" * 256 + "' AS BLOB)"
ZERO = "zeroblob(1024)"
OTHER = "(SELECT embedding FROM window_vector ORDER BY rowid LIMIT 1)"

DEEP = "replace(hex(zeroblob(50000)), '0', '[')"  # more brackets than Python can follow
DAMAGED_ROWS: dict[str, tuple[str, ...]] = {
    "missing vector": (f"DELETE FROM window_vector WHERE rowid = {fourth('window')}",),
    "extra vector": (f"INSERT INTO window_vector (rowid, embedding) VALUES (99999, {OTHER})",),
    "the vector of another window": vector(OTHER),
    "NaN vector": vector(NAN),
    "zero vector": vector(ZERO),
    "changed vector bytes": (
        "UPDATE window_vector_vector_chunks00 SET vectors = "
        "CAST(substr(vectors, 1, 2050) || x'41' || substr(vectors, 2052) AS BLOB)",
    ),
    "no table of vectors": ("DROP TABLE window_vector",),
    "missing words": (f"DELETE FROM chunk_words WHERE rowid = {fourth('chunk')}",),
    "extra words": ("INSERT INTO chunk_words (rowid, text) VALUES (99999, 'valve')",),
    "changed words": (f"UPDATE chunk_words SET text = 'x' WHERE rowid = {fourth('chunk')}",),
    "words changed behind the index": (
        f"UPDATE chunk_words_content SET c0 = 'x' WHERE id = {fourth('chunk')}",
    ),
    "words missing behind the index": (
        f"DELETE FROM chunk_words_content WHERE id = {fourth('chunk')}",
    ),
    "words index emptied": ("DELETE FROM chunk_words_data WHERE id > 10",),
    "words index garbled": ("UPDATE chunk_words_data SET block = x'ff00ff' WHERE id > 10",),
    "orphan chunk": (f"UPDATE chunk SET document = 99999 WHERE rowid = {fourth('chunk')}",),
    "missing chunk": (f"DELETE FROM chunk WHERE rowid = {fourth('chunk')}",),
    "moved chunk": (f"UPDATE chunk SET start = start + 1 WHERE rowid = {fourth('chunk')}",),
    "missing window": (f"DELETE FROM window WHERE rowid = {fourth('window')}",),
    "orphan window": (f"UPDATE window SET chunk = 99999 WHERE rowid = {fourth('window')}",),
    "missing document": (f"DELETE FROM document WHERE rowid = {fourth('document')}",),
    "document of no file": (
        f"UPDATE document SET id = 'abc', path = 'abc.md' WHERE rowid = {fourth('document')}",
    ),
    "changed document text": (
        f"UPDATE document SET text = 'X' || text WHERE rowid = {fourth('document')}",
    ),
    "shorter document text": (f"UPDATE document SET text = '' WHERE rowid = {fourth('document')}",),
    "wrong checksum": (f"UPDATE document SET checksum = 'x' WHERE rowid = {fourth('document')}",),
    "metadata that is no JSON": ("UPDATE document SET metadata = '{'",),
    "metadata without bottom": (
        "UPDATE document SET metadata = replace(hex(zeroblob(50000)), '0', '[')",
    ),
    "places that are none": ("UPDATE chunk SET places = x'ff00ff'",),
    "metadata of another shape": ("UPDATE document SET metadata = '[1]'",),
    "metadata nested too deep": (f"UPDATE document SET metadata = {DEEP}",),
    "omissions nested too deep": (f"UPDATE chunk SET omissions = {DEEP}",),
    "header nested too deep": (f"UPDATE meta SET value = {DEEP} WHERE key = 'header'",),
    "text that is no UTF-8": ("UPDATE document SET text = CAST(x'ff80' AS TEXT)",),
    "headings that are no JSON": ("UPDATE chunk SET sections = 'x'",),
    "wrong model stamp": (
        "UPDATE meta SET value = replace(value, 'hashing:1', 'hashing:9') WHERE key = 'header'",
    ),
    "header that is no JSON": ("UPDATE meta SET value = '{' WHERE key = 'header'",),
    "header of another shape": ("UPDATE meta SET value = '{}' WHERE key = 'header'",),
    "no header": ("DELETE FROM meta WHERE key = 'header'",),
    "position that is no number": ("UPDATE meta SET value = 'x' WHERE key = 'log_position'",),
    "position too far": ("UPDATE meta SET value = '999999999' WHERE key = 'log_position'",),
    "position in the middle of a line": (
        "UPDATE meta SET value = CAST(value - 99 AS TEXT) WHERE key = 'log_position'",
    ),
    "no table of words": ("DROP TABLE chunk_words",),
    "no table of documents": ("DROP TABLE document",),
}


@pytest.mark.parametrize("damage", DAMAGED_ROWS)
def test_damaged_rows_are_found_and_mended(index: Index, damage: str) -> None:
    before, results = rows_of(index.root), found(index.root)
    index.sql(*DAMAGED_ROWS[damage])

    assert_only_our_errors(index.root)
    assert repaired(index.root) != []
    assert_same_rows(rows_of(index.root), before)
    assert found(index.root) == results
    assert_index_goes_on(index.root, before)


def test_a_text_that_the_disk_changed_is_not_quoted(index: Index) -> None:
    before, results = rows_of(index.root), found(index.root)
    path = results[0][0]
    index.sql(f"UPDATE document SET text = replace(text, 'a', 'e') WHERE path = '{path}'")

    with open_library(index.root) as library:
        for quoting in (
            lambda: library.search(QUESTION),
            lambda: library.show(f"{path}:1"),
            lambda: library.ask(QUESTION),
            lambda: library.export_to(index.root / "archive"),
        ):
            with pytest.raises(StoreDamaged, match="index verify --repair"):
                quoting()
    assert f"{path}: the text is not what was stored" in {
        finding.problem for finding in repaired(index.root)
    }
    assert_same_rows(rows_of(index.root), before)
    assert found(index.root) == results


@pytest.mark.parametrize("start", [0, 1, 4_095, 4_096, 9_000, 12_287])
@pytest.mark.parametrize("length", [0, 1, 4_096, 9_000])
def test_any_slice_of_a_text_is_checked(folder: Path, start: int, length: int) -> None:
    text = "# Straße\n\n" + "".join(f"Ventil {number} 🔧 schließt.\n" for number in range(560))
    with closing(open_for_writing(folder / INDEX_FOLDER)) as store:
        store.begin(header())
        store.replace_document(document := embedded("note.md", text[:12_288]))
        stored = document.document
        slice_of = partial(store.text_of, stored.id, start, start + length)

        assert slice_of() == stored.text[start : start + length]
        for place in (start, start + length - 1):
            Index(folder).sql(
                f"UPDATE document SET text = substr(text, 1, {place}) || '@' || "
                f"substr(text, {place} + 2)"
            )
            if length:
                with pytest.raises(StoreDamaged, match="index verify --repair"):
                    slice_of()


SEARCHER = """
import os, sys
from pathlib import Path
from pincite.engine import open_library
from pincite.settings import SearchSettings
root, size = Path(sys.argv[1]), int(sys.argv[2])
with open_library(root) as library:
    def found(question, top_k):
        results = library.search(question, settings=SearchSettings(top_k=top_k)).results
        return [(result.chunk.id, result.quote.text) for result in results]
    before = found("valve7 signal9 boiler3", 6)
    for segment in root.glob(".index/segments/*.segment"):
        os.truncate(segment, min(size, segment.stat().st_size - 1))
    # With another limit, as what was found once is remembered.
    assert found("valve7 signal9 boiler3", 5) == before[:5]
    assert [finding.part for finding in library.verify()] == ["segments"] * 2
    (root / "new.md").write_text("# New\\n\\nA new valve7.\\n")
    library.index()
    assert library.verify() == []
    assert found("valve7 signal9 boiler3", 4)
"""


@pytest.mark.parametrize("size", [0, 100, 5_000, sys.maxsize])
def test_a_segment_that_is_cut_off_while_it_is_mapped_does_not_end_the_process(
    index: Index, size: int
) -> None:
    command = [sys.executable, "-c", SEARCHER, str(index.root), str(size)]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)

    assert (ended.returncode, ended.stderr) == (0, "")


ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
FOREIGN_SCHEMAS: dict[str, tuple[str, ...]] = {
    "an endless view of documents": (
        "DROP TABLE document",
        f"CREATE VIEW document AS {ENDLESS} SELECT i AS rowid, i AS id, i AS text FROM n",
    ),
    "an endless view of what the index is": (
        "DROP TABLE meta",
        f"CREATE VIEW meta AS {ENDLESS} SELECT 'x' AS key, i AS value FROM n",
    ),
    "a view that says it is a table": (
        "PRAGMA writable_schema = ON",
        f"UPDATE sqlite_schema SET sql = 'CREATE VIEW chunk AS {ENDLESS} SELECT i AS id FROM n' "
        "WHERE name = 'chunk'",
    ),
    "an endless view inside a table of words": (
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_schema SET sql = 'CREATE VIEW chunk_words_content AS "
        f"{ENDLESS} SELECT i AS id, i AS c0 FROM n' WHERE name = 'chunk_words_content'",
    ),
    "a trigger": (
        f"CREATE TRIGGER t AFTER DELETE ON document BEGIN INSERT INTO meta {ENDLESS} "
        "SELECT i, i FROM n; END",
    ),
    "an endless view of an older version": (
        "DROP TABLE document",
        f"CREATE VIEW document AS {ENDLESS} SELECT i AS rowid FROM n",
        "PRAGMA user_version = 1",
    ),
    "a table of vectors that is another one": (
        "DROP TABLE window_vector",
        f"CREATE VIEW window_vector AS {ENDLESS} SELECT i AS rowid, i AS embedding FROM n",
    ),
}
USER = """
import sys
from pincite.engine import open_library
from pincite.errors import StoreDamaged
with open_library(sys.argv[1]) as library:
    for verb in (lambda: library.search("valve"), library.stats, library.index, library.documents):
        try:
            verb()
        except StoreDamaged as error:
            print(error)
    print(len(library.verify()))
"""


@pytest.mark.parametrize("foreign", FOREIGN_SCHEMAS)
def test_a_database_with_a_foreign_schema_is_refused_and_made_anew(
    index: Index, foreign: str
) -> None:
    before, results = rows_of(index.root), found(index.root)
    with closing(apsw.Connection(str(index.database))) as connection:
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        for statement in FOREIGN_SCHEMAS[foreign]:
            connection.execute(statement).fetchall()

    told = subprocess.run(
        [sys.executable, "-c", USER, str(index.root)],
        timeout=60,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()

    assert len(told) == 5
    assert all("index verify --repair" in line for line in told[:4])
    assert told[4] == "1"
    repaired(index.root)
    assert_same_rows(rows_of(index.root), before)
    assert found(index.root) == results


def test_a_healthy_library_yields_no_findings(index: Index) -> None:
    before = rows_of(index.root)

    assert repaired(index.root) == []
    assert rows_of(index.root) == before


def test_a_database_without_its_position_is_made_anew(index: Index) -> None:
    before = rows_of(index.root)
    index.sql("DELETE FROM meta WHERE key = 'log_position'")

    repaired(index.root)

    assert_same_rows(rows_of(index.root), before)


# Damage of the files


def one_byte_of_the_log(index: Index) -> None:
    lines = index.lines()
    number = index.living_line()
    middle = len(lines[number]) // 2
    lines[number] = lines[number][:middle] + b"\x00" + lines[number][middle + 1 :]
    index.write_lines(lines)


def one_byte_of_the_last_line(index: Index) -> None:
    lines = index.lines()
    lines[-1] = lines[-1][:40] + b"\x00" + lines[-1][41:]
    index.write_lines(lines)


def one_byte_of_the_first_line(index: Index) -> None:
    lines = index.lines()
    lines[0] = lines[0][:40] + b"\x00" + lines[0][41:]
    index.write_lines(lines)


def line_removed(index: Index) -> None:
    lines = index.lines()
    del lines[index.living_line()]
    index.write_lines(lines)


def noise_between_lines(index: Index) -> None:
    index.write_lines([*index.lines()[:3], b"\xff\xfe noise\n", *index.lines()[3:]])


def removal_garbled(index: Index) -> None:
    lines = index.lines()
    number = index.line_of("removed")
    lines[number] = lines[number].replace(b"removed", b"remaved")
    index.write_lines(lines)


def log_cut_in_half(index: Index) -> None:
    whole = index.log.read_bytes()
    index.log.write_bytes(whole[: len(whole) // 2])


def log_cut_at_a_line(index: Index) -> None:
    lines = index.lines()
    index.write_lines(lines[: len(lines) // 2])


def log_missing(index: Index) -> None:
    index.log.unlink()


def log_empty(index: Index) -> None:
    index.log.write_bytes(b"")


def log_of_zeros(index: Index) -> None:
    index.log.write_bytes(bytes(index.log.stat().st_size))


def database_cut_in_half(index: Index) -> None:
    whole = index.database.read_bytes()
    index.database.write_bytes(whole[: len(whole) // 2])


def database_cut_in_a_page(index: Index) -> None:
    whole = index.database.read_bytes()
    index.database.write_bytes(whole[: len(whole) // 3 + 123])


def database_of_garbage(index: Index) -> None:
    index.database.write_bytes(random.Random(1).randbytes(50_000))


def database_of_zeros(index: Index) -> None:
    index.database.write_bytes(bytes(65_536))


def pages_of_garbage(index: Index) -> None:
    whole = bytearray(index.database.read_bytes())
    rng = random.Random(2)
    for page in range(2, len(whole) // 4096, 3):
        whole[page * 4096 : page * 4096 + 4096] = rng.randbytes(4096)
    index.database.write_bytes(whole)


def pages_of_zeros(index: Index) -> None:
    whole = bytearray(index.database.read_bytes())
    for page in range(2, len(whole) // 4096, 4):
        whole[page * 4096 : page * 4096 + 4096] = bytes(4096)
    index.database.write_bytes(whole)


def database_of_another_program(index: Index) -> None:
    index.database.unlink()
    connection = apsw.Connection(str(index.database))
    connection.execute("CREATE TABLE meta (colour TEXT); INSERT INTO meta VALUES ('red')")
    connection.close()


def database_of_another_program_with_a_version(index: Index) -> None:
    database_of_another_program(index)
    index.sql("PRAGMA user_version = 1")


DAMAGED_FILES: tuple[Callable[[Index], None], ...] = (
    one_byte_of_the_log,
    one_byte_of_the_last_line,
    one_byte_of_the_first_line,
    line_removed,
    noise_between_lines,
    removal_garbled,
    log_cut_in_half,
    log_cut_at_a_line,
    log_missing,
    log_empty,
    log_of_zeros,
    database_cut_in_half,
    database_cut_in_a_page,
    database_of_garbage,
    database_of_zeros,
    pages_of_garbage,
    pages_of_zeros,
    database_of_another_program,
    database_of_another_program_with_a_version,
)


@pytest.mark.parametrize("damage", DAMAGED_FILES)
def test_a_damaged_file_is_found_and_mended_from_the_other(
    index: Index, damage: Callable[[Index], None]
) -> None:
    before, results = rows_of(index.root), found(index.root)
    damage(index)

    assert_only_our_errors(index.root)
    assert repaired(index.root) != []
    assert_same_rows(rows_of(index.root), before)
    assert found(index.root) == results
    assert_index_goes_on(index.root, before)


def torn_last_line(index: Index) -> None:
    with index.log.open("ab") as log:
        log.write(encode({"event": "removed", "documents": [], "time": "now"})[:-9])


def database_missing(index: Index) -> None:
    index.database.unlink()


def database_empty(index: Index) -> None:
    index.database.write_bytes(b"")


def pending_changes_without_a_database(index: Index) -> None:
    connection = connect(index.database, writable=True)
    connection.execute("UPDATE meta SET value = 'x'")
    wal = index.database.with_name(DATABASE_NAME + "-wal")
    pending = wal.read_bytes()
    assert pending
    connection.close()
    wal.write_bytes(pending)
    index.database.unlink()


def unfinished_line_after_a_lost_database(index: Index) -> None:
    torn_last_line(index)
    index.database.unlink()


@pytest.mark.parametrize(
    "damage",
    [
        torn_last_line,
        database_missing,
        database_empty,
        pending_changes_without_a_database,
        unfinished_line_after_a_lost_database,
    ],
)
@pytest.mark.parametrize("first_comes", ["search", "index", "verify"])
def test_what_the_log_alone_can_mend_is_mended_without_being_asked(
    index: Index, damage: Callable[[Index], None], first_comes: str
) -> None:
    before, results = rows_of(index.root), found(index.root)
    damage(index)

    with open_library(index.root) as library:
        match first_comes:
            case "search":
                library.search(QUESTION)
            case "index":
                library.index()
            case _:
                library.verify()
        assert library.verify() == []

    assert_same_rows(rows_of(index.root), before)
    assert found(index.root) == results


# Damage of both files: the sources are the last resort


def both_lose_something(index: Index) -> None:
    one_byte_of_the_log(index)
    index.sql(f"DELETE FROM window_vector WHERE rowid = {fourth('window')}")


def both_lose_the_same(index: Index) -> None:
    lines = index.lines()
    number = index.living_line()
    entry = decode(lines[number])
    assert entry is not None
    index.sql(
        "DELETE FROM chunk WHERE document = "
        f"(SELECT rowid FROM document WHERE id = '{entry['document']['id']}')"
    )
    lines[number] = lines[number].replace(b'"text":"', b'"text":"X', 1)
    index.write_lines(lines)


def log_damaged_and_database_lost(index: Index) -> None:
    one_byte_of_the_log(index)
    index.database.write_bytes(b"no database at all")


def removal_garbled_and_database_lost(index: Index) -> None:
    removal_garbled(index)
    index.database.unlink()


@pytest.mark.parametrize(
    "damage",
    [
        both_lose_something,
        both_lose_the_same,
        log_damaged_and_database_lost,
        removal_garbled_and_database_lost,
    ],
)
def test_what_both_files_lost_comes_back_from_the_sources(
    index: Index, damage: Callable[[Index], None]
) -> None:
    before, results = rows_of(index.root), found(index.root)
    damage(index)

    assert_only_our_errors(index.root)
    assert repaired(index.root) != []
    assert_index_goes_on(index.root, before)
    assert found(index.root) == results


def test_two_damages_in_different_documents_lose_none_of_them(index: Index) -> None:
    before = rows_of(index.root)
    both_lose_something(index)

    repaired(index.root)

    assert_same_rows(rows_of(index.root), before)


def test_a_file_that_came_back_after_a_removal_nobody_remembers_is_there_once(
    index: Index,
) -> None:
    path = sorted(index.root.glob("*/*.md"))[0]
    text = path.read_text()
    path.unlink()
    build(index.root)
    path.write_text(text + "\n## Back\n\nvalve\n")
    build(index.root)
    before = rows_of(index.root)
    lines = index.lines()
    removal = index.line_of("removed", last=True)
    lines[removal] = lines[removal].replace(b"removed", b"remaved")
    index.write_lines(lines)
    index.database.unlink()

    repaired(index.root)

    assert_same_rows(rows_of(index.root), before)


def test_when_nothing_can_be_read_the_error_says_how_to_begin_again(index: Index) -> None:
    index.log.write_bytes(b"noise\n" * 50)
    index.database.write_bytes(b"noise" * 5000)

    with open_library(index.root) as library:
        assert library.verify() != []
        with pytest.raises(StoreDamaged, match="pincite index build"):
            library.verify(repair=True)
        shutil.rmtree(index.root / INDEX_FOLDER)
        build(index.root)
        assert library.verify() == []


def test_when_nothing_is_left_the_repaired_index_is_empty_and_filled_by_the_next_run(
    index: Index,
) -> None:
    before = rows_of(index.root)
    index.log.write_bytes(b"")
    index.database.write_bytes(b"noise" * 5000)

    assert repaired(index.root) != []
    build(index.root)

    assert_same_rows(rows_of(index.root), before)


# Newer than this pincite


def test_a_database_of_a_newer_pincite_is_refused_and_left_alone(index: Index) -> None:
    index.sql("PRAGMA user_version = 99")
    untouched = index.database.read_bytes()

    with open_library(index.root) as library:
        with pytest.raises(StoreTooNew, match="upgrade pincite"):
            library.search(QUESTION)
        with pytest.raises(StoreTooNew, match="upgrade pincite"):
            library.index()

    assert index.database.read_bytes() == untouched


def test_a_log_of_a_newer_pincite_is_refused_and_left_alone(index: Index) -> None:
    header = decode(index.lines()[0])
    assert header is not None
    index.log.write_bytes(encode({**header, "version": 99}) + b"".join(index.lines()[1:]))
    untouched = index.log.read_bytes()
    index.database.unlink()

    with open_library(index.root) as library:
        with pytest.raises(StoreTooNew, match="upgrade pincite"):
            library.search(QUESTION)
        with pytest.raises(StoreTooNew, match="upgrade pincite"):
            library.index()
        with pytest.raises(StoreTooNew, match="upgrade pincite"):
            library.verify(repair=True)

    assert index.log.read_bytes() == untouched


# Any bytes


@pytest.mark.parametrize("part", range(times(1, soak=10)))
def test_flipped_bytes_give_our_errors_or_results_and_never_anything_else(
    healthy: Path, folder: Path, part: int
) -> None:
    seed = f"{SEED}/flips/{part}"
    rng = random.Random(seed)
    before = rows_of(healthy)
    for number in range(times(6, soak=20)):
        index = Index(folder / f"{number}")
        shutil.copytree(healthy, index.root)
        damaged = rng.choice((index.database, index.log))
        whole = bytearray(damaged.read_bytes())
        for _ in range(rng.choice((1, 4, 200))):
            whole[rng.randrange(len(whole))] = rng.randrange(256)
        damaged.write_bytes(whole)
        why = f"seed {seed}, copy {number}, {damaged.name}"

        assert_only_our_errors(index.root, why)
        repaired(index.root)
        assert_index_goes_on(index.root, before, why)
        shutil.rmtree(index.root)


def assert_only_our_errors(root: Path, why: str = "") -> None:
    """Every verb works or says what to do; each on a copy, for some mend what they can."""
    verbs: dict[str, Callable[[Library], object]] = {
        "search": lambda library: library.search(QUESTION),
        "stats": Library.stats,
        "documents": Library.documents,
        "show": lambda library: library.show("a/none.md:1"),
        "index": Library.index,
        "verify": Library.verify,
    }
    for name, verb in verbs.items():
        copy = root.with_name(f"copy-for-{name}")
        shutil.copytree(root, copy)
        said = ""
        with open_library(copy) as library:
            try:
                verb(library)
            except StoreError as error:
                said = str(error)
            except PinciteError:
                pass
        assert said == "" or "run `pincite" in said or "upgrade" in said, f"{why} {name}: {said}"
        shutil.rmtree(copy)


def assert_index_goes_on(root: Path, before: Rows, why: str = "") -> None:
    """The sources did not change, so the next run ends where all began."""
    with open_library(root) as library:
        library.index()
        assert library.verify() == [], why
    assert_same_rows(rows_of(root), before, why)
