"""What every store promises of words: a question is never syntax, in no script or spelling."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers import STORES, chunk_ids, embedded, fill, found_by_words, open_test_store
from pincite.ports import Store
from pincite.records import Filters

# Every one of these is an error, a column filter or an operator to FTS5 or to a tsquery.
QUERY_SYNTAX = [
    "",
    " ",
    "\u00a0\u2003",
    '"',
    '""',
    '"pump',
    "multi-agent",
    "-secret",
    "-x",
    "don't",
    "C++",
    "C#",
    ".NET",
    "20.04",
    "a@b.c",
    "a/b",
    "a,b",
    "a:b",
    "AND",
    "OR OR",
    "NOT x",
    "NEAR(a b, 5)",
    "NEAR(a b",
    "NEAR",
    "title:x",
    "-title:x",
    "{a b}:x",
    "{text title} : x",
    "^x",
    "rank:x",
    "*",
    "a*",
    "%",
    "_",
    "\\",
    "(",
    ")",
    "+",
    "&|!<->:*",
    "(" * 300 + "x" + ")" * 300,
    "pump " * 20_000,
    " ".join(f"word{number}" for number in range(10_000)),
    "x" * 100_000,
    "\0",
    "pu\0mp",
    "\ud800",
    "pump \udfff valve",
    "🚀",
    "🚀🚀 👩‍👩‍👧",
    "\u202e\u200b\ufeff",
    "\ue02d",
    "İstanbul",
    "the of and",
    "'; DROP TABLE chunk; --",
    "'\"'\"",
    "\u0301",
]


STILL_WATER = embedded("lake.md", "water stands still")


@pytest.fixture(scope="module", params=STORES)
def lake(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    with open_test_store(request.param, tmp_path_factory.mktemp("lake") / "index") as opened:
        fill(opened, STILL_WATER)
        yield opened


@pytest.mark.parametrize("question", QUERY_SYNTAX, ids=lambda question: repr(question[:20]))
def test_a_question_is_never_query_syntax(lake: Store, question: str) -> None:
    assert found_by_words(lake, question) == []
    assert found_by_words(lake, f"water {question}") == chunk_ids(STILL_WATER)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("-pump", "the pump leaks"),
        ("NOT pump", "the pump leaks"),
        ("pump NOT leaks", "the pump leaks"),
        ("valve AND pump", "the pump leaks"),
        ("title:pump", "the pump leaks"),
        ("^leaks", "the pump leaks"),
        ('"leaks pump"', "the pump leaks"),
        ("pump*", "the pump leaks"),
        ("NEAR(pump valve, 1)", "the pump leaks"),
        ("pump\0valve", "the pump leaks"),
        ("pump \ud800 valve", "the pump leaks"),
        ("multi-agent", "many agents, multi agent systems"),
        ("don't", "I don't know"),
        ("so don’t", "I don't know"),
        ("what is the pump?", "the pump leaks"),
        ("what is that", "what a day that was"),
        ("client/server", "a server for each client"),
        ("x" * 100_000, "x" * 4_096),
    ],
    ids=lambda text: repr(text[:24]),
)
def test_words_are_found_whatever_stands_around_them(
    store: Store, question: str, text: str
) -> None:
    wanted, other = embedded("first.md", text), embedded("second.md", "nothing to see here")
    fill(store, wanted, other)
    assert found_by_words(store, question) == chunk_ids(wanted)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("pumping", "the pumps leak"),
        ("leak", "it leaked"),
        ("PUMP", "the pump leaks"),
        ("cafe", "at the café"),
        ("café", "at the CAFE"),
        ("cafe\u0301", "at the café"),
        ("café", "at the cafe\u0301"),
        ("résumé", "a re\u0301sume\u0301 of two pages"),
        ("strasse", "die Straße"),
        ("STRAẞE", "die strasse"),
        ("ﬁlter", "the filter"),
        ("filter", "the ﬁlter"),
        ("Ｂｏｉｌｅｒ", "the boiler"),
        ("boiler", "the Ｂｏｉｌｅｒ"),
        ("naïve", "a naive plan"),
        ("Ångström", "one angstrom"),
        ("istanbul", "in İstanbul"),
        ("насос", "Насос сломался"),
        ("αντλία", "η Αντλία"),
        ("हिन्दी", "यह हिन्दी है"),
        ("தமிழ்", "இது தமிழ் மொழி"),
        ("مضخة", "هذه مضخة الماء"),
        ("שלום", "אמר שלום לכולם"),
    ],
)
def test_spellings_of_one_word_meet(store: Store, question: str, text: str) -> None:
    wanted, other = embedded("first.md", text), embedded("second.md", "nothing to see here")
    fill(store, wanted, other)
    assert found_by_words(store, question) == chunk_ids(wanted)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("東京", "私は東京都に住んでいます。"),
        ("人工", "关于人工智能的研究"),
        ("智能", "关于人工智能的研究"),
        ("人工智能", "关于人工智能的研究"),
        ("研究", "关于人工智能的研究"),
        ("검색", "한국어검색엔진"),
        ("엔진", "한국어검색엔진은 빠르다"),
        ("ネット", "インターネット"),
        ("น้ำ", "ปั๊มน้ำรั่ว"),
        ("รั่ว", "ปั๊มน้ำรั่ว"),
        ("京", "東京都"),
        ("東", "東京都"),
        ("都", "東京都"),
        ("검", "한국어검색"),
        ("Python", "使用Python编写程序"),
        ("编写", "使用Python编写程序"),
        ("使用Python", "使用Python编写程序"),
        ("東京2024", "東京の2024年"),
        ("ﾃｽﾄ", "これはテストです"),
        ("𠮷野", "𠮷野家で食べる"),
    ],
)
def test_words_of_scripts_without_spaces_are_found_inside_longer_runs(
    store: Store, question: str, text: str
) -> None:
    wanted = embedded("first.md", text)
    fill(store, wanted, embedded("second.md", "全く別の話題"), embedded("third.md", "거의 없다"))
    assert found_by_words(store, question) == chunk_ids(wanted)


def test_a_whole_word_ranks_above_its_halves(store: Store) -> None:
    whole = embedded("first.md", "私は東京都に住む")
    halves = embedded("second.md", "東京と京都に住む")
    fill(store, whole, halves, *(embedded(f"{n}.md", "全く別の話題") for n in range(5)))
    assert found_by_words(store, "東京都") == [*chunk_ids(whole), *chunk_ids(halves)]


@pytest.mark.parametrize(
    ("code", "near_misses"),
    [
        ("ERR-4042", ["ERR-4043", "ERR 40420", "error 4044"]),
        ("v1.2.3", ["v1.2.4", "v1.2", "v1 and 2 and 3"]),
        ("a@b.c", ["a@b.d", "x@b.c"]),
        ("C++", ["plain C", "C#"]),
        ("C#", ["plain C", "C++"]),
        (".NET", ["a fishing net", "net weight"]),
        ("20.04", ["20.10", "the 20th of 04"]),
        ("foo::bar", ["foo::baz", "bar of foo"]),
        ("x_1", ["x_2", "x 1 2"]),
    ],
)
def test_a_code_is_found_exactly_and_above_its_near_misses(
    store: Store, code: str, near_misses: list[str]
) -> None:
    wanted = embedded("wanted.md", f"it says {code} at the end of a rather long line of words")
    others = [embedded(f"{n}.md", f"it says {miss}") for n, miss in enumerate(near_misses)]
    rest = [embedded(f"rest{n}.md", f"it says number {n} or other words") for n in range(8)]
    fill(store, *others, wanted, *rest)
    assert found_by_words(store, code)[0] == chunk_ids(wanted)[0]
    assert found_by_words(store, code.lower())[0] == chunk_ids(wanted)[0]


@pytest.mark.parametrize(
    ("code", "near_miss"), [("ERR-4042", "ERR-4043"), ("C++", "plain C"), ("v1.2.3", "v1.2.4")]
)
def test_the_near_miss_of_a_code_alone_is_not_found_by_its_number(
    store: Store, code: str, near_miss: str
) -> None:
    fill(
        store,
        embedded("first.md", near_miss.replace("ERR", "E")),
        embedded("second.md", "other words"),
    )
    assert found_by_words(store, code) == []


def test_a_number_is_ranked_to_the_letter_where_the_question_has_no_code(store: Store) -> None:
    wanted = embedded("b.md", "alpha statement 13 of ERR-4042")
    fill(store, embedded("a.md", "alpha statement 131"), wanted, embedded("c.md", "1,300 or 1 300"))
    codes = {
        question: [one.chunk_id for one in found.get("codes", ())]
        for question in ("alpha statement 13?", "ERR-4042 131", "alpha", "1,300")
        for found in [store.search(question, None, filters=Filters(), limit=5)]
    }
    assert codes["alpha statement 13?"] == codes["ERR-4042 131"] == chunk_ids(wanted)
    assert codes["alpha"] == []
    assert codes["1,300"] == chunk_ids(embedded("c.md", "1,300 or 1 300"))


def test_title_and_headings_are_searched_with_the_text(store: Store) -> None:
    titled = embedded("first.md", "the first text", title="Turbine ERR-1")
    fill(store, titled, embedded("second.md", "the second text"))
    assert found_by_words(store, "turbine") == chunk_ids(titled)
    assert found_by_words(store, "ERR-1") == chunk_ids(titled)


def test_a_phrase_does_not_run_from_the_title_into_the_text(store: Store) -> None:
    fill(
        store,
        embedded("first.md", "agent one", title="multi"),
        embedded("second.md", "other words"),
    )
    assert found_by_words(store, "x-multi") == found_by_words(store, "multi")
