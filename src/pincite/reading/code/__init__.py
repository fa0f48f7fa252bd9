"""Source code → Content by function and class. Start at reader.py."""

from pincite.reading.code.reader import read

__all__ = ["read"]
