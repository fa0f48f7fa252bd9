import json
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, strategies as st

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.data.notebook import read as read_notebook
from pincite.reading.source_file import SourceFile
from pincite.records import Content

Cell = Mapping[str, object]


def read_value(value: object) -> Content:
    return read_notebook(SourceFile("work/a.ipynb", json.dumps(value).encode()))


def read(*cells: Cell, **about: object) -> Content:
    return read_value({"nbformat": 4, "metadata": about, "cells": cells})


def markdown(source: str | Sequence[str]) -> Cell:
    return {"cell_type": "markdown", "source": source}


def code(source: str, *outputs: Cell) -> Cell:
    return {"cell_type": "code", "source": source, "outputs": outputs}


def printed(text: str | Sequence[str]) -> Cell:
    return {"output_type": "stream", "name": "stdout", "text": text}


def outline(content: Content) -> list[tuple[str, str]]:
    return [(block.kind.value, content.text[block.start : block.end]) for block in content.blocks]


def pages(content: Content) -> list[tuple[int | None, str]]:
    return [(place.page, content.text[place.start : place.end]) for place in content.places]


def test_cells_become_blocks_each_on_the_page_of_its_cell() -> None:
    content = read(
        markdown(["# Tides\n", "\n", "Water *moves*.\n", "\n", "- in\n", "- out\n"]),
        code("x = 1\nx", {"output_type": "execute_result", "data": {"text/plain": ["1"]}}),
        {"cell_type": "raw", "source": "as it is"},
        markdown("## Ebb\n\n| a | b |\n|---|:-:|\n| 1 | 2 |\n"),
    )
    assert outline(content) == [
        ("heading", "Tides"),
        ("paragraph", "Water *moves*."),
        ("item", "- in"),
        ("item", "- out"),
        ("code", "x = 1\nx"),
        ("code", "1"),
        ("paragraph", "as it is"),
        ("heading", "Ebb"),
        ("table", "| a | b |\n| 1 | 2 |"),
    ]
    assert [page for page, _ in pages(content)] == [1, 1, 1, 1, 2, 2, 3, 4, 4, 4]
    assert [section.heading_path for section in content.sections] == [("Tides",), ("Tides", "Ebb")]
    assert (content.type, content.title, content.metadata.pages) == ("ipynb", "Tides", 4)


def test_what_a_notebook_says_about_itself() -> None:
    content = read(
        code("1"),
        title="Tide tables",
        authors=[{"name": "Ada"}, {"name": "Bob"}],
        kernelspec={"language": "R", "name": "ir"},
        language_info={"name": "python"},
    )
    assert content.title == "Tide tables"
    assert content.metadata.author == "Ada, Bob"
    assert content.metadata.language == "python"
    assert read(code("1"), kernelspec={"language": "R"}).metadata.language == "R"


def test_front_matter_in_the_first_cell_describes_the_notebook() -> None:
    front = "---\ntitle: Given\nauthor: Ada\ntags: [x]\n---\n"
    content = read({"cell_type": "raw", "source": front}, markdown("# Heading"))
    assert (content.title, content.metadata.author, content.metadata.tags) == (
        "Given",
        "Ada",
        ("x",),
    )
    assert "author" not in content.text


def test_outputs_are_shown_as_a_terminal_would() -> None:
    content = read(
        code("go()", printed(["\x1b[31mred\x1b[0m\n", " 10%\r 50%\r100%\n", "done\r\n"]))
    )
    assert outline(content)[1] == ("code", "red\n100%\ndone")
    assert outline(read(code("go()", printed("x" * 5_000))))[1] == ("code", "x" * 2_000 + "…")


def test_of_an_error_what_went_wrong_is_kept() -> None:
    error = {
        "output_type": "error",
        "ename": "ValueError",
        "evalue": "too deep\nsecond line",
        "traceback": ["\x1b[0;31m----\x1b[0m", "ValueError: too deep"],
    }
    assert outline(read(code("go()", error)))[1] == ("code", "ValueError: too deep")
    bare = {"output_type": "error", "traceback": ["frames", "KeyError: 'x'"]}
    assert outline(read(code("go()", bare)))[1] == ("code", "KeyError: 'x'")


def test_pictures_leave_no_trace() -> None:
    picture = {
        "output_type": "display_data",
        "data": {
            "image/png": "iVBORw0KGgo" * 500,
            "text/plain": "<Figure size 640x480 with 1 Axes>",
        },
    }
    inline = "![map](data:image/png;base64," + "iVBORw0KGgo" * 500 + ") shows the bay."
    content = read(markdown(inline), code("plot()", picture))
    assert content.text == "![map]() shows the bay.\n\nplot()"


def test_format_3_is_read() -> None:
    cells = [
        {"cell_type": "heading", "level": 1, "source": "Old"},
        {
            "cell_type": "code",
            "input": ["a = 1"],
            "outputs": [{"output_type": "pyout", "text": ["1"]}],
        },
    ]
    content = read_value({"nbformat": 3, "worksheets": [{"cells": cells}], "metadata": {}})
    assert outline(content) == [("heading", "Old"), ("code", "a = 1"), ("code", "1")]
    assert (content.title, content.metadata.pages) == ("Old", 2)


@pytest.mark.parametrize(
    "data",
    [b"{", b"[]", b"{}", b"1", b"[" * 100_000, b'{"cells": ' * 50_000, b"plain words"],
)
def test_what_is_no_notebook_is_refused_in_plain_words(data: bytes) -> None:
    with pytest.raises(FileUnreadable, match="is not a notebook"):
        read_notebook(SourceFile("a.ipynb", data))


@pytest.mark.parametrize("cells", [[], [{}], [markdown("")], [code("")], "none", None, {"a": 1}])
def test_a_notebook_without_words_is_empty(cells: object) -> None:
    with pytest.raises(FileEmpty):
        read_value({"cells": cells})


def test_half_a_character_does_not_get_through() -> None:
    content = read(markdown("# A\ud800"), code("b\udc00"))
    assert (content.title, content.text) == ("A\ufffd", "A\ufffd\n\nb\ufffd")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
cells = st.fixed_dictionaries(
    {
        "cell_type": st.sampled_from(["code", "markdown", "raw", "heading", "?"]) | json_values,
        "source": json_values,
        "outputs": st.lists(
            st.fixed_dictionaries(
                {
                    "output_type": st.sampled_from(["stream", "error", "display_data"])
                    | json_values,
                    "data": st.dictionaries(st.just("text/plain"), json_values) | json_values,
                    "text": json_values,
                    "traceback": json_values,
                }
            ),
            max_size=2,
        )
        | json_values,
        "level": json_values,
    }
)


@given(st.lists(cells, max_size=3), json_values)
def test_wrong_shapes_are_never_an_accident(given_cells: list[Cell], about: object) -> None:
    try:
        content = read_value({"cells": given_cells, "metadata": about})
    except FileEmpty:
        return
    assert all(1 <= (place.page or 0) <= len(given_cells) for place in content.places)
