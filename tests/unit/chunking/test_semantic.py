"""Chunks whose boundaries a language model chooses, and what becomes of nonsense."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from model_service import Reply, Service, running_service, said
from pincite.chunking.flow import chunk_document
from pincite.chunking.semantic import SemanticChunker
from pincite.models.chat import open_generator
from pincite.models.hashing import HashingEmbedder
from pincite.reading.reader import LibraryReader
from pincite.records import Document, Failure
from pincite.settings import policy_named

SENTENCES = [
    f"The pump number {at} is looked after by the crew of the harbour." for at in range(90)
]
EMBEDDER = HashingEmbedder()


def document(sentences: int = 30, path: str = "pumps.md") -> Document:
    text = "# Pumps\n\n" + " ".join(SENTENCES[:sentences])
    return LibraryReader("library").read(path, text.encode())


@pytest.fixture
def service() -> Iterator[Service]:
    with running_service() as running:
        yield running


@pytest.fixture
def failures() -> list[Failure]:
    return []


@pytest.fixture
def chunker(service: Service, failures: list[Failure]) -> SemanticChunker:
    generator = open_generator("openai:m", base_url=service.url, api_key=None)
    return SemanticChunker(generator, EMBEDDER, failures.append)


def first_words(chunker: SemanticChunker, one: Document) -> list[str]:
    chunks = [part.chunk for part in chunker(one)]
    assert all(one.text[chunk.start : chunk.end] == chunk.text for chunk in chunks)
    return [" ".join(chunk.text.split()[:4]) for chunk in chunks]


def by_rule(one: Document) -> list[str]:
    chunks = chunk_document(one, policy_named("rule_based"), EMBEDDER)
    return [part.chunk.text for part in chunks]


@pytest.mark.parametrize("answer", ["1, 12, 23", "[12,23]", "1\n12\n23.", "1, 12, 13, 23"])
def test_chunks_begin_where_the_model_says_but_are_never_tiny(
    service: Service, chunker: SemanticChunker, failures: list[Failure], answer: str
) -> None:
    service.plays(said(answer))
    found = first_words(chunker, document())
    assert found[0] == "# Pumps The pump"
    assert found[1] in ("The pump number 10", "The pump number 11")
    assert found[2] == "The pump number 21"
    assert (len(found), failures) == (3, [])
    (request,) = service.requests
    assert "\n12: The pump number 10 is" in request["messages"][1]["content"]


def test_a_long_document_is_shown_part_by_part_from_the_last_beginning_on(
    service: Service, chunker: SemanticChunker
) -> None:
    service.plays(said("1, 31, 51"), said("1, 21"))
    found = first_words(chunker, document(90))
    assert {"The pump number 29", "The pump number 49", "The pump number 69"} < set(found)
    assert service.requests[1]["messages"][1]["content"].startswith("1: The pump number 49 is")


def test_a_model_that_sees_a_subject_in_every_sentence_is_not_asked_for_each(
    service: Service, chunker: SemanticChunker
) -> None:
    service.plays(said("2"))
    chunker(document(90))
    assert len(service.requests) <= 3


@pytest.mark.parametrize(
    "answer",
    [
        *(said(text) for text in ("Sure! The pump is a subject.", "0, 5", "1, 5000", "9, 3", "-")),
        Reply({"error": "no"}, status=401),
    ],
)
def test_where_the_model_fails_the_document_is_cut_by_rule_which_is_told_once(
    service: Service, chunker: SemanticChunker, failures: list[Failure], answer: Reply
) -> None:
    service.plays(answer)
    for number in range(5):
        one = document(path=f"{number}.md")
        assert [part.chunk.text for part in chunker(one)] == by_rule(one)
    assert [failure.path for failure in failures] == ["0.md"]
    assert failures[0].reason.startswith("is cut by rule")
    assert len(service.requests) == 3  # then it is not asked any more
