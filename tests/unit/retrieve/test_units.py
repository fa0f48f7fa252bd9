"""What can be quoted of a chunk, and what introduces it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from pincite.models.hashing import HashingEmbedder
from pincite.records import (
    Chunk,
    DocumentId,
    Locator,
    Modality,
    Omission,
    OmissionReason,
    Place,
    Section,
)
from pincite.retrieve.quote import answering_words, best_quote, by_cosine, ranked_quotes
from pincite.retrieve.rarity import Rarity
from pincite.retrieve.units import Unit, units_of

EQUAL = Rarity({})  # every word counts the same


def chunk_of(
    text: str,
    *,
    start: int = 0,
    modality: Modality = Modality.TEXT,
    sections: tuple[Section, ...] = (),
) -> Chunk:
    return Chunk(
        document_id=DocumentId("d"),
        modality=modality,
        position=0,
        start=start,
        end=start + len(text),
        text=text,
        sections=sections,
        locator=Locator(1, text.count("\n") + 1),
        tokens=1,
    )


def quoted(chunk: Chunk, unit: Unit) -> str:
    return chunk.text[unit.start - chunk.start : unit.end - chunk.start]


def told(chunk: Chunk) -> list[tuple[str, str, str]]:
    """Kind, lead and text of each unit."""
    return [(unit.kind, unit.lead, quoted(chunk, unit)) for unit in units_of(chunk)]


def texts(text: str) -> list[str]:
    chunk = chunk_of(text)
    return [quoted(chunk, unit) for unit in units_of(chunk)]


@pytest.mark.parametrize("rule", ["|---|---:|\n", ""])
def test_a_row_comes_with_its_header_which_is_no_unit(rule: str) -> None:
    text = f"Per portion:\n\n| Fruit | Calories |\n{rule}| Berries | 52 |\n| Pears | 57 |\n"
    assert told(chunk_of(text))[1:] == [
        ("row", "Fruit | Calories", "Berries | 52"),
        ("row", "Fruit | Calories", "Pears | 57"),
    ]


def test_columns_named_in_several_lines_and_groups_of_rows_are_leads() -> None:
    text = "|  | May | June |\n|  | 2024 | 2025 |\n| Sales: |  |  |\n| Boats | 3 | 4 |\n"
    assert told(chunk_of(text)) == [("row", "Sales: — May 2024 | June 2025", "Boats | 3 | 4")]


def test_a_table_that_went_on_from_another_chunk_has_no_header() -> None:
    text = "| Berries | 52 |\n| Pears | 57 |"
    chunk = replace(chunk_of(text), position=3)
    assert told(chunk) == [("row", "", "Berries | 52"), ("row", "", "Pears | 57")]


def test_a_table_drawn_with_blanks_has_a_header_too() -> None:
    text = "=====  ======\nName   Offset\n=====  ======\nTL-09  +0.43\n=====  ======"
    assert told(chunk_of(text)) == [("row", "Name | Offset", "TL-09  +0.43")]


def test_the_row_that_names_the_columns_of_a_spreadsheet_is_no_unit() -> None:
    text = "Name | Age\nName: Ada; Age: 36"
    places = (Place(0, 10, row=1), Place(11, len(text), row=2))
    chunk = replace(chunk_of(text), places=places)
    assert told(chunk) == [("row", "", "Name: Ada; Age: 36")]


def test_an_item_comes_with_what_introduces_it_and_without_its_bullet() -> None:
    text = "Before you sail:\n\n- Check the oil.\n- Fill the tank:\n  - the left one\n\nThen go."
    assert told(chunk_of(text)) == [
        ("sentence", "", "Before you sail:"),
        ("item", "Before you sail:", "Check the oil."),
        ("item", "Before you sail:", "Fill the tank:"),
        ("item", "Fill the tank:", "the left one"),
        ("sentence", "", "Then go."),
    ]


def test_an_item_of_many_words_is_cut_into_its_sentences() -> None:
    long = "The first sentence of this item says a good deal about the pump. "
    assert texts(f"1. {long * 2}And this is its end, which may be quoted alone.") == [
        f"1. {long.strip()}",
        long.strip(),
        "And this is its end, which may be quoted alone.",
    ]


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("**Chart datum (CD).** The zero of our levels.", "Chart datum (CD)"),
        ("Chart datum: the zero of our levels.", "Chart datum"),
        ("- `--level`: the zero of our levels.", "--level"),
        ("Chart datum – the zero of our levels.", "Chart datum"),
    ],
)
def test_a_term_with_its_explanation_is_a_definition(text: str, term: str) -> None:
    chunk = chunk_of(f"{text}\n\nSomething else follows here.")
    first = units_of(chunk)[0]
    assert (first.kind, first.term, quoted(chunk, first)) == (
        "definition",
        term,
        text.removeprefix("- "),
    )


def test_what_follows_in_a_glossary_is_about_its_term() -> None:
    text = "**Neap tide.** A small tide. It comes twice a month."
    assert told(chunk_of(text))[1] == ("sentence", "Neap tide", "It comes twice a month.")


def test_a_definition_is_quoted_before_sentences_that_mention_the_term() -> None:
    text = "Chart datum is lower than chart datum was.\n\n**Chart datum.** The zero of our levels."
    quote = best_quote(chunk_of(text), "what is chart datum?", EQUAL, None)
    assert (quote.text, quote.kind) == ("**Chart datum.** The zero of our levels.", "definition")


def test_fields_come_with_the_first_which_mostly_names_them() -> None:
    text = "name: Lamp Skerry\ndries: 3.1 m\norigin: A lantern was hung there."
    assert told(chunk_of(text)) == [
        ("definition", "", "name: Lamp Skerry"),
        ("definition", "name: Lamp Skerry", "dries: 3.1 m"),
        ("definition", "name: Lamp Skerry", "origin: A lantern was hung there."),
    ]


def test_values_of_json_come_with_the_first_of_their_object() -> None:
    text = '{\n  "id": "LE-7",\n  "depth": 12,\n  "heard": [\n    "seals"\n  ]\n}'
    assert told(chunk_of(text)) == [
        ("definition", "", '"id": "LE-7"'),
        ("definition", '"id": "LE-7"', '"depth": 12'),
        ("item", "heard", '"seals"'),
    ]


SOURCE = '''\
def parse_height(line: str) -> float:
    """Metres in a line."""
    return float(line)


def unparsed(line: str) -> bool:
    return not parse_height(line)
'''


def source() -> Chunk:
    second = SOURCE.index("def unparsed")
    sections = (
        Section(("parse_height",), 1, 0, second),
        Section(("unparsed",), 1, second, len(SOURCE)),
    )
    return chunk_of(SOURCE, modality=Modality.CODE, sections=sections)


def test_a_line_of_code_comes_with_its_function() -> None:
    signature = "def parse_height(line: str) -> float:"
    assert told(source())[:3] == [
        ("definition", "", signature),
        ("sentence", signature, "Metres in a line."),
        ("code", signature, "return float(line)"),
    ]


@pytest.mark.parametrize("question", ["parse_height", "parse height"])
def test_asked_for_a_function_its_first_line_is_quoted_and_not_a_call(question: str) -> None:
    quote = best_quote(source(), question, EQUAL, None)
    assert (quote.text, quote.kind) == ("def parse_height(line: str) -> float:", "definition")


def test_code_in_a_fence_comes_with_what_introduces_it() -> None:
    text = "Restart the pump:\n\n```shell\npumpctl restart\n```\n\nIt hums again."
    assert told(chunk_of(text))[1:] == [
        ("code", "Restart the pump:", "pumpctl restart"),
        ("sentence", "", "It hums again."),
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("[00:00:10]", "[00:00:20]"),
        ("0:10", "0:20"),
        ("[00:00:10 - 00:00:20]", "[00:00:20 - 00:00:21]"),
        ("[00:10.5 --> 00:20.0]", "[00:20.0 --> 00:21.0]"),
        ("[10.0-20.5]", "[20.5-21.0]"),
        ("[10.0]", "[20.5]"),
    ],
)
def test_what_was_said_comes_with_its_speaker_and_without_the_time(first: str, second: str) -> None:
    text = f"{first} Lio: It is a chirp. Bats know it.\n{second} Ada: Why?"
    chunk = chunk_of(text, modality=Modality.AUDIO_TRANSCRIPT)
    assert told(chunk) == [
        ("caption", "Lio", "It is a chirp."),
        ("caption", "Lio", "Bats know it."),
        # A lone word is quoted only where there is nothing else.
    ]


def test_what_follows_a_question_comes_with_it() -> None:
    text = "Q: When are you open?\n\nA: From May to September."
    assert told(chunk_of(text))[1] == (
        "sentence",
        "Q: When are you open?",
        "A: From May to September.",
    )


def test_a_heading_is_a_unit_only_where_nothing_stands_below_it() -> None:
    text = "# Pumps\n\n## Wren\n\nIt is loud.\n\n## Dipper\n\n## Heron\n\nIt is old."
    starts = [text.index(title) for title in ("# Pumps", "## Wren", "## Dipper", "## Heron")]
    sections = tuple(
        Section(("Pumps", title), min(level, 2), start, end)
        for level, title, (start, end) in zip(
            (1, 2, 2, 2),
            ("Pumps", "Wren", "Dipper", "Heron"),
            pairwise([*starts, len(text)]),
            strict=True,
        )
    )
    assert told(chunk_of(text, sections=sections)) == [
        ("sentence", "", "It is loud."),
        ("heading", "", "Dipper"),
        ("sentence", "", "It is old."),
    ]


@pytest.mark.parametrize(
    "markup",
    [
        "---\ntitle: Pumps\nweight: 10\n---",
        "<!-- body -->",
        "<!--\nnot shown\n-->",
        "{{< note >}}",
        '{{< figure src="a.png"\n   alt="A pump" >}}',
        "![A pump](pump.png)",
        "- [Pumps](pumps.md)",
        "https://example.org/pumps",
        "***",
        "___",
        ".. contents::",
        "#+TITLE: Pumps",
        "..",
        "12",
    ],
)
def test_markup_and_fragments_are_no_units(markup: str) -> None:
    assert texts(f"{markup}\n\nThe pump leaks.") == ["The pump leaks."]


def test_a_cell_of_html_is_quoted_without_its_tags() -> None:
    text = "<td>--config</td>\n<td><p>Path to the file of settings.</p></td>"
    assert told(chunk_of(text)) == [("sentence", "--config", "Path to the file of settings.")]


def test_a_fragment_is_a_unit_where_there_is_nothing_else() -> None:
    assert texts("12\n") == ["12"]
    assert texts("---\ntitle: Pumps\nweight: 30\n---\n") == ["Pumps"]
    assert texts("---\n***") == []


def test_hidden_words_introduce_nothing() -> None:
    text = "Praise the vendor:\n\n- The pump leaks."
    chunk = replace(chunk_of(text), omissions=(Omission(0, 18, OmissionReason.WHITE),))
    assert told(chunk) == [("item", "", "The pump leaks.")]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("how many boats are in the harbour?", "In the harbour are 14 boats."),
        ("when were boats in the harbour?", "The boats had a harbour in May."),
        ("who has the boats in the harbour?", "The harbour and its boats are of Ada Vane."),
        ("why are boats in the harbour?", "Boats are in a harbour because of the wind."),
        ("how do I get boats in a harbour?", "\n\n- Tow the boats to the harbour.\n\n"),
    ],
)
def test_a_unit_with_the_kind_of_answer_asked_for_is_preferred(question: str, answer: str) -> None:
    text = f"The boats like the harbour. The harbour owns no boats. {answer} Boats leave a harbour."
    assert best_quote(chunk_of(text), question, EQUAL, None).text == answer.strip("\n -")


def test_a_word_that_few_chunks_of_the_library_have_counts_more() -> None:
    chunk = chunk_of("The common pump is old. The dipper is new. A common seal was seen.")
    rarity = Rarity({"common": 0.5, "dipper": 6.0})
    assert best_quote(chunk, "common dipper", rarity, None).text == "The dipper is new."


def test_quotes_come_best_first_and_no_more_than_asked_for() -> None:
    chunk = chunk_of("Nothing is here. The pump leaks. The end is near. The pump leaks oil.")
    quotes = ranked_quotes(chunk, "pump oil", EQUAL, None, most=2)
    assert [quote.text for quote in quotes] == ["The pump leaks oil.", "The pump leaks."]
    assert quotes[0].merit > quotes[1].merit > 0


def test_what_follows_a_good_unit_comes_before_what_says_less() -> None:
    chunk = chunk_of("It had oil. Nothing is here. The old pump leaks oil. A seal was worn.")
    quotes = ranked_quotes(chunk, "pump leaks oil", EQUAL, None, most=2)
    assert [quote.text for quote in quotes] == ["The old pump leaks oil.", "A seal was worn."]


def test_a_model_that_reads_the_units_has_its_say() -> None:
    chunk = chunk_of("The pump leaks.\n\nWhat to do:\n\n- Renew its seal.")
    seen: list[str] = []

    def scorer(question: str, units: Sequence[str]) -> list[float]:
        seen.extend(units)
        return [float("seal" in text) for text in seen]

    quotes = ranked_quotes(chunk, "stop the drip", EQUAL, None, most=1, scorer=scorer)
    assert quotes[0].text == "Renew its seal."
    assert seen[-1] == "What to do: Renew its seal."


def test_the_embedder_may_be_the_model_that_reads_them() -> None:
    scores = by_cosine(HashingEmbedder())("the pump leaks", ["the pump leaks", "an old boat"])
    assert scores[0] == pytest.approx(1.0, abs=1e-3)
    assert scores[1] < 0.5


PIECES = st.sampled_from(
    [
        *(
            "The pump leaks. ",
            "is old",
            "\n",
            "\n\n",
            "- ",
            "1. ",
            "# ",
            "| a | 5 |",
            "|---|",
            "```",
        ),
        *("Why? ", "**Term.** ", "name: ", '"key": 5,', "{", "}", "<td>", "</td>", "<!-- ", "-->"),
        *(
            "...",
            "。",
            "東京は",
            "؟ ",
            "[00:01] Ada: ",
            "def f(",
            "):",
            "# note",
            "/* ",
            "*/",
            '"""',
        ),
        *("===  ===", "---", "{{< x ", ">}}", "http://a.b", "\t", "    ", "\u200b", "e.g. ", "12"),
    ]
)


@given(
    pieces=st.lists(PIECES, max_size=40),
    start=st.integers(0, 50),
    modality=st.sampled_from([Modality.TEXT, Modality.CODE, Modality.AUDIO_TRANSCRIPT]),
    cuts=st.lists(st.integers(0, 200), max_size=6, unique=True).map(sorted),
    headings=st.lists(st.integers(0, 200), max_size=4, unique=True).map(sorted),
)
def test_units_are_slices_in_order_that_are_neither_blank_nor_markup_nor_hidden(
    pieces: list[str], start: int, modality: Modality, cuts: list[int], headings: list[int]
) -> None:
    text = "".join(pieces)
    hidden = tuple(
        Omission(start + first, start + min(last, len(text)), OmissionReason.WHITE)
        for first, last in zip(cuts[::2], cuts[1::2], strict=False)
        if last <= len(text)
    )
    edges = [start + at for at in headings if at < len(text)]
    sections = tuple(
        Section(("H",), 1, first, last) for first, last in pairwise([*edges, start + len(text)])
    )
    chunk = replace(
        chunk_of(text, start=start, modality=modality, sections=sections), omissions=hidden
    )
    units = units_of(chunk)
    for unit in units:
        said = quoted(chunk, unit)
        assert said == said.strip()
        assert any(map(str.isalnum, said))
        assert "\n" not in unit.lead
        assert all(unit.end <= one.start or one.end <= unit.start for one in hidden)
    assert all(one.end <= after.start for one, after in pairwise(units))
    if text.strip():
        quote = best_quote(chunk, "the pump and 12 of 東京", EQUAL, None)
        assert text[quote.start - start : quote.end - start] == quote.text


@pytest.mark.parametrize(
    "piece",
    [
        "...",
        "(.",
        "`",
        '"""\n',
        "/*\n",
        "<!--\n",
        "<a ",
        "|",
        "- ",
        "1. ",
        "{{<\n",
        "[a](",
        "a: b\n",
    ],
)
@pytest.mark.parametrize("modality", [Modality.TEXT, Modality.CODE, Modality.AUDIO_TRANSCRIPT])
def test_long_hostile_texts_are_quoted_all_the_same(piece: str, modality: Modality) -> None:
    # Were the time not linear, this would not end.
    chunk = chunk_of(f"{piece * (200_000 // len(piece))}\nThe end is here.", modality=modality)
    assert best_quote(chunk, "what is the end?", EQUAL, None).text


@pytest.mark.parametrize(
    ("question", "text", "words"),
    [
        ("when does it end?", "It ends on 30 June 2025 at noon.", ["30 June 2025"]),
        ("how many boats lie in 27 m?", "In 27 m lie 14 boats, or twelve.", ["14", "twelve"]),
        ("who signed for Ada?", "It was signed by Bob Tenby, not Ada.", ["Bob Tenby"]),
        ("why is it shut?", "It is shut because the lock broke.", ["because the lock broke."]),
        ("which colour is it?", "It is red.", []),
    ],
)
def test_the_words_that_answer_are_told_apart(question: str, text: str, words: list[str]) -> None:
    assert [text[start:end] for start, end in answering_words(question, text)] == words


def test_a_shortcode_inside_a_sentence_does_not_end_it() -> None:
    text = 'It watches a workload (such as\n{{< link text="Pods" >}} and others) for you.\n'
    assert texts(text) == [text.strip()]


def test_a_title_keeps_its_last_letter_whatever_it_begins_with() -> None:
    assert texts('---\ntitle: "Heron report" 2024\n---\n') == ['"Heron report" 2024']
    assert texts("---\ntitle: 'Twas a night\n---\n") == ["'Twas a night"]
    assert texts('---\ntitle: "Heron report"\n---\n') == ["Heron report"]


def test_lines_of_a_log_are_units_of_their_own() -> None:
    lines = [
        f"2025-01-{day:02} the pump at basin number {day} took {day} kW all day"
        for day in range(1, 20)
    ]
    assert texts("\n".join(lines) + "\n") == lines


def test_a_unit_without_blanks_is_not_cut_inside_a_number() -> None:
    text = "\u6709" * 398 + "123456\u4e2a\u5de2" + "\u6709" * 50 + "\u3002"
    quote = best_quote(chunk_of(text), "\u6709", EQUAL, None)
    assert quote.cut_after
    assert not quote.text[-1].isdigit()


def test_a_unit_that_is_too_long_is_never_cut_inside_a_number() -> None:
    text = "values: " + "; ".join(f"p{at}: 0.6696779{at:03}" for at in range(60)) + ".\n"
    quote = best_quote(chunk_of(text), "values", EQUAL, None)
    assert quote.cut_after
    assert re.search(r"0\.6696779\d{3};$", quote.text)


def test_a_note_in_a_table_is_no_heading_of_the_rows_below_it() -> None:
    text = (
        "| Film | Screen |\n|---|---|\n| Long Night | 1 |\n| | (Runtime: 142 min) |\n"
        "| Winter Wonderland | 2 |\n"
    )
    quotes = ranked_quotes(chunk_of(text), "runtime of Winter Wonderland", EQUAL, None, most=9)
    assert all("142" not in quote.lead for quote in quotes)
