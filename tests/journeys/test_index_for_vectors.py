"""A login that may not make the index for vectors: all else is done, and that is told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from helpers import new_database, next_project, shared_login
from moving import export, home_in, take
from pincite.engine.addresses import Address
from pincite.engine.consent import Consent
from pincite.engine.library import Library
from pincite.engine.models import Wishes, header_for
from pincite.engine.project import Project
from pincite.engine.team_home import TeamHome
from pincite.errors import IndexBuildFailed
from pincite.records import Generations
from pincite.stores.postgres.indexes import IndexSettings
from pincite.stores.postgres.team import Team
from two_models import NEW, OLD, HashingModels

ALWAYS = IndexSettings(from_windows=1)
KEPT = "what was stored is kept and found, but slowly"


@pytest.fixture(scope="module")
def owner() -> Iterator[Team]:
    with closing(Team.at(new_database(), index=ALWAYS)) as team:
        with psycopg.connect(team._server.url, autocommit=True) as connection:
            connection.execute(f"GRANT pincite_member TO {shared_login('no_owner')}")
        yield team


@pytest.fixture(scope="module")
def app(owner: Team) -> Iterator[Team]:
    """The same database for a login that does not own its tables."""
    with closing(
        Team.at(owner._server.url.replace("postgres:@", "no_owner:@"), index=ALWAYS)
    ) as team:
        yield team


@pytest.fixture
def home(app: Team, tmp_path: Path) -> TeamHome:
    address = Address("postgresql://app", "ada", next_project())
    return TeamHome(address, tmp_path / "home" / "store.json", team=app, consent=Consent(tmp_path))


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "lease.md").write_text("# The lease\n\nThe lease ends in May.\n")
    (folder / "rent.md").write_text("# The rent\n\nThe rent is due in June.\n")
    return folder


def indexes(owner: Team) -> set[str]:
    statement = "SELECT indexname FROM pg_indexes WHERE indexname LIKE 'window_space_%'"
    with psycopg.connect(owner._server.url) as connection:
        return {str(name) for (name,) in connection.execute(statement)}


@pytest.fixture(autouse=True)
def no_index(owner: Team) -> None:
    """All projects with vectors of one model share an index."""
    with psycopg.connect(owner._server.url, autocommit=True) as connection:
        for name in indexes(owner):
            connection.execute(f"DROP INDEX pincite.{name}")


def test_a_library_is_imported(home: TeamHome, notes: Path, owner: Team, tmp_path: Path) -> None:
    with Library(notes, HashingModels(), home_in(notes)) as library:
        library.index(model=OLD)
    export(home_in(notes), tmp_path / "notes.pincite", root=notes)
    with pytest.raises(IndexBuildFailed, match=KEPT):
        take(tmp_path / "notes.pincite", home, root=notes)
    with Library(notes, HashingModels(), home) as library:
        assert [one.path for one in library.documents()] == ["lease.md", "rent.md"]
        assert library.search("when does the lease end?").results
    assert home.is_of_folder()
    assert owner.optimize(home.address.scope)


def test_a_folder_is_indexed_and_reindexed(home: TeamHome, notes: Path, owner: Team) -> None:
    with Library(notes, HashingModels(), home) as library:
        with pytest.raises(IndexBuildFailed, match=KEPT):
            library.index(model=OLD)
        assert home.is_of_folder()
        assert library.search("when does the lease end?").complete
        (notice,) = library.search("when does the lease end?").notices
        assert notice == (
            "The index for vectors is missing: all 2 were compared, which is slow. `pincite team "
            "optimize` makes it."
        )
        assert library.search("lease", mode="words").notices == ()
        with pytest.raises(IndexBuildFailed, match=KEPT):
            library.reindex(model=NEW)
        assert home.generations() == Generations(live=2, before=1, next=None, last=2)
        assert library.search("when does the lease end?").results
        assert owner.optimize(home.address.scope)
        assert library.search("when does the lease end?").notices == ()
        with psycopg.connect(owner._server.url) as connection:  # as a build that broke off
            connection.execute(
                "UPDATE pg_index SET indisvalid = false FROM pg_class "
                "WHERE pg_class.oid = indexrelid AND relname LIKE 'window_space_%'"
            )
        assert library.search("when does the lease end?").notices
        assert owner.optimize(home.address.scope)
        assert library.search("when does the lease end?").notices == ()


def test_a_project_moves_to_another_model(home: TeamHome, owner: Team) -> None:
    home.create()
    models = HashingModels()
    home.uploads().begin(header_for(None, Wishes(model=OLD), models, folder_name="plans"))
    project = Project(Path("plans"), models, home)
    project.index_document("lease.md", b"# The lease\n\nThe lease ends in May.\n")
    with pytest.raises(IndexBuildFailed, match=KEPT):
        project.reindex(model=NEW)
    assert home.generations() == Generations(live=2, before=1, next=None, last=2)
    assert project.search("when does the lease end?").results
    assert owner.optimize(home.address.scope)


def test_the_owner_makes_the_index_of_a_generation_that_is_not_live_yet(
    home: TeamHome, notes: Path, owner: Team
) -> None:
    with Library(notes, HashingModels(), home) as library:
        with pytest.raises(IndexBuildFailed):
            library.index(model=OLD)
        assert owner.optimize(home.address.scope)
        with pytest.raises(IndexBuildFailed):
            library.reindex(model=NEW, switch=False)
        assert home.generations().next == 2
        assert owner.optimize(home.address.scope)
        assert len(indexes(owner)) == 2
        assert library.reindex().outcome == "switched"


def test_another_kind_is_not_made_without_a_word(home: TeamHome, notes: Path, owner: Team) -> None:
    with Library(notes, HashingModels(), home) as library:
        with pytest.raises(IndexBuildFailed):
            library.index(model=OLD)
        assert owner.optimize(home.address.scope)
        library.index()  # whichever kind there is will do
    url = owner._server.url.replace("postgres:@", "no_owner:@")
    asked = IndexSettings(kind="ivfflat", from_windows=1)
    with closing(Team.at(url, index=asked)) as team:
        store = team.store(home.address.scope)
        with pytest.raises(IndexBuildFailed, match=r"with the hnsw index there is.*team optimize"):
            store.make_index()
