from __future__ import annotations

import pytest

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
