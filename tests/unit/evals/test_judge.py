from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import assume, given, strategies as st

from pincite.evals.judge import BY_QUESTION, judged, overlaps
from pincite.records import (
    Case,
    CaseResult,
    ChunkId,
    ExpectedPlace,
    Found,
    Locator,
    Told,
    ToldCitation,
    ToldClaim,
)

RANKING = BY_QUESTION[:8]
NOWHERE = Locator(1, 1)


def found(
    document: str = "a.md",
    chunk: str = "c",
    locator: Locator = NOWHERE,
    cited: Locator | None = None,
    similarity: float | None = None,
) -> Found:
    return Found(
        document=document,
        chunk=ChunkId(chunk),
        score=1.0,
        locator=locator,
        cited=cited or locator,
        quote="",
        tokens=7,
        similarity=similarity,
    )


def ranked(*documents: str) -> tuple[Found, ...]:
    return tuple(map(found, documents))


def figures(
    case: Case, *results: Found, texts: Sequence[str] | None = None, error: str = ""
) -> Mapping[str, float]:
    result = CaseResult(case=case, found=results, error=error)
    (judgement,) = judged([result], [texts if texts is not None else [""] * len(results)])
    return judgement.figures


def expecting(**grades: int) -> Case:
    return Case(question="?", documents=grades)


def at(**ranges: tuple[float, float]) -> ExpectedPlace:
    return ExpectedPlace("a.md", **ranges)  # type: ignore[arg-type]  # whichever range is given


def test_ranking_figures_are_those_computed_by_hand() -> None:
    given_figures = figures(expecting(b=1, d=1, z=1), *ranked("a", "b", "c", "d"))
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert {name: given_figures[name] for name in RANKING} == pytest.approx(
        {
            "ndcg@10": (1 / math.log2(3) + 1 / math.log2(5)) / ideal,
            "recall@3": 1 / 3,
            "recall@10": 2 / 3,
            "mrr": 1 / 2,
            "precision@3": 1 / 3,
            "hit@1": 0.0,
            "hit@3": 1.0,
            "hit@10": 1.0,
        }
    )


def test_ndcg_weighs_documents_by_their_grade() -> None:
    swapped = (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
    case = expecting(good=1, best=3)
    assert figures(case, *ranked("best", "good"))["ndcg@10"] == pytest.approx(1.0)
    assert figures(case, *ranked("good", "best"))["ndcg@10"] == pytest.approx(swapped)


def test_only_the_first_ten_documents_count() -> None:
    given_figures = figures(expecting(z=1), *ranked(*"abcdefghijz"))
    assert [given_figures[name] for name in ("ndcg@10", "hit@10", "recall@10")] == [0, 0, 0]
    assert given_figures["mrr"] == pytest.approx(1 / 11)


@pytest.mark.parametrize("error", ["", "the model does not answer"])
def test_a_question_for_which_nothing_is_found_scores_0_also_beside_others(error: str) -> None:
    case = Case(question="?", documents={"a": 1}, places=(ExpectedPlace("a"),), terms=("x",))
    nothing = CaseResult(case=case, error=error)
    something = CaseResult(case=expecting(a=1), found=ranked("a"))
    for results in ([nothing], [nothing, something], [something, nothing]):
        texts = [[""] * len(result.found) for result in results]
        scored = judged(results, texts)[results.index(nothing)].figures
        assert {name: scored[name] for name in BY_QUESTION[:14]} == dict.fromkeys(
            BY_QUESTION[:14], 0.0
        )
        assert "similarity" not in scored


def test_a_failed_search_has_no_context_and_an_empty_one_has_none_in_it() -> None:
    assert figures(expecting(a=1))["context_tokens"] == 0
    assert "context_tokens" not in figures(expecting(a=1), error="no answer")


def test_figures_that_do_not_apply_are_absent() -> None:
    bare = Case(question="?")
    assert set(figures(bare, *ranked("a"))) == {"context_tokens"}
    unanswerable = Case(
        question="?",
        unanswerable=True,
        documents={"a": 1},
        places=(ExpectedPlace("a"),),
        terms=("x",),
    )
    assert set(figures(unanswerable, *ranked("a"))) == {"context_tokens"}
    by_chunk = Case(question="?", chunks=(ChunkId("c"),))
    assert set(figures(by_chunk, found())).isdisjoint(RANKING)


def test_without_documents_those_of_the_places_are_expected() -> None:
    places = (ExpectedPlace("b", lines=(1, 2)), ExpectedPlace("b", lines=(9, 9)))
    given_figures = figures(Case(question="?", places=places), *ranked("a", "b"))
    assert given_figures["mrr"] == pytest.approx(1 / 2)
    assert given_figures["recall@3"] == 1


@pytest.mark.parametrize(
    ("place", "locator", "together"),
    [
        (at(lines=(5, 9)), Locator(9, 20), True),
        (at(pages=(2, 3)), Locator(1, 99, page_start=3, page_end=4), True),
        (at(pages=(2, 3)), Locator(1, 99, page_start=4, page_end=4), False),
        (at(pages=(2, 3)), Locator(2, 3), False),
        (at(rows=(7, 7)), Locator(1, 99, row_start=1, row_end=7), True),
        (at(time=(10.0, 20.0)), Locator(1, 1, time_start=19.5, time_end=30.0), True),
        (at(time=(10.0, 20.0)), Locator(1, 1, time_start=20.0, time_end=30.0), False),
        (at(time=(20.0, 20.0)), Locator(1, 1, time_start=20.0, time_end=30.0), True),
        (at(time=(10.0, 20.0)), Locator(1, 1, time_start=15.0), True),
        (at(time=(10.0, 20.0)), Locator(10, 20), False),
        (at(), Locator(3, 4), True),
    ],
)
def test_a_place_overlaps_what_has_some_of_its_range(
    place: ExpectedPlace, locator: Locator, together: bool
) -> None:
    assert overlaps(place, "a.md", locator) is together
    assert not overlaps(place, "b.md", locator)


seconds = st.floats(0, 100, allow_nan=False)
stretches = st.tuples(seconds, seconds).map(lambda ends: (min(ends), max(ends)))


@given(stretches, stretches)
def test_overlapping_in_time_is_mutual(
    one: tuple[float, float], other: tuple[float, float]
) -> None:
    def meets(expected: tuple[float, float], start: float, end: float) -> bool:
        return overlaps(at(time=expected), "a.md", Locator(1, 1, time_start=start, time_end=end))

    assert meets(one, *other) == meets(other, *one)
    assert meets(one, *one)


@given(st.integers(1, 30), st.integers(0, 9), st.integers(1, 30), st.integers(0, 9))
def test_lines_overlap_where_they_have_a_line_in_common(
    start: int, more: int, other: int, longer: int
) -> None:
    common = set(range(start, start + more + 1)) & set(range(other, other + longer + 1))
    place = at(lines=(start, start + more))
    assert overlaps(place, "a.md", Locator(other, other + longer)) is bool(common)


def test_a_place_is_hit_by_a_chunk_that_overlaps_it_or_was_expected() -> None:
    case = Case(question="?", places=(at(lines=(5, 9)),), chunks=(ChunkId("right"),))
    elsewhere = found(locator=Locator(20, 30))
    for right in (found(locator=Locator(9, 12)), found(chunk="right", locator=Locator(40, 50))):
        hits = figures(case, elsewhere, elsewhere, right)
        assert [hits[f"place_hit@{first}"] for first in (1, 3, 10)] == [0, 1, 1]
        assert figures(case, right)["place_hit@1"] == 1
        assert figures(case, *[elsewhere] * 10, right)["place_hit@10"] == 0


def test_citations_are_judged_by_the_sentences_they_quote() -> None:
    places = (at(lines=(5, 9)), at(lines=(50, 50)))
    chunk = Locator(1, 60)
    quoting = [found(locator=chunk, cited=Locator(line, line)) for line in (5, 8, 30, 50)]
    cited = figures(Case(question="?", places=places), *quoting)
    assert cited["citation_precision@3"] == pytest.approx(2 / 3)
    assert cited["citation_recall@3"] == pytest.approx(1 / 2)
    assert cited["place_hit@1"] == 1
    lonely = figures(Case(question="?", places=places), quoting[0])
    assert lonely["citation_precision@3"] == 1


def test_where_only_chunks_are_expected_their_sentences_are_right() -> None:
    case = Case(question="?", chunks=(ChunkId("x"), ChunkId("y"), ChunkId("z")))
    cited = figures(case, found(chunk="x"), found(chunk="other"), found(chunk="y"))
    assert cited["citation_precision@3"] == pytest.approx(2 / 3)
    assert cited["citation_recall@3"] == pytest.approx(2 / 3)
    with_place = Case(question="?", chunks=case.chunks, places=(at(lines=(9, 9)),))
    assert figures(with_place, found(chunk="x"))["citation_precision@3"] == 0


def test_terms_are_found_whatever_their_case_and_line_breaks() -> None:
    case = Case(question="?", terms=("Tide  Gauge", "STRASSE", "missing", "split here"))
    texts = ["the tide\ngauge in the Straße", "ends with split", "here it goes on"]
    assert figures(case, *ranked("a", "a", "a"), texts=texts)["terms@10"] == pytest.approx(1 / 2)


@pytest.mark.parametrize(
    ("term", "text", "stands_there"),
    [
        ("art", "Error 404 in the party room", False),
        ("art", "the start of modern art", True),
        ("C++", "written in C++20", True),
        (".NET", "ASP.NET", True),
        ("été", "la societé", False),
        ("潮位", "検潮所で潮位を測る", True),
        ("python", "使用Python编程", True),
    ],
)
def test_a_term_is_not_found_inside_of_words_unless_they_are_written_without_spaces(
    term: str, text: str, stands_there: bool
) -> None:
    case = Case(question="?", terms=(term,))
    assert figures(case, found(), texts=[text])["terms@10"] == stands_there


DOCUMENTS = [f"{name}.md" for name in "abcdefghijkl"]
rankings = st.lists(st.sampled_from(DOCUMENTS), max_size=12, unique=True)
grades = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(1, 3), min_size=1)


@given(rankings, grades, st.data())
def test_moving_a_relevant_document_up_never_lowers_ndcg(
    ranking: list[str], expected: dict[str, int], data: st.DataObject
) -> None:
    movable = [
        place
        for place in range(1, len(ranking))
        if expected.get(ranking[place], 0) > expected.get(ranking[place - 1], 0)
    ]
    assume(movable)
    place = data.draw(st.sampled_from(movable))
    moved = ranking.copy()
    moved[place - 1], moved[place] = moved[place], moved[place - 1]
    case = Case(question="?", documents=expected)
    before, after = (figures(case, *ranked(*one)) for one in (ranking, moved))
    for name in ("ndcg@10", "mrr", "recall@3", "precision@3", "hit@1"):
        assert after[name] >= before[name]


@given(rankings, grades, st.permutations(DOCUMENTS))
def test_figures_do_not_depend_on_how_documents_are_called(
    ranking: list[str], expected: dict[str, int], names: list[str]
) -> None:
    renamed = dict(zip(DOCUMENTS, names, strict=True))
    other = Case(question="?", documents={renamed[path]: n for path, n in expected.items()})
    case = Case(question="?", documents=expected)
    called_otherwise = ranked(*(renamed[path] for path in ranking))
    assert figures(case, *ranked(*ranking)) == figures(other, *called_otherwise)


@given(st.lists(st.tuples(rankings, grades), max_size=5))
def test_questions_judged_together_get_what_each_gets_alone(
    asked: list[tuple[list[str], dict[str, int]]],
) -> None:
    results = [
        CaseResult(case=Case(question="?", documents=expected), found=ranked(*ranking))
        for ranking, expected in asked
    ]
    texts = [[""] * len(result.found) for result in results]
    alone = tuple(judged([one], [its])[0] for one, its in zip(results, texts, strict=True))
    assert judged(results, texts) == alone
    assert all(0 <= one.figures[name] <= 1 for one in alone for name in RANKING)


@pytest.mark.parametrize("path", ["half a \udcff.md", "nul\0a", ""])
def test_any_path_can_be_judged(path: str) -> None:
    case = Case(question="?", documents={path: 1})
    assert figures(case, *ranked("nul\0b", path))["mrr"] == pytest.approx(1 / 2)


def test_terms_beyond_the_tenth_chunk_do_not_count() -> None:
    case = Case(question="?", terms=("x",))
    texts = ["nothing"] * 10 + ["x"]
    assert figures(case, *ranked(*"a" * 11), texts=texts)["terms@10"] == 0


def test_context_tokens_are_those_of_all_results() -> None:
    assert figures(Case(question="?"), *ranked("a", "a", "b"))["context_tokens"] == 21


def test_similarity_is_that_of_the_best_result_where_it_is_known() -> None:
    case = Case(question="?")
    best, other = found(similarity=0.25), found(similarity=0.75)
    assert figures(case, best, other)["similarity"] == 0.25
    assert "similarity" not in figures(case, found(), other)


def test_a_document_stands_where_its_best_result_stands() -> None:
    given_figures = figures(expecting(b=1), *ranked("a", "a", "b", "c", "a", "b"))
    assert given_figures["mrr"] == pytest.approx(1 / 2)
    assert given_figures["precision@3"] == pytest.approx(1 / 3)


def citing(line: int, document: str = "a.md", quote: str = "…", state: str = "quoted") -> ToldClaim:
    cited = ToldCitation(
        document=document,
        chunk=ChunkId(f"{document}:{line}"),
        locator=Locator(line, line),
        citation=f"{document}, line {line}",
        quote=quote,
        lead="Pump | Pressure",
    )
    return ToldClaim(quote, state, (cited,))  # type: ignore[arg-type]  # one of three


def of_answer(case: Case, *claims: ToldClaim, told: bool = True) -> Mapping[str, float]:
    result = CaseResult(case=case, told=Told(claims=claims) if told else None)
    (judgement,) = judged([result], [[]], asked=True)
    return {name: one for name, one in judgement.figures.items() if name.startswith("answer_")}


EXACT = Case(question="?", documents={"a.md": 1, "b.md": 1}, places=(at(lines=(3, 4)),))


def test_a_claim_is_cited_rightly_in_its_place_or_in_a_document_of_which_no_place_is_known() -> (
    None
):
    assert of_answer(EXACT, citing(3), citing(9), citing(9, "b.md"), citing(1, "c.md")) == {
        "answer_citation_precision": 0.5,
        "answer_citation_recall": 1.0,
    }
    by_chunk = Case(question="?", chunks=(ChunkId("a.md:9"),))
    assert of_answer(by_chunk, citing(9))["answer_citation_recall"] == 1.0
    assert of_answer(by_chunk, citing(3))["answer_citation_recall"] == 0.0


def test_a_refusal_and_a_failure_cite_nothing_and_hold_no_words() -> None:
    case = Case(question="?", documents={"a.md": 1}, terms=("4.5 bar",))
    nothing = {"answer_terms": 0.0, "answer_citation_recall": 0.0}
    assert of_answer(case) == of_answer(case, told=False) == nothing
    assert of_answer(Case(question="?", unanswerable=True), citing(3)) == {}
    assert of_answer(Case(question="?"), citing(3)) == {}


@pytest.mark.parametrize(
    ("terms", "holds"),
    [
        (("4.5 Bar",), True),
        (("Pressure", "4.5 bar"), True),  # what is shown before the quote
        (("line 3",), True),  # where it stands
        (("4.5 bar", "weekly"), False),
        (("ar",), False),  # whole words
    ],
)
def test_an_answer_holds_the_expected_words_or_not(terms: tuple[str, ...], holds: bool) -> None:
    told = of_answer(Case(question="?", terms=terms), citing(3, quote="It runs at 4.5\nbar."))
    assert told == {"answer_terms": float(holds)}


def test_what_is_not_supported_is_no_claim() -> None:
    case = Case(question="?", documents={"a.md": 1}, terms=("4.5 bar",))
    figures_of = of_answer(case, citing(3, quote="4.5 bar", state="unsupported"))
    assert figures_of == {"answer_terms": 0.0, "answer_citation_recall": 0.0}
