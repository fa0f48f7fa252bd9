"""Lines, sentences, markup, times and abbreviations of any text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from pincite.text.lines import LineIndex
from pincite.text.markup import leading_comment, without_markup
from pincite.text.naming import abbreviations_in, expansion
from pincite.text.printable import printable
from pincite.text.sentences import prose_spans, sentence_spans
from pincite.text.times import clock, seconds_of

texts = st.text(alphabet=st.sampled_from("ab \t\n\r\x0b\x0c\x85\u2028é"), max_size=60)


def split_by_hand(text: str) -> list[str]:
    lines = re.split(r"\r\n|\n|\r", text)
    return lines[:-1] if len(lines) > 1 and not lines[-1] else lines


@given(texts)
def test_lines_are_what_stands_between_line_ends(text: str) -> None:
    lines = LineIndex(text)
    found = [text[lines.start_of(n) : lines.end_of(n)] for n in range(1, lines.count + 1)]
    assert found == split_by_hand(text)


@given(texts)
def test_every_offset_stands_in_the_line_that_began_last(text: str) -> None:
    lines = LineIndex(text)
    for offset in range(len(text) + 1):
        line = lines.line_of(offset)
        assert lines.start_of(line) <= offset
        assert line == lines.count or offset < lines.start_of(line + 1)


@given(texts, st.data())
def test_a_slice_has_the_lines_of_its_first_and_its_last_character(
    text: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    lines = LineIndex(text)
    last = end - 1 if end > start else start
    assert lines.lines_of(start, end) == (lines.line_of(start), lines.line_of(last))


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text, 0, len(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" \n\t", []),
        ("Wait... what?! Yes.", ["Wait...", "what?!", "Yes."]),
        ('He said "stop." Then he left.', ['He said "stop."', "Then he left."]),
        ("(One.) **Two.** Three.", ["(One.)", "**Two.**", "Three."]),
        ("Version 1.2.3 of a.b is out. Yes.", ["Version 1.2.3 of a.b is out.", "Yes."]),
        ("See e.g. page 3. Then i.e. here.", ["See e.g. page 3.", "Then i.e. here."]),
        ("Dr. J. Doe et al. wrote it.", ["Dr. J. Doe et al.", "wrote it."]),
        ("東京です。大阪です！次？", ["東京です。", "大阪です！", "次？"]),
        ("「はい。」次。", ["「はい。」", "次。"]),
        ("One\ntwo.\nThree", ["One\ntwo.", "Three"]),
        ("One\n\nTwo", ["One", "Two"]),
        ("- one\n- two\n3. three", ["- one", "- two", "3. three"]),
        ("  10. Ten. Eleven.\n11. Twelve.", ["10. Ten.", "Eleven.", "11. Twelve."]),
        ("Text\n# Heading\nmore", ["Text", "# Heading\nmore"]),
        ("## 8. Upgrading\n\nRead this.", ["## 8. Upgrading", "Read this."]),
        ("say\n[00:12] hello\n00:15 bye", ["say", "[00:12] hello", "00:15 bye"]),
    ],
)
def test_a_text_is_cut_where_a_reader_would_pause(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. J. Doe et al. wrote it. Yes.", ["Dr. J. Doe et al. wrote it.", "Yes."]),
        ("The U.S. Army came. It left.", ["The U.S. Army came.", "It left."]),
        ("She moved to the U.S. The rest stayed.", ["She moved to the U.S.", "The rest stayed."]),
        (
            "Acme Inc. is old. It sells etc. The end.",
            ["Acme Inc. is old.", "It sells etc.", "The end."],
        ),
        ("Am 1. Oktober geht es los. Ja.", ["Am 1. Oktober geht es los.", "Ja."]),
        ("It was 2019. Then came 2020.", ["It was 2019.", "Then came 2020."]),
        ("See no. 5 and no. 6. Oh no. Go.", ["See no. 5 and no. 6.", "Oh no.", "Go."]),
        ("Ask `SELECT ... FROM t`. Then `a. B`.", ["Ask `SELECT ... FROM t`.", "Then `a. B`."]),
        ("Well ... maybe. Yahoo! was sold.", ["Well ... maybe.", "Yahoo! was sold."]),
        ("It is there.[2] Ring twice.", ["It is there.[2]", "Ring twice."]),
        ("东京。大阪！", ["东京。", "大阪！"]),
        ("यह है। वह है।", ["यह है।", "वह है।"]),
        ("ما هذا؟ هذا بيت.", ["ما هذا؟", "هذا بيت."]),
        ("one\ntwo. Three", ["one\ntwo.", "Three"]),
    ],
)
def test_prose_is_cut_at_the_ends_of_its_sentences(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in prose_spans(text, 0, len(text))] == expected


any_text = st.text(st.sampled_from("ab .!?。\n\r\t-#|\"')1*é東"), max_size=60)


@pytest.mark.parametrize("cut", [sentence_spans, prose_spans])
@given(text=any_text)
def test_sentences_are_in_order_trimmed_and_leave_only_blanks_between(
    text: str, cut: Callable[[str, int, int], Iterator[tuple[int, int]]]
) -> None:
    spans = list(cut(text, 0, len(text)))
    assert all(text[start:end].strip() == text[start:end] != "" for start, end in spans)
    edges = [(0, 0), *spans, (len(text), len(text))]
    for (_, before), (after, _) in pairwise(edges):
        assert before <= after
        assert not text[before:after].strip()


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("see [the *guide*](https://a.b/c_(d)) now", "see the guide now"),
        ("**bold**, __bold__, *it* and _it_", "bold, bold, it and it"),
        ("snake_case and 5 * 3 * 2 stay", "snake_case and 5 * 3 * 2 stay"),
        ("the `--flag` and ``a_b``", "the --flag and a_b"),
        ("a <b>tag</b> and <!-- a note -->end", "a tag and end"),
        ('the {{< tooltip text="Pods" term="pod" >}} run {{< note >}}', "the Pods run "),
        (":class:`~a.B` and `here <http://x>`_", "~a.B and here "),
        ("[[http://x.y][Org]] has ~code~ and =verbatim=", "Org has code and verbatim"),
        ("> quoted\n> twice", "quoted\ntwice"),
        ("noted[^1] and &amp; \\*", "noted and & *"),
        ("日本語の**強調**です", "日本語の強調です"),
    ],
)
def test_markup_is_taken_off(source: str, words: str) -> None:
    assert without_markup(source) == words


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ('"""Counts boats.\n\nIn detail."""\nimport re\n', "Counts boats."),
        ("#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n'''Counts.'''\n", "Counts."),
        ("# Counts boats\n# by size.\nx = 1\n", "Counts boats\nby size."),
        ("/**\n * Counts boats.\n *\n * @author Ada\n */\nclass A {}\n", "Counts boats."),
        ("'use strict';\n\n/* Counts. */\n", "Counts."),
        ("# Copyright 2024\n# License: MIT\n\n'''Counts.'''\n", "Counts."),
        ("/* a.h -- counts boats -*- C++ -*-\n\n   Copyright 2024 Ada */\n", "a.h -- counts boats"),
        ("x = 1\n# later\n", ""),
        ('"""never closed', ""),
    ],
)
def test_what_a_file_begins_with(source: str, said: str) -> None:
    assert leading_comment(source) == said


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("1:02", 62),
        ("01:02:03", 3723),
        ("01:02:03,250", 3723.25),
        ("123:00:00", 442800),
    ],
)
def test_a_time_is_understood_in_every_usual_form(written: str, seconds: float) -> None:
    assert seconds_of(written) == seconds


@pytest.mark.parametrize(
    "written", ["", "5", "1:2", "1:60", "01:60:00", "-1:00", "a:bc", "1:00:00:00"]
)
def test_what_is_no_time_is_none(written: str) -> None:
    assert seconds_of(written) is None


@given(st.integers(0, 999 * 3600))
def test_a_time_comes_back_from_how_it_is_written(seconds: int) -> None:
    assert seconds_of(clock(seconds)) == seconds


@given(st.text(st.characters()))
def test_no_control_or_direction_character_is_left(text: str) -> None:
    left = set(map(unicodedata.category, printable(text).replace("\u200d", "")))
    assert left.isdisjoint({"Cc", "Cf", "Cs", "Zl", "Zp"})


@pytest.mark.parametrize(
    "text", ["Größe", "ブイ", "كم مرة", "👩\u200d🚀", "a\u00a0b\u3000c", "\\n"]
)
def test_what_people_write_stays(text: str) -> None:
    assert printable(text) == text


def test_what_acts_unseen_is_shown_as_an_escape() -> None:
    assert printable("a\x1b[2J\u202eb\n") == "a\\u001b[2J\\u202eb\\n"


@pytest.mark.parametrize(
    ("short", "before", "long"),
    [
        ("CTD", "of Conductivity, Temperature and Depth", "Conductivity, Temperature and Depth"),
        ("SBOM", "a Software Bill of Materials", "Software Bill of Materials"),
        ("ABAC", "attribute-based access control", "attribute-based access control"),
        ("CTD", "Temperature and Depth", ""),
    ],
)
def test_an_abbreviation_is_matched_with_its_words(short: str, before: str, long: str) -> None:
    assert expansion(short, before) == long


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("We use Reciprocal Rank Fusion (RRF) here.", "RRF", "Reciprocal Rank Fusion"),
        ("RRF (Reciprocal Rank Fusion) is old.", "RRF", "Reciprocal Rank Fusion"),
        ("All service level agreements (SLAs) hold.", "SLA", "service level agreements"),
    ],
)
def test_both_orders_are_found_with_their_place(text: str, short: str, long: str) -> None:
    (found,) = abbreviations_in(text)
    assert (found.short, found.long) == (short, long)
    assert short in text[found.start : found.end]
    assert long in text[found.start : found.end]


@pytest.mark.parametrize(
    "text",
    ["The pump (ACME) leaks.", "RRF (see chapter four) is old.", "Rank Fusion\n(RRF)", "(RF)"],
)
def test_brackets_that_explain_nothing_are_left_alone(text: str) -> None:
    assert list(abbreviations_in(text)) == []
