"""A file as readers get it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file's bytes with its name, and the passwords that may open it."""

    path: str  # relative to the library, with forward slashes
    data: bytes
    passwords: tuple[str, ...] = ()
    options: frozenset[str] = frozenset()  # "comments", "tracked-changes": read these, too

    @property
    def suffix(self) -> str:
        """The extension with its dot, in lower case; empty where there is none."""
        stem, dot, suffix = self.path.rpartition("/")[2].rpartition(".")
        return f".{suffix.lower()}" if stem and dot else ""
