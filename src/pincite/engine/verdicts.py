"""Whether a new index that is complete was refused as worse: noted beside the library."""

from __future__ import annotations

import json
from pathlib import Path

_FILE = "refused.json"


def note_refused(files: Path, place: str, number: int) -> None:
    """Note that this generation answered its questions worse than the live one."""
    (files / _FILE).write_text(json.dumps({"place": place, "generation": number}) + "\n", "utf-8")


def forget_refused(files: Path) -> None:
    """Whatever is filled now has not been judged yet."""
    (files / _FILE).unlink(missing_ok=True)


def was_refused(files: Path, place: str, number: int) -> bool:
    """Whether that is the last that was heard of this generation."""
    try:
        noted = json.loads((files / _FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return bool(noted == {"place": place, "generation": number})
