"""What is left of a document below the index, byte by byte."""

from __future__ import annotations

from pathlib import Path

INDEX = ".index"


def traces(root: Path, *what: str | bytes) -> list[str]:
    """Each file of the index, also of one that was filled aside, that names or holds any of it."""
    wanted = [one.encode() if isinstance(one, str) else one for one in what]
    files = [file for folder in root.glob(f"{INDEX}*") for file in folder.rglob("*")]
    found = []
    for file in (one for one in files if one.is_file()):
        data = file.name.encode() + file.read_bytes()
        found += [f"{file}: {one[:40]!r}" for one in wanted if one in data]
    return found
