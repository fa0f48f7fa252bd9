"""A command handed to a running service, before anything is loaded that it could do without.

Loading what a search needs takes most of its time, and a service has it loaded. It runs the very
same command for us (`http/commands.py`). Whatever is in the way is no error: the command then runs
in this process, as it does without a service.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = ("search", "ask")
ROUTE = "/local/command"
_ELSEWHERE = ("PINCITE_STORE", "PINCITE_USER", "PINCITE_PROJECT", "PINCITE_SERVER")
_SECONDS = 5.0  # of silence; alone it would have taken less
_LARGEST = 64 << 20  # bytes


def run_by_service(arguments: Sequence[str]) -> int | None:
    """Print what a running service says to this command → its exit code; None where none did."""
    wanted = "".join(arguments[:1]) in COMMANDS and os.environ.get("PINCITE_SERVICE") != "off"
    if not wanted or any(map(os.environ.get, _ELSEWHERE)) or not sys.stdout or not sys.stderr:
        return None
    answer = None
    try:
        answer = _answer(arguments)
        if answer is None:
            return None
        code, *told = answer
        for stream, data in zip((sys.stdout, sys.stderr), told, strict=True):
            stream.buffer.write(data)
            stream.flush()
    except BrokenPipeError:
        return 0 if answer else None  # the reader has seen enough, or the service has gone
    except KeyboardInterrupt:
        return _stopped(arguments)
    except (OSError, ValueError, LookupError):
        return None
    return code


def _answer(arguments: Sequence[str]) -> tuple[int, bytes, bytes] | None:
    """Exit code, output and notes, from the service of the nearest library that has one."""
    from pincite.entrypoints.http.sockets import connected, runtime_folder, socket_path, stamp

    if not any(name.endswith(".sock") for name in os.listdir(runtime_folder())):
        return None
    if {sys.stdout.encoding.lower(), sys.stderr.encoding.lower()} != {"utf-8"}:
        return None
    here, made_with = os.getcwd(), stamp()
    folder = os.path.realpath(os.path.join(here, os.path.expanduser(_library(arguments))))
    while not os.path.exists(path := socket_path(folder, made_with)):
        if folder == (folder := os.path.dirname(folder)):
            return None
    streams = (sys.stdout, sys.stderr)
    colors = "".join(str(int(one.isatty() and not os.environ.get("NO_COLOR"))) for one in streams)
    body = os.fsencode("\0".join([colors, here, *arguments]))
    head = (
        f"POST {ROUTE} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        f"Content-Type: application/octet-stream\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    data = bytearray()
    with connected(path, _SECONDS) as connection:
        connection.sendall(head.encode() + body)
        while part := connection.recv(1 << 16):
            data += part
            if len(data) > _LARGEST:
                return None
    told, _, content = bytes(data).partition(b"\r\n\r\n")
    status, *lines = told.decode("latin-1").lower().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    if " 200 " not in f"{status} " or len(content) != int(headers["content-length"]):
        return None
    length = int(headers["pincite-output"])
    return int(headers["pincite-exit"]), content[:length], content[length:]


def _stopped(arguments: Sequence[str]) -> int:
    """Say that Ctrl-C was heard, as the command itself would."""
    as_json = '{"error": {"kind": "KeyboardInterrupt", "message": "Stopped."}}'
    print(as_json if "--json" in arguments else "\nStopped.", file=sys.stderr)  # noqa: T201 — click is not loaded
    return 130


def _library(arguments: Sequence[str]) -> str:
    """What `--library` says; the service looks again, and says no where this is not what it is."""
    for at, one in enumerate(arguments):
        name, _, value = one.partition("=")
        if one in ("-l", "--library"):
            return arguments[at + 1]
        if name == "--library":
            return value
        if one.startswith("-l"):
            return one[2:]
    return "."
