"""A page's bytes → its text: parse, look it over, write what is content."""

from __future__ import annotations

from dataclasses import replace

from lxml import etree

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.facts import one_line
from pincite.reading.source_file import SourceFile
from pincite.reading.web.html.blocks import BlockWriter
from pincite.reading.web.html.decoding import decode_html
from pincite.reading.web.html.facts import HtmlFacts, facts_of
from pincite.reading.web.html.survey import Survey, main_part, survey
from pincite.reading.web.html.tree import DEEPEST, Tree, parse_html, walk
from pincite.reading.web.html.visibility import Visibility
from pincite.reading.writer import Writer
from pincite.records import Content

_TOO_DEEP = f"is nested more than {DEEPEST:,} elements deep; what comes after was left out"


def read(file: SourceFile) -> Content:
    """Read a web page: its main content, without menus and the like."""
    writer = Writer()
    page = HtmlPage(parse_html(decode_html(file.data)), is_web_page=True)
    page.write_to(writer)
    return writer.content("html", title=page.facts.title, metadata=page.facts.metadata)


def write_html(data: bytes | str, writer: Writer, *, charset: str | None = None) -> HtmlFacts:
    """Write all of an HTML text that can be read, and return what it says about itself.

    For HTML inside of other files; nothing is taken for a menu here. An empty one writes nothing.
    """
    text = data if isinstance(data, str) else decode_html(data, charset)
    try:
        page = HtmlPage(parse_html(text))
    except FileEmpty:
        return HtmlFacts()
    page.write_to(writer)
    return page.facts


class HtmlPage:
    """A page that was looked over and can be written."""

    def __init__(self, tree: Tree, *, is_web_page: bool = False) -> None:
        self._tree = tree
        self._visibility = Visibility(tree.root)
        self._with_noscript = False
        self._found = self._surveyed(is_web_page=is_web_page)
        if not self._found.text:
            self._with_noscript = True
            self._found = self._surveyed(is_web_page=is_web_page)
        if tree.is_cut and not self._found.text:
            raise FileUnreadable(f"is nested more than {DEEPEST:,} elements deep")
        self.facts = facts_of(tree.root, self._first_heading)
        if tree.is_cut:
            self.facts = replace(self.facts, notes=(_TOO_DEEP,))

    @property
    def text_length(self) -> int:
        """How many characters a reader sees."""
        return self._found.text

    @property
    def has_heading(self) -> bool:
        """Whether it has a heading of its own."""
        return self._found.has_heading

    def write_to(self, writer: Writer) -> None:
        """Write the content."""
        found, body = self._found, self._tree.body
        part = main_part(found, body)
        if self._title_stands_outside(part):
            writer.heading(self.facts.title or "", 1)
        left_out = set() if found.furniture_is_content else found.furniture
        steps = walk(part, self._visibility, left_out, with_noscript=self._with_noscript)
        BlockWriter(writer, found.data).write(steps)

    def _title_stands_outside(self, part: etree._Element) -> bool:
        """Whether the main part begins below the heading that is the page's title."""
        h1 = self._found.first_h1
        if h1 is None or part is self._tree.body or self._first_heading != self.facts.title:
            return False
        return part not in h1.iterancestors()

    @property
    def _first_heading(self) -> str | None:
        h1 = self._found.first_h1
        return None if h1 is None else one_line("".join(h1.itertext()))

    def _surveyed(self, *, is_web_page: bool) -> Survey:
        return survey(
            self._tree, self._visibility, with_noscript=self._with_noscript, is_page=is_web_page
        )
