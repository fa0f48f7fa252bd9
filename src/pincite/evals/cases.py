"""Cases as a file: one JSON object on each line, strictly checked on the way in."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Annotated, Any, TypeVar, get_type_hints

import msgspec

from pincite.errors import FilterError, SettingsError
from pincite.records import LEVELS, Case, ChunkId, ExpectedPlace, Filters
from pincite.text.times import seconds_of

_RANGES = ("lines", "pages", "time", "rows")
_MOST_TOLD = 10  # bad lines that a message tells of one by one
_LINE_END = re.compile(r"\r\n?|\n")  # str.splitlines would also cut inside strings, at U+2028
_KIND = re.compile(r"[a-z][a-z0-9_]{0,39}")
_USUAL_KIND = "content"
_SUM = "all"  # the name under which figures over every kind are kept

_FILTERS = get_type_hints(Filters)

# What each field takes, for whoever has to mend a line.
_TAKES = {
    "question": "a text that is not blank",
    "kind": f"a short name of lower-case letters, digits and _, other than {_SUM!r}",
    "documents": "a list of paths, or an object of paths and whole numbers from 1",
    "chunks": "a list of chunk ids",
    "places": 'a list of objects such as {"document": "notes/a.md", "lines": [3, 8]}',
    "document": "a path in the library",
    **dict.fromkeys(
        ("lines", "pages", "rows"), "a whole number from 1, or a first and a last one: [3, 8]"
    ),
    "time": 'seconds from 0 or "mm:ss", or a first and a last one: ["1:05", "1:30"]',
    "terms": "a list of texts",
    "unanswerable": "true or false",
    "filters": 'an object such as {"tags": ["minutes"], "name": "2024"}',
    "draft": "true or false",
    "note": "a text",
    **dict.fromkeys(_FILTERS, "a list of texts, each as the catalog or the search shows it"),
    **dict.fromkeys(("name", "path", "heading", "author"), "a text"),
    **dict.fromkeys(("since", "until"), "a date: 2024, 2024-05 or 2024-05-31"),
    "clearance": f"one of: {', '.join(LEVELS)}",
    "where": 'a filter expression such as "type = pdf and not tag = draft"',
}

_Whole = Annotated[int, msgspec.Meta(ge=1, le=10**9)]
_Seconds = Annotated[float, msgspec.Meta(ge=0, le=10**9)] | str


# Two ends are a list: msgspec 0.22 crashes on a pair beside a number that is bounded.
class _PlaceFields(msgspec.Struct, forbid_unknown_fields=True):
    document: str
    lines: _Whole | list[_Whole] | None = None
    pages: _Whole | list[_Whole] | None = None
    time: _Seconds | list[_Seconds] | None = None
    rows: _Whole | list[_Whole] | None = None


class _CaseFields(msgspec.Struct, forbid_unknown_fields=True):
    question: str
    kind: str = _USUAL_KIND
    documents: tuple[str, ...] | dict[str, _Whole] = ()
    chunks: tuple[str, ...] = ()
    places: tuple[_PlaceFields, ...] = ()
    terms: tuple[str, ...] = ()
    unanswerable: bool = False
    filters: dict[str, Any] = {}  # looked at on their own
    draft: bool = False
    note: str = ""


_FilterFields = msgspec.defstruct(
    "_FilterFields",
    [(name, kind, None) for name, kind in _FILTERS.items()],
    forbid_unknown_fields=True,
)


class _BadLine(Exception):
    """What is wrong with one line, in words for the user."""


def parse_cases(text: str, *, name: str) -> tuple[Case, ...]:
    """The cases of a file, in their order; SettingsError tells of every line that cannot be used.

    `name` is what the messages call the file.
    """
    cases: dict[str, Case] = {}
    numbers: dict[str, int] = {}  # of their lines, to point at the first of two
    problems = []
    for number, line in enumerate(_LINE_END.split(text.removeprefix("\ufeff")), 1):
        if not line.strip():
            continue
        try:
            case = _case(line)
        except _BadLine as problem:
            problems.append(f"{name} line {number}: {problem}")
            continue
        if (first := numbers.setdefault(case.id, number)) != number:
            problems.append(
                f"{name} line {number}: asks the same as line {first}; put what both expect into "
                "one line"
            )
        cases[case.id] = case
    if problems:
        more = len(problems) - _MOST_TOLD
        told = [f"… and {more} more such line{'s' if more > 1 else ''}"] if more > 0 else []
        raise SettingsError("\n".join([*problems[:_MOST_TOLD], *told]))
    return tuple(cases.values())


def dump_cases(cases: Iterable[Case]) -> str:
    """The cases as a file's text; `parse_cases` gives the same cases back."""
    return "".join(f"{json.dumps(_written(case), ensure_ascii=False)}\n" for case in cases)


def _case(line: str) -> Case:
    fields = _converted(_object(line), _CaseFields)
    documents = fields.documents
    _refuse_repeated("documents", tuple(documents))
    case = Case(
        question=fields.question,
        kind=fields.kind,
        documents=documents if isinstance(documents, dict) else dict.fromkeys(documents, 1),
        chunks=tuple(map(ChunkId, fields.chunks)),
        places=tuple(map(_place, fields.places)),
        terms=fields.terms,
        unanswerable=fields.unanswerable,
        filters=_filters(fields.filters),
        draft=fields.draft,
        note=fields.note,
    )
    _check(case)
    return case


def _object(line: str) -> dict[str, Any]:
    """The line's object; a field that stands twice would silently lose what it said first."""
    if line.lstrip().startswith(("//", "#")):
        raise _BadLine('comments are not allowed; remove it, or give a case a "note"')
    try:
        line.encode()
        found = json.loads(line, object_pairs_hook=_once_each, parse_constant=_no_number)
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise _BadLine("holds half a character (a lone surrogate); write it again") from None
    except json.JSONDecodeError as error:
        raise _BadLine(
            f"is not JSON ({error.msg} at column {error.colno}); write one object on each line, "
            'such as {"question": "…", "documents": ["notes/a.md"]}'
        ) from None
    except (ValueError, RecursionError):
        raise _BadLine(
            "holds a number that is too large, or is nested too deeply; remove it"
        ) from None
    if not isinstance(found, dict):
        raise _BadLine('must hold one object, such as {"question": "…", "terms": ["…"]}')
    return found


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [field for field, _ in pairs]
        twice = next(field for field in names if names.count(field) > 1)
        raise _BadLine(f"names {_quoted(twice)} twice; keep one")
    return fields


def _no_number(constant: str) -> None:
    raise _BadLine(f"holds {constant}, which is not JSON; write a number")


_Fields = TypeVar("_Fields", bound=msgspec.Struct)


def _converted(data: dict[str, Any], kind: type[_Fields]) -> _Fields:
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise _BadLine(_in_words(str(error), tuple(kind.__struct_fields__))) from None


def _in_words(problem: str, fields: tuple[str, ...]) -> str:
    """What msgspec says, for somebody who does not know its types."""
    what, _, where = problem.partition(" - at `$")
    if missing := re.search(r"missing required field `(.*)`", what):
        return f"{_quoted(missing[1])} is missing; it takes {_TAKES[missing[1]]}"
    if unknown := re.search(r"unknown field `(.*)`", what):
        known = _PlaceFields.__struct_fields__ if where else fields
        return f"{_quoted(unknown[1])} is no field here; possible are {', '.join(known)}"
    # The innermost field that has a name: `.places[0].lines[1]` is about `lines`.
    field = re.findall(r"[a-z_]+", where)[-1]
    return f"{_quoted(field)} takes {_TAKES[field]}"


def _quoted(name: str) -> str:
    """A name out of a file, fit for a terminal."""
    return json.dumps(name[:60])


def _place(fields: _PlaceFields) -> ExpectedPlace:
    given = {name: value for name in _RANGES if (value := getattr(fields, name)) is not None}
    if len(given) != 1:
        raise _BadLine(
            f"a place has {len(given)} of {', '.join(_RANGES)}; give exactly one, or expect the "
            'whole document under "documents"'
        )
    ((name, value),) = given.items()
    ends = value if isinstance(value, list) else [value, value]
    if len(ends) != 2:
        raise _BadLine(f"{_quoted(name)} takes {_TAKES[name]}")
    if name == "time":
        for end in ends:
            if isinstance(end, str) and seconds_of(end) is None:
                raise _BadLine(f"{_quoted(end)} is not a time; write seconds, mm:ss or hh:mm:ss")
        ends = [seconds_of(end) if isinstance(end, str) else float(end) for end in ends]
    span: tuple[Any, ...] = tuple(ends)
    if span[0] > span[1]:
        raise _BadLine(f"{_quoted(name)} ends before it begins; put the first one first")
    return ExpectedPlace(fields.document, **{name: span})


def _filters(given: dict[str, Any]) -> Filters:
    fields = _converted(given, _FilterFields)
    filters = Filters(**{name: getattr(fields, name) for name in _FILTERS})
    try:
        filters.check()
    except FilterError as error:
        raise _BadLine(str(error)) from error
    return filters


def _check(case: Case) -> None:
    """What no type can say."""
    if not case.question.strip():
        raise _BadLine(f'"question" takes {_TAKES["question"]}')
    if _KIND.fullmatch(case.kind) is None or case.kind == _SUM:
        raise _BadLine(f'"kind" takes {_TAKES["kind"]}')
    for name in ("chunks", "terms"):
        _refuse_repeated(name, getattr(case, name))
        if not all(one.strip() for one in getattr(case, name)):
            raise _BadLine(f"{_quoted(name)} holds a blank; remove it")
    _refuse_repeated("places", case.places)
    for path in (*case.documents, *(place.document for place in case.places)):
        if not path.strip() or path.startswith(("/", "./", "../")):
            raise _BadLine(
                f"{_quoted(path)} is not a path in the library; write it as `pincite catalog` does"
            )
    expected = bool(case.documents or case.chunks or case.places or case.terms)
    if case.unanswerable and expected:
        raise _BadLine(
            "is unanswerable but expects something; remove what it expects, or unanswerable"
        )
    if case.is_open and not case.draft:
        raise _BadLine(
            "expects nothing; give documents, chunks, places or terms, or unanswerable: true"
        )


def _refuse_repeated(name: str, values: Sequence[object]) -> None:
    if len(set(values)) < len(values):
        raise _BadLine(f"{_quoted(name)} names one of them twice; keep one")


def _written(case: Case) -> dict[str, Any]:
    """The fields of a line, in the order people read them; those left at their default are not."""
    graded = any(grade != 1 for grade in case.documents.values())
    fields: dict[str, Any] = {
        "question": case.question,
        "kind": case.kind,
        "documents": dict(case.documents) if graded else list(case.documents),
        "chunks": list(case.chunks),
        "places": [
            {name: value for name, value in asdict(place).items() if value is not None}
            for place in case.places
        ],
        "terms": list(case.terms),
        "unanswerable": case.unanswerable,
        "filters": {
            name: value for name in _FILTERS if (value := getattr(case.filters, name)) is not None
        },
        "draft": case.draft,
        "note": case.note,
    }
    return {
        name: value
        for name, value in fields.items()
        if value and (name, value) != ("kind", _USUAL_KIND)
    }
