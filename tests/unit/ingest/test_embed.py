"""Each text is embedded once, and what fails is named."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from helpers import CountingEmbedder
from memory_store import MemoryStore
from pincite.chunking.flow import chunk_document
from pincite.errors import ModelMissing, ModelUnavailable
from pincite.ingest.embed import EmbeddingPool, unanswered
from pincite.ingest.flow import Parts, sync
from pincite.ingest.sync import compare
from pincite.ports import Store
from pincite.reading.reader import LibraryReader
from pincite.records import (
    Failure,
    Filters,
    FoundFile,
    IndexReport,
    LibraryHeader,
    Progress,
    WindowedChunk,
)
from pincite.settings import policy_named
from pincite.vectors import Vector

HEADER = LibraryHeader("library", "wiki", CountingEmbedder().card, 1, 1_000_000)


def new_store() -> MemoryStore:
    store = MemoryStore()
    store.begin(HEADER)
    return store


def windowed(path: str, text: str) -> list[WindowedChunk]:
    document = LibraryReader("library").read(path, text.encode())
    return chunk_document(document, policy_named("wiki"), CountingEmbedder())


def index(
    files: Mapping[str, str],
    embedder: CountingEmbedder,
    store: Store,
    progress: list[Progress] | None = None,
) -> IndexReport:
    parts = Parts(
        read_file=lambda path: files[path].encode(),
        read=lambda path, data: LibraryReader("library").read(path, data),
        chunk=lambda document: chunk_document(document, policy_named("wiki"), embedder),
        embedder=embedder,
        store=store,
    )
    found = [
        FoundFile(path, len(text), hashlib.sha256(text.encode()).hexdigest())
        for path, text in files.items()
    ]
    told = progress if progress is not None else []
    return sync(found, parts, recipe_of=lambda path: HEADER.recipe, on_progress=told.append)


def test_texts_go_to_the_model_in_batches_and_get_their_own_vectors() -> None:
    embedder = CountingEmbedder(batch=2)
    chunks = windowed("a.txt", "\n\n".join(f"number {n}: {'pump ' * 300}" for n in range(5)))
    with EmbeddingPool(embedder, new_store()) as pool:
        embedded, _ = pool.collect(pool.submit(chunks))
    for cut, stored in zip(chunks, embedded, strict=True):
        assert cut.chunk == stored.chunk
        for window, kept in zip(cut.windows, stored.windows, strict=True):
            assert (window.start, window.end) == (kept.start, kept.end)
            (expected,) = embedder.inner.embed_passages([window.embedded])
            np.testing.assert_allclose(kept.vector, expected, atol=1e-6)


FORTY = "# Seals\n\n" + "".join(
    f"## Seal {n}\n\nThe {'cursed ' if n == 17 else ''}seal {n} leaks. {'Mend it soon. ' * 30}\n\n"
    for n in range(40)
)


def test_of_forty_chunks_one_is_refused_and_the_others_get_their_vectors() -> None:
    embedder = CountingEmbedder(fails_on="cursed")
    (refused,) = (one.chunk.id for one in windowed("b.md", FORTY) if "cursed" in one.chunk.text)
    store = new_store()
    report = index({"a.md": "# X\n\nfirst", "b.md": FORTY}, embedder, store)
    assert (report.added, report.failures) == (2, ())
    (lacking,) = report.lacking
    assert lacking == Failure(
        "b.md",
        "1 of 40 chunks has no vector yet (the model gave up): found by words only; the next "
        "update tries again",
        (refused,),
    )
    assert store.stats().lacking == 1
    assert report.embedded == store.stats().vectors == store.stats().chunks - 1 == 40
    found = store.search("cursed", None, filters=Filters(), limit=3)["words"]
    assert [one.chunk_id for one in found] == [refused]


def test_only_the_chunks_without_vectors_are_tried_again() -> None:
    store, files = new_store(), {"b.md": FORTY}
    index(files, CountingEmbedder(fails_on="cursed"), store)
    written = store.version()
    in_vain = CountingEmbedder(fails_on="cursed")
    report = index(files, in_vain, store)
    assert (report.written, report.unchanged, report.embedded) == (0, 1, 0)
    assert [one.path for one in report.lacking] == ["b.md"]
    assert len([text for text in in_vain.texts if "seal" in text]) == 1
    assert store.version() == written
    report = index(files, CountingEmbedder(), store)
    assert (report.retried, report.embedded, report.lacking) == (1, 1, ())
    assert store.stats().lacking == 0
    assert index(files, CountingEmbedder(), store).unchanged == 1


def test_a_changed_recipe_cuts_a_document_without_vectors_again() -> None:
    store = new_store()
    index({"b.md": FORTY}, CountingEmbedder(fails_on="cursed"), store)
    (entry,) = store.documents()
    found = [FoundFile("b.md", entry.size, entry.checksum)]
    (task,) = compare(found, store.documents(), recipe_of=lambda path: "another").tasks
    assert (task.change, task.lacking) == ("recut", 0)


def test_a_model_that_refuses_a_plain_sentence_too_is_not_asked_text_by_text() -> None:
    embedder = CountingEmbedder(fails_on="")
    store = new_store()
    report = index({"b.md": FORTY}, embedder, store)
    assert [one.path for one in report.failures] == ["b.md"]
    assert store.documents() == []
    assert len(embedder.texts) == 40 + 1


def test_a_service_that_falls_silent_leaves_what_it_answered() -> None:
    embedder = CountingEmbedder(batch=8, fails_on="cursed", error=ModelUnavailable("no answer"))
    store = new_store()
    report = index({"b.md": FORTY}, embedder, store)
    (lacking,) = report.lacking
    assert len(lacking.chunk_ids) == store.stats().lacking == 8
    assert len(embedder.texts) == 40  # and not one of them again


def test_identical_text_of_a_failed_document_is_tried_again_for_the_next() -> None:
    embedder = CountingEmbedder(fails_on="cursed")
    report = index({"a.md": "# A\n\ncursed", "b.md": "# A\n\ncursed"}, embedder, new_store())
    assert [lacking.path for lacking in report.lacking] == ["a.md", "b.md"]


def test_a_service_that_does_not_answer_for_three_documents_ends_the_run() -> None:
    down = ModelUnavailable("no answer")
    embedder = CountingEmbedder(batch=1, fails_on="cursed", error=down)
    store = new_store()
    progress: list[Progress] = []
    files = {"a.md": "# A\n\nfine"} | {f"b{n}.md": f"# B\n\ncursed {n}" for n in range(9)}
    with pytest.raises(ModelUnavailable, match="no answer"):
        index(files, embedder, store, progress)
    assert [one.path for one in progress] == ["a.md", "b0.md", "b1.md", "b2.md"]
    assert [entry.path for entry in store.documents()] == ["a.md"]


def test_an_answer_in_between_starts_the_count_again() -> None:
    down = ModelUnavailable("no answer")
    embedder = CountingEmbedder(batch=1, fails_on="cursed", error=down)
    texts = ["cursed 1", "cursed 2", "fine", "cursed 3", "cursed 4"]
    files = {f"{number}.md": f"# T\n\n{text}" for number, text in enumerate(texts)}
    report = index(files, embedder, new_store())
    assert [failure.path for failure in report.failures] == ["0.md", "1.md", "3.md", "4.md"]


class ShortEmbedder(CountingEmbedder):
    """Gives one vector too few."""

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        return super().embed_passages(texts)[1:]


def test_too_few_vectors_are_a_failure_not_a_mix_up() -> None:
    chunks = windowed("a.md", "# A\n\nThe pump.")
    with EmbeddingPool(ShortEmbedder(), new_store()) as pool:
        embedded, failed = pool.collect(pool.submit(chunks))
    assert [one.windows for one in embedded] == [()]
    assert list(failed) == [chunks[0].chunk.id]
    assert "0 vectors for 1 texts" in str(unanswered(failed.values()))


def test_progress_counts_files_and_bytes_to_the_end() -> None:
    progress: list[Progress] = []
    files = {"a.md": "# A\n\nThe pump.", "b.md": "\n", "c.md": "# C\n\nThe seal leaks."}
    report = index(files, CountingEmbedder(), new_store(), progress)
    assert [one.documents_done for one in progress] == [1, 2, 3]
    assert {one.documents_total for one in progress} == {3}
    assert progress[-1].bytes_done == progress[-1].bytes_total == sum(map(len, files.values()))
    assert [skipped.path for skipped in report.skipped] == ["b.md"]
    assert report.failures == ()


def test_a_missing_model_ends_the_run_at_once() -> None:
    embedder = CountingEmbedder(fails_on="pump", error=ModelMissing("not on this machine"))
    with pytest.raises(ModelMissing):
        index({"a.md": "# A\n\npump"}, embedder, new_store())


def test_progress_is_told_within_a_document_batch_by_batch() -> None:
    progress: list[Progress] = []
    text = "\n\n".join(f"number {n}: {'pump ' * 300}" for n in range(5))
    report = index({"a.txt": text}, CountingEmbedder(batch=2), new_store(), progress)
    total = report.embedded
    assert [one.windows_done for one in progress] == [*range(2, total, 2), total]
    assert {one.windows_total for one in progress} == {total}
    assert [one.documents_done for one in progress] == [0] * (len(progress) - 1) + [1]


def test_what_is_left_is_reckoned_by_the_kind_of_file() -> None:
    progress: list[Progress] = []
    book = "\n\n".join(f"number {n}: {'pump ' * 300}" for n in range(80))
    pages = [f"<!-- {'much ' * 50_000} --><p>The {word} leaks.</p>" for word in ("pump", "seal")]
    files = {"a.html": pages[0], "b.txt": book, "c.html": pages[1]}
    report = index(files, CountingEmbedder(), new_store(), progress)
    assert progress[0].documents_done == 1
    assert {one.windows_total for one in progress} == {report.embedded}


def test_a_large_file_is_named_before_it_is_read() -> None:
    told: list[str] = []

    def read_file(path: str) -> bytes:
        told.append(path)
        return b"# A\n\nThe pump."

    parts = Parts(
        read_file=read_file,
        read=LibraryReader("library").read,
        chunk=lambda document: chunk_document(document, policy_named("wiki"), CountingEmbedder()),
        embedder=CountingEmbedder(),
        store=new_store(),
    )
    found = [FoundFile("a.md", 11_000_000, ""), FoundFile("b.md", 13, "")]
    sync(
        found,
        parts,
        recipe_of=lambda path: HEADER.recipe,
        on_progress=lambda one: told.append(one.doing),
    )
    assert told[:3] == ["Reading a.md", "a.md", "b.md"]


def test_a_service_that_dies_ends_the_run_also_where_parts_of_files_are_known() -> None:
    store = new_store()
    index({"known.md": "# K\n\nknown"}, CountingEmbedder(), store)
    down = CountingEmbedder(batch=1, fails_on="cursed", error=ModelUnavailable("no answer"))
    part = "# K\n\nknown\n\n# C\n\ncursed"
    files = {"known.md": "# K\n\nknown"} | {f"b{n}.md": f"{part} {n}" for n in range(9)}
    with pytest.raises(ModelUnavailable, match="no answer"):
        index(files, down, store)
    assert len(store.documents()) == 1 + 3


def test_a_pdf_that_is_not_read_yet_is_reckoned_to_hold_little_text() -> None:
    progress: list[Progress] = []
    texts = {f"a{n}.md": f"# A\n\nPump {n} leaks at the seal." for n in range(4)}
    index({**texts, "z.pdf": "%PDF-1.7 " + "x" * 10_000}, CountingEmbedder(), new_store(), progress)
    read = sum(map(len, texts.values()))
    pace = 4 / read
    assert progress[0].windows_total < 4 + 10_000 * pace / 5
