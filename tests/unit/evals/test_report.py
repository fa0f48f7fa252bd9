"""A run as one HTML page, its plots, and its figures and places in words."""

from __future__ import annotations

import math
import re
import subprocess
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TypedDict, Unpack

import pytest
from hypothesis import given, settings, strategies as st
from lxml import etree, html

from eval_runs import SETUP, eval_run
from pincite.evals import plots, wording
from pincite.evals.compare import compare
from pincite.evals.judge import BY_QUESTION
from pincite.evals.measures import OVER_RUN, figures_by_kind, latency
from pincite.evals.report import report
from pincite.records import (
    Case,
    CaseResult,
    Change,
    ChunkId,
    Comparison,
    EvalRun,
    EvalSetup,
    ExpectedPlace,
    FigureChange,
    Filters,
    Found,
    Locator,
)

HOSTILE = "</style></title><script>alert(1)</script><img src=x onerror=y> & \u202egnp\x07\x00 \"'"
SHOWN = (
    "</style></title><script>alert(1)</script><img src=x onerror=y> & \\u202egnp\\u0007\\u0000 \"'"
)
MARKUP = (
    "<script>",
    "</style>",
    "<img src=x>",
    '" onload="',
    "' href='",
    "{{ run }}",
    "]]>",
    "\ud800",
)
PERFECT = {"ndcg@10": 1.0, "hit@1": 1.0, "place_hit@3": 1.0}


def found(path: str = "notes/a.md", quote: str = "Every ten minutes.") -> Found:
    return Found(
        document=path,
        chunk=ChunkId("c" * 40),
        score=0.03,
        locator=Locator(7, 9),
        cited=Locator(8, 8),
        quote=quote,
        tokens=12,
        headings=("Guide", "Sending"),
        ranks={"words": 2, "vector": 14},
        similarity=0.61,
    )


class Fields(TypedDict, total=False):
    """Of a CaseResult, those a test sets."""

    case: Case
    found: tuple[Found, ...]
    confidence: float
    abstained: bool
    seconds: Mapping[str, float]
    figures: Mapping[str, float]
    error: str


def result(question: str = "how often?", **values: Unpack[Fields]) -> CaseResult:
    """A question that is answered perfectly, unless told otherwise."""
    case = Case(question=question, documents={"notes/a.md": 1})
    plain = CaseResult(
        case=case, found=(found(),), confidence=0.8, seconds={"words": 0.002}, figures=PERFECT
    )
    return replace(plain, **values)


def unanswerable(question: str = "why?", **values: Unpack[Fields]) -> CaseResult:
    case = Case(question=question, unanswerable=True)
    return replace(result(case=case, figures={}, confidence=0.5), **values)


def run(*results: CaseResult, label: str = "a label", setup: EvalSetup = SETUP) -> EvalRun:
    figures = figures_by_kind(results)
    return eval_run(*results, label=label, setup=setup, figures=figures, latency=latency(results))


def page(one: EvalRun, compared: Comparison | None = None) -> html.HtmlElement:
    return html.document_fromstring(report(one, compared=compared))


def told(element: html.HtmlElement) -> str:
    return " ".join(" ".join(element.itertext()).split())


def part(whole: html.HtmlElement, section: str) -> str:
    return told(whole.get_element_by_id(section))


def sections(whole: html.HtmlElement) -> set[str]:
    return {section.get("id", "") for section in whole.iter("section")}


def questions(whole: html.HtmlElement, section: str) -> list[str]:
    inside = whole.get_element_by_id(section)
    return [told(one) for one in inside.find_class("question")]


def hostile_run(text: str) -> EvalRun:
    """The text in every place that someone else may have written."""
    case = Case(
        question=text,
        kind=text,
        documents={text: 2, "b.md": 1},
        places=(ExpectedPlace(text, lines=(1, 2)),),
        terms=(text,),
        filters=Filters(name=text),
        note=text,
    )
    hit = replace(found(text, text), headings=(text,), ranks={text: 1})
    bad = result(case=case, found=(hit,), figures={"ndcg@10": 0.1}, seconds={text: 0.1})
    failed = result(case=replace(case, kind="other"), error=text or "failed", figures={})
    wrong = unanswerable(found=(hit,), case=Case(question=text, unanswerable=True))
    setup = replace(SETUP, model=text, settings={text: text}, commit=text)
    return run(bad, failed, wrong, label=text, setup=setup)


def changed(one: EvalRun) -> Comparison:
    """A run held against itself, with all its questions as better, worse, new and gone."""
    changes = tuple(Change(of.case, of, of, 0.0, 1.0) for of in one.results)
    cases = tuple(of.case for of in one.results)
    return Comparison(one, one, (), "ndcg@10", changes, changes, 0, cases, cases)


def is_inert(whole: html.HtmlElement) -> bool:
    """Neither code nor anything that is fetched from elsewhere."""
    for element in whole.iter(etree.Element):
        if element.tag in ("script", "img", "link", "iframe", "object", "base", "form"):
            return False
        for name in element.attrib:
            if name in ("src", "href", "style", "srcset") or str(name).startswith("on"):
                return False
    return not re.search(
        r"@import|url\(", "".join(style.text or "" for style in whole.iter("style"))
    )


def test_hostile_text_is_shown_and_does_nothing() -> None:
    hostile = hostile_run(HOSTILE)
    whole = page(hostile, changed(hostile))
    assert is_inert(whole)
    (policy,) = whole.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"
    assert told(next(whole.iter("h1"))) == SHOWN
    assert whole.findtext(".//title") == f"{SHOWN} – pincite"
    for section in ("failed", "worst", "overconfident"):
        assert questions(whole, section) == [SHOWN]
    assert part(whole, "worst").count(SHOWN) >= 8
    assert questions(whole, "changes") == [SHOWN] * 12
    assert SHOWN in part(whole, "setup")


@settings(max_examples=25)
@given(st.lists(st.sampled_from(MARKUP) | st.text(max_size=5), max_size=5).map("".join))
def test_no_text_can_act_on_the_page_or_hide_in_it(text: str) -> None:
    hostile = hostile_run(text)
    written = report(hostile, compared=changed(hostile))
    unseen = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    left = set(written.replace("\n", "").replace("\u200d", "").replace("\u200c", ""))
    assert not [char for char in left if unicodedata.category(char) in unseen]
    assert is_inert(html.document_fromstring(written))


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ([], {"empty", "setup"}),
        ([result()], {"plots", "figures", "setup"}),
        ([result(figures={"ndcg@10": 0.5})], {"plots", "figures", "worst", "setup"}),
        ([result(), unanswerable()], {"plots", "figures", "overconfident", "setup"}),
        ([result(), unanswerable(found=())], {"plots", "figures", "setup"}),
    ],
)
def test_a_section_is_there_when_it_has_something_to_say(
    results: Sequence[CaseResult], expected: set[str]
) -> None:
    assert sections(page(run(*results))) == expected


def test_the_page_opens_with_what_was_measured_and_how() -> None:
    draft = result(case=Case(question="draft?", draft=True))
    whole = page(run(result(), draft, unanswerable(), result(error="no model", figures={})))
    assert told(next(whole.iter("header"))) == (
        "a label 2026-02-03 04:05 UTC · golden.jsonl 4 questions, 1 of them without an answer, "
        "1 drafted and not confirmed, 1 failed · hybrid search · minilm · 26 documents, "
        "3,310 chunks"
    )
    setup = part(whole, "setup")
    for value in ("golden.jsonl", "vault of today", "minilm:1", "3,310", "1.2.3", "abc123"):
        assert value in setup
    assert "Setting top_k_words 100" in setup
    assert "Setting absent_rank none" in setup
    assert "Abstains" not in setup


def test_figures_stand_by_kind_and_leave_out_what_does_not_apply() -> None:
    term = Case(question="ERR_1?", kind="exact_term", documents={"a.md": 1})
    one = result(figures={"ndcg@10": 0.5})
    other = result(case=term, figures={"ndcg@10": 1.0, "terms@10": 0.25, "context_tokens": 4321.0})
    (table,) = page(run(one, one, other)).get_element_by_id("figures").iter("table")
    rows = [[told(cell) for cell in row] for row in table.iter("tr")]
    assert rows == [
        ["Questions", "all 3", "content 2", "exact_term 1"],
        ["ndcg@10", "0.667", "0.500", "1.000"],
        ["terms@10", "0.250", "", "0.250"],
        ["context_tokens", "4,321", "", "4,321"],
    ]


def test_the_worst_questions_come_first_by_documents_then_by_places() -> None:
    wanted = {
        "a: nothing": {"ndcg@10": 0.0},
        "b: no place, not even late": {"ndcg@10": 0.5, "place_hit@10": 0.0, "place_hit@3": 0.0},
        "c: the place late": {"ndcg@10": 0.5, "place_hit@10": 1.0, "place_hit@3": 0.0},
        "d: only words expected": {"terms@10": 0.75},
        "e: only the place is wrong": {"ndcg@10": 1.0, "place_hit@10": 0.0},
        "f: only the words are missing": {"ndcg@10": 1.0, "terms@10": 0.0},
        "g: perfect": PERFECT,
    }
    results = [result(question, figures=figures) for question, figures in wanted.items()]
    whole = page(run(*reversed(results)))
    assert questions(whole, "worst") == [*wanted][:-1]
    assert "6 of 7 could have gone better." in part(whole, "worst")


def test_a_bad_question_shows_what_was_expected_and_what_was_found() -> None:
    case = Case(
        question="how often?",
        documents={"notes/a.md": 1},
        places=(ExpectedPlace("notes/a.md", lines=(70, 80)),),
        filters=Filters(types=("md",)),
        note="from the manual",
    )
    bad = result(case=case, found=(found("b.pdf"), found()), figures={"ndcg@10": 0.63})
    text = part(page(run(bad)), "worst")
    assert "Expected notes/a.md, lines 70–80 Filters types md Note from the manual" in text
    assert "ndcg@10 0.630" in text
    evidence = "Guide › Sending “Every ten minutes.” line 8 · rank 2 by words, 14 by vector"
    assert f"b.pdf lines 7–9 {evidence} · cosine 0.610" in text
    assert f"notes/a.md lines 7–9 right document {evidence}" in text


def test_a_list_of_questions_ends_where_nobody_reads_on() -> None:
    many = [result(f"question {number:02}", figures={"ndcg@10": 0.0}) for number in range(25)]
    failed = [result(f"failed {number:02}", error="no model") for number in range(25)]
    whole = page(run(*many, *failed))
    assert len(questions(whole, "worst")) == len(questions(whole, "failed")) == 20
    assert "these are the worst 20" in part(whole, "worst")
    assert part(whole, "failed").endswith("and 5 more")


def test_what_was_answered_without_an_answer_comes_by_confidence() -> None:
    asked = [unanswerable(f"{share}?", confidence=share) for share in (0.2, 0.9, 0.5)]
    whole = page(run(*asked, unanswerable("refused?", abstained=True)))
    assert questions(whole, "overconfident") == ["0.9?", "0.5?", "0.2?"]
    assert "3 of 4 questions" in part(whole, "overconfident")
    assert "no threshold was set" in part(whole, "overconfident")


def test_the_curve_marks_where_the_run_stands() -> None:
    answered = [result(f"{number}?", confidence=0.9) for number in range(3)]
    setup = replace(SETUP, abstain_below=0.6)
    text = part(page(run(*answered, unanswerable(abstained=True), setup=setup)), "plots")
    assert "This run answered 75 % of the questions, and 0 % of these wrongly." in text
    assert "Marked: questions answered 75 %, wrong among them 0 %" in text
    assert "Not counted" not in text


def test_where_a_run_stands_is_told_of_the_questions_on_the_curve() -> None:
    by_words = [result(f"{number}?", figures={"terms@10": 1.0}) for number in range(7)]
    wrong = result("wrong?", figures={"hit@1": 0.0}, confidence=0.7)
    failed = result("failed?", error="no model")
    refused = unanswerable(abstained=True)
    text = part(page(run(result(), wrong, refused, refused, failed, *by_words)), "plots")
    assert "This run answered 50 % of the questions, and 50 % of these wrongly." in text
    assert "Not counted: 8 that failed or cannot be told right from wrong." in text


def test_a_comparison_shows_figures_setup_and_the_questions_that_changed() -> None:
    names = [f"question {number}" for number in range(8)]
    before = run(
        *(result(name, figures={"ndcg@10": 0.0}, found=(found("old.md"),)) for name in names),
        result("turned?", figures={"ndcg@10": 1.0}),
        result("same?"),
        result("dropped?"),
        label="yesterday",
        setup=replace(SETUP, mode="words"),
    )
    after = run(
        *(result(name, figures={"ndcg@10": 0.5}) for name in names),
        result("turned?", figures={"ndcg@10": 0.0}, found=()),
        result("same?"),
        result("added?"),
    )
    whole = page(after, compare(before, after))
    text = part(whole, "changes")
    assert "from yesterday (2026-02-03 04:05 UTC) to a label" in text
    assert "ndcg@10 0.200 0.500 +0.300" in text
    assert "Mode words hybrid" in text
    assert "Worse by ndcg@10 1 1.00 → 0.00 turned?" in text
    assert "Better by ndcg@10 8 0.00 → 0.50 question 0" in text
    assert re.search(
        r"Before old\.md lines 7–9 “.*?” After notes/a\.md lines 7–9 right document “", text
    )
    assert "Nothing was found." in text
    assert "1 question without a change." in text
    assert "1 asked only before dropped?" in text
    assert "1 asked only after added?" in text


def test_without_the_template_engine_one_is_told_what_to_install() -> None:
    program = """
import sys
sys.modules["jinja2"] = None
from test_report import report, run
report(run())
"""
    outcome = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome.returncode == 1
    assert "SettingsError" in outcome.stderr
    assert "with its extra `eval`" in outcome.stderr


SVG = "{http://www.w3.org/2000/svg}"
WIDTH, HEIGHT = 2, 3  # their places in a viewBox

text = st.text(max_size=20)
number = st.floats(-1e12, 1e12) | st.sampled_from([float("nan"), float("inf")])
share = st.floats(0, 1)
bars = partial(plots.bars, name="quality", title="Quality", write="{:.2f}".format)
curve = partial(plots.curve, name="risk", title="Risk", axes=("answered", "wrong"))


def parsed(svg: str) -> etree._Element:
    return etree.fromstring(svg.encode())


def texts(svg: etree._Element) -> list[str]:
    return [one.text or "" for one in svg.iter(f"{SVG}text")]


def frame(svg: etree._Element) -> tuple[float, float]:
    box = [float(part) for part in svg.get("viewBox", "").split()]
    return box[WIDTH], box[HEIGHT]


@given(st.dictionaries(text, st.dictionaries(text, number, max_size=4), max_size=4))
def test_bars_are_well_formed_and_inside_their_frame_whatever_they_are_given(
    groups: dict[str, dict[str, float]],
) -> None:
    svg = parsed(bars(groups))
    width, height = frame(svg)
    for bar in svg.iter(f"{SVG}rect"):
        assert float(bar.get("x", "")) + float(bar.get("width", "")) <= width
        assert float(bar.get("y", "")) + float(bar.get("height", "")) <= height


@given(st.lists(st.tuples(share, share), max_size=9), st.none() | st.tuples(share, share))
def test_a_curve_is_well_formed_and_inside_its_frame(
    points: list[tuple[float, float]], mark: tuple[float, float] | None
) -> None:
    svg = parsed(curve(sorted(points), mark=mark if points else None))
    width, height = frame(svg)
    (line,) = svg.iter(f"{SVG}polyline")
    drawn = [tuple(map(float, point.split(","))) for point in (line.get("points") or "").split()]
    assert len(drawn) == len(points)
    assert all(0 <= x <= width and 0 <= y <= height for x, y in drawn)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("k" * 55, "k" * 53 + "…"),
        ("種" * 28, "種" * 26 + "…"),
        ("a\u202eb\x00", "a\\u202eb\\u0000"),
    ],
)
def test_names_are_cut_to_their_room_and_hide_nothing(name: str, shown: str) -> None:
    assert texts(parsed(bars({name: {"x": 1.0}})))[0] == shown


@given(st.floats(1e-8, 1e9))
def test_ticks_are_even_and_end_at_or_above_the_longest_bar(most: float) -> None:
    svg = parsed(plots.bars({"a": {"x": most}}, name="n", title="t", write=str))
    (bar,) = svg.iter(f"{SVG}rect")
    ticks = sorted({float(line.get("x1", "")) for line in svg.iter(f"{SVG}line")})
    steps = [after - before for before, after in pairwise(ticks)]
    assert 2 <= len(steps) <= 5
    assert max(steps) - min(steps) <= 0.2
    assert ticks[-2] <= float(bar.get("x", "")) + float(bar.get("width", "")) <= ticks[-1] + 0.1


COUNTS = {
    *("questions", "answerable", "unanswerable", "unlabelled", "failed", "answered", "refused")
}


def test_every_figure_that_is_measured_has_a_meaning() -> None:
    assert set(wording.MEANINGS) == {*BY_QUESTION, *OVER_RUN} - COUNTS


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (Locator(7, 9), "lines 7–9"),
        (Locator(7, 9, page_start=3, page_end=3), "page 3"),
        (Locator(7, 9, page_start=3), "page 3"),
        (Locator(7, 9, page_start=1, page_end=1, row_start=2, row_end=9), "rows 2–9"),
        (Locator(7, 9, time_start=65.9, time_end=108), "01:05–01:48"),
        (Locator(7, 9, time_start=3725, time_end=3730), "01:02:05–01:02:10"),
        (ExpectedPlace("a.vtt", time=(0, 90.5)), "00:00–01:30"),
        (ExpectedPlace("a.md"), ""),
    ],
)
def test_a_place_is_told_as_people_look_it_up(place: Locator | ExpectedPlace, words: str) -> None:
    assert wording.where(place) == words


def test_what_is_expected_is_told_without_saying_a_document_twice() -> None:
    case = Case(
        question="q",
        documents={"a.md": 1, "b.md": 1},
        places=(ExpectedPlace("a.md", lines=(1, 4)), ExpectedPlace("c.md")),
        chunks=(ChunkId("0123456789abcdef"),),
        terms=("buoy", "ten minutes"),
    )
    assert list(wording.expected(case)) == [
        "a.md, lines 1–4",
        "c.md",
        "chunk 0123456789ab",
        "b.md",
        "the words “buoy”, “ten minutes”",
    ]


@pytest.mark.parametrize(
    ("name", "before", "after", "p_value", "told"),
    [
        ("ndcg@10", 0.5, 0.75, 0.01, ("+0.250", "0.010", "better")),
        ("ndcg@10", 0.75, 0.5, 0.0001, ("−0.250", "< 0.001", "worse")),
        ("ndcg@10", 0.5, 0.75, 0.05, ("+0.250", "0.050", "same")),
        ("ndcg@10", 0.5, 0.49999, 0.3, ("0.000", "0.300", "same")),
        ("context_tokens", 4000, 2500, 0.01, ("−1,500", "0.010", "better")),
        ("mrr", math.nan, 0.5, math.nan, ("–", "–", "same")),
    ],
)
def test_a_change_is_told_with_its_sign_its_chance_and_its_meaning(
    name: str, before: float, after: float, p_value: float, told: tuple[str, str, str]
) -> None:
    change = FigureChange(name, before, after, p_value, questions=9)
    written = (wording.difference(change), wording.p_value(change), wording.verdict(change))
    assert written == told


def test_the_headline_figures_are_those_of_all_questions() -> None:
    halves = (result(figures={"ndcg@10": 1.0}), result(figures={"ndcg@10": 0.25}))
    numbers = page(run(*halves)).find_class("number")
    assert [told(number) for number in numbers] == ["0.625", "2.0"]


def test_of_many_kinds_those_with_most_questions_are_told() -> None:
    kinds = [f"kind {number:02}" for number in range(13)]
    asked = [Case(question=f"{kind}?", kind=kind, documents={"a.md": 1}) for kind in kinds]
    results = [result(case=case) for case in [*asked, asked[-1]]]
    whole = page(run(*results))
    (table,) = whole.get_element_by_id("figures").iter("table")
    head = told(next(table.iter("tr")))
    assert "kind 12" in head
    assert "kind 11" not in head
    assert "The kinds with most questions, of 13." in part(whole, "figures")
    assert "of 12." not in part(page(run(*results[:12])), "figures")


def test_a_run_that_refused_everything_answered_nothing() -> None:
    asked = [result(confidence=0.9, abstained=True), unanswerable(abstained=True)]
    refused = [result(f"{number}?", found=(), abstained=True) for number in range(2)]
    text = part(page(run(*asked, *refused)), "plots")
    assert "This run answered 0 % of the questions. " in text
    assert "Marked" not in text


def test_a_failed_search_says_why_and_is_no_bad_question() -> None:
    broken = result("broken?", error="the service does not answer", figures={"ndcg@10": 0.0})
    whole = page(run(broken))
    assert questions(whole, "failed") == ["broken?"]
    assert "the service does not answer" in part(whole, "failed")
    assert "worst" not in sections(whole)


def test_text_of_other_scripts_stays_as_it_is_and_keeps_to_itself() -> None:
    asked = ["ブイはどのくらいの頻度で?", "كم مرة ترسل العوامة؟", "می\u200cخواهم بدانم"]
    results = [result(question, figures={"ndcg@10": 0.0}) for question in asked]
    whole = page(run(*results))
    assert questions(whole, "worst") == sorted(asked)
    assert {one.tag for one in whole.find_class("question")} == {"bdi"}


def test_a_plot_tells_its_numbers_to_those_who_do_not_see_it() -> None:
    svg = parsed(bars({"content": {"hit@1": 0.5, "hit@3": 0.75}, "<i>": {"hit@1": 1.0}}))
    by_id = {one.get("id"): one.text for one in svg.iter() if one.get("id")}
    assert svg.get("role") == "img"
    assert by_id[svg.get("aria-labelledby")] == "Quality"
    told = "content: hit@1 0.50, hit@3 0.75; <i>: hit@1 1.00"
    assert by_id[svg.get("aria-describedby")] == told


def test_a_bar_is_as_long_as_its_value() -> None:
    svg = parsed(bars({"a": {"x": 10.0, "y": 20.0}, "b": {"x": 0.0, "y": -3.0}}))
    lengths = [float(bar.get("width", "")) for bar in svg.iter(f"{SVG}rect")]
    assert lengths[1] == pytest.approx(2 * lengths[0]) != 0
    assert lengths[2:] == [0, 0]


def test_grades_are_told_where_they_differ() -> None:
    case = Case(question="q", documents={"a.md": 2, "b.md": 1})
    assert list(wording.expected(case)) == ["a.md (relevance 2)", "b.md (relevance 1)"]
