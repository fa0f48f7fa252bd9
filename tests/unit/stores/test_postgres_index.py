"""The index for vectors: what it finds, and that it is made when it is due."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from helpers import at_angle, embedded, fill, found_by_vector, next_project, part, server_folder
from pincite.records import Scope
from pincite.stores.postgres.embedded import EmbeddedServer
from pincite.stores.postgres.indexes import IndexKind, IndexSettings
from pincite.stores.postgres.team import Team

ANGLES = range(0, 180, 3)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server of its own: all projects with vectors of one model share an index."""
    with server_folder() as folder, EmbeddedServer(folder) as server:
        yield server.start()


@pytest.mark.parametrize("kind", ["hnsw", "ivfflat"])
def test_the_nearest_are_found_with_an_index_as_without(address: str, kind: IndexKind) -> None:
    settings = IndexSettings(kind=kind, from_windows=1, rebuilt_after=1, lists=2)
    scope = Scope("ada", next_project())
    with closing(Team.at(address)) as team, closing(Team.at(address, index=settings)) as eager:
        team.create(scope)
        store = team.store(scope)
        fill(store, *(embedded(f"{angle}.md", part(f"at {angle}", angle)) for angle in ANGLES))
        expected = found_by_vector(store, at_angle(31), limit=5)
        assert not team.optimize(scope)  # too few
        assert eager.optimize(scope)
        assert not eager.optimize(scope)  # nothing came since
        assert found_by_vector(eager.store(scope), at_angle(31), limit=5) == expected


@pytest.mark.parametrize(
    "limits",
    [
        {"m": 2, "ef_construction": 4, "ef_search": 1, "most_scanned": 1, "memory": "1MB"},
        {
            **{"m": 100, "ef_construction": 1_000, "ef_search": 1_000},
            **{"most_scanned": (1 << 31) - 1, "memory": "2047GB"},
        },
        {"kind": "ivfflat", "probes": 1, "lists": 1},
        {"kind": "ivfflat", "probes": 32_768, "lists": 1},
    ],
)
def test_the_server_takes_whatever_settings_are_not_refused(
    address: str, limits: dict[str, Any]
) -> None:
    settings = IndexSettings(**limits, from_windows=1, rebuilt_after=1)
    scope = Scope("ada", next_project())
    with closing(Team.at(address, index=settings)) as team:
        team.create(scope)
        store = team.store(scope)
        fill(store, *(embedded(f"{angle}.md", part(f"at {angle}", angle)) for angle in ANGLES))
        assert team.optimize(scope)
        assert found_by_vector(store, at_angle(31), limit=5)
