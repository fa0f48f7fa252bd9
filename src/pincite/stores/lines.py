"""Lines of JSON that carry a checksum over their bytes, as the chunk log and archives keep them.

{"check": "<16 hex digits>", "entry": {…}}
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

Entry = dict[str, Any]

_HEAD = b'{"check":"%s","entry":'
_CHECK_LENGTH = 16
_HEAD_LENGTH = len(_HEAD) - 2 + _CHECK_LENGTH


def encode(entry: Entry) -> bytes:
    """One line that holds the entry."""
    return sealed(json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode())


def sealed(body: bytes) -> bytes:
    """One line that holds an entry which is JSON already."""
    return _HEAD % _check(body) + body + b"}\n"


def decode(line: bytes) -> Entry | None:
    """What a line says, or None where it is torn or was changed."""
    body = checked(line)
    if body is None:
        return None
    entry: Entry = json.loads(body)
    return entry


def checked(line: bytes) -> bytes | None:
    """The JSON of a line's entry, or None where the line is torn or was changed."""
    body = line[_HEAD_LENGTH:-2]
    return body if line == sealed(body) else None


def _check(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_CHECK_LENGTH // 2).hexdigest().encode()
