"""Mails (.eml) → Content: who wrote to whom, the text, and the mails inside of it.

Headers may be encoded, folded or broken in many ways. A body is plain text as it was written, or
HTML; other parts are mails themselves, or only named.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from email import message_from_bytes
from email.errors import InvalidBase64LengthDefect, MessageError
from email.header import decode_header
from email.message import Message
from email.utils import getaddresses
from textwrap import dedent

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.encoding import decode
from pincite.reading.facts import names, one_line
from pincite.reading.source_file import SourceFile
from pincite.reading.web.html import HtmlPage, decode_html, decode_labelled, when
from pincite.reading.web.html_blocks import without_controls
from pincite.reading.web.html_tree import parse_html
from pincite.reading.writer import Writer
from pincite.records import Content, Metadata

_DEEPEST = 5  # mails inside of each other
_MOST_PARTS = 1_000
_MOST_BOUNDARIES = 5_000  # the parser goes through all that are open for each line
_LONGEST_SHOWN = 1_000  # characters of a header
_SHOWN = ("From", "To", "Cc", "Date")
_BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")
_BOUNDARY = re.compile(rb"\bboundary\s{0,9}=", re.IGNORECASE)
_BLANK_LINES = re.compile(r"\n\s*\n")
_ENCRYPTED_TEXT = "-----BEGIN PGP MESSAGE-----"

# Whatever `email` lets through from headers that are broken in some way.
BROKEN = (LookupError, ValueError, TypeError, AttributeError, MessageError)

_LONGEST = 10_000  # characters; what is longer is no name or address any more
_FOLD = re.compile(r"(?:\r\n|\r|\n)[ \t]*")

_STUB = 4  # a plain text with less than this share of what the HTML says is only a hint at it
_ENCRYPTED = frozenset(
    ("multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime")
)
_SIGNATURES = frozenset(
    (
        *("application/pgp-signature", "application/pkcs7-signature"),
        *("application/x-pkcs7-signature", "application/pgp-encrypted"),
    )
)

_QUOTE = re.compile(r"(?:> ?){1,1000}")  # deeper than any mail; each takes memory
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9+/]+")


def read(file: SourceFile) -> Content:
    """Read a mail; attachments are named, not read."""
    data = file.data
    if data.startswith(_BYTE_ORDER_MARKS) or b"\0" in data[:4]:  # UTF-8 with a mark, or UTF-16
        data = decode(data).encode("utf-8", "replace")
    if len(_BOUNDARY.findall(data)) > _MOST_BOUNDARIES:
        raise FileUnreadable(f"has more than {_MOST_BOUNDARIES:,} parts")
    try:
        mail = message_from_bytes(data.lstrip())
    except RecursionError as error:
        raise FileUnreadable("has parts inside of each other too many times") from error
    if not mail.keys():
        raise FileUnreadable("is not a mail: it begins without a header")
    reader = _MailReader()
    reader.write(mail, depth=0)
    if reader.is_encrypted and not reader.has_text:
        raise FileUnreadable(
            "is encrypted (S/MIME or PGP); save it decrypted from the mail program"
        )
    sender = _header(mail, "From")[:_LONGEST_SHOWN]
    return reader.writer.content(
        "eml",
        title=one_line(_header(mail, "Subject")),
        metadata=Metadata(
            author=names([name or address for name, address in getaddresses([sender])])
            or one_line(sender),
            date=when(_header(mail, "Date")),
            notes=tuple(dict.fromkeys(reader.notes)),
        ),
    )


@dataclass(slots=True)
class _MailReader:
    """What was read of a mail and of the mails inside of it."""

    writer: Writer = field(default_factory=Writer)
    notes: list[str] = field(default_factory=list)
    has_text: bool = False
    is_encrypted: bool = False
    _parts_left: int = _MOST_PARTS

    def write(self, mail: Message, *, depth: int) -> None:
        """Write a mail, then those that were sent along."""
        if depth:
            self.writer.heading(one_line(_header(mail, "Subject")) or "Forwarded mail", depth)
        lines = ((name, _header(mail, name)[:_LONGEST_SHOWN]) for name in _SHOWN)
        self.writer.paragraph("\n".join(f"{name}: {value}" for name, value in lines if value))
        found = _parts_of(mail, most=self._parts_left)
        self._parts_left -= found.count
        self.is_encrypted |= found.is_encrypted
        if found.is_cut:
            self.notes.append(f"has more than {_MOST_PARTS:,} parts; the rest was left out")
        for part in found.texts:
            self._write_text(part)
        if found.attachments:
            self.writer.paragraph(f"Attachments: {', '.join(found.attachments)}")
        for inner in found.mails:
            if depth < _DEEPEST:
                self.write(inner, depth=depth + 1)
            else:
                self.notes.append(f"holds mails more than {_DEEPEST} deep, which were left out")

    def _write_text(self, part: Message) -> None:
        try:
            if part.get_content_type() == "text/html":
                page = _html_page(part)
                page.write_to(self.writer)
                self.notes.extend(page.facts.metadata.notes)
                self.has_text |= page.text_length > 0
            else:
                self._write_plain(_plain_text(part))
        except FileEmpty:
            return
        except FileUnreadable as error:
            self.notes.append(f"has a part that {error}")

    def _write_plain(self, text: str) -> None:
        if text.lstrip().startswith(_ENCRYPTED_TEXT):
            self.is_encrypted = True
            return
        for paragraph in _BLANK_LINES.split(text):
            self.writer.paragraph(dedent(paragraph))
        self.has_text |= bool(text.strip())


def _header(mail: Message, name: str) -> str:
    """The value of a header on one line; empty where there is none."""
    values = (value for key, value in mail.raw_items() if key.lower() == name.lower())
    return next((_decoded(str(value)) for value in values), "")


def _decoded(value: str) -> str:
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


def _charset(part: Message) -> str | None:
    """What the part is said to be encoded in."""
    try:
        return part.get_content_charset()
    except BROKEN:
        return None


def _parameter(part: Message, name: str) -> str:
    """A parameter of the part's content type, in lower case; empty where there is none."""
    try:
        return str(part.get_param(name, "")).lower()
    except BROKEN:
        return ""


def _file_name(part: Message) -> str | None:
    """What the part is called as a file, if it is one."""
    try:
        name = part.get_filename()
    except BROKEN:
        return None
    return one_line(_decoded(name)) if name else None


@dataclass(slots=True)
class Parts:
    """The parts of one mail, but not of the mails inside of it."""

    texts: list[Message] = field(default_factory=list)
    mails: list[Message] = field(default_factory=list)
    attachments: list[str] = field(default_factory=list)
    is_encrypted: bool = False
    count: int = 0
    is_cut: bool = False  # whether there are more than were looked at


def _parts_of(mail: Message, *, most: int) -> Parts:
    """The parts in their order, up to so many of them."""
    found = Parts()
    waiting = [(mail, True)]
    while waiting:
        part, is_read = waiting.pop()
        if found.count >= most:
            found.is_cut = True
            break
        found.count += 1
        kind = part.get_content_type()
        inner = _inner(part)
        if kind in _ENCRYPTED:
            found.is_encrypted = True
        elif kind == "message/rfc822" and inner:
            found.mails.extend(inner[:1])
        elif inner:
            chosen = {id(one) for one in _chosen(kind, inner)} if is_read else set()
            waiting.extend((one, id(one) in chosen) for one in inner[::-1])
        else:
            name = _file_name(part)
            disposition = _header(part, "Content-Disposition")
            is_attached = name is not None or disposition.startswith("attachment")
            is_text = kind in ("text/plain", "text/html") or kind.startswith("multipart/")
            if is_text and not is_attached:
                found.texts.extend([part] if is_read else [])
            elif kind.startswith("image/") and part.get("Content-ID") is not None:
                pass  # shown by the HTML
            elif kind not in _SIGNATURES:
                found.attachments.append(name or kind)
    return found


def _inner(part: Message) -> list[Message]:
    if not part.is_multipart():  # and do not ask for a payload that it may fail to decode
        return []
    return [one for one in part.get_payload() if isinstance(one, Message)]


def _chosen(kind: str, parts: Sequence[Message]) -> list[Message]:
    """Those of the parts that are to be read: of alternatives only the one that says most."""
    if kind != "multipart/alternative":
        return list(parts)
    plain = [part for part in parts if part.get_content_type() == "text/plain"]
    pages = [part for part in parts if _html_in(part) is not None]
    if plain and not (pages and _is_stub(plain[0], pages[-1])):
        return plain[:1]
    return pages[-1:] or list(parts[-1:])


def _is_stub(plain: Message, page: Message) -> bool:
    """Whether the plain text says much less than the HTML beside it."""
    html = _html_in(page)
    try:
        text = _plain_text(plain).strip()
        return not text or (html is not None and len(text) * _STUB < _html_page(html).text_length)
    except FileUnreadable:
        return False


def _html_in(part: Message) -> Message | None:
    """The HTML that a part is, or that stands among its pictures."""
    candidates = [part, *_inner(part)]
    return next((one for one in candidates if one.get_content_type() == "text/html"), None)


def _html_page(part: Message) -> HtmlPage:
    """The page a part holds; FileEmpty or FileUnreadable where there is none."""
    return HtmlPage(parse_html(decode_html(_payload(part), _charset(part))))


def _plain_text(part: Message) -> str:
    """The text a part holds, with line feeds only; FileUnreadable where it is none."""
    text = without_controls(decode_labelled(_payload(part), _charset(part)))
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if _parameter(part, "format") == "flowed":
        deletes_space = _parameter(part, "delsp") == "yes"
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
    if any(isinstance(one, InvalidBase64LengthDefect) for one in part.defects):
        # `email` leaves it as it is because one letter at its end stands for nothing.
        letters = _NOT_BASE64.sub(b"", payload)
        return binascii.a2b_base64(letters[: len(letters) // 4 * 4])
    return payload
