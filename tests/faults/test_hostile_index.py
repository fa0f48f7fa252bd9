"""An index that came from elsewhere: links, pipes and foreign files where ours should be."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fault_library import INDEX_FOLDER, NAME, POLICY, quick_folder
from index_driver import CASES, use_everything

from pincite.engine import open_library
from pincite.engine.eval_wishes import EvalWishes
from pincite.errors import LibraryError
from pincite.files import open_file, remove, remove_ours, replace_file
from soak import SOAK
from two_models import NEW, OLD, open_with_models

# All that is opened, written or removed by its name in an index.
FILES = (
    *("chunks.jsonl", "chunks.jsonl.mended", "chunks.jsonl.unfinished"),
    *("index.db", "index.db-wal", "index.db-shm", "index.db-journal"),
    *("lock", ".gitignore", "segments/000000000009-00000000.segment"),
)
BESIDE = (
    *("journal.sqlite", "journal.sqlite-wal", "journal.sqlite-shm", "journal.sqlite-journal"),
    *("generation", "generation.part", ".generation.part", "generations.lock"),
    *("checksums.json", "checksums.part", ".checksums.json.part", "refused.json", "apart"),
    *("store.part", ".store.json.part", "evals/20260101-000000-000000.json"),
)
FOLDERS = (
    *("generations", "generations/2", "generations/9", "segments", "generations/2/segments"),
    *("evals", "variants", "variants/wiki", "../.index", "../.index.part", "../.converted"),
)
LINKED_FILES = (
    *(FILES if SOAK else ()),  # of the generation that is not live
    *(f"generations/2/{name}" for name in FILES),
    *BESIDE,
    *("../.pincite-glossary.txt.part", "../.pincite-analysis.json.part", "../exported.part"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with quick_folder(tmp_path) as folder:
        yield folder


@pytest.fixture
def prepared(folder: Path) -> Path:
    """A library in its second generation, and a file that it was exported to."""
    root = folder / "prepared"
    root.mkdir()
    (root / "a.md").write_text("# Valve\n\nThe valve is blue.\n")
    (root / "b.md").write_text("# Pump\n\nThe pump is loud.\n")
    (root / "pincite-glossary.txt").write_text("valve = tap\n")
    with open_with_models(root) as library:
        library.index(name=NAME, model=OLD, policy=POLICY)
        library.evaluation.run(CASES, EvalWishes())
        library.export_to(folder / "archive")
        library.reindex(model=NEW)
    (root / "pincite-glossary.txt").unlink()
    return root


def precious_files(folder: Path) -> dict[str, str]:
    """Whatever else the user has; some of it is called as files of ours are."""
    outside = folder / "outside"
    for name in (
        *("profile", "9/photo.jpg", "9/album/photo.jpg", "2/photo.jpg", "wiki/photo.jpg"),
        *("lock", "apart", "album.segment", "album.json", "evals/album.json", "segments/a.segment"),
    ):
        (outside / name).parent.mkdir(parents=True, exist_ok=True)
        (outside / name).write_text(f"precious {name}\n")
    return contents(outside)


def contents(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text(errors="replace") if path.is_file() else ""
        for path in sorted(folder.rglob("*"))
    }


def copied(prepared: Path, to: Path, name: str) -> Path:
    """A copy of the library with room for something else at this place of its index."""
    shutil.copytree(prepared, to, symlinks=True)
    place = Path(os.path.normpath(to / INDEX_FOLDER / name))
    if place.is_dir():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    return place


@pytest.mark.parametrize(
    ("target", "names"), [("profile", LINKED_FILES), ("missing", LINKED_FILES if SOAK else FILES)]
)
def test_nothing_is_written_or_removed_through_a_link_to_a_file(
    folder: Path, prepared: Path, target: str, names: tuple[str, ...]
) -> None:
    before = precious_files(folder)
    for name in names:
        place = copied(prepared, folder / "library", name)
        place.symlink_to(folder / "outside" / target)

        use_everything(folder / "library", folder / "archive")

        assert contents(folder / "outside") == before, name
        shutil.rmtree(folder / "library")


def test_nothing_is_written_or_removed_through_a_link_to_a_folder(
    folder: Path, prepared: Path
) -> None:
    before = precious_files(folder)
    for name in FOLDERS:
        place = copied(prepared, folder / "library", name)
        place.symlink_to(folder / "outside", target_is_directory=True)

        use_everything(folder / "library", folder / "archive")

        assert contents(folder / "outside") == before, name
        shutil.rmtree(folder / "library")


@pytest.mark.parametrize("name", ["chunks.jsonl", "generations", "generation", "lock"])
def test_a_link_is_refused_with_its_path_and_what_to_do(
    folder: Path, prepared: Path, name: str
) -> None:
    with open_with_models(prepared) as library:
        library.rollback()
    place = copied(prepared, folder / "library", name)
    place.symlink_to(folder, target_is_directory=True)

    refusal = pytest.raises(LibraryError, match=rf"/{name} is a link; .* remove it")
    with open_with_models(folder / "library") as library, refusal:
        library.reindex(model=NEW, fresh=True)


def test_a_library_behind_a_link_of_the_users_is_used_as_ever(folder: Path, prepared: Path) -> None:
    (folder / "shortcut").symlink_to(prepared, target_is_directory=True)

    with open_library(folder / "shortcut") as library:
        library.index(model="hashing", fresh=True)
        assert library.search("valve").results
        assert library.verify() == []


def test_pipes_in_place_of_files_are_not_waited_for(folder: Path, prepared: Path) -> None:
    roots = []
    for number, name in enumerate(LINKED_FILES):
        os.mkfifo(copied(prepared, folder / f"library{number}", name))
        roots.append(str(folder / f"library{number}"))
    script = Path(__file__).with_name("index_driver.py")
    paths = [str(script.parent.parent), os.environ.get("PYTHONPATH", "")]
    command = [sys.executable, str(script), str(folder / "archive"), *roots]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}

    subprocess.run(command, check=True, timeout=300, env=environment)


def test_what_others_put_into_a_generation_stays(folder: Path, prepared: Path) -> None:
    index = prepared / INDEX_FOLDER
    for name in ("generations/2/photo.jpg", "generations/2/segments/photo.jpg", "photo.jpg"):
        (index / name).write_text("precious")

    with open_with_models(prepared) as library:
        library.reindex(model=OLD)
        library.generations.drop_before()

    left = {path.name for path in (index / "generations/2").rglob("*")}
    assert left == {"photo.jpg", "segments"}
    assert (index / "photo.jpg").read_text() == "precious"


def test_a_file_is_replaced_as_a_whole_and_never_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"precious")
    (tmp_path / ".file.part").symlink_to(tmp_path / "target")
    replace_file(tmp_path / "file", [b"one", b"two"])
    (tmp_path / "link").symlink_to(tmp_path / "target")

    for use in (open_file, lambda path: replace_file(path, [b"three"])):
        with pytest.raises(LibraryError, match="is a link"):
            use(tmp_path / "link")

    remove(tmp_path / "link")
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == {
        "target": b"precious",
        "file": b"onetwo",
    }


def test_only_what_we_made_is_removed_and_the_folder_only_if_it_is_empty(tmp_path: Path) -> None:
    for name in ("a.segment", "b.segment", "photo.jpg"):
        (tmp_path / "ours").mkdir(exist_ok=True)
        (tmp_path / "ours" / name).touch()

    remove_ours(tmp_path / "ours", "*.segment")
    assert [one.name for one in (tmp_path / "ours").iterdir()] == ["photo.jpg"]

    (tmp_path / "ours" / "photo.jpg").unlink()
    remove_ours(tmp_path / "ours", "*.segment")
    assert not (tmp_path / "ours").exists()
