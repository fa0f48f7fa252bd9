"""The routes of `pincite serve`: parse, one call of a library, render.

Handlers are plain functions: the server runs them in threads, as the engine is synchronous.
"""

from __future__ import annotations

import html
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any
from urllib.parse import quote as quoted

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from pincite import __version__
from pincite.engine import Library
from pincite.entrypoints import answers, render, reports
from pincite.errors import (
    CitationNotFound,
    ConsentNeeded,
    FileUnreadable,
    LibraryBusy,
    LibraryError,
    ModelError,
    PinciteError,
    ReceiptInvalid,
    SettingsError,
    StoreBusy,
    StoreDenied,
    StoreError,
)
from pincite.records import DocumentEntry, FiltersGiven
from pincite.settings import DEFAULT_BUDGET

Json = dict[str, Any]

# The first line that fits counts: what a client can mend is a 4xx. Documented in docs/serve.md.
STATUSES: tuple[tuple[type[PinciteError], int, str], ...] = (
    (SettingsError, 422, "invalid"),
    (FileUnreadable, 422, "unreadable"),
    (ReceiptInvalid, 422, "invalid_receipt"),
    (CitationNotFound, 404, "not_found"),
    (StoreDenied, 403, "denied"),
    (ConsentNeeded, 403, "consent_needed"),
    (LibraryBusy, 503, "busy"),
    (StoreBusy, 503, "busy"),
    (LibraryError, 409, "no_index"),
    (ModelError, 503, "model_unavailable"),
    (StoreError, 503, "store_unavailable"),
)
_LARGEST_BODY = 64 * 1024 * 1024  # bytes
_SECONDS_BUSY = 30.0  # that a change waits for another writer
_NO_SCRIPT = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE = (
    "body{font:16px/1.5 sans-serif;max-width:50em;margin:2em auto;padding:0 1em}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere}mark{background:#fd6}"
)


class _Given(BaseModel, extra="forbid"):
    """Which library is meant; the first one where none is named."""

    library: str | None = None


class IndexRequest(_Given):
    """A text to make searchable."""

    filename: str = Field(examples=["test.txt"], max_length=1_000)
    content: str = Field(examples=["Hello world"])


class SearchRequest(_Given):
    """A question for a search."""

    query: str = Field(examples=["hello"], max_length=10_000)
    top_k: int = Field(default=10, ge=1, le=1_000)
    per_document: bool = Field(default=True, description="The best chunk of each document only")
    filters: dict[str, Any] | None = Field(default=None, examples=[{"type": "txt"}])


class ContextRequest(_Given):
    """A question whose evidence is to be packed into so many tokens."""

    query: str = Field(examples=["hello"], max_length=10_000)
    budget: int = Field(default=DEFAULT_BUDGET, ge=1, le=1_000_000)
    filters: dict[str, Any] | None = None


class AskRequest(_Given):
    """A question to be answered."""

    question: str = Field(examples=["who says hello?"], max_length=10_000)
    filters: dict[str, Any] | None = None


class CheckRequest(_Given):
    """A receipt, or Markdown with citations, to be checked again."""

    receipt: str = Field(max_length=10_000_000)


def create_app(  # noqa: C901, PLR0915 — a list of routes, each a few lines
    libraries: Mapping[str, Library], *, hosts: tuple[str, ...] = ("localhost", "127.0.0.1", "::1")
) -> FastAPI:
    """The service over these libraries, by name. Requests to other hosts are refused."""
    app = FastAPI(
        title="pincite",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        description="Answers from your own documents, each with its exact place.",
    )
    writing = {name: threading.Lock() for name in libraries}
    measures = CollectorRegistry()
    requests = Counter("pincite_requests", "Requests", ["route", "status"], registry=measures)
    seconds = Histogram(
        "pincite_request_seconds", "Time of a request", ["route"], registry=measures
    )

    def chosen(name: str | None) -> tuple[str, Library]:
        key = next(iter(libraries)) if name is None else name
        if key not in libraries:
            raise HTTPException(404, "no library of that name; see GET /rag/libraries")
        return key, libraries[key]

    def changed(name: str, change: Callable[[], Any]) -> Any:  # noqa: ANN401 — what the change gives
        """One change at a time; another process that writes is waited for."""
        until = time.monotonic() + _SECONDS_BUSY
        with writing[name]:
            while True:
                try:
                    return change()
                except LibraryBusy:
                    if time.monotonic() > until:
                        raise
                    time.sleep(0.1)

    def with_views(value: Any, library: str, base: str) -> Any:  # noqa: ANN401 — any JSON
        """The same JSON; whatever has a citation also has the address that opens it."""
        if isinstance(value, list):
            return [with_views(one, library, base) for one in value]
        if not isinstance(value, dict):
            return value
        value = {key: with_views(one, library, base) for key, one in value.items()}
        chunk = value.get("chunk_id") or (value.get("chunk") or {}).get("id")
        if "citation" in value and chunk:
            quote = value.get("quote")
            words = quote if isinstance(quote, str) else (quote or {}).get("text", "")
            value["url"] = (
                f"{base}view/{quoted(library, safe='')}/{chunk}?quote={quoted(words[:500])}"
            )
        return value

    @app.middleware("http")
    async def guard(
        request: Request, call_next: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        """Who is not at this machine's own address gets nothing (DNS rebinding, CSRF)."""
        began = time.monotonic()
        refused = _refused(request, hosts)
        response = refused if refused is not None else await call_next(request)
        response.headers["X-Content-Type-Options"] = "nosniff"
        route = getattr(request.scope.get("route"), "path", "none")
        requests.labels(route, response.status_code).inc()
        seconds.labels(route).observe(time.monotonic() - began)
        return response

    @app.exception_handler(PinciteError)
    def told(request: Request, error: Exception) -> Response:
        for kind, status, code in STATUSES:
            if isinstance(error, kind):
                return problem(status, code, str(error))
        return problem(500, "error", "this is a fault of pincite")

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)  # noqa: S101 — as registered
        named = (
            f"{'.'.join(str(part) for part in one['loc'][1:]) or 'body'}: {one['msg']}"
            for one in error.errors()
        )
        return problem(422, "invalid", "; ".join(named))

    @app.exception_handler(HTTPException)
    def refused_as(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101 — as registered
        code = "not_found" if error.status_code == 404 else "refused"
        return problem(error.status_code, code, str(error.detail))

    @app.post("/rag/index", status_code=200)
    def index(given: IndexRequest) -> Json:
        """Make a text searchable; the same text again is `deduplicated`."""
        name, library = chosen(given.library)
        data = given.content.encode(errors="replace")
        done = changed(name, lambda: library.index_document(given.filename, data))
        return {"status": done.status, "chunks": done.document.chunks, **_entry(done.document)}

    @app.post("/rag/index/file")
    async def upload(request: Request, filename: str, library: str | None = None) -> Json:
        """Make a file searchable whose bytes are the body of the request."""
        from starlette.concurrency import run_in_threadpool

        name, opened = chosen(library)
        data = await request.body()
        done = await run_in_threadpool(changed, name, lambda: opened.index_document(filename, data))
        return {"status": done.status, "chunks": done.document.chunks, **_entry(done.document)}

    @app.post("/rag/search")
    def search(given: SearchRequest, request: Request) -> Json:
        """The best places for a question, one of each document unless all are asked for."""
        name, library = chosen(given.library)
        filters: FiltersGiven = given.filters
        if given.per_document:
            found = library.search_documents(given.query, top_k=given.top_k, filters=filters)
            results = [
                {"rank": rank, **render.result_as_json(one.results[0])}
                for rank, one in enumerate(found.documents, start=1)
            ]
            told: Json = {"question": found.question, "reason": found.reason, "results": results}
        else:
            told = render.results_as_json(
                library.search(given.query, top_k=given.top_k, filters=filters)
            )
        return {"query": given.query, **with_views(told, name, str(request.base_url))}

    @app.post("/rag/context")
    def context(given: ContextRequest, request: Request) -> Json:
        """Labelled passages for a language model; an index that is away is a `reason`."""
        name, library = chosen(given.library)
        found = library.get_relevant_context(
            given.query, budget=given.budget, filters=given.filters
        )
        told: Json = with_views(render.context_as_json(found), name, str(request.base_url))
        return told

    @app.post("/rag/ask")
    def ask(given: AskRequest, request: Request) -> Json:
        """An answer whose every claim is proven, or an abstention that says why."""
        name, library = chosen(given.library)
        told = library.ask(given.question, filters=given.filters)
        shown: Json = with_views(answers.outcome_as_json(told), name, str(request.base_url))
        return shown

    @app.post("/rag/check")
    def check(given: CheckRequest) -> Json:
        """What became of each citation of a receipt."""
        _, library = chosen(given.library)
        checked = library.check(given.receipt)
        return {
            "counts": answers.counts_of(checked),
            "citations": list(answers.checked_as_text(checked)),
        }

    @app.get("/rag/libraries")
    def list_libraries() -> Json:
        """The names that `library` takes; the first one is meant where none is named."""
        return {"libraries": list(libraries)}

    @app.get("/rag/documents")
    def documents(
        library: str | None = None,
        after: str = "",
        limit: Annotated[int, Field(ge=1, le=1_000)] = 100,
    ) -> Json:
        """Documents by path, so many at a time."""
        _, opened = chosen(library)
        found = [one for one in opened.documents() if one.path > after]
        page = found[:limit]
        return {
            "documents": [_entry(one) for one in page],
            "after": page[-1].path if len(found) > limit else None,
        }

    @app.get("/rag/documents/{document_id}")
    def document(document_id: str, library: str | None = None) -> Json:
        """What is known of a document."""
        _, opened = chosen(library)
        for one in opened.documents():
            if one.id == document_id:
                return _entry(one)
        raise HTTPException(404, "no document of that id")

    @app.get("/rag/documents/{document_id}/text", response_class=PlainTextResponse)
    def text(
        document_id: str,
        library: str | None = None,
        start: Annotated[int, Field(ge=0)] = 0,
        end: Annotated[int | None, Field(ge=0)] = None,
    ) -> str:
        """The text of a document, or a stretch of it, without what a reader would not see."""
        _, opened = chosen(library)
        found = opened.get_document(document_id)
        if found is None:
            raise HTTPException(404, "no document of that id")
        return found.shown(start, len(found.text) if end is None else min(end, len(found.text)))

    @app.delete("/rag/documents/{document_id}")
    def delete(document_id: str, library: str | None = None, of_folder: bool = False) -> Json:
        """Delete a document that was handed in; `of_folder` also one that came with the folder."""
        name, opened = chosen(library)
        status = changed(name, lambda: opened.delete_document(document_id, of_folder=of_folder))
        if status == "not_found":
            raise HTTPException(404, "no document of that id")
        return {"id": document_id, "status": status}

    @app.get("/rag/catalog")
    def catalog(query: str = "", library: str | None = None) -> list[Any]:
        """The files of a library and how they stand: all, or those a question describes."""
        _, opened = chosen(library)
        told: Any = reports.catalog_as_json(opened.catalog(query))
        return told if isinstance(told, list) else [told]

    @app.get("/view/{library}/{chunk_id}", response_class=HTMLResponse)
    def view(library: str, chunk_id: str, quote: str = "") -> HTMLResponse:
        """A citation opened at its words: a page without script."""
        _, opened = chosen(library)
        place = opened.show(chunk_id, around=5)
        return HTMLResponse(
            _page(place.document.path, place.heading_path, list(place.lines), quote),
            headers={"Content-Security-Policy": _NO_SCRIPT},
        )

    @app.get("/healthz")
    def healthy() -> Json:
        """The service runs."""
        return {"status": "ok", "version": __version__}

    @app.get("/readyz")
    def ready() -> Json:
        """Whether every library has an index."""
        return {
            "status": "ready",
            "libraries": {name: _state(one) for name, one in libraries.items()},
        }

    @app.get("/metrics", response_class=PlainTextResponse)
    def metrics() -> PlainTextResponse:
        """Counts and times for Prometheus."""
        return PlainTextResponse(generate_latest(measures))

    return app


def problem(status: int, code: str, detail: str) -> JSONResponse:
    """An error as RFC 9457 has it, with a code for programs."""
    headers = {"Retry-After": "5"} if status == 503 else {}
    return JSONResponse(
        {"type": "about:blank", "title": code.replace("_", " "), "status": status}
        | {"code": code, "detail": detail},
        status_code=status,
        headers=headers,
        media_type="application/problem+json",
    )


def _refused(request: Request, hosts: tuple[str, ...]) -> JSONResponse | None:
    named = request.headers.getlist("host")
    if len(named) != 1 or _host_of(named[0]) not in hosts:
        return problem(421, "wrong_host", "this service answers to its own address only")
    origin = request.headers.get("origin")
    if origin is not None and origin not in (f"http://{named[0]}", f"https://{named[0]}"):
        return problem(403, "wrong_origin", "other web pages may not use this service")
    length = request.headers.get("content-length", "0")
    is_sized = length.isdecimal() and "transfer-encoding" not in request.headers
    if not is_sized or int(length) > _LARGEST_BODY:
        return problem(
            413, "too_large", f"a body has at most {_LARGEST_BODY:,} bytes, and a length"
        )
    return None


def _host_of(header: str) -> str:
    if header.startswith("["):
        return header.partition("]")[0].removeprefix("[")
    return header.rpartition(":")[0] if header.count(":") == 1 else header


def _entry(document: DocumentEntry) -> Json:
    return {
        "id": document.id,
        "filename": document.name,
        "path": document.path,
        "title": document.title,
        "type": document.type,
        "chunks": document.chunks,
        "size": document.size,
        "file_hash": document.checksum,
        "indexed_at": document.indexed_at,
        "recipe": document.recipe,
    }


def _state(library: Library) -> str:
    try:
        library.stats()
    except LibraryError:
        return "no index yet"
    except (StoreError, ModelError):
        return "unavailable"
    return "ready"


def _page(path: str, headings: tuple[str, ...], lines: list[str], quote: str) -> str:
    """The lines around a citation, its words marked; all of it escaped."""
    text = html.escape("\n".join(lines))
    words = html.escape(quote)
    if words and words in text:
        text = text.replace(words, f"<mark>{words}</mark>", 1)
    title, way = html.escape(path), html.escape(" > ".join(headings))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        f"<style>{_STYLE}</style><h1>{title}</h1><p>{way}</p><pre>{text}</pre></html>"
    )
