"""What answers always hold, for programs that make clients of `/openapi.json`.

More may stand there, today or with a later version.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, create_model

from pincite.entrypoints.http.service import Json
from pincite.records import AbstentionReason, Reason, State, UploadStatus
from pincite.records.journal import JobState, LoggedQuery


def _answer(name: str, texts: str, /, **others: Any) -> Any:  # noqa: ANN401 — types, and one of them
    """A kind of answer: which of its fields are texts, and what the others are."""
    kinds: Json = {**dict.fromkeys(texts.split(), str), **others}
    fields: Json = {field: (kind, ...) for field, kind in kinds.items()}
    return create_model(name, __config__=ConfigDict(extra="allow"), **fields)


_FILE = "id filename path title type file_hash indexed_at summary"
_OF_FILE: Json = {"chunks": int, "size": int, "metadata": Json}
Document: Any = _answer("Document", _FILE, **_OF_FILE)
Documents: Any = _answer("Documents", "", documents=list[Document], after=str | None)

Job: Any = _answer("Job", "id library kind message url", state=JobState, progress=Json)
Accepted: Any = _answer("Accepted", "", status=Literal["accepted"], job=Job)
Indexed: Any = _answer("Indexed", _FILE, status=UploadStatus, **_OF_FILE)
IndexedFiles: Any = _answer("IndexedFiles", "", documents=list[Json])

Quote: Any = _answer("Quote", "text lead", start=int, end=int)
Chunk: Any = _answer("Chunk", "id document_id text", start=int, end=int)
FoundDocument: Any = _answer("FoundDocument", "id path name title type summary")
_FOUND: Json = {"document": FoundDocument, "chunk": Chunk, "quote": Quote}
_SCORES: Json = dict.fromkeys(("vector_score", "text_score", "probability"), float | None)
_RANKED: Json = {"rank": int, "score": float, "rrf_score": float}
Result: Any = _answer("Result", "citation url", **_RANKED, **_SCORES, **_FOUND)
Results: Any = _answer("Results", "query query_id", reason=Reason | None, results=list[Result])

_PLACE = "citation quote path title document_id chunk_id url"
Citation: Any = _answer("Citation", _PLACE, start=int, end=int)
Claim: Any = _answer("Claim", "text judge", state=State, citations=list[Citation])
_TOLD: Json = {"outcome": Literal["answer", "abstention"], "reason": AbstentionReason | None}
_PROOF: Json = {"claims": list[Claim], "nearest": list[Citation], "missing_terms": list[str]}
Outcome: Any = _answer("Outcome", "question message query_id", **_TOLD, **_PROOF)
Log: Any = _answer("Log", "", queries=list[LoggedQuery])

_SAID: Json = {"role": Literal["assistant"], "annotations": list[Json], "pincite": Json}
Message: Any = _answer("Message", "content", **_SAID)
Choice: Any = _answer("Choice", "", index=int, message=Message, finish_reason=Literal["stop"])
Usage: Any = _answer("Usage", "", prompt_tokens=int, completion_tokens=int, total_tokens=int)
_KIND = Literal["chat.completion"]
_ANSWERED: Json = {"created": int, "choices": list[Choice], "usage": Usage}
Completion: Any = _answer("Completion", "id model", object=_KIND, **_ANSWERED)
