from __future__ import annotations

import pytest

from pincite.errors import FileUnreadable
from pincite.reading.xml_safely import check_xml, parse_xml

_LAUGHS = """<!DOCTYPE a [<!ENTITY x0 "ha">
{entities}]><a>&x9;</a>""".format(
    entities="\n".join(f'<!ENTITY x{n} "{f"&x{n - 1};" * 10}">' for n in range(1, 10))
)
_HOSTILE = (
    _LAUGHS,
    '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
    '<!DOCTYPE a [<!ENTITY x SYSTEM "http://127.0.0.1:1/x">]><a>&x;</a>',
    '<!-- before -->\n<?a b?><!DOCTYPE a SYSTEM "http://127.0.0.1:1/x.dtd"><a/>',
)


@pytest.mark.parametrize("text", _HOSTILE)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_document_types_are_refused_in_every_encoding(text: str, encoding: str) -> None:
    for refuse in (parse_xml, check_xml):
        with pytest.raises(FileUnreadable, match="document type"):
            refuse(text.encode(encoding))


def test_a_document_type_may_be_named_where_that_is_allowed() -> None:
    named = b'<!DOCTYPE ncx PUBLIC "-//A//B" "http://127.0.0.1:1/>ncx.dtd"><ncx/>'

    assert parse_xml(named, doctype_allowed=True).tag == "ncx"
    with pytest.raises(FileUnreadable, match="document type"):
        parse_xml(_HOSTILE[1].encode(), doctype_allowed=True)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "windows-1252"])
def test_text_is_read_in_its_encoding(encoding: str) -> None:
    data = f'<?xml version="1.0" encoding="{encoding}"?><a>é</a>'.encode(encoding)

    assert parse_xml(data).text == "é"


def test_a_false_claim_of_wide_characters_is_no_harm() -> None:
    assert parse_xml(b'<?xml version="1.0" encoding="UTF-16"?><a>b</a>').text == "b"


@pytest.mark.parametrize("encoding", ["utf-7", "rot13", "no-such-thing"])
def test_encodings_that_hide_things_are_refused(encoding: str) -> None:
    with pytest.raises(FileUnreadable, match="encoding"):
        parse_xml(f'<?xml version="1.0" encoding="{encoding}"?><a/>'.encode())


def test_endless_depth_is_refused() -> None:
    with pytest.raises(FileUnreadable, match="nested too deeply"):
        parse_xml(b"<a>" * 5_000 + b"</a>" * 5_000)


@pytest.mark.parametrize(
    "data", [b"", b"<a", b"<a></b>", b"<a>&x;</a>", b"\xff\xfe\xff", b"<a>\xff</a>"]
)
def test_what_is_not_well_formed_is_refused(data: bytes) -> None:
    with pytest.raises(FileUnreadable, match="is damaged"):
        parse_xml(data)


def test_what_is_no_xml_passes_the_check() -> None:
    check_xml(b"\x89PNG\r\n\x1a\n<!DOCTYPE")
    check_xml(b"<a><![CDATA[<!DOCTYPE a>]]></a>")
