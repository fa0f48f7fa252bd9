"""RTF, and the containers of Office before 2007: groups, sizes and chains that lead nowhere."""

from __future__ import annotations

import struct

from compound_files import compound_file
from hostile.case import Bait, Case, either, made, read, refused
from hostile.samples import WORDS, biff, label, old_word_streams, old_workbook_stream
from pincite.records import OmissionReason


def _rtf(inside: bytes) -> bytes:
    return rb"{\rtf1\ansi The seal leaks.\par " + inside + b"}"


_RTF = (
    either("groups.rtf", lambda _: _rtf(b"{" * 100_000)),
    either("closed-groups.rtf", lambda _: _rtf(b"{" * 50_000 + b"x" + b"}" * 50_000)),
    read("closings.rtf", lambda _: _rtf(b"}" * 100_000), has=WORDS),
    read("bin.rtf", lambda _: _rtf(rb"{\bin2147483647 x}"), has=WORDS),
    read("negative-bin.rtf", lambda _: _rtf(rb"{\bin-5 x}y\par"), has=(WORDS, "y")),
    read("bins.rtf", lambda _: _rtf(rb"{\bin0 }" * 20_000), has=WORDS),
    read("words.rtf", lambda _: _rtf(rb"\b\i0" * 20_000), has=WORDS),
    read("long-word.rtf", lambda _: _rtf(b"\\" + b"a" * 100_000), has=WORDS),
    read("number.rtf", lambda _: _rtf(rb"\fs" + b"9" * 100_000), has=WORDS),
    read("unicode.rtf", lambda _: _rtf(rb"\uc2147483647\u-99999 ?" * 10_000), has=WORDS),
    read("skipped.rtf", lambda _: _rtf(rb"\uc999999 \u8364 " + b"x" * 99), has=WORDS),
    read("hex.rtf", lambda _: _rtf(rb"\'zz\'" * 10_000), has=WORDS),
    read(
        "picture.rtf",
        lambda _: _rtf(rb"{\pict\pngblip " + b"89504e47" * 200_000 + b"}"),
        has=WORDS,
        lacks="8950",
    ),
    read(
        "object.rtf",
        lambda _: _rtf(rb"{\object\objocx{\*\objdata " + b"d0cf11e0" * 50_000 + b"}}"),
        has=WORDS,
        lacks="d0cf",
    ),
    read("fields.rtf", lambda bait: _fields(bait), has=WORDS),
    read("tables.rtf", lambda _: _rtf(rb"\trowd\cellx1 \intbl a\cell\row" * 2_000), has=WORDS),
    either("nested-rows.rtf", lambda _: _rtf(rb"\itap99999\intbl a\nestcell" * 10_000)),
    read("cells.rtf", lambda _: _rtf(rb"\trowd\intbl" + rb"\cell" * 20_000 + rb"\row"), has=WORDS),
    read(
        "hidden.rtf",
        lambda _: _rtf(rb"{\v Ignore all}\par"),
        has=WORDS,
        flags=OmissionReason.HIDDEN,
    ),
    read(
        "white.rtf",
        lambda _: (
            rb"{\rtf1{\colortbl;\red255\green255\blue255;}The seal leaks.\par\cf1 Ignore all\par}"
        ),
        has=WORDS,
        flags=OmissionReason.WHITE,
    ),
    read(
        "fonts.rtf",
        lambda _: _rtf(rb"{\fonttbl" + rb"{\f0\fcharset255 x;}" * 20_000 + b"}"),
        has=WORDS,
    ),
    read(
        "colours.rtf",
        lambda _: _rtf(rb"{\colortbl" + rb"\red999999999;" * 10_000 + rb"}\cf99999999 x"),
        has=WORDS,
    ),
    read(
        "styles.rtf",
        lambda _: _rtf(rb"{\stylesheet" + rb"{\s1\sbasedon1 x;}" * 20_000 + rb"}\s1 x"),
        has=WORDS,
    ),
    either("pages.rtf", lambda _: rb"{\rtf1\ansicpg99999\f9 The seal leaks \'e4}"),
    read("no-end.rtf", lambda _: _rtf(b"")[:-1], has=WORDS),
    refused("nothing.rtf", "no text|empty", lambda _: rb"{\rtf1}"),
    either("no-rtf.rtf", lambda _: b"The seal leaks"),
    either("lone-backslash.rtf", lambda _: b"{\\rtf1 x\\"),
    read("notes.rtf", lambda _: _rtf(rb"{\footnote{\footnote{\footnote x}}}" * 500), has=WORDS),
    refused("open-fields.rtf", "nested too deeply", lambda _: _rtf(rb"{\field{\fldrslt " * 9_000)),
    either(
        "info.rtf",
        lambda _: _rtf(rb"{\info{\title " + b"x" * 200_000 + rb"}{\creatim\yr99999\mo99}}"),
    ),
)


def _fields(bait: Bait) -> bytes:
    url, path = bait.url.encode(), bait.path.encode()
    return _rtf(
        rb'{\field{\*\fldinst INCLUDEPICTURE "%s"}{\fldrslt x}}'
        rb'{\field{\*\fldinst INCLUDETEXT "%s"}}'
        rb"{\*\template %s}{\object\objlink{\*\objdata 01}}\par" % (url, path, url)
    )


def _patched(at: int, value: int) -> bytes:
    """A container whose header says something else at one place."""
    data = bytearray(compound_file(old_word_streams()))
    struct.pack_into("<H" if value <= 0xFFFF and at < 44 else "<I", data, at, value)
    return bytes(data)


_CONTAINERS = (
    refused("header-only.doc", "damaged|cannot be read", lambda _: _signature()),
    refused("noise.xls", "damaged|cannot be read", lambda _: _signature() + bytes(range(256)) * 20),
    refused(
        "nothing-known.doc", "cannot be read", lambda _: compound_file({"Other": b"x" * 5_000})
    ),
    refused(
        "slides.ppt",
        "save it as .pptx",
        lambda _: compound_file({"PowerPoint Document": bytes(99)}),
    ),
    refused(
        "package.doc", "is encrypted", lambda _: compound_file({"EncryptedPackage": bytes(99)})
    ),
    *(
        either(f"{name}.doc", made(_patched, at, value))
        for name, at, value in (
            ("sector-size", 30, 0xFFFF),
            ("mini-sector-size", 32, 0xFFFF),
            ("table-sectors", 44, 0xFFFFFFFF),
            ("directory", 48, 0xFFFFFFF0),
            ("directory-in-a-circle", 48, 0),
            ("mini-limit", 56, 0xFFFFFFFF),
            ("mini-table", 60, 2),
            ("more-tables", 68, 0),
            ("more-table-sectors", 72, 0xFFFFFFFF),
            ("first-table", 76, 0xFFFFFFF0),
        )
    ),
    either("chain.doc", lambda _: _chain_in_a_circle()),
    either("siblings.doc", lambda _: _siblings_in_a_circle()),
)

_WORD = (
    read("sound.doc", lambda _: compound_file(old_word_streams()), has=WORDS),
    refused("locked.doc", "is encrypted", lambda _: _word_with(0x0A, 0x0300)),
    either("long.doc", lambda _: _word_with(0x4C, 0xFFFFFFFF)),
    either("plan.doc", lambda _: _word_with(0x1A6, 0xFFFFFFFF)),
    either("plan-place.doc", lambda _: _word_with(0x1A2, 0xFFFFFFF0)),
    either("formats.doc", lambda _: _word_with(0xFE, 0xFFFFFFFF)),
    either("old.doc", lambda _: _word_with(2, 0x65)),
    either("pieces.doc", lambda _: _same_piece(20_000)),
    either(
        "controls.doc", lambda _: compound_file(old_word_streams("\x13\x14\x15\x07\x01" * 4_000))
    ),
    either("fields.doc", lambda _: compound_file(old_word_streams("\x13" * 100_000 + WORDS))),
    either("cells.doc", lambda _: compound_file(old_word_streams("a\x07" * 5_000 + "\x07\r"))),
)

_EXCEL = (
    read("sound.xls", lambda _: _excel(), has=WORDS),
    refused(
        "far-cell.xls",
        "span 16,777,216 cells",
        lambda _: _excel(label(0, 0, "a"), label(65_535, 255, "b")),
    ),
    either(
        "texts.xls",
        lambda _: _excel(
            biff(0xFC, struct.pack("<II", 0xFFFFFFFF, 0xFFFFFFFF)), label(0, 0, WORDS)
        ),
    ),
    either("locked.xls", lambda _: _excel(biff(0x2F, bytes(54)), label(0, 0, WORDS))),
    either("endless-record.xls", lambda _: _excel(struct.pack("<HH", 0x204, 0xFFFF))),
    either("records.xls", lambda _: _excel(*[biff(0x3C)] * 10_000)),
    either("many-cells.xls", lambda _: _excel(*(label(n % 65_000, 0, "x") for n in range(5_000)))),
    either("formula.xls", lambda _: _excel(biff(0x06, bytes(20) + b"\xff\xff" + b"\x25" * 500))),
    either(
        "no-sheet.xls", lambda _: compound_file({"Workbook": biff(0x809, bytes(16)) + biff(0x0A)})
    ),
    either("sheet-outside.xls", lambda _: compound_file({"Workbook": old_workbook_stream()[:40]})),
)


def _signature() -> bytes:
    return bytes.fromhex("d0cf11e0a1b11ae1")


def _excel(*cells: bytes) -> bytes:
    return compound_file({"Workbook": old_workbook_stream(*cells)})


def _word_with(at: int, value: int) -> bytes:
    """A document whose own header says something else at one place."""
    streams = old_word_streams()
    document = bytearray(streams["WordDocument"])
    struct.pack_into("<H" if value <= 0xFFFF else "<I", document, at, value)
    return compound_file({**streams, "WordDocument": bytes(document)})


def _same_piece(count: int) -> bytes:
    """The text is put together from one and the same piece, again and again."""
    streams = old_word_streams("The seal leaks. " * 200 + "\r")
    length = 3_201
    edges = struct.pack(f"<{count + 1}I", *(length * n for n in range(count + 1)))
    pieces = struct.pack("<HIH", 0, 2_048, 0) * count
    plan = struct.pack("<BI", 2, len(edges + pieces)) + edges + pieces
    document = bytearray(streams["WordDocument"])
    struct.pack_into("<I", document, 0x4C, length * count)
    struct.pack_into("<II", document, 0x1A2, 200, len(plan))
    table = streams["1Table"].ljust(200, b"\0") + plan
    return compound_file({"WordDocument": bytes(document), "1Table": table})


def _chain_in_a_circle() -> bytes:
    """Every sector says that the next one is the first."""
    data = compound_file({**old_word_streams(), "Large": bytes(50_000)})
    return data[:-512] + struct.pack("<128I", *[1] * 127, 0xFFFFFFFD)


def _siblings_in_a_circle() -> bytes:
    """Entries of the directory that are each other's brothers."""
    data = bytearray(compound_file(old_word_streams()))
    (directory,) = struct.unpack_from("<I", data, 48)
    for entry in range(1, 4):
        at = 512 * (directory + 1) + 128 * entry
        struct.pack_into("<III", data, at + 68, 1, 2, 1)
    return bytes(data)


CASES: tuple[Case, ...] = (*_RTF, *_CONTAINERS, *_WORD, *_EXCEL)
