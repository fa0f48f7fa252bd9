"""Public data sets, as they are read, and the cache of their vectors."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from public_sets.embedding_cache import CachedEmbedder
from public_sets.index import build, scratch_folder
from public_sets.rows import DatasetError
from public_sets.sets import id_of, load, names, path_of

from pincite.chunking.flow import chunk_document
from pincite.models.hashing import HashingEmbedder
from pincite.records import ExpectedPlace, Filters, ModelCard
from pincite.retrieve.flow import search
from pincite.settings import POLICIES, SearchSettings
from pincite.vectors import Vector

CORPUS = [
    {"id": "a", "title": "Tides", "text": "The moon pulls the sea."},
    {"id": "b", "title": "", "text": "Salt comes from rivers.\n\nIt stays in the sea."},
]
QUERIES = [{"id": "q1", "text": "why are there tides?"}, {"id": "q2", "text": "why salty?"}]
QRELS = "query-id\tdoc-id\tscore\nq1\ta\t2\nq2\tb\t1\n"


def write_rows(file: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    if file.suffix == ".gz":
        file.write_bytes(gzip.compress(text.encode()))
    else:
        file.write_text(text)


def write_set(
    folder: Path,
    *,
    corpus: Sequence[Mapping[str, Any]] = CORPUS,
    queries: Sequence[Mapping[str, Any]] = QUERIES,
    qrels: str = QRELS,
) -> Path:
    write_rows(folder / "corpus.jsonl.gz", corpus)
    write_rows(folder / "queries.jsonl", queries)
    (folder / "qrels.tsv").write_text(qrels)
    return folder


def test_grades_come_from_the_judgements_and_zero_is_no_relevance(tmp_path: Path) -> None:
    queries = [*QUERIES, {"id": "q3", "text": "nobody judged this"}]
    write_set(tmp_path / "sea", queries=queries, qrels=QRELS + "q1\tb\t0\nq2\ta\t-1\n")
    cases = load(tmp_path, "sea").cases
    assert [(case.question, case.documents) for case in cases] == [
        ("why are there tides?", {path_of("a"): 2}),
        ("why salty?", {path_of("b"): 1}),
    ]


def test_a_beir_folder_is_read_as_it_comes(tmp_path: Path) -> None:
    folder = tmp_path / "beir"
    write_rows(folder / "corpus.jsonl", [{"_id": "a", "title": "Tides", "text": "The moon."}])
    write_rows(
        folder / "queries.jsonl", [{"_id": "q", "text": "tides?"}, {"_id": "r", "text": "x"}]
    )
    for split, question in (("train", "r"), ("test", "q")):
        file = folder / "qrels" / f"{split}.tsv"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"query-id\tcorpus-id\tscore\n{question}\ta\t1\n")
    loaded = load(tmp_path, "beir")
    assert [(case.question, case.documents) for case in loaded.cases] == [
        ("tides?", {path_of("a"): 1})
    ]


def test_questions_without_an_answer_and_verbatim_answers_are_told(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "sea")
    questions = [
        {
            "id": "q1",
            "text": "why are there tides?",
            "is_impossible": False,
            "answers": [{"text": "gravity"}, {"text": "The moon"}, {"text": "the sea"}],
        },
        {"id": "q9", "text": "how deep?", "is_impossible": True, "answers": []},
        {"id": "q8", "text": "not judged", "is_impossible": False, "answers": []},
    ]
    write_rows(folder / "questions.jsonl", questions)
    cases = {case.question: case for case in load(tmp_path, "sea").cases}
    assert cases["why are there tides?"].terms == ("The moon",)
    assert cases["how deep?"].unanswerable
    assert not cases["why salty?"].unanswerable
    assert "not judged" not in cases


def test_questions_about_this_website_see_only_their_site(tmp_path: Path) -> None:
    corpus = [{"id": str(at), "title": f"{at % 2}.org", "text": "We share it."} for at in range(4)]
    write_set(tmp_path / "policyqa-dev", corpus=corpus, qrels="q1\t0\t1\nq2\t1\t1\n")
    dataset = load(tmp_path, "policyqa-dev")
    assert [case.filters for case in dataset.cases] == [
        Filters(tags=("0.org",)),
        Filters(tags=("1.org",)),
    ]
    with scratch_folder() as scratch:
        store = build(dataset, HashingEmbedder(), scratch / "index")
        found = search(
            "share",
            store,
            None,
            mode="words",
            filters=dataset.cases[1].filters,
            settings=SearchSettings(near_identical=0),
        )
        store.close()
    assert {result.document.path for result in found.results} == {path_of("1"), path_of("3")}


@given(st.text(min_size=1))
def test_the_path_of_a_document_is_one_odd_word_that_gives_its_id_back(identity: str) -> None:
    assert re.fullmatch(r"id[0-9a-f]+\.txt", path_of(identity))
    assert id_of(path_of(identity)) == identity


TALK = {
    "id": "talk",
    "title": "Mining",
    "segments": [
        {"start": start, "end": start + 60, "speaker": "Ada", "text": f"Part {start // 60}. " * 40}
        for start in range(0, 600, 60)
    ],
}


def test_talks_are_asked_within_themselves_and_in_one_library(tmp_path: Path) -> None:
    write_rows(tmp_path / "talks" / "transcripts.jsonl.gz", [TALK])
    asked = {"id": "t#1", "text": "hash rate?", "video_id": "talk", "start": 120, "end": 180.5}
    write_rows(tmp_path / "talks" / "queries_timed.jsonl", [asked])
    within, everywhere = (load(tmp_path, name) for name in names(tmp_path))
    (document,) = within.documents
    place = ExpectedPlace("talk.vtt", time=(120.0, 180.5))
    assert document.title == "Mining"
    assert [(case.question, case.kind, case.places, case.filters) for case in within.cases] == [
        ("hash rate?", "video_time", (place,), Filters(document_ids=(document.id,)))
    ]
    assert [(case.question, case.places, case.filters) for case in everywhere.cases] == [
        ("Mining: hash rate?", (place,), Filters())
    ]
    chunks = chunk_document(document, POLICIES["vault"], HashingEmbedder())
    times = [part.chunk.locator.time_start for part in chunks]
    assert len(times) > 1
    assert times[0] == 0
    assert times[-1] is not None
    assert times[-1] >= 480


def test_the_turns_of_a_meeting_are_its_lines(tmp_path: Path) -> None:
    turns = [{"i": at, "speaker": "Ada", "text": f"Point\n{at}"} for at in range(5)]
    write_rows(tmp_path / "talks" / "transcripts.jsonl", [{"id": "m", "turns": turns}])
    asked: list[dict[str, Any]] = [
        {"id": "m#1", "text": "which points?", "meeting_id": "m", "turn_spans": [[0, 1], [4, 4]]},
        {"id": "m#2", "text": "all of it?", "meeting_id": "m", "turn_spans": []},
    ]
    write_rows(tmp_path / "talks" / "queries_spans.jsonl", asked)
    dataset = load(tmp_path, "talks")
    (document,), (case,) = dataset.documents, dataset.cases
    assert document.text.split("\n")[4] == "Ada: Point 4"
    assert case.places == (
        ExpectedPlace("m.txt", lines=(1, 2)),
        ExpectedPlace("m.txt", lines=(5, 5)),
    )


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ('{"id": "c", "text": ', "no JSON"),
        ('{"id": "", "text": "x"}', "'id' is empty"),
    ],
)
def test_a_bad_row_is_named_by_its_line(tmp_path: Path, bad: str, why: str) -> None:
    folder = write_set(tmp_path / "sea")
    (folder / "corpus.jsonl.gz").unlink()
    (folder / "corpus.jsonl").write_text(f'{{"id": "a", "text": "x"}}\n\n{bad}\n')
    with pytest.raises(DatasetError, match=rf"corpus\.jsonl, line 3: .*{why}"):
        load(tmp_path, "sea")


class CountingEmbedder(HashingEmbedder):
    """Remembers what it was asked for; questions get the opposite vector of passages."""

    def __init__(self, fingerprint: str = "counting:1") -> None:
        super().__init__(dimensions=8)
        self.card = ModelCard("counting", fingerprint, dimensions=8, token_limit=32)
        self.asked: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        self.asked.extend(texts)
        return super().embed_passages(texts)

    def embed_question(self, text: str) -> Vector:
        self.asked.append(text)
        return -super().embed_question(text)


def test_a_second_run_asks_the_model_for_nothing(tmp_path: Path) -> None:
    texts = ["the moon", "the sea"]
    with CachedEmbedder(CountingEmbedder(), tmp_path / "cache.db") as first:
        made = [*first.embed_passages(texts), first.embed_question("why?")]
    model = CountingEmbedder()
    with CachedEmbedder(model, tmp_path / "cache.db") as second:
        kept = [*second.embed_passages(texts), second.embed_question("why?")]
        assert second.embedded == 0
    assert model.asked == []
    assert np.array_equal(kept, made)


@given(st.lists(st.text(max_size=3)))
def test_vectors_are_those_of_the_model_in_the_order_of_the_texts(texts: list[str]) -> None:
    with CachedEmbedder(CountingEmbedder(), Path(":memory:")) as embedder:
        for asked in (texts, texts[::-1]):
            expected = CountingEmbedder().embed_passages(asked)
            assert np.array_equal(embedder.embed_passages(asked), expected)


def test_the_vectors_of_another_model_are_not_taken(tmp_path: Path) -> None:
    with CachedEmbedder(CountingEmbedder("one:1"), tmp_path / "cache.db") as embedder:
        embedder.embed_passages(["the moon"])
    other = CountingEmbedder("two:1")
    with CachedEmbedder(other, tmp_path / "cache.db") as embedder:
        embedder.embed_passages(["the moon"])
    assert other.asked == ["the moon"]
