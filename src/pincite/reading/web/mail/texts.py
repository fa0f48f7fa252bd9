"""The bodies of mails: plain text as it was written, or HTML."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator, Sequence
from email.errors import InvalidBase64LengthDefect
from email.message import Message

from pincite.reading.web.html import HtmlPage, decode_html, decode_labelled, parse_html
from pincite.reading.web.html.line import without_controls
from pincite.reading.web.mail.headers import BROKEN, charset, parameter

_QUOTE = re.compile(r"(?:> ?){1,1000}")  # deeper than any mail; each takes memory
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9+/]+")


def html_page(part: Message) -> HtmlPage:
    """The page a part holds; FileEmpty or FileUnreadable where there is none."""
    return HtmlPage(parse_html(decode_html(_payload(part), charset(part))))


def plain_text(part: Message) -> str:
    """The text a part holds, with line feeds only; FileUnreadable where it is none."""
    text = without_controls(decode_labelled(_payload(part), charset(part)))
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if parameter(part, "format") == "flowed":
        deletes_space = parameter(part, "delsp") == "yes"
        return "\n".join(_unflowed(text.split("\n"), deletes_space=deletes_space))
    return text


def _unflowed(lines: Sequence[str], *, deletes_space: bool) -> Iterator[str]:
    """Lines that were only broken to be sent, joined again (RFC 3676)."""
    joined: list[str] = []
    depth = 0
    for line in lines:
        quote = _QUOTE.match(line)
        marks = quote.group().count(">") if quote else 0
        content = line[quote.end() :] if quote else line.removeprefix(" ")
        if joined and marks != depth:
            yield _with_marks(depth, joined)
            joined = []
        depth = marks
        goes_on = content.endswith(" ") and content != "-- "
        joined.append(content[:-1] if goes_on and deletes_space else content)
        if not goes_on:
            yield _with_marks(depth, joined)
            joined = []
    if joined:
        yield _with_marks(depth, joined)


def _with_marks(depth: int, parts: Sequence[str]) -> str:
    return (">" * depth + " " if depth else "") + "".join(parts)


def _payload(part: Message) -> bytes:
    try:
        payload = part.get_payload(decode=True)
    except (*BROKEN, binascii.Error):
        return b""
    if not isinstance(payload, bytes):
        return b""
    is_cut = any(isinstance(one, InvalidBase64LengthDefect) for one in part.defects)
    return _decoded_so_far(payload) if is_cut else payload


def _decoded_so_far(base64: bytes) -> bytes:
    """What `email` leaves as it is because one letter at its end stands for nothing."""
    letters = _NOT_BASE64.sub(b"", base64)
    return binascii.a2b_base64(letters[: len(letters) // 4 * 4])
