"""Questions of any characters, ten thousand in a soak: none is an error."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pincite.chunking.flow import chunk_document
from pincite.ingest.embed import EmbeddingPool
from pincite.models.hashing import HashingEmbedder
from pincite.ports import Embedder, Store
from pincite.reading.reader import LibraryReader
from pincite.records import EmbeddedDocument, Filters, LibraryHeader, Mode
from pincite.retrieve.flow import search
from pincite.settings import SearchSettings, policy_named
from pincite.stores.sqlite.opening import open_for_writing
from pincite.text.words import WORD
from soak import times

EMBEDDER = HashingEmbedder(dimensions=32)
TEXTS = {
    "pumps.md": "# Pumps\n\nThe pump stops with ERR-4042. See *C++* at a@b.c!\n\n- don't AND NOT\n",
    "東京.md": "# 東京都\n\n人工智能の研究。한국어검색엔진 น้ำรั่ว\n",
    "odd.txt": 'title:x NEAR(a b, 5) "quoted" {text title} : ^x * \\ % _ 🚀 é ß ﬁ 0\n\nA b c d.\n',
}
QUESTIONS_TOGETHER = 20
EXAMPLES = times(10, soak=125)  # of so many questions together, in each of four tests

SYNTAX = [
    *"\"*^(){}[]:+-,.;'\\/%_#@~|&!<>?=$\0\n\t",
    *("AND", "OR", "NOT", "NEAR", "NEAR(", "NEAR/2", "text:", "-about:", "{text about}:", "rank:"),
    *("chunk_words", "MATCH", "a*", "pump", "ERR-4042", "C++", "C#", ".NET", "20.04", "don't"),
    *("東京", "검색", "น้ำ", "é", "e\u0301", "ß", "ﬁ", "İ", "🚀"),
    *("\u200b", "\ufeff", "\u202e", "\ue02d", "\ud800", "\udfff"),
]

any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
any_words = st.lists(any_text, max_size=5).map(" ".join)
fragments = st.lists(st.sampled_from(SYNTAX), max_size=12)
any_syntax = fragments.map("".join) | fragments.map(" ".join)


NEAR_OR_FAR = SearchSettings(similarity_floor=-1)


def together(questions: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(questions, min_size=QUESTIONS_TOGETHER, max_size=QUESTIONS_TOGETHER)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    opened = open_for_writing(tmp_path_factory.mktemp("any") / "index")
    opened.begin(LibraryHeader("library", "vault", EMBEDDER.card, 1, 1_000_000))
    with EmbeddingPool(EMBEDDER, opened) as pool:
        for path, text in TEXTS.items():
            document = LibraryReader("library").read(path, text.encode())
            chunks = chunk_document(document, policy_named("vault"), EMBEDDER)
            opened.replace_document(EmbeddedDocument(document, pool.collect(pool.submit(chunks))))
    yield opened
    opened.close()


def ask(store: Store, questions: list[str], *, mode: Mode, embedder: Embedder | None) -> None:
    for question in questions:
        found = search(
            question, store, embedder, mode=mode, filters=Filters(), settings=NEAR_OR_FAR
        )
        # Half a character becomes a question mark, so that the answer can be printed.
        assert found.question == question.encode("utf-8", "replace").decode()
        assert found.reason == expected_reason(found.question, found=len(found.results))
        for result in found.results:
            text = TEXTS[result.document.path]
            assert result.quote.text == text[result.quote.start : result.quote.end]
            assert all(0 <= a < b <= len(result.quote.text) for a, b in result.quote.matches)
        if mode == "hybrid" and WORD.search(question):
            assert len(found.results) == len(TEXTS)


def expected_reason(question: str, *, found: int) -> str | None:
    if not WORD.search(question):
        return "empty_question"
    if found:
        return None
    return "no_hits"


many = settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))


@many
@given(questions=together(any_words))
def test_any_unicode_text_is_a_question_for_words(store: Store, questions: list[str]) -> None:
    ask(store, questions, mode="words", embedder=None)


@many
@given(questions=together(any_syntax))
def test_any_mix_of_query_syntax_is_a_question_for_words(
    store: Store, questions: list[str]
) -> None:
    ask(store, questions, mode="words", embedder=None)


@many
@given(questions=together(any_words))
def test_any_unicode_text_is_a_question_for_both_searches(
    store: Store, questions: list[str]
) -> None:
    ask(store, questions, mode="hybrid", embedder=EMBEDDER)


@many
@given(questions=together(any_syntax))
def test_any_mix_of_query_syntax_is_a_question_for_both_searches(
    store: Store, questions: list[str]
) -> None:
    ask(store, questions, mode="hybrid", embedder=EMBEDDER)
