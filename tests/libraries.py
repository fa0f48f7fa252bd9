"""Random documents and libraries that tests share, and real ones indexed once in a run."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock
from hypothesis import strategies as st

from helpers import DIMENSIONS, Part, embedded
from pincite import open_library
from pincite.records import EmbeddedDocument, Modality
from pincite.vectors import unit

# Few vectors, far apart: equals are exactly equal and no rounding can change an order.
VECTORS = [
    unit(values, dimensions=DIMENSIONS)
    for values in np.random.default_rng(7).normal(size=(12, DIMENSIONS)).astype(np.float32)
]
WORDS = [
    *("pump", "pumps", "leaking", "Leak", "valve", "café", "cafe", "ﬁlter", "Straße", "strasse"),
    *("ERR-4042", "ERR-4043", "C++", "C#", "c", "v1.2", "20.04", "a@b.c", "client/server"),
    *("東京", "東京都", "京", "人工智能", "검색엔진", "거기", "거", "น้ำรั่ว", "हिन्दी", "насос"),
    *("Python编写", "don't", "the"),
]
NAMES = ("Pump.md", "valve.txt", "notes/pump.md", "notes/Café.md", "notes-old/x_1.txt")
HEADINGS = ("Water", "Maße", "First Steps")
TAGS = ("Red", "green", "Straße")

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
parts = st.builds(
    Part,
    text=texts,
    vectors=st.lists(st.sampled_from(VECTORS), min_size=1, max_size=3).map(tuple),
    headings=st.lists(st.sampled_from(HEADINGS), max_size=2).map(tuple),
    modality=st.sampled_from([Modality.TEXT, Modality.OCR]),
)


@st.composite
def documents(draw: st.DrawFn) -> EmbeddedDocument:
    path = draw(st.sampled_from(NAMES))
    return embedded(
        path,
        *draw(st.lists(parts, min_size=1, max_size=4)),
        kind=path[-2:],
        tags=tuple(draw(st.lists(st.sampled_from(TAGS), max_size=2))),
    )


libraries = st.lists(documents(), max_size=5, unique_by=lambda one: one.document.path)


def indexed_copy(source: Path, folders: pytest.TempPathFactory) -> Path:
    """A copy of a library with its index. However many workers ask, it is embedded once."""
    base = folders.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    made = shared / f"indexed-{source.parent.name}"
    with FileLock(f"{made}.lock"):
        if not made.exists():
            unfinished = folders.mktemp("unfinished")
            shutil.copytree(source, unfinished / "library", ignore=shutil.ignore_patterns(".index"))
            with open_library(unfinished / "library") as opened:
                opened.index()
            unfinished.rename(made)
    copy = folders.mktemp("golden") / "library"
    shutil.copytree(made / "library", copy)
    return copy
