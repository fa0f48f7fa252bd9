"""The indexes that make vectors quick to search: made after bulk loads, made anew when due."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import psycopg

from pincite.errors import IndexBuildFailed, SettingsError
from pincite.stores.postgres.schema import Connection
from pincite.stores.postgres.search import View

IndexKind = Literal["hnsw", "ivfflat", "scann", "none"]
INDEX_KINDS: tuple[IndexKind, ...] = ("hnsw", "ivfflat", "scann", "none")
LARGEST_INDEXED = 4_000  # dimensions
# What pgvector takes; it would tell only when an index is made, or with each search.
_LIMITS = {
    "m": (2, 100),
    "ef_construction": (4, 1_000),
    "ef_search": (1, 1_000),
    "probes": (1, 32_768),
    "most_scanned": (1, (1 << 31) - 1),
}
_MOST_LISTS = 32_768  # of an IVFFlat index
_MEMORY = re.compile(r"([0-9]{1,9})(kB|MB|GB)")
_KILOBYTES = {"kB": 1, "MB": 1 << 10, "GB": 1 << 20}
_OF_WORDS = ("posting_by_token", "about_posting_by_token")
_MAKING = 0x70696E63  # "pinc": the lock of whoever makes an index, with the number of its space
_ANY_SPACE = 0  # no space has this number: the lock of whoever makes the index of any
_SECONDS_BETWEEN_TRIES = 0.2


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """How vectors are indexed, and how thoroughly an index is searched."""

    kind: IndexKind | None = None  # None: as the one that is there; hnsw where there is none
    m: int = 16  # hnsw: neighbours of each vector
    ef_construction: int = 64  # hnsw: how thoroughly they are chosen
    lists: int | None = None  # ivfflat, scann: parts; None: by the number of vectors
    from_windows: int = 20_000  # fewer are all compared, which is exact
    rebuilt_after: int = 5_000  # new windows, and at least a tenth of all; the planner learns, too
    memory: str = "1GB"  # for making it: a graph that fits into it is made many times faster
    ef_search: int = 100
    probes: int = 10
    most_scanned: int = 100_000  # windows that an iterative scan looks at under a filter

    def check(self) -> None:
        """Refuse what cannot work."""
        if self.kind is not None and self.kind not in INDEX_KINDS:
            kinds = ", ".join(INDEX_KINDS)
            raise SettingsError(f"pincite.index is one of {kinds}, not {self.kind!r}")
        for name, (least, most) in _LIMITS.items():
            if not least <= getattr(self, name) <= most:
                raise SettingsError(
                    f"{name} must be from {least} to {most}, not {getattr(self, name)}"
                )
        lists = self.lists if self.kind == "ivfflat" else None
        if lists is not None and not 1 <= lists <= _MOST_LISTS:
            raise SettingsError(f"lists must be from 1 to {_MOST_LISTS}, not {lists}")
        if self.ef_construction < 2 * self.m:
            raise SettingsError(
                f"ef_construction must be at least twice m, {2 * self.m}, "
                f"not {self.ef_construction}"
            )
        written = _MEMORY.fullmatch(self.memory)
        if not written or not 1 << 10 <= int(written[1]) * _KILOBYTES[written[2]] < 1 << 31:
            raise SettingsError(
                f"memory is {self.memory!r}; write it as 512MB or 2GB, from 1MB to 2047GB"
            )

    def scan(self, kind: str | None) -> dict[str, str]:
        """The settings of a search in such an index, by the names the server knows them by."""
        known = {
            "hnsw": {
                "hnsw.ef_search": str(self.ef_search),
                "hnsw.iterative_scan": "strict_order",
                "hnsw.max_scan_tuples": str(self.most_scanned),
            },
            "ivfflat": {
                "ivfflat.probes": str(self.probes),
                "ivfflat.iterative_scan": "relaxed_order",
                "ivfflat.max_probes": str(max(self.probes, 10_000)),
            },
            "scann": {"scann.num_leaves_to_search": str(self.probes)},
        }
        return known.get(kind or "", {})


def index_name(space: int) -> str:
    """The index of one space's vectors."""
    return f"window_space_{space:d}"


def maintain(connection: Connection, view: View, settings: IndexSettings) -> bool:
    """Make or remake the space's index where that is due; whether it was done.

    Runs outside of a transaction, so that others go on reading and writing meanwhile. A project
    whose vectors are all compared needs none, however many others share its space. One that is
    there is made anew by the tables' owner alone, who sees how many windows came since, or where
    another kind is asked for.
    """
    if settings.kind == "none" or view.windows < settings.from_windows:
        return False
    windows, built = _counts(connection, view.space)
    is_as_asked = view.index is not None and settings.kind in (None, view.index)
    grown = windows - (built or 0)
    if is_as_asked and built is not None and grown < max(settings.rebuilt_after, windows // 10):
        return False
    if view.dimensions > LARGEST_INDEXED:
        raise IndexBuildFailed(
            f"vectors of {view.dimensions} numbers cannot be indexed (at most {LARGEST_INDEXED}); "
            "choose a model with shorter ones, or set the index to `none`"
        )
    with _alone(connection, view.space) as alone:
        if alone:
            # The indexes of all spaces are of one table, where PostgreSQL makes one at a time.
            with _alone(connection, _ANY_SPACE, waits=True):
                build(connection, view, settings)
    return alone


def owns_tables(connection: Connection) -> bool:
    """Whether this login may make indexes."""
    owner = "SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = %s::regclass"
    return connection.execute(owner, ("pincite.window_vector",)).fetchone() == (True,)


@contextmanager
def _alone(connection: Connection, space: int, *, waits: bool = False) -> Iterator[bool]:
    """Whether nobody else makes the space's index just now; then nobody does until the end.

    Waits outside of a statement: one that waits for a lock inside would hold up the other.
    """
    asked = "SELECT pg_try_advisory_lock(%s, %s::integer)"
    while not (took := connection.execute(asked, (_MAKING, space)).fetchone() == (True,)) and waits:
        time.sleep(_SECONDS_BETWEEN_TRIES)
    try:
        yield took
    finally:
        if took and not connection.broken:  # else the lock went with it
            connection.execute("SELECT pg_advisory_unlock(%s, %s::integer)", (_MAKING, space))


def build(connection: Connection, view: View, settings: IndexSettings) -> None:
    """Make the index beside the old one, and let it take its place; those of words are packed.

    Nothing here waits for a lock that searches would have to wait behind: a backup may read for
    hours. What an earlier build left behind when it was killed is dropped first.
    """
    name = index_name(view.space)
    fresh, old = f"{name}_new", f"{name}_old"
    windows, _ = _counts(connection, view.space)
    try:
        for left in (
            fresh,
            old,
            *(f"{one}_cc{age}" for one in _OF_WORDS for age in ("new", "old")),
        ):
            connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS pincite.{left}")
        connection.execute(
            "SELECT set_config('maintenance_work_mem', %s, false)", (settings.memory,)
        )
        try:
            connection.execute(
                f"CREATE INDEX CONCURRENTLY {fresh} ON pincite.window_vector "
                f"USING {_method(view, settings, windows)} WHERE space = {view.space:d}"
            )
            # Words come in no order, which leaves their indexes half empty.
            for one in _OF_WORDS:
                connection.execute(f"REINDEX INDEX CONCURRENTLY pincite.{one}")
        finally:
            if not connection.broken:  # it goes back to its pool
                connection.execute("RESET maintenance_work_mem")
        with connection.transaction():
            connection.execute(f"ALTER INDEX IF EXISTS pincite.{name} RENAME TO {old}")
            connection.execute(f"ALTER INDEX pincite.{fresh} RENAME TO {name}")
            connection.execute(f"COMMENT ON INDEX pincite.{name} IS '{windows:d}'")
        # After it indexes of words are read without their tables.
        connection.execute(
            "VACUUM (ANALYZE) pincite.window_vector, pincite.chunk, pincite.token, "
            "pincite.posting, pincite.about_posting"
        )
        connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS pincite.{old}")
    except psycopg.Error as error:
        found = f"with the {view.index} index there is" if view.index else "but slowly"
        raise IndexBuildFailed(
            f"the index for vectors could not be made: {str(error).splitlines()[0]}; what was "
            f"stored is kept and found, {found}. Let the database's owner run `pincite team "
            "optimize`"
        ) from error


def _method(view: View, settings: IndexSettings, windows: int) -> str:
    ops = "vector_cosine_ops" if view.column == "embedding" else "halfvec_cosine_ops"
    column = f"(({view.column}::{view.kind}) {ops})"
    lists = settings.lists or max(windows // 1000, 10)
    match settings.kind or view.index or "hnsw":
        case "hnsw":
            options = f"m = {settings.m:d}, ef_construction = {settings.ef_construction:d}"
            return f"hnsw {column} WITH ({options})"
        case "ivfflat":
            return f"ivfflat {column} WITH (lists = {lists:d})"
        case _:
            return f"scann (({view.column}::{view.kind}) cosine) WITH (num_leaves = {lists:d})"


def _counts(connection: Connection, space: int) -> tuple[int, int | None]:
    """How many windows of the space this login sees, and how many it had with its last index."""
    counted = connection.execute(
        "SELECT sum(windows), obj_description(to_regclass(%s), 'pg_class') "
        "FROM pincite.generation WHERE space = %s",
        (f"pincite.{index_name(space)}", space),
    ).fetchone()
    windows, built = counted or (0, None)
    return int(windows or 0), None if built is None else int(built)
