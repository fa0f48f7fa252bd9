"""Mails and Outlook messages: parts in parts, headers without end, encodings that break."""

from __future__ import annotations

import base64

from compound_files import compound_file
from hostile.case import Bait, Case, either, read, refused
from hostile.samples import WORDS, message_streams

_HEAD = b"From: Ann <ann@example.org>\nTo: Bob <bob@example.org>\nSubject: Pumps\n"
_SEAL = b"The seal leaks.\n"


def _mail(headers: bytes = b"", body: bytes = _SEAL) -> bytes:
    return _HEAD + headers + b"\n" + body


def _parts(depth: int) -> bytes:
    """Parts inside each other, the text in the innermost."""
    opened = b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(depth)
    )
    return _HEAD + opened + b"Content-Type: text/plain\n\n" + _SEAL


def _mails(depth: int) -> bytes:
    """Mails inside each other."""
    return (_HEAD + b"Content-Type: message/rfc822\n\n") * depth + _HEAD + b"\n" + _SEAL


def _many_parts(count: int) -> bytes:
    part = b"--b\nContent-Type: text/plain\n\nx\n"
    return _mail(b"Content-Type: multipart/mixed; boundary=b\n", _SEAL + part * count + b"--b--")


def _boundaries(count: int) -> bytes:
    """As many boundaries as that, each of which has to be looked for in every line."""
    opened = b"".join(
        b"--b%d\nContent-Type: multipart/mixed; boundary=b%d\n\n" % (n, n + 1) for n in range(count)
    )
    return _mail(b"Content-Type: multipart/mixed; boundary=b0\n", opened + b"x\n" * 20_000)


def _html(body: bytes) -> bytes:
    return _mail(b"Content-Type: text/html\n", b"<html><body><p>The seal leaks" + body)


_SHAPES = (
    refused("parts.eml", "has more than|too many times", lambda _: _parts(10_000)),
    either("some-parts.eml", lambda _: _parts(900)),
    either("mails.eml", lambda _: _mails(5_000)),
    read("few-mails.eml", lambda _: _mails(20), has="Pumps", notes="deep|left out"),
    either("many-parts.eml", lambda _: _many_parts(5_000)),
    either("boundaries.eml", lambda _: _boundaries(2_000)),
    either("no-boundary.eml", lambda _: _mail(b"Content-Type: multipart/mixed\n")),
    either("empty-boundary.eml", lambda _: _mail(b'Content-Type: multipart/mixed; boundary=""\n')),
    either(
        "boundary-only.eml",
        lambda _: _mail(b"Content-Type: multipart/mixed; boundary=b\n", b"--b--"),
    ),
    either(
        "alternative.eml",
        lambda _: _mail(b"Content-Type: multipart/alternative; boundary=b\n", b"--b\n\n" * 5_000),
    ),
)

_HEADERS = (
    read("long-header.eml", lambda _: _mail(b"X-A: " + b"a" * 3_000_000 + b"\n"), has=WORDS),
    read("headers.eml", lambda _: _mail(b"X-A: b\n" * 100_000), has=WORDS),
    read(
        "subject.eml",
        lambda _: _mail(b"Subject: " + b"=?utf-8?q?=41?= " * 50_000 + b"\n"),
        has=WORDS,
    ),
    read(
        "senders.eml",
        lambda _: _mail(b"To: " + b"a@b.c, " * 50_000 + b"\nCc: " + b'"' * 50_000 + b"\n"),
        has=WORDS,
    ),
    read(
        "comments.eml",
        lambda _: _mail(b"Cc: " + b"(" * 50_000 + b"\nDate: " + b"(" * 50_000 + b"\n"),
        has=WORDS,
    ),
    read("folded.eml", lambda _: _mail(b"X-A: b\n" + b" c\n" * 100_000), has=WORDS),
    read(
        "encoded-words.eml", lambda _: _mail(b"To: =?x-nope?z?" + b"=?" * 50_000 + b"\n"), has=WORDS
    ),
    read(
        "parameters.eml",
        lambda _: _mail(b"Content-Type: text/plain" + b"; a*0*=b" * 5_000 + b"\n"),
        has=WORDS,
    ),
    read(
        "quotes.eml",
        lambda _: _mail(b'Content-Type: text/plain; x="' + b'\\"' * 50_000 + b"\n"),
        has=WORDS,
    ),
    either("date.eml", lambda _: _mail(b"Date: Fri, 99 Foo 999999999999 99:99:99 +99999999\n")),
    refused("no-headers.eml", "begins without a header", lambda _: b"\n\n" + b"\x01: x\n" * 9),
    either("text.eml", lambda _: b"The seal leaks: always\n" * 1_000),
    either(
        "same-header.eml",
        lambda _: _mail(
            b"Content-Type: text/plain\n" * 500 + b"Content-Transfer-Encoding: x\n" * 500
        ),
    ),
    read(
        "injected.eml",
        lambda _: _mail(b"Subject: a\r\r\nX: y\rZ\x0b\x1c\xe2\x80\xa8Q\n"),
        has=WORDS,
    ),
)


def _encoded(how: bytes, body: bytes, kind: bytes = b"text/plain") -> bytes:
    headers = b"Content-Type: %s; charset=utf-8\nContent-Transfer-Encoding: %s\n" % (kind, how)
    return _mail(headers, body)


_ENCODINGS = (
    read(
        "base64.eml",
        lambda _: _encoded(b"base64", base64.b64encode(_SEAL)[:-3] + b"*!"),
        has="The seal",
    ),
    either("cut-base64.eml", lambda _: _encoded(b"base64", b"A")),
    either("base64-of-nothing.eml", lambda _: _encoded(b"base64", b"=" * 100_000)),
    read(
        "quoted.eml",
        lambda _: _encoded(b"quoted-printable", _SEAL + b"=ZZ=\n=" * 50_000),
        has="The seal",
    ),
    either("uu.eml", lambda _: _encoded(b"x-uuencode", b"begin 644 a\n" + b"M" * 100_000)),
    read("charset.eml", lambda _: _mail(b"Content-Type: text/plain; charset=x-nope\n"), has=WORDS),
    either("utf-7.eml", lambda _: _mail(b"Content-Type: text/plain; charset=utf-7\n", b"+ADw-x")),
    either("idna.eml", lambda _: _mail(b"Content-Type: text/plain; charset=idna\n", b"x" * 10_000)),
    read("codec.eml", lambda _: _mail(b"Content-Type: text/plain; charset=zlib\n"), has=WORDS),
    read(
        "flowed.eml",
        lambda _: _mail(
            b"Content-Type: text/plain; format=flowed\n", _SEAL + b">" * 50_000 + b" x \n" * 50_000
        ),
        has="The seal",
    ),
    refused(
        "sealed.eml",
        "is encrypted",
        lambda _: _mail(
            b"Content-Type: multipart/encrypted; boundary=b\n",
            b"--b\nContent-Type: application/pgp-encrypted\n\nVersion: 1\n--b--\n",
        ),
    ),
    read("html.eml", lambda _: _html(b"<div>" * 1_500 + b"x"), has="The seal leaks"),
    either("deep-html.eml", lambda _: _html(b"<div>" * 100_000)),
    read("reaching-out.eml", lambda bait: _reaching_out(bait), has="The seal leaks"),
)


def _reaching_out(bait: Bait) -> bytes:
    url, path = bait.url.encode(), bait.path.encode()
    outside = (
        b"--b\nContent-Type: message/external-body; access-type=%s\n\nContent-Type: text/plain\n\n"
    )
    return _mail(
        b"Content-Type: multipart/mixed; boundary=b\nDisposition-Notification-To: %s\n" % url,
        b"--b\nContent-Type: text/html\n\n<p>The seal leaks<img src='%s'><link href='%s'>\n"
        % (url, url)
        + outside % (b"URL; URL=%s" % url)
        + outside % (b"local-file; name=%s" % path)
        + b"--b\nContent-Disposition: attachment; filename=../../x\n\nx\n--b--\n",
    )


_OUTLOOK = (
    read(
        "message.msg",
        lambda _: compound_file(message_streams({0x1000: WORDS, 0x007D: "X: y\r\n" * 50_000})),
        has=WORDS,
    ),
    either("no-properties.msg", lambda _: compound_file({"__substg1.0_1000001F": b"x\0"})),
    either(
        "odd-text.msg",
        lambda _: compound_file(
            message_streams() | {"__substg1.0_1000001F": b"\0\xd8" * 999 + b"x"}
        ),
    ),
    either(
        "html.msg",
        lambda _: compound_file(
            message_streams({0x1000: ""}) | {"__substg1.0_10130102": b"<div>" * 90_000}
        ),
    ),
    either(
        "recipients.msg",
        lambda _: compound_file(
            message_streams()
            | {
                f"__recip_version1.0_#{n:08X}/__properties_version1.0": bytes(40)
                for n in range(300)
            }
        ),
    ),
    either(
        "properties.msg",
        lambda _: compound_file(message_streams() | {"__properties_version1.0": b"\xff" * 5_000}),
    ),
)

CASES: tuple[Case, ...] = (*_SHAPES, *_HEADERS, *_ENCODINGS, *_OUTLOOK)
