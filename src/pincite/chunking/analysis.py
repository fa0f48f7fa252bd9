"""What is known of a document's code → what of it concerns one chunk."""

from __future__ import annotations

import re
from dataclasses import replace

from pincite.records import Analysis

_WORD = re.compile(r"[\w$]+")


def chunk_analysis(analysis: Analysis, text: str) -> Analysis:
    """The analysis with only those symbols that the chunk's text names, as whole words.

    Imports, layer and entry points are the file's and hold for all of its chunks.
    """
    if not analysis.symbols:
        return analysis
    words = set(_WORD.findall(text))
    return replace(
        analysis,
        symbols=tuple(symbol for symbol in analysis.symbols if _last_word(symbol) in words),
    )


def _last_word(symbol: str) -> str:
    """What a text calls it: `parse` for `Parser.parse`, `Parser::parse` or `Parser#parse`."""
    if symbol.isidentifier():
        return symbol
    found = _WORD.findall(symbol)
    return found[-1] if found else symbol
