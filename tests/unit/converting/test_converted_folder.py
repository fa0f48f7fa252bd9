"""Recognised texts on disk: written whole, never over corrections, never outside the library."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pincite.converting.converted_folder import ConvertedFolder
from pincite.converting.markdown import with_checksum
from pincite.errors import FileUnreadable, LibraryError, StoreReadOnly
from pincite.records import FoundFile

OLD, NEW = "a" * 64, "b" * 64


def text(checksum: str = OLD, source: str = "a.png") -> str:
    return with_checksum(f"---\nsource: {source}\nsource_sha256: {checksum}\n---\n\nwords\n")


@pytest.fixture
def folder(tmp_path: Path) -> ConvertedFolder:
    return ConvertedFolder(tmp_path)


def found(path: str = "a.png", checksum: str = OLD) -> FoundFile:
    return FoundFile(path, 1, checksum)


def test_a_file_of_the_users_own_counts_as_corrected(
    folder: ConvertedFolder, tmp_path: Path
) -> None:
    (tmp_path / ".converted").mkdir()
    (tmp_path / ".converted" / "a.png.md").write_bytes(b"\xff my own")
    assert folder.state(found()) == "corrected"


def test_a_text_whose_file_is_there_stays(folder: ConvertedFolder) -> None:
    folder.write("a.png", text())
    assert folder.follow_moves([found(), found("copy.png")]) == ([], [])
    assert folder.state(found("copy.png")) == "absent"


def test_only_a_text_that_nobody_corrected_is_taken_away(
    folder: ConvertedFolder, tmp_path: Path
) -> None:
    folder.write("a.png", text())
    folder.write("b.png", text() + "mine\n")
    for path in ("a.png", "b.png", "c.png"):
        folder.remove_as_written(path)
    assert [entry.name for entry in (tmp_path / ".converted").iterdir()] == ["b.png.md"]


@pytest.mark.parametrize("place", [".converted", ".converted/scans"])
def test_nothing_is_written_through_a_link(tmp_path: Path, place: str) -> None:
    library, outside = tmp_path / "library", tmp_path / "outside"
    (library / place).parent.mkdir(parents=True)
    outside.mkdir()
    (library / place).symlink_to(outside, target_is_directory=True)
    with pytest.raises(LibraryError, match="is a link"):
        ConvertedFolder(library).write("scans/a.png", text())
    assert list(outside.iterdir()) == []


def test_a_link_in_the_place_of_a_text_is_not_followed(
    folder: ConvertedFolder, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("kept")
    (tmp_path / ".converted").mkdir()
    (tmp_path / ".converted" / "a.png.md").symlink_to(secret)
    with pytest.raises(LibraryError, match="is a link"):
        folder.state(found())
    with pytest.raises(LibraryError, match="is a link"):
        folder.write("a.png", text())
    assert secret.read_text() == "kept"


def test_what_is_no_file_is_not_waited_for(folder: ConvertedFolder, tmp_path: Path) -> None:
    (tmp_path / ".converted").mkdir()
    os.mkfifo(tmp_path / ".converted" / "a.png.md")
    with pytest.raises(LibraryError, match="is not a regular file"):
        folder.state(found())


def test_a_name_that_is_too_long_is_told_of_that_file_alone(folder: ConvertedFolder) -> None:
    with pytest.raises(FileUnreadable, match="cannot be kept: file name too long"):
        folder.write("x" * 253, text())


def test_a_place_that_cannot_be_written_ends_the_run(
    folder: ConvertedFolder, tmp_path: Path
) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    tmp_path.chmod(0o500)
    with pytest.raises(StoreReadOnly):
        folder.write("a.png", text())
