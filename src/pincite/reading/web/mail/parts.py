"""Which parts of a mail are read, which are mails themselves, and which are only named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from email.message import Message

from pincite.errors import FileUnreadable
from pincite.reading.web.mail.headers import file_name, header
from pincite.reading.web.mail.texts import html_page, plain_text

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


@dataclass(slots=True)
class Parts:
    """The parts of one mail, but not of the mails inside of it."""

    texts: list[Message] = field(default_factory=list)
    mails: list[Message] = field(default_factory=list)
    attachments: list[str] = field(default_factory=list)
    is_encrypted: bool = False
    count: int = 0
    is_cut: bool = False  # whether there are more than were looked at


def parts_of(mail: Message, *, most: int) -> Parts:
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
            _add(found, part, kind, is_read=is_read)
    return found


def _inner(part: Message) -> list[Message]:
    if not part.is_multipart():  # and do not ask for a payload that it may fail to decode
        return []
    return [one for one in part.get_payload() if isinstance(one, Message)]


def _add(found: Parts, part: Message, kind: str, *, is_read: bool) -> None:
    """Put a part that has no parts of its own where it belongs."""
    name = file_name(part)
    is_attached = name is not None or header(part, "Content-Disposition").startswith("attachment")
    is_text = kind in ("text/plain", "text/html") or kind.startswith("multipart/")
    if is_text and not is_attached:
        found.texts.extend([part] if is_read else [])
    elif kind not in _SIGNATURES and not _is_shown_by_html(part, kind):
        found.attachments.append(name or kind)


def _is_shown_by_html(part: Message, kind: str) -> bool:
    return kind.startswith("image/") and part.get("Content-ID") is not None


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
        text = plain_text(plain).strip()
        return not text or (html is not None and len(text) * _STUB < html_page(html).text_length)
    except FileUnreadable:
        return False


def _html_in(part: Message) -> Message | None:
    """The HTML that a part is, or that stands among its pictures."""
    candidates = [part, *_inner(part)]
    return next((one for one in candidates if one.get_content_type() == "text/html"), None)
