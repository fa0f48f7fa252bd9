"""A service over libraries of tests: in this process, or as `pincite serve` in one of its own."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from fastapi.testclient import TestClient

from pincite import ModelAccess, open_library
from pincite.engine.jobs import Jobs
from pincite.engine.keys import add_key
from pincite.engine.serving import FolderLibraries, Libraries, TeamLibraries
from pincite.entrypoints.http.app import create_app
from pincite.entrypoints.http.guard import Limits
from pincite.entrypoints.http.service import Service
from pincite.records.journal import Key

HERE = "http://localhost:8000"


@contextmanager
def served(
    libraries: Libraries, *, limits: Limits | None = None, warm: bool = True
) -> Iterator[TestClient]:
    """A client of a service in this process; its jobs run."""
    service = Service(libraries, Jobs(libraries), limits or Limits())
    if warm:
        service.warm_up()
    service.jobs.start()
    try:
        with TestClient(
            create_app(service), base_url=HERE, raise_server_exceptions=False
        ) as client:
            yield client
    finally:
        service.jobs.close()
        libraries.close()


def folders(*roots: Path, trusting: bool = True, model: str = "hashing") -> FolderLibraries:
    """Libraries of folders, each indexed if it holds anything."""
    opened = {root.name: open_library(root) for root in roots}
    for library in opened.values():
        if any(library.root.iterdir()):
            library.index(model=model)
    return FolderLibraries(opened, trusting=trusting)


def team(database: str) -> TeamLibraries:
    """The projects of a team's database."""
    return TeamLibraries(database, ModelAccess())


def key_for(libraries: Libraries, user: str = "", *projects: str, **more: object) -> dict[str, str]:
    """The header of a new key that may write, unless that is said otherwise."""
    rights = {"name": user or "anybody", "may_write": True, **more}
    key = Key("", user=user, projects=projects, **rights)  # type: ignore[arg-type]  # as named
    if isinstance(libraries, FolderLibraries):
        _, secret = add_key(next(iter(libraries.libraries.values())), key)
    else:
        _, secret = next(libraries.journals()).add_key(key)
    return {"Authorization": f"Bearer {secret}"}


@contextmanager
def listening(
    libraries: Libraries, *, tools: str = "default", limits: Limits | None = None
) -> Iterator[str]:
    """The address of a service in a thread of this process, for clients that come and go."""
    service = Service(libraries, Jobs(libraries), limits or Limits(), tools=tools)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(create_app(service), log_config=None))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        service.jobs.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
            service.jobs.close()
            libraries.close()


@contextmanager
def process(
    *arguments: str, cwd: Path | None = None, environment: Mapping[str, str] = {}
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`pincite serve` on a free port, with the address that it tells."""
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "pincite", "serve", "--port", "0", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env={**os.environ, **environment},
    ) as server:
        assert server.stdout is not None
        try:
            address = next(
                found[0] for line in server.stdout if (found := re.search(r"http://\S+", line))
            )
            yield server, address
        finally:
            server.terminate()
            server.wait(30)


def waited(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    """Until the condition holds; AssertionError where it never does."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)
