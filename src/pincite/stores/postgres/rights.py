"""Who may see and change what, said in the database itself: row-level security.

Every transaction of pincite runs as MEMBER, a role that owns nothing, with the account and the
project it is for as settings of that transaction. The policies below let it see rows of that
project alone, and only while the account is a member; in tables with a level, what lies above its
clearance stays hidden. Queries say the same once more in their conditions, of every table.
"""

from __future__ import annotations

from typing import Any

import psycopg

MEMBER = "pincite_member"

# Settings are empty or missing outside of a scope; then these give nothing, and nothing is seen.
_FUNCTIONS = """
CREATE OR REPLACE FUNCTION account_here() RETURNS bigint LANGUAGE sql STABLE AS
$$ SELECT nullif(current_setting('pincite.account', true), '')::bigint $$;

CREATE OR REPLACE FUNCTION project_asked() RETURNS bigint LANGUAGE sql STABLE AS
$$ SELECT nullif(current_setting('pincite.project', true), '')::bigint $$;

CREATE OR REPLACE FUNCTION role_in(asked bigint) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pincite, pg_temp AS
$$ SELECT role FROM member WHERE project = asked AND account = account_here() $$;

CREATE OR REPLACE FUNCTION owns(asked bigint) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pincite, pg_temp AS
$$ SELECT EXISTS (SELECT 1 FROM project WHERE id = asked AND owner = account_here()) $$;

CREATE OR REPLACE FUNCTION project_here() RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pincite, pg_temp AS
$$ SELECT project FROM member
   WHERE project = project_asked() AND account = account_here() $$;

CREATE OR REPLACE FUNCTION written_here() RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pincite, pg_temp AS
$$ SELECT project FROM member
   WHERE project = project_asked() AND account = account_here() AND role IN ('writer', 'admin') $$;

CREATE OR REPLACE FUNCTION clearance_here() RETURNS smallint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pincite, pg_temp AS
$$ SELECT least(clearance, nullif(current_setting('pincite.clearance', true), '')::smallint)
   FROM member WHERE project = project_asked() AND account = account_here() $$;

CREATE OR REPLACE FUNCTION generations_here() RETURNS bigint[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pincite, pg_temp AS
$$ SELECT array_agg(id) FROM generation WHERE project = project_here() $$;

CREATE OR REPLACE FUNCTION generations_written_here() RETURNS bigint[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pincite, pg_temp AS
$$ SELECT array_agg(id) FROM generation WHERE project = written_here() $$;

-- Who speaks to pincite was recognised by whoever opened the connection.
CREATE OR REPLACE FUNCTION account_known(asked text) RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pincite, pg_temp AS
$$ SELECT id FROM account WHERE name = asked $$;

-- Only whoever gets something is made known: to ask changes nothing.
CREATE OR REPLACE FUNCTION account_named(asked text) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pincite, pg_temp AS $$
BEGIN
    IF account_known(asked) IS NULL THEN
        INSERT INTO account (name) VALUES (asked) ON CONFLICT DO NOTHING;
    END IF;
    RETURN account_known(asked);
END $$;

CREATE OR REPLACE FUNCTION name_of_account(asked bigint) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pincite, pg_temp AS
$$ SELECT name FROM account WHERE id = asked AND (
    id = account_here()
    OR EXISTS (
        SELECT 1 FROM member AS mine JOIN member AS theirs USING (project)
        WHERE mine.account = account_here() AND theirs.account = asked
        AND (mine.role = 'admin' OR theirs.account = (
            SELECT owner FROM project WHERE project.id = theirs.project
        ))
    )
    OR EXISTS (
        SELECT 1 FROM original WHERE project = project_here() AND owner = asked
        AND level <= clearance_here()
    )
) $$;

CREATE OR REPLACE FUNCTION space_of(model text, size integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pincite, pg_temp AS $$
BEGIN
    INSERT INTO space (fingerprint, dimensions) VALUES (model, size) ON CONFLICT DO NOTHING;
    RETURN (SELECT id FROM space WHERE fingerprint = model AND dimensions = size);
END $$;
"""

# Roles are the server's own: another database of it may be made ready at the same time.
_ROLE = f"""
DO $$ BEGIN
    IF to_regrole('{MEMBER}') IS NULL THEN CREATE ROLE {MEMBER} NOLOGIN; END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$
"""

# In brackets with SELECT a function is asked once for each statement, not for each row.
_OF_PROJECT = "project = (SELECT project_here())"
_WRITTEN = "project = (SELECT written_here())"
_CLEARED = "level <= (SELECT clearance_here())"
_OF_GENERATION = "generation = ANY ((SELECT generations_here())::bigint[])"
_WRITTEN_THERE = "generation = ANY ((SELECT generations_written_here())::bigint[])"
_SEEN = f"{_OF_PROJECT} AND {_CLEARED}"
_CHANGED = f"{_WRITTEN} AND {_CLEARED}"
# In a generation of another project, a row would take the place of one of theirs.
_PUT = f"{_CHANGED} AND {_WRITTEN_THERE}"
# Projects and members are also looked up from outside of any project, to find the way into one.
# Within one, the others that an account is in are as far away as those of strangers.
_PROJECT_ASKED = "coalesce(id = (SELECT project_asked()), true)"
_MEMBER_ASKED = "coalesce(project = (SELECT project_asked()), true)"

# Of each table: which rows are seen, which may be added and changed, which may be removed.
POLICIES = {
    "project": (
        f"(role_in(id) IS NOT NULL OR owner = (SELECT account_here())) AND {_PROJECT_ASKED}",
        f"(role_in(id) IN ('writer', 'admin') OR owner = (SELECT account_here())) "
        f"AND {_PROJECT_ASKED}",
        f"role_in(id) = 'admin' AND {_PROJECT_ASKED}",
    ),
    "member": (
        "(account = (SELECT account_here()) OR role_in(project) = 'admin' OR owns(project)) "
        f"AND {_MEMBER_ASKED}",
        f"(role_in(project) = 'admin' OR owns(project)) AND {_MEMBER_ASKED}",
        "(role_in(project) = 'admin' OR owns(project) OR account = (SELECT account_here())) "
        f"AND {_MEMBER_ASKED}",
    ),
    "generation": (_OF_PROJECT, _WRITTEN, _WRITTEN),
    "document": (_SEEN, _PUT, _CHANGED),
    "chunk": (_SEEN, _PUT, _CHANGED),
    "token": (_OF_GENERATION, _WRITTEN_THERE, _WRITTEN_THERE),
    "posting": (_OF_GENERATION, _WRITTEN_THERE, _WRITTEN_THERE),
    "about_posting": (_OF_GENERATION, _WRITTEN_THERE, _WRITTEN_THERE),
    "spelling": (
        f"{_OF_GENERATION} AND {_CLEARED}",
        f"{_WRITTEN_THERE} AND {_CLEARED}",
        f"{_WRITTEN_THERE} AND {_CLEARED}",
    ),
    "window_vector": (_OF_PROJECT, f"{_WRITTEN} AND {_WRITTEN_THERE}", _WRITTEN),
    "definition": (_OF_PROJECT, _WRITTEN, _WRITTEN),
    "document_name": (_OF_PROJECT, _WRITTEN, _WRITTEN),
    "original": (_SEEN, _CHANGED, _CHANGED),
    "past_document": (_SEEN, _PUT, _CHANGED),
    "past_chunk": (_OF_PROJECT, _WRITTEN, _WRITTEN),
}
# Of no project: what a service keeps for itself, and the log of queries of all projects.
JOURNAL = ("journal_key", "journal_job", "journal_query", "journal_feedback")
# The functions above read these as their owner, to tell what others may see.
_NOT_FORCED = frozenset(("project", "member", "generation"))


def m002_rights(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    """The role that pincite works as, and what it may see and change."""
    connection.execute(_ROLE)
    connection.execute(f"GRANT {MEMBER} TO CURRENT_USER")
    connection.execute(f"GRANT USAGE ON SCHEMA pincite TO {MEMBER}")
    connection.execute(f"GRANT SELECT ON migration, space TO {MEMBER}")
    connection.execute(f"GRANT USAGE ON SEQUENCE chunk_row TO {MEMBER}")
    connection.execute(_FUNCTIONS)
    for table, (seen, changed, removed) in POLICIES.items():
        # Whose a project is stays so, whoever writes to it.
        updated = "UPDATE (live, before, next, last)" if table == "project" else "UPDATE"
        connection.execute(f"GRANT SELECT, INSERT, DELETE, {updated} ON {table} TO {MEMBER}")
        connection.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        if table not in _NOT_FORCED:
            connection.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        connection.execute(f"CREATE POLICY seen ON {table} FOR SELECT USING ({seen})")
        connection.execute(f"CREATE POLICY added ON {table} FOR INSERT WITH CHECK ({changed})")
        connection.execute(
            f"CREATE POLICY changed ON {table} FOR UPDATE USING ({changed}) WITH CHECK ({changed})"
        )
        connection.execute(f"CREATE POLICY removed ON {table} FOR DELETE USING ({removed})")


def m003_functions(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    """The functions as they are now: to ask makes nobody known, and members see fewer names."""
    connection.execute(_FUNCTIONS)


def m004_clearance_of_a_key(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    """The functions as they are now: a caller's key may show less than its user sees."""
    connection.execute(_FUNCTIONS)


def m005_journal(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    """Tables that every login of pincite uses, but nobody from inside of a project."""
    _make_journal(connection, JOURNAL)


def m006_saved_answers(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    """One more of them."""
    _make_journal(connection, ("journal_answer",))


def m007_answers_of_one_user(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    """They quote documents: whoever saved one sees it, while they are a member of its project."""
    connection.execute(_OF_ONE_USER)


_OF_ONE_USER = """
ALTER TABLE journal_answer ADD project bigint REFERENCES project ON DELETE CASCADE;
ALTER TABLE journal_answer ADD account bigint REFERENCES account;
UPDATE journal_answer SET project = project.id, account = mine.id
FROM project JOIN account AS owner ON owner.id = project.owner, account AS mine
WHERE record::json->>'library' = owner.name || '/' || project.name
AND record::json->>'user' = mine.name;
DELETE FROM journal_answer WHERE project IS NULL;
ALTER TABLE journal_answer ALTER project SET DEFAULT project_here(), ALTER project SET NOT NULL;
ALTER TABLE journal_answer ALTER account SET DEFAULT account_here(), ALTER account SET NOT NULL;
ALTER TABLE journal_answer FORCE ROW LEVEL SECURITY;
DROP POLICY outside ON journal_answer;
CREATE POLICY own ON journal_answer
USING (project = (SELECT project_here()) AND account = (SELECT account_here()));
"""


def _make_journal(connection: psycopg.Connection[tuple[Any, ...]], tables: tuple[str, ...]) -> None:
    for table in tables:
        connection.execute(
            f'CREATE TABLE {table} (id text COLLATE "C" PRIMARY KEY, record text NOT NULL)'
        )
        connection.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO {MEMBER}")
        connection.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        connection.execute(f"CREATE POLICY outside ON {table} USING (current_user <> '{MEMBER}')")
