"""A library moves to another model or chunk policy, and answers all the time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pincite import Case, Gate, Library, SearchResults
from pincite.errors import IndexMissing, LibraryBusy, NothingToIndex, SettingsError
from pincite.records import Progress
from two_models import BACKWARDS, NEW, OLD, REFUSING, open_with_models

THINGS = ("valve", "pump", "boiler", "gauge", "rotor", "seal", "signal", "anchor")
CASES = tuple(
    Case(question=f"who looks after the {thing}?", documents={f"{thing}.md": 1}) for thing in THINGS
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "library"
    root.mkdir()
    for thing in THINGS:
        write(root, thing)
    with open_with_models(root) as library:
        library.index(model=OLD)
    return root


@pytest.fixture
def library(root: Path) -> Iterator[Library]:
    with open_with_models(root) as library:
        yield library


def write(root: Path, thing: str, more: str = "") -> None:
    (root / f"{thing}.md").write_text(
        f"# The {thing}\n\n## Care\n\nPetra looks after the {thing}.\n\n## Age\n\n"
        f"The {thing} is from 1984. {more}\n"
    )


def best(library: Library, question: str) -> str:
    return library.search(question).results[0].document.path


def cited(found: SearchResults) -> list[tuple[str, str, float]]:
    return [(one.chunk.id, one.chunk.text, one.hit.score) for one in found.results]


def built_elsewhere(
    root: Path, folder: Path, question: str, *, model: str, policy: str
) -> SearchResults:
    """What an index finds that was made so from the beginning."""
    folder.mkdir()
    for file in root.glob("*.md"):
        (folder / file.name).write_bytes(file.read_bytes())
    with open_with_models(folder) as library:
        library.index(name=root.name, model=model, policy=policy)
        return library.search(question)


class Interrupted(Exception):
    pass


def after(documents: int, then: Callable[[], None]) -> Callable[[Progress], None]:
    """A callback that does something when so many documents are done."""

    def on_progress(progress: Progress) -> None:
        if progress.documents_done == documents:
            then()

    return on_progress


def interrupt() -> None:
    raise Interrupted


def stopped_after(library: Library, documents: int) -> None:
    with pytest.raises(Interrupted):
        library.reindex(model=NEW, on_progress=after(documents, interrupt))


@pytest.mark.parametrize(("model", "policy"), [(NEW, "vault"), (OLD, "wiki"), (NEW, "wiki")])
def test_a_moved_library_finds_what_one_finds_that_was_made_so(
    library: Library, root: Path, tmp_path: Path, model: str, policy: str
) -> None:
    question = "the age of the rotor"

    assert library.reindex(model=model, policy=policy).outcome == "switched"

    fresh = built_elsewhere(root, tmp_path / "fresh", question, model=model, policy=policy)
    assert cited(library.search(question)) == cited(fresh)
    assert library.verify() == []


def test_searches_see_the_old_index_alone_until_the_switch(library: Library) -> None:
    before = cited(library.search("the age of the rotor"))
    seen = []

    def look(_: Progress) -> None:
        seen.append(cited(library.search("the age of the rotor")))
        assert library.stats().header.model.name == OLD

    library.reindex(model=NEW, on_progress=look)

    assert seen == [before] * len(THINGS)
    assert library.stats().header.model.name == NEW


@pytest.mark.parametrize("lap", range(1, 9))
def test_a_search_that_began_before_a_switch_ends_in_the_old_index(
    library: Library, root: Path, lap: int
) -> None:
    """The switch comes after each of the stages, some of which end inside the store."""
    library.reindex(model=NEW)
    with open_with_models(root) as another:  # so that it is not remembered here
        before = cited(another.search("the age of the rotor"))
    laps = 0

    def switch_meanwhile() -> bool:
        nonlocal laps
        laps += 1
        if laps == lap:
            library.rollback()
            asked = threading.Thread(target=library.search, args=("another question",))
            asked.start()
            asked.join()
        return False

    found = library.search("the age of the rotor", cancelled=switch_meanwhile)

    assert laps >= lap
    assert library.stats().header.model.name == OLD
    assert cited(found) == before


def test_an_open_library_follows_the_switch_of_another(library: Library, root: Path) -> None:
    old = cited(library.search("the age of the rotor"))
    with open_with_models(root) as another:
        another.reindex(model=NEW)

    assert library.stats().header.model.name == NEW
    assert cited(library.search("the age of the rotor")) != old


def test_a_stopped_reindex_goes_on_without_arguments(library: Library) -> None:
    stopped_after(library, 3)
    assert best(library, "the age of the rotor") == "rotor.md"

    report = library.reindex()

    assert (report.outcome, report.header.model.name) == ("switched", NEW)
    assert (report.index.unchanged, report.index.added) == (3, len(THINGS) - 3)


def test_another_wish_starts_the_new_index_over(library: Library) -> None:
    stopped_after(library, 3)

    report = library.reindex(model="hashing:32")

    assert report.header.model.name == "hashing:32"
    assert report.index.added == len(THINGS)


def test_what_is_made_so_already_is_left_alone(library: Library) -> None:
    assert library.reindex().outcome == "already"
    assert library.reindex(model=OLD, policy="vault").outcome == "already"
    assert [one.role for one in library.generations.stats()] == ["live"]


def test_another_policy_embeds_only_texts_that_are_new(library: Library) -> None:
    cut = library.reindex(policy="wiki").index.embedded
    assert cut > 0

    back = library.reindex(policy="vault")

    assert back.index.embedded == len(THINGS)  # nothing of the first index is in the second
    assert library.reindex(policy="brain").index.embedded == 0  # one chunk each, as before


def test_a_fresh_index_embeds_everything_again(library: Library) -> None:
    report = library.reindex(fresh=True)
    assert (report.outcome, report.index.embedded) == ("switched", len(THINGS))


def test_an_update_meanwhile_is_in_both_indexes(library: Library, root: Path) -> None:
    def update() -> None:
        write(root, "winch")
        write(root, "anchor", "It is made of iron.")
        (root / "boiler.md").unlink()
        with open_with_models(root) as another:
            another.index()
            assert best(another, "winch") == "winch.md"

    report = library.reindex(model=NEW, on_progress=after(6, update))

    assert (report.caught_up.added, report.caught_up.changed) == (1, 1)
    assert report.caught_up.deleted == 1
    held = {document.path for document in library.documents()}
    assert held == {f"{thing}.md" for thing in (*THINGS, "winch")} - {"boiler.md"}
    assert best(library, "iron") == "anchor.md"
    with open_with_models(root) as another:
        assert another.index().unchanged == len(held)


def test_a_second_reindex_is_refused_while_one_is_at_work(library: Library, root: Path) -> None:
    def try_it() -> None:
        with open_with_models(root) as another:
            with pytest.raises(LibraryBusy, match="process is indexing"):
                another.reindex(model=NEW)
            with pytest.raises(LibraryBusy, match="process is indexing"):
                another.generations.cancel()

    assert library.reindex(model=NEW, on_progress=after(2, try_it)).outcome == "switched"


def test_a_rollback_is_one_step_and_so_is_its_undoing(library: Library) -> None:
    old = cited(library.search("the age of the rotor"))
    library.reindex(model=NEW)
    new = cited(library.search("the age of the rotor"))

    assert library.rollback().model.name == OLD
    assert cited(library.search("the age of the rotor")) == old

    assert library.rollback().model.name == NEW
    assert cited(library.search("the age of the rotor")) == new


def test_an_update_after_a_rollback_follows_what_changed_since(
    library: Library, root: Path
) -> None:
    library.reindex(model=NEW)
    write(root, "winch")
    library.index()
    library.rollback()

    assert library.index().added == 1
    assert best(library, "winch") == "winch.md"


def test_without_an_earlier_index_there_is_nothing_to_roll_back_to(library: Library) -> None:
    with pytest.raises(IndexMissing, match="no earlier generation"):
        library.rollback()
    library.reindex(model=NEW)
    library.generations.drop_before()
    with pytest.raises(IndexMissing, match="no earlier generation"):
        library.rollback()
    assert best(library, "the age of the rotor") == "rotor.md"


def test_a_dropped_index_leaves_no_files(library: Library, root: Path) -> None:
    library.reindex(model=NEW)
    library.generations.drop_before()
    assert not list((root / ".index").glob("chunks.jsonl*"))
    assert not list((root / ".index").glob("index.db*"))

    library.reindex(model=OLD)
    library.reindex(policy="wiki")  # only one is kept to go back to
    assert sorted(one.name for one in (root / ".index" / "generations").iterdir()) == ["3", "4"]


def test_a_cancelled_index_is_gone_and_was_never_searched(library: Library, root: Path) -> None:
    old = cited(library.search("the age of the rotor"))
    stopped_after(library, 3)

    library.generations.cancel()

    assert cited(library.search("the age of the rotor")) == old
    assert not list((root / ".index" / "generations").iterdir())
    with pytest.raises(IndexMissing, match="no other generation"):
        library.generations.cancel()


def test_an_index_can_be_made_now_and_switched_to_later(library: Library) -> None:
    assert library.reindex(model=NEW, switch=False).outcome == "ready"
    assert library.stats().header.model.name == OLD

    later = library.reindex()

    assert (later.outcome, later.index.embedded) == ("switched", 0)
    assert library.stats().header.model.name == NEW


def test_a_worse_index_is_not_switched_to(library: Library) -> None:
    report = library.reindex(model=BACKWARDS, gate=Gate(CASES))

    assert report.outcome == "worse"
    assert report.gate is not None
    worse = {one.figure for one in report.gate.checks if not one.holds}
    before, after = (
        run.figures["all"]["ndcg@10"] for run in (report.gate.before, report.gate.after)
    )
    assert "ndcg@10" in worse
    assert after < before
    assert library.stats().header.model.name == OLD
    assert library.reindex().outcome == "switched"  # without questions nothing speaks against it


def test_an_index_that_is_as_good_is_switched_to(library: Library) -> None:
    report = library.reindex(model="hashing:512", gate=Gate(CASES))

    assert report.outcome == "switched"
    assert report.gate is not None
    assert report.gate.holds
    assert len(library.evaluation.runs.ids()) == 2


def test_a_slack_lets_a_slightly_worse_index_through(library: Library) -> None:
    assert library.reindex(model=BACKWARDS, gate=Gate(CASES, slack=1.0)).outcome == "switched"


def test_a_document_whose_file_cannot_be_read_now_is_not_given_up(
    library: Library, root: Path
) -> None:
    (root / "rotor.md").unlink()
    (root / "rotor.md").write_bytes(b"%PDF-1.7 and nothing that a reader could use")

    report = library.reindex(model=NEW)

    assert (report.outcome, report.lost) == ("incomplete", ("rotor.md",))
    assert best(library, "the age of the rotor") == "rotor.md"
    write(root, "rotor")
    assert library.reindex().outcome == "switched"


@pytest.mark.parametrize("fresh", [False, True])
def test_a_folder_that_became_empty_gives_nothing_up(
    library: Library, root: Path, fresh: bool
) -> None:
    for thing in THINGS:
        (root / f"{thing}.md").unlink()
    with pytest.raises(NothingToIndex, match="documents; they are kept"):
        library.reindex(model=NEW, fresh=fresh)
    assert best(library, "the age of the rotor") == "rotor.md"


def test_an_unknown_policy_is_refused_before_anything_is_made(library: Library) -> None:
    with pytest.raises(SettingsError, match="unknown chunk policy"):
        library.reindex(policy="nonsense")
    assert [one.role for one in library.generations.stats()] == ["live"]


def test_a_folder_without_an_index_cannot_be_moved(tmp_path: Path) -> None:
    with open_with_models(tmp_path) as library, pytest.raises(IndexMissing, match="no index yet"):
        library.reindex(model=NEW)
    assert not (tmp_path / ".index").exists()


def test_a_model_that_refuses_a_text_is_moved_to_and_what_it_lacks_is_told(
    library: Library,
) -> None:
    report = library.reindex(model=REFUSING)
    assert report.outcome == "switched"
    assert [one.path for one in report.index.lacking] == ["rotor.md"]
    assert library.stats().store.lacking == sum(len(one.chunk_ids) for one in report.index.lacking)
    assert best(library, "who looks after the rotor?") == "rotor.md"
    assert library.verify() == []
    assert [one.path for one in library.index().lacking] == ["rotor.md"]
