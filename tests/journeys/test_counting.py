"""`ask --all`: everything is looked at, every hit is cited, and it is said how much that was."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from pincite import Library, open_library
from pincite.entrypoints.cli.main import cli
from pincite.errors import SearchCancelled, SettingsError

SAMPLE = Path(__file__).parents[2] / "examples" / "library"
TEXTS = {
    "bread.md": "# Bread\n\nThe loaf needs rye flour and water.\n\nRye flour is kept dry.\n",
    "cake.md": "# Cake\n\nThe cake needs wheat flour.\n\nRye grows near the river.\n",
    "soup.md": "# Soup\n\nThe soup needs salt.\n",
    "stew.md": "# Stew\n\nThe stew is thickened with RYE-flour.\n",
    "broken.pdf": "%PDF-1.7 nothing",
}


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    with open_library(tmp_path) as library:
        library.index(model="hashing")
        yield library


def test_every_document_is_looked_at_and_every_passage_cited(library: Library) -> None:
    found = library.count("how many documents mention rye flour?")
    assert set(found.documents) == {"bread.md", "stew.md"}
    assert found.looked_at == 4
    quotes = {(one.path, one.quote) for one in found.hits}
    assert ("bread.md", "Rye flour is kept dry.") in quotes
    assert len(quotes) == 3
    for one in found.hits:
        document = library.get_document(one.document_id)
        assert document is not None
        assert document.text[one.start : one.end] == one.quote
    assert found.statement.startswith(
        "4 of 4 documents looked at, 2 hold it, 1 could not be read: broken.pdf."
    )


def test_which_do_not_is_the_other_ones(library: Library) -> None:
    found = library.count("which documents do not mention flour?")
    assert found.documents == ("soup.md",)
    assert found.hits == ()
    assert "1 does not hold it" in found.statement


def test_filters_choose_what_is_looked_at_and_a_question_must_say_for_what(
    library: Library,
) -> None:
    found = library.count("list all that mention flour", filters={"name": "cake"})
    assert (found.documents, found.looked_at) == (("cake.md",), 1)
    with pytest.raises(SettingsError, match="what to look for"):
        library.count("how many documents are there?")
    with pytest.raises(SearchCancelled):
        library.count("which documents mention flour?", cancelled=lambda: True)


def test_a_name_of_several_words_is_looked_for_as_it_stands(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Ada likes River Otters and Sea Birds.\n")
    (tmp_path / "b.md").write_text("Ben likes Sea Otters and River Birds.\n")
    with open_library(tmp_path) as library:
        library.index(model="hashing")
        assert library.count("Who likes River Otters?").documents == ("a.md",)
        assert len(library.count("who likes river otters?").documents) == 2


def test_what_is_in_quotes_is_looked_for_whatever_it_says(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("There is no smoking here. Use 面粉机。\n")
    (tmp_path / "b.md").write_text("Smoking is allowed here. 面条用粉做。\n")
    with open_library(tmp_path) as library:
        library.index(model="hashing")

        def documents(question: str) -> tuple[str, ...]:
            return library.count(question).documents

        found = library.count('which documents mention "no smoking"?')
        assert (found.negated, found.documents) == (False, ("a.md",))
        assert found.words == ("no smoking",)
        assert "a passage that has “no smoking”" in found.statement
        assert documents('which documents do not mention "no smoking"?') == ("b.md",)
        assert documents('which documents mention "there is no"?') == ("a.md",)
        assert documents('which documents mention "!!!" and smoking?') == ("a.md", "b.md")
        assert documents('which documents mention "面粉"?') == ("a.md",)
        with pytest.raises(SettingsError, match="what to look for"):
            library.count('which documents mention "!!!"?')


@pytest.mark.parametrize(
    ("asked", "words", "negated"),
    [
        ("which documents mention Doctors Without Borders?", ("Doctors Without Borders",), False),
        (
            "which documents do not mention Doctors Without Borders?",
            ("Doctors Without Borders",),
            True,
        ),
        ("which documents mention not-for-profit bodies?", ("profit", "bodies"), False),
        ("which documents mention invoice No. 7?", ("invoice", "7"), False),
        ("which contracts without a deposit are there?", ("deposit",), True),
        ("which documents are NOT about rye?", ("rye",), True),
        ("which contracts have no deposit?", ("deposit",), True),
        ("which letters weren't signed by Ada?", ("signed", "Ada"), True),
        ("Which Documents Do Not Mention Rye Flour?", ("Rye Flour",), True),
        ("in which documents is Garrow not mentioned?", ("Garrow",), True),
        ("in which documents does Garrow appear?", ("Garrow",), False),
        ("where is rye used?", ("rye",), False),
        ("how many seals were counted?", ("seals", "counted"), False),
        ("which cakes mention rye?", ("rye",), False),
        ("which documents were written by Tobias?", ("Tobias",), False),
    ],
)
def test_only_the_asking_part_of_a_question_turns_it_round(
    library: Library, asked: str, words: tuple[str, ...], negated: bool
) -> None:
    found = library.count(asked)
    assert (found.words, found.negated) == (words, negated)


@pytest.mark.parametrize("asked", ["when does the lease end?", "How do I bake rye bread?"])
def test_what_is_no_question_for_documents_is_refused_with_advice(
    library: Library, asked: str
) -> None:
    with pytest.raises(SettingsError, match="leave out --all"):
        library.count(asked)


@pytest.mark.parametrize(
    "asked",
    ["which documents mention cake without flour?", "list Gil Garrow but no buoy"],
)
def test_a_question_for_what_is_there_and_for_what_is_not_is_refused(
    library: Library, asked: str
) -> None:
    with pytest.raises(SettingsError, match="and then what is not"):
        library.count(asked)


def test_capitals_of_asking_words_make_no_name_of_them(library: Library) -> None:
    found = library.count("How many Documents Mention Rye Flour?")
    assert found.words == ("Rye Flour",)
    assert found.documents == ("bread.md", "stew.md")


def test_every_matching_line_of_a_long_list_is_cited(tmp_path: Path) -> None:
    lines = "".join(f"- Shelf {number} holds rye flour.\n" for number in range(1, 21))
    aside = "The mill is old and slow" + " and very, very loud" * 40 + ".\n"
    (tmp_path / "list.md").write_text(f"# Larder\n\n{lines}\n{aside}")
    with open_library(tmp_path) as library:
        library.index(model="hashing")
        hits = library.count("which documents mention rye flour?").hits
    assert len({hit.start for hit in hits}) == len(hits) == 20


def test_words_are_found_where_a_line_breaks_them_and_in_names_of_code(tmp_path: Path) -> None:
    shutil.copy(SAMPLE / "reports" / "boat-basin-seiche-2025.pdf", tmp_path / "boat.pdf")
    (tmp_path / "board.ts").write_text("function parseHeight(text: string) {\n  return 1;\n}\n")
    with open_library(tmp_path) as library:
        library.index(model="hashing")
        for word in ("fairlead", "flowerpot", "advise", "anybody", "everyone"):
            assert library.count(f"which documents mention {word}?").documents == ("boat.pdf",)
        assert library.count("which do not mention fairlead?").documents == ("board.ts",)
        assert library.count("which files mention parse height?").documents == ("board.ts",)


def test_of_a_long_sentence_all_counts_and_nothing_around_it(tmp_path: Path) -> None:
    long = f"is kept {'in the dry and cool old mill ' * 20}beside the"
    (tmp_path / "apart.md").write_text(f"Flour {long} salt.\n\nRye is grown by the river.\n")
    (tmp_path / "together.md").write_text(f"Flour {long} rye.\n")
    with open_library(tmp_path) as library:
        library.index(model="hashing")
        found = library.count("which documents mention rye and flour?")
        assert found.documents == ("together.md",)
        assert [one.quote.split()[0] for one in found.hits] == ["Flour"]


def test_it_says_what_it_saw_only_as_it_was_or_in_part(library: Library) -> None:
    (library.root / "cake.md").write_bytes(b"\x00\x01" * 100)
    too_deep = "<b>" * 100_000
    (library.root / "page.html").write_text(f"<p>No flour</p>{'</x>' * 200}{too_deep}deep")
    library.index()
    found = library.count("which documents mention flour?")
    assert [one.path for one in found.unread] == ["broken.pdf"]
    assert [one.path for one in found.outdated] == ["cake.md"]
    assert [one.path for one in found.partly] == ["page.html"]
    assert found.statement.startswith(
        "5 of 5 documents looked at, 4 hold it, 1 could not be read: broken.pdf; "
        "1 in an earlier version: cake.md; 1 read in part: page.html."
    )


@pytest.mark.parametrize(
    ("filters", "may_be_in_it"),
    [
        ({"path": "b"}, True),
        ({"path": "c"}, False),
        ({"name": "BR"}, True),
        ({"name": "br*"}, True),
        ({"name": "bread"}, False),
        ({"type": "md"}, False),
        ({"type": ("md", "pdf")}, True),
        ({"where": "not type = pdf"}, True),  # what is more than its path may let it through
        ({"where": "path begins b and path contains ead"}, False),
        ({"where": "path contains rea or path begins c"}, True),
        ({"where": "path begins c and text contains flour"}, False),
        ({"where": "not tag = draft"}, True),
    ],
)
def test_a_file_that_a_filter_leaves_out_is_not_missed(
    library: Library, filters: dict[str, str | tuple[str, ...]], may_be_in_it: bool
) -> None:
    found = library.count("which documents mention flour?", filters=filters)
    assert [one.path for one in found.unread] == ["broken.pdf"] * may_be_in_it


def test_counting_is_logged(library: Library) -> None:
    library.count("which documents mention rye flour?", filters={"path": "b"})
    with pytest.raises(SettingsError):
        library.count("how many documents are there?")
    failed, counted = library.queries()
    assert (counted.verb, counted.outcome, len(counted.chunk_ids)) == ("count", "results", 1)
    assert (counted.question, counted.filters) == (
        "which documents mention rye flour?",
        {"path": "b"},
    )
    assert (failed.outcome, failed.error) == ("error", "SettingsError")


def test_the_command_counts_and_the_abstention_offers_it(library: Library) -> None:
    def asked(*more: str) -> str:
        arguments = ["ask", *more, "--library", str(library.root)]
        return CliRunner().invoke(cli, arguments).output

    question = "which documents mention rye flour?"
    assert "ask --all" in asked(question)
    told = asked("--all", question)
    assert "2 hold it" in told
    first, *lines = told.splitlines()
    assert first.startswith("4 of 4 documents looked at, 2 hold it")
    assert [one for one in lines if "passage" in one] == [
        "bread.md: 2 passages",
        "stew.md: 1 passage",
        "--json gives every passage.",
    ]
    assert "[2]" in told
    assert "[3]" not in told
    as_json = json.loads(asked("--all", question, "--json"))
    assert len(as_json["hits"]) == 3
    assert set(as_json["documents"]) == {"bread.md", "stew.md"}


def test_codes_are_counted_to_the_letter_and_a_name_is_no_little_word(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("The driver is written in C++, version v2.0.1.\n")
    (tmp_path / "b.md").write_text("Row C of the table is version v2; see 0 and 1 in it.\n")
    (tmp_path / "c.md").write_text("Ines keeps the key.\n")
    with open_library(tmp_path) as library:
        library.index(model="hashing")
        assert library.count("which documents mention C++?").documents == ("a.md",)
        assert library.count("which documents mention v2.0.1?").words == ("v2.0.1",)
        assert library.count("which documents mention v2.0.1?").documents == ("a.md",)
        assert library.count("which documents mention Ines?").documents == ("c.md",)
