from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.text.finding import finder_of


@pytest.mark.parametrize(
    ("question", "texts", "share"),
    [
        ("who signs the release?", ["Ada signed all releases."], 1),
        ("who signs the release?", ["Ada signed it."], 0.5),
        ("who signs the release?", ["Ada signed it.", "Releases"], 1),
        ("who signs the release?", ["Bread is baked at night."], 0),
        ("what is ERR-4042?", ["It says ERR-4042 then."], 1),
        ("?", ["Nothing was asked."], 0),
    ],
)
def test_coverage_is_the_share_of_the_questions_words_that_texts_have(
    question: str, texts: list[str], share: float
) -> None:
    assert finder_of(question).coverage(*texts) == share


WRITTEN = st.sampled_from(
    [
        *("pump", "Pumps", "PUMPING", "happy", "Happiness", "hopping", "hoping", "hope", "skies"),
        *("sky", "dies", "dying", "generalization", "general", "_pump_", "a1b2", "pump's", "x"),
    ]
)
ASKED = st.sampled_from(["pump", "happy", "hope", "sky", "die", "general", "tie", "x"])


@given(
    texts=st.lists(st.lists(WRITTEN, max_size=6).map(" ".join), max_size=4),
    question=st.lists(ASKED, min_size=1, max_size=3).map(" ".join),
)
def test_a_plain_text_has_the_same_words_as_any_other(texts: list[str], question: str) -> None:
    finder = finder_of(question)  # which remembers the words of the texts before
    for text in texts:
        assert finder.found(text) == finder.found(f"{text} \u00e9")


@pytest.mark.parametrize("question", ["\u4f9b\u7535", "pump \u4f9b\u7535"])
def test_words_of_a_script_without_spaces_are_found_inside_others(question: str) -> None:
    assert finder_of(question).coverage("pump \u65e0\u4f9b\u7535\u7ebf") == 1
