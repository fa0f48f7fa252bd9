"""The addresses of PostgreSQL databases: which there are, and how they are spoken of."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

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


def without_password(url: str) -> str:
    """The address as it may be kept in a file: libpq asks PGPASSWORD and ~/.pgpass for the rest."""
    if url.startswith(EMBEDDED):
        return url
    parts = urlsplit(url)
    query = [(key, value) for key, value in parse_qsl(parts.query) if key != "password"]
    user, _, host = parts.netloc.rpartition("@")
    name = user.partition(":")[0]
    netloc = f"{name}@{host}" if user else host
    return urlunsplit((parts.scheme, netloc, parts.path, urlencode(query), parts.fragment))
