"""Mails: headers in any state, the right body, mails inside of mails."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given, strategies as st

from pincite.errors import FileUnreadable
from pincite.reading.source_file import SourceFile
from pincite.reading.web.mail import read
from pincite.records import Content

HEAD = (
    "From: Ann Bee <ann@example.org>\nTo: Bob <bob@example.org>\nSubject: Pumps\n"
    "Date: Fri, 16 Dec 2022 17:04:16 -0500\n"
)
INTRODUCTION = (
    "From: Ann Bee <ann@example.org>\nTo: Bob <bob@example.org>\n"
    "Date: Fri, 16 Dec 2022 17:04:16 -0500"
)


def mail(source: str | bytes) -> Content:
    data = source.encode() if isinstance(source, str) else source
    return read(SourceFile("mail.eml", data))


def body(source: str | bytes) -> str:
    """The text without its introduction."""
    return mail(source).text.removeprefix(INTRODUCTION).lstrip("\n")


def multipart(kind: str, *parts: str, boundary: str = "b", head: str = HEAD) -> str:
    inside = "".join(f"--{boundary}\n{part}\n" for part in parts)
    return (
        f'{head}Content-Type: multipart/{kind}; boundary="{boundary}"\n\n{inside}--{boundary}--\n'
    )


def part(kind: str, text: str, *headers: str) -> str:
    return "\n".join((f"Content-Type: {kind}", *headers, "", text))


def test_a_mail_begins_with_who_wrote_to_whom() -> None:
    content = mail(HEAD + "Cc: Cy <cy@example.org>\n\nThe seal leaks.\n\nAnn\n")
    assert content.text == (
        "From: Ann Bee <ann@example.org>\nTo: Bob <bob@example.org>\nCc: Cy <cy@example.org>\n"
        "Date: Fri, 16 Dec 2022 17:04:16 -0500\n\nThe seal leaks.\n\nAnn"
    )
    assert content.title == "Pumps"
    assert content.metadata.author == "Ann Bee"
    assert content.metadata.date == "2022-12-16T17:04:16-05:00"


@pytest.mark.parametrize(
    ("subject", "title"),
    [
        ("=?iso-8859-1?Q?Gr=F6=DFe?= of\n =?utf-8?q?_pumps?=", "Größe of pumps"),
        ("=?utf-8?B?R3LDtg==?=\n =?utf-8?B?w59l?=", "Größe"),
        ("=?no-such-thing?q?abc?=", "abc"),
        ("=?utf-8?b?broken base64!?=", None),
    ],
)
def test_subjects_in_any_state_are_read(subject: str, title: str | None) -> None:
    found = mail(f"From: a@b.c\nSubject: {subject}\n\nText").title
    assert found == title or (title is None and found is not None)


def test_raw_bytes_in_a_header_are_read() -> None:
    head = "From: J\u00f6rg <j@example.org>\nSubject: Gr\u00f6\u00dfe\n\nText"
    content = mail(head.encode("cp1252"))
    assert (content.title, content.metadata.author) == ("Größe", "Jörg")


BODIES = {
    "plain text is taken before HTML": (
        multipart("alternative", part("text/plain", "Plain."), part("text/html", "<p>HTML.</p>")),
        "Plain.",
    ),
    "HTML among its pictures": (
        multipart(
            "related",
            part("text/html", "<p>Look at <img src=cid:1> this.</p>"),
            part("image/png; name=logo.png", "AAAA", "Content-ID: <1>"),
        ),
        "Look at this.",
    ),
    "attachments are named": (
        multipart(
            "mixed",
            part("text/plain", "See the files."),
            part("text/plain", "secret", "Content-Disposition: attachment; filename=notes.txt"),
            part("image/png", "A", "Content-Disposition: attachment; filename*=utf-8''%C3%A9.png"),
            part("application/pgp-signature; name=signature.asc", "x"),
        ),
        "See the files.\n\nAttachments: notes.txt, é.png",
    ),
    "flowed lines are joined": (
        f"{HEAD}Content-Type: text/plain; format=flowed\n\n"
        "A long \nline.\n> quoted \n> too\n>> deeper\n-- \nAnn",
        "A long line.\n> quoted too\n>> deeper\n-- \nAnn",
    ),
    "other lines are kept": (f"{HEAD}\n> quoted \n> too\nAnswer", "> quoted \n> too\nAnswer"),
    "a signed mail": (
        multipart("signed", part("text/plain", "Signed."), part("application/pgp-signature", "M")),
        "Signed.",
    ),
}


@pytest.mark.parametrize("case", BODIES)
def test_the_right_body_is_read(case: str) -> None:
    source, text = BODIES[case]
    assert body(source) == text


@pytest.mark.parametrize("stub", ["", "  \n", "View this mail in a browser."])
def test_html_is_taken_where_plain_text_is_only_a_stub(stub: str) -> None:
    html = f"<h1>News</h1><p>{'The new pumps are here. ' * 20}</p>"
    source = multipart("alternative", part("text/plain", stub), part("text/html", html))
    assert body(source).startswith("News\n\nThe new pumps are here.")


def test_a_forwarded_mail_is_a_section_of_its_own() -> None:
    inner = "From: Cy <cy@example.org>\nSubject: Old pumps\n\nThey leak."
    content = mail(multipart("mixed", part("text/plain", "FYI"), part("message/rfc822", inner)))
    assert content.text.endswith("FYI\n\nOld pumps\n\nFrom: Cy <cy@example.org>\n\nThey leak.")
    assert content.sections[-1].heading_path == ("Old pumps",)


def test_mails_inside_of_mails_end_at_some_depth() -> None:
    source = "Subject: 0\n\nInnermost"
    for number in range(1, 9):
        source = f"Subject: {number}\nContent-Type: message/rfc822\n\n{source}"
    content = mail(f"From: a@b.c\nContent-Type: message/rfc822\n\n{source}")
    assert "Innermost" not in content.text
    assert "more than 5 deep" in content.metadata.notes[0]


@pytest.mark.parametrize(
    ("label", "codec"),
    [("utf-8", "cp1252"), ("iso-8859-1", "utf-8"), ("utf-7", "utf-8"), ("\0", "utf-8")],
)
def test_a_lying_or_unknown_charset_does_not_garble(label: str, codec: str) -> None:
    source = f"{HEAD}Content-Type: text/plain; charset={label}\n\n".encode()
    assert body(source + "Größe der Pumpen".encode(codec)) == "Größe der Pumpen"


def test_base64_is_decoded_even_where_it_is_broken() -> None:
    head = f"{HEAD}Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n"
    encoded = base64.b64encode(b"The seal leaks.").decode()
    assert body(head + encoded) == "The seal leaks."
    assert body(head + encoded[:-3] + "!") == "The seal lea"


def test_a_mail_in_utf_16_is_read() -> None:
    source = f"{HEAD}\nThe seal leaks."
    for codec in ("utf-16", "utf-16-be", "utf-16-le"):
        assert body(source.encode(codec)) == "The seal leaks."


@pytest.mark.parametrize(
    "source",
    [
        multipart("encrypted", part("application/pgp-encrypted", "Version: 1"), "\nxxxx"),
        f"{HEAD}Content-Type: application/pkcs7-mime; smime-type=enveloped-data\n\nMIIB",
        f"{HEAD}\n-----BEGIN PGP MESSAGE-----\n\nhQEMA\n-----END PGP MESSAGE-----",
    ],
)
def test_an_encrypted_mail_is_refused_by_that_name(source: str) -> None:
    with pytest.raises(FileUnreadable, match="is encrypted"):
        mail(source)


def test_hidden_html_is_flagged_in_mails_too() -> None:
    html = "<p>Hello<span style='font-size:0'>obey me</span></p>"
    content = mail(f"{HEAD}Content-Type: text/html\n\n{html}")
    assert [content.text[one.start : one.end] for one in content.omissions] == ["obey me"]


def test_a_file_without_any_header_is_no_mail() -> None:
    with pytest.raises(FileUnreadable, match="not a mail"):
        mail("just some words\n\nand more")


def test_parts_without_number_are_cut_with_a_note() -> None:
    content = mail(multipart("mixed", *[part("text/plain", f"Part {n}.") for n in range(1_200)]))
    assert "Part 900." in content.text
    assert "Part 1100." not in content.text
    assert content.metadata.notes == ("has more than 1,000 parts; the rest was left out",)


BROKEN_HEADERS = (
    "Content-Type: text/plain; charset*0*=x'y'z",
    'Content-Type: text/plain; charset="\0"',
    "Content-Type: multipart/mixed",
    'Content-Type: multipart/alternative; boundary=""',
    "Content-Type: ;;;=",
    "Content-Type: text/plain; name*1*=%zz; name*0",
    "Content-Disposition: attachment; filename*=x",
    "Content-Transfer-Encoding: base64",
    "Content-Transfer-Encoding: x-uuencode",
    "Date: Mon, 99 Foo 0 99:99:99 +99999999999999",
    'From: <<<>>>,,;:"',
    "Subject: =?a\0b?q?x?=",
    "To: \r\n\r\n",
)


@given(
    st.lists(st.sampled_from(BROKEN_HEADERS), max_size=5),
    st.binary(max_size=60)
    | st.sampled_from((b"begin 644 a\n#0V%T\nend", b"=ZZ=\n", b"\xff\n--\n")),
)
def test_any_mail_is_read_or_refused(headers: list[str], payload: bytes) -> None:
    source = "\n".join(("X-First: 1", *headers, "", "")).encode() + payload
    try:
        content = mail(source)
    except FileUnreadable:
        return
    assert content.text.strip()
