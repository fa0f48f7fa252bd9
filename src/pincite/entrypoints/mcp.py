"""The tools of `pincite.tools` as an MCP server; whoever serves it says what each call may use."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from pincite import __version__
from pincite.entrypoints.http.service import Service
from pincite.errors import SearchCancelled
from pincite.text.printable import printable
from pincite.tools import GUIDANCE, Tool, ToolContext, ToolResult, chosen

_MOST_SESSIONS = 1_000
Context = ServerRequestContext[Any, Any]
ContextOf = Callable[[Context], Awaitable[ToolContext]]
"""What a call of this request may use."""


class AgentsDoor(Response):
    """MCP over HTTP: the response to every request, since the SDK answers them.

    The protocol of 2026 has no sessions. That of 2025 needs them, or nobody could cancel a call.
    What a call may use is asked anew for each request, whatever session it belongs to.
    """

    def __init__(self, service: Service) -> None:
        super().__init__()

        async def context_of(request: Context) -> ToolContext:
            assert request.request is not None  # noqa: S101 — over HTTP there is one
            return service.tool_context(request.request, agent_of(request))

        server = mcp_server(chosen(service.tools), context_of, service.threads)
        self._manager = StreamableHTTPSessionManager(server, max_sessions=_MOST_SESSIONS)
        self._service = service

    def run(self) -> AbstractAsyncContextManager[None]:
        """Around all requests."""
        return self._manager.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that was admitted."""
        with self._service.counted():
            await self._manager.handle_request(scope, receive, send)


def agent_of(request: Context) -> str:
    """What the client calls itself, for the log."""
    told = request.session.client_params
    return printable(told.client_info.name) if told is not None else ""


def mcp_server(
    tools: Sequence[Tool], context_of: ContextOf, limiter: anyio.CapacityLimiter | None = None
) -> Server[Any]:
    """A server of these tools; each call is done in a thread, and stopped when it is cancelled."""
    offered = {tool.name: tool for tool in tools}

    async def listed(
        request: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        context = await context_of(request)
        allowed = (one for one in tools if context.may_write or not one.writes)
        return types.ListToolsResult(tools=[_described(one, context.names) for one in allowed])

    async def called(request: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        context = await context_of(request)
        if params.name not in offered:
            known = ", ".join(offered)
            text = f"there is no tool {params.name[:100]!r}; there are: {known}"
            return _sent(ToolResult(text, {"error": text}, is_error=True))
        stop = threading.Event()
        told = 0

        def tell(doing: str) -> None:
            nonlocal told
            told += 1
            with suppress(RuntimeError):  # whoever asked has gone
                anyio.from_thread.run(request.session.report_progress, told, None, doing)

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

        try:
            return _sent(
                await anyio.to_thread.run_sync(work, limiter=limiter, abandon_on_cancel=True)
            )
        finally:
            stop.set()

    return Server(
        "pincite",
        version=__version__,
        title="pincite",
        instructions=GUIDANCE,
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
