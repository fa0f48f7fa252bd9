"""reStructuredText → Content: the text as it is, sections by adorned titles, blocks of lines.

Blocks inside directives are told apart like those outside; an item is one block with all that
belongs to it. Nothing is looked at twice, so any text takes linear time.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator

from pincite.reading import facts
from pincite.reading.encoding import decode_filled
from pincite.reading.lines.line_blocks import Lines, content_of
from pincite.reading.lines.outline import OutlineBlock
from pincite.reading.source_file import SourceFile
from pincite.records import BlockKind, Content, Metadata

_MOST_DESCRIBING = 100  # blocks at the top that may describe the document
_KEYS = {
    "authors": "author",
    "lang": "language",
    "keywords": "tags",
    "category": "tags",
    "categories": "tags",
    "revised": "modified",
}
# `.. title: What static site generators write` into comments at the top.
_COMMENTED_FIELD = re.compile(r"\.\.[ \t]+(title|tags|date|author|language):[ \t]+(\S.*)")
_EXPLICIT = re.compile(r"[ \t]*\.\.(?:[ \t]|$)", re.MULTILINE)
_DIRECTIVE = re.compile(
    r"[ \t]*\.\.[ \t]+(?:\|[^|]*\|[ \t]+)?(?P<name>[A-Za-z](?:[\w.+-]|:(?!:))*)[ \t]?::"
    r"(?:[ \t]+(?P<argument>\S[^\r\n]*))?"
)
_BULLET = re.compile(r"[ \t]*[-*+•‣⁃](?:[ \t]|$)")
_FIELD = re.compile(r"[ \t]*:(?P<name>[^:\s\\][^:\r\n]{0,100}):(?:[ \t]+|$)", re.MULTILINE)
_ENUMERATOR = re.compile(
    r"[ \t]*\(?(?:\d{1,9}|#|[A-Za-z]|[ivxlcdm]{1,9}|[IVXLCDM]{1,9})[.)](?:[ \t]|$)"
)
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*")
_SHORT_ADORNMENT = 4  # characters; a shorter one must be as long as the title to count
_GRID_TOP = re.compile(r"[ \t]*\+-[-+]*-\+")
_GRID_LINE = re.compile(r"[ \t]*[+|]")
_SIMPLE_TOP = re.compile(r"[ \t]*=+(?:[ ]+=+)+")
_SIMPLE_BORDER = re.compile(r"[ \t]*=[= ]*")
_DOCTEST = re.compile(r"[ \t]*>>>(?:[ \t]|$)")

_CODE_DIRECTIVES = frozenset(
    (
        *("code", "code-block", "sourcecode", "parsed-literal", "literalinclude", "math", "raw"),
        *("productionlist", "doctest", "testcode", "testoutput", "testsetup", "prompt", "ipython"),
        *("graphviz", "digraph", "mermaid", "uml", "highlight", "jupyter-execute"),
    )
)
_TABLE_DIRECTIVES = frozenset(("table", "csv-table", "list-table"))

_LONGEST_HEADING = 300
_LITERAL = re.compile(r"``([^`]+)``")
_LINKED = re.compile(r"(?::[\w.+:-]+:)?`~?([^`<]*[^`<\s])(?:\s*<[^`<>]*>)?`_{0,2}")
_EMPHASIS = re.compile(r"(\*{1,2})(?=\S)([^*]*[^*\s])\1")
_ESCAPED = re.compile(r"\\(.)")

_Recogniser = Callable[[Lines, int], OutlineBlock | None]


def read(file: SourceFile) -> Content:
    """Read a file of reStructuredText. Nothing that it includes or draws in is looked at."""
    lines = Lines(decode_filled(file.data))
    blocks = tuple(rst_blocks(lines))
    fields = dict(_fields(lines, blocks))
    return content_of(
        "rst",
        lines,
        blocks,
        title=facts.one_line(fields.get("title")),
        metadata=Metadata(
            tags=facts.tags(fields.get("tags")),
            author=facts.one_line(fields.get("author")),
            date=facts.iso_date(fields.get("date")),
            language=facts.one_line(fields.get("language")),
            modified=facts.iso_date(fields.get("modified")),
        ),
    )


def _fields(lines: Lines, blocks: Iterable[OutlineBlock]) -> Iterator[tuple[str, str]]:
    """What the document says about itself before its text begins, by our names for it."""
    for number, block in enumerate(blocks):
        source = lines.whole(block.first, block.last)
        if number >= _MOST_DESCRIBING or not _is_describing(block, source):
            break
        for name, value in _fields_of(source):
            yield _KEYS.get(name.lower(), name.lower()), value


def _is_describing(block: OutlineBlock, source: str) -> bool:
    if block.kind is BlockKind.HEADING or _EXPLICIT.match(source):
        return True
    return block.kind is BlockKind.ITEM and not _BULLET.match(source) and bool(_FIELD.match(source))


def _fields_of(source: str) -> Iterator[tuple[str, str]]:
    if directive := _DIRECTIVE.match(source):
        if directive["name"] == "title":
            yield "title", directive["argument"] or ""
        elif directive["name"] == "meta":
            for line in source.splitlines()[1:]:
                yield from _fields_of(line.strip())
    elif commented := _COMMENTED_FIELD.match(source):
        yield commented[1], commented[2]
    elif field := _FIELD.match(source):
        yield field["name"], source[field.end() :]


def rst_blocks(lines: Lines) -> Iterator[OutlineBlock]:
    """The blocks of the text in order, without overlap."""
    styles: list[str] = []  # of adornment, in the order they appear: their rank is the level
    line = 1
    while line <= lines.count:
        if not lines[line] or _is_transition(lines, line):
            line += 1
            continue
        block = _titled(lines, line, styles) or _recognised(lines, line)
        yield block
        line = block.last + 1
        if literal := _literal_after(lines, block):
            yield literal
            line = literal.last + 1


def title_words(source: str) -> str:
    """The words of a title: links and roles by their text, no emphasis or code marks."""
    text = _LINKED.sub(r"\1", _LITERAL.sub(r"\1", source))
    text = _ESCAPED.sub(r"\1", _EMPHASIS.sub(r"\2", text))
    return " ".join(text.split())[:_LONGEST_HEADING].rstrip()


def _is_adornment(line: str) -> bool:
    return _ADORNMENT.fullmatch(line) is not None and line not in ("::", "..")


def _is_transition(lines: Lines, line: int) -> bool:
    """A rule across the page: a line of signs between blank lines."""
    rule = lines[line]
    alone = (line == 1 or not lines[line - 1]) and not lines[line + 1]
    return alone and len(rule) >= _SHORT_ADORNMENT and _is_adornment(rule)


def _titled(lines: Lines, line: int, styles: list[str]) -> OutlineBlock | None:
    """A section's title with its adornment under it, or over and under it."""
    over, title, under = "", lines[line], lines[line + 1]
    if len(title) >= _SHORT_ADORNMENT and _is_adornment(title) and lines[line + 2][:1] == title[0]:
        over, title, under = title, lines[line + 1].strip(), lines[line + 2]
    if not title or not _is_adornment(under) or _is_adornment(title) or not _may_be_title(title):
        return None
    width = sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in title)
    if len(under) < min(_SHORT_ADORNMENT, width):
        return None
    style = over[:1] + under[0]
    if style not in styles:
        styles.append(style)
    last = line + (2 if over else 1)
    level = styles.index(style) + 1
    return OutlineBlock(BlockKind.HEADING, line, last, level, title_words(title))


def _may_be_title(line: str) -> bool:
    if len(line) > _LONGEST_HEADING or line[0].isspace():
        return False
    return not (_BULLET.match(line) or _EXPLICIT.match(line))


def _recognised(lines: Lines, line: int) -> OutlineBlock:
    for recognise in _RECOGNISERS:
        if block := recognise(lines, line):
            return block
    indent, last = lines.indent(line), line
    while lines[last + 1] and lines.indent(last + 1) >= indent:
        last += 1
    return OutlineBlock(BlockKind.PARAGRAPH, line, last)


def _explicit(lines: Lines, line: int) -> OutlineBlock | None:
    """A directive, target, footnote or comment: all of it if it is code or a table.

    Of others, the part up to a blank line: what follows indented is text like any other.
    """
    if not _EXPLICIT.match(lines[line]):
        return None
    directive = _DIRECTIVE.match(lines[line])
    name = directive["name"].lower() if directive else ""
    indent = lines.indent(line)
    if name in _CODE_DIRECTIVES:
        return OutlineBlock(BlockKind.CODE, line, lines.last_indented(line, indent))
    if name in _TABLE_DIRECTIVES:
        return OutlineBlock(BlockKind.TABLE, line, lines.last_indented(line, indent))
    last = line
    while lines[last + 1] and lines.indent(last + 1) > indent:
        last += 1
    return OutlineBlock(BlockKind.PARAGRAPH, line, last)


def _grid_table(lines: Lines, line: int) -> OutlineBlock | None:
    if not _GRID_TOP.fullmatch(lines[line]):
        return None
    return OutlineBlock(BlockKind.TABLE, line, lines.run(line, _GRID_LINE.match))


def _simple_table(lines: Lines, line: int) -> OutlineBlock | None:
    """Rows between borders of equals signs; one border more may part the head from the rest."""
    if not _SIMPLE_TOP.fullmatch(lines[line]):
        return None
    width, borders = len(lines[line].strip()), 0
    for row in range(line + 1, lines.count + 1):
        if not _SIMPLE_BORDER.fullmatch(lines[row]):
            continue
        if len(lines[row].strip()) != width:
            return None
        borders += 1
        if borders == 2 or not lines[row + 1]:
            return OutlineBlock(BlockKind.TABLE, line, row)
    return None


def _doctest(lines: Lines, line: int) -> OutlineBlock | None:
    if not _DOCTEST.match(lines[line]):
        return None
    return OutlineBlock(BlockKind.CODE, line, lines.run(line, bool))


def _item(lines: Lines, line: int) -> OutlineBlock | None:
    """An item of a list, a field, or a term with its definition: with all that is under it."""
    first, indent = lines[line], lines.indent(line)
    is_item = (
        _BULLET.match(first)
        or _FIELD.match(first)
        or (_ENUMERATOR.match(first) and _may_follow_enumerator(lines, line))
        or (lines[line + 1] and lines.indent(line + 1) > indent and not first.endswith("::"))
    )
    if not is_item:
        return None
    return OutlineBlock(BlockKind.ITEM, line, lines.last_indented(line, indent))


def _may_follow_enumerator(lines: Lines, line: int) -> bool:
    """Else the line only begins like "A. Lovelace was"."""
    following = lines[line + 1]
    is_indented = lines.indent(line + 1) > lines.indent(line)
    return not following or is_indented or _ENUMERATOR.match(following) is not None


def _literal_after(lines: Lines, block: OutlineBlock) -> OutlineBlock | None:
    """The code that a paragraph announces with two colons at its end."""
    if block.kind is not BlockKind.PARAGRAPH or not lines[block.last].endswith("::"):
        return None
    if _EXPLICIT.match(lines[block.first]):
        return None
    first, indent = lines.next_filled(block.last), lines.indent(block.first)
    if first > lines.count:
        return None
    if lines.indent(first) > indent:
        return OutlineBlock(BlockKind.CODE, first, lines.last_indented(first, indent))
    mark = lines[first].lstrip()[0]
    is_quoted = _ADORNMENT.match(mark) and not _EXPLICIT.match(lines[first])
    if lines.indent(first) == indent and is_quoted:
        last = lines.run(first, lambda line: line.lstrip().startswith(mark))
        return OutlineBlock(BlockKind.CODE, first, last)
    return None


_RECOGNISERS: tuple[_Recogniser, ...] = (_explicit, _grid_table, _simple_table, _doctest, _item)
