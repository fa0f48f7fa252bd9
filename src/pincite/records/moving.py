"""Moving a library: what went into a file, or came out of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveReport:
    """What an export wrote, or an import took over."""

    file: str
    file_bytes: int
    library: str  # its name
    documents: int = 0
    chunks: int = 0
    vectors: int = 0
    past: int = 0  # versions of documents that are gone
    originals: int = 0  # files that were handed in to a project, as they came
    runs: int = 0  # of evaluations
    files: tuple[str, ...] = ()  # of ours at the top: questions, glossary, labels, analysis
    kept: tuple[str, ...] = ()  # those of them that were there already and differ
    text_bytes: int = 0  # of the documents' text, as UTF-8
    left_out: int = 0  # such files, where a library keeps none: it is a folder's
    apart: bool = False  # the folder holds none of the documents' files
    seen_by: str = ""  # the member of a project as whom it was exported
    clearance: str = ""  # the strictest label whose documents that member sees
