"""Mails (.eml) → Content: who wrote to whom, the text, and the mails inside of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from email.utils import getaddresses
from textwrap import dedent

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.encoding import decode
from pincite.reading.facts import names, one_line
from pincite.reading.source_file import SourceFile
from pincite.reading.web.html.facts import when
from pincite.reading.web.mail.headers import header
from pincite.reading.web.mail.parts import parts_of
from pincite.reading.web.mail.texts import html_page, plain_text
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


def read(file: SourceFile) -> Content:
    """Read a mail; attachments are named, not read."""
    mail = _parsed(file.data)
    reader = _MailReader()
    reader.write(mail, depth=0)
    if reader.is_encrypted and not reader.has_text:
        raise FileUnreadable(
            "is encrypted (S/MIME or PGP); save it decrypted from the mail program"
        )
    return reader.writer.content(
        "eml",
        title=one_line(header(mail, "Subject")),
        metadata=Metadata(
            author=_author(mail),
            date=when(header(mail, "Date")),
            notes=tuple(dict.fromkeys(reader.notes)),
        ),
    )


def _parsed(data: bytes) -> Message:
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
    return mail


def _author(mail: Message) -> str | None:
    sender = header(mail, "From")[:_LONGEST_SHOWN]
    return names([name or address for name, address in getaddresses([sender])]) or one_line(sender)


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
            self.writer.heading(one_line(header(mail, "Subject")) or "Forwarded mail", depth)
        lines = ((name, header(mail, name)[:_LONGEST_SHOWN]) for name in _SHOWN)
        self.writer.paragraph("\n".join(f"{name}: {value}" for name, value in lines if value))
        found = parts_of(mail, most=self._parts_left)
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
                self._write_html(part)
            else:
                self._write_plain(plain_text(part))
        except FileEmpty:
            return
        except FileUnreadable as error:
            self.notes.append(f"has a part that {error}")

    def _write_html(self, part: Message) -> None:
        page = html_page(part)
        page.write_to(self.writer)
        self.notes.extend(page.facts.notes)
        self.has_text |= page.text_length > 0

    def _write_plain(self, text: str) -> None:
        if text.lstrip().startswith(_ENCRYPTED_TEXT):
            self.is_encrypted = True
            return
        for paragraph in _BLANK_LINES.split(text):
            self.writer.paragraph(dedent(paragraph))
        self.has_text |= bool(text.strip())
