"""One paragraph of a Word document → its runs, and what hangs on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pincite.reading.office.docx.equations import equation
from pincite.reading.office.docx.names import CHOICE, Element, M, R, W, child, switch, value
from pincite.reading.office.docx.shapes import is_filled
from pincite.reading.office.docx.styles import Styles
from pincite.reading.office.figures import Figures, written
from pincite.reading.office.look import Look
from pincite.reading.office.runs import visible_text
from pincite.reading.office.symbols import symbol
from pincite.reading.writer import Run
from pincite.reading.xml_safely import tag_of

# Line ends and tabs that merely lay out the XML.
_AS_SPACE = str.maketrans("\n\r\t", "   ")
_MOST_FIELDS = 100  # open at a time
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds"


@dataclass(frozen=True, slots=True)
class DocxOptions:
    """What is read beside the text as it stands."""

    comments: bool = False
    deletions: bool = False  # tracked changes: what was deleted, and who inserted what


@dataclass(frozen=True, slots=True)
class TextBox:
    """What is written in a shape, and whether the shape is filled with a colour."""

    content: Element
    is_filled: bool


@dataclass(frozen=True, slots=True)
class Note:
    """A footnote or an endnote that is referred to for the first time."""

    kind: str  # "footnote" or "endnote"
    identifier: str
    mark: str


@dataclass(slots=True)
class Paragraph:
    """What a paragraph says, and what is shown near it."""

    runs: list[Run] = field(default_factory=list)
    boxes: list[TextBox] = field(default_factory=list)
    diagrams: list[str] = field(default_factory=list)  # relationship identifiers
    notes: list[Note] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """What is seen of it."""
        return visible_text(self.runs)

    def take(self, other: Paragraph) -> None:
        """Also hang on this one what hangs on the other."""
        self.boxes += other.boxes
        self.diagrams += other.diagrams
        self.notes += other.notes
        self.comments += other.comments


_Handler = Callable[[Element, Look, Paragraph], None]


class ParagraphReader:
    """Reads the paragraphs of one document in their order, and counts its pages and notes.

    The page is None in a document that does not say where Word last broke its pages. Where it
    does, the numbers are those of that moment.
    """

    def __init__(self, styles: Styles, options: DocxOptions, page: int | None) -> None:
        self.page = page
        self._styles = styles
        self._options = options
        self._notes: dict[str, dict[str, Note]] = {"footnote": {}, "endnote": {}}
        self._fields: list[bool] = []  # of each open field: whether its result has begun
        self._handlers = self._all_handlers()

    def read(self, element: Element, *, on_shade: bool = False) -> Paragraph:
        """The paragraph; `on_shade` says that it stands on a coloured ground."""
        said = Paragraph()
        look = self._styles.paragraph_look(child(element, "pPr"))
        if on_shade:
            look = Look(is_shaded=True).over(look)
        self._walk(element, look, said)
        # No instruction of a field goes on into the next paragraph, but its result does.
        self._fields = [True] * len(self._fields)
        return said

    def _all_handlers(self) -> dict[str, _Handler]:
        handlers: dict[str, _Handler] = {
            W + "r": self._run,
            W + "t": self._text,
            W + "sym": self._symbol,
            W + "ins": self._inserted,
            W + "moveTo": self._inserted,
            W + "del": self._deleted,
            W + "moveFrom": self._deleted,
            W + "fldChar": self._field,
            W + "txbxContent": self._box,
            W + "footnoteReference": self._note,
            W + "endnoteReference": self._note,
            W + "commentReference": self._comment,
            W + "lastRenderedPageBreak": self._page_break,
            CHOICE + "AlternateContent": self._alternative,
            M + "oMath": self._equation,
            _DIAGRAM: self._diagram,
        }
        shown_as = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
        for name, text in shown_as.items():
            handlers[W + name] = self._as(text)
        for name in ("pPr", "rPr", "sdtPr", "rt", "instrText", "delText", "delInstrText"):
            handlers[W + name] = self._skip
        return handlers

    def _walk(self, element: Element, look: Look, said: Paragraph) -> None:
        """Links, fields, content controls and unknown wrappers are walked right through."""
        for one in element:
            self._handlers.get(tag_of(one), self._walk)(one, look, said)

    def _skip(self, _element: Element, _look: Look, _said: Paragraph) -> None:
        pass

    def _say(self, text: str, look: Look, said: Paragraph) -> None:
        if all(self._fields):
            said.runs.append(Run(text, page=self.page, omitted=look.reason))

    def _as(self, text: str) -> _Handler:
        return lambda _element, look, said: self._say(text, look, said)

    def _run(self, element: Element, look: Look, said: Paragraph) -> None:
        self._walk(element, self._styles.run_look(child(element, "rPr"), look), said)

    def _text(self, element: Element, look: Look, said: Paragraph) -> None:
        self._say((element.text or "").translate(_AS_SPACE), look, said)

    def _symbol(self, element: Element, look: Look, said: Paragraph) -> None:
        shown = symbol(value(element, "font") or "", value(element, "char") or "")
        self._say(shown, look, said)

    def _equation(self, element: Element, look: Look, said: Paragraph) -> None:
        self._say(equation(element), look, said)

    def _inserted(self, element: Element, look: Look, said: Paragraph) -> None:
        before = len(said.runs)
        self._walk(element, look, said)
        if self._options.deletions and len(said.runs) > before:
            said.runs.insert(before, Run(f"[inserted by {_author(element)}: ", page=self.page))
            said.runs.append(Run("]", page=self.page))

    def _deleted(self, element: Element, look: Look, said: Paragraph) -> None:
        if self._options.deletions:
            names = (W + "delText", W + "t")
            text = "".join(one.text or "" for one in element.iter(names)).translate(_AS_SPACE)
            if text.strip():
                self._say(f"[deleted by {_author(element)}: {text}]", look, said)

    def _field(self, element: Element, look: Look, said: Paragraph) -> None:
        step = value(element, "fldCharType")
        if step == "begin":
            self._checkbox(element, look, said)
            self._fields = [*self._fields[1 - _MOST_FIELDS :], False]
        elif self._fields and step == "separate":
            self._fields[-1] = True
        elif self._fields and step == "end":
            self._fields.pop()

    def _checkbox(self, element: Element, look: Look, said: Paragraph) -> None:
        """A box to tick is a field without a result."""
        box = child(element, "ffData", "checkBox")
        if box is not None:
            ticked = switch(child(box, "checked"))
            ticked = switch(child(box, "default")) if ticked is None else ticked
            self._say("☒ " if ticked else "☐ ", look, said)

    def _box(self, element: Element, _look: Look, said: Paragraph) -> None:
        said.boxes.append(TextBox(element, is_filled(element)))

    def _diagram(self, element: Element, _look: Look, said: Paragraph) -> None:
        said.diagrams.append(element.get(R + "dm", ""))

    def _note(self, element: Element, look: Look, said: Paragraph) -> None:
        kind = tag_of(element).removeprefix(W).removesuffix("Reference")
        identifier = value(element, "id") or ""
        known = self._notes[kind]
        if identifier not in known:
            count = len(known) + 1
            mark = written(count, Figures.ROMAN if kind == "endnote" else Figures.ARABIC)
            known[identifier] = Note(kind, identifier, mark)
            said.notes.append(known[identifier])
        self._say(f"[{known[identifier].mark}]", look, said)

    def _comment(self, element: Element, _look: Look, said: Paragraph) -> None:
        if self._options.comments:
            said.comments.append(value(element, "id") or "")

    def _page_break(self, _element: Element, _look: Look, _said: Paragraph) -> None:
        if self.page is not None:
            self.page += 1

    def _alternative(self, element: Element, look: Look, said: Paragraph) -> None:
        """The same thing said twice, for new programs and for old ones: one is enough."""
        for one in element.iterchildren(CHOICE + "Choice", CHOICE + "Fallback"):
            self._walk(one, look, said)
            return


def _author(element: Element) -> str:
    return " ".join((value(element, "author") or "someone").split())
