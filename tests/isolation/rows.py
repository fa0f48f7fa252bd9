"""All rows of all tables, as their owner reads them: whose each one is, and at which level.

Whose a row is, is found by its keys, as from a window over its chunk and its document up to the
project: what the row itself says of its project and its level is what the policies go by.
"""

from __future__ import annotations

from dataclasses import dataclass

from isolation.model import Project
from isolation.world import World
from pincite.stores.postgres.schema import Connection


@dataclass(frozen=True)
class Table:
    """How the rows of a table are told apart and changed."""

    found: str  # the table, with what its keys lead to
    change: str  # something that may be changed in any of its rows
    project: str = "generation.project"
    level: str | None = None  # None: seen with whatever clearance
    account: str | None = None
    placed: tuple[str, ...] = ("project",)  # the columns that put a row into a project


_GENERATION = "LEFT JOIN generation ON generation.id = {table}.generation"
_DOCUMENT = f"LEFT JOIN document ON document.row = {{key}} {_GENERATION.format(table='document')}"
_CHUNK = f"LEFT JOIN chunk ON chunk.row = {{key}} {_DOCUMENT.format(key='chunk.document')}"
_PAST = (
    "LEFT JOIN past_document ON past_document.row = past_chunk.document "
    f"{_GENERATION.format(table='past_document')}"
)

TABLES = {
    "member": Table("member", "role = 'admin'", project="member.project", account="member.account"),
    "project": Table("project", "last = 9", project="project.id", placed=("owner",)),
    "generation": Table("generation", "version = 9"),
    "document": Table(
        f"document {_GENERATION.format(table='document')}",
        "title = 'x'",
        level="document.level",
        placed=("project", "generation"),
    ),
    "chunk": Table(
        f"chunk {_DOCUMENT.format(key='chunk.document')}",
        "tokens = 9",
        level="document.level",
        placed=("project", "generation"),
    ),
    "token": Table(
        f"token {_GENERATION.format(table='token')}", "documents = 9", placed=("generation",)
    ),
    "posting": Table(
        f"posting {_CHUNK.format(key='posting.owner')}", "length = 9", placed=("generation",)
    ),
    "about_posting": Table(
        f"about_posting {_DOCUMENT.format(key='about_posting.owner')}",
        "length = 9",
        placed=("generation",),
    ),
    "spelling": Table(
        f"spelling {_GENERATION.format(table='spelling')}",
        "documents = 9",
        level="spelling.level",
        placed=("generation",),
    ),
    "window_vector": Table(
        f"window_vector {_CHUNK.format(key='window_vector.chunk')}",
        "fingerprint = 'x'",
        placed=("project", "generation"),
    ),
    "definition": Table(f"definition {_DOCUMENT.format(key='definition.document')}", "long = 'x'"),
    "document_name": Table(
        f"document_name {_DOCUMENT.format(key='document_name.document')}",
        "project = nullif(current_setting('pincite.project'), '')::bigint",
    ),
    "original": Table("original", "path = 'x'", project="original.project", level="original.level"),
    "past_document": Table(
        f"past_document {_GENERATION.format(table='past_document')}",
        "path = 'x'",
        level="past_document.level",
        placed=("project", "generation"),
    ),
    "past_chunk": Table(f"past_chunk {_PAST}", "id = 'x'"),
}


@dataclass(frozen=True)
class Row:
    """One row: where it lies, and whose it is. It lies elsewhere once it is changed."""

    place: str
    project: int | None  # None: of no project, so nobody may see it
    level: int | None
    account: int | None


@dataclass(frozen=True)
class Rows:
    """What there is, and the numbers by which the database knows projects and users."""

    of: dict[str, list[Row]]  # by table
    projects: dict[tuple[str, str], int]  # by owner and name
    accounts: dict[str, int]
    generations: dict[int, int]  # one of each project


def all_rows(connection: Connection, tables: tuple[str, ...] = tuple(TABLES)) -> Rows:
    """What whoever owns the tables reads."""
    named = connection.execute(
        "SELECT account.name, project.name, project.id, project.owner, min(generation.id) "
        "FROM project JOIN account ON account.id = project.owner "
        "JOIN generation ON generation.project = project.id GROUP BY 1, 2, 3, 4"
    ).fetchall()
    return Rows(
        of={table: _rows_of(connection, table) for table in tables},
        projects={(owner, name): project for owner, name, project, _, _ in named},
        accounts={owner: account for owner, _, _, account, _ in named},
        generations={project: generation for _, _, project, _, generation in named},
    )


def _rows_of(connection: Connection, table: str) -> list[Row]:
    how = TABLES[table]
    found = connection.execute(
        f"SELECT {table}.ctid::text, {how.project}, {how.level or 'NULL'}, {how.account or 'NULL'} "
        f"FROM {how.found}"
    )
    return [Row(*one) for one in found]


_STORED = {
    "member": "SELECT account.name, role, clearance FROM member "
    "JOIN account ON account.id = member.account WHERE project = {project}",
    "generation": "SELECT number FROM generation WHERE project = {project}",
    "document": "SELECT number, path, level FROM document "
    "JOIN generation ON generation.id = generation WHERE generation.project = {project}",
    "chunk": "SELECT number, path, chunk.level FROM chunk "
    "JOIN document ON document.row = document "
    "JOIN generation ON generation.id = document.generation WHERE generation.project = {project}",
    "past_document": "SELECT number, path, level FROM past_document "
    "JOIN generation ON generation.id = generation WHERE generation.project = {project}",
    "original": "SELECT account.name, checksum, level FROM original "
    "JOIN account ON account.id = owner WHERE project = {project}",
}


def agree_with_model(world: World, connection: Connection) -> None:
    """What is stored of each project is what the model has: no more, no less, as guarded."""
    for name, number in all_rows(connection, ()).projects.items():
        expected = _modelled(world.projects[name])
        for table, statement in _STORED.items():
            stored = connection.execute(statement.format(project=number)).fetchall()
            assert sorted(stored) == sorted(expected[table]), f"{table} of {name}"


def _modelled(project: Project) -> dict[str, list[tuple[object, ...]]]:
    generations = project.generations.items()
    documents = [(n, one) for n, held in generations for one in held.documents.values()]
    return {
        "member": [(user, *may) for user, may in project.members.items()],
        "generation": [(number,) for number in project.generations],
        "document": [(n, one.path, one.level) for n, one in documents],
        "chunk": [(n, one.path, one.level) for n, one in documents for _ in one.document.chunks],
        "past_document": [(n, one.path, one.level) for n, held in generations for one in held.past],
        "original": [(*key, kept.level) for key, kept in project.originals.items()],
    }
