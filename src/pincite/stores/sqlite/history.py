"""Versions of documents that the library no longer holds, found in the log."""

from __future__ import annotations

from pincite.records import FoundChunk
from pincite.stores.codec import embedded_from_json
from pincite.stores.sqlite.log import ChunkLog


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
