"""A PDF's bytes → its content: pages, their columns line by line, and what it says about itself."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

from pincite.errors import FileUnreadable
from pincite.reading.pdf.blocks import PageBlock, Row, blocks_of, joined
from pincite.reading.pdf.headings import TaggedHeadings, mark_headings, outline_of, shown_title
from pincite.reading.pdf.hidden import HiddenWords
from pincite.reading.pdf.lines import (
    Line,
    columns_of,
    is_blank_between,
    lines_of,
    running_lines,
    segments_of,
)
from pincite.reading.pdf.pdfium import Handle, opened, raw, utf16
from pincite.reading.pdf.words import Sheet, Word, as_lines, page_words, sheet_of
from pincite.reading.source_file import SourceFile
from pincite.reading.writer import Run, Writer
from pincite.records import BlockKind, Content, Metadata, Modality, OmissionReason

_MOST_PAGES = 10_000
_MOST_WORDS = 500_000  # of one document, about 1,500 pages: what fits into memory and time
_MOST_NOTES = 1_000  # annotations of a page that are looked at
_WRITTEN_ON = (raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_STAMP)

Column = list[Line]

_LONGEST = 300  # characters of a title or an author
_MOST_TAGS = 30
_DATE = re.compile(
    r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([Zz+-])(\d\d)?'?(\d\d)?'?)?"
)
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")
# What programs write for want of a title: their own name, the file's, or that there is none.
_NO_TITLE = re.compile(
    r"(?:microsoft|untitled\b|slide \d).*|\(?anonymous\)?|unknown|unnamed|title|no title|model"
    r"|document ?\d*|(?:powerpoint )?presentation ?\d*"
    r"|.*\.(?:docx?|pptx?|xlsx?|pdf|tex|dvi|indd|qxd|rtf|odt|html?)"
    r"|[^\s_]*_\S*|[\W\d_]*",
    re.IGNORECASE,
)
_NOBODY = re.compile(
    r"\(?anonymous\)?|unknown|user|admin(?:istrator)?|root|owner|author|python-docx|[\W\d_]*",
    re.IGNORECASE,
)
# XMP, as it stands in the file: a packet is seldom compressed, so that anybody may find it.
_XMP = {
    "Title": re.compile(rb"<dc:title>\s*<rdf:Alt>\s*<rdf:li[^>]{0,100}>([^<]{1,600})<"),
    "Author": re.compile(rb"<dc:creator>\s*<rdf:Seq>\s*<rdf:li[^>]{0,100}>([^<]{1,600})<"),
}

_BLANK = Run(" ")
_NEXT_LINE = Run("\n")
_BETWEEN_CELLS = Run("  ")  # of a line that is no row of a table
_FAR = 2.0  # times the size: a gap that a reader would not take for a blank

_BROKEN = re.compile(r"(?<![^\W\d_])[^\W\d_]{2,}[-\u2010\u00ad]$")
_LETTERS = re.compile(r"[^\W\d_]+")
_SIGNS = "()[]{}<>.,;:!?\"'“”‘’«»…"
_LONG = 4  # letters: two words as long as this are hardly the halves of another


def read(file: SourceFile) -> Content:
    """The text of a PDF in reading order, with the page and box of each word."""
    with opened(file) as document:
        pages = Pages(document)
        # Paragraphs, items and tables of all columns, without what runs through every page.
        columns = pages.columns()
        running = running_lines([line for column in columns for line in column])
        blocks = joined(
            blocks_of([line for line in column if id(line) not in running]) for column in columns
        )
        mark_headings(blocks, outline_of(document))
        title = _own_title(document, file) or shown_title(blocks)
        # All blocks, in order; each is emptied, as a long document would not fit in memory twice.
        writer = Writer()
        known = _Vocabulary(blocks)
        for block in blocks:
            match block.kind:
                case BlockKind.HEADING:
                    writer.heading(_runs(block.lines, known), block.level)
                case BlockKind.ITEM:
                    writer.item(_runs(block.lines, known), mark="")
                case BlockKind.TABLE:
                    sheet = block.lines[0].sheet
                    writer.table_of_runs(_row_runs(row, sheet) for row in block.rows)
                case _:
                    writer.paragraph(_runs(block.lines, known))
            block.lines.clear()
            block.rows.clear()
        author = _property(document, file, "Author")
        return writer.content(
            "pdf",
            title=title,
            metadata=Metadata(
                tags=_tags(_text(document, "Keywords")),
                author=None if _NOBODY.fullmatch(author) else author,
                date=_date_of(_text(document, "CreationDate")),
                language=_language(document),
                modified=_date_of(_text(document, "ModDate")),
                pages=pages.count,
                notes=pages.notes(),
            ),
            modality=pages.modality(),
        )


class Pages:
    """The pages of one document, and what could not be read of them."""

    def __init__(self, document: Handle) -> None:
        self._document = document
        self._hidden = HiddenWords()
        self._tags = TaggedHeadings()
        self._damaged: list[int] = []
        self._cut: list[int] = []
        self._read = 0
        self.count = raw.FPDF_GetPageCount(document)
        if self.count <= 0:
            raise FileUnreadable("is damaged: it has no pages")

    def columns(self) -> list[Column]:
        """The columns of all pages in reading order; FileUnreadable where there are none."""
        columns: list[Column] = []
        words = 0
        for number in range(1, min(self.count, _MOST_PAGES) + 1):
            if words > _MOST_WORDS:
                break
            with self._loaded(number) as page:
                if page:
                    sheet = sheet_of(page, number)
                    found, is_all = page_words(page, sheet)
                    self._hidden.judge(page, sheet, found)
                    columns += _columns(found, sheet, self._tags.on(page))
                    words += len(found)
                    self._cut += [] if is_all else [number]
                else:
                    self._damaged.append(number)
            self._read = number
        self._check(columns)
        return columns

    @contextmanager
    def _loaded(self, number: int) -> Iterator[Handle]:
        page = raw.FPDF_LoadPage(self._document, number - 1)
        if page and _is_written_on(page) and raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY):
            raw.FPDF_ClosePage(page)
            page = raw.FPDF_LoadPage(self._document, number - 1)
        try:
            yield page
        finally:
            if page:
                raw.FPDF_ClosePage(page)

    def _check(self, columns: Sequence[Column]) -> None:
        """FileUnreadable where there is no text, with what to do about it."""
        if columns:
            is_dynamic = raw.FPDF_GetFormType(self._document) == raw.FORMTYPE_XFA_FULL
            if is_dynamic and columns[0][0].text.startswith("Please wait"):
                raise FileUnreadable(
                    "is a form that only Adobe's programs can show (XFA); print it to a PDF"
                )
            return
        if self._hidden.scans:
            raise FileUnreadable(
                "holds only scanned pages, without text; "
                "run `pincite convert --ocr` to recognise them"
            )
        if self._damaged:
            raise FileUnreadable("is damaged: its pages cannot be read")

    def notes(self) -> tuple[str, ...]:
        """What could not be read, in words for the report."""
        notes = []
        if scans := self._hidden.scans:
            notes.append(_named(scans, "is a scan without text", "are scans without text"))
        if self._damaged:
            notes.append(_named(self._damaged, "is damaged", "are damaged"))
        if self._cut:
            too_long = "read in part only, being too long"
            notes.append(_named(self._cut, f"was {too_long}", f"were {too_long}"))
        if self._read < self.count:
            rest = range(self._read + 1, self.count + 1)
            too_much = "not read: too much for one document; split the file"
            notes.append(_named(rest, f"was {too_much}", f"were {too_much}"))
        return tuple(notes)

    def modality(self) -> Modality:
        """OCR where most of the text was recognised in scans."""
        return Modality.OCR if self._hidden.recognised > self._hidden.seen else Modality.TEXT


def _is_written_on(page: Handle) -> bool:
    """Whether there are fields of a form, notes or stamps: their text is no part of the page."""
    for index in range(min(raw.FPDFPage_GetAnnotCount(page), _MOST_NOTES)):
        note = raw.FPDFPage_GetAnnot(page, index)
        if not note:
            continue
        kind = raw.FPDFAnnot_GetSubtype(note)
        raw.FPDFPage_CloseAnnot(note)
        if kind in _WRITTEN_ON:
            return True
    return False


def _columns(words: list[Word], sheet: Sheet, levels: dict[int, int]) -> Iterator[Column]:
    """The columns of a page: first those of the direction most of it is written in."""
    words = as_lines(words, sheet)
    letters: dict[int, int] = {}
    for word in words:
        letters[word.look.turn] = letters.get(word.look.turn, 0) + len(word.text)
    turns = sorted(letters, key=lambda turn: (-letters[turn], turn))
    for turn in turns:
        segments = segments_of(word for word in words if word.look.turn == turn)
        for column in columns_of(segments):
            lines = lines_of(column, sheet)
            for line in lines:
                line.is_aside = turn != turns[0]
                line.level = levels.get(line.words[0].look.mark, 0)
            yield lines


def _named(numbers: Sequence[int], one: str, several: str) -> str:
    """Pages in words: `page 3 is …`, `pages 3–5 and 8 are …`."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][-1] + 1:
            ranges[-1] = [ranges[-1][0], number]
        else:
            ranges.append([number])
    if len(numbers) == 1:
        return f"page {numbers[0]:,} {one}"
    parts = ["–".join(f"{number:,}" for number in part) for part in ranges]
    return f"pages {', '.join(parts[:-1])}{' and ' if parts[1:] else ''}{parts[-1]} {several}"


def _own_title(document: Handle, file: SourceFile) -> str | None:
    """The title in the file's properties, if somebody gave it one."""
    title = _property(document, file, "Title")
    name = file.path.rpartition("/")[2].rpartition(".")[0]
    return None if _NO_TITLE.fullmatch(title) or name.endswith(title) else title


def _date_of(written: str) -> str | None:
    """A date as PDFs write it (`D:20240131120000+01'00'`) in ISO 8601; None if it is none."""
    found = _DATE.match(written)
    if not found:
        return None
    known = [int(part) for part in found.groups()[:6] if part]
    year, month, day, hour, minute, second = [*known, *(0, 1, 1, 0, 0, 0)[len(known) :]]
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    if len(known) <= 3:
        return moment.date().isoformat()[: (4, 7, 10)[len(known) - 1]]
    return _with_zone(moment, *found.groups()[6:])


def _with_zone(moment: datetime, sign: str | None, hours: str | None, minutes: str | None) -> str:
    if sign is None:
        return moment.replace(tzinfo=None).isoformat()
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    if sign in "Zz" or offset >= timedelta(days=1):
        offset = timedelta(0)
    return moment.replace(tzinfo=timezone(-offset if sign == "-" else offset)).isoformat()


def _property(document: Handle, file: SourceFile, key: str) -> str:
    text = _text(document, key)
    if not text and (found := _XMP[key].search(file.data)):
        text = " ".join(html.unescape(found[1].decode("utf-8", "replace")).split())
    return text[:_LONGEST]


def _text(document: Handle, key: str) -> str:
    text = utf16(raw.FPDF_GetMetaText, document, key.encode() + b"\0")
    return " ".join(text.replace("\0", " ").split())


def _tags(keywords: str) -> tuple[str, ...]:
    tags = dict.fromkeys(part.strip()[:100] for part in re.split("[,;]", keywords))
    return tuple(tag for tag in tags if tag)[:_MOST_TAGS]


def _language(document: Handle) -> str | None:
    """The language in its usual spelling: `pt-BR`, `zh-Hans`."""
    written = utf16(raw.FPDFCatalog_GetLanguage, document).strip()
    if not _LANGUAGE.fullmatch(written):
        return None
    language, *parts = written.split("-")
    spelled = (part.upper() if len(part) == 2 else part.capitalize() for part in parts)
    return "-".join((language.lower(), *spelled))


class _Vocabulary:
    """Which of the words that line ends break stand elsewhere in the document, whole or not."""

    def __init__(self, blocks: Sequence[PageBlock]) -> None:
        breaks = [
            (before, after)
            for block in blocks
            for one, other in pairwise(block.lines)
            if (before := _start_of_word(one)) and (after := _rest_of_word(other))
        ]
        wanted: set[str] = set()
        for before, after in breaks:
            wanted.update((before, after, before + after, f"{before}-{after}"))
        self._known = set(self._found(blocks, wanted)) if wanted else set()

    def _found(self, blocks: Sequence[PageBlock], wanted: set[str]) -> Iterator[str]:
        for block in blocks:
            is_broken = False
            for line in block.lines:
                words = line.words[1:] if is_broken else line.words
                is_broken = bool(_start_of_word(line))
                for word in words[:-1] if is_broken else words:
                    plain = word.text.strip(_SIGNS).casefold()
                    if plain in wanted:
                        yield plain

    def is_compound(self, first: str, rest: str) -> bool:
        """Whether two parts at a line's end keep the hyphen between them."""
        if f"{first}-{rest}" in self._known:
            return True
        both = first in self._known and rest in self._known
        return both and min(len(first), len(rest)) >= _LONG and first + rest not in self._known


def _start_of_word(line: Line) -> str:
    """The part of a word that a hyphen breaks off at the end of a line; empty if none is."""
    last = line.cells[-1][-1]
    found = _BROKEN.search(last.text) if last.omitted is None else None
    return found[0][:-1].casefold() if found else ""


def _rest_of_word(line: Line) -> str:
    """What a line begins with if it may be the rest of a word, which goes on in lower case."""
    first = line.cells[0][0].text
    found = _LETTERS.match(first) if first[0].islower() else None
    return found[0].casefold() if found else ""


def _runs(lines: Sequence[Line], known: _Vocabulary) -> list[Run]:
    """Every line with its end, which is left out where it breaks a word."""
    runs: list[Run] = []
    for line, following in zip(lines, [*lines[1:], None], strict=True):
        runs += _line_runs(line)
        start, rest = _start_of_word(line), _rest_of_word(following) if following else ""
        if not start or not rest:
            runs.append(_NEXT_LINE)
        elif known.is_compound(start, rest):
            runs.append(Run("\n", omitted=OmissionReason.HYPHEN))
        else:
            last = runs.pop()
            runs.append(replace(last, text=last.text[:-1]))
            runs.append(Run(last.text[-1] + "\n", omitted=OmissionReason.HYPHEN))
    return runs


def _line_runs(line: Line) -> list[Run]:
    runs: list[Run] = []
    for at, cell in enumerate(line.cells):
        if at:
            before, after = line.cells[at - 1][-1], cell[0]
            gap = max(after.left - before.right, before.left - after.right)
            runs.append(_BETWEEN_CELLS if gap > _FAR * line.size else _BLANK)
        runs += _cell_runs(cell, line.sheet)
    return runs


def _cell_runs(words: Sequence[Word], sheet: Sheet) -> list[Run]:
    runs: list[Run] = []
    before: Word | None = None
    for word in words:
        if before is not None and is_blank_between(before, word):
            hidden = before.omitted if before.omitted is word.omitted else None
            runs.append(Run(" ", omitted=hidden) if hidden else _BLANK)
        box = sheet.box(word.rectangle, word.look.turn)
        runs.append(Run(word.text, sheet.number, box, omitted=word.omitted))
        before = word
    return runs


def _row_runs(row: Row, sheet: Sheet) -> list[Run]:
    runs = [Run("| ")]
    for at, cell in enumerate(row):
        if at:
            runs.append(Run(" | "))
        runs += _cell_runs(cell, sheet)
    return [*runs, Run(" |")]
