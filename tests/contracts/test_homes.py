"""What every home of an index promises about its generations."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from helpers import HEADER, OTHER_MODEL, embedded, fill, next_project, shared_team
from pincite.engine.addresses import Address
from pincite.engine.homes import FolderHome, Home
from pincite.engine.team_home import TeamHome
from pincite.errors import IndexMissing, LibraryBusy, ModelInvalid, StoreDamaged
from pincite.ports import Store
from pincite.records import Generations, LibraryHeader


@pytest.fixture(params=["folder", "team"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Home:
    home: Home = FolderHome(tmp_path, tmp_path / ".index")
    if request.param == "team":
        address = Address("postgresql://shared", "ada", next_project())
        home = TeamHome(address, tmp_path / ".index" / "store.json", team=shared_team())
    with closing(home.write()) as store:
        fill(store, embedded("old.md", "The old text."))
    return home


def make_next(home: Home) -> None:
    with closing(home.write_next()) as store:
        store.begin(OTHER_MODEL)


def switch(home: Home) -> None:
    with closing(home.write_next()), closing(home.write()):
        home.switch()


def made_as(home: Home) -> object:
    with closing(home.read()) as store:
        return store.header()


def test_a_library_begins_with_one_generation(home: Home) -> None:
    assert home.generations() == Generations(live=1, before=None, next=None, last=1)


def test_the_next_generation_is_not_seen_before_the_switch(home: Home) -> None:
    make_next(home)
    assert made_as(home) == HEADER
    assert home.generations().next == 2

    switch(home)

    assert made_as(home) == OTHER_MODEL
    assert (home.generations().live, home.generations().before) == (2, 1)


def test_the_next_generation_is_the_same_one_until_the_switch(home: Home) -> None:
    make_next(home)
    with closing(home.write_next()) as store:
        assert store.header() == OTHER_MODEL


def test_a_store_that_is_open_stays_in_its_generation(home: Home) -> None:
    make_next(home)
    with closing(home.read()) as store:
        switch(home)
        assert store.header() == HEADER
        assert [one.path for one in store.documents()] == ["old.md"]


def test_what_is_written_after_a_switch_goes_to_the_new_generation(home: Home) -> None:
    make_next(home)
    switch(home)
    with closing(home.write()) as store:
        assert store.header() == OTHER_MODEL
    with closing(home.mend()) as store:
        assert store.header() == OTHER_MODEL


def test_a_writer_that_came_too_late_writes_to_the_new_generation(tmp_path: Path) -> None:
    """Another process switches after the writer has looked which one is live."""

    class Slow(FolderHome):
        """Looks, and is held up before it opens what it saw."""

        held_up = False

        def generations(self) -> Generations:
            seen = super().generations()
            if self.held_up:
                self.held_up = False
                switch(FolderHome(tmp_path, tmp_path / ".index"))
            return seen

    home = Slow(tmp_path, tmp_path / ".index")
    with closing(home.write()) as store:
        store.begin(HEADER)
    make_next(home)
    home.held_up = True

    with closing(home.write()) as store:
        assert store.header() == OTHER_MODEL


def test_a_rollback_leads_back_and_forth(home: Home) -> None:
    make_next(home)
    switch(home)
    home.rollback()
    assert made_as(home) == HEADER
    home.rollback()
    assert made_as(home) == OTHER_MODEL


def test_each_generation_can_be_read_by_its_number(home: Home) -> None:
    make_next(home)
    assert made_as(home.at(1)) == HEADER
    assert made_as(home.at(2)) == OTHER_MODEL


def test_equal_generations_have_versions_of_their_own(home: Home) -> None:
    with closing(home.read()) as store:
        before = store.version()
    with closing(home.write_next()) as store:
        fill(store, embedded("old.md", "The old text."))
    with closing(home.at(2).read()) as store:
        assert store.version() != before


def test_nobody_switches_back_while_someone_writes(home: Home) -> None:
    make_next(home)
    switch(home)
    with closing(home.write()), pytest.raises(LibraryBusy):
        home.rollback()
    assert home.generations().live == 2


def test_nobody_gives_up_what_is_being_written(home: Home) -> None:
    with closing(home.write_next()), pytest.raises(LibraryBusy):
        home.cancel()
    home.cancel()
    assert home.generations().next is None


def test_the_live_generation_is_written_while_the_next_one_is(home: Home) -> None:
    with closing(home.write_next()) as coming, closing(home.write()) as live:
        coming.begin(OTHER_MODEL)
        live.replace_document(embedded("later.md", "A later text."))
    with closing(home.read()) as store:
        assert [one.path for one in store.documents()] == ["later.md", "old.md"]


@pytest.mark.parametrize("opened", [Home.write, Home.write_next])
def test_each_generation_has_one_writer(home: Home, opened: Callable[[Home], Store]) -> None:
    own = getattr(home, opened.__name__)
    with closing(own()), pytest.raises(LibraryBusy, match="process is indexing"):
        own()


def test_a_cancelled_generation_is_begun_anew_under_another_number(home: Home) -> None:
    make_next(home)
    home.cancel()
    with closing(home.write_next()) as store:
        assert store.header() is None
    assert home.generations().next == 3


def test_only_one_generation_is_kept_to_go_back_to(home: Home) -> None:
    for _ in range(3):
        make_next(home)
        switch(home)
    assert home.generations() == Generations(live=4, before=3, next=None, last=4)
    with pytest.raises(IndexMissing):
        home.at(2).read()


def test_a_dropped_generation_cannot_be_gone_back_to(home: Home) -> None:
    make_next(home)
    switch(home)
    home.drop_before()
    with pytest.raises(IndexMissing, match="no earlier generation"):
        home.rollback()
    with pytest.raises(IndexMissing):
        home.at(1).read()
    assert made_as(home) == OTHER_MODEL


def paths(home: Home) -> list[str]:
    with closing(home.read()) as store:
        return [one.path for one in store.documents()]


def replace_library(home: Home, *, made_as: LibraryHeader = HEADER) -> None:
    with home.anew() as aside:
        aside.store.begin(made_as)
        aside.store.replace_document(embedded("new.md", "The new text."))


def test_a_library_is_replaced_in_one_step_that_leaves_no_way_back(home: Home) -> None:
    make_next(home)
    switch(home)
    make_next(home)
    home.rollback()
    replace_library(home)
    assert paths(home) == ["new.md"]
    assert (home.generations().before, home.generations().next) == (None, None)
    with pytest.raises(IndexMissing, match="no earlier generation"):
        home.rollback()


def test_a_library_is_not_replaced_while_its_next_generation_is_made(home: Home) -> None:
    with closing(home.write_next()) as coming:
        before = home.generations()
        with pytest.raises(LibraryBusy):
            replace_library(home)
        assert home.generations() == before
        coming.begin(HEADER)
    assert paths(home) == ["old.md"]


@pytest.mark.parametrize("name", ["write", "write_next", "cancel", "rollback"])
def test_nobody_changes_a_library_that_is_being_replaced(home: Home, name: str) -> None:
    make_next(home)
    switch(home)
    with home.anew() as aside:
        with pytest.raises(LibraryBusy):
            getattr(home, name)()
        fill(aside.store, embedded("new.md", "The new text."))
    assert paths(home) == ["new.md"]


def test_a_library_whose_replacement_failed_is_as_it_was_and_so_is_the_way_back(
    home: Home,
) -> None:
    make_next(home)
    switch(home)
    with pytest.raises(ModelInvalid):
        replace_library(home, made_as=OTHER_MODEL)
    assert made_as(home) == OTHER_MODEL
    assert home.generations().next is None
    home.rollback()
    assert paths(home) == ["old.md"]


@pytest.mark.parametrize(
    "said",
    [
        "",
        "{",
        "[1]",
        '{"live": 0}',
        '{"live": 2}',
        '{"live": "../../elsewhere"}',
        '{"live": true}',
        '{"live": 1, "before": 9}',
        '{"live": 1, "last": 1.5}',
        '{"newer": 1}',
    ],
)
def test_a_pointer_that_makes_no_sense_is_told_and_never_followed(
    tmp_path: Path, said: str
) -> None:
    home = FolderHome(tmp_path, tmp_path / ".index")
    home.write().close()
    (tmp_path / ".index" / "generation").write_text(said)
    with pytest.raises(StoreDamaged, match="generation is damaged"):
        home.read()


STEPS = ("begun", "switched", "rolled_back", "without_next", "without_before")


@given(st.lists(st.sampled_from(STEPS), max_size=30))
def test_whatever_is_done_one_is_live_and_no_number_is_given_twice(steps: list[str]) -> None:
    numbers, given_before = Generations(), {1}
    for step in steps:
        before = numbers
        try:
            numbers = getattr(before, step)()
        except IndexMissing:
            continue
        if numbers.next is not None and numbers.next != before.next:
            assert numbers.next not in given_before
            given_before.add(numbers.next)
        roles = [one for one in (numbers.live, numbers.before, numbers.next) if one is not None]
        assert len(set(roles)) == len(roles)
        assert numbers.kept <= given_before
        assert numbers.last == max(given_before)
        assert numbers.next in (None, numbers.last)
