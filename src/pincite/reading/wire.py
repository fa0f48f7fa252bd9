"""What crosses the pipe between a reader's process and ours: typed data, never code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import msgspec

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.source_file import SourceFile
from pincite.records import Block, Content, Omission, Place, Section

Stretch = Block | Omission | Place | Section


@dataclass(frozen=True, slots=True)
class Request:
    """A file to read, by which module of `reading/`."""

    module: str
    file: SourceFile


@dataclass(frozen=True, slots=True)
class Reply:
    """What a file holds, or why it cannot be read."""

    content: Content | None = None
    problem: str = ""
    empty: bool = False


def encode(message: Request | Reply) -> bytes:
    """A message as bytes."""
    return msgspec.msgpack.encode(message)


def decode_request(data: bytes) -> Request:
    """The inverse of `encode`, in the process that reads."""
    return msgspec.msgpack.decode(data, type=Request)


def decode_reply(data: bytes) -> Content:
    """What was read; a file made it, so every value is checked before it is believed."""
    try:
        reply = msgspec.msgpack.decode(data, type=Reply)
    except msgspec.MsgspecError as error:
        raise FileUnreadable("made its reader answer nonsense; it may be damaged") from error
    if reply.content is None:
        raise (FileEmpty if reply.empty else FileUnreadable)(reply.problem)
    content = reply.content
    for stretches in (content.sections, content.blocks, content.places, content.omissions):
        if not _in_order(stretches, len(content.text)):
            raise FileUnreadable("made its reader lose its place; it may be damaged")
    return content


def _in_order(stretches: Sequence[Stretch], length: int) -> bool:
    """Whether they lie inside the text, one behind the other."""
    inside = all(0 <= one.start <= one.end <= length for one in stretches)
    return inside and all(one.end <= after.start for one, after in pairwise(stretches))
