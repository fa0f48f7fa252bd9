"""Text as it stands between tags → runs with the spaces and line breaks that a browser shows."""

from __future__ import annotations

import re

from pincite.reading.writer import Run
from pincite.records import OmissionReason

# What HTML takes for one space, and the spaces that differ from it only in where a line may break.
_SPACE = re.compile(r"[ \t\n\r\f\xa0\u202f]+")
# Control characters, which no browser shows, and the hyphen of words that are not broken.
_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\xad]+")


def without_controls(text: str) -> str:
    """The text less what is never shown."""
    return _UNSEEN.sub("", text)


class Line:
    """The inline text of one block as it grows."""

    def __init__(self) -> None:
        self._pieces: list[tuple[str, OmissionReason | None]] = []
        self._last = "\n"  # the character before, as at the beginning of a line

    @property
    def last(self) -> str:
        """The last character so far; a line break where there is none."""
        return self._last

    def add(self, text: str, omitted: OmissionReason | None = None) -> None:
        """Text with its spaces, which shrink to one between words."""
        text = _SPACE.sub(" ", without_controls(text))
        if self._last in " \n":
            text = text.removeprefix(" ")
        if text:
            self._pieces.append((text, omitted))
            self._last = text[-1]

    def space(self) -> None:
        """A gap between words, where there is none yet."""
        if self._last not in " \n":
            self._pieces.append((" ", None))
            self._last = " "

    def break_line(self) -> None:
        """The end of a line inside of the block."""
        self._pieces.append(("\n", None))
        self._last = "\n"

    def take(self) -> list[Run]:
        """The runs so far, neighbours of one kind joined, without space at the end of lines.

        The line is empty again. Nothing but space is no run.
        """
        pieces, self._pieces, self._last = self._pieces, [], "\n"
        while pieces and not pieces[-1][0].strip():
            pieces.pop()
        runs: list[Run] = []
        parts: list[str] = []
        reason = pieces[0][1] if pieces else None
        for text, omitted in pieces:
            if omitted is not reason and not text.isspace():
                runs.append(_run(parts, reason))
                parts, reason = [], omitted
            parts.append(text)
        if parts:
            parts[-1] = parts[-1].rstrip()
            runs.append(_run(parts, reason))
            runs[0] = Run(runs[0].text.lstrip(), omitted=runs[0].omitted)
        return runs


def _run(parts: list[str], omitted: OmissionReason | None) -> Run:
    return Run("".join(parts).replace(" \n", "\n"), omitted=omitted)
