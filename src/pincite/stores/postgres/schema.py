"""The tables of a team's database."""

from __future__ import annotations

from typing import Any

import psycopg

Connection = psycopg.Connection[tuple[Any, ...]]

SCHEMA = "pincite"

_TABLES = """
CREATE TABLE account (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE
);

CREATE TABLE project (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner bigint NOT NULL REFERENCES account,
    name text NOT NULL,
    live integer,
    before integer,
    next integer,
    last integer NOT NULL DEFAULT 0,
    UNIQUE (owner, name)
);

CREATE TABLE member (
    project bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    account bigint NOT NULL REFERENCES account,
    role text NOT NULL CHECK (role IN ('reader', 'writer', 'admin')),
    clearance smallint NOT NULL,
    PRIMARY KEY (project, account)
);

-- Vectors of one model. Each space has an index of its own, as vectors of two never meet.
CREATE TABLE space (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    fingerprint text NOT NULL,
    dimensions integer NOT NULL,
    UNIQUE (fingerprint, dimensions)
);

-- What BM25 must know of all chunks is counted here, with every write.
CREATE TABLE generation (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    number integer NOT NULL,
    space bigint REFERENCES space,
    header jsonb,
    complete boolean NOT NULL DEFAULT false,
    problems jsonb NOT NULL DEFAULT '[]',
    version bigint NOT NULL DEFAULT 0,
    chunks bigint NOT NULL DEFAULT 0,
    words bigint NOT NULL DEFAULT 0,
    tokens integer NOT NULL DEFAULT 0,
    documents bigint NOT NULL DEFAULT 0,
    about_words bigint NOT NULL DEFAULT 0,
    windows bigint NOT NULL DEFAULT 0,
    updated timestamptz NOT NULL DEFAULT now(),
    UNIQUE (project, number)
);

CREATE TABLE document (
    row bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project bigint NOT NULL,
    generation integer NOT NULL REFERENCES generation ON DELETE CASCADE,
    owner bigint NOT NULL REFERENCES account,
    upload text,
    id text COLLATE "C" NOT NULL,
    path text COLLATE "C" NOT NULL,
    folded_name text NOT NULL,
    checksum text NOT NULL,
    type text NOT NULL,
    title text NOT NULL,
    own_title smallint NOT NULL,
    text text NOT NULL,
    sections text NOT NULL,
    metadata text NOT NULL,
    folded_tags jsonb NOT NULL,
    size bigint NOT NULL,
    modality text NOT NULL,
    summary text NOT NULL,
    folded_language text NOT NULL,
    folded_project text NOT NULL,
    folded_author text NOT NULL,
    folded_agents jsonb NOT NULL,
    level smallint NOT NULL,
    date_first text COLLATE "C" NOT NULL,
    date_last text COLLATE "C" NOT NULL,
    chunks integer NOT NULL,
    indexed_at text NOT NULL,
    recipe text NOT NULL,
    recording text,
    about tsvector NOT NULL,
    about_length integer NOT NULL,
    spelled text[] NOT NULL,
    UNIQUE (generation, id),
    UNIQUE (generation, owner, upload)
);
-- By a checksum: an entry of an index has no room for every path.
CREATE UNIQUE INDEX document_at_path ON document (generation, md5(path));
CREATE INDEX document_of_project_at_path ON document (project, md5(path));

CREATE TABLE chunk (
    row bigint PRIMARY KEY,
    project bigint NOT NULL,
    generation bigint NOT NULL,
    document bigint NOT NULL REFERENCES document ON DELETE CASCADE,
    level smallint NOT NULL,
    id text COLLATE "C" NOT NULL,
    modality text NOT NULL,
    position integer NOT NULL,
    start integer NOT NULL,
    "end" integer NOT NULL,
    line_start integer NOT NULL,
    line_end integer NOT NULL,
    sections text NOT NULL,
    folded_headings jsonb NOT NULL,
    tokens integer NOT NULL,
    page_start integer,
    page_end integer,
    time_start double precision,
    time_end double precision,
    row_start integer,
    row_end integer,
    places bytea NOT NULL,
    omissions text NOT NULL,
    analysis text NOT NULL,
    folded_layer text NOT NULL,
    folded_symbols jsonb NOT NULL,
    folded_imports jsonb NOT NULL,
    words tsvector NOT NULL,
    length integer NOT NULL,
    UNIQUE (generation, id)
);
CREATE SEQUENCE chunk_row;
CREATE INDEX chunk_of_document ON chunk (document);
CREATE INDEX chunk_seen ON chunk (generation, level, row);

-- Every token once, with how many chunks and documents have it: what it weighs is known
-- without counting them. Room is left in each page for rows that are counted up.
CREATE TABLE token (
    generation integer NOT NULL,
    id integer NOT NULL,
    chunks integer NOT NULL,
    documents integer NOT NULL,
    token text COLLATE "C" NOT NULL
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX token_by_name ON token (generation, token);

-- An entry of the index is all that BM25 needs: the table itself is not looked at. Columns
-- stand as they take the least room.
CREATE TABLE posting (
    owner bigint NOT NULL,
    generation integer NOT NULL,
    token integer NOT NULL,
    length integer NOT NULL,
    halves smallint NOT NULL
);
CREATE UNIQUE INDEX posting_by_token ON posting (generation, token, owner)
    INCLUDE (length, halves);
CREATE TABLE about_posting (LIKE posting);
CREATE UNIQUE INDEX about_posting_by_token ON about_posting (generation, token, owner)
    INCLUDE (length, halves);

-- How many documents of a level have a word. Which words a document has, it says itself.
CREATE TABLE spelling (
    generation integer NOT NULL,
    documents integer NOT NULL,
    level smallint NOT NULL,
    word text COLLATE "C" NOT NULL
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX spelling_by_word ON spelling (generation, word, level);

CREATE TABLE window_vector (
    row bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project bigint NOT NULL,
    generation bigint NOT NULL,
    space bigint NOT NULL,
    chunk bigint NOT NULL REFERENCES chunk ON DELETE CASCADE,
    start integer NOT NULL,
    "end" integer NOT NULL,
    fingerprint text NOT NULL,
    embedding vector,
    half halfvec,
    CHECK (num_nonnulls(embedding, half) = 1)
);
-- In the row itself: a vector that lies elsewhere takes several reads.
ALTER TABLE window_vector ALTER embedding SET STORAGE PLAIN;
ALTER TABLE window_vector ALTER half SET STORAGE PLAIN;
CREATE INDEX window_of_chunk ON window_vector (chunk);
CREATE INDEX window_by_fingerprint ON window_vector (generation, fingerprint);

CREATE TABLE definition (
    project bigint NOT NULL,
    document bigint NOT NULL REFERENCES document ON DELETE CASCADE,
    short text NOT NULL,
    long text NOT NULL,
    short_key text NOT NULL,
    long_key text NOT NULL
);
CREATE INDEX definition_of_document ON definition (document);
CREATE INDEX definition_by_key ON definition (project, short_key);

CREATE TABLE document_name (
    project bigint NOT NULL,
    document bigint NOT NULL REFERENCES document ON DELETE CASCADE,
    name text NOT NULL,
    PRIMARY KEY (document, name)
);
CREATE INDEX document_by_name ON document_name (project, name);

-- What was uploaded, to be read again for another generation.
CREATE TABLE original (
    project bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    owner bigint NOT NULL REFERENCES account,
    checksum text NOT NULL,
    level smallint NOT NULL,
    path text NOT NULL,
    labels jsonb NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (project, owner, checksum)
);

-- What citations of the past name. Deleting a project deletes it, too.
CREATE TABLE past_document (
    row bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project bigint NOT NULL,
    generation integer NOT NULL REFERENCES generation ON DELETE CASCADE,
    level smallint NOT NULL,
    path text NOT NULL,
    record jsonb NOT NULL
);
CREATE INDEX past_document_at_path ON past_document (project, md5(path));
CREATE INDEX past_document_of_generation ON past_document (generation);

CREATE TABLE past_chunk (
    project bigint NOT NULL,
    document bigint NOT NULL REFERENCES past_document ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL
);
CREATE INDEX past_chunk_by_id ON past_chunk (project, id);
CREATE INDEX past_chunk_of_document ON past_chunk (document);
"""


def m001_documents_chunks_windows(connection: Connection) -> None:
    """Accounts and their projects; generations of an index; documents, chunks, words, windows."""
    connection.execute(_TABLES)
