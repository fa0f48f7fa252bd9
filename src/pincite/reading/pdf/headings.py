"""Which paragraphs of a document are headings, and how deep.

By what the file itself says (tags, then the outline), and where it says nothing by type: larger
than the text's, or bold. Larger type is a higher heading.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from pincite.reading.pdf.blocks import PageBlock
from pincite.reading.pdf.pdfium import Handle, address, raw, utf16
from pincite.reading.pdf.words import Style
from pincite.records import BlockKind

_LONGEST = 150  # letters of a heading that is told by its type
_MOST_LINES = 3
_LARGER = 1.12  # times the size of the text
_AS_LARGE = 0.95  # times the size of the text, in bold
_SAME_SIZE = 0.03  # share by which sizes of one level may differ
_DEEPEST = 6
_LIST_OF_BOLD = 5  # bold paragraphs in a row, with no text between: none of them is a heading
_MOSTLY_BOLD = 0.4  # share of a text's letters that makes bold mean nothing
_MUCH_TEXT = 1_000  # letters of a page that has a type of its own
_FEWEST_TAGGED = 2  # headings, for a file whose tags are all that counts
_PAGES_FOR_A_TAG = 10  # that may have but one tagged heading

_WORD = re.compile(r"[^\W\d_]{2}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_NO_HEADING = re.compile(
    r"(?:fig(?:ure|\.)?|table|tab\.|abbildung|tabelle|chart|exhibit) ?\d"
    r"|[(\[•·@]|.*(?:https?:|www\.)",
    re.IGNORECASE,
)
_NO_TITLE = re.compile(
    r"\W*(?:\d[\d.]*\s+)?(?:(?:table of )?contents?|abstract|summary|introduction|index|preface"
    r"|foreword|inhalt(?:sverzeichnis)?|sommaire|índice|agenda)\W*$|\d[\d.]*\s",
    re.IGNORECASE,
)
_NO_END = re.compile(r"[.,;]$")
_A_LIST = 3  # commas: names, not a heading
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s")
_NORMAL = re.compile(r"[\W_]+")

_MOST_ENTRIES = 10_000

_HEADING = re.compile(r"H([1-6])")
_MOST_STEPS = 1_000_000  # through the structure of one document; headings beyond are not known
_FEW = 200  # parts of an element: all of them are looked at
_MISSES = 100  # parts of other pages in a row: those of this page are over
_BACK = 20  # parts before the last one of the page before, to begin with


def mark_headings(blocks: Sequence[PageBlock], outline: Sequence[Entry]) -> None:
    """Turn the paragraphs that are headings into such, with their levels."""
    tagged = {id(block): block.level for block in blocks if block.level}
    pages = len({_page(block) for block in blocks})
    # Blocks (by `id`) that are a bookmark's words, or those behind a number, on its page.
    saying: dict[tuple[int, str], list[PageBlock]] = {}
    for block in blocks if outline else ():
        if block.kind is not BlockKind.TABLE and len(block.lines) <= _MOST_LINES:
            text = block.text
            for words in {_normal(text), _normal(_NUMBERED.sub("", text, count=1))}:
                saying.setdefault((_page(block), words), []).append(block)
    levels: dict[int, int] = {}
    for entry in outline:
        said = saying.get((entry.page, _normal(entry.title)), [])
        found = next((block for block in said if id(block) not in levels), None)
        if found is not None and _normal(entry.title):
            levels[id(found)] = entry.level
    levels |= tagged
    candidates = [block for block in blocks if id(block) in levels]
    if len(tagged) < max(_FEWEST_TAGGED, pages / _PAGES_FOR_A_TAG):
        candidates += [block for block in _by_type(blocks) if id(block) not in levels]
    else:
        candidates = [block for block in blocks if id(block) in tagged]
    style_levels = _style_levels(candidates, levels)
    for block in candidates:
        block.level = levels.get(id(block)) or style_levels[_kind(block.style)]
        block.kind = BlockKind.HEADING
    _deepen_numbered([block for block in candidates if id(block) not in levels])


def shown_title(blocks: Sequence[PageBlock]) -> str | None:
    """What stands in the largest type on the first page, if that is larger than the text."""
    text = _text_style(blocks)
    large = [
        block
        for block in blocks
        if _page(block) == 1
        and _stands_out(block, text)
        and _reads_like_one(block)
        and not _NO_TITLE.match(block.text)
    ]
    if not large:
        return None
    first = max(large, key=lambda block: block.style.size)
    if first.style.size < _LARGER * text.size:
        return None
    parts = [first.text]
    following = large[large.index(first) + 1 :]
    if " " not in first.text and following:  # the name of a firm, say, above the title itself
        parts.append(following[0].text)
    return " – ".join(parts)


def _normal(text: str) -> str:
    return _NORMAL.sub("", text).casefold()


def _by_type(blocks: Sequence[PageBlock]) -> list[PageBlock]:
    # The type of the text of each page, or of the document where a page has little text.
    of_document = _text_style(blocks)
    texts = {}
    for page, group in groupby(blocks, key=_page):
        on_page = list(group)
        letters = sum(len(line.text) for block in on_page for line in block.lines)
        texts[page] = _text_style(on_page) if letters >= _MUCH_TEXT else of_document
    found = [
        block
        for block in blocks
        if _stands_out(block, texts[_page(block)]) and _reads_like_one(block)
    ]
    chosen = {id(block) for block in found}
    for is_heading, group in groupby(blocks, key=lambda block: id(block) in chosen):
        for style, alike in groupby(group, key=lambda block: _kind(block.style)):
            row = list(alike)
            is_text_size = style[0] <= _LARGER * texts[_page(row[0])].size
            if is_heading and len(row) >= _LIST_OF_BOLD and is_text_size:
                chosen.difference_update(id(block) for block in row)
    return [block for block in found if id(block) in chosen]


def _page(block: PageBlock) -> int:
    return block.lines[0].sheet.number


def _text_style(blocks: Sequence[PageBlock]) -> Style:
    """The size of most letters; bold if much of the text is."""
    sizes: Counter[float] = Counter()
    bold = 0
    for block in blocks:
        for line in block.lines:
            letters = 0 if line.cells[0][0].omitted else len(line.text)
            sizes[line.size] += letters
            bold += letters * line.style.bold
    size = max(sizes, key=sizes.__getitem__, default=0.0)
    return Style(size, bold=bold > _MOSTLY_BOLD * sizes.total())


def _stands_out(block: PageBlock, text: Style) -> bool:
    if block.kind is BlockKind.TABLE or len(block.lines) > _MOST_LINES:
        return False
    style = block.style
    if style.size >= _LARGER * text.size:
        return True
    return style.bold and not text.bold and style.size >= _AS_LARGE * text.size


def _reads_like_one(block: PageBlock) -> bool:
    text = block.text
    if len(text) > _LONGEST or not _WORD.search(text) or _NO_HEADING.match(text):
        return False
    if block.lines[0].is_aside or any(word.omitted for word in block.words):
        return False
    if text.count(",") >= _A_LIST:
        return False
    return not _NO_END.search(text) or bool(_NUMBERED.match(text))


def _kind(style: Style) -> tuple[float, bool]:
    return style.size, style.bold


def _style_levels(
    candidates: Sequence[PageBlock], known: dict[int, int]
) -> dict[tuple[float, bool], int]:
    """Larger type is a higher level; where the outline knows a type's level, it has the word."""
    votes: dict[tuple[float, bool], Counter[int]] = {}
    for block in candidates:
        votes.setdefault(_kind(block.style), Counter())[known.get(id(block), 0)] += 1
    levels: dict[tuple[float, bool], int] = {}
    level, last_size = 0, (float("inf"), False)
    for kind in sorted(votes, reverse=True):
        told = {level: count for level, count in votes[kind].items() if level}
        is_new = kind[0] < last_size[0] * (1 - _SAME_SIZE) or kind[1] != last_size[1]
        if told:
            level = max(told, key=told.__getitem__)
        elif is_new:
            level = min(level + 1, _DEEPEST)
        levels[kind] = max(level, 1)
        last_size = kind
    return levels


def _deepen_numbered(blocks: Sequence[PageBlock]) -> None:
    """Of headings in one type, 2.1 is below 2."""
    by_kind: dict[tuple[float, bool], list[tuple[PageBlock, int]]] = {}
    for block in blocks:
        if found := _NUMBERED.match(block.text):
            depth = found[1].count(".")
            by_kind.setdefault(_kind(block.style), []).append((block, depth))
    for numbered in by_kind.values():
        shallowest = min(depth for _, depth in numbered)
        for block, depth in numbered:
            block.level = min(block.level + depth - shallowest, _DEEPEST)


@dataclass(frozen=True, slots=True)
class Entry:
    """A bookmark: its words, how deep it is (from 1) and the page it leads to (from 1)."""

    title: str
    level: int
    page: int


def outline_of(document: Handle) -> list[Entry]:
    """The bookmarks in order, however they are tangled; those that lead nowhere are left out."""
    entries = []
    # Each bookmark once with its depth, children after their parent.
    met: set[bytes] = set()
    waiting = [(raw.FPDFBookmark_GetFirstChild(document, None), 1)]
    while waiting and len(met) < _MOST_ENTRIES:
        bookmark, level = waiting.pop()
        if not bookmark or address(bookmark) in met:
            continue
        met.add(address(bookmark))
        waiting.append((raw.FPDFBookmark_GetNextSibling(document, bookmark), level))
        if level < _DEEPEST:
            waiting.append((raw.FPDFBookmark_GetFirstChild(document, bookmark), level + 1))
        destination = raw.FPDFBookmark_GetDest(document, bookmark)
        if not destination:
            action = raw.FPDFBookmark_GetAction(bookmark)
            destination = raw.FPDFAction_GetDest(document, action) if action else None
        page = raw.FPDFDest_GetDestPageIndex(document, destination) if destination else -1
        title = " ".join(utf16(raw.FPDFBookmark_GetTitle, bookmark).split())
        if title and page >= 0:
            entries.append(Entry(title, level, page + 1))
    return entries


class TaggedHeadings:
    """Asks for the headings of one page after the other.

    The structure of a page is given as that of the document with what stands on other pages left
    out, so a long document has many empty parts on every page. They are in reading order mostly:
    the parts of a page are looked for where those of the page before ended.
    """

    def __init__(self) -> None:
        self._steps = 0
        self._reached = 0

    def on(self, page: Handle) -> dict[int, int]:
        """Marked content of the page that is a heading → its level."""
        if self._steps > _MOST_STEPS:
            return {}
        tree = raw.FPDF_StructTree_GetForPage(page)
        if not tree:
            return {}
        try:
            levels: dict[int, int] = {}
            count = raw.FPDF_StructTree_CountChildren(tree)
            waiting = [
                (raw.FPDF_StructTree_GetChildAtIndex(tree, index), 0) for index in range(count)
            ]
            while waiting and self._steps <= _MOST_STEPS:
                element, level = waiting.pop()
                if not element:
                    continue
                if found := _HEADING.fullmatch(utf16(raw.FPDF_StructElement_GetType, element)):
                    level = int(found[1])
                if level:
                    levels.update((mark, level) for mark in self._marks(element))
                waiting.extend((child, level) for child in self._children(element))
            return levels
        finally:
            raw.FPDF_StructTree_Close(tree)

    def _marks(self, element: Handle) -> Iterator[int]:
        for index in range(min(raw.FPDF_StructElement_CountChildren(element), _FEW)):
            mark = raw.FPDF_StructElement_GetChildMarkedContentID(element, index)
            if mark >= 0:
                yield mark

    def _children(self, element: Handle) -> list[Handle]:
        count = raw.FPDF_StructElement_CountChildren(element)
        if count <= _FEW:
            return self._children_in(element, range(count), misses=count)
        first = max(self._reached - _BACK, 0)
        found = self._children_in(element, range(first, count), misses=_MISSES)
        return found or self._children_in(element, range(count), misses=_MISSES)

    def _children_in(self, element: Handle, places: range, *, misses: int) -> list[Handle]:
        """Children at these places, up to where so many in a row are missing after the first."""
        found: list[Handle] = []
        missed = 0
        for index in places:
            self._steps += 1
            child = raw.FPDF_StructElement_GetChildAtIndex(element, index)
            if child:
                found.append(child)
                missed = 0
                if places.stop > _FEW:
                    self._reached = index
            elif found:
                missed += 1
                if missed > misses:
                    break
        return found
