"""Whether what was made of documents agrees with them, and how to make it again."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from pincite.records import DocumentId, Finding, LibraryHeader
from pincite.stores.postgres import tables
from pincite.stores.postgres.schema import Connection
from pincite.stores.postgres.search import View
from pincite.stores.postgres.words import (
    CHUNK_COLUMNS,
    DOCUMENT_COLUMNS,
    WORD_TABLES,
    words_of,
)
from pincite.stores.rows import DocumentRows, embedded_of, rows_of

_DOCUMENTS = "SELECT row, id, owner, upload FROM document WHERE project = %s AND generation = %s"
_HELD = """
SELECT asked.word, held.halves, held.length FROM unnest(%(words)s::text[]) AS asked (word)
CROSS JOIN LATERAL (
    SELECT id FROM token WHERE generation = %(generation)s AND token = asked.word OFFSET 0
) AS known
CROSS JOIN LATERAL (
    SELECT halves, length FROM {table}
    WHERE generation = %(generation)s AND token = known.id AND owner = %(owner)s OFFSET 0
) AS held
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
"""
_MISCOUNTED = """
SELECT (
    SELECT count(*) FROM (
        SELECT id, chunks, documents FROM token WHERE generation = %(generation)s
    ) AS known FULL JOIN (
        SELECT token AS id, sum(chunk) AS chunks, sum(document) AS documents FROM (
            SELECT token, 1 AS chunk, 0 AS document FROM posting
            WHERE generation = %(generation)s
            UNION ALL SELECT token, 0, 1 FROM about_posting WHERE generation = %(generation)s
        ) AS one GROUP BY token
    ) AS held USING (id)
    WHERE (known.chunks, known.documents) IS DISTINCT FROM (held.chunks, held.documents)
) + (
    SELECT count(*) FROM (
        SELECT word, level, documents FROM spelling WHERE generation = %(generation)s
    ) AS known FULL JOIN (
        SELECT word COLLATE "C" AS word, level, count(*) AS documents
        FROM document CROSS JOIN unnest(spelled) AS word
        WHERE generation = %(generation)s GROUP BY 1, 2
    ) AS held USING (word, level)
    WHERE known.documents IS DISTINCT FROM held.documents
)
"""


def findings(connection: Connection, view: View, header: LibraryHeader) -> list[Finding]:
    """Everything that does not agree in a generation, to whoever sees all of it."""
    found = [
        Finding("words" if part == "words" else "database", problem)
        for _, document_id, _, _ in connection.execute(
            _DOCUMENTS, (view.project, view.generation)
        ).fetchall()
        for part, problem in _problems(connection, view, header, document_id)
    ]
    counted = connection.execute(_COUNTED, {"generation": view.generation}).fetchone()
    if counted is not None and counted[:5] != counted[5:]:
        found.append(Finding("database", f"counts {counted[:5]} should be {counted[5:]}"))
    strays = connection.execute(_STRAYS, {"generation": view.generation}).fetchone() or (0, 0)
    found.extend(
        Finding("words", f"{count} words of {what} that are not there")
        for count, what in zip(strays, ("chunks", "documents"), strict=True)
        if count
    )
    (miscounted,) = connection.execute(_MISCOUNTED, {"generation": view.generation}).fetchone() or (
        0,
    )
    if miscounted:
        found.append(Finding("words", f"{miscounted} words are not had by as many as is counted"))
    return found


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
    held, expected = len(rows.chunks), rows.document[tables.CHUNKS]
    if held != expected:
        problems.append(("database", f"{path} has {held} chunks, not {expected}"))
    if rows.document[tables.RECIPE] != made.document[tables.RECIPE]:
        problems.append(("database", f"a chunk of {path} has no vector"))
    for before, after in zip(rows.chunks, made.chunks, strict=True):
        if before.chunk[0] != after.chunk[0]:
            problems.append(("database", f"a chunk of {path} is not what its id says"))
    if not _words_agree(connection, view, made):
        problems.append(("words", f"the words of {path} are not those of its text"))
    return problems


def _made_again(rows: DocumentRows, header: LibraryHeader) -> DocumentRows:
    time, recipe = rows.document[-2:]
    return rows_of(embedded_of(header.name, rows), time=time, recipe=recipe)


def _words_agree(connection: Connection, view: View, made: DocumentRows) -> bool:
    found = connection.execute(
        "SELECT row, spelled FROM document WHERE generation = %s AND id = %s",
        (view.generation, made.document[0]),
    ).fetchone()
    if found is None:
        return False
    document, spelled = found
    numbers = connection.execute(
        "SELECT row FROM chunk WHERE document = %s ORDER BY position", (document,)
    ).fetchall()
    expected = [("about_posting", document, words_of(made.words, DOCUMENT_COLUMNS))]
    expected.extend(
        ("posting", number, words_of(one.words, CHUNK_COLUMNS))
        for (number,), one in zip(numbers, made.chunks, strict=True)
    )
    for table, owner, words in expected:
        held = connection.execute(
            _HELD.format(table=table),
            {"generation": view.generation, "owner": owner, "words": list(words.counts)},
        )
        if set(held) != {(token, halves, words.length) for token, halves in words.counts.items()}:
            return False
    return set(spelled) == tables.spellings_of(made.chunks)


def repair(connection: Connection, view: View, header: LibraryHeader) -> None:
    """Write what is made of documents again, from their texts and vectors."""
    for table in WORD_TABLES:
        connection.execute(f"DELETE FROM {table} WHERE generation = %s", (view.generation,))
    documents = connection.execute(_DOCUMENTS, (view.project, view.generation)).fetchall()
    for row, document_id, owner, upload in documents:
        rows = tables.read(connection, view, document_id)
        made = None
        with suppress(ValueError, KeyError, TypeError):  # cannot be read: its file is read again
            made = _made_again(rows, header) if rows is not None else None
        tables.forget_documents(connection, view.generation, [row])
        if rows is not None and made is not None:
            # What it says of itself may be less than what is known of it by now.
            document = list(made.document)
            document[tables.LEVEL] = max(rows.document[tables.LEVEL], document[tables.LEVEL])
            made = replace(made, document=tuple(document))
            tables.write(connection, view, made, owner=owner, upload=upload)
    connection.execute(_COUNT_AGAIN, {"generation": view.generation})
