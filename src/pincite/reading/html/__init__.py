"""Web pages → Content, and HTML inside of other files (e-books, mail) → a Writer."""

from pincite.reading.html.decoding import decode_html, decode_labelled
from pincite.reading.html.facts import HtmlFacts
from pincite.reading.html.page import HtmlPage, read, write_html
from pincite.reading.html.tree import parse_html

__all__ = [
    "HtmlFacts",
    "HtmlPage",
    "decode_html",
    "decode_labelled",
    "parse_html",
    "read",
    "write_html",
]
