"""The headers of mails, which may be encoded, folded or broken in many ways."""

from __future__ import annotations

import re
from email.errors import MessageError
from email.header import decode_header
from email.message import Message

from pincite.errors import FileUnreadable
from pincite.reading.facts import one_line
from pincite.reading.web.html import decode_labelled

# Whatever `email` lets through from headers that are broken in some way.
BROKEN = (LookupError, ValueError, TypeError, AttributeError, MessageError)

_LONGEST = 10_000  # characters; what is longer is no name or address any more
_FOLD = re.compile(r"(?:\r\n|\r|\n)[ \t]*")


def header(mail: Message, name: str) -> str:
    """The value of a header on one line; empty where there is none."""
    for key, value in mail.raw_items():
        if key.lower() == name.lower():
            return decoded(str(value))
    return ""


def decoded(value: str) -> str:
    """A header in its real characters: some are encoded, some were sent as they are."""
    raw = _FOLD.sub(" ", value[:_LONGEST]).encode("utf-8", "surrogateescape")
    line = _labelled(raw, None)
    if "=?" not in line:
        return line.strip()
    try:
        parts = decode_header(line)
    except BROKEN:
        return line.strip()
    return "".join(
        part if isinstance(part, str) else _labelled(part, label) for part, label in parts
    ).strip()


def _labelled(data: bytes, label: str | None) -> str:
    try:
        return decode_labelled(data, label)
    except FileUnreadable:
        return data.decode("utf-8", "replace")


def charset(part: Message) -> str | None:
    """What the part is said to be encoded in."""
    try:
        return part.get_content_charset()
    except BROKEN:
        return None


def parameter(part: Message, name: str) -> str:
    """A parameter of the part's content type, in lower case; empty where there is none."""
    try:
        return str(part.get_param(name, "")).lower()
    except BROKEN:
        return ""


def file_name(part: Message) -> str | None:
    """What the part is called as a file, if it is one."""
    try:
        name = part.get_filename()
    except BROKEN:
        return None
    return one_line(decoded(name)) if name else None
