"""Documents as questions are drafted from them: read and cut."""

from __future__ import annotations

from pincite.chunking.flow import chunk_document
from pincite.models.hashing import HashingEmbedder
from pincite.reading.reader import LibraryReader
from pincite.records import Chunk, Document
from pincite.settings import policy_named

Read = tuple[Document, list[Chunk]]

FILLER = "It has been like that for as long as anyone of us is able to remember, and it is good."
"""A sentence that nobody would draft a question from."""


def read(path: str, text: str) -> Read:
    """A file of this text, as the product reads and cuts it."""
    document = LibraryReader("library").read(path, text.encode())
    windowed = chunk_document(document, policy_named("wiki"), HashingEmbedder())
    return document, [one.chunk for one in windowed]
