"""The rows of a data set's files; whatever is wrong with them names the file and the line."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

_T = TypeVar("_T")

Grades = dict[str, dict[str, int]]
"""Question id → document id → how relevant it is, from 1."""


class DatasetError(Exception):
    """A data set cannot be loaded; the message says where to look."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a JSON Lines file, and where it stands."""

    file: Path
    line: int
    values: dict[str, Any]

    def get(self, name: str, kind: type[_T]) -> _T:
        """The value of that name, which has to be there and of that kind."""
        value = self.values.get(name)
        if not isinstance(value, kind):
            raise self.wrong(f"{name!r} must be {_KINDS[kind]}, not {json.dumps(value)[:60]}")
        return value

    def text(self, name: str) -> str:
        """A text; empty where there is none."""
        return self.get(name, str) if self.values.get(name) is not None else ""

    def seconds(self, name: str) -> float:
        """A number, whole or not."""
        value = self.values.get(name)
        return float(value) if type(value) is int else self.get(name, float)

    @property
    def id(self) -> str:
        """The row's name: `id`, or `_id` as BEIR has it."""
        name = "_id" if "_id" in self.values else "id"
        identity = self.get(name, str)
        if not identity:
            raise self.wrong(f"{name!r} is empty")
        return identity

    def wrong(self, why: str) -> DatasetError:
        """What to raise for this row."""
        return DatasetError(f"{self.file}, line {self.line}: {why}")


_KINDS: dict[type, str] = {
    str: "a text",
    list: "a list",
    dict: "an object",
    float: "a number",
    bool: "true or false",
}


def found(folder: Path, *names: str) -> Path:
    """The first of the files that is there, as it is or with `.gz`."""
    file = found_or_none(folder, *names)
    if file is None:
        raise DatasetError(f"{folder} holds no {' or '.join(names)}")
    return file


def found_or_none(folder: Path, *names: str) -> Path | None:
    """The same, where there may be none."""
    files = (folder / f"{name}{packed}" for name in names for packed in ("", ".gz"))
    return next((file for file in files if file.is_file()), None)


def rows(file: Path) -> Iterator[Row]:
    """Every row of a JSON Lines file; blank lines are passed over."""
    for number, line in _lines(file):
        try:
            values = json.loads(line)
        except json.JSONDecodeError as error:
            raise DatasetError(f"{file}, line {number}: no JSON ({error})") from error
        if not isinstance(values, dict):
            raise DatasetError(f"{file}, line {number}: must be an object in braces")
        yield Row(file, number, values)


def grades(file: Path) -> Grades:
    """What a file of relevance judgements says; a grade of 0 or less is no relevance."""
    graded: Grades = {}
    for number, line in _lines(file):
        columns = line.rstrip("\n").split("\t")
        if number == 1 and columns[0] == "query-id":
            continue
        if len(columns) != 3 or not columns[2].lstrip("-").isdecimal():
            raise DatasetError(
                f"{file}, line {number}: question, document and a whole number are expected, "
                f"with tabs between them, not {line.strip()[:60]!r}"
            )
        question, document, grade = columns
        if int(grade) > 0:
            graded.setdefault(question, {})[document] = int(grade)
    return graded


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        with (gzip.open if file.suffix == ".gz" else open)(file, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield number, line
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise DatasetError(f"{file}, after line {number}: cannot be read: {error}") from error
