"""Which pages are pictures, and what becomes of images that are large, broken or turned."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from pictures import joined, pdf_with, picture, saved, scanned_pdf, text_pdf
from pincite.converting.pages import open_image, open_pdf, rehearse
from pincite.errors import FileUnreadable

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
