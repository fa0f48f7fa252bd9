"""The tools in the loops of OpenAI's and Anthropic's clients, with models that behave badly."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from llm_server import language_model
from model_service import Reply, running_service
from pincite import open_library
from pincite.tools import ToolContext, as_json, chosen

QUESTION = "who signs the lease?"


@pytest.fixture
def context(tmp_path: Path) -> Iterator[ToolContext]:
    (tmp_path / "lease.md").write_text("# Lease\n\nPetra signs the lease of the boat house.\n")
    with open_library(tmp_path) as library:
        library.index(model="hashing")
        yield ToolContext.of(library)


def openai_loop(client: openai.OpenAI, context: ToolContext, question: str) -> list[Any]:
    """As docs/agents.md shows it; all messages."""
    messages: list[Any] = [{"role": "user", "content": question}]
    tools: list[Any] = [tool.for_openai() for tool in chosen()]
    for _ in range(8):
        told = client.chat.completions.create(model="m", messages=messages, tools=tools)
        message = told.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            break
        for call in message.tool_calls:
            assert call.type == "function"
            result = context.call(call.function.name, call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result.text})
    return messages


def wants(name: str, arguments: str) -> Reply:
    """A model that calls a tool, in OpenAI's words."""
    call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    return Reply({"id": "1", "object": "chat.completion", "choices": [choice]})


def says(text: str) -> Reply:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return Reply({"id": "1", "object": "chat.completion", "choices": [choice]})


def test_openais_loop_goes_on_whatever_its_model_calls(context: ToolContext) -> None:
    with running_service() as service:
        service.plays(
            wants("find_everything", "{}"),
            wants("search_chunks", '{"query": '),
            wants("search_chunks", "[1]"),
            wants("search_chunks", '{"query": "lease", "top_k": -1}'),
            wants("delete_document", '{"document_id": "x"}'),
            wants("search_chunks", json.dumps({"query": QUESTION})),
            says("Petra."),
        )
        with openai.OpenAI(base_url=service.url, api_key="k", max_retries=0) as client:
            messages = openai_loop(client, context, QUESTION)
    told = [one["content"] for one in messages if one["role"] == "tool"]
    for part, text in zip(
        ("there is no tool", "no JSON", "no JSON object", "top_k", "may only read", "Petra signs"),
        told,
        strict=True,
    ):
        assert part in text
    assert messages[-1]["content"] == "Petra."
    assert service.requests[0]["tools"][0]["function"]["name"] == "search_chunks"


def test_anthropics_loop_is_handed_search_results_to_cite(context: ToolContext) -> None:
    use = {"type": "tool_use", "id": "t1", "name": "search_chunks", "input": {"query": QUESTION}}
    empty = {"type": "tool_use", "id": "t2", "name": "query_catalog", "input": {"query": "zz"}}
    head = {"id": "1", "type": "message", "role": "assistant", "model": "m"}
    usage = {"usage": {"input_tokens": 1, "output_tokens": 1}}
    with running_service() as service:
        service.plays(
            Reply({**head, "content": [use, empty], "stop_reason": "tool_use", **usage}),
            Reply(
                {
                    **head,
                    "content": [{"type": "text", "text": "Petra."}],
                    "stop_reason": "end_turn",
                    **usage,
                }
            ),
        )
        messages: list[Any] = [{"role": "user", "content": QUESTION}]
        tools: list[Any] = [tool.for_anthropic() for tool in chosen()]
        base = service.url.removesuffix("/v1")
        with anthropic.Anthropic(base_url=base, api_key="k", max_retries=0) as client:
            while True:
                told = client.messages.create(
                    model="m", max_tokens=100, messages=messages, tools=tools
                )
                messages.append({"role": "assistant", "content": told.content})
                results = [
                    {
                        "type": "tool_result",
                        "tool_use_id": block.id,
                        "content": context.call(block.name, block.input).search_results(),
                    }
                    for block in told.content
                    if block.type == "tool_use"
                ]
                if not results:
                    break
                messages.append({"role": "user", "content": results})
    found, nothing = service.requests[1]["messages"][2]["content"]
    block, more = found["content"]
    assert block["type"] == "search_result"
    assert block["citations"] == {"enabled": True}
    assert "Petra signs" in block["content"][0]["text"]
    assert block["source"].startswith("file:///")
    assert "id " in block["title"]
    assert (more["type"], [*json.loads(more["text"])]) == ("text", ["note", "seen"])
    assert nothing["content"][0]["type"] == "text"


def test_a_giant_document_fits_whatever_a_model_asks_for(tmp_path: Path) -> None:
    (tmp_path / "giant.md").write_text("# Giant\n\n" + "whale " * 300_000)
    with open_library(tmp_path) as library:
        library.index(model="hashing")
        context = ToolContext.of(library)
        chunk = library.search("whale").results[0].chunk.id
        for name, arguments in (
            ("get_passage", {"citation": chunk, "around": 1_000}),
            ("fetch", {"id": chunk}),
            ("search_chunks", {"query": "whale", "top_k": 100}),
        ):
            told = context.call(name, arguments)
            assert not told.is_error, told.text
            assert max(context.count(told.text), context.count(as_json(told.data))) <= 4_000


def test_a_real_small_model_calls_a_tool_and_answers_from_what_it_gave(
    context: ToolContext,
) -> None:
    """That it gets through is all that is claimed of it: it can only write what the schema lets."""
    (tool,) = chosen("search_chunks")
    schema = tool.schema(())
    # What it must write, and no more than fits: the other arguments it would fill in at random.
    schema["properties"] = {"query": {**schema["properties"]["query"], "maxLength": 60}}
    wanted: Any = {"name": tool.name, "schema": schema}
    messages: list[Any] = [
        {"role": "system", "content": f"Fill in the search. {tool.description}"},
        {"role": "user", "content": QUESTION},
    ]
    with language_model() as address, openai.OpenAI(base_url=address, api_key="k") as client:
        create = client.chat.completions.create
        call = create(
            model="smollm2",
            max_tokens=200,
            messages=messages,
            response_format={"type": "json_schema", "json_schema": wanted},
        )
        arguments = call.choices[0].message.content or ""
        found = context.call(tool.name, arguments)
        assert not found.is_error, found.text
        evidence = context.call(tool.name, {"query": QUESTION, "max_tokens": 400}).text
        told = create(
            model="smollm2",
            max_tokens=40,
            messages=[*messages[1:], {"role": "user", "content": f"{evidence}\n\n{QUESTION}"}],
        )
    assert json.loads(arguments).keys() >= {"query"}
    assert re.search(r"\w", told.choices[0].message.content or "")
