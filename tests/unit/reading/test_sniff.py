import pytest

from pincite.errors import FileUnreadable
from pincite.reading.markdown import read_markdown
from pincite.reading.plain import read_text
from pincite.reading.sniff import read, reader_for


@pytest.mark.parametrize("name", ["a.md", "x/A.MD", "a.markdown", "a.mdown", "a.mkd", "a.mdx"])
def test_markdown_is_known_by_its_extension(name: str) -> None:
    assert reader_for(name) is read_markdown


@pytest.mark.parametrize("name", ["a.txt", "a.text", "README", "x/notes", "TODO", "ChangeLog"])
def test_plain_text_is_known_by_extension_or_custom(name: str) -> None:
    assert reader_for(name) is read_text


@pytest.mark.parametrize("name", ["a.pdf", "a", "Makefile", "md", "a.md.bak", "readme.exe", ".md"])
def test_other_names_have_no_reader(name: str) -> None:
    assert reader_for(name) is None


def test_a_file_is_read_as_its_name_says() -> None:
    assert read("lib", "a.md", b"# A").type == "md"
    assert read("lib", "a.txt", b"# A").type == "txt"


def test_a_file_without_a_reader_is_refused() -> None:
    with pytest.raises(FileUnreadable, match=r"cannot be read \(\.pdf\)"):
        read("lib", "a.pdf", b"x")
