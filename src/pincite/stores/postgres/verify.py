"""Whether what was made of documents agrees with them, and how to make it again."""

from __future__ import annotations

from pincite.errors import StoreDenied
from pincite.records import LEVELS, DocumentId, Finding, LibraryHeader
from pincite.stores.postgres import tables
from pincite.stores.postgres.guarding import as_guarded
from pincite.stores.postgres.schema import Connection
from pincite.stores.postgres.search import View
from pincite.stores.postgres.words import CHUNK_COLUMNS, DOCUMENT_COLUMNS, Words, words_of
from pincite.stores.rows import DocumentRows, embedded_of, rows_of

_CHUNK_COUNT = 21  # where a document's row says how many it has
_DOCUMENTS = "SELECT row, id, owner, upload FROM document WHERE project = %s AND generation = %s"
_HELD = """
SELECT token, halves, length FROM {table}
WHERE generation = %s AND owner = %s AND token = ANY (%s)
"""
_SPELLED = """
SELECT word FROM spelling WHERE generation = %s AND document = %s AND word = ANY (%s)
"""
_COUNTS = """
    (SELECT count(*) FROM document WHERE generation = %(generation)s),
    (SELECT count(*) FROM chunk WHERE generation = %(generation)s),
    (SELECT count(*) FROM window_vector WHERE generation = %(generation)s),
    (SELECT coalesce(sum(length), 0) FROM chunk WHERE generation = %(generation)s),
    (SELECT coalesce(sum(about_length), 0) FROM document WHERE generation = %(generation)s)
"""
_COUNTED = f"""
SELECT documents, chunks, windows, words, about_words, {_COUNTS}
FROM generation WHERE id = %(generation)s
"""
_COUNT_AGAIN = f"""
UPDATE generation SET (documents, chunks, windows, words, about_words) = (SELECT {_COUNTS})
WHERE id = %(generation)s
"""
_STRAYS = """
SELECT
    (SELECT count(*) FROM posting WHERE generation = %(generation)s
     AND NOT EXISTS (SELECT 1 FROM chunk WHERE chunk.row = posting.owner)),
    (SELECT count(*) FROM about_posting WHERE generation = %(generation)s
     AND NOT EXISTS (SELECT 1 FROM document WHERE document.row = about_posting.owner))
    + (SELECT count(*) FROM spelling WHERE generation = %(generation)s
       AND NOT EXISTS (SELECT 1 FROM document WHERE document.row = spelling.document))
"""


def findings(connection: Connection, view: View, header: LibraryHeader) -> list[Finding]:
    """Everything that does not agree in a generation, as far as this user may see it."""
    found = [
        Finding("words" if part == "words" else "database", problem)
        for _, document_id, _, _ in connection.execute(
            _DOCUMENTS, (view.project, view.generation)
        ).fetchall()
        for part, problem in _problems(connection, view, header, document_id)
    ]
    if not _sees_all(view):
        return found
    counted = connection.execute(_COUNTED, {"generation": view.generation}).fetchone()
    if counted is not None and counted[:5] != counted[5:]:
        found.append(Finding("database", f"counts {counted[:5]} should be {counted[5:]}"))
    strays = connection.execute(_STRAYS, {"generation": view.generation}).fetchone() or (0, 0)
    found.extend(
        Finding("words", f"{count} words of {what} that are not there")
        for count, what in zip(strays, ("chunks", "documents"), strict=True)
        if count
    )
    return found


def _sees_all(view: View) -> bool:
    """What lies above the clearance is counted, but not seen: then counts tell nothing."""
    return view.clearance >= len(LEVELS) - 1


def _problems(
    connection: Connection, view: View, header: LibraryHeader, document_id: DocumentId
) -> list[tuple[str, str]]:
    rows = tables.read(connection, view, document_id)
    if rows is None:
        return []
    path = rows.document[1]
    try:
        made = _made_again(rows, header)
    except (ValueError, KeyError, TypeError) as error:
        return [("database", f"{path} cannot be read: {error}")]
    problems = []
    held, expected = len(rows.chunks), rows.document[_CHUNK_COUNT]
    if held != expected:
        problems.append(("database", f"{path} has {held} chunks, not {expected}"))
    for before, after in zip(rows.chunks, made.chunks, strict=True):
        if before.chunk[0] != after.chunk[0]:
            problems.append(("database", f"a chunk of {path} is not what its id says"))
        if not before.windows:
            problems.append(("database", f"a chunk of {path} has no vector"))
    if not _words_agree(connection, view, made):
        problems.append(("words", f"the words of {path} are not those of its text"))
    return problems


def _made_again(rows: DocumentRows, header: LibraryHeader) -> DocumentRows:
    time, recipe = rows.document[-2:]
    return rows_of(embedded_of(header.name, rows), time=time, recipe=recipe)


def _words_agree(connection: Connection, view: View, made: DocumentRows) -> bool:
    found = connection.execute(
        "SELECT row FROM document WHERE generation = %s AND id = %s",
        (view.generation, made.document[0]),
    ).fetchone()
    numbers = connection.execute(
        "SELECT row FROM chunk WHERE document = %s ORDER BY position", found
    ).fetchall()
    expected = [("about_posting", found, words_of(made.words, DOCUMENT_COLUMNS))]
    expected.extend(
        ("posting", number, words_of(one.words, CHUNK_COLUMNS))
        for number, one in zip(numbers, made.chunks, strict=True)
    )
    spelled = tables.spellings_of(made.chunks)
    held = connection.execute(_SPELLED, (view.generation, *(found or (0,)), sorted(spelled)))
    return {word for (word,) in held} == spelled and all(
        _agrees(connection, view, table, owner[0] if owner else 0, words)
        for table, owner, words in expected
    )


def _agrees(connection: Connection, view: View, table: str, owner: int, words: Words) -> bool:
    held = connection.execute(
        _HELD.format(table=table), (view.generation, owner, list(words.counts))
    ).fetchall()
    return {row for row in held} == {
        (token, halves, words.length) for token, halves in words.counts.items()
    }


def repair(connection: Connection, view: View, header: LibraryHeader) -> None:
    """Write what is made of documents again, from their texts and vectors."""
    if not _sees_all(view):
        raise StoreDenied(
            "only who may see every document can repair the index: the words of the others would "
            f"be lost; let an admin do it, or give this user the clearance {LEVELS[-1]!r}"
        )
    for table in ("posting", "about_posting", "spelling"):
        connection.execute(f"DELETE FROM {table} WHERE generation = %s", (view.generation,))
    documents = connection.execute(_DOCUMENTS, (view.project, view.generation)).fetchall()
    for row, document_id, owner, upload in documents:
        made = _readable(connection, view, header, document_id)
        tables.forget(connection, view.generation, [row])
        if made is not None:
            tables.write(connection, view, made, owner=owner, upload=upload)
    connection.execute(_COUNT_AGAIN, {"generation": view.generation})


def _readable(
    connection: Connection, view: View, header: LibraryHeader, document_id: DocumentId
) -> DocumentRows | None:
    """A document as it is written; None of one that cannot be read: its file is read again."""
    rows = tables.read(connection, view, document_id)
    try:
        if rows is None:
            return None
        return as_guarded(_made_again(rows, header), rows.document[tables.LEVEL])
    except (ValueError, KeyError, TypeError):
        return None
