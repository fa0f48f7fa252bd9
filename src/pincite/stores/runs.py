"""Eval runs of an embedded library: one JSON file each, beside the index."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import msgspec

from pincite.errors import PathRefused, RunNotFound, StoreDamaged, StoreReadOnly
from pincite.files import make_folder, open_file, remove, remove_ours, replace_file
from pincite.records import CaseResult, EvalRun, EvalSetup, Found, ToldCitation

RUN_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9]{6}")
_SUFFIX = ".json"
_PROBE = "probe"
_LAST = "last"


class _Head(msgspec.Struct):
    """A run less its results, which are nearly all of its file."""

    id: str
    label: str
    made_at: str
    cases: str
    setup: EvalSetup
    figures: dict[str, dict[str, float]]
    latency: dict[str, dict[str, float]]


_Kind = TypeVar("_Kind", EvalRun, _Head)


class RunFolder:
    """Keeps eval runs by their ids. A run is written whole or not at all, and never changed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def prepare(self) -> None:
        """Make sure that a run can be kept, before an hour is spent on it."""
        with self._writing():
            make_folder(self._folder)
            replace_file(self._folder / _PROBE, ())
            remove(self._folder / _PROBE)

    def save(self, run: EvalRun) -> None:
        """Keep a run; on disk when this returns."""
        with self._writing():
            make_folder(self._folder)
            replace_file(self._file(run.id), [msgspec.json.encode(run)])

    def forget(self, is_path: Callable[[str], bool], chunks: Set[str]) -> int:
        """Take what was found in documents out of all runs; out of how many. Figures stay.

        A question that such a document should answer goes as a whole, and one out of the log that
        found it, as in the log itself. So does what was not finished, or cannot be read: nobody
        knows what it holds.
        """
        gone = 0
        with self._writing():
            remove_ours(self._folder, "*.part")
            for file in self._folder.glob(f"*{_SUFFIX}"):
                try:
                    run = self._read(file.stem, EvalRun)
                except StoreDamaged:
                    with suppress(IsADirectoryError):
                        remove(file)
                    continue

                def is_gone(one: Found | ToldCitation) -> bool:
                    return one.chunk in chunks or is_path(one.document)

                results = [
                    _without(one, is_gone)
                    for one in run.results
                    if not (one.case.is_open and any(map(is_gone, one.found)))
                    and chunks.isdisjoint(one.case.chunks)
                    and not any(map(is_path, one.case.documents))
                    and not any(is_path(place.document) for place in one.case.places)
                ]
                if results != list(run.results):
                    gone += 1
                    self.save(replace(run, results=tuple(results)))
        return gone

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreReadOnly(
                f"the run cannot be kept in {self._folder}: {error.strerror or error}"
            ) from error

    def ids(self) -> list[str]:
        """Every run, oldest first."""
        names = (file.stem for file in self._folder.glob(f"*{_SUFFIX}"))
        return sorted(name for name in names if RUN_ID.fullmatch(name))

    def load(self, name: str) -> EvalRun:
        """A run by its id, the beginning of it, its label, or `last`, `last~1`, `last~2`, …"""
        return self._read(self._id_named(name), EvalRun)

    def heads(self) -> list[EvalRun]:
        """Every run, oldest first, without its results; those that cannot be read are left out."""
        runs = []
        for run_id in self.ids():
            try:
                head = self._read(run_id, _Head)
            except StoreDamaged:
                continue
            runs.append(EvalRun(**msgspec.structs.asdict(head)))
        return runs

    def _id_named(self, name: str) -> str:
        ids = self.ids()
        if not ids:
            raise RunNotFound("there is no eval run yet; run `pincite eval run CASES`")
        if name == _LAST or name.startswith(f"{_LAST}~"):
            back = name.removeprefix(_LAST).removeprefix("~") or "0"
            if back.isdecimal() and int(back) < len(ids):
                return ids[-1 - int(back)]
            raise RunNotFound(f"there is no run {name}: only {len(ids)} are kept")
        found = [one for one in ids if one == name] or [one for one in ids if one.startswith(name)]
        # The newest of those with a label, as one evaluates under the same label again and again.
        found = found or [run.id for run in self.heads() if run.label == name][-1:]
        if len(found) == 1:
            return found[0]
        what = "several runs begin with" if found else "there is no run"
        raise RunNotFound(f"{what} {name!r}; `pincite eval runs` lists them")

    def _read(self, run_id: str, kind: type[_Kind]) -> _Kind:
        file = self._file(run_id)
        try:
            with open_file(file) as opened:
                run = msgspec.json.decode(opened.read(), type=kind)
        except (OSError, PathRefused, msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise StoreDamaged(
                f"the run in {file} cannot be read ({error}); delete the file and run again"
            ) from error
        if run.id != run_id:
            raise StoreDamaged(f"the run in {file} is another one; delete the file and run again")
        return run

    def _file(self, run_id: str) -> Path:
        if not RUN_ID.fullmatch(run_id):
            raise StoreDamaged(f"{run_id!r} is not the id of a run; delete its file and run again")
        return self._folder / f"{run_id}{_SUFFIX}"


def _without(result: CaseResult, is_gone: Callable[[Found | ToldCitation], bool]) -> CaseResult:
    """What was found and told, without what is to be forgotten.

    Nobody knows which of its sources a language model has which of its words from.
    """
    found = tuple(one for one in result.found if not is_gone(one))
    told = result.told
    if told is None:
        return replace(result, found=found)
    claims = tuple(one for one in told.claims if not any(map(is_gone, one.citations)))
    if told.writer and (len(claims), len(found)) != (len(told.claims), len(result.found)):
        claims = ()
    return replace(result, found=found, told=replace(told, claims=claims))
