"""The door of a service's own user: their sockets, and the commands that come in there.

Whoever reaches a socket is the owner, who needs no key. `pincite search` and `pincite ask` are run
here as their own process would run them. One that fails, or wants what only that process has, is
refused: it is then run there, and says itself what is wrong.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

import click
from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from pincite.engine import Library
from pincite.engine.queries import CALLER, Caller
from pincite.entrypoints.cli.common import ASKED_BY, Asked
from pincite.entrypoints.config import user_settings
from pincite.entrypoints.http.guard import OWNER
from pincite.entrypoints.http.service import Service
from pincite.entrypoints.http.sockets import socket_path
from pincite.entrypoints.running import COMMANDS, ROUTE
from pincite.errors import PinciteError
from pincite.settings import LOG_MODES


class OwnDoor:
    """Marks what comes through a socket of the owner's, and runs the commands among it."""

    def __init__(self, app: ASGIApp, service: Service, libraries: Iterable[Library]) -> None:
        self._app = app
        self._service = service
        self._libraries = {socket_path(one.root): one for one in libraries}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        # Of a socket the server is its path, of a port an address and a number.
        library = self._libraries.get((scope.get("server") or ("",))[0])
        scope[OWNER] = library is not None
        if library is None or scope.get("path") != ROUTE:
            await self._app(scope, receive, send)
            return
        scope.setdefault("state", {})
        request = Request(scope, receive)
        response = await run_sync(self._service.admit, request, "read")
        if response is None:
            colors, here, *arguments = os.fsdecode(await request.body()).split("\0")
            told = Asked(library, Path(here), (colors[0] == "1", colors[1] == "1"))
            with self._service.counted():
                response = await run_sync(_run, told, arguments, limiter=self._service.threads)
        await response(scope, receive, send)


def _run(told: Asked, arguments: list[str]) -> Response:
    name, *options = arguments
    ASKED_BY.set(told)  # in the context of this call alone
    CALLER.set(Caller(door="cli"))
    code: object = 0
    if name not in COMMANDS:
        return Response(status_code=404)
    try:
        # What its user no longer wants to be kept, a service that was started before may not keep.
        if LOG_MODES.index(user_settings(os.environ).log) > LOG_MODES.index(told.library.log_mode):
            return Response(status_code=409)
        command: click.Command = getattr(import_module(f"pincite.entrypoints.cli.{name}"), name)
        # Without help: that is as wide as the terminal, which is not here.
        with command.make_context(name, options, help_option_names=[]) as context:
            command.invoke(context)
    except SystemExit as end:
        code = end.code
    except (PinciteError, click.ClickException, click.exceptions.Exit, OSError):
        return Response(status_code=409)
    output, notes = (one.getvalue().encode() for one in told.streams)
    headers = {"Pincite-Exit": str(code), "Pincite-Output": str(len(output))}
    return Response(output + notes, headers=headers, media_type="application/octet-stream")
