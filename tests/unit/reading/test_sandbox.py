"""Files of foreign formats are read behind a wall. Each fault has a reader that would do harm."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.reader import read_here
from pincite.reading.sandbox import Reply, Sandbox, decode_reply, encode
from pincite.reading.source_file import SourceFile
from pincite.records import Block, BlockKind, Box, Content, Place, Section
from pincite.settings import ReadingLimits

# Two seconds for readers that never end, and a minute for all others, however busy the machine is.
LIMITS = ReadingLimits(memory_bytes=512 << 20, seconds=60)
HASTY_LIMITS = ReadingLimits(memory_bytes=512 << 20, seconds=2)

# A reader that does what its file says, for whoever controls a parser can do no less.
NAUGHTY = """
import os, socket, time
from pincite.errors import FileEmpty, FileUnreadable
from pincite.records import Content, Section

def read(file):
    order = file.data.decode()
    did = ""
    try:
        if order.startswith("open "):
            with open(order[5:]) as file:
                did = file.read()
        elif order.startswith("write "):
            with open(order[6:], "w") as file:
                file.write("harm")
        elif order.startswith("connect "):
            with socket.create_connection(("127.0.0.1", int(order[8:])), timeout=1):
                did = "connected"
        elif order == "environment":
            did = repr(sorted(os.environ))
        elif order == "fork":
            did = str(os.fork())
        elif order == "import":
            import sqlite3
            did = "imported"
    except (OSError, ImportError) as error:
        did = f"refused: {error}"
    if order == "memory":
        hoard = [bytearray(1 << 20) for _ in range(4096)]
    elif order == "processor":
        while True: pass
    elif order == "sleep":
        time.sleep(60)
    elif order == "linger":
        os.closerange(3, 64)
        time.sleep(60)
    elif order == "crash":
        os.abort()
    elif order == "exit":
        os._exit(0)
    elif order == "depth":
        read(file)
    elif order == "bug":
        raise KeyError("unexpected")
    elif order == "empty":
        raise FileEmpty("holds no text")
    elif order == "unreadable":
        raise FileUnreadable("is encrypted")
    text = did or order
    return Content(type="x", text=text, sections=(Section((), 0, 0, len(text)),))
"""


# Runs as Python starts, in the fork server too, and makes the reader known there.
KNOWN_AT_START = """
import importlib.util, pathlib, sys
path = pathlib.Path(__file__).with_name("naughty.py")
spec = importlib.util.spec_from_file_location("pincite.reading.naughty", path)
sys.modules["pincite.reading.naughty"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
"""


@pytest.fixture(scope="module")
def naughty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("naughty")
    (folder / "naughty.py").write_text(NAUGHTY)
    (folder / "sitecustomize.py").write_text(KNOWN_AT_START)
    sys.path.insert(0, str(folder))
    yield
    sys.path.remove(str(folder))


@pytest.fixture(scope="module")
def sandbox(naughty: None) -> Iterator[Sandbox]:
    with Sandbox(LIMITS) as opened:
        yield opened


@pytest.fixture(scope="module")
def hasty_sandbox(naughty: None) -> Iterator[Sandbox]:
    with Sandbox(HASTY_LIMITS) as opened:
        yield opened


def told(sandbox: Sandbox, order: str) -> str:
    return sandbox.read("naughty", SourceFile("a.x", order.encode())).text


def test_a_file_is_read_as_it_would_be_here(sandbox: Sandbox) -> None:
    file = SourceFile("a.html", b"<h1>Pumps</h1><p>They pump.</p>")
    assert sandbox.read("web.html", file) == read_here("web.html", file)


def test_a_reader_can_open_no_file(sandbox: Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the key")
    assert "refused" in told(sandbox, f"open {secret}")
    assert "refused" in told(sandbox, f"write {tmp_path / 'harm.txt'}")
    assert not (tmp_path / "harm.txt").exists()


def test_a_reader_can_reach_no_network(sandbox: Sandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as canary:
        canary.settimeout(0.2)
        assert "refused" in told(sandbox, f"connect {canary.getsockname()[1]}")
        with pytest.raises(TimeoutError):
            canary.accept()


def test_a_reader_sees_nothing_of_our_environment(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert "OPENAI_API_KEY" not in told(sandbox, "environment")


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        ("memory", "512 MB"),
        ("crash", "made its reader crash"),
        ("exit", "made its reader crash"),
        ("depth", "nested too deeply"),
        ("bug", "KeyError"),
        ("unreadable", "is encrypted"),
    ],
)
def test_a_reader_that_fails_is_one_line_and_the_next_file_is_read(
    sandbox: Sandbox, order: str, reason: str
) -> None:
    with pytest.raises(FileUnreadable, match=reason):
        told(sandbox, order)
    assert told(sandbox, "hello") == "hello"


@pytest.mark.parametrize("order", ["processor", "sleep", "linger"])
def test_a_reader_that_never_ends_is_stopped_and_the_next_file_is_read(
    hasty_sandbox: Sandbox, order: str
) -> None:
    with pytest.raises(FileUnreadable, match="longer than 2 s"):
        told(hasty_sandbox, order)
    assert told(hasty_sandbox, "hello") == "hello"


def test_an_empty_file_stays_an_empty_file(sandbox: Sandbox) -> None:
    with pytest.raises(FileEmpty, match="holds no text"):
        told(sandbox, "empty")


def test_without_the_wall_the_same_reader_does_harm(tmp_path: Path) -> None:
    """The naive variant: what the tests above would see if nothing held the reader back."""
    secret = tmp_path / "secret.txt"
    secret.write_text("the key")
    space: dict[str, object] = {}
    exec(compile(NAUGHTY, "naughty", "exec"), space)
    read = space["read"]
    assert callable(read)
    assert read(SourceFile("a.x", f"open {secret}".encode())).text == "the key"
    with socket.create_server(("127.0.0.1", 0)) as canary:
        port = canary.getsockname()[1]
        assert read(SourceFile("a.x", f"connect {port}".encode())).text == "connected"


def test_a_server_that_was_killed_is_started_again(sandbox: Sandbox) -> None:
    assert told(sandbox, "hello") == "hello"
    server = sandbox._server
    assert server is not None
    os.kill(server.pid, 9)
    server.wait()
    assert told(sandbox, "again") == "again"


SECTIONS = (Section((), 0, 0, 4),)


@pytest.mark.parametrize(
    "content",
    [
        Content(type="x", text="text", sections=(Section((), 0, 0, 5),)),
        Content(type="x", text="text", sections=(Section((), 0, -1, 4),)),
        Content(type="x", text="text", sections=()),
        Content(type="x", text="text", sections=SECTIONS, places=(Place(0, 4, page=2**62),)),
        Content(
            type="x",
            text="text",
            sections=SECTIONS,
            places=(Place(0, 4, box=Box(1, float("inf"), 0.0, 1.0, 1.0)),),
        ),
        Content(type="x", text="text", sections=SECTIONS, blocks=(Block(BlockKind.CODE, 3, 1),)),
        Content(
            type="x",
            text="text",
            sections=SECTIONS,
            blocks=(Block(BlockKind.CODE, 0, 3), Block(BlockKind.CODE, 2, 4)),
        ),
    ],
)
def test_places_outside_the_text_or_the_world_are_not_believed(content: Content) -> None:
    with pytest.raises(FileUnreadable, match="lose its place"):
        decode_reply(encode(Reply(content=content)))


@pytest.mark.parametrize("answer", [b"", b"nonsense", encode(Reply(problem="x"))[:-1]])
def test_an_answer_that_is_no_answer_is_not_believed(answer: bytes) -> None:
    with pytest.raises(FileUnreadable, match="nonsense"):
        decode_reply(answer)
