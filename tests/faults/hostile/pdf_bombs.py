"""PDFs that are small on disk and large in memory."""

from __future__ import annotations

import zlib

from hostile.case import Case, either, made, read, refused, stopped
from hostile.deflate import size_of, zlib_bomb
from hostile.pdf_file import packed, page_objects, pdf_of, shown, stream, written

_SEAL = shown("The seal leaks")


def _page(content: bytes, *others: bytes, **entries: bytes) -> bytes:
    """One page whose content is this object."""
    return written([*page_objects(content, **entries), *others])


def _filtered(data: bytes, *names: str, parameters: bytes = b"") -> bytes:
    """A stream that goes through these filters, in this order, to be read."""
    listed = b" ".join(b"/" + name.encode() for name in names)
    return stream(data, b"/Filter [%s] %s" % (listed, parameters))


def _predicted(number: int) -> bytes:
    """Rows that are told from the row before, and are longer than any file."""
    wide = b"/Columns 2147483647 /Colors 2147483647 /BitsPerComponent 32 /EarlyChange 0"
    parameters = b"/DecodeParms << /Predictor %d %s >>" % (number, wide)
    return _page(_filtered(zlib.compress(bytes(1_000)), "FlateDecode", parameters=parameters))


def _lzw_of_blanks(size: int) -> bytes:
    """Blanks, as LZW writes them: each code stands for one more of them than the code before."""
    bits: list[str] = []
    made = 0
    while made < size:
        bits.append(f"{256:09b}")
        length = 1
        for code in [32, *range(258, 4_094)]:
            width = 9 if code < 510 else 10 if code < 1_022 else 11 if code < 2_046 else 12
            bits.append(f"{code:0{width}b}")
            made += length
            length += 1
    whole = "".join(bits)
    whole += "0" * (-len(whole) % 8)
    return int(whole, 2).to_bytes(len(whole) // 8)


_BOMB = "unpack to more than 100 MB"
_FILTERS = (
    refused("flate.pdf", _BOMB, lambda _: _page(_filtered(zlib_bomb(), "FlateDecode"))),
    refused(
        "many-flates.pdf",
        _BOMB,
        lambda _: pdf_of(_SEAL, *[_filtered(zlib_bomb(b" ", 90), "FlateDecode")] * 6),
    ),
    refused(
        "flate-twice.pdf",
        _BOMB,
        lambda _: _page(_filtered(zlib.compress(zlib_bomb()), *["FlateDecode"] * 2)),
    ),
    either(
        "run-length.pdf",
        lambda _: _page(
            _filtered(
                zlib.compress(b"\x81 " * (size_of() // 128)), "FlateDecode", "RunLengthDecode"
            )
        ),
    ),
    either("lzw.pdf", lambda _: _page(_filtered(_lzw_of_blanks(20_000_000), "LZWDecode"))),
    either(
        "ascii85.pdf",
        lambda _: _page(
            _filtered(
                zlib.compress(b"z" * (size_of() // 8) + b"~>"), "FlateDecode", "ASCII85Decode"
            )
        ),
    ),
    either("hex-chain.pdf", lambda _: _page(_filtered(b"20" * 64, *["ASCIIHexDecode"] * 5_000))),
    either("ascii85-chain.pdf", lambda _: _page(_filtered(b"z" * 64, *["ASCII85Decode"] * 5_000))),
    either("flate-chain.pdf", lambda _: _page(packed(b" " * 10_000, times=200))),
    either(
        "unknown-filter.pdf", lambda _: _page(_filtered(b"x", "NopeDecode", "Crypt", "JBIG2Decode"))
    ),
    either("predictor-2.pdf", made(_predicted, 2)),
    either("predictor-15.pdf", made(_predicted, 15)),
    either("bad-flate.pdf", lambda _: _page(_filtered(b"x\x9c" + b"\xff" * 500, "FlateDecode"))),
)


def _image(entries: bytes, data: bytes = zlib.compress(bytes(64))) -> bytes:
    """A page of white words on an image, so that somebody has to look at it."""
    content = b"q 600 0 0 800 0 0 cm /Im Do Q 1 g\n" + _SEAL
    image = stream(data, b"/Type /XObject /Subtype /Image /Filter /FlateDecode " + entries)
    return pdf_of(content, image, resources=b"/XObject << /Im 6 0 R >>")


def _sheet(box: bytes) -> bytes:
    """A page of this size, of which somebody has to look at the words."""
    return pdf_of(b"0.5 g 0 0 600 800 re f 1 g\n" + _SEAL, page=b"/MediaBox [%s]" % box)


_GREY = b"/ColorSpace /DeviceGray /BitsPerComponent 8 "
_SIZES = (
    either("large-image.pdf", lambda _: _image(_GREY + b"/Width 100000 /Height 100000")),
    either("wide-image.pdf", lambda _: _image(_GREY + b"/Width 2147483647 /Height 2147483647")),
    read(
        "image-bomb.pdf",
        lambda _: _image(_GREY + b"/Width 10000 /Height 10000", zlib_bomb(b"\0", 100)),
        has="The seal leaks",
    ),
    either("negative-image.pdf", lambda _: _image(_GREY + b"/Width -5 /Height -5")),
    either(
        "deep-image.pdf",
        lambda _: _image(
            b"/ColorSpace /DeviceCMYK /BitsPerComponent 32 /Width 30000 /Height 30000"
        ),
    ),
    *(
        either(f"sheet-{number}.pdf", made(_sheet, box))
        for number, box in enumerate(
            (
                *(b"0 0 1000000000 1000000000", b"0 0 0 0", b"-1e38 -1e38 1e38 1e38"),
                *(b"600 800 0 0", b"0 0 0.00001 800", b"a b"),
            )
        )
    ),
    either("scaled.pdf", lambda _: pdf_of(b"1e20 0 0 1e20 0 0 cm 1 g\n" + _SEAL)),
    either("user-unit.pdf", lambda _: pdf_of(_SEAL, page=b"/UserUnit 1e30 /Rotate 45")),
)


def _forms(depth: int, width: int) -> bytes:
    """Forms that each show the next one so many times; the last one shows words."""
    names = range(6, 6 + depth)
    objects = [
        stream(
            b"/F Do " * width if number + 1 < 6 + depth else _SEAL,
            b"/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /Font << /F1 5 0 R >>"
            b" /XObject << /F %d 0 R >> >>" % (number + 1),
        )
        for number in names
    ]
    return pdf_of(b"/F Do " * width, *objects, resources=b"/XObject << /F 6 0 R >>")


def _form_in_itself() -> bytes:
    form = stream(
        _SEAL + b"/F Do",
        b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /Font << /F1 5 0 R >> "
        b"/XObject << /F 6 0 R >> >>",
    )
    return pdf_of(b"/F Do", form, resources=b"/XObject << /F 6 0 R >>")


_REPEATS = (
    either("form-in-itself.pdf", lambda _: _form_in_itself()),
    stopped("forms.pdf", lambda _: _forms(8, 10)),
    either("deep-forms.pdf", lambda _: _forms(2_000, 1)),
    stopped(
        "contents.pdf",
        lambda _: _page(b"[" + b"6 0 R " * 50_000 + b"]", stream(b" " * 10_000 + _SEAL)),
    ),
    stopped(
        "packed-contents.pdf", lambda _: _page(b"[" + b"6 0 R " * 5_000 + b"]", packed(b" " * 9**6))
    ),
    read(
        "letters.pdf",
        lambda _: pdf_of(_SEAL + shown("x" * 1_000, at=(9, 9)) * 500),
        has="The seal leaks",
    ),
    read("words.pdf", lambda _: pdf_of(_SEAL + shown("x ", at=(9, 9)) * 50_000), has="The seal"),
    read("states.pdf", lambda _: pdf_of(b"q " * 200_000 + _SEAL), has="The seal leaks"),
    stopped("marks.pdf", lambda _: pdf_of(b"/P <</MCID 1>> BDC " * 50_000 + _SEAL)),
    read("paths.pdf", lambda _: pdf_of(b"1 g 0 0 9 9 re f " * 50_000 + _SEAL), has="The seal"),
    either("numbers.pdf", lambda _: pdf_of(b"9" * 100_000 + b" Tz " + _SEAL)),
    either("operands.pdf", lambda _: pdf_of(b"[" * 100_000 + _SEAL)),
    either("dictionaries.pdf", lambda _: pdf_of(_SEAL, b"<</A" * 50_000, catalog=b"/X 6 0 R")),
    either(
        "inline-image.pdf", lambda _: pdf_of(b"BI /W 9999999 /H 9999999 /BPC 8 ID " + _SEAL * 9)
    ),
    either(
        "meanings.pdf",
        lambda _: _with_meaning(
            b"100 beginbfrange\n" + b"<00> <ff> <%s>\n" % (b"0041" * 500) * 100 + b"endbfrange"
        ),
    ),
    either(
        "ranges.pdf",
        lambda _: _with_meaning(b"beginbfrange " + b"<00000000> <ffffffff> <0041> " * 99),
    ),
)


def _with_meaning(cmap: bytes) -> bytes:
    """Words in a font that says what its letters mean."""
    objects = page_objects(stream(_SEAL))
    objects[4] = b"<< /Type /Font /Subtype /TrueType /BaseFont /A /ToUnicode 6 0 R >>"
    head = b"begincmap 1 begincodespacerange <00> <ff> endcodespacerange "
    return written([*objects, stream(head + cmap + b" endcmap")])


CASES: tuple[Case, ...] = (*_FILTERS, *_SIZES, *_REPEATS)
