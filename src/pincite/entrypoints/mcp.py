"""The tools of `pincite.tools` as an MCP server; whoever serves it says what each call may use."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server

from pincite import __version__
from pincite.errors import SearchCancelled
from pincite.text.printable import printable
from pincite.tools import Tool, ToolContext, ToolResult, guidance

McpRequest = ServerRequestContext[Any, Any]
ContextOf = Callable[[McpRequest], Awaitable[ToolContext]]
"""What a call of this request may use."""


def agent_of(request: McpRequest) -> str:
    """What the client calls itself, for the log."""
    told = request.session.client_params
    return printable(told.client_info.name) if told is not None else ""


def mcp_server(
    tools: Sequence[Tool],
    context_of: ContextOf,
    *,
    libraries: Sequence[str] = (),
    counted: Callable[[McpRequest], AbstractContextManager[None]] = lambda request: nullcontext(),
    reading: anyio.CapacityLimiter | None = None,
    writing: anyio.CapacityLimiter | None = None,
) -> Server[Any]:
    """A server of these tools; each call is done in a thread, and stopped when it is cancelled.

    It is `counted` until its thread is done, however long anybody waits for it. Models are told of
    `libraries` before any call.
    """
    offered = {tool.name: tool for tool in tools}

    async def listed(
        request: McpRequest, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        context = await context_of(request)
        allowed = (one for one in tools if context.may_write or not one.writes)
        return types.ListToolsResult(tools=[_described(one, context.names) for one in allowed])

    async def called(
        request: McpRequest, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        context = await context_of(request)
        if params.name not in offered:
            known = ", ".join(one.name for one in tools if context.may_write or not one.writes)
            text = f"there is no tool {params.name[:100]!r}; there are: {known}"
            return _sent(ToolResult(text, {"error": text}, is_error=True))
        stop = threading.Event()
        told = 0

        def tell(doing: str) -> None:
            nonlocal told
            told += 1
            if stop.is_set():
                raise SearchCancelled("cancelled")
            # Not waited for: where nobody reads any more, that would never end.
            with suppress(RuntimeError):  # the call has ended
                anyio.from_thread.run_sync(
                    group.start_soon, request.session.report_progress, told, None, doing
                )

        working = replace(
            context,
            cancelled=lambda: stop.is_set() or context.cancelled(),
            on_progress=tell,
        )

        def work() -> ToolResult:
            try:
                return working.call(params.name, params.arguments or {})
            except SearchCancelled:
                return ToolResult("cancelled", {"error": "cancelled"}, is_error=True)

        async def watch() -> None:
            try:
                await anyio.sleep_forever()
            finally:
                stop.set()

        # The thread is waited for, so that no more work at once than the limiter lets.
        with counted(request):
            async with anyio.create_task_group() as group:
                group.start_soon(watch)
                result = await anyio.to_thread.run_sync(
                    work, limiter=writing if offered[params.name].writes else reading
                )
                group.cancel_scope.cancel()
        return _sent(result)

    return Server(
        "pincite",
        version=__version__,
        title="pincite",
        instructions=guidance(tools, libraries),
        on_list_tools=listed,
        on_call_tool=called,
    )


def _described(tool: Tool, libraries: Sequence[str]) -> types.Tool:
    about = types.ToolAnnotations(
        read_only_hint=not tool.writes,
        destructive_hint=tool.name.startswith("delete"),
        idempotent_hint=True,
        open_world_hint=False,
    )
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.schema(libraries),
        annotations=about,
    )


def _sent(result: ToolResult) -> types.CallToolResult:
    links = [types.ResourceLink(name=title, uri=address) for title, address in result.links]
    return types.CallToolResult(
        content=[types.TextContent(text=result.text), *links],
        structured_content=result.data,
        is_error=result.is_error,
    )
