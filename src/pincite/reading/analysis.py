"""The analysis file of a library: what its owner knows of the code, for search to filter by.

`pincite-analysis.json` at the library's root, made by hand or by another tool. What it says of a
file wins over what is found in the file itself. Its form is described in docs/code.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import PurePosixPath
from typing import Literal

import msgspec

from pincite.errors import FileUnreadable
from pincite.records import Analysis

FactsOf = Callable[[str], Analysis]
"""Path of a file of the library → what is found in the file itself."""

_LARGEST = 20_000_000  # bytes
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_PAGES = frozenset((".md", ".markdown", ".mdown", ".mkd", ".mdx", ".rst", ".org", ".txt", ".html"))
_NOT_ALPHANUMERIC = re.compile(r"[^a-z0-9]+")


class _File(msgspec.Struct, forbid_unknown_fields=True):
    layer: str | None = None
    symbols: list[str] = []
    imports: list[str] = []
    entry_points: list[str] = []


class _Form(msgspec.Struct, forbid_unknown_fields=True):
    version: Literal[1]
    files: dict[str, _File] = {}
    pages: dict[str, str | list[str]] = {}
    layers: dict[str, list[str]] = {}


@dataclass(frozen=True)
class AnalysisFile:
    """What an analysis file says. Paths are relative to the library, with forward slashes."""

    files: Mapping[str, Analysis] = field(default_factory=dict)
    # Page → the source files it is about.
    pages: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # Layer → patterns of the files in it.
    layers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, path: str, title: str, found_in: FactsOf = lambda path: Analysis()) -> Analysis:
        """What is known of a document: a source file, or a page about one or several.

        A page has what its sources have, and what is found in the page itself.
        """
        sources = self.sources(path, title)
        known = [self._of_source(source, found_in(source)) for source in sources]
        return _together(known if path in sources else [*known, found_in(path)])

    def sources(self, path: str, title: str) -> tuple[str, ...]:
        """The source files that a document is about: itself, where it is about no other.

        A page is about what `pages` says; else about the source file that its title or its own
        name names: `src/auth/service.py`, `wiki/src/auth/service.md`, `src-auth-service.md`.
        """
        if about := self.pages.get(path):
            return about
        if path in self.files:
            return (path,)
        called = title.strip().strip("`").removeprefix("./")
        if called in self.files:
            return (called,)
        page = PurePosixPath(path)
        if page.suffix.lower() not in _PAGES:
            return (path,)
        names = (name for name in _names_in(page) if name in self._by_name)
        return tuple(self._by_name[name] for name in names)[:1] or (path,)

    def _of_source(self, path: str, found: Analysis) -> Analysis:
        given = self.files.get(path, Analysis())
        layers = (
            layer
            for layer, patterns in self.layers.items()
            if any(_matches(path, pattern) for pattern in patterns)
        )
        return Analysis(
            layer=given.layer or next(layers, None),
            symbols=given.symbols or found.symbols,
            imports=given.imports or found.imports,
            entry_points=given.entry_points or found.entry_points,
        )

    @cached_property
    def _by_name(self) -> dict[str, str]:
        """How a page may be called → the source file it is then about, if that is only one."""
        found: dict[str, str] = {}
        twice: set[str] = set()
        for path in self.files:
            for name in _page_names(path):
                if found.setdefault(name, path) != path:
                    twice.add(name)
        return {name: path for name, path in found.items() if name not in twice}


def parse_analysis(data: bytes) -> AnalysisFile:
    """The analysis file with these bytes; FileUnreadable says what is wrong, and where."""
    if len(data) > _LARGEST:
        raise FileUnreadable(f"is larger than the {_LARGEST // 1_000_000} MB an analysis may have")
    try:
        form = msgspec.json.decode(data.removeprefix(_BYTE_ORDER_MARK), type=_Form)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise FileUnreadable(f"is not an analysis file: {error}; see docs/code.md") from error
    return AnalysisFile(
        files={
            path: Analysis(
                layer=file.layer or None,
                symbols=_each_once(file.symbols),
                imports=_each_once(file.imports),
                entry_points=_each_once(file.entry_points),
            )
            for path, file in form.files.items()
        },
        pages={
            path: (about,) if isinstance(about, str) else tuple(about)
            for path, about in form.pages.items()
        },
        layers={layer: tuple(patterns) for layer, patterns in form.layers.items()},
    )


def _together(known: Sequence[Analysis]) -> Analysis:
    """Of several files: all they have, and the first layer."""
    return Analysis(
        layer=next((one.layer for one in known if one.layer), None),
        symbols=_each_once(name for one in known for name in one.symbols),
        imports=_each_once(name for one in known for name in one.imports),
        entry_points=_each_once(name for one in known for name in one.entry_points),
    )


def _each_once(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if value.strip()))


def _page_names(path: str) -> Iterator[str]:
    """What a page about this source file may be called, without its own extension.

    A single word would be too little: the page `setup` need not be about `setup.py`.
    """
    bare = str(PurePosixPath(path).with_suffix("")) if PurePosixPath(path).suffix else path
    yield path
    yield _joined(path)
    if "/" in bare:
        yield bare
        yield _joined(bare)


def _names_in(page: PurePosixPath) -> Iterator[str]:
    """The names that a page's path gives: every end of it at a slash, and its last part joined."""
    parts = page.with_suffix("").parts
    for start in range(len(parts)):
        yield "/".join(parts[start:])
    yield _joined(parts[-1])


def _joined(path: str) -> str:
    return _NOT_ALPHANUMERIC.sub("-", path.lower()).strip("-")


def _matches(path: str, pattern: str) -> bool:
    """Whether the path is as the pattern says; `**` stands for any folders, also for none.

    Like a file system's own patterns, matched from the left. After `**` the parts are tried one
    place further each time they fail, which never has to be taken back for an earlier `**`.
    """
    wanted = pattern.removeprefix("./").split("/")
    if not wanted[-1]:  # "src/api/" is all that the folder holds
        wanted[-1] = "**"
    parts = path.split("/")
    at = want = 0
    back: tuple[int, int] | None = None
    while at < len(parts):
        if want < len(wanted) and wanted[want] == "**":
            back = (at, want + 1)
            want += 1
        elif want < len(wanted) and fnmatchcase(parts[at], wanted[want]):
            at, want = at + 1, want + 1
        elif back is not None:
            back = (back[0] + 1, back[1])
            at, want = back
        else:
            return False
    return all(rest == "**" for rest in wanted[want:])
