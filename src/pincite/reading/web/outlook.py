"""Outlook messages (.msg) → Content: who wrote to whom and when, the body, what was attached.

A message is a container with a stream for each text, named after the property that it is, and one
with all short properties. See [MS-OXMSG] 2.1 and [MS-OXPROPS].
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from email.parser import HeaderParser
from textwrap import dedent

from pincite.errors import FileUnreadable
from pincite.reading import facts
from pincite.reading.lines.plain import paragraphs
from pincite.reading.office.ole import OleContainer, encoding_of, moment
from pincite.reading.web.html import HtmlPage, decode_html, when
from pincite.reading.web.html_tree import parse_html
from pincite.reading.writer import Writer
from pincite.records import Content, Metadata

_SUBJECT, _BODY, _HTML, _HEADERS, _CLASS = 0x0037, 0x1000, 0x1013, 0x007D, 0x001A
_SENDER, _SENDER_ADDRESS, _SENDER_SMTP = 0x0C1A, 0x0C1F, 0x5D01
_NAME, _ADDRESS, _SMTP = 0x3001, 0x3003, 0x39FE
_FILE_NAME, _SHORT_FILE_NAME, _MIME_TYPE = 0x3707, 0x3704, 0x370E
_SENT, _DELIVERED = 0x0039, 0x0E06
_ROLE, _HIDDEN = 0x0C15, 0x7FFE
_CODE_PAGE, _BODY_CODE_PAGE = 0x3FFD, 0x3FDE
_ROLES = {1: "To", 2: "Cc"}  # who got a blind copy is nobody's business

_PROPERTIES = "__properties_version1.0"
_HEADER_SIZES = (32, 8)  # of the properties of the message itself, and of what is inside it
_LONGEST_HEADERS = 100_000  # characters
_MOST_PEOPLE = 100
_STUB = 4  # a plain text with less than this share of what the HTML says is only a hint at it


def read_message(container: OleContainer) -> Content:
    """Read a message; its attachments are only named."""
    message = _Folder(container, "")
    attachments = _folders(container, "__attach_version1.0_#")
    recipients = _folders(container, "__recip_version1.0_#")
    sender = message.text(_SENDER)
    address = message.text(_SENDER_SMTP, _SENDER_ADDRESS)
    # When it was sent, as a date and in words: as its own header says, or as Outlook knows.
    headers = HeaderParser().parsestr(message.text(_HEADERS)[:_LONGEST_HEADERS])
    said = facts.one_line(str(headers["Date"] or "")) or ""
    sent, sent_in_words = when(said), said
    if sent is None:
        times = (moment(message.number(one)) for one in (_SENT, _DELIVERED))
        sent = next(filter(None, times), None)
        sent_in_words = (sent or "").replace("T", " ").replace("+00:00", " UTC")
    writer = Writer()
    writer.paragraph("\n".join(_head(_person(sender, address), recipients, sent_in_words)))
    if not _write_body(message, writer):
        # What says nothing and has a sealed attachment is a message that cannot be read.
        kinds = [one.text(_MIME_TYPE).lower() for one in attachments]
        is_sealed = "application/pgp-encrypted" in kinds
        if is_sealed or message.text(_CLASS).upper() == "IPM.NOTE.SMIME":
            raise FileUnreadable("is encrypted; save it decrypted from the mail program")
    names = [one.text(_FILE_NAME, _SHORT_FILE_NAME, _NAME) for one in attachments if not one.hidden]
    if any(names):
        writer.paragraph("Attachments: " + ", ".join(filter(None, names)))
    return writer.content(
        "msg",
        title=facts.one_line(message.text(_SUBJECT)),
        metadata=Metadata(author=facts.one_line(sender or address), date=sent),
    )


class _Folder:
    """The properties of a message, of one that it was sent to, or of an attachment."""

    def __init__(self, container: OleContainer, path: str) -> None:
        self._container = container
        self._path = path
        self._numbers = dict(self._fixed())
        self.hidden = bool(self.number(_HIDDEN) & 1)

    def number(self, property_: int) -> int:
        """A short property as a number; 0 where there is none."""
        return self._numbers.get(property_, 0)

    def text(self, *properties: int) -> str:
        """The first of the properties that is there and not empty."""
        return next(filter(None, map(self._text, properties)), "")

    def data(self, property_: int) -> bytes | None:
        """A long property as it is stored."""
        return self._stream(property_, 0x0102)

    def encoding(self, *, of_body: bool = False) -> str:
        """How texts of one byte for each character are to be understood."""
        page = self.number(_BODY_CODE_PAGE if of_body else _CODE_PAGE)
        return encoding_of(page or self.number(_BODY_CODE_PAGE) or 1252)

    def _text(self, property_: int) -> str:
        wide = self._stream(property_, 0x001F)
        if wide is not None:
            return wide.decode("utf-16-le", "replace").strip("\0 ")
        narrow = self._stream(property_, 0x001E) or b""
        encoding = self.encoding(of_body=property_ in (_BODY, _HTML))
        return narrow.decode(encoding, "replace").strip("\0 ")

    def _stream(self, property_: int, kind: int) -> bytes | None:
        name = f"{self._path}__substg1.0_{property_:04X}{kind:04X}"
        return self._container.read(name) if self._container.has(name) else None

    def _fixed(self) -> Iterator[tuple[int, int]]:
        name = self._path + _PROPERTIES
        stream = self._container.read(name) if self._container.has(name) else b""
        stream = stream[_HEADER_SIZES[bool(self._path)] :]
        yield from struct.iter_unpack("<2xH4xQ", stream[: len(stream) // 16 * 16])


def _folders(container: OleContainer, beginning: str) -> list[_Folder]:
    """The folders of recipients or of attachments, in their order."""
    names = {name.split("/")[0] for name in container.names() if name.startswith(beginning)}
    return [_Folder(container, f"{name}/") for name in sorted(names)]


def _person(name: str, address: str) -> str:
    """A name with the address, where that is one of mail and not of a directory."""
    name = facts.one_line(name) or ""
    address = facts.one_line(address) or ""
    if "@" not in address or address.lower() == name.lower():
        return name
    return f"{name} <{address}>" if name else address


def _head(sender: str, recipients: Iterable[_Folder], sent: str) -> Iterator[str]:
    if sender:
        yield f"From: {sender}"
    for role, label in _ROLES.items():
        named = (
            _person(one.text(_NAME), one.text(_SMTP, _ADDRESS))
            for one in recipients
            if one.number(_ROLE) & 0xF == role
        )
        if reached := list(filter(None, named))[:_MOST_PEOPLE]:
            yield f"{label}: {', '.join(reached)}"
    if sent:
        yield f"Date: {sent}"


def _write_body(message: _Folder, writer: Writer) -> bool:
    """Write the plain text, or the HTML where that says much more; whether there was either."""
    plain = message.text(_BODY).replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    # The body as HTML; older messages keep it as text.
    data = message.data(_HTML)
    try:
        charset = message.encoding(of_body=True)
        page = HtmlPage(parse_html(decode_html(data, charset) if data else message.text(_HTML)))
    except FileUnreadable:
        page = None
    if page is not None and page.text_length > _STUB * len(plain.strip()):
        page.write_to(writer)
        return True
    for start, end in paragraphs(plain):
        writer.paragraph(dedent(plain[start:end]))
    return bool(plain.strip())
