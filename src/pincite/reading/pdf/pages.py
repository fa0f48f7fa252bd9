"""The pages of a PDF → their columns, line by line, and what could not be read of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pincite.errors import FileUnreadable
from pincite.reading.pdf.columns import columns_of
from pincite.reading.pdf.hidden import HiddenWords
from pincite.reading.pdf.lines import Line, lines_of, segments_of
from pincite.reading.pdf.pdfium import Handle, raw
from pincite.reading.pdf.sheet import Sheet, sheet_of
from pincite.reading.pdf.tags import TaggedHeadings
from pincite.reading.pdf.vertical import as_lines
from pincite.reading.pdf.words import Word, page_words
from pincite.records import Modality

_MOST_PAGES = 10_000
_MOST_WORDS = 500_000  # of one document, about 1,500 pages: what fits into memory and time
_MOST_NOTES = 1_000  # annotations of a page that are looked at
_WRITTEN_ON = (raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_STAMP)

Column = list[Line]


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
            if self._is_empty_form(columns[0][0].text):
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

    def _is_empty_form(self, first_line: str) -> bool:
        is_dynamic = raw.FPDF_GetFormType(self._document) == raw.FORMTYPE_XFA_FULL
        return is_dynamic and first_line.startswith("Please wait")

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
