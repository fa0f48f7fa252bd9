"""What would pass unseen without golden questions: each planted fault must be caught by them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import apsw
import pytest
import sqlite_vec
from click.testing import CliRunner, Result

from pincite import Library, SearchSettings
from pincite.engine.eval_wishes import EvalWishes
from pincite.entrypoints.cli.evaluate import EXIT_BELOW_FLOOR
from pincite.entrypoints.cli.main import cli
from pincite.evals.gate import check, parse_floors
from pincite.records import Case

HERE = Path(__file__).parent
FLOORS = parse_floors((HERE / "floors.json").read_text())

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
