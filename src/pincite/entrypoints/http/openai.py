"""The shape of OpenAI's chat completions: each library is a model, each claim is an annotation.

What a library's documents say to the last question is the message; nothing is written that they
do not say, unless the service was started with a language model.
"""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field, StrictBool

from pincite.answer.condense import condense
from pincite.answer.footnotes import escaped
from pincite.answer.route import subject, tool_for
from pincite.engine.catalog import type_of
from pincite.engine.serving import AnyLibrary
from pincite.entrypoints import answers
from pincite.entrypoints.http.described import Completion
from pincite.entrypoints.http.service import Json, Service, as_json, event_stream
from pincite.errors import ProjectMissing, SettingsError
from pincite.records import Abstention, CatalogEntry, Citation, Claim, Outcome, cited_file
from pincite.retrieve.pack import token_count
from pincite.text.printable import one_line, printable

Link = Callable[[str, int, int], str]

MODEL = "pincite"  # the first library
_LONGEST = 10_000  # characters of a question
_LONGEST_SAID = 1_000_000  # of any message
_MOST_FILES = 50  # in one message
_count = token_count(None)


class _Part(BaseModel):
    type: str
    text: Annotated[str, Field(max_length=_LONGEST_SAID)] | None = None


class _Said(BaseModel):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Annotated[str, Field(max_length=_LONGEST_SAID)] | list[_Part] | None = None

    @property
    def text(self) -> str:
        parts = self.content if isinstance(self.content, list) else []
        said = " ".join(part.text or "" for part in parts)
        return self.content if isinstance(self.content, str) else said


class _StreamOptions(BaseModel):
    include_usage: StrictBool | None = None


class ChatRequest(BaseModel):
    """A conversation whose last question is to be answered. Whatever else is given is ignored."""

    model: str = Field(max_length=4_096, examples=[MODEL])
    messages: list[_Said] = Field(
        min_length=1,
        max_length=1_000,
        examples=[[{"role": "user", "content": "who says hello?"}]],
    )
    stream: StrictBool | None = None
    stream_options: _StreamOptions | None = None


def chat_routes(router: APIRouter, service: Service) -> None:
    """What OpenAI's clients call."""

    def names_for(request: Request) -> list[str]:
        return [*dict.fromkeys((MODEL, *request.scope["state"]["access"].libraries))]

    def named(request: Request, model: str) -> str:
        """The model, if it is one of those that the caller may ask."""
        if model not in (known := names_for(request)):
            raise ProjectMissing(f"there is no model {model!r}; there are: {', '.join(known)}")
        return model

    def described(model: str) -> Json:
        return {"id": model, "object": "model", "created": 0, "owned_by": "pincite"}

    @router.get("/v1/models")
    async def models(request: Request) -> Response:
        """The libraries, as models; `pincite` is the first one."""
        return as_json({"object": "list", "data": [*map(described, names_for(request))]})

    @router.get("/v1/models/{model:path}")  # a project of somebody else has a slash in its name
    async def one_model(request: Request, model: str) -> Response:
        """One of them."""
        return as_json(described(named(request, model)))

    @router.post(
        "/v1/chat/completions",
        responses={200: {"model": Completion, "content": {"text/event-stream": {}}}},
    )
    async def complete(given: ChatRequest, request: Request) -> Response:
        """Answer the last question of a conversation, each claim with where it stands."""
        turns = [one.text[:_LONGEST] for one in given.messages if one.role == "user"]
        if not turns or not turns[-1].strip():
            raise SettingsError("messages hold no question: the last `user` message is answered")
        names = request.scope["state"]["access"].libraries
        model = named(request, given.model)
        library = None if model == MODEL and MODEL not in names else model
        head = {
            "id": f"chatcmpl-{secrets.token_hex(12)}",
            "created": int(time.time()),
            "model": model,
        }

        def answer(
            opened: AnyLibrary, name: str, on_piece: Callable[[Json], None] = lambda piece: None
        ) -> Json:
            said = _answered(service, request, turns, opened, name, on_piece)
            read, written = sum(_count(one.text) for one in given.messages), said.pop("written")
            usage = {"prompt_tokens": read, "completion_tokens": written}
            return {**said, "usage": {**usage, "total_tokens": read + written}}

        if given.stream:
            pieces = service.stream(request, library, answer)
            options = given.stream_options
            return event_stream(
                _streamed(head, pieces, with_usage=bool(options and options.include_usage))
            )

        said = await service.work(request, library, answer)
        usage = said.pop("usage")
        message = {"role": "assistant", "refusal": None, **said}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        told = {**head, "object": "chat.completion", "choices": [choice]}
        return as_json(told | {"usage": usage})


def _answered(
    service: Service,
    request: Request,
    turns: list[str],
    library: AnyLibrary,
    name: str,
    on_piece: Callable[[Json], None],
) -> Json:
    """The message: what the documents say, or which there are, or that they do not tell."""
    message = _Message(on_piece, partial(service.link, request, name))
    question = condense(turns, library.writer(service.profile) if service.profile else None)
    if question != one_line(turns[-1]):
        message.add(f"*Understood as: {_safe(question)}*")
    is_for_files = tool_for(question) == "query_catalog"
    looked_for = subject(question)
    # Where none is called like that, the documents may still say it: no files is no answer.
    if is_for_files and (found := library.catalog(question)):
        message.files(found, looked_for)
    else:
        told = library.ask(
            question,
            profile=service.profile,
            judge=service.judge,
            on_claim=message.claim,
            cancelled=service.gone(request).is_set,
        )
        message.end(told)
    return message.whole() | {"pincite": {"question": question, **message.extension}}


@dataclass
class _Message:
    """The text of an answer as it grows, and which of it rests on what."""

    on_piece: Callable[[Json], None]
    link: Link
    content: str = ""
    annotations: list[Json] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    extension: Json = field(default_factory=dict)

    def add(self, text: str, annotations: list[Json] | None = None, **more: object) -> None:
        """One more paragraph."""
        piece = f"\n\n{text}" if self.content else text
        self.content += piece
        self.annotations += annotations or []
        self.on_piece({"content": piece, "annotations": annotations or [], **more})

    def claim(self, claim: Claim) -> None:
        """A claim that was checked, with links to the words it rests on."""
        if claim.state == "unsupported":
            return
        lead = claim.citations[0].lead if claim.state == "quoted" else ""
        introduced, text = f"({_safe(lead)}) " if lead else "", _safe(claim.words)
        start = len(self.content) + 2 * bool(self.content) + len(introduced)
        marks, annotations = [], []
        for one in claim.citations:
            url = self._source(one)
            marks.append(f"[[{len(self.sources)}]]({url})")
            place = {"start_index": start, "end_index": start + len(text)}
            cited = {**place, "title": printable(one.citation), "url": url}
            annotations.append({"type": "url_citation", "url_citation": cited})
        self.add(
            f"{introduced}{text} {' '.join(marks)}".strip(),
            annotations,
            pincite={"claims": [answers.claim_as_json(claim)]},
        )

    def end(self, told: Outcome) -> None:
        """What is to be said at the end: sources and differences, or why there is no answer."""
        shown = answers.outcome_as_json(told)
        if isinstance(told, Abstention):
            self.add(_safe(told.message))
            for one in told.nearest:
                self._source(one)
                self.sources[-1] += f": “{_safe(one.words)}”"
            names = ("reason", "message", "missing_terms", "nearest")
            self.extension = {"abstention": {name: shown[name] for name in names}}
        else:
            for difference in told.differences:
                self.add(_safe(difference))
            self.extension = {"abstention": None}
        self.extension |= {name: shown[name] for name in ("outcome", "claims", "query_id")}
        if self.sources:
            title = "Nearest:" if isinstance(told, Abstention) else "Sources:"
            listed = (f"{number}. {one}" for number, one in enumerate(self.sources, start=1))
            self.add("\n".join([title, "", *listed]))

    def files(self, found: Sequence[CatalogEntry], subject: str) -> None:
        """Which files there are, or which the words of the subject name or describe."""
        listed = []
        for one in found[:_MOST_FILES]:
            known = one.document
            about = (
                [known.title, known.metadata.author, (known.metadata.date or "")[:10]]
                if known
                else []
            )
            about += [one.state if one.state != "indexed" else "", one.reason]
            told = ", ".join(_safe(part) for part in about if part)
            path = cited_file(known)[0] if known else one.path
            listed.append(f"- {_safe(path)}{f' ({told})' if told else ''}")
        more = len(found) - len(listed)
        looked_for = f" for “{_safe(subject)}”" if subject else ""
        counts = Counter(map(type_of, found)).most_common(12)
        types = ", ".join(f"{count} {_safe(name)}" for name, count in counts)
        self.add(f"{len(found)} document{'s' * (len(found) != 1)}{looked_for} ({types}):")
        self.add("\n".join(listed) + (f"\n- … and {more} more" if more else ""))
        self.extension = {"outcome": "catalog", "claims": [], "abstention": None}

    def _source(self, one: Citation) -> str:
        url = self.link(one.chunk_id, one.start, one.end)
        hidden = f" — left out: hidden text ({', '.join(one.flags)})" if one.flags else ""
        self.sources.append(f"[{_safe(one.citation)}]({url}){hidden}")
        return url

    def whole(self) -> Json:
        """All of it."""
        return {
            "content": self.content,
            "annotations": self.annotations,
            "written": _count(self.content),
        }


async def _streamed(
    head: Json, pieces: AsyncIterator[tuple[str, Json]], *, with_usage: bool
) -> AsyncIterator[tuple[str, Any]]:
    """The pieces as OpenAI's clients read them, by no name."""

    head = {**head, "object": "chat.completion.chunk"} | ({"usage": None} if with_usage else {})

    def chunk(delta: Json, ended: str | None = None) -> tuple[str, Json]:
        choice = {"index": 0, "delta": delta, "finish_reason": ended, "logprobs": None}
        return "", {**head, "choices": [choice]}

    yield chunk({"role": "assistant", "content": ""})
    async for name, data in pieces:
        if name == "claim":
            yield chunk(data)
        elif name == "outcome":
            told = {name: one for name, one in data.get("pincite", {}).items() if name != "claims"}
            yield chunk({"pincite": told} if told else {}, "stop")  # the claims were sent
            if with_usage:
                yield "", {**head, "choices": [], "usage": data["usage"]}
        else:
            kind = {"message": data["detail"], "code": data["code"], "type": data["code"]}
            yield "", {"error": kind}
    yield "", msgspec.Raw(b"[DONE]")


def _safe(text: str) -> str:
    """Words of a document that a chat, which shows Markdown, shows as they are.

    They cannot make it load a picture, hide where a link leads, or begin a list or a heading.
    """
    return escaped(one_line(text), keep="”")
