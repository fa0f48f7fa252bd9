"""Chunk → its evidence units: what can be quoted.

A unit is what a person would copy as proof: a sentence, an item of a list, a row of a table, what
was said in a recording, the definition of a term, a line of code. What is needed to understand it
(the header of the table, what introduces the list, who speaks, the function around the line) is its
lead. Markup, header rows and hidden text are never units.

A chunk keeps no blocks, so they are told apart by their lines, one after the other: whatever stands
there, the time it takes grows with the text and not faster.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, zip_longest
from typing import NamedTuple

from pincite.records import Chunk, Modality, Omission, Section, UnitKind, overlapping
from pincite.text.sentences import prose_spans, trim
from pincite.text.words import is_unspaced, words_in

LONGEST = 400  # characters of one unit that are shown; a table without full stops has no end
_LONGEST_WHOLE = 160  # an item or a field that is longer is quoted by the sentence
_LONGEST_LEAD = 160
_LONGEST_WORD = 40  # a longer unit is more than a word
_LEAST_SAID = 80  # characters of captions without full stops that are quoted together
_LINE_END = re.compile(r"\n")


class Unit(NamedTuple):
    """A stretch that can be quoted; `start` and `end` are offsets in the document."""

    start: int
    end: int
    kind: UnitKind
    lead: str = ""  # context, on one line; not always word for word
    term: str = ""  # what it defines
    weak: bool = False  # a title, a question, a few words: seldom proof of anything


def units_of(chunk: Chunk) -> tuple[Unit, ...]:
    """What can be quoted of the chunk, in order and without overlap.

    Fragments, such as a lone number, are given only where there is nothing else.
    """
    hidden = [one for one in chunk.omissions if one.reason.is_hidden and not one.reason.is_mark]
    text = _visible(chunk, hidden)
    found = list(_in_document(chunk, text, hidden, _units(chunk, text)))
    if not found:
        found = list(_in_document(chunk, text, hidden, _last_units(chunk, text)))
    proper = [unit for unit in found if not _is_fragment(chunk, unit)]
    return tuple(proper or found)


def _units(chunk: Chunk, text: str) -> Iterator[Unit]:
    """Units by their offsets in the chunk."""
    rows = [place for place in chunk.places if place.row is not None]
    at = 0
    for number, place in enumerate(rows):
        start = max(place.start - chunk.start, at)
        end = min(place.end - chunk.start, len(text))
        yield from _text_units(chunk, text, at, start)
        following = rows[number + 1] if number + 1 < len(rows) else None
        below = following.start - chunk.start if following else end
        after = text[below : below + LONGEST] if following else ""
        if not _names_columns(text[start:end], after):
            is_title = " | " not in text[start:end] and _is_title(text[start:end])
            yield Unit(*trim(text, start, end), "row", weak=is_title)
        at = max(at, end)
    yield from _text_units(chunk, text, at, len(text))


def _names_columns(row: str, following: str) -> bool:
    """Whether a row of a spreadsheet is the header, whose names stand in each row below it."""
    names = [name.strip() for name in row.split(" | ")[:4]]
    return len(names) > 1 and any(name and f"{name}: " in following for name in names)


class _Line(NamedTuple):
    """A line without the space at both ends; `body` is its text."""

    start: int
    end: int
    indent: int
    body: str


class _Heading(NamedTuple):
    """The lines of a heading, and the section that it opens."""

    lines: list[_Line]
    section: Section


_RULE = re.compile(r"[\W_]*$")  # nothing but marks
_TAGS = re.compile(
    r"<[^<>]*>|\{\{[^{}]*\}\}|\{[:#%][^{}]*\}|!?\[[^\[\]]*\]\([^()]*\)|\[\^?[^\[\]]*\]:\s.*"
    r"|(?:https?|ftp)://\S+"
)
_DIRECTIVE = re.compile(r"\.\. |#\+\w|:[\w-]+:$|\[\[?(?:file|image):|@\w+\{|\\\w+\{[^{}]*\}$")
_FENCE = re.compile(r"(?:`{3,}|~{3,})")
_BULLET = re.compile(r"(?:[-*+•‣◦▪●·–—o]|\uf0b7)[ \t\u00a0]+(?:\[[ xX]\][ \t]+)?(?=\S)")
_NUMBER = re.compile(r"(?:\(?\d{1,3}[.)]|\(?[a-zA-Z][.)]|\(?[ivxIVX]{1,5}[.)])[ \t]+(?=\S)")
_HTML_BLOCK = re.compile(
    r"</?(?:p|div|td|th|tr|li|dt|dd|dl|ul|ol|table|tbody|thead|h[1-6]|section|blockquote)\b"
)
_LEADING_TAGS = re.compile(r"(?:</?[a-zA-Z][^<>]*>|&nbsp;|\s)*")
_LONGEST_TAG = 300
_DRAWN_RULE = re.compile(r"(?:={2,}|-{2,})(?: +(?:={2,}|-{2,}))+$")
_TELLING_FIELD = re.compile(
    r"(?:title|description|summary|abstract|subtitle)\s*[:=]\s*(?=\S)", re.IGNORECASE
)
_FRONT = ("---", "+++")
_INLINE = ("{{", "<a", "<c", "<e", "<k")
_ASKS = ("?", "？", "؟")
_INTRODUCES = (":", "：")


def _is_markup(body: str) -> bool:
    """Whether a line holds nothing but marks, tags, links and pictures."""
    if _RULE.match(body) or _DIRECTIVE.match(body):
        return True
    if body[0] in "<{" and _left_open(body):
        return True  # goes on in the next lines
    may_be = body[0] in "<{![h-*+|(f" and len(body) < 2_000
    return may_be and _RULE.match(_TAGS.sub("", body)) is not None


def _lines(text: str, start: int, end: int) -> list[_Line]:
    lines = []
    at = start
    for line in text[start:end].split("\n"):
        body = line.strip()
        indent = len(line) - len(line.lstrip()) if body else len(line)
        lines.append(_Line(at + indent, at + indent + len(body), indent, body))
        at += len(line) + 1
    return lines


def _last_units(chunk: Chunk, text: str) -> Iterator[Unit]:
    """Of a chunk of nothing but front matter, links or a heading: what these say."""
    lines = [line for line in _lines(text, 0, len(text)) if not _RULE.match(line.body)]
    if chunk.start == 0 and text.startswith(_FRONT):
        for line in lines:
            field = _TELLING_FIELD.match(line.body)
            if field:  # its value; the name is markup
                start, end = trim(text, line.start + field.end(), line.end)
                quoted = text[start] in "'\"" and text[start] == text[end - 1] and end - start > 2
                kind: UnitKind = "heading" if "title" in field.group().lower() else "sentence"
                yield Unit(start + quoted, end - quoted, kind)
        return
    title = chunk.heading_path[-1] if chunk.heading_path else ""
    if (at := text.find(title)) >= 0 and title:
        yield Unit(at, at + len(title), "heading", weak=True)
        return
    for line in lines:
        mark = _BULLET.match(line.body)
        if "](" in line.body or "://" in line.body:
            yield Unit(line.start + (mark.end() if mark else 0), line.end, "item")


def _text_units(chunk: Chunk, text: str, start: int, end: int) -> Iterator[Unit]:
    if start >= end or not text[start:end].strip():
        return
    lines = _lines(text, start, end)
    if chunk.modality is Modality.CODE:
        yield from _source_units(chunk, text, lines)
    else:
        yield from _Reading(chunk, text).units(lines)


class _Reading:
    """Goes through the lines of a text, and knows what stands above the one it is at."""

    def __init__(self, chunk: Chunk, text: str) -> None:
        self.chunk = chunk
        self.text = text
        self.headings = {
            trim(text, at := section.start - chunk.start, at + _LONGEST_LEAD)[0]: section
            for section in chunk.sections
            if section.level and section.start >= chunk.start
        }
        self.spoken = chunk.modality in (Modality.VIDEO_TRANSCRIPT, Modality.AUDIO_TRANSCRIPT)
        self.intro = ""  # ends with a colon, right above
        self.asked = ""  # a question, right above
        self.label = ""  # a few words of HTML, right above
        self.speaker = ""
        self.parents: list[tuple[int, str]] = []  # indent and text of the items around
        self.waiting: _Heading | None = None  # has no body so far

    def units(self, lines: Sequence[_Line]) -> Iterator[Unit]:
        """Of all lines."""
        at = self._after_front_matter(lines)
        while at < len(lines):
            line = lines[at]
            if not line.body:
                at += 1
                continue
            heading = self._heading_at(lines, at)
            if heading is not None:
                yield from self._bodiless(heading.section)
                self.waiting, self.intro, self.asked, self.parents = heading, "", "", []
                at += len(heading.lines)
                continue
            if _FENCE.match(line.body):
                after = _fence_end(lines, at)
                units = _code_units(self.text, lines[at + 1 : after - 1], self._around(line))
            elif _DRAWN_RULE.match(line.body):
                after = _run_end(lines, at, "")
                units = _drawn_table_units(self.text, lines[at:after], self._around(line))
            elif _is_markup(line.body):
                at = _after_comment(lines, at)
                continue
            elif line.body.startswith("|"):
                after = _run_end(lines, at, "|")
                continued = at == 0 and self.chunk.position > 0
                units = _table_units(
                    self.text, lines[at:after], self._around(line), continued=continued
                )
            else:
                after = self._block_end(lines, at)
                units = self._block(lines[at:after], lines[at - 1] if at else None)
            for unit in units:
                self.waiting = None
                yield unit
            at = after
        yield from self._bodiless(None)

    def _after_front_matter(self, lines: Sequence[_Line]) -> int:
        if self.chunk.start or lines[0].start or lines[0].body not in _FRONT:
            return 0
        closing = (at for at, line in enumerate(lines) if at and line.body == lines[0].body)
        return next(closing, -1) + 1

    def _heading_at(self, lines: Sequence[_Line], at: int) -> _Heading | None:
        """The lines of the heading that begins here, with what is drawn above and below it."""
        line = lines[at]
        section = self.headings.get(line.start)
        if section is None or _JSON_FIELD.match(line.body):
            return None
        wanted = _letters(section.heading_path[-1] if section.heading_path else line.body)
        taken: list[_Line] = []
        said = 0
        for one in lines[at : at + 8]:
            if said >= len(wanted) or not one.body:
                break
            letters = _letters(one.body)
            if taken and said and letters and letters not in wanted:
                break
            taken.append(one)
            said += len(letters)
        return _Heading(taken or [line], section)

    def _around(self, line: _Line) -> str:
        """What introduces a table or code: the item it stands in, or the paragraph above."""
        while self.parents and self.parents[-1][0] >= line.indent:
            self.parents.pop()
        return self.parents[-1][1] if self.parents else self.intro

    def _bodiless(self, next_section: Section | None) -> Iterator[Unit]:
        """The heading above, if nothing stands below it before the next one."""
        if self.waiting is None:
            return
        lines, section = self.waiting
        if next_section is None:
            goes_on = section.end > self.chunk.end
        else:
            goes_on = next_section.level > section.level
        told = [line for line in lines if not _RULE.match(line.body)]
        body = told[0].body.lstrip("#*= \t") if told else ""
        if body and not goes_on and not _is_markup(body):
            start = told[0].end - len(body)
            yield Unit(*trim(self.text, start, told[-1].end), "heading", weak=True)
        self.waiting = None

    def _block_end(self, lines: Sequence[_Line], at: int) -> int:
        """Behind the paragraph or item that begins here."""
        is_item = _item_mark(lines[at].body) > 0
        for after in range(at + 1, len(lines)):
            line = lines[after]
            may_be_numbered = is_item or lines[after - 1].body.endswith(_INTRODUCES)
            # A shortcode or tag may stand for a word in the middle of a sentence.
            is_open = line.body[:2] in _INLINE and lines[after - 1].body[-1:].isalnum()
            if not line.body or line.start in self.headings:
                return after
            if line.body[:2].isalnum() and not may_be_numbered and not self.spoken:
                continue  # most lines of prose
            if (
                line.body[0] == "|"
                or _FENCE.match(line.body)
                or _BULLET.match(line.body)
                or (may_be_numbered and _NUMBER.match(line.body))
                or (self.spoken and _SPOKEN_BY.match(line.body))
                or _HTML_BLOCK.match(line.body)
                or (line.body[0] in "<{:.#" and _is_markup(line.body) and not is_open)
            ):
                return after
        return len(lines)

    def _block(self, lines: Sequence[_Line], before: _Line | None) -> Iterator[Unit]:
        """The units of a paragraph, an item, fields or JSON."""
        first, last = lines[0], lines[-1]
        if self.spoken:
            yield from self._said(first, last)
            return
        if first.body.startswith("<") or last.body.endswith(">"):
            yield from self._tagged(first, last)
            return
        mark = _item_mark(first.body)
        if mark:
            yield from self._item(first, last, mark)
            return
        self._around(first)
        lead = self.parents[-1][1] if self.parents else ""
        if _is_json(lines):
            yield from _json_units(self.text, lines)
        elif _are_fields(lines):
            yield from _field_units(self.text, lines)
        elif _are_code(lines):
            yield from _code_units(self.text, lines, lead or self.intro)
        elif before is not None and before.body and first.body.startswith(":"):
            yield from self._defined_as(before.body, first, last)
        else:
            yield from self._paragraph(first, last, "" if _is_title(lead) else lead)
        self.intro = ""
        if last.body.endswith(_INTRODUCES):
            *_, span = prose_spans(self.text, first.start, last.end)
            self.intro = _as_lead(self.text[slice(*span)])

    def _tagged(self, first: _Line, last: _Line) -> Iterator[Unit]:
        """A paragraph, or a cell, of HTML; a short one names the next."""
        start, end = _without_tags(self.text, first.start, last.end)
        label, self.label = self.label, ""
        for span in self._sentences(start, end):
            yield self._unit(*span, "sentence", label)
        if _is_title(self.text[start:end]):
            self.label = _as_lead(self.text[start:end])

    def _unit(self, start: int, end: int, kind: UnitKind, lead: str, term: str = "") -> Unit:
        said = self.text[start:end]
        weak = said.endswith((*_ASKS, *_INTRODUCES)) or (kind == "sentence" and _is_title(said))
        return Unit(start, end, kind, lead, term, weak=weak)

    def _paragraph(self, first: _Line, last: _Line, lead: str) -> Iterator[Unit]:
        """Its sentences; one behind a question with the question."""
        defined = _DEFINED.match(self.text, first.start, last.end)
        term = _term(defined)
        spans = list(self._sentences(first.start, last.end))
        if defined and len(spans) > 1 and spans[0][1] <= defined.end():
            spans[:2] = [(spans[0][0], spans[1][1])]  # "**Chart Datum.** The zero of our levels."
        asked, self.asked = self.asked, ""
        for number, (start, end) in enumerate(spans):
            if term and number == 0:
                yield self._unit(start, end, "definition", asked or lead, term)
            else:
                yield self._unit(start, end, "sentence", asked or term or lead)
            is_question = self.text[start:end].endswith(_ASKS) and end - start <= _LONGEST_LEAD
            asked = _as_lead(self.text[start:end]) if is_question else ""
        self.asked = asked  # by its last sentence

    def _defined_as(self, term: str, first: _Line, last: _Line) -> Iterator[Unit]:
        """A colon before the explanation, the term in the line above."""
        for number, span in enumerate(prose_spans(self.text, first.start + 1, last.end)):
            yield self._unit(*span, "sentence" if number else "definition", term, term)

    def _sentences(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Sentences; what has no end is cut between captions, or lines."""
        for span in prose_spans(self.text, start, end):
            if span[1] - span[0] <= LONGEST:
                yield span
                continue
            inside = span[0] + self.chunk.start, span[1] + self.chunk.start
            timed = [
                place.start - self.chunk.start
                for place in overlapping(self.chunk.places, *inside)
                if place.time_start is not None
            ]
            lines = [at.end() for at in _LINE_END.finditer(self.text, *span)]
            if 2 * sum(self.text[at : at + 1].islower() for at in lines) >= len(lines):
                lines = []  # one sentence that is wrapped, however long it is
            cuts, at = timed or lines, span[0]
            for cut in [*cuts, span[1]]:
                # A caption alone is seldom a clause.
                if cut >= at + _LEAST_SAID or cut == span[1] or not timed:
                    first, last = trim(self.text, at, cut)
                    at = max(at, cut)
                    if first < last:
                        yield first, last

    def _item(self, first: _Line, last: _Line, mark: int) -> Iterator[Unit]:
        lead = self._around(first)
        # What is drawn before an item is no part of it; a number may be referred to.
        start = first.start + (mark if _BULLET.match(first.body) else 0)
        self.parents.append((first.indent, _as_lead(self.text[start : last.end])))
        term = _term(_DEFINED.match(self.text, first.start + mark, last.end))
        kind: UnitKind = "definition" if term else "item"
        if last.end - start <= _LONGEST_WHOLE:
            yield self._unit(start, last.end, kind, lead, term)
            return
        for number, (begin, end) in enumerate(self._sentences(start, last.end)):
            if number == 0:
                yield self._unit(begin, end, kind, lead, term)
            else:
                yield self._unit(begin, end, "item", term or lead)

    def _said(self, first: _Line, last: _Line) -> Iterator[Unit]:
        spoken = _SPOKEN.match(first.body)
        start = first.start + (spoken.end() if spoken else 0)
        if spoken and spoken.group("who"):
            self.speaker = _as_lead(spoken.group("who"))
        for begin, end in self._sentences(start, last.end):
            yield self._unit(begin, end, "caption", self.speaker)


# 01:05, [00:01:05 - 00:01:18], or in brackets plain seconds: [9.5-18.2].
_CLOCK = r"\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d{1,3})?"
_SECONDS = r"\d{1,6}(?:\.\d{1,3})?s?"
_TO = r"\s{0,2}(?:-{1,3}>?|–)\s{0,2}"
_AT_TIME = rf"(?:\[?{_CLOCK}(?:{_TO}{_CLOCK})?\]?|\[{_SECONDS}(?:{_TO}{_SECONDS})?\])\s+(?:-+\s+)?"
_WHO = r"(?P<who>[^\W\d_][^:\n.?!]{0,40}):\s+"
_SPOKEN = re.compile(rf"(?:{_AT_TIME})?(?:{_WHO})?(?=\S)")
_SPOKEN_BY = re.compile(rf"{_AT_TIME}|{_WHO}")
# A term in bold or as code, or some words before a colon or a dash.
_DEFINED = re.compile(
    r"(?:\*\*|__)(?P<strong>[^*_\n]{1,80})(?:\*\*|__)\s*[:–—-]?\s+(?=\S)"
    r"|`(?P<code>[^`\n]{1,80})`\s*[:–—-]\s+(?=\S)"
    r"|(?P<plain>[^\s:.;,!?|][^:.;,!?|\n]{0,48}?)\s?(?::|\s[–—])\s+(?=\S)"
)
_MOST_WORDS_DEFINED = 5


def _term(defined: re.Match[str] | None) -> str:
    """What is defined; empty where that is no name, but half a sentence or a letter."""
    if defined is None:
        return ""
    strong = defined.group("strong")
    term = (strong or defined.group("code") or defined.group("plain")).strip(" .:*`_\"'“”")
    most = _MOST_WORDS_DEFINED + 3 * bool(strong)
    return term if len(term) > 1 and len(term.split()) <= most else ""


def _item_mark(body: str) -> int:
    """How long the mark of an item is that the line begins with; 0 where it is none."""
    mark = _BULLET.match(body) or _NUMBER.match(body)
    return mark.end() if mark else 0


def _table_units(
    text: str, lines: Sequence[_Line], intro: str, *, continued: bool
) -> Iterator[Unit]:
    """Each row with its header, and the row above that names a group of rows."""
    cells = [
        [cell.strip() for cell in line.body[1:].removesuffix("|").split("|")] for line in lines
    ]
    is_rule = [_RULE.match(line.body) is not None for line in lines]
    first = _rows_of_header(cells, is_rule, continued=continued)
    named = [row for row, rule in zip(cells[:first], is_rule, strict=False) if not rule]
    columns = zip_longest(*named, fillvalue="")
    header = [" ".join(filter(None, column)) for column in columns]
    lead = " | ".join(filter(None, header)) or intro
    group = ""
    # Of a small table without figures nobody can tell whether its first row names the columns.
    doubtful = not first and not continued and not any(map(_has_figure, cells))
    for at, (line, row) in enumerate(zip(lines, cells, strict=True)):
        filled = [cell for cell in row if cell]
        # "May 1, | June 2," and "2024 | 2025" are dates that name columns.
        is_dates = all(cell.endswith(",") or _YEAR.match(cell) for cell in filled)
        if at < first or is_rule[at] or is_dates:
            continue
        # A title in the first column; a figure or a note there goes on with the row above.
        is_title = _size(row[0]) < _SAYS_MORE and row[0][:1].isalpha() and not _has_figure(row)
        if len(filled) == 1 < len(row) and row[0] and (row[0].endswith(_INTRODUCES) or is_title):
            group = row[0]
            continue
        start = line.start + len(line.body) - len(line.body.lstrip("| \t"))
        end = line.end - (len(line.body) - len(line.body.rstrip("| \t\\")))
        about = _as_lead(" — ".join(filter(None, (group, lead))))
        yield Unit(start, end, "row", about, weak=doubtful and at == 0)


def _rows_of_header(
    cells: Sequence[Sequence[str]], is_rule: Sequence[bool], *, continued: bool
) -> int:
    """How many lines at the top say what the columns are.

    Those above a rule; else those without figures, or with years alone, above others that have
    some. A chunk may begin in the middle of a table.
    """
    ruled = next((at for at, rule in enumerate(is_rule[:_MOST_HEADERS]) if rule), None)
    if ruled is not None:
        return ruled + 1
    figures = next((at for at, row in enumerate(cells) if _has_figure(row)), None)
    if figures is None:
        return int(len(cells) > 1 and len(cells[0]) > 2 and all(cells[0]) and not continued)
    at = 0
    while at < min(figures, _MOST_HEADERS) and (not cells[at][0] or sum(map(bool, cells[at])) > 1):
        at += 1
    return at


_MOST_HEADERS = 4
_YEAR = re.compile(r"(?:19|20)\d\d$")


def _has_figure(row: Sequence[str]) -> bool:
    """Whether a cell is a number, and no year."""
    return any(
        2 * sum(map(str.isdigit, cell)) > sum(map(str.isalnum, cell)) and not _YEAR.match(cell)
        for cell in row
    )


def _drawn_table_units(text: str, lines: Sequence[_Line], intro: str) -> Iterator[Unit]:
    """A table drawn with rules and blanks: what stands above the second rule names the columns."""
    rules = [at for at, line in enumerate(lines) if _DRAWN_RULE.match(line.body)]
    first = rules[1] + 1 if len(rules) > 2 else 1
    header = " ".join(line.body for line in lines[1 : first - 1])
    lead = _SPACE.sub(" ", _GAP.sub(" | ", header)) or intro
    for line in lines[first:]:
        if not _RULE.match(line.body):
            yield Unit(line.start, line.end, "row", _as_lead(lead))


_GAP = re.compile(r"\s{2,}|\t")


def _is_drawn_header(body: str) -> bool:
    """Names of columns in capitals, with gaps between them, as programs print them."""
    return body.isupper() and len(_GAP.split(body)) > 2 and not any(map(str.isdigit, body))


_SAYS_MORE = 8  # words; a shorter one is a name or a title
_FIELD = re.compile(r":?[^\W_][^:|{}<>\"'=;\n]{0,38}:(?:\s+\S|$)")


def _are_fields(lines: Sequence[_Line]) -> bool:
    """Whether each line is `name: value`, but for those that go on with the one above."""
    if len(lines) < 2 or not _FIELD.match(lines[0].body):
        return False
    edge = min(line.indent for line in lines)
    heads = [line for line in lines if line.indent == edge]
    return len(heads) > 1 and all(_FIELD.match(line.body) for line in heads)


def _field_units(text: str, lines: Sequence[_Line]) -> Iterator[Unit]:
    """Each field with the first one, which mostly names what the others tell of."""
    edge = min((line.indent for line in lines), default=0)
    heads = [at for at, line in enumerate(lines) if line.indent == edge]
    lead = ""
    for at, after in pairwise([*heads, len(lines)]):
        start, end = lines[at].start, lines[after - 1].end
        name, _, value = text[start:end].lstrip(":").partition(":")
        if not value.strip():
            continue
        whole = [(start, end)] if end - start <= _LONGEST_WHOLE else prose_spans(text, start, end)
        for number, span in enumerate(whole):
            kind: UnitKind = "sentence" if number else "definition"
            weak = not lead and _size(value) < _SAYS_MORE
            yield Unit(*span, kind, lead, "" if number else name.strip(), weak=weak)
        lead = lead or _as_lead(text[start:end])


_JSON_FIELD = re.compile(r'"[^"\n]{1,80}"\s*:\s*(?=[^\s{\[]|[\[{]\s*\S)')
_JSON_OPENS = re.compile(r'(?:"([^"\n]{1,80})"\s*:\s*)?[\[{]$')


def _is_json(lines: Sequence[_Line]) -> bool:
    return len(lines) > 2 and sum(line.body[0] in '"{}[]' for line in lines) * 4 > 3 * len(lines)


def _json_units(text: str, lines: Sequence[_Line]) -> Iterator[Unit]:
    """Each value with the first one of its object, which mostly is its name."""
    lead = ""
    for line in lines:
        opens = _JSON_OPENS.match(line.body)
        if opens:
            lead = opens.group(1) or ""
            continue
        end = line.end - (len(line.body) - len(line.body.rstrip(", \t")))
        if _RULE.match(line.body):
            continue
        field = _JSON_FIELD.match(line.body)
        term = line.body[1 : line.body.index('"', 1)] if field else ""
        names_it = field is not None and not lead and _size(line.body) < _SAYS_MORE
        yield Unit(line.start, end, "definition" if field else "item", lead, term, weak=names_it)
        if field and not lead:
            lead = _as_lead(text[line.start : end])


_DEFINING = re.compile(
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub|inline"
    r"|virtual|const|unsafe|extern|sealed|partial|override)(?:\([^()]*\))?\s+)*"
    r"(?:def|class|function|func|fn|interface|struct|enum|trait|type|module|record|protocol|sub)\b"
    r"\*?\s*(?:\([^()]*\)\s*)?(?P<name>[A-Za-z_$][\w$]*)"
)
_ASSIGNED = re.compile(
    r"(?:(?:export|const|let|var|final|static|public|private|readonly|val)\s+)*"
    r"(?P<name>[A-Za-z_$][\w$]*)\s*(?::[^=\n]{0,60})?=(?![=>])"
    r"|\#\s*define\s+(?P<macro>\w+)"
)
_COMMENT = re.compile(
    r"(?:\#(?!\s*(?:include|define|undef|if|ifdef|ifndef|elif|endif|else|pragma)\b)[#!:]*"
    r"|//[/!]*|/\*+!?|\*(?=\s|$|/)|--(?=\s)|;+(?=\s)|<!--|%+(?=\s)|'(?=\s)|REM\s)\s*"
)
_CODE_MARKS = re.compile(
    r"[;{}]$|[\w\])]\(|^\s*(?:from|import|return|def|class|print)\b|[^=!<>]=[^=]|=>|->"
)
_MOST_BLANKS_OF_CODE = 10
_QUOTES = ('"""', "'''")


def _are_code(lines: Sequence[_Line]) -> bool:
    """Whether lines outside of a fence, as notebooks have them, are code for the most part."""
    if len(lines) < 2 or not any(_CODE_MARKS.search(line.body) for line in lines[:2]):
        return False
    prose = sum(
        line.body.endswith((".", ",", "?")) or line.body.count(" ") > _MOST_BLANKS_OF_CODE
        for line in lines
    )
    is_prose = 4 * prose >= len(lines) and not _DEFINING.match(lines[0].body)
    marked = sum(_CODE_MARKS.search(line.body) is not None for line in lines)
    return not is_prose and 3 * marked >= 2 * len(lines)


def _source_units(chunk: Chunk, text: str, lines: Sequence[_Line]) -> Iterator[Unit]:
    """Source code: each part with the definition it stands in."""
    at = 0
    for part in chunk.sections:
        after = at
        while after < len(lines) and lines[after].start < part.end - chunk.start:
            after += 1
        name = part.heading_path[-1] if part.level and part.heading_path else ""
        begins = part.start >= chunk.start
        yield from _code_units(text, lines[at:after], name=name, begins=begins)
        at = after
    yield from _code_units(text, lines[at:])


def _code_units(
    text: str, lines: Sequence[_Line], intro: str = "", *, name: str = "", begins: bool = False
) -> Iterator[Unit]:
    """Each line with its function, where that has a name; comments by the sentence."""
    signature = _signature(lines, name) if name and begins else None
    lead = name or intro
    if signature is not None:
        lead = _as_lead(lines[signature].body.rstrip(" {"))
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.body or _FENCE.match(line.body):
            at += 1
            continue
        after = _comment_end(lines, at)
        if after > at:
            yield from _comment_units(text, lines[at:after], lead if name else intro)
            at = after
            continue
        if _is_drawn_header(line.body):
            lead = intro = _as_lead(_GAP.sub(" | ", line.body))
            at += 1
            continue
        if at == signature:
            after = _signature_end(lines, at)
            yield Unit(line.start, lines[after - 1].end, "definition", "", _last_name(name))
            at = after
            continue
        defining = _DEFINING.match(line.body)
        if defining:
            after = _signature_end(lines, at)
            yield Unit(line.start, lines[after - 1].end, "definition", name, defining.group("name"))
            lead = _as_lead(line.body.rstrip(" {"))
            at = after
            continue
        assigned = _ASSIGNED.match(line.body)
        term = (assigned.group("name") or assigned.group("macro")) if assigned else ""
        yield Unit(line.start, line.end, "code", lead, term, weak=len(words_in(line.body)) < 2)
        at += 1


def _signature(lines: Sequence[_Line], name: str) -> int | None:
    """The line that first has the name of what is defined, comments apart."""
    wanted = re.compile(rf"(?<![\w$]){re.escape(_last_name(name))}(?![\w$])")
    at = 0
    while at < len(lines):
        after = _comment_end(lines, at)
        if after > at:
            at = after
            continue
        if wanted.search(lines[at].body):
            return at
        at += 1
    return None


def _last_name(name: str) -> str:
    return name.rpartition(".")[2] or name


def _signature_end(lines: Sequence[_Line], at: int) -> int:
    """Behind the line in which the brackets of a definition are closed."""
    open_brackets = 0
    for after in range(at, min(at + 6, len(lines))):
        body = lines[after].body
        open_brackets += body.count("(") - body.count(")")
        if open_brackets <= 0:
            return after + 1
    return at + 1


def _comment_end(lines: Sequence[_Line], at: int) -> int:
    """Behind the comment or docstring that begins here; the same line where none does."""
    body = lines[at].body
    quotes = next((quote for quote in _QUOTES if body.startswith((quote, f"r{quote}"))), None)
    if quotes:
        if body.count(quotes) > 1:
            return at + 1
        closing = (after for after in range(at + 1, len(lines)) if quotes in lines[after].body)
        return next(closing, len(lines) - 1) + 1
    if body.startswith("/*"):
        closing = (after for after in range(at, len(lines)) if "*/" in lines[after].body)
        return next(closing, len(lines) - 1) + 1
    after = at
    while after < len(lines) and lines[after].body and _COMMENT.match(lines[after].body):
        after += 1
    return after


def _comment_units(text: str, lines: Sequence[_Line], lead: str) -> Iterator[Unit]:
    """The sentences of a comment, less the marks around it."""
    paragraphs: list[tuple[int, int]] = []
    begins = True
    for line in lines:
        mark = _COMMENT.match(line.body)
        start = line.start + (mark.end() if mark else 0)
        start += 3 * text.startswith(_QUOTES, start)
        end = line.end
        for closing in ("*/", *_QUOTES):
            end -= len(closing) * text[start:end].endswith(closing)
        start, end = trim(text, start, end)
        if _RULE.match(text[start:end]):
            begins = True
        elif begins:
            paragraphs.append((start, end))
            begins = False
        else:
            paragraphs[-1] = (paragraphs[-1][0], end)
    for start, end in paragraphs:
        for span in prose_spans(text, *_without_tags(text, start, end)):
            yield Unit(*span, "sentence", lead)


def _fence_end(lines: Sequence[_Line], at: int) -> int:
    """Behind the line that closes the fence; behind the last where none does."""
    opening = _FENCE.match(lines[at].body)
    mark = opening.group() if opening else ""
    for after in range(at + 1, len(lines)):
        body = lines[after].body
        if body.startswith(mark) and not body.strip(mark[0]):
            return after + 1
    return len(lines) + 1


def _after_comment(lines: Sequence[_Line], at: int) -> int:
    """Behind a line of markup, and all of a comment that it opens."""
    body = lines[at].body
    closing = _left_open(body)
    if not closing:
        return at + 1
    inside = range(at + 1, min(at + _LONGEST_COMMENT, len(lines)))
    return next((after for after in inside if closing in lines[after].body), at) + 1


def _left_open(body: str) -> str:
    """What closes the comment or shortcode that a line opens and does not close."""
    for opening, closing in _COMMENTS:
        if body.startswith(opening) and closing not in body:
            return closing
    return ""


def _without_tags(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without the tags of HTML at its two ends."""
    leading = _LEADING_TAGS.match(text, start, end)
    start = leading.end() if leading else start
    while text[end - 1 : end] == ">":
        opened = text.rfind("<", max(start, end - _LONGEST_TAG), end)
        if opened < 0:
            break
        start, end = trim(text, start, opened)
    return start, end


def _run_end(lines: Sequence[_Line], at: int, begins: str) -> int:
    """Behind the lines that follow each other and all begin so."""
    while at < len(lines) and lines[at].body and lines[at].body.startswith(begins):
        at += 1
    return at


def _letters(text: str) -> str:
    return "".join(char for char in text if char.isalnum())


_COMMENTS = (("<!--", "-->"), ("{{<", ">}}"), ("{{%", "%}}"))
_LONGEST_COMMENT = 100  # lines that are looked through for its end
_SPACE = re.compile(r"\s+")


def _as_lead(text: str) -> str:
    short = _SPACE.sub(" ", text[: 2 * _LONGEST_LEAD]).strip(" |")
    if len(short) <= _LONGEST_LEAD:
        return short
    return f"{short[:_LONGEST_LEAD].rpartition(' ')[0] or short[:_LONGEST_LEAD]}…"


_ENDS = (".", "!", "…", "。", "！", "؟", "।", "۔", ":", ";", '"', "”", "»", "」")


def _is_title(sentence: str) -> bool:
    """A few words without an end, or a question."""
    if sentence.endswith(_ASKS):
        return True
    may_be = len(sentence) < _LONGEST_WHOLE and not sentence.endswith(_ENDS)
    return may_be and _size(sentence) < _SAYS_MORE


def _size(text: str) -> int:
    """How many words; of scripts without spaces two characters are one."""
    words = words_in(text)
    if text.isascii():
        return len(words)
    return sum((len(word) + 1) // 2 if is_unspaced(word) else 1 for word in words)


def _visible(chunk: Chunk, hidden: Iterable[Omission]) -> str:
    """The chunk's text with blanks for what nobody would see."""
    parts = []
    at = 0
    for one in hidden:
        start, end = max(one.start - chunk.start, at), min(one.end - chunk.start, len(chunk.text))
        blanks = (char if char == "\n" else " " for char in chunk.text[start:end])
        parts += [chunk.text[at:start], "".join(blanks)]
        at = max(end, start)
    return "".join([*parts, chunk.text[at:]])


def _in_document(
    chunk: Chunk, text: str, hidden: Sequence[Omission], units: Iterable[Unit]
) -> Iterator[Unit]:
    """The units by their place in the document, cut where something hidden stands inside."""
    for unit in units:
        at = unit.start
        if not hidden:  # in most chunks, and quicker
            if any(map(str.isalnum, text[at : unit.end])):
                yield Unit(chunk.start + at, chunk.start + unit.end, *unit[2:])
            continue
        for one in overlapping(hidden, unit.start + chunk.start, unit.end + chunk.start):
            yield from _part(chunk, text, unit, at, one.start - chunk.start)
            at = max(at, one.end - chunk.start)
        yield from _part(chunk, text, unit, at, unit.end)


def _part(chunk: Chunk, text: str, unit: Unit, start: int, end: int) -> Iterator[Unit]:
    start, end = trim(text, start, end)
    if any(map(str.isalnum, text[start:end])):
        yield Unit(chunk.start + start, chunk.start + end, *unit[2:])


def _is_fragment(chunk: Chunk, unit: Unit) -> bool:
    """Too little to prove anything: a lone word, number or option."""
    if unit.kind not in ("sentence", "caption") or unit.end - unit.start > _LONGEST_WORD:
        return False
    said = chunk.text[unit.start - chunk.start : unit.end - chunk.start]
    is_option = said.startswith("--") and " " not in said
    return is_option or _size(said) < 2 or not any(map(str.isalpha, said))
