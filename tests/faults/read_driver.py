"""Reads an index until it met enough versions, in a thread or as a process; see test_readers.py."""

from __future__ import annotations

import json
import re
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

from pincite.errors import PinciteError
from pincite.models.hashing import HashingEmbedder
from pincite.ports import Store
from pincite.records import Filters
from pincite.stores.sqlite.opening import open_for_reading

PARTS = 6  # chunks of the one document, in every version of it


def text_of_version(version: int) -> str:
    """Every chunk carries the version."""
    parts = (f"## Part {part}\n\nA valve of version{version}.\n" for part in range(PARTS))
    return "# Note\n\n" + "\n".join(parts)


def versions(texts: list[str]) -> set[str]:
    return {found for text in texts for found in re.findall(r"version\d+", text)}


@dataclass
class Seen:
    """What a reader met."""

    searches: int = 0
    versions: set[str] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)

    def look(self, store: Store) -> None:
        """One search: a document entirely, in one version, or not at all."""
        self.searches += 1
        try:
            rankings = store.search(
                "valve", HashingEmbedder().embed_question("valve"), filters=Filters(), limit=50
            )
            words, near = rankings["words"], rankings["vector"]
            loaded = store.load_chunks([ranked.chunk_id for ranked in words])
        except PinciteError as error:
            self.wrong.append(f"{type(error).__name__}: {error}")
            return
        if len({ranked.document_id for ranked in (*words, *near)}) != 1:
            self.wrong.append("more or less than one version in one search")
        if {ranked.chunk_id for ranked in words} != {ranked.chunk_id for ranked in near}:
            self.wrong.append("words and vectors that differ")
        if len(words) != PARTS:
            self.wrong.append(f"{len(words)} of {PARTS} chunks")
        # Loading comes later than the search; a version that is gone by then is gone entirely.
        if len(loaded) not in (0, PARTS):
            self.wrong.append(f"{len(loaded)} of {PARTS} chunks loaded")
        met = versions([chunk.text for _, chunk in loaded])
        if len(met) > 1:
            self.wrong.append(f"mixed versions: {sorted(met)}")
        self.versions |= met


def read_until(stop: threading.Event, store: Store, seen: Seen) -> None:
    while not stop.is_set():
        seen.look(store)


if __name__ == "__main__":
    index, enough = Path(sys.argv[1]), int(sys.argv[2])
    store, seen = open_for_reading(index), Seen()
    sys.stdout.write("reading\n")
    sys.stdout.flush()
    while len(seen.versions) < enough and not seen.wrong:
        seen.look(store)
    store.close()
    sys.stdout.write(json.dumps([len(seen.versions), seen.wrong]) + "\n")
