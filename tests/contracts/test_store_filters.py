"""What every store promises of filters: they restrict both searches, before ranking."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers import (
    STORES,
    Part,
    at_angle,
    chunk_ids,
    embedded,
    fill,
    found_by_vector,
    found_by_words,
    open_test_store,
    part,
)
from pincite.ports import Store
from pincite.records import ChunkId, DocumentId, Filters, Modality

GUIDE = embedded(
    "guides/Pump-Guide.md",
    part("pump for beginners", headings=["Guide", "First Steps"]),
    part("pump for experts", headings=["Guide", "Maßnahmen"]),
    tags=("Water", "How-To"),
)
LOG = embedded("logs/2024/pump.txt", part("pump stopped", headings=[]), kind="txt", tags=("water",))
FILM = embedded(
    "films/pump.md",
    Part("pump is shown", modality=Modality.VIDEO_TRANSCRIPT, headings=("Scene",)),
    Part("pump in the picture", modality=Modality.OCR),
    tags=("Straße",),
)
LIBRARY = (GUIDE, LOG, FILM)
BEGINNERS, EXPERTS = chunk_ids(GUIDE)
(STOPPED,) = chunk_ids(LOG)
SHOWN, PICTURE = chunk_ids(FILM)
ALL = [BEGINNERS, EXPERTS, STOPPED, SHOWN, PICTURE]


@pytest.fixture(scope="module", params=STORES)
def library(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    with open_test_store(request.param, tmp_path_factory.mktemp("library") / "index") as opened:
        fill(opened, *LIBRARY)
        yield opened


@pytest.mark.parametrize(
    ("filters", "visible"),
    [
        (Filters(), ALL),
        # An empty tuple lets nothing through; None is no restriction.
        (Filters(document_ids=()), []),
        (Filters(types=()), []),
        (Filters(modalities=()), []),
        (Filters(tags=()), []),
        (Filters(types=("md", "txt"), tags=()), []),
        # Any of the ids, types, modalities
        (Filters(document_ids=(LOG.document.id,)), [STOPPED]),
        (Filters(document_ids=(LOG.document.id, FILM.document.id)), [STOPPED, SHOWN, PICTURE]),
        (Filters(document_ids=(DocumentId("f" * 40),)), []),
        (Filters(types=("txt",)), [STOPPED]),
        (Filters(types=("md", "txt")), ALL),
        (Filters(types=("pdf",)), []),
        (Filters(modalities=(Modality.OCR,)), [PICTURE]),
        (Filters(modalities=(Modality.OCR, Modality.VIDEO_TRANSCRIPT)), [SHOWN, PICTURE]),
        (Filters(modalities=(Modality.CODE,)), []),
        # All of the tags, case ignored
        (Filters(tags=("water",)), [BEGINNERS, EXPERTS, STOPPED]),
        (Filters(tags=("WATER", "how-to")), [BEGINNERS, EXPERTS]),
        (Filters(tags=("water", "water")), [BEGINNERS, EXPERTS, STOPPED]),
        (Filters(tags=("STRASSE",)), [SHOWN, PICTURE]),
        (Filters(tags=("water", "fire")), []),
        (Filters(tags=("wat",)), []),
        # Part of the file's name, case ignored; the folders do not count
        (Filters(name="pump-g"), [BEGINNERS, EXPERTS]),
        (Filters(name="PUMP.T"), [STOPPED]),
        (Filters(name="logs"), []),
        (Filters(name="%"), []),
        (Filters(name="_"), []),
        # The beginning of the path, case minded
        (Filters(path="logs/"), [STOPPED]),
        (Filters(path="logs/2024/pump.txt"), [STOPPED]),
        (Filters(path="Logs/"), []),
        (Filters(path="2024"), []),
        (Filters(path="%"), []),
        # Part of a heading, case ignored
        (Filters(heading="guide"), [BEGINNERS, EXPERTS]),
        (Filters(heading="first st"), [BEGINNERS]),
        (Filters(heading="MASSNAHMEN"), [EXPERTS]),
        (Filters(heading="Guide First"), []),
        # Together: all must agree
        (Filters(types=("md",), heading="scene"), [SHOWN]),
        (Filters(types=("txt",), heading="scene"), []),
        (
            Filters(types=("md",), tags=("water",), name="guide", path="guides"),
            [BEGINNERS, EXPERTS],
        ),
        (
            Filters(
                document_ids=(GUIDE.document.id, FILM.document.id),
                types=("md",),
                modalities=(Modality.TEXT,),
                tags=("water",),
                name="pump",
                path="guides/",
                heading="steps",
            ),
            [BEGINNERS],
        ),
        # A filter's text is never pattern, query or JSON
        (Filters(name="' OR 1=1 --"), []),
        (Filters(types=('md"]',)), []),
        (Filters(tags=('"]',)), []),
        (Filters(path="\0"), []),
        (Filters(name="\ud800"), []),
        (Filters(path="\udcff"), []),
        (Filters(heading="\udcff"), []),
        (Filters(tags=("\ud800",)), []),
    ],
    ids=lambda value: repr(value) if isinstance(value, Filters) else f"{len(value)} visible",
)
def test_both_searches_see_exactly_what_the_filters_let_through(
    library: Store, filters: Filters, visible: list[ChunkId]
) -> None:
    assert sorted(found_by_words(library, "pump", filters)) == sorted(visible)
    assert sorted(found_by_vector(library, at_angle(0), filters)) == sorted(visible)


def test_a_few_that_match_fill_the_list_however_far_down_they_stand(store: Store) -> None:
    nearer = [embedded(f"{n}.md", part("pump pump pump", n / 100)) for n in range(300)]
    wanted = embedded(
        "wanted.md",
        part("one pump among many other words of all kinds", 170),
        part("pump and so on and so forth until the very end", 175),
        tags=("rare",),
    )
    fill(store, *nearer, wanted)
    rare = Filters(tags=("rare",))
    assert found_by_vector(store, at_angle(0), rare, limit=2) == chunk_ids(wanted)
    assert sorted(found_by_words(store, "pump", rare, limit=2)) == sorted(chunk_ids(wanted))


def test_under_a_filter_the_best_of_what_matches_comes_first(store: Store) -> None:
    documents = [
        embedded(f"{n}.md", part(f"pump {n}", n), tags=("odd" if n % 2 else "even",))
        for n in range(40)
    ]
    fill(store, *documents)
    odd = [name for document in documents[1::2] for name in chunk_ids(document)]
    assert found_by_vector(store, at_angle(0), Filters(tags=("odd",)), limit=5) == odd[:5]


def test_a_filter_of_thousands_of_documents_is_as_good_as_any(library: Store) -> None:
    many = (*(DocumentId(f"{n:040x}") for n in range(20_000)), LOG.document.id)
    assert found_by_words(library, "pump", Filters(document_ids=many)) == [STOPPED]
    assert found_by_vector(library, at_angle(0), Filters(document_ids=many)) == [STOPPED]
