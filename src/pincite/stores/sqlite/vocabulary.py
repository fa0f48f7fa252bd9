"""What the library's own words say of a question: spellings, definitions, what is missing."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence

import apsw

from pincite.recent import Recent
from pincite.records import Definition, DocumentId
from pincite.stores.sqlite.connection import snapshot
from pincite.stores.sqlite.filters import match_expression
from pincite.stores.sqlite.meta import log_position
from pincite.text.naming import longest_only, names_said
from pincite.text.words import Term, fold

_COUNTS_KNOWN = 5_000  # words whose chunks were counted; half a megabyte

# A word that so many chunks have tells little, and counting on would take long.
_HAVING = "SELECT count(*) FROM (SELECT 1 FROM chunk_words WHERE chunk_words MATCH ? LIMIT 10000)"

# FTS5's own view of a words index: each word once, with the number of documents that have it.
_VIEW = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.spelled USING "
    "fts5vocab ('main', 'document_spelling', 'row')"
)
_ALL = "SELECT term, doc FROM temp.spelled"
_BEGINNING_WITH = f"{_ALL} WHERE term >= ? AND term < ?"

_DEFINED = """
SELECT short, min(long), count(*) AS documents FROM definition
WHERE short_key IN (SELECT value FROM json_each(:keys))
GROUP BY short, long_key ORDER BY documents DESC, short, long_key
"""


_NAMED = """
SELECT document_name.name, document.id FROM document_name
JOIN document ON document.rowid = document_name.document
WHERE document_name.name IN (SELECT value FROM json_each(?)) ORDER BY document.id
"""


class Spellings:
    """Words by their first letter, read once for each state of the index. Threads may share it."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[int, Mapping[str, int]]] = {}

    def beginning_with(self, connection: apsw.Connection, initial: str) -> Mapping[str, int]:
        """Each word with the number of documents that have it."""
        with snapshot(connection):
            state = log_position(connection)
            known = self._read.get(initial)
            if known is None or known[0] != state:
                connection.execute(_VIEW)
                after = chr(ord(initial) + 1)
                rows = connection.execute(_BEGINNING_WITH, (initial, after))
                known = self._read[initial] = (state, dict(rows))
        return known[1]


class ChunkCounts:
    """How many chunks have a word, counted once for each state of the index; threads may share it.

    A question's words are asked for twice, and counting all chunks reads all of their table.
    """

    def __init__(self) -> None:
        self._counted: Recent[tuple[int, str], int] = Recent(_COUNTS_KNOWN)

    def of(self, connection: apsw.Connection, words: Sequence[str]) -> tuple[int, dict[str, int]]:
        """How many chunks there are, and how many of them have each word, in any of its forms."""
        with snapshot(connection):
            state = log_position(connection)
            counts = {word: self._count(connection, state, fold(word)) for word in words}
            return self._count(connection, state, ""), counts

    def _count(self, connection: apsw.Connection, state: int, word: str) -> int:
        known = self._counted.get((state, word))
        if known is None:
            counting = _HAVING if word else "SELECT count(*) FROM chunk"
            values = (match_expression([Term((word,))]),) if word else ()
            known = int(connection.execute(counting, values).get)
            self._counted.put((state, word), known)
        return known


def all_spellings(connection: apsw.Connection) -> dict[str, int]:
    """Every word with the number of documents that have it."""
    connection.execute(_VIEW)
    return dict(connection.execute(_ALL))


def named_documents(
    connection: apsw.Connection, question: str
) -> dict[str, tuple[DocumentId, ...]]:
    """The documents with a name that the question says, by that name; the longest names only."""
    found: defaultdict[str, list[DocumentId]] = defaultdict(list)
    for name, document in connection.execute(_NAMED, (json.dumps(names_said(question)),)):
        found[name].append(document)
    return {name: tuple(found[name]) for name in longest_only(found)}


def definitions(connection: apsw.Connection, keys: Sequence[str]) -> list[Definition]:
    """What the documents define under these keys, most frequent first."""
    rows = connection.execute(_DEFINED, {"keys": json.dumps(list(keys))})
    return [Definition(short, long, count) for short, long, count in rows]
