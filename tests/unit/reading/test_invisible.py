from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from pincite.reading.invisible import flagged
from pincite.records import Content, Metadata, Omission, OmissionReason, Section

TAGS_OF_HELLO = "".join(chr(0xE0000 + ord(char)) for char in "hello")
SCOTLAND = "\U0001f3f4" + "".join(chr(0xE0000 + ord(char)) for char in "gbsct") + "\U000e007f"
NEVER_NORMAL = "\u2060\u2061\u2064\u206a\u206f\ufeff\u202d\u202e\u00ad"
SOMETIMES_NORMAL = "\u200b\u200c\u200d\u180e\u202a\u2066\u2069\ufe0f\U000e0101\U000e0041\U000e007f"

texts = st.text(alphabet="ab \n" + NEVER_NORMAL + SOMETIMES_NORMAL + "سक👩❤🏴אំ中", max_size=60)


def content(text: str, omissions: Sequence[Omission] = (), **parts: object) -> Content:
    whole = (Section((), 0, 0, len(text)),)
    fields = {"sections": whole, **parts}
    return Content(type="txt", text=text, omissions=tuple(omissions), **fields)  # type: ignore[arg-type]


def found(text: str) -> list[tuple[str, str]]:
    omissions = flagged(content(text)).omissions
    return [(text[one.start : one.end], one.reason.value) for one in omissions]


@st.composite
def contents(draw: st.DrawFn) -> Content:
    """A text with omissions of its own, in order and without overlap."""
    text = draw(texts)
    edges = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8, unique=True)))
    own = [
        Omission(start, end, draw(st.sampled_from(OmissionReason)))
        for start, end in list(pairwise(edges))[::2]
    ]
    return content(text, own)


@given(contents())
def test_omissions_are_in_order_and_do_not_overlap(given: Content) -> None:
    omissions = flagged(given).omissions
    assert all(one.start < one.end <= len(given.text) for one in omissions)
    assert all(one.end <= two.start for one, two in pairwise(omissions))


@given(contents())
def test_flagging_twice_is_flagging_once(given: Content) -> None:
    assert flagged(flagged(given)) == flagged(given)


@given(contents())
def test_nothing_that_was_left_out_comes_back(given: Content) -> None:
    def left_out(omissions: Sequence[Omission], *, hidden: bool) -> set[int]:
        kept = (one for one in omissions if one.reason.is_hidden or not hidden)
        return {at for one in kept for at in range(one.start, one.end)}

    after = flagged(given).omissions
    assert left_out(given.omissions, hidden=False) <= left_out(after, hidden=False)
    assert left_out(given.omissions, hidden=True) <= left_out(after, hidden=True)


@given(contents())
def test_characters_that_are_never_normal_are_always_left_out(given: Content) -> None:
    inside = {at for one in flagged(given).omissions for at in range(one.start, one.end)}
    assert all(at in inside for at, char in enumerate(given.text) if char in NEVER_NORMAL)


@given(st.text(alphabet=st.characters(max_codepoint=0x24F, exclude_characters="\u00ad")))
def test_latin_text_is_left_as_it_is(text: str) -> None:
    assert flagged(content(text)) == content(text)


@pytest.mark.parametrize(
    ("text", "hidden", "reason"),
    [
        ("pass\u200dword", ["\u200d"], "zero-width characters"),
        ("a\u200c\u200d\u200c\u200db", ["\u200c\u200d\u200c\u200d"], "zero-width characters"),
        ("a\ufe00\U000e0100\U000e01efb", ["\ufe00\U000e0100\U000e01ef"], "zero-width characters"),
        (f"a{TAGS_OF_HELLO}", [TAGS_OF_HELLO], "tag characters"),
        (f"\U0001f3f4{TAGS_OF_HELLO * 3}", [TAGS_OF_HELLO * 3], "tag characters"),  # no flag
        ("שלום \u202egnp.exe", ["\u202e"], "direction overrides"),
        ("\u2067שלום\u2069\nplain \u2067text\u2069", ["\u2067", "\u2069"], "direction overrides"),
        ("co\u00adop", ["\u00ad"], "hyphen"),
    ],
)
def test_what_nobody_sees_is_left_out_with_its_reason(
    text: str, hidden: list[str], reason: str
) -> None:
    assert found(text) == [(one, reason) for one in hidden]


@pytest.mark.parametrize(
    "text",
    [
        "می\u200cخواهم",  # Persian keeps letters apart
        "👩\u200d🔬 and 🏳\ufe0f\u200d🌈",
        SCOTLAND,
        "ភាសា\u200bខ្មែរ",  # Khmer marks where lines may break
        "He said \u2067שלום\u2069 to us",
        "ᠭᠠᠷ\u180eᠠ",
    ],
)
def test_what_belongs_to_a_script_or_an_emoji_is_let_be(text: str) -> None:
    assert found(text) == []


def test_what_the_file_hides_keeps_its_own_reason() -> None:
    own = Omission(0, 5, OmissionReason.WHITE)
    assert flagged(content("a\u200bbcd\u200be", [own])).omissions == (
        own,
        Omission(5, 6, OmissionReason.ZERO_WIDTH),
    )


def test_a_hidden_character_in_code_left_out_for_length_is_still_flagged() -> None:
    own = Omission(0, 4, OmissionReason.LONG_CODE)
    assert flagged(content("a\u200bbc", [own])).omissions == (
        Omission(0, 1, OmissionReason.LONG_CODE),
        Omission(1, 2, OmissionReason.ZERO_WIDTH),
        Omission(2, 4, OmissionReason.LONG_CODE),
    )


def test_a_hyphen_the_reader_left_out_with_its_line_end_stays_one() -> None:
    own = Omission(2, 4, OmissionReason.HYPHEN)
    assert flagged(content("co\u00ad\nop é", [own])).omissions == (own,)


def test_titles_headings_authors_and_tags_lose_what_does_not_show() -> None:
    given = content(
        "plain",
        title="A" + TAGS_OF_HELLO,
        sections=(Section(("B\u200b", "\u2060"), 2, 0, 5),),
        metadata=Metadata(author="C\u202e", tags=("d\ufeff", "\u200b")),
    )
    cleaned = flagged(given)
    assert flagged(content("é", title="\u200b")).title is None
    assert (cleaned.title, cleaned.sections[0].heading_path) == ("A", ("B",))
    assert (cleaned.metadata.author, cleaned.metadata.tags) == ("C", ("d",))
