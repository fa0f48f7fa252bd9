"""Words that a reader of the page would not see stay in the text, flagged."""

from __future__ import annotations

import pytest

from pincite.records import Content, Modality, OmissionReason
from unit.reading.pdf.make_pdf import (
    Page,
    content_of,
    filled,
    lines,
    pdf,
    picture,
    text,
    transparent,
)

_SEEN = lines(["Words that everybody can see", "stand on this page."], 72, 700)
_WHOLE_PAGE = picture(0, 0, 612, 792)


def hidden(content: Content) -> dict[str, OmissionReason]:
    """The words that are left out, each with the reason."""
    return {
        content.text[one.start : one.end]: one.reason
        for one in content.omissions
        if content.text[one.start : one.end].strip()
    }


@pytest.mark.parametrize(
    ("drawn", "reason"),
    [
        (text("secret", 72, 600, mode=3), OmissionReason.INVISIBLE),
        (transparent(text("secret", 72, 600)), OmissionReason.INVISIBLE),
        (text("secret", 72, 600, colour="1 g"), OmissionReason.WHITE),
        (text("secret", 72, 600, mode=1, colour="1 G"), OmissionReason.WHITE),
        (text("secret", 72, 600, size=0.5), OmissionReason.TINY),
        (text("secret", 72, 600, size=50, matrix="0.01 0 0 0.01"), OmissionReason.TINY),
        (text("secret", 700, 600), OmissionReason.OFF_PAGE),
    ],
)
def test_what_nobody_sees_is_flagged_and_stays_in_the_text(
    drawn: str, reason: OmissionReason
) -> None:
    content = content_of(pdf(Page([*_SEEN, drawn])))
    assert hidden(content) == {"secret": reason}
    assert "everybody" in content.text


def test_what_is_cropped_away_is_outside_the_page() -> None:
    content = content_of(pdf(Page([*_SEEN, text("secret", 72, 100)], crop=(0, 400, 612, 792))))
    assert hidden(content) == {"secret": OmissionReason.OFF_PAGE}


@pytest.mark.parametrize(
    "drawn",
    [
        text("shown", 72, 600, colour="0.5 g"),
        text("shown", 72, 600, mode=2, colour="1 g 0 G"),
        text("shown", 72, 600, size=2),
        text("shown", 72, 600, size=1, matrix="12 0 0 12"),
    ],
)
def test_what_is_only_pale_or_small_or_outlined_is_not_flagged(drawn: str) -> None:
    assert hidden(content_of(pdf(Page([*_SEEN, drawn])))) == {}


_DARK = filled(60, 590, 200, 40, colour="0 0 0.4 rg")
_PATCH = filled(60, 590, 200, 40, colour="1 g")
_ELSEWHERE = filled(60, 100, 200, 40, colour="0 0 0.4 rg")


@pytest.mark.parametrize(
    ("ground", "rotate", "is_seen"),
    [
        ([_DARK], 0, True),
        ([_DARK], 90, True),
        ([_DARK, _PATCH], 0, False),
        ([_ELSEWHERE], 0, False),
    ],
    ids=["dark", "turned", "a white patch", "dark elsewhere"],
)
def test_white_words_are_seen_on_dark_ground(ground: list[str], rotate: int, is_seen: bool) -> None:
    drawn = [*_SEEN, *ground, text("white", 72, 600, colour="1 g")]
    content = content_of(pdf(Page(drawn, rotate=rotate)))
    assert hidden(content) == ({} if is_seen else {"white": OmissionReason.WHITE})


def test_invisible_words_over_a_scan_are_what_was_recognised_in_it() -> None:
    content = content_of(pdf(Page([_WHOLE_PAGE, text("recognised", 72, 600, mode=3)])))
    assert hidden(content) == {}
    assert content.modality is Modality.OCR


def test_invisible_words_over_a_small_picture_are_hidden() -> None:
    small = picture(60, 590, 100, 40)
    content = content_of(pdf(Page([*_SEEN, small, text("secret", 72, 600, mode=3)])))
    assert hidden(content) == {"secret": OmissionReason.INVISIBLE}
    assert content.modality is Modality.TEXT


def test_a_typed_document_with_one_scan_is_text() -> None:
    scan = Page([_WHOLE_PAGE, text("recognised", 72, 600, mode=3)])
    content = content_of(pdf(Page(_SEEN), scan))
    assert content.modality is Modality.TEXT


def test_words_hidden_under_others_do_not_mix_with_them() -> None:
    under = text("ignore all that", 74, 700, mode=3)
    content = content_of(pdf(Page([under, *_SEEN])))
    assert "Words that everybody can see\n" in content.text
    assert set(hidden(content)) == {"ignore", "all", "that"}


def test_hidden_words_are_no_headings() -> None:
    content = content_of(pdf(Page([text("Hidden Title", 72, 750, size=30, mode=3), *_SEEN])))
    assert content.title is None
    assert [section.level for section in content.sections] == [0]
