"""Rows of a team's database that do not agree: each is found, and repaired from what is sound."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import psycopg
import pytest
from postgres_world import broken_promises, disagreements, document

from helpers import ABOUT, embedded
from pincite.errors import StoreDenied
from pincite.records import LEVELS, Scope
from pincite.stores.postgres.store import PostgresStore
from pincite.stores.postgres.team import Team
from postgres_server import SCHEMA_OPTIONS, SCOPE, BreakableServer, opened

HELD = {"note1.md": 1, "note2.md": 2}
DAMAGE = {
    "a document is counted twice": "UPDATE generation SET documents = documents + 1",
    "chunks are not counted": "UPDATE generation SET chunks = 0",
    "windows are not counted": "UPDATE generation SET windows = 0",
    "words are not counted": "UPDATE generation SET words = 0",
    "words about documents are not counted": "UPDATE generation SET about_words = 0",
    "words are missing": """
        DELETE FROM posting USING token
        WHERE posting.token = token.id AND token.token LIKE 'valv%'""",
    "a word is not known": "DELETE FROM token WHERE token LIKE 'valv%'",
    "how many have a word is counted wrong": "UPDATE token SET chunks = chunks + 1",
    "how many documents have a word is counted wrong": "UPDATE token SET documents = 0",
    "a word that nobody has": "INSERT INTO token SELECT id, 7000, 1, 0, 'ghost' FROM generation",
    "words are counted wrong": "UPDATE posting SET halves = halves + 1",
    "words about documents are missing": "DELETE FROM about_posting",
    "words of a chunk that is gone": """
        INSERT INTO posting SELECT 0, generation, id, 1, 2 FROM token LIMIT 1""",
    "words about a document that is gone": """
        INSERT INTO about_posting SELECT 0, generation, id, 1, 2 FROM token LIMIT 1""",
    "a spelling that nobody has": "INSERT INTO spelling SELECT id, 1, 0, 'ghost' FROM generation",
    "spellings are counted wrong": "UPDATE spelling SET documents = documents + 1",
    "spellings are counted where others see them": "UPDATE spelling SET level = level - 1",
    "a document says other spellings": "UPDATE document SET spelled = '{ghost}'",
    "spellings are missing": "DELETE FROM spelling",
}


@pytest.fixture(scope="module")
def url(breakable_server: BreakableServer) -> str:
    return breakable_server.database()


@pytest.fixture(scope="module")
def store(url: str) -> Iterator[PostgresStore]:
    """One for all: each test repairs it."""
    with opened(url) as store:
        for path, version in HELD.items():
            store.replace_document(document(path, version))
        yield store


@pytest.mark.parametrize("what", DAMAGE)
def test_damage_is_found_and_repaired(url: str, store: PostgresStore, what: str) -> None:
    assert broken_promises(url, store, HELD) == []
    with psycopg.connect(url, options=SCHEMA_OPTIONS) as connection:
        connection.execute("SET row_security = off")
        connection.execute(DAMAGE[what])

    assert store.verify() != []
    store.repair()
    assert broken_promises(url, store, HELD) == []


def test_lost_vectors_are_found_and_after_a_repair_an_update_makes_them_again(
    breakable_server: BreakableServer,
) -> None:
    url = breakable_server.database()
    with opened(url) as store:
        store.replace_document(document("note.md", 1))
        assert store.verify() == []
        with psycopg.connect(url, options=SCHEMA_OPTIONS) as connection:
            connection.execute("SET row_security = off")
            connection.execute("DELETE FROM window_vector")
        assert "a chunk of note.md has no vector" in {one.problem for one in store.verify()}
        store.repair()
        assert store.verify() == []
        (entry,) = store.documents()
        assert entry.lacking == entry.chunks == store.stats().lacking


def test_who_may_not_see_everything_can_neither_verify_nor_repair(
    breakable_server: BreakableServer,
) -> None:
    url = breakable_server.database()
    with opened(url) as store, closing(Team.at(url)) as team:
        store.replace_document(document("note.md", 1))
        secret = embedded(
            "s.md", "a secret valve", about=replace(ABOUT, confidentiality=LEVELS[-1])
        )
        store.replace_document(secret)
        team.share(SCOPE, "grace", role="writer", clearance=LEVELS[0])
        lowly = team.store(Scope("grace", f"{SCOPE.owner}/{SCOPE.name}"))
        assert [one.path for one in lowly.documents()] == []

        for action in (lowly.verify, lowly.repair):
            with pytest.raises(StoreDenied, match="needs the clearance 'restricted'"):
                action()
        assert store.verify() == []
        assert disagreements(url) == []
