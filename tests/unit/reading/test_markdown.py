import pytest
from hypothesis import strategies as st

from pincite.reading.reader import LibraryReader
from pincite.records import BlockKind, Document, Metadata, Section

words = st.text(alphabet="aé日 #>-*`|=\t\n\r_[]1.<!", min_size=1, max_size=120)


def read(text: str, path: str = "notes/beam.md") -> Document:
    return LibraryReader("lib").read(path, text.encode())


def outline(document: Document) -> list[tuple[BlockKind, str]]:
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def paths(text: str) -> list[tuple[int, tuple[str, ...]]]:
    return [(section.level, section.heading_path) for section in read(text).sections]


def test_each_heading_opens_a_section_below_those_of_higher_rank() -> None:
    text = "intro\n# A\n## B\ntext\n#### C\n## D\n# E\n"
    assert paths(text) == [
        (0, ()),
        (1, ("A",)),
        (2, ("A", "B")),
        (4, ("A", "B", "C")),
        (2, ("A", "D")),
        (1, ("E",)),
    ]


def test_underlined_headings_count_too() -> None:
    assert paths("A\n===\n\nB\n---\ntext") == [(1, ("A",)), (2, ("A", "B"))]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("**Bold** and *thin* and __both__ and _one_", "Bold and thin and both and one"),
        ("`List<T>` and <abbr title='x'>LLM</abbr>", "List<T> and LLM"),
        ("See [the `**docs`](http://x.y/z) here", "See the **docs here"),
        ("![logo](a.png) [ref][1]", "logo ref"),
        ("Pods { #pods .wide } ##", "Pods"),
        ('{{% heading "whatsnext" %}}', "whatsnext"),
        ("snake_case and 2 * 3 * 4 stay", "snake_case and 2 * 3 * 4 stay"),
        (r"Q&amp;A \* C#", "Q&A * C#"),
        ("[" * 200_000, "[" * 300),
    ],
)
def test_a_heading_is_its_words(source: str, words: str) -> None:
    assert paths(f"# {source}\n") == [(1, (words,))]


def test_a_heading_without_words_has_no_name() -> None:
    assert paths("#\n\n## B") == [(1, ()), (2, ("B",))]


@pytest.mark.parametrize("text", ["> # A\n", "- # A\n", "```\n# A\n```\n", "<!--\n# A\n-->\n"])
def test_headings_in_quotes_lists_code_and_comments_are_text(text: str) -> None:
    assert paths(text) == [(0, ())]


def test_blocks_are_told_apart() -> None:
    text = (
        "# Title\n\nTwo\nlines.\n\n- one\n  more\n\n  still one\n- two\n  - inner\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nx = 1\n\ny = 2\n```\n\n    indented\n\n"
        "> quoted\nlazily\n\n<div>\nhtml\n</div>\n\n***\n\n1. first\n2. second\n"
    )
    assert outline(read(text)) == [
        (BlockKind.HEADING, "# Title"),
        (BlockKind.PARAGRAPH, "Two\nlines."),
        (BlockKind.ITEM, "- one\n  more\n\n  still one"),
        (BlockKind.ITEM, "- two\n  - inner"),
        (BlockKind.TABLE, "| a | b |\n|---|---|\n| 1 | 2 |"),
        (BlockKind.CODE, "```py\nx = 1\n\ny = 2\n```"),
        (BlockKind.CODE, "    indented"),
        (BlockKind.PARAGRAPH, "> quoted\nlazily"),
        (BlockKind.PARAGRAPH, "<div>\nhtml\n</div>"),
        (BlockKind.ITEM, "1. first"),
        (BlockKind.ITEM, "2. second"),
    ]


def test_front_matter_lies_in_the_first_section_but_in_no_block() -> None:
    text = "---\ntitle: Beams\ntags: [steel]\n---\n# Heading\n\nBody"
    document = read(text)
    assert document.title == "Beams"
    assert document.metadata == Metadata(tags=("steel",))
    assert document.sections[0] == Section((), 0, 0, text.index("# Heading"))
    assert outline(document) == [(BlockKind.HEADING, "# Heading"), (BlockKind.PARAGRAPH, "Body")]


@pytest.mark.parametrize(
    ("text", "title", "own"),
    [
        ("---\ntitle: Front\n---\n# One", "Front", True),
        ("## Two\n\n# One\n\n# Other", "One", True),
        ("### Three\n\n## Two", "beam", False),
        ("#\n\n## Two\n\n# One", "One", True),
        ("no heading", "beam", False),
    ],
)
def test_the_title_is_the_best_name_the_text_gives_itself(text: str, title: str, own: bool) -> None:
    document = read(text)
    assert (document.title, document.own_title) == (title, own)


RECOGNISED = (
    "---\ntitle: Letter\nsource: scans/letter.pdf\nmodality: ocr\n---\n\n"
    "## Page 2\n\nDear Ada.\n\n## Terms\n\n### Page 9\n\nPage 10\n\n## Page 12\n\nYours.\n"
)


def test_recognised_text_stands_for_its_file_and_has_its_pages() -> None:
    document = read(RECOGNISED, ".converted/scans/letter.pdf.md")
    assert (document.metadata.source, document.type) == ("scans/letter.pdf", "pdf")
    assert [(place.page, RECOGNISED[place.start : place.end]) for place in document.places] == [
        (2, RECOGNISED[RECOGNISED.index("## Page 2") : RECOGNISED.index("## Page 12")]),
        (12, "## Page 12\n\nYours.\n"),
    ]
    sign = RECOGNISED.replace("## Page", "Sheet").replace(".pdf", ".png")
    assert read(sign, ".converted/scans/letter.png.md").places == ()


@pytest.mark.parametrize(
    ("text", "path"),
    [(RECOGNISED, "spoof.md"), (RECOGNISED.replace("ocr", "text"), ".converted/letter.pdf.md")],
)
def test_other_text_has_no_pages(text: str, path: str) -> None:
    assert read(text, path).places == ()
    assert path != "spoof.md" or read(text, path).metadata.source is None
