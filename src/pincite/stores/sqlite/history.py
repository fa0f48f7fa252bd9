"""Versions of documents that the library no longer holds, found in the log."""

from __future__ import annotations

from collections.abc import Iterator

from pincite.records import EmbeddedDocument, FoundChunk
from pincite.stores.codec import embedded_from_json
from pincite.stores.sqlite.log import ChunkLog
from pincite.stores.sqlite.replay import LiveLog


def chunks_in_history(log: ChunkLog, id_prefix: str) -> list[FoundChunk]:
    """Chunks of any time whose id begins so, the latest first; a citation once given resolves."""
    found = {}
    for line in log.lines():
        if line.entry is None or line.entry["event"] != "document":
            continue
        ids = [chunk["id"] for chunk in line.entry["document"]["chunks"]]
        if any(chunk_id.startswith(id_prefix) for chunk_id in ids):
            embedded = embedded_from_json(line.entry["document"])
            for part in embedded.chunks:
                if part.chunk.id.startswith(id_prefix):
                    found[part.chunk.id] = FoundChunk(
                        embedded.document, part.chunk, superseded=True
                    )
    return list(found.values())[::-1]


def past_versions(log: ChunkLog, until: int) -> Iterator[EmbeddedDocument]:
    """What the first so many bytes of the log hold beside the living documents, oldest first."""
    live, starts = LiveLog(), []
    for line in log.lines():
        if line.end > until:
            break
        if line.entry is not None:  # a broken line is told by `verify`; the others count
            live.follow(line.entry, line.start)
            if line.entry["event"] == "document":
                starts.append(line.start)
    living = set(live.documents.values())
    for start in starts:
        if start not in living:
            yield embedded_from_json(log.entry_at(start)["document"])
