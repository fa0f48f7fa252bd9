"""What crosses the pipe between a reader's process and ours: typed data, never code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import msgspec

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.source_file import SourceFile
from pincite.records import Block, Content, Omission, Place, Section

_MOST = 1e9  # of anything that is counted or measured; infinity and NaN are more, or nothing
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
    if not content.sections or not all(map(_is_sound, content.places)):
        raise FileUnreadable("made its reader lose its place; it may be damaged")
    return content


def _is_sound(place: Place) -> bool:
    """Whether its numbers are such as a page, a recording or a table can have."""
    counts = (place.page, place.row, place.box.page if place.box else None)
    sizes = [place.time_start, place.time_end]
    if place.box is not None:
        sizes += [place.box.left, place.box.bottom, place.box.right, place.box.top]
    return all(count is None or 0 <= count <= _MOST for count in counts) and all(
        size is None or abs(size) <= _MOST for size in sizes
    )


def _in_order(stretches: Sequence[Stretch], length: int) -> bool:
    """Whether they lie inside the text, one behind the other."""
    inside = all(0 <= one.start <= one.end <= length for one in stretches)
    return inside and all(one.end <= after.start for one, after in pairwise(stretches))
