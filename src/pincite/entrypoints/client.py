"""A library of a pincite server, asked as if it were here: the same verbs, the same records.

Only the standard library's HTTP: loading more would take longer than most answers do.
"""

from __future__ import annotations

import http.client
import json
import re
import socket
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from secrets import token_hex
from typing import Any, Literal, NoReturn, Self, TypeVar
from urllib.parse import quote, unquote, urlencode, urlsplit

import msgspec

from pincite.errors import (
    CitationNotFound,
    FileUnreadable,
    JobUnfinished,
    LibraryClosed,
    PinciteError,
    ProjectMissing,
    ServerDenied,
    ServerError,
    ServerUnreachable,
    SettingsError,
    StoreBusy,
)
from pincite.records import (
    Abstention,
    Answer,
    CatalogEntry,
    CheckedCitation,
    Citation,
    CitedPlace,
    Claim,
    Context,
    DeleteStatus,
    Document,
    DocumentEntry,
    DocumentPage,
    FiltersGiven,
    FoundDocuments,
    Mode,
    Outcome,
    SearchResults,
    Uploaded,
    UploadStatus,
    filters_of,
)
from pincite.records.journal import Job
from pincite.settings import (
    DEFAULT_BUDGET,
    AskSettings,
    SearchSettings,
    check_ask,
    check_search,
)

RECORDS = "application/x-pincite-records+json"
"""What a client accepts that wants the engine's own records."""
EVENTS = "text/event-stream"

_LARGEST_ANSWER = 512 << 20  # bytes
_TRIES = 3  # of a request that changes nothing, where the server is busy
_LONGEST_WAIT = 10.0  # seconds between two of them
_BETWEEN_LOOKS = 0.5  # seconds, at a job
_MOST_IDLE = 8  # connections that are kept for the next request

_Record = TypeVar("_Record")
_Form = tuple[bytes, str]  # a body and its type


def connect(
    url: str, *, key: str | None = None, library: str | None = None, timeout: float = 120.0
) -> RemoteLibrary:
    """A library of the pincite server at this address, by its name there; else its first one.

    The address is `http(s)://host:port`, or `unix:/path` of a socket on this machine. The key is
    one that `pincite keys add` gave. `timeout` is how many seconds of silence are borne.

    Example:
        >>> with connect("http://localhost:8000") as library:  # doctest: +SKIP
        ...     for result in library.search("who signs the release?").results:
        ...         print(result.citation, result.quote.text)
    """
    return RemoteLibrary(_Server(url, key, timeout), library)


class RemoteLibrary:
    """A library of a server. Threads may share it."""

    def __init__(self, server: _Server, name: str | None) -> None:
        self._server = server
        self.name = name

    def search(
        self,
        question: str,
        *,
        top_k: int | None = None,
        mode: Mode = "hybrid",
        filters: FiltersGiven = None,
        settings: SearchSettings = SearchSettings(),
    ) -> SearchResults:
        """The chunks that speak most to the question, best first, each with its exact place."""
        count = settings.top_k if top_k is None else top_k
        wanted = {"query": question, "top_k": count, "per_document": False}
        return self._search("/rag/search", wanted, mode, filters, settings, SearchResults)

    def search_documents(
        self,
        question: str,
        *,
        top_k: int | None = None,
        mode: Mode = "hybrid",
        filters: FiltersGiven = None,
        settings: SearchSettings = SearchSettings(),
    ) -> FoundDocuments:
        """The documents that speak most to the question, each with the best of its chunks."""
        count = settings.top_k if top_k is None else top_k
        wanted = {"query": question, "top_k": count, "per_document": True}
        return self._search("/rag/search", wanted, mode, filters, settings, FoundDocuments)

    def ask(
        self,
        question: str,
        *,
        filters: FiltersGiven = None,
        settings: SearchSettings = SearchSettings(),
        asking: AskSettings = AskSettings(),
        on_claim: Callable[[Claim], None] | None = None,
    ) -> Outcome:
        """An Answer, each claim with the very words it rests on, or an Abstention that says why.

        `on_claim` is told each claim as soon as the server has checked it.
        """
        check_ask(asking)
        wanted = {"question": question, "asking": _differences(asking, AskSettings())}
        asked = self._tuned(wanted, "hybrid", filters, settings)
        if on_claim is None:
            return _outcome(self._server.ask("POST", "/rag/ask", _json(asked)))
        with closing(self._server.events("/rag/ask", asked)) as events:
            for event, data in events:
                if event == "claim":
                    on_claim(_part(data, "claim", Claim))
                elif event == "outcome":
                    return _outcome(data)
        raise ServerError(f"{self._server.name} broke off in the middle of an answer; ask again")

    def get_relevant_context(
        self,
        question: str,
        *,
        budget: int = DEFAULT_BUDGET,
        mode: Mode = "hybrid",
        filters: FiltersGiven = None,
        settings: SearchSettings = SearchSettings(),
    ) -> Context:
        """Labelled passages for a language model to read, never more tokens than the budget."""
        wanted = {"query": question, "budget": budget}
        return self._search("/rag/context", wanted, mode, filters, settings, Context)

    def show(self, citation: str | Citation, *, around: int = 3) -> CitedPlace:
        """The cited lines with some lines around them; paths are those of the library."""
        return self._get("/rag/show", CitedPlace, citation=str(citation), around=around)

    def check(self, source: str | Path) -> tuple[CheckedCitation, ...]:
        """What became of each citation of a receipt, or of Markdown that `ask --copy` wrote.

        A Path is a file, a str is its text. ReceiptInvalid where it holds no such citations.
        """
        if isinstance(source, Path):
            from pincite.answer.receipts import read_file

            source = read_file(source).decode(errors="replace")
        form = _json(self._named({"receipt": source}))
        content = self._server.ask("POST", "/rag/check", form)
        return _decoded(content, tuple[CheckedCitation, ...])

    def catalog(self, question: str = "") -> list[CatalogEntry]:
        """The library's files and how they stand: all by path, or those a question describes."""
        return self._get("/rag/catalog", list[CatalogEntry], query=question)

    def index_document(
        self,
        name: str,
        data: bytes,
        *,
        labels: Mapping[str, Any] | None = None,
        method: str | None = None,
        wait: float | None = None,
    ) -> Uploaded:
        """Make a file searchable; the same bytes again are the same document.

        Of a large file the server makes a job, which is waited for, at most `wait` seconds where
        they are given; JobUnfinished then names it. FileUnreadable says why a file cannot be
        read.
        """
        said = {"metadata": json.dumps(dict(labels)) if labels else None, "method": method}
        form = _form(self._named(said), name, data)
        content = self._server.ask("POST", "/rag/index", form, changes=True)
        job = _decoded(content, _Taken).job
        if job is None:
            return _decoded(content, Uploaded)
        began = time.monotonic()
        while not job.is_over:
            if wait is not None and time.monotonic() > began + wait:
                raise JobUnfinished(name, job.id, job.state, self._server.name)
            try:
                time.sleep(_BETWEEN_LOOKS)
                job = self.job(job.id)
            except KeyboardInterrupt as stopped:  # which is told with the message
                stopped.args = (str(JobUnfinished(name, job.id, job.state, self._server.name)),)
                raise
        status, _, document_id = job.message.partition(": ")
        found = self.entry(document_id) if job.state == "done" else None
        if found is None:
            raise FileUnreadable(f"{name}: {job.message}")
        return Uploaded(msgspec.convert(status, UploadStatus), found)

    def job(self, job_id: str) -> Job:
        """How long work stands that the server does."""
        return self._get(f"/rag/jobs/{quote(job_id, safe='')}", Job)

    def list_documents(
        self, *, after: str = "", limit: int = 100, where: str | None = None
    ) -> DocumentPage:
        """Documents by path, so many at a time; `after` of a page asks for the next one."""
        asked = {"after": after, "limit": limit, "where": where}
        return self._get("/rag/documents", DocumentPage, **asked)

    def entry(self, document_id: str) -> DocumentEntry | None:
        """What is known of a document; None where there is none of that id, or not for you."""
        return self._found(document_id, "", DocumentEntry)

    def get_document(self, document_id: str) -> Document | None:
        """A document with its text; None where there is none of that id, or not for you."""
        return self._found(document_id, "/text", Document)

    def original(self, document_id: str) -> tuple[str, bytes] | None:
        """The name and bytes of a document's file; None where there is none, or not for you."""
        path = self._at(document_id, "/file")
        with suppress(CitationNotFound):
            content, headers = self._server.answer("GET", path, accept="*/*")
            return unquote(headers["Content-Disposition"].rpartition("'")[2]), content
        return None

    def delete_document(
        self, document_id: str, *, of_folder: bool = False, forget: bool = False
    ) -> DeleteStatus:
        """Delete a document that was handed in; with `of_folder` any other, too.

        With `forget` the index forgets all that it ever said.
        """
        path = self._at(document_id, "", of_folder=of_folder or None, forget=forget or None)
        with suppress(CitationNotFound):
            self._server.ask("DELETE", path, changes=True)
            return "deleted"
        return "not_found"

    def libraries(self) -> tuple[str, ...]:
        """The names of the server's libraries; the first one is meant where none is named."""
        return _part(self._server.ask("GET", "/rag/libraries"), "libraries", tuple[str, ...])

    def moment(self, *_: object, **__: object) -> NoReturn:
        """Not over HTTP: a server shows no moments of recordings."""
        raise SettingsError("a server shows no moments of recordings; open the library itself")

    def close(self) -> None:
        """Give back every connection. Whatever is asked from now on raises LibraryClosed."""
        self._server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _search(
        self,
        path: str,
        wanted: Mapping[str, Any],
        mode: Mode,
        filters: FiltersGiven,
        settings: SearchSettings,
        kind: type[_Record],
    ) -> _Record:
        asked = self._tuned({**wanted, "mode": mode}, mode, filters, settings)
        return _decoded(self._server.ask("POST", path, _json(asked)), kind)

    def _tuned(
        self,
        wanted: Mapping[str, Any],
        mode: Mode,
        filters: FiltersGiven,
        settings: SearchSettings,
    ) -> dict[str, Any]:
        """With filters and settings, where they are not the default; checked before all is sent."""
        seen = filters_of(filters)
        check_search(mode, settings, seen)
        restrictions = {name: one for name, one in asdict(seen).items() if one is not None}
        tuning = _differences(settings, SearchSettings())
        return self._named({**wanted, "filters": restrictions or None, "settings": tuning or None})

    def _named(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """With the library's name, and without what was not given."""
        every = {"library": self.name, **given}
        return {name: one for name, one in every.items() if one is not None}

    def _get(self, path: str, kind: type[_Record], **query: object) -> _Record:
        path = f"{path}?{urlencode(self._named(query))}"
        return _decoded(self._server.ask("GET", path), kind)

    def _at(self, document_id: str, part: str, **query: object) -> str:
        """The address of a document, or of a part of it."""
        asked = urlencode(self._named(query))
        return f"/rag/documents/{quote(document_id, safe='')}{part}?{asked}"

    def _found(self, document_id: str, part: str, kind: type[_Record]) -> _Record | None:
        with suppress(CitationNotFound):
            return _decoded(self._server.ask("GET", self._at(document_id, part)), kind)
        return None


class _Server:
    """Requests to one server, and its answers. Threads may share it."""

    def __init__(self, url: str, key: str | None, timeout: float) -> None:
        self.name = url
        self._socket = url.removeprefix("unix:") if url.startswith("unix:/") else ""
        try:
            self._address = parts = urlsplit("http://localhost" if self._socket else url)
            self._port = parts.port
        except ValueError:
            raise SettingsError("the address of the server cannot be read") from None
        if "@" in parts.netloc or parts.query or parts.fragment:
            raise SettingsError(
                "the address of the server must not carry a password or a key; the key is given "
                "apart, on the command line as PINCITE_API_KEY"
            )
        is_plain = self._socket or re.fullmatch(r"[!-~]+", url)
        if parts.scheme not in ("http", "https") or not parts.hostname or not is_plain:
            raise SettingsError("the address of a server begins with http(s)://host, or unix:/path")
        if key is not None and not re.fullmatch(r"[!-~]+", key):
            raise SettingsError("the API key is empty or holds spaces, line ends or odd characters")
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._timeout = timeout
        self._idle: list[http.client.HTTPConnection] | None = []

    def ask(
        self, method: str, path: str, form: _Form | None = None, *, changes: bool = False
    ) -> bytes:
        """The content of the answer, which is JSON."""
        content, headers = self.answer(method, path, form, changes=changes)
        if (kind := headers.get_content_type()) not in (RECORDS, "application/json"):
            raise self._stranger(f"it sends {kind}")
        return content

    def answer(
        self,
        method: str,
        path: str,
        form: _Form | None = None,
        *,
        accept: str = RECORDS,
        changes: bool = False,
    ) -> tuple[bytes, http.client.HTTPMessage]:
        """The content of the answer and its headers."""
        with self._answered(method, path, form, accept, changes=changes) as response:
            return self._content(response), response.headers

    def events(
        self, path: str, asked: Mapping[str, Any]
    ) -> Generator[tuple[str, bytes], None, None]:
        """The events of a stream, each with its data."""
        name, data, left = "", b"", _LARGEST_ANSWER
        with self._answered("POST", path, _json(asked), f"{EVENTS}, {RECORDS}") as response:
            while left > 0 and (line := response.readline(left)):
                left -= len(line)
                field, _, value = line.strip().partition(b":")
                if field == b"event":
                    name = value.decode(errors="replace").strip()
                elif field == b"data":
                    data += value
                elif not line.strip() and name == "problem":
                    raise _error_in(data, 500, self.name)
                elif not line.strip():
                    yield name, data
                    name, data = "", b""

    def close(self) -> None:
        """Give back every connection."""
        kept, self._idle = self._idle or [], None
        for connection in kept:
            connection.close()

    @contextmanager
    def _answered(
        self, method: str, path: str, form: _Form | None, accept: str, *, changes: bool = False
    ) -> Iterator[http.client.HTTPResponse]:
        """The beginning of an answer; the error that it tells is raised.

        What changes nothing is asked again where the server is busy.
        """
        for tries_left in reversed(range(1 if changes else _TRIES)):
            with self._opened(method, path, form, accept, fresh=changes) as response:
                if response.status in (200, 201, 202):
                    yield response
                    return
                content = self._content(response)
            wait = response.headers.get("Retry-After", "")
            if response.status not in (429, 503) or not tries_left or not wait.isdecimal():
                raise _error_in(content, response.status, self.name)
            time.sleep(min(float(wait), _LONGEST_WAIT))

    @contextmanager
    def _opened(
        self, method: str, path: str, form: _Form | None, accept: str, *, fresh: bool = False
    ) -> Iterator[http.client.HTTPResponse]:
        """The beginning of an answer; once all of it is read, its connection is used again."""
        body, kind = form or (None, "")
        headers = {**self._headers, "Accept": accept, **({"Content-Type": kind} if form else {})}
        with ExitStack() as ending:
            try:
                response = None
                while response is None:
                    connection, was_idle = self._connection(fresh=fresh)
                    ending.callback(connection.close)
                    try:
                        if self._socket and connection.sock is None:
                            connection.sock = socket.socket(socket.AF_UNIX)
                            connection.sock.settimeout(self._timeout)
                            connection.sock.connect(self._socket)
                        path_there = self._address.path.rstrip("/") + path
                        connection.request(method, path_there, body, headers)
                        response = connection.getresponse()
                    except (ConnectionError, http.client.HTTPException):
                        # One that was idle may have been closed by the server in the meantime.
                        if not was_idle:
                            raise
                        connection.close()
                yield response
            except (OSError, http.client.HTTPException) as error:
                raise self._unreachable(error) from error
            idle = self._idle
            is_kept = response.isclosed() and connection.sock is not None
            if is_kept and idle is not None and len(idle) < _MOST_IDLE:
                ending.pop_all()
                idle.append(connection)

    def _content(self, response: http.client.HTTPResponse) -> bytes:
        content = response.read(_LARGEST_ANSWER + 1)
        if len(content) > _LARGEST_ANSWER:
            raise self._stranger("its answer has no end")
        if response.length:
            raise http.client.IncompleteRead(content, response.length)
        return content

    def _connection(self, *, fresh: bool) -> tuple[http.client.HTTPConnection, bool]:
        """A connection, and whether it was used before."""
        idle = self._idle
        if idle is None:
            raise LibraryClosed("this library was closed; connect again")
        if not fresh:
            with suppress(IndexError):
                return idle.pop(), True
        is_secure = self._address.scheme == "https"
        kind = http.client.HTTPSConnection if is_secure else http.client.HTTPConnection
        return kind(self._address.hostname or "", self._port, timeout=self._timeout), False

    def _unreachable(self, error: Exception) -> ServerError:
        if isinstance(error, TimeoutError):
            why = f"was silent for {self._timeout:g} seconds"
        elif isinstance(error, OSError):
            why = f"cannot be reached: {error.strerror or error}"
        else:
            why = "broke off in the middle of an answer"
        return ServerUnreachable(f"the server {self.name} {why}; is it running there?")

    def _stranger(self, what: str) -> ServerError:
        return ServerError(
            f"what answers at {self.name} is no pincite server of this version: {what}"
        )


class _Problem(msgspec.Struct):
    """An error as RFC 9457 has it, with the name of our exception."""

    detail: str
    kind: str = ""


class _Told(msgspec.Struct):
    """An outcome, which says itself what it is."""

    outcome: Literal["answer", "abstention"]
    told: msgspec.Raw


class _Taken(msgspec.Struct):
    """How a file was taken in; of a large one the server makes a job."""

    job: Job | None = None


def _error_in(content: bytes, status: int, server: str) -> PinciteError:
    """The error that an answer tells, as the exception it was."""
    try:
        told = msgspec.json.decode(content, type=_Problem)
    except msgspec.MsgspecError:
        moved = "; it sends you elsewhere: name that address" if 300 <= status < 400 else ""
        return ServerError(f"{server} answers {status}, as no pincite server does{moved}")
    kinds = [PinciteError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    by_status = {401: ServerDenied, 403: ServerDenied, 404: ProjectMissing}
    by_status.update({413: SettingsError, 422: SettingsError, 429: StoreBusy, 503: StoreBusy})
    kind = next(
        (one for one in kinds if one.__name__ == told.kind), by_status.get(status, ServerError)
    )
    if status == 401:
        return ServerDenied(
            f"{server} wants a key that is valid there: set PINCITE_API_KEY, or "
            "look whether the one that is set is wrong, revoked or expired"
        )
    # Some are made of more than their message, which is all that is told of them.
    error = kind.__new__(kind, told.detail)
    error.args = (told.detail,)
    return error


def _decoded(content: bytes | msgspec.Raw, kind: type[_Record]) -> _Record:
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.MsgspecError as error:
        raise ServerError(
            f"the server's answer is not understood: {error}; is it of the same version as this "
            "pincite?"
        ) from error


def _part(content: bytes, name: str, kind: type[_Record]) -> _Record:
    """The one part of an answer that counts."""
    return _decoded(_decoded(content, dict[str, msgspec.Raw]).get(name, msgspec.Raw()), kind)


def _outcome(content: bytes) -> Outcome:
    told = _decoded(content, _Told)
    if told.outcome == "answer":
        return _decoded(told.told, Answer)
    return _decoded(told.told, Abstention)


def _json(asked: Mapping[str, Any]) -> _Form:
    return json.dumps(asked).encode(), "application/json"


def _form(fields: Mapping[str, str], name: str, data: bytes) -> _Form:
    """A file with what is said of it, as browsers send forms."""
    if re.search(r"[\r\n\0]", name):
        raise SettingsError(f"a file cannot be handed in as {name!r}; give it a plain name")
    boundary = token_hex(16)
    written = name.replace("\\", "\\\\").replace('"', '\\"')
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'
        for field, value in fields.items()
    ]
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{written}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    text = "".join(parts) + head
    body = text.encode(errors="replace") + data + f"\r\n--{boundary}--\r\n".encode()
    return body, f"multipart/form-data; boundary={boundary}"


def _differences(chosen: object, default: object) -> dict[str, Any]:
    """The settings that are not as they are by default."""
    usual = vars(default)
    return {name: value for name, value in vars(chosen).items() if value != usual[name]}
