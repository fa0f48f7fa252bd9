"""The addresses of PostgreSQL databases: which there are, and how they are spoken of."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from pincite.errors import SettingsError

EMBEDDED = "postgresql+embedded://"
PREFIX = "pincite."  # of parameters that are ours
_SCHEMES = ("postgresql://", "postgres://")
_SECRETS = ("password", "secret")  # how the names of such parameters end


def is_postgres(url: str) -> bool:
    """Whether the address is one of a PostgreSQL database."""
    return url.startswith((EMBEDDED, *_SCHEMES))


def refuse_bad_address(url: str) -> None:
    """Refuse what libpq does not understand, or would understand otherwise than it was meant.

    Its own message is not repeated: of a password with an odd character it tells a part.
    """
    if url.startswith(EMBEDDED):
        return
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    try:
        known = conninfo_to_dict(url)
    except psycopg.Error:
        known = None
    if known is None or _is_torn(known):
        raise SettingsError(
            "this address of a database cannot be read; write postgresql://USER@HOST:PORT/DATABASE "
            "with parameters that PostgreSQL knows. In a password, @ is written as %40, / as %2F, "
            "% as %25; or leave it out and give it as PGPASSWORD"
        ) from None


def _is_torn(known: Mapping[str, object]) -> bool:
    """Whether a password with @ or / in it was cut there, and its rest taken for something else."""
    ports = str(known.get("port", "0")).replace(",", "")
    return "@" in f"{known.get('host', '')}{known.get('dbname', '')}" or not ports.isdecimal()


def named(url: str) -> str:
    """A database as messages name it: without the password, wherever it stands."""
    from psycopg.conninfo import conninfo_to_dict

    known = conninfo_to_dict(url)
    where = known.get("host") or "this machine"
    return f"PostgreSQL database {known.get('dbname') or known.get('user') or ''!r} on {where}"


def without_settings(url: str) -> tuple[str, list[str]]:
    """The address as libpq knows it, and the parameters in it that are ours."""
    base, _, query = url.partition("?")
    parameters = [one for one in query.split("&") if one]
    ours = [one.removeprefix(PREFIX) for one in parameters if one.startswith(PREFIX)]
    theirs = "&".join(one for one in parameters if not one.startswith(PREFIX))
    return f"{base}?{theirs}" if theirs else base, ours


def without_password(url: str) -> str:
    """The address as it may be kept in a file: libpq asks PGPASSWORD and ~/.pgpass for the rest."""
    if url.startswith(EMBEDDED):
        return url
    parts = urlsplit(url)
    query = [(key, value) for key, value in parse_qsl(parts.query) if not key.endswith(_SECRETS)]
    user, _, host = parts.netloc.rpartition("@")
    name = user.partition(":")[0]
    netloc = f"{name}@{host}" if user else host
    return urlunsplit((parts.scheme, netloc, parts.path, urlencode(query), parts.fragment))
