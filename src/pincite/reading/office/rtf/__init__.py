"""RTF files → Content. Start at reader.py."""

from pincite.reading.office.rtf.reader import read

__all__ = ["read"]
