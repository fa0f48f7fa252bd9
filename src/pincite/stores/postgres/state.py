"""A project at one moment: how its index is made, and what of it one member may see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pincite.records import Failure, LibraryHeader
from pincite.stores.codec import header_from_json
from pincite.stores.postgres.connection import Entry
from pincite.stores.postgres.schema import Connection
from pincite.stores.postgres.search import View

# An admin sees all members: whose row and clearance count is said by the transaction itself, too.
_STATE = """
SELECT least(member.clearance, clearance_here()), member.role, generation.id, generation.space,
    space.dimensions, generation.header, generation.complete, generation.problems,
    generation.version, generation.chunks, generation.windows,
    (SELECT amname FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
     JOIN pg_am ON pg_am.oid = relam
     WHERE indisvalid AND indexrelid = to_regclass('pincite.window_space_' || generation.space)),
    member.xmin::text  -- another one after each change of the membership, also there and back
FROM project JOIN member ON member.project = project.id AND member.account = %(account)s
LEFT JOIN generation ON generation.project = project.id
    AND generation.number = coalesce(%(generation)s, project.live)
LEFT JOIN space ON space.id = generation.space
WHERE project.id = %(project)s ORDER BY member.account = account_here() DESC LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class State:
    """A project at one moment: how its index is made, and what of it may be seen."""

    view: View | None  # None before the first build
    generation: int | None = None
    header: LibraryHeader | None = None
    complete: bool = False
    problems: tuple[Failure, ...] = ()
    version: str = ""


def state_at(
    connection: Connection, entry: Entry, generation: int | None, *, compared_all: int
) -> State | None:
    """The state of a generation, of the live one where none is named; None to who is no member."""
    asked = {"account": entry.account, "project": entry.project, "generation": generation}
    row = connection.execute(_STATE, asked).fetchone()
    return None if row is None else _state_of(entry.project or 0, row, compared_all)


def _state_of(project: int, row: tuple[Any, ...], compared_all: int) -> State:
    clearance, role, generation, space, dimensions, *rest = row
    header, complete, problems, version, chunks, windows, index, membership = rest
    seen_as = f"{clearance} {role} {membership}"
    if header is None:
        return State(None, generation, version=f"{generation} {seen_as}")
    return State(
        View(
            project,
            generation,
            clearance,
            space,
            dimensions,
            chunks,
            windows,
            index=index,
            compared_all=compared_all,
        ),
        generation,
        header_from_json(header),
        complete,
        tuple(Failure(path, reason) for path, reason in problems),
        f"{generation} {version} {seen_as}",
    )
