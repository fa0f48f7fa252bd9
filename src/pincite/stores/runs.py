"""Eval runs of an embedded library: one JSON file each, beside the index."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec

from pincite.errors import RunNotFound, StoreDamaged, StoreReadOnly
from pincite.files import make_folder, open_file, remove, replace_file
from pincite.records import EvalRun, EvalSetup

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
        return sorted(file.stem for file in self._folder.glob(f"*{_SUFFIX}"))

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
                return msgspec.json.decode(opened.read(), type=kind)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise StoreDamaged(
                f"the run in {file} cannot be read ({error}); delete the file and run again"
            ) from error

    def _file(self, run_id: str) -> Path:
        return self._folder / f"{run_id}{_SUFFIX}"
