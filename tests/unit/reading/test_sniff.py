import pytest

from pincite.errors import FileUnreadable
from pincite.reading.sniff import HTML, KINDS, PACKAGE, PDF, PLAIN, SUBTITLES, kind_by_name, kind_of


def module_of(name: str) -> str | None:
    kind = kind_by_name(name)
    return None if kind is None else kind.module


@pytest.mark.parametrize("name", ["a.md", "x/A.MD", "a.markdown", "a.mdown", "a.mkd", "a.mdx"])
def test_markdown_is_known_by_its_extension(name: str) -> None:
    assert module_of(name) == "lines.fences"


@pytest.mark.parametrize("name", ["a.txt", "a.text", "README", "x/notes", "TODO", "ChangeLog"])
def test_plain_text_is_known_by_extension_or_custom(name: str) -> None:
    assert module_of(name) == "lines.plain"


@pytest.mark.parametrize(
    "name", ["a.bin", "a", "Makefile", "md", "a.md.bak", "readme.exe", ".md", "a.png"]
)
def test_other_names_have_no_reader(name: str) -> None:
    assert module_of(name) is None


def test_no_extension_belongs_to_two_kinds() -> None:
    suffixes = [suffix for kind in KINDS for suffix in kind.suffixes]
    assert len(suffixes) == len(set(suffixes))


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.md", b"%PDF-1.7\n", PDF),
        ("mail.pdf", b"X-Header: 1\n\n%PDF-1.4\n", PDF),
        ("a.txt", b"PK\x03\x04rest", PACKAGE),
        ("a.doc", b"<html><body>", HTML),
        ("a.txt", b"\xef\xbb\xbf \n<!DOCTYPE html><p>", HTML),
        ("a.txt", b"WEBVTT\n\n00:01.000 --> 00:02.000\nhi", SUBTITLES),
        ("a.txt", b"WEBVTTX is a word", PLAIN),
        ("a.txt", b"The header is %PDF-1.4", PLAIN),
    ],
)
def test_the_bytes_have_the_last_word(name: str, data: bytes, kind: object) -> None:
    assert kind_of(name, data) is kind


@pytest.mark.parametrize("name", ["a.pdf", "a.docx", "a.xls"])
def test_a_binary_name_on_other_bytes_is_refused(name: str) -> None:
    with pytest.raises(FileUnreadable, match="not what its name says"):
        kind_of(name, b"MZ\x90\x00 a program")


def test_a_file_without_a_reader_is_refused() -> None:
    with pytest.raises(FileUnreadable, match=r"cannot be read \(\.bin\)"):
        kind_of("a.bin", b"x")
