"""Does all there is to do with a received library; see test_hostile_index.py."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pincite.engine import Library
from pincite.engine.eval_wishes import EvalWishes, Gate
from pincite.errors import PinciteError
from pincite.records import Case
from two_models import BACKWARDS, NEW, OLD, open_with_models

CASES = (Case(question="valve", documents={"a.md": 1}),)


def use_everything(root: Path, archive: Path) -> list[str]:
    """Every verb that opens something in the index; what they refused with."""
    verbs: tuple[Callable[[Library], object], ...] = (
        lambda library: library.search("valve"),
        lambda library: library.show("a.md:1"),
        lambda library: library.stats(),
        lambda library: library.index(),
        lambda library: library.evaluation.run(CASES, EvalWishes()),
        lambda library: library.evaluation.run(CASES, EvalWishes(policy="wiki")),
        lambda library: library.reindex(model=BACKWARDS, gate=Gate(CASES)),
        lambda library: library.generations.stats(),
        lambda library: library.generations.cancel(),
        lambda library: library.reindex(model=OLD),
        lambda library: library.reindex(model=NEW),
        lambda library: library.rollback(),
        lambda library: library.generations.drop_before(),
        lambda library: library.verify(),
        lambda library: library.verify(repair=True),
        lambda library: library.export_to(root.with_name("exported"), overwrite=True),
        lambda library: library.import_from(archive, replace=True),
        lambda library: library.convert(),
        lambda library: library.search("pump"),
        lambda library: forget(library, root / "b.md"),
    )
    refused = []
    for verb in verbs:
        with suppress(PinciteError), open_with_models(root) as library:
            try:
                verb(library)
            except PinciteError as error:
                refused.append(f"{type(error).__name__}: {error}")
    return refused


def forget(library: Library, file: Path) -> None:
    """Delete a file and forget it; what still stands is not forgotten."""
    file.unlink(missing_ok=True)
    library.forget(file.name)


if __name__ == "__main__":
    for root in sys.argv[2:]:
        use_everything(Path(root), Path(sys.argv[1]))
