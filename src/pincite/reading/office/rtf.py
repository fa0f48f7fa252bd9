"""RTF files → Content.

RTF is a stream of text and commands; braces keep what is inside of them to themselves. Groups that
begin with a command for somewhere else ("destinations") hold fonts, notes, pictures and the like.
The parser turns them into blocks, styles and properties in one pass.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field, fields
from enum import Enum, auto
from operator import attrgetter

from pincite.errors import FileUnreadable
from pincite.reading import facts
from pincite.reading.office.formatting import (
    BULLET,
    Look,
    TextWriter,
    is_title_name,
    is_white,
    level_by_name,
    symbol,
    tidy,
    visible_text,
)
from pincite.reading.source_file import SourceFile
from pincite.reading.writer import Run
from pincite.records import Content, Metadata, OmissionReason

_BODY_TEXT = 9  # the outline level of what is no heading
_LONGEST_CHAIN = 50
_LONGEST_CELL = 1_000  # characters; what is longer is laid out in a table, but is no table

SAID = {
    **{"tab": "\t", "line": "\n", "lbr": "\n", "page": "\n", "column": "\n", "emdash": "—"},
    **{"endash": "–", "bullet": "•", "emspace": " ", "enspace": " ", "qmspace": " "},
    **{"lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”"},
}
SAID_BY_SYMBOL = {"~": "\u00a0", "_": "-", "{": "{", "}": "}", "\\": "\\", "\t": "\t"}
ENCODINGS = {"ansi": "cp1252", "mac": "mac_roman", "pc": "cp437", "pca": "cp850"}

# Destinations without text of the document. Others that begin with \* are skipped unless known.
SKIPPED = frozenset(
    (
        *("pict", "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr"),
        *("footerf", "ftnsep", "ftnsepc", "ftncn", "aftnsep", "aftnsepc", "aftncn", "fldinst"),
        *("nonshppict", "nonesttables", "shprslt", "objdata", "objclass", "sp", "xe", "tc", "txe"),
        *("rxe", "bkmkstart", "bkmkend", "filetbl", "private", "pntxta", "pntxtb", "template"),
        *("upr", "listtable", "listoverridetable", "atnid", "atnref", "atndate"),
    )
)
ENTERED = frozenset(("shpinst", "nesttableprops"))  # though they begin with \*
PROPERTIES = ("title", "author", "keywords")

# Every alternative begins differently and takes all it can, so nothing is looked at twice.
_TOKEN = re.compile(
    rb"\\(?P<word>[A-Za-z]{1,32})(?P<number>-?\d{1,10})? ?"
    rb"|\\'(?P<byte>[0-9A-Fa-f]{2})"
    rb"|\\(?P<symbol>[^A-Za-z])"
    rb"|(?P<brace>[{}])"
    rb"|(?P<text>[^\\{}\r\n]+)",
    re.DOTALL,
)
_BINARY = "bin"  # is followed by so many bytes that are no RTF

_DEEPEST = 1_000
_PRIVATE = range(0xF000, 0xF100)  # where fonts of symbols have their characters
_HIGH, _LOW = range(0xD800, 0xDC00), range(0xDC00, 0xE000)  # halves of rare characters
_DEEPEST_ITEM = 8

# What commands about looks set of a group: a number, whether something holds, a tracked change.
_NUMBERS = {
    **{"f": "font", "fs": "half_points", "cf": "colour", "cb": "ground", "chcbpat": "ground"},
    **{"highlight": "ground", "revauth": "change_author", "revauthdel": "change_author"},
    **{"s": "style", "outlinelevel": "outline", "ilvl": "depth"},
}
_SWITCHES = {"v": "is_hidden", "intbl": "in_table", "itap": "in_table"}
_CHANGES = {"deleted": "deleted", "revised": "inserted"}
_MOST_FALLBACK = 10

_MOST_ENTRIES = 10_000
_COLOURS = ("red", "green", "blue")

DEFAULT = "cp1252"
SYMBOLS = 2  # the character set of fonts of pictures

_BY_CHARACTER_SET = {
    **{0: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab"},
    **{134: "cp936", 136: "cp950", 161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255"},
    **{178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250", 255: "cp850"},
}
_BY_PAGE = {
    **{page: f"cp{page}" for page in (437, 737, 775, 850, 852, 855, 857, 860, 861, 862, 863)},
    **{page: f"cp{page}" for page in (864, 865, 866, 869, 874, 932, 936, 949, 950, 1361)},
    **{page: f"cp{page}" for page in range(1250, 1259)},
    **{10000: "mac_roman", 1361: "johab", 65001: "utf_8"},
}

_LONGEST_MARK = 40
_BETWEEN_CELLS = Run(", ")
_BETWEEN_ROWS = Run("; ")


def read(file: SourceFile) -> Content:
    """Read an RTF file.

    Inserted text is read, deleted text and comments are not, unless the file's options ask for
    them. Headers and footers are left out. There are no pages: RTF does not say where they break.
    """
    data = file.data.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not data.startswith(b"{\\rtf"):
        raise FileUnreadable("is not what its name says: it does not begin like an RTF file")
    parser = RtfParser(
        comments="comments" in file.options, changes="tracked-changes" in file.options
    )
    parser.parse(data)
    writing = _Writing(parser.registers)
    for block in parser.body.blocks:
        writing.write(block)
    named = parser.properties
    return writing.writer.content(
        "rtf",
        title=writing.title or facts.one_line(named["title"].text) or writing.sole_heading,
        metadata=Metadata(
            tags=facts.tags(named["keywords"].text.replace(";", ",")),
            author=facts.one_line(named["author"].text),
            date=_date(parser.registers, Register.CREATED),
            modified=_date(parser.registers, Register.MODIFIED),
        ),
    )


class _Writing(TextWriter):
    """Writes the blocks, and knows which of them are headings."""

    def __init__(self, registers: Registers) -> None:
        super().__init__()
        self._styles = registers.styles

    def write(self, block: Paragraph | Table) -> None:
        """Write one block, and after it what hangs on it."""
        if isinstance(block, Table):
            self._table(block)
        else:
            level = self._level(block)
            names = [name for name, _ in self._chain(block.style)] if level else []
            is_title = any(map(is_title_name, names))
            self.write_paragraph(block.runs, level, block.mark, block.depth, is_title=is_title)
        for one in block.hanging:
            self.writer.paragraph(one.runs())

    def _level(self, paragraph: Paragraph) -> int | None:
        if paragraph.outline is not None:
            return paragraph.outline + 1 if 0 <= paragraph.outline < _BODY_TEXT else None
        for name, outline in self._chain(paragraph.style):
            level = level_by_name(name) or (1 if is_title_name(name) else None)
            if outline is not None and 0 <= outline < _BODY_TEXT:
                level = outline + 1
            if level:
                return level
        return None

    def _chain(self, number: int) -> list[tuple[str, int | None]]:
        """Names and outline levels of a style and of those it is based on."""
        chain: list[tuple[str, int | None]] = []
        seen: set[int | None] = {None}
        at: int | None = number
        while at not in seen and at in self._styles and len(chain) < _LONGEST_CHAIN:
            seen.add(at)
            style = self._styles[at]
            chain.append((style.name.strip(), style.outline))
            at = style.based_on
        return chain

    def _table(self, table: Table) -> None:
        cells = [runs for row in table.rows for runs in row]
        is_layout = all(len(row) == 1 for row in table.rows)
        if is_layout or any(len(visible_text(runs)) > _LONGEST_CELL for runs in cells):
            for runs in cells:
                self.writer.paragraph(runs)
            return
        self.writer.table([visible_text(runs) for runs in row] for row in table.rows)
        for runs in cells:
            self.writer.paragraph([run for run in runs if run.omitted is not None])


def _date(registers: Registers, register: Register) -> str | None:
    parts = registers.dates.get(register, {})
    day = f"{parts.get('yr', 0):04}-{parts.get('mo', 1):02}-{parts.get('dy', 1):02}"
    time = f"{parts.get('hr', 0):02}:{parts.get('min', 0):02}"
    return facts.iso_date(f"{day}T{time}:00") if parts.get("yr") else None


class RtfParser:
    """Reads one file; what it found is in `body`, `registers` and `properties`."""

    def __init__(self, *, comments: bool, changes: bool) -> None:
        self.body = Body()
        self.registers = Registers()
        self.properties = {name: Flow() for name in PROPERTIES}
        self._with_comments = comments
        self._with_changes = changes
        self._group = Group(self.body)
        self._around: list[Group] = []
        self._encoding = DEFAULT
        self._default_font: int | None = None
        self._reasons: dict[tuple[object, ...], OmissionReason | None] = {}
        self._pending = bytearray()
        self._skip = 0  # characters still to come that stand for one in Unicode
        self._high = 0  # the first half of a rare character
        self._on_shaded_row = False
        self._notes = 0
        self._commenter = Flow()

    def parse(self, data: bytes) -> None:
        """Read the file up to the brace that ends it, or as far as it goes."""
        at = 0
        while found := _TOKEN.search(data, at):  # line ends mean nothing and are passed over
            at = found.end()
            if found.lastgroup in ("text", "byte"):
                text = found["text"] or bytes.fromhex(found["byte"].decode("ascii"))
                skipped = min(self._skip, len(text))
                self._skip -= skipped
                if not self._group.is_closed:
                    self._pending += text[skipped:]
                continue
            self._flush()
            self._skip = 0
            match found.lastgroup:
                case "brace" if found["brace"] == b"{":
                    if len(self._around) >= _DEEPEST:
                        raise FileUnreadable("is nested too deeply")
                    self._around.append(self._group)
                    self._group = self._group.inner()
                    if self._group.register is not None:
                        self.registers.open(self._group.register)
                case "brace":
                    self._group = self._around.pop() if self._around else self._group
                    if not self._around:
                        break
                case "symbol":
                    self._symbol(found["symbol"].decode("latin-1"))
                case _:
                    name = found["word"].decode("ascii")
                    number = None if found["number"] is None else int(found["number"])
                    at += max(number or 0, 0) if name == _BINARY else 0
                    self._word(name, number)
        self._flush()
        self._end_paragraph()

    def _flush(self) -> None:
        """Say the bytes that were taken; letters of some languages take several."""
        if not self._pending:
            return
        taken, self._pending = bytes(self._pending), bytearray()
        self._high = 0
        font = self._font()
        if font.has_symbols:
            self._say("".join(symbol(font.name, f"{0xF000 + byte:X}") for byte in taken))
        else:
            encoding = _BY_CHARACTER_SET.get(font.character_set) or self._encoding
            self._say(taken.decode(encoding, "replace"))

    def _font(self) -> Font:
        number = self._group.font if self._group.font is not None else self._default_font
        return self.registers.fonts.get(number, Font()) if number is not None else Font()

    def _say(self, text: str) -> None:
        group = self._group
        if group.register is not None:
            self.registers.text(group.register, text)
            self._reasons = {}
        elif group.flow is not None and (group.change != "deleted" or self._with_changes):
            change = None
            if group.change and self._with_changes:
                change = Change(group.change, self.registers.author(group.change_author))
            group.flow.say(text, self._reason(), change)

    def _reason(self) -> OmissionReason | None:
        """Why what is said now is not seen; most text looks like text before it."""
        group = self._group
        on_shade = group.in_table and self._on_shaded_row
        look = (group.is_hidden, group.colour, group.half_points, group.ground, on_shade)
        if look not in self._reasons:
            self._reasons[look] = Look(
                group.is_hidden,
                self.registers.colour(group.colour),
                None if group.half_points is None else group.half_points / 2,
                on_shade or self.registers.is_ground(group.ground),
            ).reason
        return self._reasons[look]

    def _symbol(self, name: str) -> None:
        if name == "*":
            self._group.is_optional = True
        elif name in "\r\n":
            self._end_paragraph()
        elif name in SAID_BY_SYMBOL:
            self._say(SAID_BY_SYMBOL[name])

    def _word(self, name: str, number: int | None) -> None:
        group = self._group
        is_optional, group.is_optional = group.is_optional, False
        if group.is_closed:
            return
        if name in _DESTINATIONS:
            self._enter(name)
        elif name in SKIPPED or (is_optional and name not in ENTERED):
            group.is_closed = True
        elif group.register is not None:
            self.registers.word(group.register, name, number or 0)
        elif name in SAID:
            self._say(SAID[name])
        else:
            number = 1 if number is None else number
            if not group.apply(name, number):
                self._command(name, number)

    def _enter(self, name: str) -> None:
        """Begin what is read, but not as a part of the text where it stands."""
        group = self._group
        match name:
            case "title" | "author" | "keywords":
                group.flow = self.properties[name]
            case "info":
                group.flow = None
            case "footnote" if group.flow is not None:
                self._notes += 1
                self._say(f"[{self._notes}]")
                self._hang(f"[{self._notes}] ")
            case "shptxt":
                self._hang()
            case "annotation" if self._with_comments:
                self._hang(f"[comment by {self._commenter.text[:100] or 'someone'}: ", "]")
            case "annotation":
                group.is_closed = True
            case "atnauthor":
                group.flow = self._commenter = Flow()
            case "listtext" | "pntext":
                group.flow = self.body.mark = Flow()
            case _ if name in REGISTERS:
                group.register = REGISTERS[name]

    def _hang(self, opening: str = "", closing: str = "") -> None:
        """What follows is written after the paragraph."""
        flow = Flow()
        self.body.hanging.append(Hanging(flow, opening, closing))
        self._group.flow = flow
        self._group.apply("plain", 1)

    def _command(self, name: str, number: int) -> None:
        """Carry out a command that is about more than looks."""
        in_body = self._group.flow is self.body
        match name:
            case "par" | "sect":
                self._end_paragraph()
            case "cell" | "row" if not in_body:
                self._say("\t" if name == "cell" else "\n")
            case "cell":
                self.body.end_cell()
            case "row":
                self.body.end_row()
            case "nestcell" | "nestrow" if self._group.flow is not None:
                self._group.flow.end_nested(_BETWEEN_ROWS if name == "nestrow" else _BETWEEN_CELLS)
            case "u":
                self._unicode(number)
            case "deff":
                self._default_font = number
            case "ansicpg":
                self._encoding = _BY_PAGE.get(number, DEFAULT)
            case "ansi" | "mac" | "pc" | "pca":
                self._encoding = ENCODINGS[name]
            case "trowd" | "clcbpat":  # a new row, and the colour of a cell in it
                is_coloured = name == "clcbpat" and number > 0
                self._on_shaded_row = is_coloured and self.registers.is_ground(number)

    def _end_paragraph(self) -> None:
        group = self._group
        if group.flow is not self.body or group.in_table:
            self._say("\n")
            return
        depth = min(max(group.depth, 0), _DEEPEST_ITEM)
        self.body.end_paragraph(style=group.style, outline=group.outline, depth=depth)

    def _unicode(self, number: int) -> None:
        code = number % 0x10000
        if code in _HIGH:
            self._high = code
        elif code in _LOW:
            if self._high:
                self._say(chr(0x10000 + ((self._high - 0xD800) << 10) + code - 0xDC00))
            self._high = 0
        elif code in _PRIVATE:
            self._say(symbol(self._font().name, f"{code:X}"))
        elif code:
            self._say(chr(code))
        self._skip = self._group.fallback


class Register(Enum):
    """The tables before the text: what is written there is no text."""

    FONTS = auto()
    COLOURS = auto()
    STYLES = auto()
    AUTHORS = auto()
    CREATED = auto()
    MODIFIED = auto()


REGISTERS = {
    "fonttbl": Register.FONTS,
    "colortbl": Register.COLOURS,
    "stylesheet": Register.STYLES,
    "revtbl": Register.AUTHORS,
    "creatim": Register.CREATED,
    "revtim": Register.MODIFIED,
}


_DESTINATIONS = frozenset(
    (
        *(*REGISTERS, *PROPERTIES, "info", "footnote", "shptxt", "annotation", "atnauthor"),
        *("listtext", "pntext"),
    )
)


@dataclass(slots=True)
class Group:
    """Where text goes, and how it and its paragraph look; copied at every opening brace."""

    flow: Flow | None
    register: Register | None = None
    is_closed: bool = False  # nothing in it is read
    is_optional: bool = False  # a destination follows that who does not know it shall skip
    fallback: int = 1  # characters after a Unicode one, for programs that do not know Unicode
    font: int | None = None
    is_hidden: bool = False
    half_points: int | None = None
    colour: int = 0
    ground: int = 0  # the colour under the text
    change: str | None = None  # "inserted" or "deleted"
    change_author: int = 0
    style: int = 0
    outline: int | None = None
    depth: int = 0
    in_table: bool = False

    def inner(self) -> Group:
        """What holds inside the next brace; files have one for every word, so this is quick."""
        inner = Group(*_ALL_OF_GROUP(self))
        inner.is_optional = False
        return inner

    def apply(self, name: str, number: int) -> bool:
        """Carry out a command about looks; False where it is none of these."""
        if name in _NUMBERS:
            setattr(self, _NUMBERS[name], number)
        elif name in _SWITCHES:
            setattr(self, _SWITCHES[name], bool(number))
        elif name in _CHANGES:
            self.change = _CHANGES[name] if number else None
        elif name == "uc":
            self.fallback = min(max(number, 0), _MOST_FALLBACK)
        elif name == "plain":
            self.is_hidden = False
            self.half_points = self.change = self.font = None
            self.colour = self.ground = 0
        elif name == "pard":
            self.style = self.depth = 0
            self.outline = None
            self.in_table = False
        else:
            return False
        return True


_ALL_OF_GROUP = attrgetter(*(one.name for one in fields(Group)))


@dataclass(slots=True)
class Style:
    """A style as the file defines it."""

    name: str = ""
    based_on: int | None = None
    outline: int | None = None


@dataclass(slots=True)
class Font:
    """A font as the file defines it."""

    name: str = ""
    character_set: int = 1

    @property
    def has_symbols(self) -> bool:
        """Whether its characters are pictures or Greek letters."""
        return self.character_set == SYMBOLS


@dataclass(slots=True)
class Registers:
    """All of them, as they are read."""

    fonts: dict[int, Font] = field(default_factory=dict)
    colours: list[str] = field(default_factory=list)
    styles: dict[int, Style] = field(default_factory=dict)
    authors: list[str] = field(default_factory=list)
    dates: dict[Register, dict[str, int]] = field(default_factory=dict)
    _font: Font = field(default_factory=Font)
    _style: Style = field(default_factory=Style)
    _mixed: dict[str, int] = field(default_factory=dict)

    def open(self, register: Register) -> None:
        """An entry may begin: the style without a number is number 0."""
        if register is Register.STYLES:
            self._style = self.styles.setdefault(0, Style())

    def word(self, register: Register, name: str, number: int) -> None:
        """A command inside of a register."""
        match register, name:
            case Register.FONTS, "f" if len(self.fonts) < _MOST_ENTRIES:
                self._font = self.fonts.setdefault(number, Font())
            case Register.FONTS, "fcharset":
                self._font.character_set = number
            case Register.STYLES, "s" if len(self.styles) < _MOST_ENTRIES:
                self._style = self.styles.setdefault(number, Style())
            case Register.STYLES, "sbasedon":
                self._style.based_on = number
            case Register.STYLES, "outlinelevel":
                self._style.outline = number
            case Register.COLOURS, "red" | "green" | "blue":
                self._mixed[name] = number
            case ((Register.CREATED | Register.MODIFIED), _):
                self.dates.setdefault(register, {})[name] = number

    def text(self, register: Register, text: str) -> None:
        """Text inside of a register; a semicolon ends an entry."""
        name = text.partition(";")[0]
        if register is Register.FONTS:
            self._font.name = (self._font.name + name)[:100]
        elif register is Register.STYLES:
            self._style.name = (self._style.name + name)[:100]
        elif register is Register.AUTHORS and len(self.authors) < _MOST_ENTRIES:
            self.authors.append(" ".join(name.split())[:100] or "someone")
        elif register is Register.COLOURS and len(self.colours) < _MOST_ENTRIES:
            parts = (min(max(self._mixed.get(one, 0), 0), 255) for one in _COLOURS)
            self.colours.append("".join(f"{part:02X}" for part in parts) if self._mixed else "")
            self._mixed = {}

    def colour(self, number: int) -> str | None:
        """A colour in hexadecimal figures; None where it is left to the program."""
        return (self.colours[number] if 0 <= number < len(self.colours) else "") or None

    def is_ground(self, number: int) -> bool:
        """Whether something painted in this colour can be told from white paper."""
        colour = self.colour(number)
        return colour is not None and not is_white(colour)

    def author(self, number: int) -> str:
        """Who made a tracked change."""
        return self.authors[number] if 0 <= number < len(self.authors) else "someone"


for _name in {*_BY_CHARACTER_SET.values(), *_BY_PAGE.values()}:
    codecs.lookup(_name)  # loads its module now: where files are read, nothing can be opened


@dataclass(frozen=True, slots=True)
class Change:
    """A tracked change that a stretch of text belongs to."""

    deed: str  # "inserted" or "deleted"
    author: str


@dataclass(slots=True)
class Flow:
    """Text that stands for itself: a note, a comment, a text box, a field of the properties."""

    runs: list[Run] = field(default_factory=list)
    _change: Change | None = None

    def say(self, text: str, omitted: OmissionReason | None, change: Change | None) -> None:
        """More text; where a tracked change begins or ends, a bracket does."""
        if change != self._change:
            self.close_change()
            if change is not None:
                self.runs.append(Run(f"[{change.deed} by {change.author}: "))
            self._change = change
        self.runs.append(Run(text, omitted=omitted))

    def close_change(self) -> None:
        """End the tracked change that is open, if one is."""
        if self._change is not None:
            self.runs.append(Run("]"))
        self._change = None

    def end_nested(self, separator: Run) -> None:
        """A cell or a row of a table in a cell is over: a comma, or a semicolon."""
        if separator is _BETWEEN_ROWS:
            self._drop_separators()
        self.runs.append(separator)

    def _drop_separators(self) -> None:
        while self.runs and self.runs[-1] in (_BETWEEN_CELLS, _BETWEEN_ROWS):
            self.runs.pop()

    @property
    def text(self) -> str:
        """What is seen of it."""
        return visible_text(self.runs).strip()


@dataclass(frozen=True, slots=True)
class Hanging:
    """A note, a comment or a text box, with what is to be written before and after it."""

    flow: Flow
    opening: str = ""
    closing: str = ""

    def runs(self) -> list[Run]:
        """What is written of it; nothing where it is empty."""
        runs = tidy(self.flow.runs)
        return tidy([Run(self.opening), *runs, Run(self.closing)]) if runs else []


@dataclass(slots=True)
class Paragraph:
    """One paragraph, and what hangs on it."""

    runs: list[Run]
    hanging: list[Hanging]
    style: int = 0
    outline: int | None = None
    depth: int = 0
    mark: str = ""


@dataclass(slots=True)
class Table:
    """A table: rows of cells."""

    rows: list[list[list[Run]]] = field(default_factory=list)
    hanging: list[Hanging] = field(default_factory=list)


@dataclass(slots=True)
class Body(Flow):
    """The text itself, as it grows: paragraphs, and tables that end with the first of them."""

    blocks: list[Paragraph | Table] = field(default_factory=list)
    hanging: list[Hanging] = field(default_factory=list)
    mark: Flow | None = None  # the bullet or number that the program put before a paragraph
    _cells: list[list[Run]] = field(default_factory=list)
    _table: Table | None = None  # that has not ended yet

    def end_paragraph(self, *, style: int, outline: int | None, depth: int) -> None:
        """The paragraph that was said is over."""
        self.end_row()
        self._table = None
        runs, hanging = self._taken()
        if runs or hanging:
            self.blocks.append(Paragraph(runs, hanging, style, outline, depth, self._mark()))
        self.mark = None

    def end_cell(self) -> None:
        """The cell that was said is over."""
        self._drop_separators()
        if mark := self._mark():
            self.runs.insert(0, Run(f"{mark} "))
        self.mark = None
        runs, hanging = self._taken()
        self._cells.append(runs)
        self._in_table().hanging += hanging

    def end_row(self) -> None:
        """The cells that were said are a row."""
        if self._cells:
            self._in_table().rows.append(self._cells)
            self._cells = []

    def _mark(self) -> str:
        text = " ".join(self.mark.text.split())[:_LONGEST_MARK] if self.mark else ""
        has_figures = any(character.isalnum() for character in text)
        return text if has_figures or not self.mark else BULLET

    def _in_table(self) -> Table:
        if self._table is None:
            self._table = Table()
            self.blocks.append(self._table)
        return self._table

    def _taken(self) -> tuple[list[Run], list[Hanging]]:
        self.close_change()
        runs, self.runs = tidy(self.runs), []
        hanging, self.hanging = self.hanging, []
        return runs, hanging
