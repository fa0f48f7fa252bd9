"""Jupyter notebooks → Content: cells in order, each counting as a page, with their text outputs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from pincite.errors import FileUnreadable
from pincite.reading import facts
from pincite.reading.data.structured import json_value
from pincite.reading.encoding import decode_filled
from pincite.reading.lines.front_matter import FrontMatter, split_front_matter
from pincite.reading.lines.markdown import heading_text
from pincite.reading.lines.outline import OutlineBlock, outline
from pincite.reading.source_file import SourceFile
from pincite.reading.writer import Writer
from pincite.records import BlockKind, Content, Metadata
from pincite.text.lines import LineIndex

_LONGEST_OUTPUT = 2_000  # characters; what a program prints beyond is seldom read
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_EMBEDDED = re.compile(r"data:[\w/+.-]{1,80};base64,[A-Za-z0-9+/=]{16,}")
# What stands for a picture: <Figure size 640x480 with 1 Axes>.
_OBJECT = re.compile(r"\A<[^<>\n]{1,200}>\Z")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CELL_BAR = re.compile(r"(?<!\\)\|")
_TABLE_RULE = re.compile(r"[ \t|:-]+")

_Record = Mapping[str, object]


def read(file: SourceFile) -> Content:
    """Read a notebook of format 3 or 4. Pictures and other outputs that are no text are left."""
    try:
        notebook = json_value(decode_filled(file.data))
    except ValueError as error:
        raise FileUnreadable("is not a notebook: it is not JSON; open and save it again") from error
    if not isinstance(notebook, dict) or not ("cells" in notebook or "worksheets" in notebook):
        raise FileUnreadable("is not a notebook: it has no cells; open and save it again")
    # The cells in order; format 3 keeps them in work sheets.
    holders = (notebook, *_records(notebook.get("worksheets")))
    cells = [cell for holder in holders for cell in _records(holder.get("cells"))]
    # What a first cell that is not code may say about the notebook, between lines of dashes.
    has_front = bool(cells) and cells[0].get("cell_type") != "code"
    front = split_front_matter(_source(cells[0])) if has_front else FrontMatter()
    writer = Writer()
    titles: list[str] = []
    for number, cell in enumerate(cells, start=1):
        writer.page = number
        skipped = front.end if number == 1 else 0
        titles.extend(_write_cell(writer, cell, _source(cell)[skipped:]))
    about = _record(notebook.get("metadata"))
    return writer.content(
        "ipynb",
        title=front.title or next(iter(titles), None) or facts.one_line(about.get("title")),
        metadata=_metadata(about, front, cells=len(cells)),
    )


def _metadata(about: _Record, front: FrontMatter, *, cells: int) -> Metadata:
    kernel, language = _record(about.get("kernelspec")), _record(about.get("language_info"))
    return Metadata(
        tags=front.metadata.tags or facts.tags(about.get("tags", about.get("keywords"))),
        author=front.metadata.author or facts.names(about.get("authors", about.get("author"))),
        date=front.metadata.date or facts.iso_date(about.get("date")),
        language=facts.one_line(language.get("name")) or facts.one_line(kernel.get("language")),
        pages=cells,
    )


def _write_cell(writer: Writer, cell: _Record, source: str) -> Iterator[str]:
    """Write the cell, and yield its headings of the first level: the first of all is the title."""
    match cell.get("cell_type"):
        case "markdown":
            text = _EMBEDDED.sub("", source)
            lines = LineIndex(text)
            for block in outline(text, lines):
                words = text[lines.start_of(block.first) : lines.end_of(block.last)]
                _write_block(writer, block, words)
                if block.kind is BlockKind.HEADING and block.level == 1:
                    yield heading_text(block.heading)
        case "heading":
            level = cell.get("level")
            writer.heading(heading_text(source), level if isinstance(level, int) else 1)
            if level == 1:
                yield heading_text(source)
        case "code":
            writer.code(source)
            for output in _outputs(cell):
                said = _EMBEDDED.sub("", output).strip("\n").rstrip()
                is_long = len(said) > _LONGEST_OUTPUT
                writer.code(f"{said[:_LONGEST_OUTPUT].rstrip()}…" if is_long else said)
        case _:
            writer.paragraph(source)


def _write_block(writer: Writer, block: OutlineBlock, words: str) -> None:
    match block.kind:
        case BlockKind.HEADING:
            writer.heading(heading_text(block.heading), block.level)
        case BlockKind.ITEM:
            writer.item(words.rstrip(), mark="")
        case BlockKind.TABLE:
            writer.table(_rows(words))
        case BlockKind.CODE:
            writer.code(words)
        case BlockKind.PARAGRAPH:
            writer.paragraph(words)


def _rows(table: str) -> Iterator[list[str]]:
    """The rows of a Markdown table, less the rule under its head."""
    for line in table.splitlines():
        if not _TABLE_RULE.fullmatch(line):
            yield [cell.replace("\\|", "|") for cell in _CELL_BAR.split(line.strip().strip("|"))]


def _outputs(cell: _Record) -> Iterator[str]:
    """What the cell's code printed, returned or failed with, as far as it is text."""
    for output in _records(cell.get("outputs")):
        data = _record(output.get("data"))
        match output.get("output_type"):
            case "stream":
                yield _printed(_text(output.get("text")))
            case "error" | "pyerr":
                # The line that says what went wrong: the last of the trace.
                name, value = _text(output.get("ename")), _text(output.get("evalue"))
                said = ": ".join(part for part in (name, value.partition("\n")[0]) if part)
                trace = _printed(_text(output.get("traceback"), between="\n")).strip()
                yield said or trace.rpartition("\n")[2]
            case _:
                shown = data.get("text/markdown") or data.get("text/plain") or output.get("text")
                yield _OBJECT.sub("", _printed(_text(shown)))


def _printed(text: str) -> str:
    """As a terminal would show it: without colours, and of lines written over, the last state."""
    lines = _COLOURS.sub("", text).replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)


def _source(cell: _Record) -> str:
    return _text(cell.get("source", cell.get("input")))


def _text(value: object, between: str = "") -> str:
    """Texts are kept whole or as a list of lines; half a character in them is no character."""
    parts: Iterable[object] = value if isinstance(value, list) else [value]
    text = between.join(part for part in parts if isinstance(part, str))
    return _SURROGATE.sub("\ufffd", text)


def _record(value: object) -> _Record:
    return value if isinstance(value, dict) else {}


def _records(value: object) -> list[_Record]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
