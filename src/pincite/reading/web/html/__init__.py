"""Web pages → Content, and HTML inside of other files (e-books, mail) → a Writer."""

from pincite.reading.web.html.decoding import decode_html, decode_labelled
from pincite.reading.web.html.facts import HtmlFacts
from pincite.reading.web.html.page import HtmlPage, read, write_html
from pincite.reading.web.html.tree import parse_html

__all__ = [
    "HtmlFacts",
    "HtmlPage",
    "decode_html",
    "decode_labelled",
    "parse_html",
    "read",
    "write_html",
]
