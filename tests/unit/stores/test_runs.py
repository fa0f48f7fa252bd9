"""Eval runs on disk: kept whole, found by name, never half written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from eval_runs import eval_run
from pincite.errors import RunNotFound, StoreDamaged, StoreReadOnly
from pincite.records import (
    Case,
    CaseResult,
    ChunkId,
    EvalRun,
    ExpectedPlace,
    Filters,
    Found,
    Locator,
    Told,
    ToldCitation,
    ToldClaim,
)
from pincite.stores.runs import RunFolder

CASE = Case(
    question="Wo ist der Schlüssel? 鍵",
    kind="video_time",
    documents={"a.vtt": 2},
    places=(ExpectedPlace("a.vtt", time=(1.5, 2.0)),),
    filters=Filters(tags=("x",)),
)
FOUND = Found(
    document="a.vtt",
    chunk=ChunkId("0" * 40),
    score=0.5,
    locator=Locator(1, 2, time_start=1.0, time_end=3.0),
    cited=Locator(1, 1),
    quote="Im Werkzeugkasten.",
    tokens=7,
    ranks={"words": 1},
)


def run(run_id: str, label: str = "") -> EvalRun:
    result = CaseResult(case=CASE, found=(FOUND,), confidence=0.4, figures={"ndcg@10": 1.0})
    figures, latency = {"all": {"ndcg@10": 1.0}}, {"total": {"p50": 0.01}}
    return eval_run(result, id=run_id, label=label, figures=figures, latency=latency)


@pytest.fixture
def runs(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path / "evals")


def test_a_run_comes_back_as_it_was_kept(runs: RunFolder) -> None:
    kept = run("20260101-000000-000001", label="first")
    runs.save(kept)
    assert runs.load(kept.id) == kept


def test_runs_are_found_by_id_beginning_label_and_age(runs: RunFolder) -> None:
    first, second = run("20260101-000000-000001", "base"), run("20260102-000000-000002", "base")
    third = run("20260103-000000-000003")
    for one in (second, third, first):
        runs.save(one)
    assert runs.ids() == [first.id, second.id, third.id]
    assert runs.load("20260102") == second
    assert runs.load("base") == second
    assert runs.load("last") == third
    assert runs.load("last~2") == first


@pytest.mark.parametrize("name", ["2026", "other", "last~3", "last~x", "../20260101"])
def test_a_name_that_fits_none_or_several_is_refused(runs: RunFolder, name: str) -> None:
    for number in range(3):
        runs.save(run(f"2026010{number}-000000-000001"))
    with pytest.raises(RunNotFound):
        runs.load(name)


def test_a_damaged_run_is_told_by_name_and_hides_no_other(runs: RunFolder, tmp_path: Path) -> None:
    kept = run("20260101-000000-000001")
    runs.save(kept)
    (tmp_path / "evals" / "20260102-000000-000002.json").write_text('{"id": 3}')
    with pytest.raises(StoreDamaged, match="000002"):
        runs.load("last")
    assert runs.heads() == [replace(kept, results=())]


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "evals").write_text("a file where the folder should be")
    with pytest.raises(StoreReadOnly, match="evals"):
        RunFolder(tmp_path / "evals").save(run("20260101-000000-000001"))
    with pytest.raises(StoreReadOnly, match="evals"):
        RunFolder(tmp_path / "evals").prepare()


def test_what_was_not_written_to_the_end_is_no_run(runs: RunFolder, tmp_path: Path) -> None:
    runs.save(run("20260101-000000-000001"))
    (tmp_path / "evals" / "20260102-000000-000002.part").write_text('{"id": ')
    assert runs.ids() == ["20260101-000000-000001"]


@pytest.mark.parametrize("said", ["../mine", "/{}/mine", "20260101-000000-000001"])
@pytest.mark.parametrize("name", ["last", "evil", "20260102-000000-000002"])
def test_a_run_that_is_not_what_its_file_is_called_is_never_written(
    runs: RunFolder, tmp_path: Path, name: str, said: str
) -> None:
    kept = run("20260101-000000-000001")
    runs.save(kept)
    (tmp_path / "mine.json").write_text("precious")
    planted = replace(kept, id=said.format(tmp_path))
    (tmp_path / "evals" / f"{name}.json").write_bytes(msgspec.json.encode(planted))

    assert [one.id for one in runs.heads()] == [kept.id]
    assert runs.forget(lambda path: path == "a.vtt", frozenset()) == 1

    assert (tmp_path / "mine.json").read_text() == "precious"
    assert [one.stem for one in (tmp_path / "evals").iterdir()] == [kept.id]
    assert runs.load("last").results == ()
    with pytest.raises(StoreDamaged, match="not the id of a run"):
        runs.save(replace(kept, id="../mine"))


def test_a_link_in_place_of_a_run_is_a_damaged_run(runs: RunFolder, tmp_path: Path) -> None:
    kept = run("20260101-000000-000001")
    runs.save(kept)
    (tmp_path / "mine.json").write_bytes(msgspec.json.encode(kept))
    (tmp_path / "evals" / "20260102-000000-000002.json").symlink_to(tmp_path / "mine.json")
    (tmp_path / "evals" / "20260103-000000-000003.json").mkdir()

    assert runs.heads() == [replace(kept, results=())]
    assert runs.forget(lambda _: False, frozenset()) == 0

    assert runs.ids() == [kept.id, "20260103-000000-000003"]
    assert (tmp_path / "mine.json").exists()


CITED = ToldCitation(
    document="a.vtt",
    chunk=ChunkId("0" * 40),
    locator=Locator(1, 1),
    citation="A talk, 00:01",
    quote="Im Werkzeugkasten.",
)
ELSEWHERE = replace(CITED, document="b.md", chunk=ChunkId("1" * 40), quote="Unter der Matte.")


def told_of(*citations: ToldCitation, writer: str = "", case: Case = CASE) -> CaseResult:
    claims = tuple(ToldClaim(one.quote, "quoted", (one,)) for one in citations)
    case = replace(case, documents={}, places=(), terms=("Schlüssel",))
    return CaseResult(case=case, told=Told(claims=claims, writer=writer))


def test_an_answer_comes_back_as_it_was_kept(runs: RunFolder) -> None:
    kept = eval_run(told_of(CITED), CaseResult(case=CASE, told=Told(reason="too_far")))
    kept = replace(kept, id="20260101-000000-000001")
    runs.save(kept)
    assert runs.load("last") == kept


def test_a_run_from_before_there_were_answers_can_be_read(runs: RunFolder, tmp_path: Path) -> None:
    kept = run("20260101-000000-000001")
    runs.save(kept)
    file = tmp_path / "evals" / f"{kept.id}.json"
    old = msgspec.json.decode(file.read_bytes())
    del old["results"][0]["told"], old["setup"]["asking"]
    file.write_bytes(msgspec.json.encode(old))
    assert runs.load("last") == kept
    assert len(runs.heads()) == 1


def test_answers_lose_what_they_say_out_of_a_forgotten_document(runs: RunFolder) -> None:
    by_model = told_of(ELSEWHERE, CITED, writer="some-model")
    kept = eval_run(told_of(CITED, ELSEWHERE), by_model, told_of(ELSEWHERE, writer="some-model"))
    runs.save(replace(kept, id="20260101-000000-000001"))

    assert runs.forget(lambda path: path == "a.vtt", frozenset()) == 1

    answers = [one.told for one in runs.load("last").results]
    quotes = [[claim.text for claim in one.claims] for one in answers if one]
    assert quotes == [["Unter der Matte."], [], ["Unter der Matte."]]
    assert all(one and one.is_answer for one in answers)


def test_a_question_out_of_the_log_goes_with_what_it_found(runs: RunFolder) -> None:
    asked = CaseResult(case=Case(question="Wo ist er?"), found=(FOUND,))
    other = CaseResult(case=Case(question="Was noch?"), found=(replace(FOUND, document="b.md"),))
    runs.save(replace(eval_run(asked, other), id="20260101-000000-000001"))
    assert runs.forget(lambda path: path == "a.vtt", frozenset()) == 1
    assert [one.case.question for one in runs.load("last").results] == ["Was noch?"]
