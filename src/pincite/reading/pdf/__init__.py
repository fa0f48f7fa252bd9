"""PDF → text in reading order with the page and box of each word. Start at flow.py."""

from pincite.reading.pdf.flow import read

__all__ = ["read"]
