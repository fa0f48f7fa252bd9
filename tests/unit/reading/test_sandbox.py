"""Files are read in child processes with limits. Each fault has a reader that would do harm."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path

import msgspec
import pytest

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.reader import LibraryReader, read_here
from pincite.reading.sandbox import (
    COMMON,
    OWN,
    SHARED as READ_TOGETHER,
    Reply,
    Request,
    Sandbox,
    decode_reply,
)
from pincite.reading.sniff import KINDS
from pincite.reading.source_file import SourceFile
from pincite.records import (
    Analysis,
    Block,
    BlockKind,
    Box,
    Content,
    Metadata,
    Place,
    Section,
)
from pincite.settings import ReadingLimits

# A second for readers that never end, and a minute for all others, however busy the machine is.
LIMITS = ReadingLimits(seconds=60)
SHORT_LIMITS = ReadingLimits(seconds=1)
IMPATIENT_LIMITS = ReadingLimits(seconds=60, clock_seconds=3)
# Where the reader that does as it is told runs, too: in the child that files share.
SHARED = frozenset({"naughty", "lines.markdown"})

# A reader that does what its file says, for whoever controls a parser can do no less.
NAUGHTY = """
import os, socket, time
from pincite.errors import FileEmpty, FileUnreadable
from pincite.records import Content, Section

kept = []

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
        elif order.startswith("process "):
            did = str(os.getpid())
        elif order.startswith("keep "):
            kept.append(bytearray(int(order[5:]) << 20))
        elif order.startswith("take "):
            taken = bytearray(int(order[5:]) << 20)
        elif order.startswith("work "):
            until = time.process_time() + float(order[5:])
            while time.process_time() < until: pass
        elif order.startswith("wait "):
            time.sleep(float(order[5:]))
    except (OSError, ImportError) as error:
        did = f"refused: {error}"
    if order == "memory":
        hoard = [bytearray(1 << 20) for _ in range(4096)]
    elif order == "processor":
        while True: pass
    elif order == "sleep":
        time.sleep(60)
    elif order == "linger":
        os.closerange(0, 64)
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


@pytest.fixture(scope="module", params=["alone", "shared"])
def sandbox(naughty: None, request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    shared = SHARED if request.param == "shared" else frozenset()
    with Sandbox(LIMITS, shared=shared) as opened:
        yield opened


@pytest.fixture
def shared(naughty: None) -> Iterator[Sandbox]:
    with Sandbox(LIMITS, shared=SHARED) as opened:
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


@pytest.mark.parametrize("shared", [frozenset(), SHARED])
@pytest.mark.parametrize(
    ("order", "limits"), [("processor", SHORT_LIMITS), ("sleep", IMPATIENT_LIMITS)]
)
def test_a_reader_that_never_ends_is_stopped_and_the_next_file_is_read(
    naughty: None, order: str, limits: ReadingLimits, shared: frozenset[str]
) -> None:
    with Sandbox(limits, shared=shared) as sandbox:
        with pytest.raises(FileUnreadable, match=r"longer than [13] s"):
            told(sandbox, order)
        assert told(sandbox, "hello") == "hello"


@pytest.mark.parametrize("shared", [frozenset(), SHARED])
def test_a_file_may_use_so_much_of_the_processor_however_long_the_clock_takes(
    naughty: None, shared: frozenset[str]
) -> None:
    """A machine that is busy with something else makes no file too slow to be read."""
    with Sandbox(SHORT_LIMITS, shared=shared) as sandbox:
        assert told(sandbox, "wait 1.5") == "wait 1.5"


def test_no_file_pays_for_the_time_of_those_before_it(naughty: None) -> None:
    with Sandbox(SHORT_LIMITS, shared=SHARED) as sandbox:
        assert [told(sandbox, "work 0.6") for _ in range(4)] == ["work 0.6"] * 4


class WithoutSecondTry(Sandbox):
    """The naive variant: what happens in the shared child is the last word."""

    def _read(self, module: str, file: SourceFile) -> Content:
        return decode_reply(self._asked(COMMON, msgspec.msgpack.encode(Request(module, file))))


def test_no_file_pays_for_the_memory_of_those_before_it(naughty: None) -> None:
    for kind in (Sandbox, WithoutSecondTry):
        with kind(LIMITS, shared=SHARED) as sandbox:
            assert told(sandbox, "keep 300") == "keep 300"
            if kind is Sandbox:
                assert told(sandbox, "take 300") == "take 300"
            else:
                with pytest.raises(FileUnreadable, match="needs more than 512 MB"):
                    told(sandbox, "take 300")


def test_files_of_our_own_readers_share_a_child_for_a_while(shared: Sandbox) -> None:
    processes = [told(shared, "process ") for _ in range(1_001)]
    assert [len(list(same)) for _, same in groupby(processes)] == [500, 500, 1]


def test_a_large_file_makes_the_shared_child_be_replaced(shared: Sandbox) -> None:
    first = told(shared, "process ")
    assert told(shared, "process " + " " * 5_000_000) == first
    assert told(shared, "process ") != first


def test_a_file_of_a_native_parser_has_a_child_of_its_own(naughty: None) -> None:
    with Sandbox(LIMITS) as sandbox:
        assert told(sandbox, "process ") != told(sandbox, "process ")
    native = {kind.module for kind in KINDS if kind.native}
    assert {"pdf", "office.package", "web.html", "code"} & READ_TOGETHER == set()
    assert native & READ_TOGETHER == set()
    assert {"lines.fences", "lines.markdown", "lines.plain", "code.lines"} <= READ_TOGETHER


def test_a_page_with_code_has_a_child_of_its_own_for_the_grammar() -> None:
    page = b"# Pumps\n\n```python\ndef pump(): pass\n```\n"
    with Sandbox(LIMITS) as sandbox:
        text = sandbox.read("lines.fences", SourceFile("a.md", b"# Pumps\n\nThey pump."))
        assert text == read_here("lines.markdown", SourceFile("a.md", b"# Pumps\n\nThey pump."))
        assert sandbox._children.keys() == {COMMON}
        assert sandbox.read("lines.fences", SourceFile("b.md", page)).analysis.symbols == ("pump",)
        assert sandbox._children.keys() == {COMMON, OWN}


def test_every_kind_of_file_is_read_by_the_sandbox() -> None:
    read: list[str] = []

    def recorded(module: str, file: SourceFile) -> Content:
        read.append(module)
        return read_here(module, file)

    reader = LibraryReader("library", recorded)
    for path in ("a.md", "a.txt", "a.srt", "a.py", "a.csv", "a.rst", "a.org", "a.html"):
        reader.read(path, b"1\n00:00:01,000 --> 00:00:02,000\nOne pump,\ntwo pumps\n")
    assert len(read) == 8


def test_what_is_interrupted_is_not_taken_for_the_next_file(sandbox: Sandbox) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(KeyboardInterrupt):
            told(sandbox, "sleep")
    finally:
        signal.signal(signal.SIGALRM, before)
    assert told(sandbox, "hello") == "hello"


def test_threads_get_each_what_they_asked_for(sandbox: Sandbox) -> None:
    orders = [f"order {number}" for number in range(40)]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda order: told(sandbox, order), orders)) == orders


def test_a_child_that_closes_its_socket_is_ended(sandbox: Sandbox) -> None:
    with pytest.raises(FileUnreadable, match="made its reader crash"):
        told(sandbox, "linger")
    assert told(sandbox, "hello") == "hello"


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
    os.kill(server.process.pid, 9)
    server.process.wait()
    assert told(sandbox, "again") == "again"
    with pytest.raises(FileUnreadable, match="made its reader crash"):
        told(sandbox, "crash")
    assert told(sandbox, "once more") == "once more"


SECTIONS = (Section((), 0, 0, 4),)


@pytest.mark.parametrize(
    "content",
    [
        Content(type="x", text="text", sections=(Section((), 0, 0, 5),)),
        Content(type="x", text="text", sections=(Section((), 0, -1, 4),)),
        Content(type="x", text="text", sections=()),
        Content(type="x", text="text", sections=SECTIONS, places=(Place(0, 4, page=2**62),)),
        Content(type="x", text="text", sections=SECTIONS, places=(Place(0, 4, time_start=-1.0),)),
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
        *(
            Content(type="x", text="text", sections=(Section((), level, 0, 4),))
            for level in (-3, 2**62)
        ),
        Content(type="x", text="text", sections=(Section(("x" * 10**7,), 1, 0, 4),)),
        *(
            Content(type="x", text="text", sections=SECTIONS, metadata=metadata)
            for metadata in (
                Metadata(duration=float("inf")),
                Metadata(duration=float("nan")),
                Metadata(pages=2**62),
                Metadata(pages=-5),
                Metadata(tags=("a\0b",)),
                Metadata(tags=("",) * 10**7),
                Metadata(agents=("x" * 10**7,)),
            )
        ),
        Content(
            type="x", text="text", sections=SECTIONS, analysis=Analysis(symbols=("x" * 10**7,))
        ),
    ],
)
def test_places_outside_the_text_or_the_world_are_not_believed(content: Content) -> None:
    with pytest.raises(FileUnreadable, match="lose its place"):
        decode_reply(msgspec.msgpack.encode(Reply(content=content)))


@pytest.mark.parametrize(
    "answer", [b"", b"nonsense", msgspec.msgpack.encode(Reply(problem="x"))[:-1]]
)
def test_an_answer_that_is_no_answer_is_not_believed(answer: bytes) -> None:
    with pytest.raises(FileUnreadable, match="nonsense"):
        decode_reply(answer)


def test_a_problem_is_told_in_a_line() -> None:
    with pytest.raises(FileUnreadable, match=r"^x{200}$"):
        decode_reply(msgspec.msgpack.encode(Reply(problem="x" * 10**6)))


# Waits for a reader that takes long, and says which processes that is about.
WAITING = """
import threading, time
from pathlib import Path
from pincite.reading.sandbox import Sandbox
from pincite.reading.source_file import SourceFile
sandbox = Sandbox(shared=frozenset({"naughty"}))
sandbox.read("naughty", SourceFile("a.x", b"hello"))
server = sandbox._server.process.pid
children = Path(f"/proc/{server}/task/{server}/children").read_text()
threading.Thread(target=sandbox.read, args=("naughty", SourceFile("a.x", b"sleep"))).start()
time.sleep(0.5)
print(server, children, flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_when_we_are_killed_server_and_children_end(naughty: None) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WAITING],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
    ) as waiting:
        assert waiting.stdout is not None
        processes = waiting.stdout.readline().split()
        assert len(processes) == 2
        waiting.kill()
    deadline = time.monotonic() + 30
    while any(map(is_running, processes)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(map(is_running, processes))


def is_running(process: str) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# Holds a secret while it has children, as we do; then says where, and which processes they are.
SECRETIVE = """
import ctypes, sys
from pathlib import Path
from pincite.converting.process import RecogniserProcess
from pincite.converting.wire import Options
from pincite.reading.sandbox import Sandbox
from pincite.reading.source_file import SourceFile
secret = ctypes.create_string_buffer(b"the key")
with Sandbox() as sandbox, RecogniserProcess(Options()) as recogniser:
    sandbox.read("lines.markdown", SourceFile("a.md", b"# A"))
    recogniser.engine
    if "naive" in sys.argv:
        ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
    processes, found = [], ["self"]
    for one in found:
        processes.append(Path(f"/proc/{one}/stat").read_text().split()[0])
        found += Path(f"/proc/{one}/task/{processes[-1]}/children").read_text().split()
    print(ctypes.addressof(secret), *processes, flush=True)
    input()
"""
# Another process of the same user tries to read the memory of each.
CURIOUS = """
import ctypes, errno, sys
class Part(ctypes.Structure):
    _fields_ = [("start", ctypes.c_void_p), ("length", ctypes.c_size_t)]
libc = ctypes.CDLL(None, use_errno=True)
address, *processes = map(int, sys.argv[1:])
for process in processes:
    memory = ctypes.create_string_buffer(7)
    ours, theirs = Part(ctypes.addressof(memory), 7), Part(address, 7)
    done = libc.process_vm_readv(process, ctypes.byref(ours), 1, ctypes.byref(theirs), 1, 0)
    print(memory.value.decode() if done > 0 else errno.errorcode[ctypes.get_errno()])
"""


def as_any_user() -> None:
    """Let root start a program that may do no more than any other user's."""
    for capability in range(64):
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)


def stolen(*arguments: str) -> list[str]:
    """What a process reads in the memory of one that has a sandbox, and in that of its children."""
    with subprocess.Popen(
        [sys.executable, "-c", SECRETIVE, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=as_any_user,
    ) as secretive:
        assert secretive.stdin is not None
        assert secretive.stdout is not None
        places = secretive.stdout.readline().split()
        assert len(places) == 1 + 4, "it, the server, the shared child, the recogniser"
        tried = subprocess.run(
            [sys.executable, "-c", CURIOUS, *places],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            preexec_fn=as_any_user,
        )
        secretive.stdin.write("\n")
    return tried.stdout.split("\n")[:-1]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such call")
def test_nobody_reads_our_memory_or_that_of_the_children() -> None:
    assert stolen() == ["EPERM"] * 4


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such call")
def test_without_it_the_same_process_reads_our_secret() -> None:
    """The naive variant, where the system itself does not forbid it."""
    forbidden = Path("/proc/sys/kernel/yama/ptrace_scope")
    if forbidden.exists() and forbidden.read_text().strip() != "0":
        pytest.skip("this system lets nobody read another's memory")
    assert stolen("naive")[0] == "the key"
