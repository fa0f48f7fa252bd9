"""Texts → tokens with their postings, and spellings, counted with every change.

Whoever holds the lock on the generation's row writes all of it, so counting up never waits for
another writer, and two writers never lock the same tokens in different orders.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pincite.stores.postgres.schema import Connection
from pincite.text.stems import tokens_of

# Text; title, name, author and tags; headings; codes. How much a word counts there, in halves.
CHUNK_COLUMNS = (("D", 2), ("A", 4), ("B", 3), ("C", 2))
# Title, name, author and tags; folders; summary.
DOCUMENT_COLUMNS = (("A", 6), ("B", 3), ("C", 2))

_GAP = 2  # positions between two columns, so that no phrase runs from one into the next
_LAST_POSITION = 16_383  # that a tsvector knows
_MOST_COUNTED = 0x7FFF
_LONGEST_TOKEN = 200  # bytes; an index entry has room for some 2,700

_tokens = lru_cache(maxsize=64)(tokens_of)  # a document's chunks have title and name in common


@dataclass(frozen=True, slots=True)
class Words:
    """Every token with its positions, written as a tsvector, and with its count."""

    vector: str
    counts: dict[str, int]  # in halves
    length: int


def words_of(columns: Sequence[str], kinds: Sequence[tuple[str, int]]) -> Words:
    """The words of some columns, each of which counts differently."""
    counts: defaultdict[str, int] = defaultdict(int)
    places: defaultdict[str, list[str]] = defaultdict(list)
    position = length = 0
    for text, (letter, halves) in zip(columns, kinds, strict=True):
        for token in map(stored, _tokens(text)):
            position += 1
            length += 1
            counts[token] += halves
            places[token].append(f"{min(position, _LAST_POSITION)}{letter}")
        position += _GAP
    vector = " ".join(f"{quoted(token)}:{','.join(at)}" for token, at in places.items())
    return Words(vector, {t: min(n, _MOST_COUNTED) for t, n in counts.items()}, length)


def stored(token: str) -> str:
    """A token as it is kept: of one that is too long only what tells it from others."""
    data = token.encode("utf-8", "surrogatepass")
    if len(data) <= _LONGEST_TOKEN:
        return token
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def quoted(token: str) -> str:
    """A token as tsvector and tsquery read it."""
    return "'{}'".format(token.replace("\\", "\\\\").replace("'", "''"))


WORD_TABLES = ("token", "posting", "about_posting", "spelling")

# What is there is looked up first, so that new tokens alone get the next numbers.
_COUNT_TOKENS = """
INSERT INTO token (generation, id, chunks, documents, token)
SELECT generation.id,
    coalesce(known.id, generation.tokens + row_number() OVER (PARTITION BY known.id IS NULL)),
    added.chunks, added.documents, added.token
FROM unnest(%(tokens)s::text[], %(chunks)s::integer[], %(documents)s::integer[])
    AS added (token, chunks, documents)
CROSS JOIN generation LEFT JOIN LATERAL (
    SELECT id FROM token WHERE token.generation = %(generation)s AND token.token = added.token
    OFFSET 0
) AS known ON true
WHERE generation.id = %(generation)s
ON CONFLICT (generation, token) DO UPDATE SET
    chunks = token.chunks + excluded.chunks, documents = token.documents + excluded.documents
RETURNING token, id
"""
_INSERT_POSTINGS = """
INSERT INTO {table} (generation, owner, token, length, halves)
SELECT %s, owner, token, length, halves
FROM unnest(%s::bigint[], %s::integer[], %s::integer[], %s::smallint[])
    AS held (owner, token, length, halves)
"""
COUNT_SPELLINGS = """
INSERT INTO spelling (generation, documents, level, word)
SELECT %s, 1, %s, word FROM unnest(%s::text[]) AS word
ON CONFLICT (generation, word, level) DO UPDATE SET documents = spelling.documents + 1
"""

# Words have no index by what they are of: which there are is known from the document itself. Each
# is looked up on its own, as a planner without figures of a new table would read all of it.
_KNOWN = """
SELECT id, ctid FROM token
WHERE token.generation = %(generation)s AND token.token = gone.word {which} OFFSET 0
"""
_OF_CHUNKS = """
SELECT row, unnest(tsvector_to_array(words)) AS word FROM chunk WHERE document = ANY (%(rows)s)
"""
_OF_DOCUMENTS = """
SELECT row, unnest(tsvector_to_array(about)) AS word FROM document WHERE row = ANY (%(rows)s)
"""
_SPELLED = """
SELECT level, unnest(spelled) AS word FROM document WHERE row = ANY (%(rows)s)
"""
_FORGET_POSTINGS = f"""
DELETE FROM {{table}} WHERE ctid = ANY (ARRAY(
    SELECT found.ctid FROM ({{words}}) AS gone
    CROSS JOIN LATERAL ({_KNOWN.format(which="")}) AS known
    CROSS JOIN LATERAL (
        SELECT held.ctid FROM {{table}} AS held WHERE held.generation = %(generation)s
        AND held.token = known.id AND held.owner = gone.row OFFSET 0
    ) AS found
))
"""
# Counted down as they are counted up: by way of the index, whatever a planner thinks.
_COUNT_DOWN = f"""
INSERT INTO token (generation, id, chunks, documents, token)
SELECT %(generation)s, 0, -sum(chunks), -sum(documents), word FROM (
    SELECT word, 1 AS chunks, 0 AS documents FROM ({_OF_CHUNKS}) AS of_chunks
    UNION ALL SELECT word, 0, 1 FROM ({_OF_DOCUMENTS}) AS of_documents
) AS gone GROUP BY word
ON CONFLICT (generation, token) DO UPDATE SET
    chunks = token.chunks + excluded.chunks, documents = token.documents + excluded.documents
"""
_FORGET_TOKENS = f"""
DELETE FROM token WHERE ctid = ANY (ARRAY(
    SELECT found.ctid FROM (
        SELECT word FROM ({_OF_CHUNKS}) AS of_chunks
        UNION SELECT word FROM ({_OF_DOCUMENTS}) AS of_documents
    ) AS gone
    CROSS JOIN LATERAL ({_KNOWN.format(which="AND chunks < 1 AND documents < 1")}) AS found
))
"""
_COUNT_SPELLINGS_DOWN = f"""
INSERT INTO spelling (generation, documents, level, word)
SELECT %(generation)s, -count(*), level, word FROM ({_SPELLED}) AS gone GROUP BY level, word
ON CONFLICT (generation, word, level) DO UPDATE SET
    documents = spelling.documents + excluded.documents
"""
_FORGET_SPELLINGS = f"""
DELETE FROM spelling WHERE ctid = ANY (ARRAY(
    SELECT found.ctid FROM ({_SPELLED}) AS gone CROSS JOIN LATERAL (
        SELECT held.ctid FROM spelling AS held WHERE held.generation = %(generation)s
        AND held.word = gone.word AND held.level = gone.level AND held.documents < 1 OFFSET 0
    ) AS found
))
"""
_FORGET = (
    "SELECT 1 FROM generation WHERE id = %(generation)s FOR UPDATE",
    _FORGET_POSTINGS.format(table="posting", words=_OF_CHUNKS),
    _FORGET_POSTINGS.format(table="about_posting", words=_OF_DOCUMENTS),
    _COUNT_DOWN,
    _FORGET_TOKENS,
    _COUNT_SPELLINGS_DOWN,
    _FORGET_SPELLINGS,
)

# Where documents get another level, before they do.
RAISE_SPELLINGS = (
    """
    INSERT INTO spelling (generation, documents, level, word)
    SELECT generation, sum(change), moved.level, word
    FROM document CROSS JOIN LATERAL (VALUES (level, -1), (%(level)s::smallint, 1))
        AS moved (level, change)
    CROSS JOIN LATERAL unnest(spelled) AS word WHERE {raised}
    GROUP BY generation, moved.level, word
    ON CONFLICT (generation, word, level) DO UPDATE SET
        documents = spelling.documents + excluded.documents
    """,
    """
    DELETE FROM spelling WHERE documents < 1
    AND generation = ANY (ARRAY(SELECT generation FROM document WHERE {raised}))
    """,
)


def write_words(
    connection: Connection,
    generation: int,
    *,
    chunks: Sequence[tuple[int, Words]],
    document: tuple[int, Words],
) -> int:
    """Insert the postings of a document and of its chunks; the highest number of a token."""
    about = document[1].counts
    counted = dict.fromkeys(about, 0)
    for _, held in chunks:
        for token in held.counts:
            counted[token] = counted.get(token, 0) + 1
    rows = connection.execute(
        _COUNT_TOKENS,
        {
            "generation": generation,
            "tokens": list(counted),
            "chunks": list(counted.values()),
            "documents": [int(token in about) for token in counted],
        },
    )
    ids = {token: number for token, number in rows}
    _write_postings(connection, "posting", generation, ids, chunks)
    _write_postings(connection, "about_posting", generation, ids, [document])
    return max(ids.values(), default=0)


def _write_postings(
    connection: Connection,
    table: str,
    generation: int,
    ids: Mapping[str, int],
    words: Iterable[tuple[int, Words]],
) -> None:
    held = [
        (owner, ids[token], one.length, halves)
        for owner, one in words
        for token, halves in one.counts.items()
    ]
    columns = [list(column) for column in zip(*held, strict=True)] or [[], [], [], []]
    connection.execute(_INSERT_POSTINGS.format(table=table), (generation, *columns))


def forget_words(connection: Connection, generation: int, rows: Sequence[int]) -> None:
    """Forget the words of documents, which are still there."""
    for statement in _FORGET:
        connection.execute(statement, {"rows": list(rows), "generation": generation})
