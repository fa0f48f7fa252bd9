"""The service under load, and txtai's own over the same passages and vectors, by turns in one run.

    python benchmarks/load.py DATA_FOLDER [--set fiqa] [--keep FOLDER] [--cache FILE] [--quick]
                              [--seconds N] [--rounds N] [--json FILE]

Run it with the Python of `make bench-env`, on Linux, on a machine that does nothing else. Both
services listen on loopback, each in one process, and embed questions with the same model. No
question comes again before all have been asked, so nothing is answered from memory. What is built
is kept in FOLDER for the next run. `--quick` shows within a minute or two that all of it works.

Measured is: searches and extractive answers at 1, 8 and 32 clients; the engine without a service,
in this process; four times as many searches as are answered; documents handed in while searches go
on; and what is still computed for clients that went away.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cache
from itertools import count, cycle
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import quote

import numpy as np
from meter import Meter
from platformdirs import user_cache_path
from public_sets.embedding_cache import CachedEmbedder
from public_sets.sets import Dataset, has_train_split, load, train_cases
from quality import row

from pincite.engine import INDEX_FOLDER, Library, ModelAccess, open_library
from pincite.engine.homes import FolderHome
from pincite.engine.models import Embedders
from pincite.ports import Embedder
from pincite.settings import DEFAULT_MODEL, ONE_THREAD
from pincite.vectors import Vector

CLIENTS = (1, 8, 32)
TOP_K = 10
TIMES_TOO_MANY = 4
CONNECTIONS = 1_000  # that are open at once while there is too much to do
NORMAL = 1.5  # times the usual p95 is usual, too: windows of a second have a hundred answers
PATIENCE = 60.0  # seconds for an answer
LEFT_ALONE = 64  # questions whose clients go away
TICKS = os.sysconf("SC_CLK_TCK")

Requests = Iterator[bytes]


def question_vectors(texts: Sequence[str]) -> list[Vector]:
    """What txtai embeds with: our model, in its process."""
    return [_model().embed_question(text) for text in texts]


@cache
def _model() -> Embedder:
    return Embedders(ModelAccess()).named(DEFAULT_MODEL)


class KeptVectors(Embedders):
    """Models whose vectors are kept between runs."""

    def __init__(self, file: Path) -> None:
        super().__init__(ModelAccess())
        self._file = file
        self._cached: CachedEmbedder | None = None

    def named(self, name: str) -> Embedder:
        """The model behind its cache."""
        if self._cached is None:
            self._cached = CachedEmbedder(super().named(name), self._file)
        return self._cached

    def close(self) -> None:
        """Write what is still waiting."""
        if self._cached is not None:
            self._cached.close()
            self._cached = None
        super().close()


def make_library(dataset: Dataset, folder: Path, cached: Path) -> None:
    """A folder with a file for each document, and its index, as `pincite index build` makes it."""
    shutil.rmtree(folder / "uploads", ignore_errors=True)  # of the run before
    folder.mkdir(parents=True, exist_ok=True)
    for document in dataset.documents:
        file = folder / document.path
        if not file.exists():
            file.write_bytes(document.text.encode("utf-8", "surrogatepass"))
    embedders = KeptVectors(cached)
    with Library(folder, embedders, FolderHome(folder, folder / INDEX_FOLDER)) as library:
        report = library.index(on_progress=Meter("indexing").indexed)
        embedders.close()
    if report.failures:
        sys.exit(f"not indexed: {report.failures[0]}")


def make_txtai(library: Path, folder: Path) -> int:
    """The same passages and vectors as txtai's index, set up as in `peers.py`; how many."""
    from txtai import Embeddings

    if (folder / "passages").is_file():
        return int((folder / "passages").read_text())
    vectors: dict[str, Vector] = {}
    with open_library(library) as opened:
        store = opened._store()
        for entry in store.documents():
            embedded = store.load_embedded(entry.id)
            assert embedded is not None
            document = embedded.document
            above = f"{document.title}\n\n" if document.own_title else ""
            for chunk in embedded.chunks:
                for window in chunk.windows:
                    vectors[above + document.text[window.start : window.end]] = window.vector

    def known(texts: Sequence[str]) -> list[Vector]:
        return [vectors[text] for text in texts]

    index = Embeddings(
        method="external",
        transform=known,
        content=True,
        scoring={
            "method": "bm25",
            "terms": True,
            "normalize": True,
            "tokenizer": {"stopwords": True},
        },
    )
    index.index(enumerate(vectors))
    index.save(str(folder / "index"))
    (folder / "passages").write_text(str(len(vectors)))
    return len(vectors)


class Service:
    """A server process, listening."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], port: int) -> None:
        self.name = name
        self.process = process
        self.port = port

    def cpu_seconds(self) -> float:
        """What it computed so far, its threads and its children that ended included."""
        stat = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, stat[11:15])) / TICKS

    def memory(self) -> int:
        """Bytes that are in memory."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+)", status)
        return int(found[1]) * 1024 if found else 0

    def request(self, path: str, body: object = None) -> bytes:
        """A request's bytes: GET without a body, POST with one."""
        data = b"" if body is None else json.dumps(body).encode()
        lines = [
            f"{'GET' if body is None else 'POST'} {path} HTTP/1.1",
            f"Host: 127.0.0.1:{self.port}",
            "Content-Type: application/json",
            f"Content-Length: {len(data)}",
        ]
        return "\r\n".join([*lines, "", ""]).encode() + data


@contextmanager
def running(name: str, command: Sequence[str], port: int, **extra: str) -> Iterator[Service]:
    """The service, from when it answers until the block ends."""
    with tempfile.TemporaryFile() as said:
        # Each sets its own threads up: those of this process are for the engine alone.
        given = {name: value for name, value in os.environ.items() if name not in ONE_THREAD}
        process = subprocess.Popen(
            command, env=given | extra, stdout=said, stderr=subprocess.STDOUT
        )
        try:
            service = Service(name, process, port)
            until = time.monotonic() + PATIENCE
            while not asyncio.run(_answers(service)):
                if process.poll() is not None or time.monotonic() > until:
                    said.seek(0)
                    sys.exit(f"{name} does not start: {said.read().decode(errors='replace')}")
                time.sleep(0.2)
            yield service
        finally:
            process.terminate()
            process.wait(PATIENCE)


async def _answers(service: Service) -> bool:
    with suppress(OSError):
        async with connected(service) as client:
            return (await client.ask(service.request("/openapi.json"))).status == 200
    return False


@dataclass(frozen=True)
class Reply:
    """An answer, and what it took."""

    status: int  # 0: the connection broke, or it took too long
    seconds: float
    retry_after: bool = False
    body: bytes = b""


class Client:
    """One connection that is kept, as light as can be: the server is what is measured."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def ask(self, request: bytes) -> Reply:
        """Send a request, and wait for all of its answer."""
        began = time.perf_counter()
        self.writer.write(request)
        try:
            async with asyncio.timeout(PATIENCE):
                head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
                length = re.search(rb"\r\ncontent-length: (\d+)", head)
                body = await self.reader.readexactly(int(length[1]) if length else 0)
        except (OSError, EOFError, TimeoutError):
            return Reply(0, time.perf_counter() - began)
        seconds = time.perf_counter() - began
        return Reply(int(head[9:12]), seconds, b"\r\nretry-after:" in head, body)


@asynccontextmanager
async def connected(service: Service) -> AsyncIterator[Client]:
    """A connection of one's own."""
    client = Client(*await asyncio.open_connection("127.0.0.1", service.port, limit=1 << 22))
    try:
        yield client
    finally:
        client.writer.close()


@dataclass(frozen=True, kw_only=True)
class Load:
    """Requests of so many clients, each sent when the one before was answered."""

    what: str
    clients: int
    statuses: dict[int, int]
    per_second: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    server_ms: float  # of the processor, for one request
    client_cpu: float  # of one core
    busy: float  # processes that wanted a core, on the whole machine


def measured(
    what: str, clients: int, replies: Sequence[Reply], wall: float, server: float, own: float
) -> Load:
    """The figures of a round."""
    good = [reply.seconds * 1000 for reply in replies if reply.status == 200]
    p50, p95, p99 = np.percentile(good or [float("nan")], [50, 95, 99]).tolist()
    return Load(
        what=what,
        clients=clients,
        statuses=dict(Counter(reply.status for reply in replies)),
        per_second=len(good) / wall,
        p50_ms=p50,
        p95_ms=p95,
        p99_ms=p99,
        server_ms=server * 1000 / max(len(replies), 1),
        client_cpu=own / wall,
        busy=os.getloadavg()[0],
    )


async def closed_loop(
    service: Service, what: str, requests: Requests, clients: int, stop: Callable[[], bool]
) -> tuple[Load, list[tuple[float, Reply]]]:
    """Ask until it is time to stop; the figures, and when each answer was there."""
    replies: list[tuple[float, Reply]] = []

    async def one_client() -> None:
        async with connected(service) as client:
            while not stop():
                reply = await client.ask(next(requests))
                replies.append((time.perf_counter(), reply))
                if reply.status == 0:
                    return

    began, server, own = time.perf_counter(), service.cpu_seconds(), time.process_time()
    await asyncio.gather(*(one_client() for _ in range(clients)))
    wall = time.perf_counter() - began
    load = measured(
        what,
        clients,
        [reply for _, reply in replies],
        wall,
        service.cpu_seconds() - server,
        time.process_time() - own,
    )
    return load, replies


def for_seconds(seconds: float) -> Callable[[], bool]:
    """Says to stop after so long."""
    until = time.perf_counter() + seconds
    return lambda: time.perf_counter() > until


def engine_alone(library: Path, questions: Sequence[str], seconds: float) -> Iterator[Load]:
    """The same searches and answers without a service, on one and on two threads."""
    with open_library(library) as opened:
        verbs: dict[str, Callable[[str], object]] = {
            "search": lambda text: opened.search_documents(text, top_k=TOP_K),
            "ask": opened.ask,
        }
        for name, verb in verbs.items():
            asked = cycle(questions)
            verb(next(asked))
            for threads in (1, 2):
                yield _in_threads(f"engine {name}", verb, asked, threads, seconds)


def _in_threads(
    what: str, verb: Callable[[str], object], asked: Iterator[str], threads: int, seconds: float
) -> Load:
    replies: list[Reply] = []
    stop = for_seconds(seconds)

    def work(_: int) -> None:
        while not stop():
            began = time.perf_counter()
            verb(next(asked))
            replies.append(Reply(200, time.perf_counter() - began))

    began, own = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(threads)))
    wall, own = time.perf_counter() - began, time.process_time() - own
    return measured(what, threads, replies, wall, own, 0.0)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How long everything takes, in seconds."""

    rounds: int
    seconds: float  # of one load
    too_much: float  # that more is asked than can be answered
    recovery: float  # that is waited for
    documents: int  # handed in, at most
    handing_in: float


class Crowd:
    """Clients who do not wait for each other; a connection that is free is used again."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._free: list[Client] = []
        self.connections = 0
        self.replies: list[Reply] = []

    @property
    def is_full(self) -> bool:
        """Whether all connections that may be open wait for an answer."""
        return not self._free and self.connections >= CONNECTIONS

    async def send(self, request: bytes) -> None:
        """Ask, and note the reply."""
        while self._free and self._free[-1].reader.at_eof():  # the server closed it, unused
            self._close(self._free.pop())
        if self._free:
            client = self._free.pop()
        else:
            self.connections += 1
            client = Client(
                *await asyncio.open_connection("127.0.0.1", self._service.port, limit=1 << 22)
            )
        reply = await client.ask(request)
        self.replies.append(reply)
        if reply.status:
            self._free.append(client)
        else:
            self._close(client)

    def close(self) -> None:
        """Close what is still open."""
        while self._free:
            self._close(self._free.pop())

    def _close(self, client: Client) -> None:
        client.writer.close()
        self.connections -= 1


async def overload(service: Service, requests: Requests, usual: Load, plan: Plan) -> dict[str, Any]:
    """Four times as many searches as are answered: statuses, memory, and how soon it is over."""
    rate = usual.per_second * TIMES_TOO_MANY
    crowd = Crowd(service)
    unasked = 0
    memory = [service.memory()]
    before = memory[0]
    sent: set[asyncio.Task[None]] = set()
    began = time.perf_counter()
    for number in count():
        due = began + number / rate
        if due > began + plan.too_much:
            break
        await asyncio.sleep(max(due - time.perf_counter(), 0))
        if number % max(int(rate / 4), 1) == 0:
            memory.append(service.memory())
        if crowd.is_full:
            unasked += 1
            continue
        task = asyncio.create_task(crowd.send(next(requests)))
        sent.add(task)
        task.add_done_callback(sent.discard)
    ended = time.perf_counter()
    left = len(sent)
    stop = for_seconds(plan.recovery)
    _, after = await closed_loop(service, "", requests, usual.clients, stop)
    memory.append(service.memory())
    await asyncio.gather(*sent)
    crowd.close()
    await asyncio.sleep(1.0)
    return {
        "rate": rate,
        "seconds": ended - began,
        "statuses": dict(Counter(reply.status for reply in crowd.replies)),
        "without_retry_after": sum(
            reply.status in (429, 503) and not reply.retry_after for reply in crowd.replies
        ),
        "not_sent": unasked,  # as all connections waited
        "waiting_at_the_end": left,
        "slowest_seconds": max(reply.seconds for reply in crowd.replies),
        "recovered_seconds": _recovered(
            [(at - ended, reply) for at, reply in after],
            usual.p95_ms / 1000 * NORMAL,
            int(plan.recovery),
        ),
        "memory_before": before,
        "memory_peak": max(memory),
        "memory_after": service.memory(),
    }


def _recovered(after: Sequence[tuple[float, Reply]], usual: float, seconds: int) -> float | None:
    """From which second on p95 stays as usual; None where it never was."""
    recovered: float | None = None
    for second in range(seconds):
        window = [
            reply.seconds if reply.status == 200 else float("inf")
            for at, reply in after
            if second <= at < second + 1
        ]
        if not window or np.percentile(window, 95, method="higher") > usual:
            recovered = None
        elif recovered is None:
            recovered = float(second)
    return recovered


async def ingestion(
    service: Service, requests: Requests, usual: Load, plan: Plan
) -> dict[str, Any]:
    """Documents are handed in, one after the other, while eight clients search."""
    words = [f"zx{secrets.token_hex(6)}" for _ in range(plan.documents)]
    taken: dict[str, str] = {}
    seconds: list[float] = []
    statuses: Counter[int] = Counter()
    is_over = False
    is_late = for_seconds(plan.handing_in)

    async def hand_in() -> None:
        nonlocal is_over
        async with connected(service) as client:
            for word in words:
                if is_late():
                    break
                content = f"The harbour office keeps a note about {word} for the next season."
                body = {"filename": f"{word}.txt", "content": content}
                reply = await client.ask(service.request("/rag/index", body))
                statuses[reply.status] += 1
                seconds.append(reply.seconds)
                if reply.status == 200:
                    taken[word] = json.loads(reply.body)["id"]
                elif reply.status == 0:
                    break
        is_over = True

    (load, _), _ = await asyncio.gather(
        closed_loop(service, "search, while", requests, usual.clients, lambda: is_over), hand_in()
    )
    lost = []
    # Notes that differ in one word are as near to it in meaning as the one that has it.
    by_words = {"mode": "words", "top_k": 3}
    async with connected(service) as client:
        for word in taken:
            reply = await client.ask(service.request("/rag/search", {**by_words, "query": word}))
            if taken[word] not in reply.body.decode():
                lost.append(word)
    return {
        "documents": sum(statuses.values()),
        "statuses": dict(statuses),
        "acknowledged": len(taken),
        "lost": len(lost),
        "seconds_each": median(seconds),
        "search": asdict(load),
    }


async def left_alone(service: Service, requests: Requests, usual: Load) -> dict[str, Any]:
    """Clients ask and go away: how much of the work is done all the same."""
    clients = await asyncio.gather(
        *(
            asyncio.open_connection("127.0.0.1", service.port, limit=1 << 22)
            for _ in range(LEFT_ALONE)
        )
    )
    before = service.cpu_seconds()
    for _, writer in clients:
        writer.write(next(requests))
    await asyncio.sleep(0.25)  # so that some are worked on, and the others wait
    for _, writer in clients:
        writer.close()
    began = time.perf_counter()
    computed, quiet = service.cpu_seconds(), 0
    while quiet < 3 and time.perf_counter() - began < PATIENCE:
        await asyncio.sleep(0.1)
        now = service.cpu_seconds()
        quiet = quiet + 1 if now - computed < 0.02 else 0
        computed = now
    async with connected(service) as client:
        told = (await client.ask(service.request("/metrics"))).body.decode()
    gauge = re.search(r"^\w*under_way\w*(?:\{[^}]*\})? (\S+)", told, re.M)
    return {
        "questions": LEFT_ALONE,
        "work_done": (computed - before) * 1000 / (usual.server_ms * LEFT_ALONE),
        "quiet_after_seconds": time.perf_counter() - began - 0.3,
        "in_flight": float(gauge[1]) if gauge else None,
    }


def run(library: Path, peer: Path, questions: Sequence[str], plan: Plan) -> dict[str, Any]:
    """Everything, one after the other."""
    report: dict[str, Any] = {"cores": len(os.sched_getaffinity(0)), "plan": asdict(plan)}
    loads: list[Load] = []
    with ExitStack() as stack:
        ours = stack.enter_context(serve_pincite(library))
        theirs = stack.enter_context(serve_txtai(peer))
        ask_theirs = [theirs.request(f"/search?query={quote(one)}&limit=10") for one in questions]
        ask_ours = {
            "search": [
                ours.request("/rag/search", {"query": one, "top_k": TOP_K}) for one in questions
            ],
            "ask": [ours.request("/rag/ask", {"question": one}) for one in questions],
        }
        sides: dict[str, tuple[Service, Requests]] = {
            "search": (ours, cycle(ask_ours["search"])),
            "txtai search": (theirs, cycle(ask_theirs)),
            "ask": (ours, cycle(ask_ours["ask"])),
        }
        for service, requests in sides.values():  # what is loaded at the first question
            asyncio.run(closed_loop(service, "", requests, 2, for_seconds(2.0)))
        for number in range(plan.rounds):
            for clients in CLIENTS:
                for what, (service, requests) in sides.items():
                    stop = for_seconds(plan.seconds)
                    load, _ = asyncio.run(closed_loop(service, what, requests, clients, stop))
                    loads.append(load)
            loads += engine_alone(library, questions, plan.seconds)
            print(f"round {number + 1} of {plan.rounds} is done", file=sys.stderr)
        report["loads"] = [asdict(one) for one in middle(loads)]
        usual = {one.what: one for one in middle(loads) if one.clients == 8}
        searches = sides["search"][1]
        report["left_alone"] = asyncio.run(left_alone(ours, sides["ask"][1], usual["ask"]))
        report["memory"] = {one.name: one.memory() for one in (ours, theirs)}
        report["overload"] = asyncio.run(overload(ours, searches, usual["search"], plan))
        report["ingestion"] = asyncio.run(ingestion(ours, searches, usual["search"], plan))
    return report


def serve_pincite(library: Path) -> Any:  # noqa: ANN401 — a context manager
    """`pincite serve`, on a port of its own."""
    port = free_port()
    command = [sys.executable, "-m", "pincite", "serve", str(library), "--no-watch"]
    return running("pincite", [*command, "--port", str(port)], port, PINCITE_WORKER="off")


def serve_txtai(peer: Path) -> Any:  # noqa: ANN401 — a context manager
    """What txtai's manual starts, with its index and the model that ours was filled with."""
    port = free_port()
    config = peer / "app.yml"
    config.write_text(f"path: {peer / 'index'}\nembeddings:\n  transform: load.question_vectors\n")
    return running(
        "txtai",
        [sys.executable, "-m", "uvicorn", "txtai.api:app", "--port", str(port)],
        port,
        CONFIG=str(config),
        ALLOW_RESOLVE_TRANSFORM="True",
        PYTHONPATH=str(Path(__file__).parent),
        HF_HUB_OFFLINE="1",
    )


def free_port() -> int:
    """A port that nobody listens at."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def middle(loads: Sequence[Load]) -> list[Load]:
    """Of the rounds of each load, the median of every figure."""
    together: dict[tuple[str, int], list[Load]] = {}
    for one in loads:
        together.setdefault((one.what, one.clients), []).append(one)
    return [_middle(rounds) for rounds in together.values()]


def _middle(rounds: Sequence[Load]) -> Load:
    statuses: Counter[int] = Counter()
    for one in rounds:
        statuses.update(one.statuses)
    names = [name for name, kind in Load.__annotations__.items() if kind == "float"]
    figures = {name: median(getattr(one, name) for one in rounds) for name in names}
    first = rounds[0]
    return Load(what=first.what, clients=first.clients, statuses=dict(statuses), **figures)


def table(report: dict[str, Any]) -> str:
    """The figures, as Markdown."""
    columns = ["", "clients", "a second", "p50 ms", "p95 ms", "p99 ms", "a second to txtai"]
    columns += ["p95 to txtai", "CPU ms", "client's CPU", "not 200", "load"]
    loads = report["loads"]
    theirs = {one["clients"]: one for one in loads if one["what"] == "txtai search"}
    lines = [row(columns), row(["---", *["---:"] * (len(columns) - 1)])]
    for one in loads:
        peer = theirs.get(one["clients"]) if one["what"] == "search" else None
        failed = sum(number for status, number in one["statuses"].items() if int(status) != 200)
        cells = [one["what"], str(one["clients"]), f"{one['per_second']:,.1f}"]
        cells += [f"{one[name]:,.1f}" for name in ("p50_ms", "p95_ms", "p99_ms")]
        for name in ("per_second", "p95_ms"):
            cells.append(f"{one[name] / peer[name]:.2f}" if peer else "")
        cells += [f"{one['server_ms']:.1f}", f"{one['client_cpu']:.0%}", str(failed)]
        lines.append(row([*cells, f"{one['busy']:.1f}"]))
    much, given, alone = report["overload"], report["ingestion"], report["left_alone"]
    memory = [f"{much[f'memory_{when}'] / 1e6:,.0f}" for when in ("before", "peak", "after")]
    recovered = much["recovered_seconds"]
    usual = next(one for one in loads if one["what"] == "search" and one["clients"] == 8)
    held = (f"{name} {size / 1e6:,.0f} MB" for name, size in report["memory"].items())
    lines += [
        "",
        f"- Memory after all loads: {', '.join(held)}.",
        f"- Overload, {much['rate']:,.0f} searches a second for {much['seconds']:.0f} s: answers "
        f"{much['statuses']}, {much['without_retry_after']} refusals without Retry-After, "
        f"{much['not_sent']:,} not sent, {much['waiting_at_the_end']:,} waiting at the end, the "
        f"slowest {much['slowest_seconds']:.1f} s; p95 as usual "
        + ("never again" if recovered is None else f"from {recovered:.0f} s on")
        + f"; memory {memory[0]} MB before, {memory[1]} at most, {memory[2]} after.",
        f"- Ingestion: {given['acknowledged']} of {given['documents']} documents taken in "
        f"({given['statuses']}), {given['lost']} of them not found; {given['seconds_each']:.2f} s "
        f"each; meanwhile {given['search']['per_second']:,.1f} searches a second "
        f"({given['search']['per_second'] / usual['per_second']:.2f} of usual), p95 "
        f"{given['search']['p95_ms']:,.0f} ms (usually {usual['p95_ms']:,.0f}), "
        f"{given['search']['statuses']}.",
        f"- {alone['questions']} questions whose clients went away: {alone['work_done']:.0%} of "
        f"their work was done; quiet after {alone['quiet_after_seconds']:.1f} s; in flight then: "
        f"{alone['in_flight']}.",
    ]
    return "\n".join(lines)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    cached = user_cache_path("pincite")
    parser.add_argument("data", type=Path, metavar="DATA_FOLDER")
    parser.add_argument("--set", help="fiqa; scifact with --quick")
    parser.add_argument("--keep", type=Path, default=cached / "load", metavar="FOLDER")
    parser.add_argument("--cache", type=Path, default=cached / "benchmarks.db", metavar="FILE")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each load")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a small set, once, a second each")
    parser.add_argument("--json", type=Path, metavar="FILE")
    chosen = parser.parse_args()
    if not ONE_THREAD.keys() <= os.environ.keys():  # NumPy is loaded, and has read it
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ONE_THREAD})
    name = chosen.set or ("scifact" if chosen.quick else "fiqa")
    plan = Plan(
        rounds=chosen.rounds,
        seconds=chosen.seconds,
        too_much=15.0,
        recovery=30.0,
        documents=100,
        handing_in=60.0,
    )
    if chosen.quick:
        plan = Plan(rounds=1, seconds=1.0, too_much=3.0, recovery=6.0, documents=5, handing_in=10.0)
    dataset = load(chosen.data, name)
    asked = [case.question for case in dataset.cases]
    if has_train_split(chosen.data, name):
        asked += [case.question for case in train_cases(chosen.data, name)]
    chosen.cache.parent.mkdir(parents=True, exist_ok=True)
    library, peer = chosen.keep / name, chosen.keep / f"{name}.txtai"
    make_library(dataset, library, chosen.cache)
    peer.mkdir(exist_ok=True)
    passages = make_txtai(library, peer)
    report = {"set": name, "documents": len(dataset.documents), "passages": passages}
    report |= run(library, peer, list(dict.fromkeys(asked)), plan)
    if chosen.json:
        chosen.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(
        f"{name}: {report['documents']:,} documents as {passages:,} passages, "
        f"{report['cores']} cores, medians of {plan.rounds} rounds of {plan.seconds:g} s.\n"
    )
    print(table(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
