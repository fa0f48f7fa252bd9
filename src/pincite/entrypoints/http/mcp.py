"""MCP over HTTP, at `/mcp` of the service."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AbstractContextManager, ExitStack

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from pincite.entrypoints.http.service import Service
from pincite.entrypoints.mcp import McpRequest, agent_of, mcp_server
from pincite.tools import ToolContext, chosen

_MOST_SESSIONS = 1_000  # of the protocol of 2025; each keeps what its client said of itself
_SECONDS_IDLE = 300.0


class AgentsDoor(Response):
    """MCP over HTTP: the response to every request, since the SDK answers them.

    The protocol of 2026 has no sessions. That of 2025 needs them, or nobody could cancel a call.
    What a call may use is asked anew for each request, whatever session it belongs to.
    """

    def __init__(self, service: Service) -> None:
        super().__init__()

        async def context_of(request: McpRequest) -> ToolContext:
            assert request.request is not None  # noqa: S101 — over HTTP there is one
            return service.tool_context(request.request, agent_of(request))

        def counted(request: McpRequest) -> AbstractContextManager[None]:
            assert request.request is not None  # noqa: S101 — over HTTP there is one
            # In the protocol of 2025 the work goes on when the request was dropped.
            request.request.scope["state"]["counting"].close()
            return service.counted()

        server = mcp_server(
            chosen(service.tools),
            context_of,
            counted=counted,
            reading=service.threads,
            writing=service.writers,
        )
        self._manager = StreamableHTTPSessionManager(
            server,
            max_sessions=_MOST_SESSIONS,
            session_idle_timeout=_SECONDS_IDLE,
            max_request_body_size=service.limits.body_bytes,
        )
        self._service = service

    def run(self) -> AbstractAsyncContextManager[None]:
        """Around all requests."""
        return self._manager.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that was admitted; counted until its work is."""
        with ExitStack() as counting:
            counting.enter_context(self._service.counted())
            scope["state"]["counting"] = counting
            await self._manager.handle_request(scope, receive, send)
