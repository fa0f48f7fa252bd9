"""PowerPoint presentations → Content. Start at reader.py."""

from pincite.reading.office.pptx.reader import read_pptx

__all__ = ["read_pptx"]
