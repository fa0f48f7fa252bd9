"""PDF → text in reading order with the page and box of each word. Start at reader.py."""

from pincite.reading.pdf.reader import read

__all__ = ["read"]
