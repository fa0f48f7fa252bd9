"""Answers ↔ Markdown with footnotes, to be pasted anywhere and checked later.

Words of documents are escaped, so that nothing in them becomes a link, an image or HTML; and so
that they are read back exactly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pincite.errors import ReceiptInvalid
from pincite.records import Answer, Artifact, Citation, Claim, Outcome
from pincite.text.own_files import MADE_BY, NO_ANSWER
from pincite.text.printable import one_line, printable

# What Markdown and its common extensions give a meaning to, where it has one: a dot or a colon only
# in what looks like an address, an underscore beside a word, dollars around a formula; some only
# where a line begins.
_LIVE = re.compile(
    r"[`*\[\]<>~^@]|(?<![^\W_])_|_(?![^\W_])|(?<=www)\.|:(?=/)|&(?=#?\w{1,40};)"
    r"|\$(?=\$|[^\s$](?:[^$]*[^\s$])?\$(?!\d))|(?<=\$)\$|^(?:[-+](?=[-+\s]|$)|[=#|:])",
    re.IGNORECASE,
)
_APART = re.compile(r"[\\”\s]")  # read back as a number: they mean something in a footnote
_WRITTEN = re.compile(r"\\\\u\{([0-9a-f]{1,6})\}|&#(\d{1,7});|\\([!-/:-@\[-`{-~])")

_ITEM = re.compile(r"(\d{1,2})[.)]\s+")  # the number of an item
_NOTE = re.compile(
    r"\[\^(?P<label>[^\]\s]+)\]: “(?P<quote>[^”]+)” — (?P<citation>.*) "
    r"\[chunk: (?P<chunk>[0-9a-f]{40})\] \(characters (?P<start>\d{1,9})–(?P<end>\d{1,9})\)\s*"
)
_SAID = re.compile(r"“([^”]{1,4000})” ?((?:\[\^[^\]\s]{1,40}\])+)")
_LABEL = re.compile(r"\[\^([^\]\s]+)\]")
_BROKEN = re.compile(r"(?<!\\)\[chunk:")  # looks like one of ours, and is not


@dataclass(frozen=True, slots=True)
class Footnote:
    """A citation as a footnote has it."""

    label: str
    quote: str
    citation: str
    chunk_id: str
    start: int
    end: int


def outcome_as_markdown(told: Outcome) -> str:
    """The question, the claims with their footnotes; or why there are none and what is near."""
    notes = _Notes()
    parts = [f"**Question:** {_plain(told.question)}"]
    if isinstance(told, Answer):
        parts += [f"{_said(one)} {notes.marks(one.citations)}".rstrip() for one in told.claims]
        parts += map(_plain, told.differences)
        parts += [f"*Written by {_plain(told.writer)}.*"] if told.writer else []
    else:
        parts += [_plain(told.message)] if told.nearest else [NO_ANSWER, _plain(told.message)]
        parts += [f"Nearest: “{escaped(one.quote)}” {notes.marks([one])}" for one in told.nearest]
    return "\n\n".join([*parts, *notes.lines()]) + "\n"


def artifact_as_markdown(made: Artifact) -> str:
    """Its sections, each line with its footnote, or with what is open."""
    notes = _Notes()
    parts = [f"# {_plain(made.title)}", MADE_BY]
    for part in made.sections:
        parts.append(f"## {_plain(part.heading)}")
        above, number, last = None, 0, ""
        for claim in part.claims:
            first = claim.citations[0]
            place = (first.title, *first.heading_path[-1:])
            mark, item = "-", _ITEM.match(claim.text) if claim.state == "quoted" else None
            if item:  # of a list; each may have the number 1
                goes_on = place == above and item[1] == last == "1"
                number = number + 1 if goes_on else int(item[1])
                last, mark = item[1], f"{number}."
                claim = replace(claim, text=claim.text[item.end() :])
            said = f"{_said(claim)} {notes.marks(claim.citations)}"
            line = f"{mark} {'… ' * first.cut_before}{said}{' …' * first.cut_after}"
            if place == above:
                parts[-1] += f"\n{line}"
            else:  # where the lines below come from
                parts += [f"*{_plain(' – '.join(dict.fromkeys(place)))}*", line]
            above = place
        if part.open:
            parts.append(f"Open: nothing was found for this section that says {_plain(part.open)}.")
    parts += [f"*Written by {_plain(made.writer)}.*"] if made.writer else []
    return "\n\n".join([*parts, *notes.lines()]) + "\n"


class _Notes:
    """The footnotes of a text, numbered in the order in which it points to them."""

    def __init__(self) -> None:
        self._cited: dict[tuple[str, int, int], tuple[int, Citation]] = {}

    def marks(self, citations: Sequence[Citation]) -> str:
        keys = [(one.chunk_id, one.start, one.end) for one in citations]
        for key, one in zip(keys, citations, strict=True):
            self._cited.setdefault(key, (len(self._cited) + 1, one))
        return "".join(f"[^{self._cited[key][0]}]" for key in dict.fromkeys(keys))

    def lines(self) -> Iterator[str]:
        for number, one in self._cited.values():
            yield (
                f"[^{number}]: “{escaped(one.quote)}” — {escaped(one.citation)} "
                f"[chunk: {one.chunk_id}] (characters {one.start}–{one.end})"
            )


def _said(claim: Claim) -> str:
    if claim.state == "quoted":
        lead = claim.citations[0].lead
        text = f"“{escaped(one_line(claim.text))}”"
        return f"({_plain(lead)}) {text}" if lead else text
    return _plain(claim.text) + (" *(unsupported)*" if claim.state == "unsupported" else "")


def footnotes_in(text: str) -> list[Footnote]:
    """The citations of a Markdown text; ReceiptInvalid where one cannot be read, or none is there.

    Where the text quotes other words than the footnote it points to, those are cited as well.
    """
    notes: list[Footnote] = []
    said: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if match := _NOTE.fullmatch(line.strip()):
            notes.append(
                Footnote(
                    match["label"],
                    unescaped(match["quote"]),
                    unescaped(match["citation"]),
                    match["chunk"],
                    int(match["start"]),
                    int(match["end"]),
                )
            )
            continue
        if _BROKEN.search(line):
            raise ReceiptInvalid(
                f"line {number} looks like a citation, but was altered and cannot be read"
            )
        for quote, labels in _SAID.findall(line):
            for label in _LABEL.findall(labels):
                said.setdefault(label, []).append(unescaped(quote))
    if not notes:
        raise ReceiptInvalid(
            "holds no citations of pincite; an answer of `ask` with footnotes (`--copy`) does"
        )
    # Above its footnote a quote stands on one line, whatever lines it has in the document.
    # An item of a list there may have its number before the quote.
    known = {
        (one.label, quote)
        for one in notes
        for quote in (one.quote, one_line(one.quote), _ITEM.sub("", one_line(one.quote)))
    }
    every = []
    for note in notes:
        others = (one for one in said.get(note.label, ()) if (note.label, one) not in known)
        every += [note, *(replace(note, quote=other) for other in others)]
    return every


def escaped(text: str, *, keep: str = "") -> str:
    """Text from outside as Markdown on one line, which shows it and does nothing else.

    Some characters may be kept that only mean something in a footnote.
    """
    parts = []
    number = re.match(r"\d+(?=[.)](?:\s|$))", text)  # of an item, where a line begins with it
    for at, char in enumerate(text):
        if _APART.match(char) and char not in f" {keep}":
            parts.append(f"&#{ord(char)};")
        elif printable(char) != char:  # would rewrite what is seen
            parts.append(f"\\\\u{{{ord(char):x}}}")
        else:
            is_live = (number and at == number.end()) or _LIVE.match(text, at)
            parts.append(f"\\{char}" if is_live else char)
    return "".join(parts)


def _plain(text: str) -> str:
    """Text that is shown and need not be read back exactly: on one line.

    Its own quotation marks are plain ones: what stands in ours is read back as a quote.
    """
    return escaped(re.sub("[“”]", '"', one_line(text)))


def unescaped(text: str) -> str:
    """What was escaped."""

    def char(match: re.Match[str]) -> str:
        if match[3]:
            return match[3]
        code = int(match[1], 16) if match[1] else int(match[2])
        return chr(code) if code < 0xD800 or 0xDFFF < code <= 0x10FFFF else "\ufffd"

    return _WRITTEN.sub(char, text)
