"""Single files that are handed in to a project: what became of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pincite.records.documents import DocumentEntry

UploadStatus = Literal["indexed", "deduplicated", "reindexed"]
DeleteStatus = Literal["deleted", "not_found"]


@dataclass(frozen=True, slots=True)
class Original:
    """A file as it was handed in, and what was said of it."""

    path: str  # where its document stands
    checksum: str
    labels: dict[str, Any]
    data: bytes
    owner: str = ""  # who handed it in, by name; empty where nobody here is called so


@dataclass(frozen=True, slots=True)
class Uploaded:
    """A file that is searchable now: new, there before, or made anew."""

    status: UploadStatus
    document: DocumentEntry


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """Some documents by path; `after` asks for the next ones, None where there are none."""

    documents: tuple[DocumentEntry, ...]
    after: str | None
