"""Runs as word processors hold them, cut up at every change of font → runs as a text needs them.

Such runs have a page, and a reason why they are not seen; no other place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from pincite.reading.writer import Run
from pincite.records import OmissionReason

_BLANK_LINES = re.compile(r"\n\s*\n")


def tidy(runs: Iterable[Run]) -> list[Run]:
    """Neighbours of one kind joined; no blank lines inside, no space at either end."""
    texts: list[str] = []
    kinds: list[tuple[int | None, OmissionReason | None]] = []
    for kind, alike in groupby(runs, key=lambda run: (run.page, run.omitted)):
        text = _BLANK_LINES.sub("\n", "".join([run.text for run in alike]))
        if not texts:
            text = text.lstrip()
        elif texts[-1].endswith("\n"):
            text = text.lstrip("\n")
        if text:
            texts.append(text)
            kinds.append(kind)
    while texts and not texts[-1].strip():
        texts.pop()
    if texts:
        texts[-1] = texts[-1].rstrip()
    return [
        Run(text, page=page, omitted=omitted)
        for text, (page, omitted) in zip(texts, kinds, strict=False)
    ]


def visible_text(runs: Iterable[Run]) -> str:
    """What a reader of the file sees of the runs."""
    return "".join(run.text for run in runs if run.omitted is None)
