"""One library in the shapes that programs ask for: passages, documents, contexts."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, get_args

import apsw
import pytest

from model_service import Reply, healthy, running_service
from pincite import Filters, Library, ModelAccess, SearchSettings, open_library
from pincite.engine.eval_wishes import EvalWishes
from pincite.errors import (
    FilterError,
    IndexOutdated,
    LibraryClosed,
    ModelUnavailable,
    SearchCancelled,
    SettingsError,
)
from pincite.models.hashing import HashingEmbedder
from pincite.records import Case, Mode
from pincite.settings import Fusion

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


def test_chunks_that_are_left_out_come_neither_as_results_nor_as_their_neighbours(
    library: Library,
) -> None:
    every = library.get_relevant_context("pump seal", budget=4_000).passages
    ids = {one for passage in every for one in passage.chunk_ids}
    assert len(ids) > 1
    left_out = next(iter(ids))
    context = library.get_relevant_context("pump seal", budget=4_000, without=(left_out[:6],))
    assert {one for part in context.passages for one in part.chunk_ids} == ids - {left_out}
    none = library.get_relevant_context("pump seal", without=tuple(one[:6] for one in ids))
    assert (none.passages, none.reason) == ((), None)


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
    with caplog.at_level(logging.ERROR), open_library(library.root) as damaged:
        context = damaged.get_relevant_context("pump")
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
        raise ModelUnavailable("the service is gone")

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


@pytest.mark.parametrize("fusion", get_args(Fusion))
def test_a_result_tells_both_scores_and_what_their_ranks_come_to(
    library: Library, fusion: Fusion
) -> None:
    settings = SearchSettings(fusion=fusion, per_document=0, rrf_k=10)
    found = library.search("a ring of rubber", settings=settings)
    for result in found.results:
        shares = result.hit.shares
        assert result.score == result.hit.score
        assert result.vector_score == shares["vector"].score
        assert result.text_score == (shares["words"].score if "words" in shares else None)
        ranks = [shares[one].rank for one in ("words", "vector") if one in shares]
        assert result.rrf_score == pytest.approx(sum(1 / (10 + one) for one in ranks if one))
    assert found.results[0].rrf_score == pytest.approx(2 / 11)


def test_by_words_alone_there_is_no_score_of_meaning(library: Library) -> None:
    first, *_ = library.search("rubber", mode="words").results
    assert first.vector_score is None
    assert first.text_score is not None
    assert first.rrf_score == pytest.approx(1 / 61)


SHAPES: dict[str, Callable[..., Any]] = {
    "search": Library.search,
    "documents": Library.search_documents,
    "chunks": Library.retrieve_chunks,
    "context": Library.get_relevant_context,
}
every_shape = pytest.mark.parametrize("ask", SHAPES.values(), ids=SHAPES)


def test_where_nothing_may_be_seen_the_reason_is_the_same_in_every_mode_and_shape(
    library: Library,
) -> None:
    scopes: tuple[Any, ...] = ({"doc_ids": []}, Filters(types=("pdf",)), {"until": "1900"})
    questions = ("pump", '"pump"', "zebra")
    for ask, mode, question, scope in product(SHAPES.values(), get_args(Mode), questions, scopes):
        found = ask(library, question, mode=mode, filters=scope)
        assert found.reason == "filtered_out", (ask, mode, question, scope)


def test_an_answer_from_no_documents_says_that_nothing_may_be_looked_at(library: Library) -> None:
    told = library.ask("why does the pump leak?", filters={"doc_ids": []})
    assert told.outcome == "abstention"
    assert told.reason == "nothing_found"


def test_words_that_a_filter_holds_back_are_not_a_filter_that_leaves_nothing(
    library: Library,
) -> None:
    seen = Filters(types=("txt",))
    assert library.search("basin", mode="words", filters=seen).reason == "no_hits"


def test_a_letter_is_no_question_and_nobody_is_asked(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A b c: x is 7, é is not.\n")
    with running_service() as service:
        with open_library(tmp_path, models=ModelAccess(base_url=service.url)) as library:
            library.index(model="openai:m")
        asked = len(service.requests)
        with open_library(tmp_path, models=ModelAccess(base_url=service.url)) as library:
            for ask, question in product(SHAPES.values(), ("", " ", "?", "a", "x?", "7", "é")):
                assert ask(library, question).reason == "empty_question", (ask, question)
        assert len(service.requests) == asked


def test_a_word_may_be_as_short_as_its_language_allows(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("水 is ok in C# as a b.\n")
    with open_library(tmp_path) as library:
        library.index(model="hashing")
        for question in ("水", "C#", "ok", "a b"):
            assert library.search(question).results, question


@every_shape
def test_cancelling_does_not_wait_for_a_service(tmp_path: Path, ask: Callable[..., Any]) -> None:
    (tmp_path / "a.txt").write_text("The pump leaks.\n")
    with (
        running_service() as service,
        open_library(tmp_path, models=ModelAccess(base_url=service.url)) as library,
    ):
        library.index(model="openai:m")
        given_up = threading.Event()

        def silent(_: list[str]) -> Reply:
            given_up.set()
            return Reply({}, is_held=True)

        service.plays(silent, healthy)
        with pytest.raises(SearchCancelled, match="while it waited for a service"):
            ask(library, "why does the pump leak?", cancelled=given_up.is_set)
        assert not service.released.is_set()
        assert ask(library, "why does the pump leak?", cancelled=lambda: False).reason is None


def test_what_a_program_may_get_wrong_is_told(library: Library) -> None:
    assert len(library.search("pump", top_k=1).results) == 1
    assert len(library.search_documents("pump seal", top_k=1).documents) == 1
    for question in (None, b"pump", 7):
        with pytest.raises(SettingsError, match="the question must be a str"):
            library.search(question)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="top-k must be between 1 and 1000, not '3'"):
        library.search("pump", top_k="3")  # type: ignore[arg-type]
    with pytest.raises(FilterError, match="unknown filter 'kind'"):
        library.search("pump", filters={"kind": "pdf"})


def test_a_type_that_is_a_slip_of_the_pen_is_told_with_what_there_is(library: Library) -> None:
    said = r"unknown type 'pfd' \(did you mean pdf\?\); this library holds md, txt, and"
    for filters in ({"type": "pfd"}, {"where": "not type in (md, PFD)"}):
        with pytest.raises(FilterError, match=said):
            library.search("pump", filters=filters)
    for known in ("pdf", "docx", "png", "mp4", "audio", "image"):
        assert library.search("pump", filters={"type": known}).reason == "filtered_out"


def _asked(ask: Callable[..., Any], library: Library) -> object:
    return ask(library, "pump")


VERBS: dict[str, Callable[[Library], object]] = {
    **{f"{name} found": partial(_asked, ask) for name, ask in SHAPES.items()},
    "ask": lambda library: library.ask("pump"),
    "index": lambda library: library.index(),
    "reindex": lambda library: library.reindex(),
    "rollback": lambda library: library.rollback(),
    "generations": lambda library: library.generations.stats(),
    "catalog": lambda library: library.catalog(),
    "convert": lambda library: library.convert(),
    "evaluation": lambda library: library.evaluation,
    "verify": lambda library: library.verify(),
    "export_to": lambda library: library.export_to(library.root / "out.pincite"),
    "import_from": lambda library: library.import_from(library.root / "out.pincite"),
    "watch": lambda library: next(library.watch(threading.Event())),
    "show": lambda library: library.show("pumps.md:1"),
    "check": lambda library: library.check("[^1]: nothing"),
    "documents": lambda library: library.documents(),
    "stats": lambda library: library.stats(),
    "place": lambda library: library.place,
    "with": lambda library: library.__enter__(),
}


def test_nothing_can_be_done_with_a_library_that_was_closed(library: Library) -> None:
    library.verify()
    assert library.search("pump").results  # what the library closes itself, it opens again
    library.close()
    library.close()
    for verb in VERBS.values():
        with pytest.raises(LibraryClosed, match="open it again"):
            verb(library)
