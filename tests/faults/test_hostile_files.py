"""Hostile files are read or refused, in little time and memory, and reach nothing outside.

Refused means by the reader, in words for the user and before anything unfolds; only where a parser
that is not ours does the unfolding may the wall around it be what stops a file. For each family
there is a naive reader that the same file does harm to.
"""

from __future__ import annotations

import importlib.util
import math
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pytest
from hostile.canary import Canary, listening
from hostile.case import Bait, Case, Either, Read, Refused, Stopped
from hostile.library import ALL_FILES, FILES
from hostile.mutants import SAMPLES, mutants

from pincite import SearchSettings, open_library
from pincite.errors import FileUnreadable
from pincite.reading.reader import LibraryReader, read_here
from pincite.reading.sandbox import Sandbox
from pincite.reading.source_file import SourceFile
from pincite.records import Document, Progress
from pincite.settings import ReadingLimits
from soak import times

SECRET = "the-key-is-4711-xyzzy"
VERBS = ("is", "has", "holds", "needs", "takes", "made", "cannot")
LONGEST_MESSAGE = 300  # characters
LARGEST_INDEXED = 20_000  # bytes of a file that is read: larger ones take the embedder long
# What the wall says when it had to stop a reader, or when a reader failed in a way of its own.
BY_THE_WALL = re.compile(
    r"takes longer than|made its reader|needs more than|nested too deeply to read|of a make"
)


@pytest.fixture(scope="module")
def canary() -> Iterator[Canary]:
    with listening(SECRET) as canary:
        yield canary


@pytest.fixture(scope="module")
def bait(canary: Canary, tmp_path_factory: pytest.TempPathFactory) -> Bait:
    secret = tmp_path_factory.mktemp("outside") / "secret.txt"
    secret.write_text(SECRET)
    return Bait(canary.url, str(secret))


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """With the limits of the product, and with the naive readers among the others."""
    folder = tmp_path_factory.mktemp("naive")
    (folder / "sitecustomize.py").write_text(KNOWN_AT_START.format(path=str(NAIVE)))
    sys.path.insert(0, str(folder))
    with Sandbox(ReadingLimits()) as opened:
        yield opened
    sys.path.remove(str(folder))


NAIVE = Path(__file__).parent / "hostile" / "naive.py"
# Runs as Python starts, in the process that reads files too, and makes the readers known there.
KNOWN_AT_START = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("pincite.reading.naive", {path!r})
sys.modules["pincite.reading.naive"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
"""


def outcome(sandbox: Sandbox, path: str, data: bytes) -> Document | str:
    """The document, or why there is none; anything else that is raised fails the test."""
    try:
        return LibraryReader("library", sandbox.read).read(path, data)
    except FileUnreadable as error:
        return str(error)


def check_harmless(found: Document | str, bait: Bait) -> None:
    if isinstance(found, str):
        assert found.split()[0] in VERBS
        assert len(found) <= LONGEST_MESSAGE
        assert "Traceback" not in found
        assert bait.path not in found
    else:
        assert SECRET not in repr(found)
        boxes = [place.box for place in found.places if place.box]
        assert all(math.isfinite(edge) for box in boxes for edge in (box.left, box.top))


def check_expected(found: Document | str, case: Case) -> None:
    match case.expected:
        case Refused(reason):
            assert isinstance(found, str), found.text[:200]
            assert re.search(reason, found)
        case Read(has, lacks, flags, notes):
            assert isinstance(found, Document), found
            assert [one for one in has if one not in found.text] == []
            assert [one for one in lacks if one in found.text] == []
            assert flags <= {one.reason for one in found.omissions}
            assert re.search(notes, "; ".join(found.metadata.notes))
        case Either():
            pass
        case Stopped():
            assert isinstance(found, str), found.text[:200]
            return
    assert isinstance(found, Document) or not BY_THE_WALL.search(found), found


@pytest.mark.parametrize("path", FILES)
def test_a_hostile_file_comes_to_what_it_must(
    path: str, sandbox: Sandbox, bait: Bait, canary: Canary
) -> None:
    found = outcome(sandbox, path, FILES[path].build(bait))
    check_harmless(found, bait)
    check_expected(found, FILES[path])
    assert canary.calls == []
    assert not Path(f"{bait.path}.touched").exists()


@pytest.mark.parametrize("name", SAMPLES)
def test_a_damaged_file_is_read_or_refused_in_words(
    name: str, sandbox: Sandbox, bait: Bait
) -> None:
    assert isinstance(outcome(sandbox, name, SAMPLES[name]), Document)
    for mutant in islice(mutants(name), times(2, soak=1_000)):
        found = outcome(sandbox, name, mutant)
        check_harmless(found, bait)
        assert isinstance(found, Document) or not BY_THE_WALL.search(found), found


def test_there_are_as_many_hostile_and_damaged_files_as_we_say() -> None:
    assert len(ALL_FILES) >= 700
    assert sum(1 for name in SAMPLES for _ in mutants(name)) >= 500


def quick_files(bait: Bait) -> Iterator[tuple[str, bytes]]:
    """All that are refused, and of those that are read the small ones."""
    for path, case in FILES.items():
        data = case.build(bait)
        if isinstance(case.expected, Refused | Stopped) or len(data) <= LARGEST_INDEXED:
            yield path, data


def test_a_folder_of_hostile_files_is_indexed_around_them(
    tmp_path: Path, bait: Bait, canary: Canary
) -> None:
    (tmp_path / "first.md").write_text("# First\n\nThe plumber comes on Monday.\n")
    (tmp_path / "zz-last.md").write_text("# Last\n\nThe electrician comes on Friday.\n")
    hostile = dict(quick_files(bait))
    for path, data in hostile.items():
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(data)

    with open_library(tmp_path) as library:
        report = library.index(model="hashing")
        told = [one.path for one in report.failures] + [one.path for one in report.skipped]
        stored = [one.path for one in library.documents()]
        assert sorted([*told, *stored]) == sorted([*hostile, "first.md", "zz-last.md"])
        for question, path in (
            ("plumber Monday", "first.md"),
            ("electrician Friday", "zz-last.md"),
        ):
            assert library.search(question).results[0].document.path == path
        found = library.search(SECRET, settings=SearchSettings(top_k=1_000, per_document=0))
        assert all(SECRET not in result.chunk.text for result in found.results)
        assert library.verify() == []
    assert canary.calls == []


def test_files_that_change_while_a_folder_is_indexed_do_no_harm(tmp_path: Path, bait: Bait) -> None:
    names = ("good.md", "gone.md", "longer.md", "now-a-link.md", "shorter.md")
    for name in names:
        (tmp_path / name).write_text(f"# Note\n\nThe valve of {name} is closed.\n")
    (tmp_path / "first.pdf").write_bytes(b"no PDF")  # fails at once, before the others are read

    def change(progress: Progress) -> None:
        if progress.path == "first.pdf":
            (tmp_path / "gone.md").unlink()
            (tmp_path / "now-a-link.md").unlink()
            (tmp_path / "now-a-link.md").symlink_to(bait.path)
            (tmp_path / "shorter.md").write_text("# Note")
            with (tmp_path / "longer.md").open("ab") as file:
                file.truncate(100_000_000)

    with open_library(tmp_path) as library:
        report = library.index(model="hashing", on_progress=change)
        failed = {one.path: one.reason for one in report.failures}
        assert failed.keys() == {"first.pdf", "gone.md", "longer.md", "now-a-link.md"}
        assert {one.path for one in library.documents()} == {"good.md", "shorter.md"}
        assert library.search("valve").results[0].document.path == "good.md"
        assert library.verify() == []
        assert {one.path for one in library.index().failures} == {"first.pdf"}
        assert library.verify() == []


def read_naively(way: str, data: bytes, sandbox: Sandbox | None = None) -> str:
    """As a naive reader reads it: behind the wall, or without."""
    file = SourceFile(f"{way}-file", data)
    if sandbox is not None:
        return sandbox.read("naive", file).text
    spec = importlib.util.spec_from_file_location("pincite.reading.naive", NAIVE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules["pincite.reading.naive"] = module
    try:
        return read_here("naive", file).text
    finally:
        del sys.modules["pincite.reading.naive"]


@pytest.mark.parametrize(
    ("way", "path"),
    [
        ("unpack", "archives/bomb.docx"),
        ("unpack", "archives/bomb.epub"),
        ("entities", "data/laughs.xml"),
        ("streams", "pdf-bombs/flate.pdf"),
        ("elements", "pages/divs.html"),
    ],
)
def test_a_naive_reader_is_stopped_by_the_wall_alone(
    way: str, path: str, sandbox: Sandbox, bait: Bait
) -> None:
    with pytest.raises(FileUnreadable, match=BY_THE_WALL):
        read_naively(way, ALL_FILES[path].build(bait), sandbox)


def test_a_naive_reader_tells_a_secret_that_the_wall_keeps(sandbox: Sandbox, bait: Bait) -> None:
    data = ALL_FILES["data/file.xml"].build(bait)
    assert SECRET in read_naively("entities", data)
    with suppress(FileUnreadable):
        assert SECRET not in read_naively("entities", data, sandbox)


def test_a_naive_reader_makes_calls_that_the_wall_prevents(sandbox: Sandbox) -> None:
    with listening(SECRET) as canary:
        data = ALL_FILES["pages/reaching-out.html"].build(Bait(canary.url, ""))
        with pytest.raises(FileUnreadable, match="of a make"):
            read_naively("fetch", data, sandbox)
        assert canary.calls == []
        assert SECRET in read_naively("fetch", data)
        assert canary.calls
