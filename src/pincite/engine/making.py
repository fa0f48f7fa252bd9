"""A file that was handed in → a document with its vectors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from pincite.errors import FileUnreadable, SettingsError
from pincite.records import Document, EmbeddedDocument, LibraryHeader, Original

if TYPE_CHECKING:
    from pincite.ports import Embedder
    from pincite.reading.reader import Labelled
    from pincite.reading.sandbox import Sandbox
    from pincite.stores.postgres.uploads import UploadStore


@dataclass(frozen=True)
class Making:
    """How documents are made of files."""

    header: LibraryHeader
    embedder: Embedder
    sandbox: Sandbox

    def read(self, original: Original) -> Document:
        """The document of a file; FileUnreadable says why there is none."""
        from pincite.ingest.catalog import summarized
        from pincite.reading.reader import LibraryReader

        reader = LibraryReader(
            self.header.name,
            self.sandbox.read,
            options=frozenset(self.header.options),
            labelled=labels_of(original),
        )
        return summarized(reader.read(original.path, original.data))

    def made(self, original: Original, known: UploadStore) -> EmbeddedDocument:
        """The document with its vectors, but for texts that the model refuses; see `lacking`."""
        from pincite.chunking.flow import chunk_document
        from pincite.ingest.embed import EmbeddingPool, unanswered
        from pincite.settings import policy_named

        document = self.read(original)
        policy = policy_named(self.header.policy)
        chunk = partial(chunk_document, policy=policy, embedder=self.embedder)
        with EmbeddingPool(self.embedder, known) as pool:
            chunks, failed = pool.collect(pool.submit(chunk(document)))
        if (trouble := unanswered(failed.values())) is not None:
            raise trouble
        return EmbeddedDocument(document, chunks)


@contextmanager
def making(header: LibraryHeader, embedder: Embedder) -> Iterator[Making]:
    """Make documents in this way; files are read in a sandbox meanwhile."""
    from pincite.reading.sandbox import Sandbox

    with Sandbox() as sandbox:
        yield Making(header, embedder, sandbox)


def labels_of(original: Original) -> Labelled:
    """What was said of a file, as a reader takes it; SettingsError where it cannot be used."""
    from pincite.reading.labels import parse_labels

    said = {"version": 1, "labels": [{**original.labels, "files": original.path}]}
    try:
        told = json.dumps(said, ensure_ascii=False).encode()
        labelled = parse_labels(told).labelled
    except (FileUnreadable, TypeError, ValueError) as error:
        raise SettingsError(f"these labels cannot be used: {error}") from error
    if b"\\u0000" in told:
        raise SettingsError("these labels cannot be used: NUL is in no text")
    return labelled
