import hashlib
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pincite.errors import FileUnreadable, FolderMissing, LibraryError
from pincite.settings import SourceSettings
from pincite.sources import Checksums, Folder, Scan


def is_text(path: str) -> bool:
    return path.endswith((".md", ".txt"))


def write(root: Path, *names: str, text: str = "words") -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def scan(root: Path, settings: SourceSettings | None = None) -> Scan:
    return Folder(root, settings).scan(is_text)


def found(root: Path) -> list[str]:
    return [file.path for file in scan(root).files]


def skipped(root: Path) -> dict[str, tuple[str, str]]:
    return {each.path: (each.kind, each.reason) for each in scan(root).skipped}


def test_what_is_hidden_or_ignored_is_left_out_without_a_word(tmp_path: Path) -> None:
    write(tmp_path, ".index/x.md", ".git/a.md", ".hidden.md", "sub/.x/a.md", "build/a.pdf")
    write(tmp_path, "empty.md", text="")
    write(tmp_path, ".gitignore", text="build/\nempty.md")
    assert scan(tmp_path) == Scan((), (), {})


def test_files_come_sorted_with_size_and_checksum_and_others_are_counted(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "a/c.md", "a.md", "a.pdf", "b.PDF", "Makefile", text="wörds")
    files = Folder(tmp_path).scan(is_text, hashed=True).files
    assert [file.path for file in files] == ["a.md", "a/c.md", "b.md"]
    assert {file.size for file in files} == {6}
    assert {file.checksum for file in files} == {hashlib.sha256("wörds".encode()).hexdigest()}
    assert scan(tmp_path).unsupported == {"": 1, ".pdf": 2}


def test_a_scan_of_some_paths_finds_of_them_what_a_scan_of_all_does(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    write(root, "a.md", "sub/b.md", "sub/deep/c.md", "sub/deep/keep.md", "build/x.md", ".x/a.md")
    write(root, "pincite-labels.json", f"uploads/{'0' * 20}/a.md", ".converted/a.pdf.md", "b.pdf")
    write(root, f"uploads/{'0' * 20}/pincite-labels.json", "uploads/x/pincite-labels.json")
    write(root, "empty.md", text="")
    write(root, ".gitignore", text="build/\nc.md")
    write(root, "sub/deep/.pinciteignore", text="*.md\n!keep.md\n")
    write(tmp_path, "outside.md")
    (root / "link.md").symlink_to(tmp_path / "outside.md")
    (root / "folder").symlink_to(root / "sub")
    every = scan(root)
    paths = [one.relative_to(root).as_posix() for one in root.rglob("*")]
    for path in (*paths, "folder/b.md", "gone.md", "sub/../a.md", "/a.md", ""):
        of_it = Folder(root).scan(is_text, only=(path,))
        assert of_it.files == tuple(one for one in every.files if one.path == path), path
        assert of_it.labels == {one: sum_ for one, sum_ in every.labels.items() if one == path}
        assert {one for one in every.skipped if one.path == path} <= set(of_it.skipped), path
    assert [one.path for one in every.files] == [
        *(".converted/a.pdf.md", "a.md", "sub/b.md", "sub/deep/keep.md"),
        f"uploads/{'0' * 20}/a.md",
    ]
    assert list(every.labels) == [f"uploads/{'0' * 20}/pincite-labels.json"]


@pytest.mark.parametrize(
    ("rules", "kept"),
    [
        ("", ["a.md", "keep.md", "sub/a.md", "sub/deep/a.md", "sub/keep.md"]),
        ("*.md\n!keep.md", ["keep.md", "sub/keep.md"]),
        ("/a.md", ["keep.md", "sub/a.md", "sub/deep/a.md", "sub/keep.md"]),
        ("sub", ["a.md", "keep.md"]),
        ("sub/\n!sub/keep.md", ["a.md", "keep.md"]),
        ("/deep/", ["a.md", "keep.md", "sub/a.md", "sub/deep/a.md", "sub/keep.md"]),
        ("sub/**/a.md", ["a.md", "keep.md", "sub/keep.md"]),
        ("/*\n!/sub/", ["sub/a.md", "sub/deep/a.md", "sub/keep.md"]),
        ("# a.md\n\n!\n\\\n[z-a]\nkeep.md\r\n", ["a.md", "sub/a.md", "sub/deep/a.md"]),
        ("a.md/", ["a.md", "keep.md", "sub/a.md", "sub/deep/a.md", "sub/keep.md"]),
        ("[jk]eep.m?", ["a.md", "sub/a.md", "sub/deep/a.md"]),
        ("\ufeffa.md", ["keep.md", "sub/keep.md"]),
    ],
)
@pytest.mark.parametrize("name", [".gitignore", ".pinciteignore"])
def test_ignore_rules_mean_what_they_mean_to_git(
    tmp_path: Path, name: str, rules: str, kept: list[str]
) -> None:
    write(tmp_path, "a.md", "keep.md", "sub/a.md", "sub/keep.md", "sub/deep/a.md")
    (tmp_path / name).write_bytes(rules.encode())
    assert found(tmp_path) == kept


def test_the_nearest_ignore_file_decides(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "sub/a.md", "sub/b.md", "other/a.md", "other/b.md")
    write(tmp_path, ".gitignore", text="a.md\n")
    write(tmp_path, "sub/.gitignore", text="!a.md\n/b.md\n")
    assert found(tmp_path) == ["other/b.md", "sub/a.md"]


def test_an_ignore_file_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    os.mkfifo(tmp_path / ".gitignore")
    assert skipped(tmp_path) == {".gitignore": ("unreadable", "is not a regular file")}
    assert found(tmp_path) == ["a.md"]


def test_wildcards_find_what_stands_behind_a_false_start(tmp_path: Path) -> None:
    write(tmp_path, "abaabab.md", "ab.md", "x/y/b/x/b/c.md", "x/b.md")
    write(tmp_path, ".gitignore", text="*ab*ab.md\n**/x/*b/**/c.md\n")
    assert found(tmp_path) == ["ab.md", "x/b.md"]


def test_rules_that_are_too_many_or_too_long_are_reported(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.md", "sub/c.md")
    many = "".join(f"none{number}\n" for number in range(6_000))
    write(tmp_path, ".gitignore", text=f"a.md\n{'x' * 2_000}\n{many}b.md\n")
    write(tmp_path, "sub/.gitignore", text="c.md\n")
    reason = "is followed in part: at most 5,000 rules are, and none of more than 1,000 characters"
    assert skipped(tmp_path) == {
        ".gitignore": ("unreadable", reason),
        "sub/.gitignore": ("unreadable", reason),
    }
    assert found(tmp_path) == ["b.md", "sub/c.md"]


def test_empty_and_oversized_files_are_skipped(tmp_path: Path) -> None:
    write(tmp_path, "empty.md", text="")
    with (tmp_path / "huge.md").open("wb") as file:
        file.truncate(2_000_000_000)
    assert skipped(tmp_path) == {
        "empty.md": ("empty", "is empty"),
        "huge.md": ("too_large", "is larger than 20 MB"),
    }


def test_links_are_never_followed(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    write(outside, "secret.md")
    write(root, "a.md", "sub/b.md")
    (root / "inside.md").symlink_to("a.md")
    (root / "inside").symlink_to("sub")
    (root / "sub/up").symlink_to("..")
    (root / "out.md").symlink_to(outside / "secret.md")
    (root / "out").symlink_to(outside)
    (root / "broken.md").symlink_to("nowhere.md")
    (root / "loop.md").symlink_to("loop.md")
    assert found(root) == ["a.md", "sub/b.md"]
    assert skipped(root) == {
        "broken.md": ("link", "is a link that leads nowhere"),
        "loop.md": ("link", "is a link that leads nowhere"),
        "out": ("link", "is a link that leads out of the folder"),
        "out.md": ("link", "is a link that leads out of the folder"),
    }


def test_pipes_and_sockets_are_skipped_without_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.md")
        kinds = skipped(tmp_path)
    assert set(kinds) == {"pipe.md", "socket.md"}
    assert {kind for kind, _ in kinds.values()} == {"special"}
    with pytest.raises(FileUnreadable, match="is not a regular file"):
        Folder(tmp_path).read("pipe.md")


def test_names_that_are_not_text_are_skipped_in_printable_form(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("words")
    (tmp_path / os.fsdecode(b"dir\xff")).mkdir()
    reasons = skipped(tmp_path)
    assert set(reasons) == {"caf\\xe9.md", "dir\\xff"}
    assert found(tmp_path) == []


@pytest.mark.parametrize(
    "name",
    [
        "a\nb.md",
        "\u202egnp.md",
        "cafe\u0301.md",
        "-rf.md",
        "x" * 250 + ".md",
    ],
)
def test_odd_names_are_found_and_read_as_they_are(tmp_path: Path, name: str) -> None:
    write(tmp_path, name)
    assert found(tmp_path) == [name]
    assert Folder(tmp_path).read(name) == b"words"


AS_NOBODY = """
import os, sys
from pathlib import Path
from pincite.sources import Folder
if os.getuid() == 0:
    os.setuid(65534)
scan = Folder(Path(sys.argv[1])).scan(lambda path: path.endswith(".md"), hashed=True)
print([file.path for file in scan.files], sorted((s.path, s.kind, s.reason) for s in scan.skipped))
"""


def test_what_may_not_be_read_is_skipped(tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.mktemp("shared")
    write(root, "open.md", "closed.md", "locked/a.md")
    for folder in (root, *root.parents):
        if folder.name.startswith(("shared", "popen-", "pytest-")):
            folder.chmod(0o755)
    (root / "closed.md").chmod(0)
    (root / "locked").chmod(0)
    run = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, root], capture_output=True, text=True, check=True
    )
    (root / "locked").chmod(0o755)
    denied = [(name, "unreadable", "permission denied") for name in ("closed.md", "locked/")]
    assert run.stdout.strip() == f"['open.md'] {denied}"


def test_very_deep_folders_end_in_a_skipped_line(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    for _ in range(2_100):
        os.mkdir("d", dir_fd=descriptor)
        inner = os.open("d", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
    os.close(descriptor)
    write(tmp_path, "a.md")
    reasons = set(skipped(tmp_path).values())
    assert reasons == {("unreadable", "file name too long")}
    assert found(tmp_path) == ["a.md"]
    subprocess.run(["rm", "-rf", tmp_path / "d"], check=True)


@pytest.mark.parametrize("missing", ["nowhere", "file.md"])
def test_a_missing_folder_says_so(tmp_path: Path, missing: str) -> None:
    write(tmp_path, "file.md")
    with pytest.raises(FolderMissing, match=missing):
        Folder(tmp_path / missing)


def test_a_folder_that_vanishes_is_an_error_and_not_an_empty_folder(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    tmp_path.rmdir()
    with pytest.raises(LibraryError, match="no such file or directory"):
        folder.scan(is_text)
    tmp_path.mkdir()


@pytest.mark.parametrize(
    "path",
    ["../secret.md", "sub/../../secret.md", "/etc/passwd", "", "sub//a.md", "a\0.md"],
)
def test_paths_that_lead_astray_are_refused(tmp_path: Path, path: str) -> None:
    write(tmp_path, "secret.md", "root/a.md", "root/sub/a.md")
    with pytest.raises(FileUnreadable, match="is not a path inside the folder"):
        Folder(tmp_path / "root").read(path)


def test_reading_follows_no_link_on_the_way(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    write(outside, "a.md")
    write(root, "sub/a.md", "b.md")
    folder = Folder(root)
    (root / "sub").rename(root / "old")
    (root / "sub").symlink_to(outside)
    (root / "c.md").symlink_to("b.md")
    with pytest.raises(FileUnreadable, match="lies behind a link"):
        folder.read("sub/a.md")
    with pytest.raises(FileUnreadable, match="is a link"):
        folder.read("c.md")


def test_reading_what_is_gone_or_too_large_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "a.md", text="12345")
    folder = Folder(tmp_path, SourceSettings(max_file_bytes=4))
    with pytest.raises(FileUnreadable, match="is larger than"):
        folder.read("a.md")
    with pytest.raises(FileUnreadable, match="no such file or directory"):
        folder.read("b.md")
    write(tmp_path, "sub/x.md")
    with pytest.raises(FileUnreadable, match="is not a regular file"):
        folder.read("sub")


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_reading_leaks_no_descriptor(tmp_path: Path) -> None:
    write(tmp_path, "a/b/c.md")
    folder = Folder(tmp_path)
    before = open_descriptors()
    for _ in range(20):
        folder.read("a/b/c.md")
        with pytest.raises(FileUnreadable):
            folder.read("a/b/none.md")
        with pytest.raises(FileUnreadable):
            folder.read("a/c.md/x")
    assert open_descriptors() == before


def test_the_watch_says_when_it_has_begun_hears_a_change_and_ends_on_stop(tmp_path: Path) -> None:
    stop, begun, changed = threading.Event(), threading.Event(), threading.Event()

    def listen() -> None:
        for count, _ in enumerate(Folder(tmp_path).watch(stop)):
            (changed if count else begun).set()

    listener = threading.Thread(target=listen)
    listener.start()
    assert begun.wait(10)
    write(tmp_path, "a.md")
    assert changed.wait(10)
    stop.set()
    listener.join(10)
    assert not listener.is_alive()


def test_hidden_changes_are_not_heard_but_new_ignore_rules_are(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    heard = {
        name: folder._matters(1, str(tmp_path / name))  # type: ignore[arg-type]
        for name in ("a.md", "sub/a.md", ".index/log", ".git/x/y", "sub/.x", "sub/.gitignore")
    }
    assert [name for name, matters in heard.items() if matters] == [
        "a.md",
        "sub/a.md",
        "sub/.gitignore",
    ]


def test_watching_a_folder_that_is_gone_says_so(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    tmp_path.rmdir()
    with pytest.raises(FolderMissing, match="does not exist"):
        next(folder.watch(threading.Event()))
    tmp_path.mkdir()


SECOND = 1_000_000_000
CHANGED = 1_700_000_000 * SECOND


def status_of(file: Path, changed: int) -> os.stat_result:
    """As a system would tell it that knows such times only."""
    fields = list(file.stat())
    times = {"st_mtime_ns": changed, "st_ctime_ns": changed}
    return os.stat_result((*fields, 0, 0, 0), times)


@pytest.mark.parametrize(
    ("seen_after", "trusted"),
    [(-3_600 * SECOND, False), (0, False), (2 * SECOND - 1, False), (2 * SECOND, True)],
)
def test_a_file_seen_just_after_a_change_may_change_again_and_look_the_same(
    tmp_path: Path, seen_after: int, trusted: bool
) -> None:
    write(tmp_path, "a.md")
    status = status_of(tmp_path / "a.md", CHANGED)
    known = Checksums(clock=lambda: CHANGED + seen_after)
    known.note("a.md", known.seen(status), "checksum")
    assert known.of("a.md", status) == ("checksum" if trusted else "")
    assert known.of("b.md", status) == ""
    assert known.of("a.md", status_of(tmp_path / "a.md", CHANGED - 1)) == ""


def test_what_changes_while_it_is_read_is_not_noted_as_what_was_read(tmp_path: Path) -> None:
    write(tmp_path, "a.md", text="before")
    folder = Folder(tmp_path, checksums=Checksums(clock=lambda: time.time_ns() + 10 * SECOND))
    read = folder.read("a.md")
    write(tmp_path, "a.md", text="behind")
    folder.note("a.md", hashlib.sha256(read).hexdigest())
    assert folder.checksum("a.md") == hashlib.sha256(b"behind").hexdigest()
