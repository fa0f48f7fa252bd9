"""The routes of `pincite serve`: parse, one call of a library, render. `create_app` is the start.

Each route names the right that it needs in `RIGHTS`. The engine is synchronous, so its work is done
in threads, few at a time; whoever goes away stops the work that was done for them.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from dataclasses import asdict, fields
from functools import cache, partial
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import quote as quoted

import anyio
import msgspec
from fastapi import APIRouter, FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse, PlainTextResponse
from fastapi.routing import APIRoute
from prometheus_client import generate_latest
from pydantic import BaseModel, Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect
from starlette.routing import compile_path
from starlette.types import ASGIApp

from pincite import __version__
from pincite.answer.footnotes import artifact_as_markdown
from pincite.engine import artifacts
from pincite.engine.folders import has_index
from pincite.engine.library import Library
from pincite.engine.serving import Access, AnyLibrary, project_of
from pincite.entrypoints import answers, render, reports
from pincite.entrypoints.client import RECORDS
from pincite.entrypoints.http import described, view
from pincite.entrypoints.http.guard import OWNER, Guard, problem
from pincite.entrypoints.http.mcp import AgentsDoor
from pincite.entrypoints.http.openai import chat_routes
from pincite.entrypoints.http.service import (
    RIGHTS,
    Json,
    Service,
    as_json,
    broken_off,
    event_stream,
    problem_of,
)
from pincite.errors import (
    CitationNotFound,
    FileUnreadable,
    IndexMissing,
    LibraryBusy,
    LibraryClosed,
    PinciteError,
    ProjectMissing,
    SettingsError,
)
from pincite.records import (
    CatalogEntry,
    CheckedCitation,
    Claim,
    DeleteStatus,
    DocumentEntry,
    DocumentPage,
    SearchResults,
    Uploaded,
)
from pincite.records.journal import Feedback, Job
from pincite.settings import DEFAULT_BUDGET, AskSettings, SearchSettings, policy_named

T = TypeVar("T")

SMALL = 1_000_000  # bytes of a file that is made searchable before the answer; more is a job
_STREAM: Json = {"content": {"text/event-stream": {}}}
_BETWEEN_EVENTS = 0.5  # seconds
_DESCRIPTION = "Answers from your own documents, each with its exact place."
_PROBLEM = {
    "content": {
        "application/problem+json": {
            "schema": {
                "type": "object",
                "required": ["type", "title", "status", "code", "detail"],
                "properties": {
                    "type": {"type": "string"},
                    "title": {"type": "string"},
                    "status": {"type": "integer"},
                    "code": {"type": "string"},
                    "detail": {"type": "string"},
                    "error": {"type": "object"},
                    "kind": {"type": "string"},
                },
            }
        }
    }
}


class _Given(BaseModel, extra="forbid"):
    """Which library is meant; the first one where none is named."""

    library: str | None = Field(default=None, max_length=4_096)


# Valid once the example of IndexRequest is indexed: ids come from content.
_CITED = (
    "“Hello world” [^1]\n\n[^1]: “Hello world” — test.txt (line 1) "
    "[chunk: 99403270ab1493c413304230e539d9452e74deb4] (characters 0–11)"
)
_Question = Annotated[str, Field(max_length=10_000)]
_Filters = Annotated[dict[str, Any] | None, Field(examples=[{"type": "txt"}])]
_Settings = Annotated[
    dict[str, Any] | None, Field(description="As in docs/search.md", examples=[None])
]


class IndexRequest(_Given):
    """A text to make searchable."""

    filename: str = Field(examples=["test.txt"], max_length=1_000)
    content: str = Field(examples=["Hello world"])
    metadata: dict[str, Any] | None = Field(default=None, examples=[{"tags": ["greeting"]}])
    method: str | None = Field(default=None, max_length=100, examples=[None])


class SearchRequest(_Given):
    """A question for a search."""

    query: _Question = Field(examples=["hello"])
    top_k: int | None = Field(default=None, ge=1, le=1_000, examples=[10])
    mode: Literal["hybrid", "words", "vector"] = "hybrid"
    per_document: bool = Field(default=True, description="The best chunk of each document only")
    explain: bool = Field(default=False, description="With what was left out, and why")
    filters: _Filters = None
    settings: _Settings = None


class ContextRequest(_Given):
    """A question whose evidence is to be packed into so many tokens."""

    query: _Question = Field(examples=["hello"])
    budget: int = Field(default=DEFAULT_BUDGET, ge=1, le=1_000_000)
    mode: Literal["hybrid", "words", "vector"] = "hybrid"
    filters: _Filters = None
    settings: _Settings = None


class AskRequest(_Given):
    """A question to be answered."""

    question: _Question = Field(examples=["who says hello?"])
    filters: _Filters = None
    settings: _Settings = None
    asking: _Settings = None
    receipt: bool = Field(default=False, description="With a receipt for /rag/check")


class ArtifactRequest(_Given):
    """A document to be made of others."""

    kind: Literal["blueprint", "pdr", "workflow", "build-plan"] = Field(examples=["blueprint"])
    about: str = Field(min_length=1, max_length=1_000, examples=["hello"])
    filters: _Filters = None


class CheckRequest(_Given):
    """A receipt, or Markdown with citations, to be checked again."""

    receipt: str = Field(max_length=10_000_000, examples=[_CITED])


class ReindexRequest(_Given):
    """To another chunk policy, anew, or only what an older pincite made."""

    policy: str | None = Field(default=None, max_length=100, examples=[None])
    fresh: bool = False


class FeedbackRequest(_Given):
    """What somebody thinks of an answer."""

    query_id: str = Field(max_length=100, examples=["01a1f5efe6fe453c7a88"])
    good: bool = Field(examples=[True])
    note: str = Field(default="", max_length=2_000)


_INDEX_BODY = {
    "required": True,
    "content": {
        "application/json": {"schema": IndexRequest.model_json_schema()},
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["file"],
                "properties": {
                    "file": {"type": "array", "items": {"type": "string", "format": "binary"}},
                    "metadata": {"type": "string", "description": "JSON, as above"},
                    "method": {"type": "string"},
                    "library": {"type": "string"},
                },
            }
        },
    },
}


def create_app(service: Service) -> ASGIApp:
    """The service over these libraries."""

    class Admitted(APIRoute):
        """A route that sees only who may call it; before the body of the request is read."""

        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()
            (right,) = {RIGHTS[method, self.path] for method in self.methods or ()}

            async def admitted(request: Request) -> Response:
                if right == "open":
                    return await handle(request)
                if service.is_full():
                    return problem(503, "overloaded", "too many requests at once", retry_after=1)
                with service.counted():
                    refused = await anyio.to_thread.run_sync(service.admit, request, right)
                    try:
                        return await handle(request) if refused is None else refused
                    except ClientDisconnect:  # in the middle of its body
                        return Response(status_code=499)

            return admitted

    agents = AgentsDoor(service)
    app = FastAPI(
        title="pincite",
        version=__version__,
        description=_DESCRIPTION,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        lifespan=lambda app: agents.run(),
    )
    router = APIRouter(route_class=Admitted, responses={"4XX": _PROBLEM, "5XX": _PROBLEM})
    for add in (_documents, _questions, _operations):
        add(router, service)
    chat_routes(router, service)

    @router.api_route("/mcp", methods=["POST", "DELETE"], include_in_schema=False)
    async def mcp(request: Request) -> Response:
        """What agents call: the Model Context Protocol."""
        return agents

    kinds = ((PinciteError, problem_of), (Exception, problem_of), (HTTPException, _refused))
    for kind, handler in (*kinds, (RequestValidationError, _invalid), (ValidationError, _invalid)):
        app.add_exception_handler(kind, handler)

    description = cache(lambda: msgspec.json.encode(_openapi(app)))  # takes a while, for anybody

    @router.get("/openapi.json", include_in_schema=False)
    async def openapi() -> Response:
        return Response(description(), media_type="application/json")

    app.include_router(router)
    inner: ASGIApp = app
    if service.limits.origins:
        inner = CORSMiddleware(
            app,
            allow_origins=service.limits.origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["*"],  # of MCP and of OpenAI's clients: x-stainless-… and the like
            expose_headers=["Mcp-Session-Id"],
        )
    return Guard(inner, service.limits, service.measures)


def _documents(router: APIRouter, service: Service) -> None:  # noqa: C901 — a list of routes
    """What goes in, what there is, what goes out."""

    @router.post(
        "/rag/index",
        openapi_extra={"requestBody": _INDEX_BODY},
        responses={
            200: {"model": described.Indexed | described.IndexedFiles},
            202: {
                "model": described.Accepted | described.IndexedFiles,
                "description": "A large file: a job makes it searchable",
            },
        },
    )
    async def index(request: Request) -> Response:
        """Make a text or files searchable; the same content again is `deduplicated`."""
        given, files = await _handed_in(request, service.limits.parts)

        def taken(library: AnyLibrary, name: str) -> Response:
            take = partial(_taken, service, request, library, name, given)
            if len(files) == 1:
                done = take(files[0])
                if wants_records(request) and isinstance(done, Uploaded):
                    return _records(done)
                return as_json(_uploaded(done), 202 if isinstance(done, Job) else 200)
            told = []
            for file in files:
                try:
                    told.append(_uploaded(take(file)))
                except (
                    FileUnreadable,
                    SettingsError,
                ) as error:  # the others are taken all the same
                    told.append({"filename": file[0], "status": "failed", "reason": str(error)})
            return as_json({"documents": told}, 202 if any("job" in one for one in told) else 200)

        return await service.work(request, given.library, taken)

    @router.get("/rag/documents", responses={200: {"model": described.Documents}})
    async def documents(
        request: Request,
        library: str | None = None,
        after: Annotated[str, Query(max_length=4_096)] = "",
        limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
        where: Annotated[str, Query(max_length=4_096, examples=["type = txt"])] = "",
    ) -> Response:
        """Documents by path, so many at a time; `after` of an answer asks for the next ones."""
        filters = {"where": where} if where else None

        def listed(opened: AnyLibrary, name: str) -> DocumentPage:
            try:
                return opened.list_documents(after=after, limit=limit, filters=filters)
            except (IndexMissing, ProjectMissing):
                return DocumentPage((), None)

        def shown(page: DocumentPage) -> Json:
            return {"documents": [_entry(one) for one in page.documents], "after": page.after}

        return _sent(request, await service.work(request, library, listed), shown)

    @router.get("/rag/documents/{document_id}", responses={200: {"model": described.Document}})
    async def document(request: Request, document_id: str, library: str | None = None) -> Response:
        """What is known of a document."""
        entry = await service.work(request, library, lambda opened, _: opened.entry(document_id))
        return _sent(request, _there(entry), _entry)

    @router.get("/rag/documents/{document_id}/text", response_class=PlainTextResponse)
    async def text(
        request: Request,
        document_id: str,
        library: str | None = None,
        start: Annotated[int, Query(ge=0)] = 0,
        end: Annotated[int | None, Query(ge=0)] = None,
    ) -> Response:
        """The text of a document, or a stretch of it, without what a reader would not see."""
        found = _there(
            await service.work(request, library, lambda opened, _: opened.get_document(document_id))
        )
        if wants_records(request):
            return _records(found)
        last = len(found.text)
        return PlainTextResponse(
            found.shown(min(start, last), last if end is None else min(end, last))
        )

    @router.get("/rag/documents/{document_id}/file", response_class=Response)
    async def file(request: Request, document_id: str, library: str | None = None) -> Response:
        """The file itself, to be saved: what is in it may not run in a browser."""
        name, data = _there(
            await service.work(request, library, lambda opened, _: opened.original(document_id))
        )
        saved = f"attachment; filename*=UTF-8''{quoted(name, safe='')}"
        return Response(
            data,
            media_type="application/octet-stream",
            headers={"Content-Disposition": saved, "Content-Security-Policy": "sandbox"},
        )

    @router.delete("/rag/documents/{document_id}")
    async def delete(
        request: Request,
        document_id: str,
        library: str | None = None,
        of_folder: bool = False,
        forget: bool = False,
    ) -> Response:
        """Delete a document that was handed in; `of_folder` also one that came with the folder."""

        def deleted(opened: AnyLibrary, name: str) -> DeleteStatus:
            if job := service.jobs.at(opened, name):
                raise LibraryBusy(
                    f"job {job.id} of this service is at work on {name}; delete when it is over, "
                    "or cancel it"
                )
            return opened.delete_document(document_id, of_folder=of_folder, forget=forget)

        status = await service.work(request, library, deleted)
        if status == "not_found":
            raise _missing("document")
        return as_json({"id": document_id, "status": status})

    @router.get("/rag/catalog")
    async def catalog(
        request: Request,
        query: Annotated[str, Query(max_length=10_000)] = "",
        library: str | None = None,
    ) -> Response:
        """The files of a library and how they stand: all, or those a question describes."""

        def listed(opened: AnyLibrary, name: str) -> list[CatalogEntry]:
            entries = opened.catalog(query)
            if not entries and not query:
                service.refuse_unfinished(name)
            return entries

        entries = await service.work(request, library, listed)
        return _sent(request, entries, reports.catalog_as_json)

    @router.get("/rag/libraries")
    async def libraries(request: Request) -> Response:
        """The names that `library` takes; the first one is meant where none is named."""
        return as_json({"libraries": list(_access(request).libraries)})


def _questions(router: APIRouter, service: Service) -> None:  # noqa: C901, PLR0915 — routes
    """What is asked."""

    @router.post("/rag/search", responses={200: {"model": described.Results}})
    async def search(given: SearchRequest, request: Request) -> Response:
        """The best places for a question, one of each document unless all are asked for."""
        settings = _search_settings(given.settings)
        cancelled = service.gone(request).is_set

        def found(library: AnyLibrary, name: str) -> Response:
            each = library.search_documents if given.per_document else library.search
            told = each(
                given.query,
                top_k=given.top_k,
                mode=given.mode,
                filters=given.filters,
                settings=settings,
                cancelled=cancelled,
            )
            told = service.with_files_left(library, name, told)
            if wants_records(request):
                return _records(told)
            shown: Json = {"query": given.query}
            if isinstance(told, SearchResults):
                shown |= render.results_as_json(told, explain=given.explain)
            else:
                shown |= render.documents_as_json(told)
                best = enumerate(shown.pop("documents"), start=1)
                shown["results"] = [{"rank": rank, **one["results"][0]} for rank, one in best]
            for one in shown["results"]:
                quote = one["quote"]
                at = (quote["start"], quote["end"])
                one["url"] = service.link(request, name, one["chunk"]["id"], *at)
            return as_json(shown)

        return await service.work(request, given.library, found)

    @router.post("/rag/context")
    async def context(given: ContextRequest, request: Request) -> Response:
        """Labelled passages for a language model; an index that is away is a `reason`."""

        def packed(library: AnyLibrary, name: str) -> Response:
            told = library.get_relevant_context(
                given.query,
                budget=given.budget,
                mode=given.mode,
                filters=given.filters,
                settings=_search_settings(given.settings),
                cancelled=service.gone(request).is_set,
            )
            if told.reason == "error":
                service.refuse_unfinished(name)
            told = service.with_files_left(library, name, told)
            if wants_records(request):
                return _records(told)
            shown = render.context_as_json(told)
            for one, passage in zip(shown["passages"], told.passages, strict=True):
                best = passage.best
                at = (best.quote.start, best.quote.end)
                one["url"] = service.link(request, name, best.chunk.id, *at)
            return as_json(shown)

        return await service.work(request, given.library, packed)

    @router.post("/rag/ask", responses={200: {"model": described.Outcome, **_STREAM}})
    async def ask(given: AskRequest, request: Request) -> Response:
        """An answer whose every claim is proven, or an abstention that says why.

        With `Accept: text/event-stream` each claim is sent once it is checked.
        """

        def told(library: AnyLibrary, name: str, on_claim: Callable[[Json], None]) -> Json:
            link = partial(service.link, request, name)
            settings = _search_settings(given.settings)
            asking = _settings(AskSettings, given.asking)
            if asking.persona:
                raise SettingsError("requests cannot choose a persona")

            def shown(claim: Claim) -> Json:
                if wants_records(request):
                    return {"claim": claim}
                return _linked_claim(answers.claim_as_json(claim), link)

            outcome = library.ask(
                given.question,
                filters=given.filters,
                settings=settings,
                asking=asking,
                profile=service.profile,
                judge=service.judge,
                on_claim=lambda claim: on_claim(shown(claim)),
                cancelled=service.gone(request).is_set,
            )
            outcome = service.with_files_left(library, name, outcome)
            if wants_records(request):
                return {"outcome": outcome.outcome, "told": outcome}
            told = _linked(answers.outcome_as_json(outcome), link)
            if given.receipt:
                told["receipt"] = library.receipt(
                    outcome, filters=given.filters, settings=settings, asking=asking
                )
            return told

        def nobody(claim: Json) -> None:
            """Nobody waits for single claims."""

        if "text/event-stream" in request.headers.get("accept", ""):
            return event_stream(service.stream(request, given.library, told))
        answer = await service.work(
            request, given.library, lambda library, name: told(library, name, nobody)
        )
        return as_json(answer)

    @router.post("/rag/artifacts")
    async def artifact(given: ArtifactRequest, request: Request) -> Response:
        """A blueprint, design review, workflow or build plan, every line cited or marked open."""

        def made(library: AnyLibrary, name: str) -> Response:
            told = artifacts.make(
                library,
                artifacts.template_named(given.kind),
                given.about,
                filters=given.filters,
                profile=service.profile,
                judge=service.judge,
                cancelled=service.gone(request).is_set,
            )
            link = partial(service.link, request, name)
            shown = answers.artifact_as_json(told)
            for section in shown["sections"]:
                for claim in section["claims"]:
                    _linked_claim(claim, link)
            return as_json(shown | {"markdown": artifact_as_markdown(told)})

        return await service.work(request, given.library, made)

    @router.post("/rag/check")
    async def check(given: CheckRequest, request: Request) -> Response:
        """What became of each citation of a receipt."""

        def checked(library: AnyLibrary, name: str) -> Response:
            link = partial(service.link, request, name)
            return _sent(request, library.check(given.receipt), partial(_checked, link))

        return await service.work(request, given.library, checked)

    @router.get("/rag/show")
    async def show(
        request: Request,
        citation: Annotated[str, Query(max_length=4_096, examples=["test.txt:1"])],
        around: Annotated[int, Query(ge=0, le=1_000)] = 3,
        library: str | None = None,
    ) -> Response:
        """The lines that a citation names, and what stands around them."""

        def shown(opened: AnyLibrary, name: str) -> Response:
            place = opened.show(citation, around=around)
            at = (place.chunk_id, place.start, place.end)
            url = service.link(request, name, *at) if place.chunk_id else ""
            return _sent(request, place, lambda one: {**render.place_as_json(one), "url": url})

        return await service.work(request, library, shown)

    @router.get("/view/{chunk_id}", response_class=HTMLResponse)
    async def opened_citation(
        request: Request,
        chunk_id: str,
        library: str | None = None,
        at: Annotated[str, Query(pattern=r"^(\d{1,9}-\d{1,9})?$")] = "",
    ) -> Response:
        """A citation opened at its words, from where to where `at` says: a page without script."""

        def page(opened: AnyLibrary, name: str) -> str:
            cited = f"{chunk_id}?at={at}" if at else chunk_id
            place = opened.show(cited, around=20 if at else 5)
            file = f"/rag/documents/{place.document.id}/file?library={quoted(name, safe='')}"
            start, _, end = at.partition("-")
            words = (int(start), int(end)) if at else None
            return view.page(place, words, "" if _access(request).key_id else file)

        shown = await service.work(request, library, page)
        return HTMLResponse(shown, headers={"Content-Security-Policy": view.POLICY})


def _operations(router: APIRouter, service: Service) -> None:  # noqa: C901, PLR0915 — routes
    """Long work, the log, and how the service is."""

    @router.post(
        "/rag/admin/reindex", status_code=202, responses={202: {"model": described.Accepted}}
    )
    async def reindex(request: Request, given: ReindexRequest | None = None) -> Response:
        """Begin a job that makes the index anew: for another policy, or what is out of date."""
        given = given or ReindexRequest()
        options = {"policy": given.policy and policy_named(given.policy).name, "fresh": given.fresh}
        job = await service.work(
            request, given.library, partial(_submitted, service, request, "reindex", options)
        )
        return _sent(request, job, _uploaded, 202)

    @router.get("/rag/jobs")
    async def jobs(request: Request, library: str | None = None) -> Response:
        """Jobs of a library, the newest first."""

        def listed(opened: AnyLibrary, name: str) -> list[Json]:
            found = [one for one in opened.journal.jobs() if _is_own(request, one.key)]
            here = (one for one in reversed(found) if _is_here(one, opened, name))
            return [_job(one) for one in here][:1_000]

        return as_json({"jobs": await service.work(request, library, listed)})

    @router.get("/rag/jobs/{job_id}", responses={200: {"model": described.Job}})
    async def job(request: Request, job_id: str, library: str | None = None) -> Response:
        """How far a job is."""
        found = await service.work(request, library, partial(_job_of, request, job_id))
        return _sent(request, found, _job)

    @router.get("/rag/jobs/{job_id}/events", responses={200: _STREAM})
    async def events(request: Request, job_id: str, library: str | None = None) -> Response:
        """The same whenever it changes, as server-sent events, until the job is over."""
        found = await service.work(request, library, partial(_job_of, request, job_id))

        async def followed(now: Job) -> AsyncIterator[tuple[str, Json]]:
            try:
                with service.counted():
                    yield "progress", _job(now)
                    while not now.is_over:
                        await anyio.sleep(_BETWEEN_EVENTS)
                        if service.stopping.is_set():
                            ended = LibraryClosed("the service was stopped; the next one goes on")
                            yield broken_off(request, ended)
                            return
                        before = now
                        look = partial(_job_of, request, job_id)
                        now = await service.work(request, library, look)
                        if now != before:
                            yield "progress", _job(now)
            except Exception as error:  # noqa: BLE001 — the stream has begun
                yield broken_off(request, error)

        return event_stream(followed(found))

    @router.post("/rag/jobs/{job_id}/cancel")
    async def cancel(request: Request, job_id: str, library: str | None = None) -> Response:
        """Cancel a job: it stops at its next step, and what it did so far is kept."""

        def cancelled(opened: AnyLibrary, name: str) -> Job:
            return service.jobs.cancel(opened, _job_of(request, job_id, opened, name))

        return as_json(_job(await service.work(request, library, cancelled)))

    @router.get("/rag/log", responses={200: {"model": described.Log}})
    async def log(
        request: Request,
        library: str | None = None,
        since: Annotated[float, Query(ge=0, le=1e11, description="Seconds since 1970")] = 0.0,
        limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
    ) -> Response:
        """What was asked, the newest first: all of it for the owner, else the caller's own."""

        def listed(opened: AnyLibrary, name: str) -> list[Json]:
            key = _access(request).key_id or None
            found = opened.journal.queries(
                since=since, limit=limit, key=key, library=opened.known_as[0]
            )
            return [msgspec.to_builtins(one) for one in found]

        return as_json({"queries": await service.work(request, library, listed)})

    @router.post("/rag/feedback")
    async def feedback(given: FeedbackRequest, request: Request) -> Response:
        """Say whether the answer to a logged query was good."""

        def noted(library: AnyLibrary, name: str) -> None:
            query = library.journal.query(given.query_id)
            is_here = query is not None and query.library == library.known_as[0]
            if query is None or not is_here or not _is_own(request, query.key):
                raise _missing("query")
            library.journal.give_feedback(Feedback(given.query_id, given.good, given.note))

        await service.work(request, given.library, noted)
        return as_json({"query_id": given.query_id, "good": given.good})

    @router.get("/healthz")
    async def healthy() -> Response:
        """The service runs."""
        return as_json({"status": "ok", "version": __version__})

    @router.get("/readyz", responses={503: _PROBLEM})
    async def ready(request: Request) -> Response:
        """Whether models are loaded and libraries can be asked."""
        is_owner = bool(request.scope.get(OWNER))
        told = await anyio.to_thread.run_sync(lambda: service.state(is_owner=is_owner))
        return as_json(told, 200 if told["status"] == "ready" else 503)

    @router.get("/metrics", response_class=PlainTextResponse)
    async def metrics() -> Response:
        """Counts and times for Prometheus."""
        return PlainTextResponse(generate_latest(service.measures.registry))


def _records(value: Any, status: int = 200) -> Response:  # noqa: ANN401 — any record
    return Response(msgspec.json.encode(value), status, media_type=RECORDS)


def _sent(request: Request, record: T, shown: Callable[[T], Any], status: int = 200) -> Response:
    """A record as it is to our own client, to others as it is shown."""
    if wants_records(request):
        return _records(record, status)
    return as_json(shown(record), status)


def wants_records(request: Request) -> bool:
    """Whether our own client asks."""
    return RECORDS in request.headers.get("accept", "")


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError | ValidationError)  # noqa: S101 — as registered
    named = (
        f"{'.'.join(str(part) for part in one['loc'] if part != 'body') or 'body'}: {one['msg']}"
        for one in error.errors()
    )
    return problem(422, "invalid", "; ".join(named)[:2_000], error="SettingsError")


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 — as registered
    codes = {404: "not_found", 405: "wrong_method", 408: "timeout", 413: "too_large"}
    code = codes.get(error.status_code, "refused")
    known = "; /openapi.json describes what there is" if error.status_code in (404, 405) else ""
    told = problem(error.status_code, code, f"{error.detail}{known}")
    if error.status_code == 405:
        path = request.scope["path"]
        allowed = (method for method, known in RIGHTS if compile_path(known)[0].match(path))
        told.headers["Allow"] = ", ".join(sorted(allowed))
    return told


def _missing(what: str) -> CitationNotFound:
    """The same for what there is not and for what the caller may not see."""
    return CitationNotFound(f"no {what} of that id")


def _there(found: T | None) -> T:
    if found is None:
        raise _missing("document")
    return found


def _access(request: Request) -> Access:
    access: Access = request.scope["state"]["access"]
    return access


def _is_own(request: Request, key_id: str) -> bool:
    """Whether the caller may see what was done with this key: it is theirs, or they need none."""
    return _access(request).key_id in ("", key_id)


async def _handed_in(request: Request, parts: int) -> tuple[IndexRequest, list[tuple[str, bytes]]]:
    """What is to be indexed, and how: one text in JSON, or files of a form."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        given = IndexRequest.model_validate_json(await request.body())
        return given, [(given.filename, given.content.encode(errors="replace"))]
    if kind != "multipart/form-data":
        raise HTTPException(415, "send application/json or multipart/form-data")
    async with request.form(max_files=parts, max_fields=parts) as form:
        files, fields = [], {}
        for name, value in form.multi_items():
            if isinstance(value, str):
                fields[name] = value
            elif name == "file":
                files.append((value.filename or "", await value.read()))
            else:
                raise SettingsError(f"no part is called {name!r}; a file's part is `file`")
    if not files:
        raise SettingsError("the form holds no file; its part is called `file`")
    if "metadata" in fields:
        try:
            fields["metadata"] = json.loads(fields["metadata"])
        except (ValueError, RecursionError) as error:
            raise SettingsError(f"metadata is not JSON: {error}") from error
    return IndexRequest.model_validate({"filename": "", "content": "", **fields}), files


def _taken(
    service: Service,
    request: Request,
    library: AnyLibrary,
    name: str,
    given: IndexRequest,
    file: tuple[str, bytes],
) -> Uploaded | Job:
    """A file made searchable, or the job that does so where that takes long."""
    filename, data = file
    if (
        isinstance(library, Library)
        and given.method is None
        and has_index(library.root)
        and (len(data) > SMALL or library.is_written)
    ):
        path, is_new = library.keep_upload(filename, data, given.metadata)
        options = {"path": path, "is_new": is_new}
        return _submitted(service, request, "index", options, library, name)
    return library.index_document(filename, data, labels=given.metadata, method=given.method)


def _uploaded(done: Uploaded | Job) -> Json:
    if isinstance(done, Job):
        return {"status": "accepted", "job": _job(done)}
    return {"status": done.status, **_entry(done.document)}


def _submitted(
    service: Service,
    request: Request,
    kind: str,
    options: Json,
    library: AnyLibrary,
    name: str,
) -> Job:
    return service.jobs.submit(library, name, kind, options, _access(request))


def _job_of(request: Request, job_id: str, library: AnyLibrary, name: str) -> Job:
    job = library.journal.job(job_id)
    if job is None or not _is_here(job, library, name) or not _is_own(request, job.key):
        raise _missing("job")
    return job


def _is_here(job: Job, library: AnyLibrary, name: str) -> bool:
    """A team's database holds the jobs of several folders, which may have the same name."""
    return job.library == name and job.project == project_of(library)


def _job(job: Job) -> Json:
    told: Json = msgspec.to_builtins(job)
    return {**told, "url": f"/rag/jobs/{job.id}?library={quoted(job.library, safe='')}"}


def _entry(document: DocumentEntry) -> Json:
    return {
        "id": document.id,
        "filename": document.name,
        "path": document.path,
        "title": document.title,
        "type": document.type,
        "chunks": document.chunks,
        "lacking": document.lacking,
        "size": document.size,
        "file_hash": document.checksum,
        "indexed_at": document.indexed_at,
        "recipe": document.recipe,
        "metadata": asdict(document.metadata),
        "summary": document.summary,
    }


def _checked(link: Callable[[str, int, int], str], citations: Sequence[CheckedCitation]) -> Json:
    shown = [asdict(one) | {"url": link(one.chunk_id, one.start, one.end)} for one in citations]
    return {"counts": answers.counts_of(citations), "citations": shown}


def _linked(told: Json, link: Callable[[str, int, int], str]) -> Json:
    """An outcome whose citations say where they can be opened."""
    for claim in told["claims"]:
        _linked_claim(claim, link)
    for one in told["nearest"]:
        one["url"] = link(one["chunk_id"], one["start"], one["end"])
    return told


def _linked_claim(claim: Json, link: Callable[[str, int, int], str]) -> Json:
    for one in claim["citations"]:
        one["url"] = link(one["chunk_id"], one["start"], one["end"])
    return claim


def _search_settings(given: Json | None) -> SearchSettings:
    settings = _settings(SearchSettings, given)
    if settings.expand or settings.rerank not in (None, "maxsim"):
        raise SettingsError("requests cannot choose models (`expand`, `rerank`)")
    return settings


def _settings(kind: type[T], given: Json | None) -> T:
    """Settings with the values that a request gives; the others are as by default."""
    known = {one.name for one in fields(kind)}  # type: ignore[arg-type]  # a dataclass
    if unknown := set(given or {}) - known:
        raise SettingsError(f"there is no setting {min(unknown)!r}; there are: {', '.join(known)}")
    try:
        return msgspec.convert(given or {}, kind)
    except msgspec.ValidationError as error:
        raise SettingsError(str(error)) from error


def _openapi(app: FastAPI) -> Json:
    """What the service understands, for programs that read it."""
    told = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes
    )
    told["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    for (method, path), right in RIGHTS.items():
        described = told["paths"].get(path.replace(":path", ""), {})
        operation = described.get(method.lower())
        if operation is not None:
            operation["security"] = [] if right == "open" else [{"key": []}, {}]
            operation["responses"].pop("422", None)
    return told
