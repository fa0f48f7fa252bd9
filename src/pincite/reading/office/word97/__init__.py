"""Word documents of 1997 to 2003 → Content. Start at reader.py."""

from pincite.reading.office.word97.reader import read_word97

__all__ = ["read_word97"]
