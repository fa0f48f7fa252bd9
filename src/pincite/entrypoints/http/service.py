"""What the routes of the service share: who is admitted, threads in which the work is done, and how
answers and problems are sent."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import os
import re
import resource
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import quote as quoted, urlencode

import anyio
import anyio.to_thread
import msgspec
from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from limits import parse as parse_rate
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from pincite import __version__
from pincite.engine.folders import has_index
from pincite.engine.jobs import Jobs
from pincite.engine.queries import CALLER, UNLOGGED, Caller
from pincite.engine.serving import Access, AnyLibrary, Libraries, opened
from pincite.entrypoints.http.guard import OWNER, Limits, Measures, bearer, problem
from pincite.errors import (
    CitationNotFound,
    ConsentNeeded,
    FileUnreadable,
    FolderMissing,
    IndexMissing,
    LibraryBusy,
    LibraryClosed,
    LibraryError,
    ModelError,
    ModelMismatch,
    PinciteError,
    ProjectMissing,
    ReceiptInvalid,
    SearchCancelled,
    ServerDenied,
    SettingsError,
    StoreBusy,
    StoreDenied,
    StoreError,
)
from pincite.records import Abstention, Answer, Context, FoundDocuments, SearchResults
from pincite.text.printable import printable
from pincite.tools import ToolContext

Json = dict[str, Any]
Right = Literal["open", "read", "write"]
T = TypeVar("T")
Told = TypeVar("Told", bound=SearchResults | FoundDocuments | Context | Answer | Abstention)
_log = logging.getLogger(__name__)

# Who may call what: everybody, whoever may read the library, whoever may also change it.
RIGHTS: Mapping[tuple[str, str], Right] = {
    ("POST", "/rag/index"): "write",
    ("POST", "/rag/search"): "read",
    ("POST", "/rag/context"): "read",
    ("POST", "/rag/ask"): "read",
    ("POST", "/rag/artifacts"): "read",
    ("POST", "/rag/check"): "read",
    ("GET", "/rag/show"): "read",
    ("GET", "/rag/libraries"): "read",
    ("GET", "/rag/documents"): "read",
    ("GET", "/rag/documents/{document_id}"): "read",
    ("GET", "/rag/documents/{document_id}/text"): "read",
    ("GET", "/rag/documents/{document_id}/file"): "read",
    ("DELETE", "/rag/documents/{document_id}"): "write",
    ("GET", "/rag/catalog"): "read",
    ("POST", "/rag/admin/reindex"): "write",
    ("GET", "/rag/jobs"): "read",
    ("GET", "/rag/jobs/{job_id}"): "read",
    ("GET", "/rag/jobs/{job_id}/events"): "read",
    ("POST", "/rag/jobs/{job_id}/cancel"): "write",
    ("GET", "/rag/log"): "read",
    ("POST", "/rag/feedback"): "read",
    ("GET", "/view/{chunk_id}"): "read",
    ("POST", "/mcp"): "read",
    ("DELETE", "/mcp"): "read",
    ("GET", "/v1/models"): "read",
    ("GET", "/v1/models/{model:path}"): "read",
    ("POST", "/v1/chat/completions"): "read",
    ("GET", "/healthz"): "open",
    ("GET", "/readyz"): "open",
    ("GET", "/metrics"): "read",
    ("GET", "/openapi.json"): "open",
}

# The first line that fits counts: what a client can mend is a 4xx. Documented in docs/serve.md.
STATUSES: tuple[tuple[type[PinciteError], int, str], ...] = (
    (SettingsError, 422, "invalid"),
    (FileUnreadable, 422, "unreadable"),
    (ReceiptInvalid, 422, "invalid_receipt"),
    (CitationNotFound, 404, "not_found"),
    (ProjectMissing, 404, "not_found"),
    (StoreDenied, 403, "denied"),
    (ServerDenied, 401, "unauthorized"),
    (ConsentNeeded, 403, "consent_needed"),
    (LibraryBusy, 503, "busy"),
    (StoreBusy, 503, "busy"),
    (FolderMissing, 503, "away"),
    (LibraryError, 409, "no_index"),
    (LibraryClosed, 503, "stopping"),
    (SearchCancelled, 503, "cancelled"),
    (ModelMismatch, 409, "model_mismatch"),
    (ModelError, 503, "model_unavailable"),
    (StoreError, 503, "store_unavailable"),
)

_ENOUGH = 16  # letters of a chunk's id: people see the addresses, and models pay for them
_LINK_SECONDS = 7 * 24 * 3600  # that a link to a citation can be opened without its key
_UNTIL = re.compile(r"[0-9]{1,12}")  # seconds since 1970
_SECONDS_READY, _SECONDS_FAILED = 30.0, 10.0  # until the service looks again how it is


@dataclass
class Service:
    """What the routes work with."""

    libraries: Libraries
    jobs: Jobs
    limits: Limits = field(default_factory=Limits)
    profile: str | None = None  # of the language model that writes answers
    judge: str = ""
    tools: str = "default"  # that agents are offered, as `--tools` takes them
    options: tuple[str, ...] = ()  # of the command line, for who starts it again

    def __post_init__(self) -> None:
        self.measures = Measures()
        self.threads = anyio.CapacityLimiter(self.limits.at_once)
        self.writers = anyio.CapacityLimiter(self.limits.at_once)
        self.began = time.monotonic()
        self.warming: str = "warming up"  # or ready, or why it failed
        self.not_followed: dict[str, str] = {}  # why not, by the library; empty where it is
        self.indexing: dict[str, str] = {}  # how far, by the library; empty where it is done
        self.stopping = threading.Event()
        self._under_way = 0
        rate = self.limits.rate
        try:
            self._rate = parse_rate(rate) if rate else None
        except ValueError as error:
            raise SettingsError(f"{rate!r} is not a rate, such as 100/second") from error
        self._rates = MovingWindowRateLimiter(MemoryStorage())

    def is_full(self) -> bool:
        """Whether more requests wait already than are worked on in a reasonable time."""
        return self._under_way >= self.limits.at_once + self.limits.waiting

    def admit(self, request: Request, right: Right) -> Response | None:
        """Who asks, and why they are turned away if they are; called in a thread."""
        access = self._access(request)
        # Agents ask whatever library is there: without a key where there are keys, they ask none.
        if access is None or (access.must_name and request.url.path == "/mcp"):
            return problem(
                401,
                "unauthorized",
                "send a key that is valid here as `Authorization: Bearer KEY`; "
                "`pincite keys add` makes one",
            )
        if right == "write" and not access.may_write:
            return problem(403, "read_only_key", "this key may read only")
        request.scope["state"]["access"] = access
        caller = access.key_id or (request.client.host if request.client else "owner")
        if self._rate and not self._rates.hit(self._rate, caller):
            return problem(429, "too_many", f"at most {self._rate}", retry_after=1)
        return None

    def _access(self, request: Request) -> Access | None:
        if request.scope.get(OWNER):
            return self.libraries.owner()
        asked = request.query_params
        if request.url.path.startswith("/view/") and "signature" in asked:
            return self._of_link(request)
        return self.libraries.access(bearer(request.headers.getlist("authorization")))

    def _of_link(self, request: Request) -> Access | None:
        """Of a link that was made for a key: it opens one place, for some days."""
        asked = request.query_params
        found = self.libraries.access_of_key(asked.get("key", ""))
        until = asked.get("until", "")
        if found is None or not _UNTIL.fullmatch(until) or int(until) < time.time():
            return None
        access, signer = found
        place = (asked.get("library", ""), request.path_params.get("chunk_id", ""), until)
        expected, shown = _signature(signer, *place), asked["signature"]
        is_right = hmac.compare_digest(expected.encode(), shown.encode())
        return replace(access, may_write=False) if is_right else None

    def tool_context(self, request: Request, agent: str) -> ToolContext:
        """What the tools of an agent may use: the libraries of whoever asks."""
        access: Access = request.scope["state"]["access"]

        def open_for(name: str) -> AnyLibrary:
            CALLER.set(Caller(door="mcp", user=access.user, key=access.key_id, agent=agent[:100]))
            return opened(self.libraries, access, name)[1]

        return ToolContext(
            open=open_for,
            names=access.libraries,
            link=lambda library, path, chunk_id, spot: (
                self.link(request, library, chunk_id, spot.start, spot.end) if chunk_id else ""
            ),
            may_write=access.may_write,
            profile=self.profile,
            judge=self.judge,
        )

    async def work(
        self, request: Request, library: str | None, do: Callable[[AnyLibrary, str], T]
    ) -> T:
        """What `do` gives for the library that is meant, in a thread; it hears when nobody waits.

        Whatever changes a library may wait for another writer, and so has threads of its own.
        """

        async def watch() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass
            self.gone(request).set()

        changes = RIGHTS[request.method, request.scope["route"].path] == "write"
        threads = self.writers if changes else self.threads
        watching = asyncio.create_task(watch())
        try:
            return await anyio.to_thread.run_sync(self._done, request, library, do, limiter=threads)
        finally:
            watching.cancel()

    async def stream(
        self,
        request: Request,
        library: str | None,
        do: Callable[[AnyLibrary, str, Callable[[Json], None]], Json],
    ) -> AsyncIterator[tuple[str, Json]]:
        """Each claim that `do` tells of, then the outcome, or the problem."""
        loop = asyncio.get_running_loop()
        checked: asyncio.Queue[tuple[str, Json] | None] = asyncio.Queue()

        def tell(event: tuple[str, Json] | None) -> None:
            loop.call_soon_threadsafe(checked.put_nowait, event)

        def answered(opened: AnyLibrary, name: str) -> Json:
            return do(opened, name, lambda claim: tell(("claim", claim)))

        async def answer() -> tuple[str, Json]:
            try:
                return "outcome", await self.work(request, library, answered)
            except Exception as error:  # noqa: BLE001 — the stream has begun
                return broken_off(request, error)
            finally:
                checked.put_nowait(None)

        answering = asyncio.create_task(answer())
        try:
            with self.counted():
                while (event := await checked.get()) is not None:
                    yield event
                yield await answering
        finally:
            self.gone(request).set()

    def gone(self, request: Request) -> threading.Event:
        """Set when nobody waits for the answer any more."""
        event: threading.Event = request.scope["state"].setdefault("gone", threading.Event())
        return event

    @contextmanager
    def counted(self) -> Iterator[None]:
        """One more request is worked on or waits for its turn; on the event loop only."""
        self._under_way += 1
        self.measures.under_way.set(self._under_way)
        try:
            yield
        finally:
            self._under_way -= 1
            self.measures.under_way.set(self._under_way)

    def _done(self, request: Request, name: str | None, do: Callable[[AnyLibrary, str], T]) -> T:
        access: Access = request.scope["state"]["access"]
        agent = printable(request.headers.get("user-agent", ""))[:100]
        door = "cli" if request.scope.get(OWNER) else "http"
        CALLER.set(Caller(door=door, user=access.user, key=access.key_id, agent=agent))
        key, library = opened(self.libraries, access, name)
        try:
            return do(library, key)
        except (IndexMissing, LibraryBusy) as error:
            is_busy = isinstance(error, LibraryBusy)
            if not is_busy or not has_index(library.root):
                self.refuse_unfinished(key)
            if is_busy or any(library.root.glob("[!.]*")):
                raise
        except ProjectMissing:
            if "/" in key:  # somebody else's
                raise
        raise IndexMissing("nothing was indexed here yet; hand something in first")

    def note_followed(self, name: str, why_not: str) -> None:
        """A run over the folder has ended; why it is not followed, if it is not."""
        self.not_followed[name] = why_not
        self.indexing[name] = ""

    def refuse_unfinished(self, name: str) -> None:
        """IndexMissing where this service itself is making the index."""
        if far := self.indexing.get(name):
            raise IndexMissing(f"{name} is being indexed, {far}; ask again") from None

    def with_files_left(self, library: AnyLibrary, name: str, told: Told) -> Told:
        """With a note on files that were handed in and cannot be found yet."""
        left = self.jobs.files_left(library, name)
        if not left:
            return told
        files = (
            f"{left} files that were handed in are" if left > 1 else "a file that was handed in is"
        )
        notes = (*told.asides.notes, f"{files} still being indexed")
        if isinstance(told, SearchResults):
            return replace(told, notes=notes, complete=False)
        return replace(told, asides=replace(told.asides, notes=notes, complete=False))

    def link(self, request: Request, library: str, chunk_id: str, start: int, end: int) -> str:
        """The address that opens a citation at its words; signed where a key is needed."""
        state = request.scope["state"]
        access: Access = state["access"]
        chunk_id = chunk_id[:_ENOUGH]
        is_default = not (access.key_id or access.must_name) and library == access.libraries[0]
        asked = {} if is_default else {"library": library}
        asked["at"] = f"{start}-{end}"
        if access.key_id:
            if "signer" not in state:
                state["signer"] = self.libraries.access_of_key(access.key_id)
            until = str(int(time.time()) // 3600 * 3600 + _LINK_SECONDS)
            if state["signer"] is not None:
                asked |= {"key": access.key_id, "until": until}
                asked["signature"] = _signature(state["signer"][1], library, chunk_id, until)
        return f"{request.base_url}view/{quoted(chunk_id, safe='')}?{urlencode(asked)}#quote"

    def state(self, *, is_owner: bool) -> dict[str, object]:
        """How the service is; what it serves is nobody's business but its owner's."""
        served = getattr(self.libraries, "libraries", {})
        away = [name for name, library in served.items() if not library.root.is_dir()]
        now = f"failed: the folder of {', '.join(away)} is away" if away else self.warming
        told: dict[str, object] = {"status": now.partition(":")[0], "version": __version__}
        access = self.libraries.access(None)
        if is_owner or (access is not None and not access.must_name):
            troubles = [f"indexing {one}, {far}" for one, far in self.indexing.items() if far]
            troubles += [
                f"not followed: {one}: {why}" for one, why in self.not_followed.items() if why
            ]
            told |= {
                "message": "; ".join((now, *troubles)),
                "pid": os.getpid(),
                "uptime_seconds": round(time.monotonic() - self.began, 1),
                "memory_bytes": memory_bytes(),
                "libraries": self.libraries.names(),
                **({"folders": [str(one.root) for one in served.values()]} if is_owner else {}),
                **({"options": self.options} if is_owner else {}),
            }
        return told

    def warm_up(self, stop: threading.Event | None = None) -> None:
        """Open libraries and models before somebody waits for them; then see if they still work."""
        before = CALLER.set(UNLOGGED)
        try:
            while True:
                failed = self.libraries.warm_up()
                self.warming = f"failed: {'; '.join(failed)}" if failed else "ready"
                if stop is None or stop.wait(_SECONDS_FAILED if failed else _SECONDS_READY):
                    return
        finally:
            CALLER.reset(before)


def as_json(value: Any, status: int = 200) -> Response:  # noqa: ANN401 — any JSON
    """What most routes answer."""
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def event_stream(events: AsyncIterator[tuple[str, Any]]) -> StreamingResponse:
    """Server-sent events, each with its name if it has one."""
    lines = (
        b"%bdata: %b\n\n"
        % (b"event: %b\n" % name.encode() if name else b"", msgspec.json.encode(data))
        async for name, data in events
    )
    # Proxies must pass each event on at once.
    return StreamingResponse(
        lines, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"}
    )


def problem_of(request: Request, error: Exception) -> Response:
    """An error of the engine as a problem; of any other only the log tells."""
    name = type(error).__name__
    request.scope["state"]["error"] = name
    for kind, status, code in STATUSES:
        if isinstance(error, kind):
            retry = 5 if status == 503 else None
            return problem(status, code, str(error), error=name, retry_after=retry)
    told = name if isinstance(error, PinciteError) else ""
    return problem(500, "error", "internal error; see the log of the service", error=told)


def broken_off(request: Request, error: Exception) -> tuple[str, Json]:
    """The last event of a stream that fails: it has begun, so it must tell how it ends."""
    if not isinstance(error, PinciteError):
        _log.error("a stream broke off", exc_info=error)
    body: Json = json.loads(bytes(problem_of(request, error).body))
    return "problem", body


def _signature(signer: bytes, *place: str) -> str:
    return hmac.new(signer, "\0".join(place).encode(), hashlib.sha256).hexdigest()[:32]


def memory_bytes() -> int:
    """What this process has in memory now; where the system does not say, the most it ever had."""
    with suppress(OSError):
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
        1 if sys.platform == "darwin" else 1024
    )
