"""The addresses of PostgreSQL databases: which there are, and how they are spoken of."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from pincite.errors import SettingsError

EMBEDDED = "postgresql+embedded://"
PREFIX = "pincite."  # of parameters that are ours
_SCHEMES = ("postgresql://", "postgres://")
# How the names of such parameters end.
_SECRETS = ("password", "secret", "scram_client_key", "scram_server_key")
# As libpq reads it, which differs from other URLs: a # is a character as any other.
_ADDRESS = re.compile(r"(\w+://)(?:([^@/]*)@)?([^?]*)(?:\?(.*))?", re.DOTALL)


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

    _taken_apart(url)
    try:
        known = conninfo_to_dict(url)
    except psycopg.Error:
        known = None
    # A password with @ or / in it was cut there, and its rest taken for something else.
    names = "" if known is None else f"{known.get('host', '')}{known.get('dbname', '')}"
    ports = "" if known is None else str(known.get("port", "0")).replace(",", "")
    if "@" in names or not ports.isdecimal():
        raise _unreadable() from None


def _unreadable() -> SettingsError:
    return SettingsError(
        "this address of a database cannot be read; write postgresql://USER@HOST:PORT/DATABASE "
        "with parameters that PostgreSQL knows. In a password, @ is written as %40, / as %2F, "
        "? as %3F, % as %25; or leave it out and give it as PGPASSWORD"
    )


def named(url: str) -> str:
    """A database as messages name it: without the password, wherever it stands."""
    from psycopg.conninfo import conninfo_to_dict

    known = conninfo_to_dict(url)
    where = known.get("host") or "this machine"
    return f"PostgreSQL database {known.get('dbname') or known.get('user') or ''!r} on {where}"


def without_settings(url: str) -> tuple[str, list[str]]:
    """The address as libpq knows it, and the parameters in it that are ours."""
    if url.startswith(EMBEDDED):
        base, _, query = url.partition("?")
    else:
        *_, query = _taken_apart(url)
        base = url.removesuffix(query).removesuffix("?")
    parameters = [one for one in query.split("&") if one]
    ours = [one.removeprefix(PREFIX) for one in parameters if one.startswith(PREFIX)]
    theirs = "&".join(one for one in parameters if not one.startswith(PREFIX))
    return f"{base}?{theirs}" if theirs else base, ours


def without_password(url: str) -> str:
    """The address as it may be kept in a file: libpq asks PGPASSWORD and ~/.pgpass for the rest."""
    if url.startswith(EMBEDDED):
        return url
    scheme, user, place, query = _taken_apart(url)
    parameters = [one.partition("=") for one in query.split("&") if one]
    kept = "&".join(
        f"{key}={quote(unquote(value), safe='/,')}"
        for key, _, value in parameters
        if not unquote(key).lower().endswith(_SECRETS)
    )
    return f"{scheme}{user}{'@' if user else ''}{place}{'?' if kept else ''}{kept}"


def _taken_apart(url: str) -> tuple[str, str, str, str]:
    """Scheme, user, hosts with database, and query.

    Refuses an address in which a password's end cannot be told from what follows it.
    """
    match = _ADDRESS.fullmatch(url)
    if match is None:
        raise _unreadable()
    scheme, login, place, query = (part or "" for part in match.groups())
    if "?" in login or "@" in place:
        raise _unreadable()
    return scheme, login.partition(":")[0], place, query
