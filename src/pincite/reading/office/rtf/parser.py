"""The tokens of an RTF file → its blocks, styles and properties.

RTF is a stream of text and commands; braces keep what is inside of them to themselves. Groups that
begin with a command for somewhere else ("destinations") hold fonts, notes, pictures and the like.
"""

from __future__ import annotations

from collections.abc import Callable

from pincite.errors import FileUnreadable
from pincite.reading.office.look import Look
from pincite.reading.office.rtf import code_pages
from pincite.reading.office.rtf.blocks import Body, Change, Flow, Hanging
from pincite.reading.office.rtf.groups import Group, Register
from pincite.reading.office.rtf.registers import Font, Registers
from pincite.reading.office.rtf.tokens import Kind, Token, tokens
from pincite.reading.office.rtf.vocabulary import (
    ENCODINGS,
    ENTERED,
    PROPERTIES,
    REGISTERS,
    SAID,
    SAID_BY_SYMBOL,
    SKIPPED,
)
from pincite.reading.office.symbols import symbol
from pincite.records import OmissionReason

_DEEPEST = 1_000
_PRIVATE = range(0xF000, 0xF100)  # where fonts of symbols have their characters
_HIGH, _LOW = range(0xD800, 0xDC00), range(0xDC00, 0xE000)  # halves of rare characters
_DEEPEST_ITEM = 8

_Handler = Callable[[int], None]


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
        self._encoding = code_pages.DEFAULT
        self._default_font: int | None = None
        self._reasons: dict[tuple[object, ...], OmissionReason | None] = {}
        self._pending = bytearray()
        self._skip = 0  # characters still to come that stand for one in Unicode
        self._high = 0  # the first half of a rare character
        self._on_shaded_row = False
        self._notes = 0
        self._commenter = Flow()
        self._destinations = self._all_destinations()
        self._handlers = self._all_handlers()

    def parse(self, data: bytes) -> None:
        """Read the file up to the brace that ends it, or as far as it goes."""
        for token in tokens(data):
            if token.kind is Kind.TEXT:
                self._take_text(token.text)
                continue
            self._flush()
            self._skip = 0
            if token.kind is Kind.OPEN:
                self._open()
            elif token.kind is Kind.WORD:
                self._word(token)
            elif token.kind is Kind.SYMBOL:
                self._symbol(token.name)
            elif not self._close():
                break
        self._flush()
        self._end_paragraph()

    def _open(self) -> None:
        if len(self._around) >= _DEEPEST:
            raise FileUnreadable("is nested too deeply")
        self._around.append(self._group)
        self._group = self._group.inner()
        if self._group.register is not None:
            self.registers.open(self._group.register)

    def _close(self) -> bool:
        """End a group; False where it was the last one."""
        if self._around:
            self._group = self._around.pop()
        return bool(self._around)

    def _take_text(self, text: bytes) -> None:
        if self._skip:
            skipped = min(self._skip, len(text))
            self._skip -= skipped
            text = text[skipped:]
        if not self._group.is_closed:
            self._pending += text

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
            encoding = code_pages.by_character_set(font.character_set) or self._encoding
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

    def _word(self, token: Token) -> None:
        group = self._group
        name, is_optional, group.is_optional = token.name, group.is_optional, False
        if group.is_closed:
            return
        if destination := self._destinations.get(name):
            destination()
        elif name in SKIPPED or (is_optional and name not in ENTERED):
            group.is_closed = True
        elif group.register is not None:
            self.registers.word(group.register, name, token.number or 0)
        elif name in SAID:
            self._say(SAID[name])
        else:
            number = 1 if token.number is None else token.number
            if not group.apply(name, number) and (handler := self._handlers.get(name)):
                handler(number)

    def _all_destinations(self) -> dict[str, Callable[[], None]]:
        """What is read, but not as a part of the text where it stands."""
        return {
            **{name: self._registering(register) for name, register in REGISTERS.items()},
            **{name: self._flowing(flow) for name, flow in self.properties.items()},
            "info": self._flowing(None),
            "footnote": self._note,
            "shptxt": self._text_box,
            "annotation": self._comment,
            "atnauthor": self._comment_author,
            "listtext": self._mark,
            "pntext": self._mark,
        }

    def _registering(self, register: Register) -> Callable[[], None]:
        def begin() -> None:
            self._group.register = register

        return begin

    def _flowing(self, flow: Flow | None) -> Callable[[], None]:
        def begin() -> None:
            self._group.flow = flow

        return begin

    def _note(self) -> None:
        if self._group.flow is None:
            return
        self._notes += 1
        self._say(f"[{self._notes}]")
        self._hang(f"[{self._notes}] ")

    def _text_box(self) -> None:
        self._hang()

    def _comment(self) -> None:
        if self._with_comments:
            self._hang(f"[comment by {self._commenter.text[:100] or 'someone'}: ", "]")
        else:
            self._group.is_closed = True

    def _comment_author(self) -> None:
        self._group.flow = self._commenter = Flow()

    def _hang(self, opening: str = "", closing: str = "") -> None:
        """What follows is written after the paragraph."""
        flow = Flow()
        self.body.hanging.append(Hanging(flow, opening, closing))
        self._group.flow = flow
        self._group.apply("plain", 1)

    def _mark(self) -> None:
        self._group.flow = self.body.mark = Flow()

    def _all_handlers(self) -> dict[str, _Handler]:
        """Commands that are about more than looks."""
        return {
            "par": lambda _: self._end_paragraph(),
            "sect": lambda _: self._end_paragraph(),
            "cell": lambda _: self._end_cell(),
            "row": lambda _: self._end_row(),
            "nestcell": lambda _: self._flow().end_nested_cell(),
            "nestrow": lambda _: self._flow().end_nested_row(),
            "u": self._unicode,
            "deff": self._set_default_font,
            "ansicpg": self._set_code_page,
            **{name: self._setting_encoding(one) for name, one in ENCODINGS.items()},
            "trowd": lambda _: self._shade_row(0),
            "clcbpat": self._shade_row,
        }

    def _end_paragraph(self) -> None:
        group = self._group
        if group.flow is not self.body or group.in_table:
            self._say("\n")
            return
        depth = min(max(group.depth, 0), _DEEPEST_ITEM)
        self.body.end_paragraph(style=group.style, outline=group.outline, depth=depth)

    def _flow(self) -> Flow:
        return self._group.flow or Flow()

    def _end_cell(self) -> None:
        if self._group.flow is self.body:
            self.body.end_cell()
        else:
            self._say("\t")

    def _end_row(self) -> None:
        if self._group.flow is self.body:
            self.body.end_row()
        else:
            self._say("\n")

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

    def _set_default_font(self, number: int) -> None:
        self._default_font = number

    def _set_code_page(self, number: int) -> None:
        self._encoding = code_pages.by_page(number)

    def _setting_encoding(self, encoding: str) -> _Handler:
        def begin(_number: int) -> None:
            self._encoding = encoding

        return begin

    def _shade_row(self, colour: int) -> None:
        self._on_shaded_row = colour > 0 and self.registers.is_ground(colour)
