"""What a database that cannot be used makes pincite say: what is wrong, and what to do."""

from __future__ import annotations

import re
import socket
import threading
from contextlib import closing
from urllib.parse import urlsplit

import psycopg
import pytest

from helpers import shared_login
from pincite.errors import (
    DatabaseMissing,
    PinciteError,
    StoreDenied,
    StoreUnreachable,
    StoreUnsupported,
)
from pincite.stores.postgres.setting_up import set_up
from pincite.stores.postgres.team import Team


def told(url: str, error: type[PinciteError]) -> str:
    """One sentence, the same however the database is met."""
    with pytest.raises(error) as first:
        set_up(url)
    with pytest.raises(error) as second:
        Team.at(url, make=False)
    assert str(first.value) == str(second.value)
    assert "\n" not in str(first.value)
    return str(first.value)


def test_a_login_that_is_not_known(database: str) -> None:
    said = told(database.replace("postgres:@", "nobody:@"), StoreDenied)
    assert "knows no login 'nobody'; name another in the address" in said


def test_a_database_that_is_not_there(database: str) -> None:
    said = told(database.replace(urlsplit(database).path, "/mistyped"), DatabaseMissing)
    assert re.match("PostgreSQL database 'mistyped' on .* is not there; correct the address", said)


def test_a_host_that_is_not_there() -> None:
    said = told("postgresql://db.invalid/notes", StoreUnreachable)
    assert "'notes' on db.invalid is not found: there is no such host; correct" in said


def test_a_server_that_does_not_run() -> None:
    said = told("postgresql://127.0.0.1:1/notes", StoreUnreachable)
    assert "does not answer: " in said
    assert "is the server running, and are host and port as in the address?" in said


def test_a_server_that_still_starts() -> None:
    """It says so in a message of the protocol, before it lets anybody in."""
    fields = b"SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0"
    answer = b"E" + (4 + len(fields)).to_bytes(4, "big") + fields
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def refuse_two() -> None:
            for _ in range(2):
                with closing(listener.accept()[0]) as client:
                    client.recv(4096)
                    client.sendall(answer)

        thread = threading.Thread(target=refuse_two)
        thread.start()
        port = listener.getsockname()[1]
        said = told(f"postgresql://127.0.0.1:{port}/notes?sslmode=disable", StoreUnreachable)
        thread.join()
    assert said.endswith("the database system is starting up; try again in a moment")


def test_a_server_without_pgvector(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f"ALTER DATABASE {name} SET extension_control_path = '/nowhere'")
    with pytest.raises(StoreUnsupported, match="has no pgvector; let the server's administrator"):
        set_up(database)


def test_a_login_that_may_not_work_as_a_member(database: str) -> None:
    login = shared_login("no_member")
    set_up(database)
    said = "let the database's owner run: GRANT pincite_member TO"
    with pytest.raises(StoreDenied, match=said):
        Team.at(database.replace("postgres:@", f"{login}:@"), make=False)


def test_a_pgvector_that_became_too_old_is_refused_by_whoever_opens(database: str) -> None:
    set_up(database)
    statement = "UPDATE pg_extension SET extversion = %s WHERE extname = 'vector'"
    with psycopg.connect(database, autocommit=True) as connection:
        asked = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
        (version,) = connection.execute(asked).fetchone() or ("",)
        try:
            connection.execute(statement, ("0.7.0",))
            for make in (True, False):
                with pytest.raises(StoreUnsupported, match=r"pgvector 0\.7\.0 is too old"):
                    Team.at(database, make=make)
        finally:
            connection.execute(statement, (version,))
    Team.at(database).close()
