"""The addresses of PostgreSQL databases: which there are, and how they are spoken of."""

from __future__ import annotations

from psycopg.conninfo import conninfo_to_dict

EMBEDDED = "postgresql+embedded://"
_SCHEMES = ("postgresql://", "postgres://")


def is_postgres(url: str) -> bool:
    """Whether the address is one of a PostgreSQL database."""
    return url.startswith((EMBEDDED, *_SCHEMES))


def named(url: str) -> str:
    """A database as messages name it: without the password, wherever it stands."""
    known = conninfo_to_dict(url)
    where = known.get("host") or "this machine"
    return f"PostgreSQL database {known.get('dbname') or known.get('user') or ''!r} on {where}"
