"""Engines to compare with, one module each: `with_NAME.py` indexes a corpus and searches it.

A module has `DISTRIBUTION`, whose version is shown; `SETUP`, how the engine was set up, in words;
and `build(corpus, folder)`, which indexes the corpus in an empty folder and gives a search for
each mode that the engine offers. A search gives the documents of what it found, best first.
"""

from __future__ import annotations

ENGINES = {
    # Name → the package it needs
    "numpy": "numpy",
    "bm25s": "bm25s",
    "chroma": "chromadb",
    "lancedb": "lancedb",
    "haystack": "haystack",
    "txtai": "txtai",
    "pincite": "pincite",
}
REFERENCE = "numpy"  # whose time the others' are divided by

# Among the inputs
COUNTS = "counts.json"  # how many documents, passages, questions
PICKLED = "library.pickle"  # for pincite: its header, then each document
