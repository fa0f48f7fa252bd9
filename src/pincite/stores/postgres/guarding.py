"""Labels that are raised: what was open is guarded from then on, wherever it still stands."""

from __future__ import annotations

from dataclasses import replace

from pincite.records import LEVELS
from pincite.stores.postgres.schema import Connection
from pincite.stores.postgres.search import View
from pincite.stores.postgres.tables import LEVEL, PATH
from pincite.stores.postgres.words import RAISE_SPELLINGS
from pincite.stores.rows import DocumentRows

_AT_PATH = "md5({table}.path) = md5(%(path)s) AND {table}.path = %(path)s"
_OPENER = "{table}.project = %(project)s AND {table}.level < %(level)s AND " + _AT_PATH
_OPEN_ELSEWHERE = f"""
SELECT EXISTS (SELECT 1 FROM past_document WHERE {_OPENER.format(table="past_document")})
    OR EXISTS (SELECT 1 FROM document WHERE {_OPENER.format(table="document")})
    OR EXISTS (
        SELECT 1 FROM document JOIN original ON original.project = document.project
            AND original.owner = document.owner AND original.checksum = document.upload
        WHERE document.project = %(project)s AND original.level < %(level)s
        AND {_AT_PATH.format(table="document")}
    )
"""
_GUARD = (
    # A file that was handed in is guarded as the documents are that were made of it.
    "UPDATE original SET level = %(level)s FROM document "
    "WHERE document.project = %(project)s AND document.level <= %(level)s "
    f"AND {_AT_PATH.format(table='document')} AND original.project = document.project "
    "AND original.owner = document.owner AND original.checksum = document.upload "
    "AND original.level < %(level)s",
    "UPDATE past_document SET level = %(level)s, "
    "record = jsonb_set(record, '{metadata,confidentiality}', to_jsonb(%(label)s::text)) "
    f"WHERE {_OPENER.format(table='past_document')}",
    "UPDATE chunk SET level = %(level)s FROM document "
    f"WHERE document.row = chunk.document AND {_OPENER.format(table='document')}",
    *(statement.format(raised=_OPENER.format(table="document")) for statement in RAISE_SPELLINGS),
    # What it says of itself rises, too: an export carries that and no level.
    "UPDATE document SET level = %(level)s, "
    "metadata = jsonb_set(metadata::jsonb, '{confidentiality}', to_jsonb(%(label)s::text))::text "
    f"WHERE {_OPENER.format(table='document')}",
)


def guard_elsewhere(connection: Connection, view: View, rows: DocumentRows) -> None:
    """What was open and is now guarded is guarded in the past and in other generations, too."""
    values = {
        "project": view.project,
        "level": rows.document[LEVEL],
        "label": LEVELS[rows.document[LEVEL]],
        "path": rows.document[PATH],
    }
    if connection.execute(_OPEN_ELSEWHERE, values).fetchone() == (True,):
        touch_others(connection, view)  # also keeps others from counting their words meanwhile
        for statement in _GUARD:
            connection.execute(statement, values)


def touch_others(connection: Connection, view: View) -> None:
    """Whoever remembers what other generations held must look again: some is gone or hidden.

    They are as complete as they were.
    """
    connection.execute(
        "UPDATE generation SET version = version + 1 WHERE project = %s AND id <> %s",
        (view.project, view.generation),
    )


def as_guarded(rows: DocumentRows, level: int) -> DocumentRows:
    """A document made again of what it says of itself, as guarded as it was before, or more."""
    document = list(rows.document)
    document[LEVEL] = max(level, document[LEVEL])
    return replace(rows, document=tuple(document))
