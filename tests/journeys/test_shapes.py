"""One library in the shapes that programs ask for: passages, documents, contexts."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from pincite import Filters, Library, SearchSettings, open_library
from pincite.engine.eval_wishes import EvalWishes
from pincite.errors import IndexOutdated, ModelUnavailable, SearchCancelled, SettingsError
from pincite.models.hashing import HashingEmbedder
from pincite.records import Case

SENTENCE = "The pump of the north basin leaks at its seal when the water is cold."


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    sections = "\n\n".join(
        f"## Part {n}\n\n" + f"{SENTENCE} This is remark {n}. " * 30 for n in range(4)
    )
    (tmp_path / "pumps.md").write_text(f"# Pumps\n\n{sections}\n")
    (tmp_path / "seal.txt").write_text("A seal is a ring of rubber.\n")
    with open_library(tmp_path) as opened:
        opened.index(model="hashing")
        yield opened


def test_passages_are_verbatim_slices_that_keep_their_chunks(library: Library) -> None:
    found = library.retrieve_chunks("why does the pump leak?")
    assert found.reason is None
    text = (library.root / "pumps.md").read_text()
    for one in found.passages:
        if one.document.path == "pumps.md":
            assert text[one.start : one.end] == one.text
    assert sum(len(one.chunks) for one in found.passages) <= 8


def test_a_passage_can_be_asked_of_some_documents_only(library: Library) -> None:
    found = library.retrieve_chunks("seal", k=3, filters=Filters(types=("txt",)))
    assert {one.document.path for one in found.passages} == {"seal.txt"}


def test_documents_come_with_so_many_of_their_chunks(library: Library) -> None:
    found = library.search_documents("pump seal", chunks_each=2)
    assert {one.document.path for one in found.documents} == {"pumps.md", "seal.txt"}
    assert all(1 <= len(one.results) <= 2 for one in found.documents)
    with pytest.raises(SettingsError, match="chunks_each"):
        library.search_documents("pump", chunks_each=0)


def test_a_context_keeps_to_the_callers_own_tokens(library: Library) -> None:
    def count(text: str) -> int:
        return len(text.split())

    context = library.get_relevant_context("pump seal", budget=90, count_tokens=count)
    assert context.tokens == count(context.text) <= 90
    assert context.passages
    with pytest.raises(SettingsError, match="budget"):
        library.get_relevant_context("pump", budget=0)


def test_an_index_of_another_model_is_a_reason_and_not_an_empty_answer(library: Library) -> None:
    index = library.root / ".index" / "index.db"
    connection = apsw.Connection(str(index))
    connection.execute(
        "UPDATE meta SET value = json_set(value, '$.model.fingerprint', 'another') "
        "WHERE key = 'header'"
    )
    connection.close()
    found = library.retrieve_chunks("pump")
    assert (found.passages, found.reason) == ((), "model_mismatch")
    assert "pincite reindex" in found.message
    assert library.retrieve_chunks("pump", mode="words").reason is None


def test_an_index_that_cannot_be_used_gives_an_empty_context_and_a_line_in_the_log(
    library: Library, caplog: pytest.LogCaptureFixture
) -> None:
    library.close()
    (library.root / ".index" / "index.db").write_bytes(b"no database" * 1_000)
    with caplog.at_level(logging.ERROR):
        context = library.get_relevant_context("pump")
    assert (context.text, context.reason) == ("", "error")
    assert context.message
    assert "nothing could be retrieved" in caplog.text


def test_wrong_settings_are_errors_here_too(library: Library) -> None:
    with pytest.raises(SettingsError):
        library.retrieve_chunks("pump", k=0)
    with pytest.raises(SettingsError):
        library.retrieve_chunks("pump", settings=SearchSettings(near_identical=2))


def test_a_question_asked_again_is_remembered_until_the_library_changes(library: Library) -> None:
    first = library.search("pump seal")
    again = library.search("pump seal")
    assert again.results == first.results
    assert "vector" in first.seconds
    assert "vector" not in again.seconds
    assert "vector" in library.search("pump seal", filters=Filters(types=("txt",))).seconds
    assert "vector" in library.search("pump seal", settings=SearchSettings(top_k=3)).seconds
    case = Case(question="pump seal", documents={"seal.txt": 1})
    for result in library.evaluation.run([case, case], EvalWishes()).results:
        assert "vector" in result.seconds  # what is measured is a search
    (library.root / "new.txt").write_text("A pump seal, the newest of all pump seals.\n")
    library.index()
    changed = library.search("pump seal")
    assert "new.txt" in {result.document.path for result in changed.results}


def test_a_file_that_changed_is_told_of_remembered_results_too(library: Library) -> None:
    assert library.search("rubber ring").changed == ()
    (library.root / "seal.txt").write_text("Something else.\n")
    assert library.search("rubber ring").changed == ("seal.txt",)


@pytest.mark.parametrize("stages", range(5))
def test_a_search_stops_between_two_stages_when_nobody_wants_it_any_more(
    library: Library, stages: int
) -> None:
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked > stages

    with pytest.raises(SearchCancelled, match="cancelled after its stage"):
        library.search("pump seal", cancelled=cancelled)
    assert asked == stages + 1
    assert library.search("pump seal").results


def test_a_repaired_index_is_asked_anew(library: Library) -> None:
    connection = apsw.Connection(str(library.root / ".index" / "index.db"))
    connection.execute("DELETE FROM chunk_words")
    connection.execute("DELETE FROM meta WHERE key = 'segments'")
    connection.close()
    assert library.search("pump", mode="words").results == ()
    assert library.verify(repair=True)
    assert library.search("pump", mode="words").results


def test_a_callers_own_failure_is_not_taken_for_damage(library: Library) -> None:
    def failing() -> bool:
        raise KeyError("whatever")

    with pytest.raises(SearchCancelled, match="KeyError"):
        library.search("pump", cancelled=failing)


def test_a_tokenizer_that_is_not_there_is_a_reason(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(_self: object, _text: str) -> list[int]:
        raise ModelUnavailable("the worker is gone")

    monkeypatch.setattr(HashingEmbedder, "token_starts", gone)
    context = library.get_relevant_context("pump")
    assert (context.text, context.reason) == ("", "error")


def test_labels_are_not_asked_of_an_index_that_never_read_them(library: Library) -> None:
    connection = apsw.Connection(str(library.root / ".index" / "index.db"))
    connection.execute(
        "UPDATE meta SET value = json_set(value, '$.ingestion_version', 2) WHERE key = 'header'"
    )
    connection.close()
    for filters in (Filters(clearance="internal"), Filters(where="not project = x")):
        with pytest.raises(IndexOutdated, match="pincite index update"):
            library.search("pump", filters=filters)
    assert library.search("pump", filters=Filters(types=("md",))).results


def test_what_should_be_known_of_the_results_is_told_in_every_shape(library: Library) -> None:
    (library.root / "seal.txt").write_text("Something else.\n")
    question = "rubber rign"
    told = library.search(question).asides
    assert told.changed == ("seal.txt",)
    assert told.notes
    assert library.search_documents(question).asides == told
    assert library.retrieve_chunks(question, settings=SearchSettings()).asides == told
    assert library.get_relevant_context(question).asides == told
