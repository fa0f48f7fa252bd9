"""One paragraph of an OpenDocument file → its runs, and what hangs on it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pincite.reading.office.look import Look
from pincite.reading.office.opendocument.names import (
    DRAW,
    DUBLIN_CORE,
    LINK,
    OFFICE,
    TEXT,
    Element,
    number,
)
from pincite.reading.office.opendocument.styles import Styles
from pincite.reading.writer import Run
from pincite.reading.xml_safely import tag_of

_BLANKS = re.compile(r"[ \t\r\n]+")
_MOST_BLANKS = 100  # that one element may stand for
_SKIPPED = frozenset(
    (
        *(TEXT + name for name in ("ruby-text", "tracked-changes", "script", "note-body")),
        OFFICE + "event-listeners",
    )
)


@dataclass(slots=True)
class Paragraph:
    """What a paragraph says, and what is shown near it."""

    runs: list[Run] = field(default_factory=list)
    shapes: list[Element] = field(default_factory=list)
    notes: list[Element] = field(default_factory=list)
    comments: list[Element] = field(default_factory=list)

    def take(self, other: Paragraph) -> None:
        """Also hang on this one what hangs on the other."""
        self.shapes += other.shapes
        self.notes += other.notes
        self.comments += other.comments


@dataclass(frozen=True, slots=True)
class Aside:
    """What stands outside the text, to be put in where the text refers to it."""

    controls: Mapping[str, str] = field(default_factory=dict)  # of a form: identifier → text
    formulas: Mapping[str, str] = field(default_factory=dict)  # link → text
    changes: Mapping[str, Element] = field(default_factory=dict)  # tracked, if wanted


_Handler = Callable[[Element, Look, Paragraph], None]


class ParagraphReader:
    """Reads the paragraphs of one file."""

    def __init__(self, styles: Styles, aside: Aside) -> None:
        self._styles = styles
        self._aside = aside
        self._changes = dict(aside.changes)
        self._handlers: dict[str, _Handler] = {
            TEXT + "s": self._blanks,
            TEXT + "tab": self._as("\t"),
            TEXT + "line-break": self._as("\n"),
            TEXT + "span": self._span,
            TEXT + "number": self._number,
            TEXT + "note": self._note,
            TEXT + "hidden-text": self._hidden,
            TEXT + "change": self._deleted,
            TEXT + "change-start": self._inserted,
            TEXT + "change-end": self._end_of_inserted,
            OFFICE + "annotation": self._comment,
            DRAW + "control": self._control,
        }

    def read(self, element: Element, around: Look) -> Paragraph:
        """The paragraph; `around` is how the part of the document looks that it stands in."""
        said = Paragraph()
        look = self._styles.look("paragraph", element.get(TEXT + "style-name", "")).over(around)
        if any(map(_is_hiding, element.iter(TEXT + "hidden-paragraph"))):
            look = Look(is_hidden=True).over(look)
        self._walk(element, look, said)
        return said

    def _walk(self, element: Element, look: Look, said: Paragraph) -> None:
        """Links, fields and unknown wrappers are walked right through."""
        self._say(element.text, look, said)
        for one in element:
            tag = tag_of(one)
            if handler := self._handlers.get(tag):
                handler(one, look, said)
            elif tag.startswith(DRAW):
                self._shape(one, look, said)
            elif tag not in _SKIPPED:
                self._walk(one, look, said)
            self._say(one.tail, look, said)

    def _say(self, text: str | None, look: Look, said: Paragraph) -> None:
        """Text as it stands in the XML, where many blanks mean one."""
        if text:
            text = _BLANKS.sub(" ", text)
            if not said.runs or said.runs[-1].text.endswith((" ", "\n")):
                text = text.removeprefix(" ")
            self._say_exactly(text, look, said)

    def _say_exactly(self, text: str, look: Look, said: Paragraph) -> None:
        said.runs.append(Run(text, omitted=look.reason))

    def _as(self, text: str) -> _Handler:
        return lambda _element, look, said: self._say_exactly(text, look, said)

    def _blanks(self, element: Element, look: Look, said: Paragraph) -> None:
        count = number(element, TEXT + "c", otherwise=1, most=_MOST_BLANKS)
        self._say_exactly(" " * count, look, said)

    def _span(self, element: Element, look: Look, said: Paragraph) -> None:
        style = self._styles.look("text", element.get(TEXT + "style-name", ""))
        self._walk(element, style.over(look), said)

    def _number(self, element: Element, look: Look, said: Paragraph) -> None:
        self._walk(element, look, said)
        self._say_exactly(" ", look, said)

    def _note(self, element: Element, look: Look, said: Paragraph) -> None:
        said.notes.append(element)
        self._say_exactly(f"[{mark_of(element)}]", look, said)

    def _hidden(self, element: Element, look: Look, said: Paragraph) -> None:
        text = element.get(TEXT + "string-value") or "".join(element.itertext())
        hidden = Look(is_hidden=True).over(look) if _is_hiding(element) else look
        self._say_exactly(text, hidden, said)

    def _comment(self, element: Element, _look: Look, said: Paragraph) -> None:
        said.comments.append(element)

    def _control(self, element: Element, look: Look, said: Paragraph) -> None:
        text = self._aside.controls.get(element.get(DRAW + "control", ""))
        if text:
            self._say_exactly(f"{text}\n", look, said)

    def _shape(self, element: Element, look: Look, said: Paragraph) -> None:
        links = [one.get(LINK, "") for one in element.iter(DRAW + "object")]
        formulas = [text for link in links if (text := self._aside.formulas.get(link))]
        for formula in formulas:
            self._say_exactly(formula, look, said)
        if not formulas:
            said.shapes.append(element)

    def _deleted(self, element: Element, look: Look, said: Paragraph) -> None:
        change = self._changes.pop(element.get(TEXT + "change-id", ""), None)
        if change is not None:
            text = " ".join("".join(one.itertext()) for one in change.iter(TEXT + "p", TEXT + "h"))
            self._say_exactly(f"[deleted by {_author(change)}: {text}]", look, said)

    def _inserted(self, element: Element, look: Look, said: Paragraph) -> None:
        change = self._change(element)
        if change is not None:
            self._say_exactly(f"[inserted by {_author(change)}: ", look, said)

    def _end_of_inserted(self, element: Element, look: Look, said: Paragraph) -> None:
        if self._change(element) is not None:
            self._say_exactly("]", look, said)

    def _change(self, element: Element) -> Element | None:
        return self._changes.get(element.get(TEXT + "change-id", ""))


def mark_of(note: Element) -> str:
    """The number or sign by which the text refers to a note."""
    citation = note.find(TEXT + "note-citation")
    return "".join(citation.itertext()).strip() if citation is not None else "*"


def _author(element: Element) -> str:
    named = next(element.iter(DUBLIN_CORE + "creator"), None)
    return " ".join(((named.text if named is not None else None) or "someone").split())


def _is_hiding(element: Element) -> bool:
    return element.get(TEXT + "is-hidden", "true") != "false"
