from __future__ import annotations

import struct
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compound_files import compound_file
from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.office.compound import read
from pincite.reading.source_file import SourceFile
from pincite.records import Content

_NOON_IN_MAY_2024 = 133_590_384_000_000_000  # 100 ns from 1601


def folder(
    texts: dict[int, str], numbers: dict[int, int] | None = None, *, path: str = ""
) -> dict[str, bytes]:
    """The streams of a message, or of a part of it: texts and numbers by their properties."""
    header = bytes(8 if path else 32)
    fixed = b"".join(
        struct.pack("<HHIQ", 3, one, 0, value) for one, value in (numbers or {}).items()
    )
    streams = {
        f"{path}__substg1.0_{one:04X}001F": text.encode("utf-16-le") for one, text in texts.items()
    }
    return {f"{path}__properties_version1.0": header + fixed, **streams}


def recipient(number: int, name: str, address: str, role: int = 1) -> dict[str, bytes]:
    return folder(
        {0x3001: name, 0x3003: address},
        {0x0C15: role},
        path=f"__recip_version1.0_#{number:08X}/",
    )


def attachment(number: int, name: str, *, kind: str = "", hidden: bool = False) -> dict[str, bytes]:
    return folder(
        {0x3707: name, 0x370E: kind},
        {0x7FFE: int(hidden)},
        path=f"__attach_version1.0_#{number:08X}/",
    )


_SENDER = {0x0C1A: "Ann Lee", 0x0C1F: "ann@example.org"}


def message(*parts: dict[str, bytes]) -> Content:
    streams = {name: data for part in parts for name, data in part.items()}
    return read(SourceFile("a.msg", compound_file(streams)))


def test_a_message_says_who_wrote_to_whom_and_when() -> None:
    content = message(
        folder(
            {0x0037: "Pumps", 0x1000: "They leak.\r\n\r\nAll of them.\r\n", **_SENDER},
            {0x0039: _NOON_IN_MAY_2024},
        ),
        recipient(0, "Bob", "bob@example.org"),
        recipient(1, "cy@example.org", "cy@example.org"),
        recipient(2, "Dee", "/O=EXCHANGE/CN=DEE", role=2),
        recipient(3, "Eve", "eve@example.org", role=3),
    )
    assert content.type == "msg"
    assert content.title == "Pumps"
    assert content.text == (
        "From: Ann Lee <ann@example.org>\nTo: Bob <bob@example.org>, cy@example.org\nCc: Dee\n"
        "Date: 2024-05-01 12:00:00 UTC\n\nThey leak.\n\nAll of them."
    )
    assert content.metadata.author == "Ann Lee"
    assert content.metadata.date == "2024-05-01T12:00:00+00:00"


def test_the_date_of_the_mail_itself_goes_first() -> None:
    headers = "From: Ann\r\nDate: Fri, 23 Dec 2022 12:08:48 -0600\r\n\r\n"
    content = message(folder({0x007D: headers, 0x1000: "x"}, {0x0039: _NOON_IN_MAY_2024}))
    assert content.text == "Date: Fri, 23 Dec 2022 12:08:48 -0600\n\nx"
    assert content.metadata.date == "2022-12-23T12:08:48-06:00"


@pytest.mark.parametrize("said", ["Date: yesterday\r\n\r\n", "\0\xff", "Date: =?x?=\r\n"])
def test_a_date_that_makes_no_sense_is_left_out(said: str) -> None:
    content = message(folder({0x007D: said, 0x1000: "x"}, {0x0039: 2**63}))
    assert content.text == "x"
    assert content.metadata.date is None


def html(page: bytes, code_page: int = 65_001) -> Sequence[dict[str, bytes]]:
    return (
        folder({0x0037: "S"}, {0x3FDE: code_page}),
        {"__substg1.0_10130102": page},
    )


def test_the_html_is_read_where_there_is_no_plain_text() -> None:
    page = "<p>Grüße</p><ul><li>one</li></ul>"
    assert message(*html(page.encode())).text == "Grüße\n\n- one"
    assert message(*html(page.encode("cp1252"), 1_252)).text == "Grüße\n\n- one"


def test_the_html_is_read_where_the_plain_text_is_only_a_hint() -> None:
    page = b"<p>" + b"All of the long story. " * 9 + b"</p>"
    content = message(*html(page), folder({0x1000: "See the HTML."}))
    assert content.text.startswith("All of the long story.")


def test_texts_of_one_byte_for_each_character_are_read() -> None:
    streams = folder({}, {0x3FFD: 1_251, 0x3FDE: 1_251})
    streams["__substg1.0_0037001E"] = "Привет".encode("cp1251")
    streams["__substg1.0_1000001E"] = "Мир".encode("cp1251")
    content = message(streams)
    assert (content.title, content.text) == ("Привет", "Мир")


def test_attachments_are_named() -> None:
    content = message(
        folder({0x1000: "Look"}),
        attachment(0, "a.pdf"),
        attachment(1, "logo.png", hidden=True),
        attachment(2, "b.docx"),
    )
    assert content.text == "Look\n\nAttachments: a.pdf, b.docx"


def test_encrypted_messages_are_refused_by_name() -> None:
    pgp = (folder(_SENDER), attachment(0, "x", kind="application/pgp-encrypted"))
    smime = (folder({0x001A: "IPM.Note.SMIME", **_SENDER}), attachment(0, "smime.p7m"))
    for parts in (pgp, smime):
        with pytest.raises(FileUnreadable, match="encrypted"):
            message(*parts)


def test_a_message_that_says_nothing_is_empty() -> None:
    with pytest.raises(FileEmpty):
        message(folder({}))


@given(st.binary(max_size=200), st.binary(max_size=60), st.sampled_from(["1000", "1013", "007D"]))
def test_broken_properties_do_no_harm(properties: bytes, text: bytes, name: str) -> None:
    streams = {
        "__properties_version1.0": properties,
        f"__substg1.0_{name}001F": text,
        "__substg1.0_10130102": text,
        "__recip_version1.0_#00000000/__properties_version1.0": properties,
        "__recip_version1.0_#00000000/__substg1.0_3001001F": text,
    }
    try:
        content = read(SourceFile("a.msg", compound_file(streams)))
    except FileUnreadable:
        return
    assert content.text.strip()
