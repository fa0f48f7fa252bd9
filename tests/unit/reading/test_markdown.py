"""Markdown: its blocks and headings, its front matter, and the code it shows."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st
from markdown_it import MarkdownIt

from pincite.reading.lines import outline as outline_module
from pincite.reading.lines.front_matter import FrontMatter, split_front_matter
from pincite.reading.lines.outline import OutlineBlock
from pincite.reading.reader import LibraryReader
from pincite.records import Analysis, BlockKind, Document, Metadata, Section, level_of
from pincite.text.lines import LineIndex

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


def yaml(*lines: str) -> FrontMatter:
    return split_front_matter("\n".join(("---", *lines, "---", "Body")))


def test_title_tags_author_date_and_language_are_read() -> None:
    front = yaml(
        "Title: Beam buckling",
        "tags: [statics, '#steel']",
        "authors: [Ada Lovelace, Bob]",
        "date: 2024-03-01",
        "lang: en",
    )
    assert front.title == "Beam buckling"
    assert front.metadata == Metadata(
        tags=("statics", "steel"), author="Ada Lovelace, Bob", date="2024-03-01", language="en"
    )


def test_project_confidentiality_and_agents_are_read_under_the_names_in_use() -> None:
    front = yaml("project: Harbour", "classification: Confidential", "agents: [planner, writer]")
    assert front.metadata == Metadata(
        project="Harbour", confidentiality="Confidential", agents=("planner", "writer")
    )
    assert yaml("agent_hint: planner", "agent: planner").metadata.agents == ("planner",)


@pytest.mark.parametrize(
    "lines",
    [
        ("confidentiality: [public, restricted]",),
        ("confidentiality: {level: restricted}",),
        ("confidentiality:",),
        ("classification: restricted", "confidentiality: public"),
        ("title: Plan: the pump [", "confidentiality: restricted"),
        ("a: &anchor b", "Classification: internal"),
    ],
)
def test_a_label_that_cannot_be_read_is_the_strictest(lines: tuple[str, ...]) -> None:
    assert level_of(yaml(*lines).metadata.confidentiality) == level_of("restricted")


def test_of_several_projects_the_first_counts_and_the_report_says_so() -> None:
    metadata = yaml("project: [Lighthouse, Harbour]", "agents: planner, writer").metadata
    assert metadata.project == "Lighthouse"
    assert metadata.agents == ("planner", "writer")
    assert metadata.notes == ("of its 2 projects only Lighthouse counts",)


def test_a_date_that_is_not_sure_stays_as_it_is_written() -> None:
    assert yaml("date: some day in May").metadata.date == "some day in May"


def test_toml_between_plus_signs_is_read() -> None:
    text = '+++\ntitle = "Beams"\ndate = 2024-03-01T10:00:00Z\ntags = ["a"]\n+++\nBody'
    front = split_front_matter(text)
    assert front.title == "Beams"
    assert front.metadata == Metadata(tags=("a",), date="2024-03-01T10:00:00+00:00")
    assert text[front.end :] == "Body"


@pytest.mark.parametrize(
    ("line", "tags"),
    [
        ("tags: '#one #two three'", ("one", "two", "three")),
        ("tags: [Yes, no, 1, 1]", ("Yes", "no", "1")),
        ("tag: single", ("single",)),
        ("tags: [[a], null, '', '#']", ()),
    ],
)
def test_tags_come_as_a_list_or_as_one_string(line: str, tags: tuple[str, ...]) -> None:
    assert yaml(line).metadata.tags == tags


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_the_text_begins_behind_the_closing_line(line_end: str) -> None:
    text = line_end.join(("---", "title: a", "---  ", "", "Body"))
    assert text[split_front_matter(text).end :] == f"{line_end}Body"


@pytest.mark.parametrize(
    "text", ["", "---\n", "--\na: b\n--\n", "---\na: b\n", "---\nA thought.\n---\n"]
)
def test_without_both_lines_there_is_no_front_matter(text: str) -> None:
    assert split_front_matter(text) == FrontMatter()


@pytest.mark.parametrize(
    "lines",
    [
        ["title: a: b"],
        ["title: !!python/object/apply:os.system ['true']"],
        ["a: &a [x]", "title: *a"],
        ["title: a", "x: " + "[" * 1_000 + "]" * 1_000],
    ],
)
def test_unreadable_front_matter_costs_the_metadata_and_no_more(lines: list[str]) -> None:
    front = yaml(*lines)
    assert front.title is None
    assert front.metadata == Metadata()
    assert front.end > 0


def test_a_title_is_one_clean_line() -> None:
    assert yaml(r'title: "a\n b\0\ud800 c"').title == "a b c"


@given(st.text(max_size=80))
def test_no_front_matter_breaks_the_reading(source: str) -> None:
    for fence in ("---", "+++"):
        text = f"{fence}\n{source}\n{fence}\nBody"
        front = split_front_matter(text)
        assert 0 <= front.end <= len(text)


# Pieces of Markdown that meet in every order.
snippets = st.sampled_from(
    [
        *(
            "a",
            "# h",
            "## h",
            "===",
            "---",
            "- a",
            "1. b",
            "  - n",
            "  c",
            "    d",
            "\td",
            "> q",
            ">",
        ),
        *(
            "```",
            "~~~",
            "",
            "",
            "|a|b|",
            "|-|-|",
            "a | b",
            "<div>",
            "<!--",
            "-->",
            "***",
            "[a]: /b",
        ),
    ]
)
pieces_of_markdown = st.lists(snippets, max_size=25).map("\n".join)


def blocks_of(text: str) -> list[OutlineBlock]:
    return list(outline_module.outline(text, LineIndex(text)))


@given(pieces_of_markdown, st.integers(1, 4))
@settings(max_examples=400)
def test_parsing_in_pieces_gives_what_parsing_at_once_gives(text: str, piece: int) -> None:
    whole = blocks_of(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outline_module, "_PIECE", piece)
        assert [strip(text, block) for block in blocks_of(text)] == [
            strip(text, block) for block in whole
        ]


def strip(text: str, block: OutlineBlock) -> tuple[BlockKind, int, str, int]:
    """The block without the blank lines at its end, which belong to nobody."""
    lines = LineIndex(text)
    words = text[lines.start_of(block.first) : lines.end_of(block.last)].rstrip()
    return block.kind, block.first, words, block.level


@given(pieces_of_markdown)
def test_headings_and_tables_are_those_of_markdown_it(text: str) -> None:
    parser = MarkdownIt("commonmark").enable("table").disable("reference")
    expected = [
        (token.map[0] + 1, token.map[1])
        for token in parser.parse(text)
        if token.type in ("heading_open", "table_open") and token.level == 0 and token.map
    ]
    kinds = (BlockKind.HEADING, BlockKind.TABLE)
    assert [(b.first, b.last) for b in blocks_of(text) if b.kind in kinds] == expected


@pytest.mark.parametrize(
    "text",
    [
        ">" * 10_000 + "a",
        "\n".join("  " * n + "- a" for n in range(100)),
    ],
    ids=["quotes", "indented"],
)
def test_from_where_nesting_is_absurd_the_text_is_plain(text: str) -> None:
    blocks = blocks_of("# Title\n\n" + text + "\n\nThe end.")
    assert blocks[-1].kind is BlockKind.PARAGRAPH
    assert blocks[-1].first == LineIndex(text).count + 4


@pytest.mark.parametrize(
    "text",
    ["# h\n" * 400, "a\n" * 1_500],
    ids=["headings", "lines"],
)
def test_from_where_the_work_is_absurd_the_text_is_plain(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outline_module, "_PIECE", 100)
    monkeypatch.setattr(outline_module, "_MOST_WORK", 1_000)
    blocks = blocks_of(text + "\nlast")
    assert blocks[-1].last == LineIndex(text + "\nlast").count
    assert blocks[-1].kind is BlockKind.PARAGRAPH


def facts(text: str) -> Analysis:
    return LibraryReader("lib").read("a.md", text.encode()).analysis


def test_code_blocks_tell_what_they_define_and_import() -> None:
    text = (
        "# Auth\n\n```python\nimport jwt\n\n"
        "def validate_token(token):\n    return jwt.decode(token)\n"
        '```\n\n~~~ go\npackage a\nimport "fmt"\nfunc Run() {\n}\n~~~\n'
        "\n```python\nclass TokenError(Exception): pass\n\ndef validate_token(): pass\n```\n"
    )
    assert facts(text) == Analysis(
        symbols=("validate_token", "Run", "TokenError"), imports=("jwt", "fmt")
    )


@pytest.mark.parametrize(
    "opening",
    ["````python title='a.py'", "~~~Python", "```{.python .numberLines}"],
)
def test_the_language_is_found_however_it_is_marked(opening: str) -> None:
    closing = opening.split("p")[0].split("P")[0].split("{")[0].strip()
    assert facts(f"{opening}\ndef f(): pass\n{closing}\n").symbols == ("f",)


@pytest.mark.parametrize("before", ["- ", "1. ", "> ", "   "])
def test_blocks_in_lists_and_quotations_count(before: str) -> None:
    inner = ">" if ">" in before else " " * len(before)
    lines = [f"{before}```python", f"{inner} class A:", f"{inner}     x = 1", f"{inner}```"]
    assert facts("\n".join(lines)).symbols == ("A",)


@pytest.mark.parametrize(
    "text",
    [
        "```\ndef f(): pass\n```\n",  # does not say its language
        "```bash\ndef f(): pass\n```\n",
        "    def f(): pass\n",
        "````md\n```python\ndef f(): pass\n```\n````\n",
    ],
)
def test_other_blocks_tell_nothing(text: str) -> None:
    assert facts(text) == Analysis()


def test_very_long_blocks_are_left_alone() -> None:
    long = "def f(): pass\n" * 8_000
    assert facts(f"```python\n{long}```\n\n```python\ndef g(): pass\n```\n").symbols == ("g",)
