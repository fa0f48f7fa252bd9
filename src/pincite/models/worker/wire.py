"""What crosses the socket: plain JSON and numbers, each message with its lengths before it."""

from __future__ import annotations

import json
import socket
import struct
from typing import Any

from pincite.errors import (
    ModelError,
    ModelInvalid,
    ModelMissing,
    ModelUnavailable,
    PinciteError,
    SettingsError,
)

Header = dict[str, Any]

# Why a worker may not be asked this; another one has to be started.
STRANGER, OTHER_CODE, OTHER_MODEL = "stranger", "other code", "other model"

_LENGTHS = struct.Struct(">QQ")
_LONGEST = 1 << 30  # bytes
_ERRORS = {
    kind.__name__: kind
    for kind in (ModelError, ModelInvalid, ModelMissing, ModelUnavailable, SettingsError)
}


class Broken(Exception):
    """The other side is gone, or does not speak our language."""


def send(connection: socket.socket, header: Header, body: bytes = b"") -> None:
    """Send a message."""
    told = json.dumps(header).encode()  # ASCII: half a character from a broken file goes through
    connection.sendall(_LENGTHS.pack(len(told), len(body)) + told + body)


def receive(connection: socket.socket) -> tuple[Header, bytes]:
    """The next message; Broken where it does not come whole."""
    told, body = _LENGTHS.unpack(receive_bytes(connection, _LENGTHS.size))
    if told + body > _LONGEST:
        raise Broken(f"a message of {told + body} bytes")
    try:
        header = json.loads(receive_bytes(connection, told))
    except ValueError as error:
        raise Broken("a message that is not JSON") from error
    if not isinstance(header, dict):
        raise Broken("a message that is not an object")
    return header, receive_bytes(connection, body)


def receive_bytes(connection: socket.socket, length: int) -> bytes:
    """Exactly so many bytes."""
    data = bytearray()
    while len(data) < length:
        part = connection.recv(min(length - len(data), 1 << 20))
        if not part:
            raise Broken("the other side is gone")
        data += part
    return bytes(data)


def problem(error: PinciteError) -> Header:
    """An error as it is sent."""
    return {"problem": type(error).__name__, "message": str(error)}


def error_in(header: Header) -> PinciteError | None:
    """The error that was sent, if it was one."""
    if "problem" not in header:
        return None
    return _ERRORS.get(str(header["problem"]), ModelError)(str(header.get("message", "")))
