"""What a project's own words say of a question: spellings, definitions, names, what is missing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from pincite.records import Definition, DocumentId
from pincite.stores.postgres.bm25 import Bound, holding_phrase, numbers_of, stems
from pincite.stores.postgres.schema import Connection
from pincite.stores.postgres.search import View
from pincite.text.naming import longest_only, names_said
from pincite.text.words import Term, fold

_SEEN = """
document.project = %(project)s AND document.generation = %(generation)s
AND document.level <= %(clearance)s
"""
_SPELLED = """
SELECT word, sum(documents) FROM spelling
WHERE spelling.generation = %(generation)s AND spelling.level <= %(clearance)s
AND spelling.word >= %(first)s AND spelling.word < %(after)s GROUP BY word
"""
_DEFINED = f"""
SELECT short, min(long COLLATE "C"), count(*) AS documents
FROM definition JOIN document ON document.row = definition.document
WHERE definition.project = %(project)s AND short_key = ANY (%(keys)s) AND {_SEEN}
GROUP BY short, long_key ORDER BY documents DESC, short COLLATE "C", long_key COLLATE "C"
"""
_CHUNKS = """
SELECT count(*) FROM chunk WHERE chunk.project = %(project)s
AND chunk.generation = %(generation)s AND chunk.level <= %(clearance)s
"""
_NAMED = f"""
SELECT document_name.name, document.id
FROM document_name JOIN document ON document.row = document_name.document
WHERE document_name.project = %(project)s AND document_name.name = ANY (%(names)s) AND {_SEEN}
ORDER BY document.id
"""


def spellings(connection: Connection, view: View, initial: str) -> Mapping[str, int]:
    """Each word with the number of documents that have it."""
    after = chr(ord(initial) + 1)
    rows = connection.execute(_SPELLED, {**view.scope, "first": initial, "after": after})
    return dict(rows.fetchall())


def chunk_counts(
    connection: Connection, view: View, words: Sequence[str]
) -> tuple[int, dict[str, int]]:
    """How many chunks there are, and how many of them have each word, in any of its forms."""
    counts = {word: _having(connection, view, Term((fold(word),))) for word in words}
    (chunks,) = connection.execute(_CHUNKS, view.scope).fetchone() or (0,)
    return int(chunks), counts


def _having(connection: Connection, view: View, term: Term) -> int:
    bound = Bound(**view.scope)
    tokens = stems(term)
    held: str | None = "SELECT owner FROM posting WHERE generation = %(generation)s AND token = ANY"
    held = (
        f"{held} ({numbers_of(tokens, bound)})" if len(tokens) == 1 else holding_phrase(term, bound)
    )
    if held is None:
        return 0
    # A word that so many chunks have tells little, and counting on would take long.
    statement = f"""
        SELECT count(*) FROM (
            SELECT 1 FROM ({held}) AS held JOIN chunk ON chunk.row = held.owner
            WHERE chunk.project = %(project)s AND chunk.level <= %(clearance)s LIMIT 10000
        ) AS counted
    """
    (count,) = connection.execute(statement, bound.values).fetchone() or (0,)
    return int(count)


def named_documents(
    connection: Connection, view: View, question: str
) -> dict[str, tuple[DocumentId, ...]]:
    """The documents with a name that the question says, by that name; the longest names only."""
    found: defaultdict[str, list[DocumentId]] = defaultdict(list)
    said = {**view.scope, "names": names_said(question.replace("\0", " "))}
    for name, document in connection.execute(_NAMED, said):
        found[name].append(DocumentId(document))
    return {name: tuple(found[name]) for name in longest_only(found)}


def definitions(connection: Connection, view: View, keys: Sequence[str]) -> list[Definition]:
    """What the documents define under these keys, most frequent first."""
    rows = connection.execute(_DEFINED, {**view.scope, "keys": list(keys)})
    return [Definition(short, long, count) for short, long, count in rows]
