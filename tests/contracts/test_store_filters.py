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
from pincite.records import Analysis, ChunkId, DocumentId, Filters, Metadata, Modality

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
        # An empty tuple or list lets nothing through; None is no restriction.
        (Filters(document_ids=[]), []),  # type: ignore[arg-type]  # as programs write it
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
        (Filters(types=(".TXT",)), [STOPPED]),
        (Filters(types=("markdown",)), [BEGINNERS, EXPERTS, SHOWN, PICTURE]),
        # What is said in a recording is found by what the recording is
        (Filters(types=("video",)), [SHOWN]),
        (Filters(types=("video", "txt")), [STOPPED, SHOWN]),
        (Filters(types=("audio",)), []),
        (Filters(where="not type = video and type = md"), [BEGINNERS, EXPERTS, PICTURE]),
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


PLAN = embedded(
    "plans/Budget.md",
    part("the pump costs 4000", headings=["Costs"]),
    part("pumps, valves and pipes"),
    about=Metadata(
        author="Grace Hopper",
        date="2024-03",
        project="Harbour",
        confidentiality="Confidential",
        agents=("Planner", "writer"),
        language="en-US",
    ),
)
NOTE = embedded(
    "notes/[old] a*b.md",
    part("a pump, said the note"),
    about=Metadata(
        modified="2023-12-31T23:59:00",
        project="harbour",
        confidentiality="public",
        language="EN",
    ),
)
MEMO = embedded(
    "memo.md", part("pump memo"), about=Metadata(confidentiality="eyes only", language="eng")
)
CODE = embedded(
    "run.py",
    Part("def pump(): pass", analysis=Analysis(None, ("pump",), ("os.path", "json"))),
    kind="py",
    about=Metadata(date="2025"),
)
COSTS, PIPES = chunk_ids(PLAN)
(SAID,) = chunk_ids(NOTE)
(SECRET,) = chunk_ids(MEMO)
(DEFINED,) = chunk_ids(CODE)
LABELLED = {
    "costs": COSTS,
    "pipes": PIPES,
    "said": SAID,
    "secret": SECRET,
    "defined": DEFINED,
}


@pytest.fixture(scope="module", params=STORES)
def labelled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    with open_test_store(request.param, tmp_path_factory.mktemp("library") / "index") as opened:
        fill(opened, PLAN, NOTE, MEMO, CODE)
        yield opened


def names_found(store: Store, filters: Filters) -> set[str]:
    found = found_by_vector(store, at_angle(0), filters)
    assert sorted(found) == sorted(found_by_words(store, "pump", filters))
    return {name for name, chunk in LABELLED.items() if chunk in found}


@pytest.mark.parametrize(
    ("filters", "visible"),
    [
        (Filters(projects=("HARBOUR",)), "costs pipes said"),
        (Filters(projects=("harb",)), ""),
        (Filters(projects=("",)), "secret defined"),
        (Filters(agents=("planner",)), "costs pipes"),
        (Filters(agents=("planner", "")), "costs pipes said secret defined"),
        (Filters(author="hopper"), "costs pipes"),
        # A language is also what is spoken of it somewhere.
        (Filters(languages=("en",)), "costs pipes said"),
        (Filters(languages=("en-us",)), "costs pipes"),
        (Filters(languages=("", "e")), "defined"),
        (Filters(where="language != en"), "secret defined"),
        # What says nothing of its confidentiality is internal; an unknown label is the strictest.
        (Filters(clearance="public"), "said"),
        (Filters(clearance="Internal"), "said defined"),
        (Filters(clearance="confidential"), "said defined costs pipes"),
        (Filters(clearance="restricted"), "said defined costs pipes secret"),
        # A month or a year may be any of its days.
        (Filters(since="2024-03-15"), "costs pipes defined"),
        (Filters(since="2024-04"), "defined"),
        (Filters(until="2024-03-15"), "costs pipes said"),
        (Filters(until="2023"), "said"),
        (Filters(since="2023-12-31", until="2023-12-31"), "said"),
        (Filters(name="*.py"), "defined"),
        (Filters(name="bud*t.?d"), "costs pipes"),
        (Filters(name="bud*t.?"), ""),
        (Filters(name="[old]*"), "said"),
        (Filters(name="[a-z]*"), ""),
        # The words of a phrase stand next to each other, in the text or in a heading.
        (Filters(phrases=("Pump costs",)), "costs"),
        (Filters(phrases=("costs pump",)), ""),
        (Filters(phrases=("costs",)), "costs"),
        (Filters(phrases=("pump", "4000")), "costs"),
        (Filters(phrases=("valves and pipes",)), "pipes"),
        (Filters(phrases=("…",)), ""),
        (Filters(phrases=()), ""),
        (Filters(where="project = harbour and confidentiality > public"), "costs pipes"),
        (Filters(where="not project = harbour"), "secret defined"),
        (Filters(where="project != harbour or text contains 4000"), "secret defined costs"),
        (Filters(where="date = 2024"), "costs pipes"),
        (Filters(where="not date = 2024"), "said secret defined"),
        (Filters(where='date = ""'), "secret"),
        (Filters(where="date > 2024-03 or date < 2024"), "defined said"),
        (Filters(where="date >= 2024-03 and date <= 2024-04-01"), "costs pipes"),
        (Filters(where="confidentiality in (public, restricted)"), "said secret"),
        (Filters(where="heading = costs"), "costs"),
        (Filters(where='heading = ""'), "pipes said secret defined"),
        (Filters(where="import = os"), "defined"),
        (Filters(where="symbol in (pump, valve) and not type = md"), "defined"),
        (Filters(where='layer = "" and path begins plans/'), "costs pipes"),
        (Filters(where="path matches *s/*"), "costs pipes said"),
        (Filters(where="tag in ()"), ""),
        (Filters(where="   "), "costs pipes said secret defined"),
        (Filters(where="name contains memo", projects=("harbour",)), ""),
    ],
    ids=repr,
)
def test_labels_dates_patterns_and_phrases_restrict_both_searches(
    labelled: Store, filters: Filters, visible: str
) -> None:
    assert names_found(labelled, filters) == set(visible.split())


def test_a_phrase_of_a_script_without_spaces_is_found_inside_longer_ones(store: Store) -> None:
    fill(
        store,
        embedded("a.md", part("東京都庁の Python 编写")),
        embedded("b.md", part("京都と東京")),
    )
    for phrase, count in (
        ("東京都", 1),
        ("京都", 2),
        ("京", 2),
        ("Python 编写", 1),
        ("都 Python", 0),
    ):
        assert len(found_by_vector(store, at_angle(0), Filters(phrases=(phrase,)))) == count, phrase


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


@pytest.mark.parametrize(
    "field", ["types", "languages", "imports", "symbols", "projects", "agents"]
)
def test_thousands_of_values_of_any_field_are_as_good_as_one(labelled: Store, field: str) -> None:
    wanted = {"types": "py", "imports": "json", "symbols": "pump", "languages": ""}
    values = (*(f"no{n}" for n in range(3_000)), wanted.get(field, ""))
    found = names_found(labelled, Filters(**{field: values}))  # type: ignore[arg-type]
    assert "defined" in found


def test_documents_are_found_and_recordings_told_only_as_far_as_they_may_be_seen(
    store: Store,
) -> None:
    spoken, seen = (
        embedded(
            path,
            part("pump"),
            title="Pump talk",
            about=Metadata(recording="talk", confidentiality=label),
        )
        for path, label in (("a.vtt", "public"), ("b.md", "restricted"))
    )
    fill(store, spoken, seen)
    public = Filters(clearance="public")
    assert len(store.find_documents("pump talk")) == 2
    assert [one.path for one in store.find_documents("pump talk", filters=public)] == ["a.vtt"]
    assert store.recorded_documents("talk", public) == [spoken.document.id]
    assert len(store.recorded_documents("talk", Filters())) == 2
    assert store.recorded_documents("another", Filters()) == []
