"""The sample library with the real model: labelled questions find their documents."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import apsw
import pytest
import sqlite_vec
from click.testing import CliRunner, Result

from pincite import Answer, Library, SearchSettings
from pincite.engine.eval_wishes import EvalWishes
from pincite.entrypoints.cli.evaluate import EXIT_BELOW_FLOOR
from pincite.entrypoints.cli.main import cli
from pincite.evals.gate import check, parse_floors
from pincite.records import KINDS, Case, EvalRun, Mode

HERE = Path(__file__).parent
ROOT = HERE.parent.parent

# A little below what was measured when they were set, as those in floors.json are. A change that
# raises a figure raises its floor in the same commit.
FLOORS = parse_floors((HERE / "floors.json").read_text())
FOUND_FLOOR = 0.9  # of the golden and the hard questions together

# Kinds whose text is the file's own, character by character.
VERBATIM = frozenset((".md", ".txt", ".rst", ".org", ".py", ".ts", ".go", ".rs", ".java", ".cpp"))


@pytest.fixture(scope="module")
def run(library: Library, golden: tuple[Case, ...]) -> EvalRun:
    return library.evaluation.run(golden, EvalWishes())


def share_found(library: Library, cases: tuple[Case, ...], mode: Mode) -> float:
    """Of the questions that have an answer, those with its document among the first three."""
    return library.evaluation.run(cases, EvalWishes(mode=mode)).figures["all"]["hit@3"]


def test_everything_that_is_expected_exists(
    library: Library, golden: tuple[Case, ...], hard: tuple[Case, ...]
) -> None:
    assert library.evaluation.out_of_reach([*golden, *hard]) == []


def test_there_are_golden_questions_of_every_kind(golden: tuple[Case, ...]) -> None:
    answerable = Counter(case.kind for case in golden if not case.unanswerable)
    assert answerable.total() >= 120
    assert set(answerable) == set(KINDS)
    assert sum(case.unanswerable for case in golden) >= 20


def test_every_golden_document_is_among_the_first_three(run: EvalRun) -> None:
    missed = [one.case.question for one in run.results if one.figures.get("hit@3") == 0.0]
    assert missed == []


def test_no_figure_is_below_its_floor(run: EvalRun) -> None:
    assert [one for one in check(run, FLOORS) if not one.holds] == []


def test_hybrid_finds_golden_and_hard_questions_better_than_meaning_alone(
    library: Library, golden: tuple[Case, ...], hard: tuple[Case, ...]
) -> None:
    hybrid = share_found(library, (*golden, *hard), "hybrid")
    assert hybrid >= FOUND_FLOOR
    assert hybrid > share_found(library, (*golden, *hard), "vector")


def test_the_answers_in_the_readme_are_what_ask_prints(library: Library) -> None:
    readme = (ROOT / "README.md").read_text()
    shown = re.findall(
        r'\$ pincite ask (--claims 1 )?"(.*?)"\n(.*?)(?=\n\$|\n```)', readme, re.DOTALL
    )
    assert len(shown) == 4
    for one_claim, question, printed in shown:
        options = ["--claims", "1"] if one_claim else []
        asked = CliRunner().invoke(cli, ["ask", "-l", str(library.root), *options, question])
        assert asked.stdout.rstrip("\n") == printed
        assert asked.exit_code == (0 if one_claim else 11)


def test_answers_hold_their_floors_and_every_citation_stands_at_its_place(
    library: Library, golden: tuple[Case, ...]
) -> None:
    """The floors are a little below what `benchmarks/answers.py` gives for these questions."""
    told = [(case, library.ask(case.question, filters=case.filters)) for case in golden[::3]]
    answered = [(case, one) for case, one in told if isinstance(one, Answer)]
    right = 0
    for case, answer in answered:
        cited = [one for claim in answer.claims for one in claim.citations]
        for one in cited:
            text = library.show(one.chunk_id, around=0).document.text
            assert text[one.start : one.end] == one.quote
        said = " ".join(" ".join((one.lead, one.quote, one.citation)) for one in cited)
        right += all(term in " ".join(said.split()) for term in case.terms)
    answerable = sum(not case.unanswerable for case, _ in told)
    wrongly = sum(case.unanswerable for case, _ in answered)
    assert len(answered) - wrongly >= 0.6 * answerable
    assert right >= 0.65 * len(answered)
    assert wrongly <= 0.25 * (len(told) - answerable)


def test_every_result_is_cited_to_lines_that_hold_its_words(
    library: Library, golden: tuple[Case, ...]
) -> None:
    for case in golden[::10]:
        for result in library.search(case.question).results:
            place = library.show(result.chunk.id, around=0)
            assert result.chunk.text in "\n".join(place.lines)
            text = place.document.text
            assert text[result.quote.start : result.quote.end] == result.quote.text
            file = library.root / result.document.path
            assert file.suffix not in VERBATIM or file.read_text() == text


# Planted faults, each of which the questions must catch

# A constant of 0 lets the first of one search outvote whatever both agree on; a chunk that a search
# did not find at all counts as if it had been its best. (A constant that is far too large does
# little harm: ranks are then summed up, nearly.)
BROKEN_FUSIONS = (
    SearchSettings(fusion="ranks", rrf_k=0),
    SearchSettings(fusion="ranks", absent_rank=1),
)


@pytest.fixture
def shuffled(library: Library, tmp_path: Path) -> Path:
    """A copy of the library whose words and vectors each belong to the next chunk."""
    folder = tmp_path / "library"
    shutil.copytree(library.root, folder)
    database = apsw.Connection(str(folder / ".index" / "index.db"))
    database.enable_load_extension(True)
    database.load_extension(sqlite_vec.loadable_path())
    ids = [row[0] for row in database.execute("SELECT rowid FROM chunk ORDER BY rowid")]
    after = dict(zip(ids, [*ids[1:], ids[0]], strict=True))
    words = database.execute(
        "SELECT rowid, text, about, headings, codes FROM chunk_words"
    ).fetchall()
    with database:
        for window, chunk in database.execute("SELECT rowid, chunk FROM window").fetchall():
            database.execute("UPDATE window SET chunk = ? WHERE rowid = ?", (after[chunk], window))
        database.execute("DELETE FROM chunk_words")
        for rowid, *columns in words:
            database.execute(
                "INSERT INTO chunk_words (rowid, text, about, headings, codes) "
                "VALUES (?, ?, ?, ?, ?)",
                (after[rowid], *columns),
            )
        database.execute("DELETE FROM meta WHERE key = 'segments'")  # made of what was there
    database.close()
    return folder


@pytest.mark.parametrize("settings", BROKEN_FUSIONS)
def test_broken_fusion_falls_below_the_floors(
    library: Library, golden: tuple[Case, ...], settings: SearchSettings
) -> None:
    run = library.evaluation.run(golden, EvalWishes(settings=settings))
    assert "hit@3" in {one.figure for one in check(run, FLOORS) if not one.holds}


def test_the_gate_stops_a_search_without_words(library: Library) -> None:
    result = _gate(library.root, "--set", "words_weight=0")
    assert result.exit_code == EXIT_BELOW_FLOOR
    assert "hit@3" in _below(result)


def test_the_gate_stops_shuffled_chunks(shuffled: Path) -> None:
    result = _gate(shuffled)
    assert result.exit_code == EXIT_BELOW_FLOOR
    assert {"ndcg@10", "hit@3", "place_hit@3", "terms@10"} <= _below(result)


def _below(result: Result) -> set[str]:
    return {one["figure"] for one in json.loads(result.stdout)["floors"] if not one["holds"]}


def _gate(folder: Path, *options: str) -> Result:
    floors = HERE / "floors.json"
    questions = HERE / "questions.jsonl"
    command = ["eval", "gate", questions, "--floors", floors, "-l", folder, "--json", *options]
    return CliRunner().invoke(cli, [str(part) for part in command])
