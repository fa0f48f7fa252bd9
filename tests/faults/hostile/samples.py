"""One small, sound file of each kind. All say that the seal leaks."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping

from compound_files import compound_file
from hostile.pdf_file import pdf_of, shown
from office_files import SheetXml, SlideXml, pptx, shape, xlsx
from word_files import open_file, paragraph, styled, word_file, zipped

WORDS = "The seal leaks"

PDF = pdf_of(shown("Pumps", how="/F1 20 Tf") + shown(f"{WORDS} when it is cold.", at=(50, 660)))


def word() -> bytes:
    """A Word file."""
    return word_file(styled("Pumps", "Heading1") + paragraph(f"{WORDS} when it is cold."))


def workbook() -> bytes:
    """An Excel file."""
    return xlsx(SheetXml("Pumps", {1: ["Part", "State", "Year"], 2: ["seal", WORDS, 1984]}))


def slides() -> bytes:
    """A PowerPoint file."""
    return pptx(SlideXml(shape("Pumps", placeholder="title") + shape(f"{WORDS}.")))


def open_text() -> bytes:
    """An OpenDocument text."""
    return open_file(f'<text:h text:outline-level="1">Pumps</text:h><text:p>{WORDS}.</text:p>')


def open_sheet() -> bytes:
    """An OpenDocument spreadsheet."""
    cell = (
        f'<table:table-cell office:value-type="string"><text:p>{WORDS}</text:p></table:table-cell>'
    )
    rows = f"<table:table-row>{cell}{cell}</table:table-row>" * 2
    return open_file(f'<table:table table:name="Pumps">{rows}</table:table>', kind="spreadsheet")


BOOK_CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
    '<rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles>'
    "</container>"
)


def book_parts(chapter: str = f"<h1>Pumps</h1><p>{WORDS}.</p>") -> dict[str, bytes | str]:
    """The parts of an electronic book of one chapter."""
    return {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": BOOK_CONTAINER,
        "book.opf": (
            '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata '
            'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Pumps</dc:title></metadata>'
            '<manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest>'
            '<spine><itemref idref="a"/></spine></package>'
        ),
        "a.xhtml": '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>Pumps</title></head>'
        f"<body>{chapter}</body></html>",
    }


def old_word_streams(text: str = f"{WORDS}.\r") -> dict[str, bytes]:
    """The streams of a Word file of 1997, its text in one piece."""
    encoded = text.encode("utf-16-le")
    count = len(encoded) // 2
    document = bytearray(2_048) + encoded + bytes(-len(encoded) % 512) + bytes(1_024)
    first_page = (len(document) - 1_024) // 512
    plan = struct.pack("<BIIIHIH", 2, 16, 0, count, 0, 2_048, 0)
    table = plan.ljust(100, b"\0")
    table += b"".join(struct.pack("<III", 0, 0xFFFFFFFF, first_page + at) for at in (0, 1))
    struct.pack_into("<HH", document, 0, 0xA5EC, 0xC1)
    struct.pack_into("<H", document, 0x0A, 0x0200)
    struct.pack_into("<I", document, 0x4C, count)
    for place, start, length in ((0x1A2, 0, len(plan)), (0xFA, 100, 12), (0x102, 112, 12)):
        struct.pack_into("<II", document, place, start, length)
    return {"WordDocument": bytes(document), "1Table": table}


def old_workbook_stream(*cells: bytes) -> bytes:
    """The stream of an Excel file of 1997 with one sheet."""
    name = struct.pack("<BB", 5, 0) + b"Pumps"
    begin = biff(0x809, struct.pack("<HHHHII", 0x600, 5, 0, 0, 0, 0x600))
    place = len(begin) + len(biff(0x85, bytes(6) + name)) + len(biff(0x0A))
    sheet = biff(0x809, struct.pack("<HHHHII", 0x600, 0x10, 0, 0, 0, 0x600))
    said = biff(0x200, struct.pack("<IIHHH", 0, 1, 0, 1, 0))
    return b"".join(
        (
            *(begin, biff(0x85, struct.pack("<IBB", place, 0, 0) + name), biff(0x0A)),
            *(sheet, said, *(cells or (label(0, 0, WORDS), label(1, 0, "1984"))), biff(0x0A)),
        )
    )


def biff(kind: int, payload: bytes = b"") -> bytes:
    """A record of an old Excel file."""
    return struct.pack("<HH", kind, len(payload)) + payload


def label(row: int, column: int, text: str) -> bytes:
    """A cell with a text."""
    return biff(0x204, struct.pack("<HHHHB", row, column, 0, len(text), 0) + text.encode("latin-1"))


def message_streams(texts: Mapping[int, str] | None = None) -> dict[str, bytes]:
    """The streams of an Outlook message: its texts by their properties."""
    said = texts or {0x0037: "Pumps", 0x1000: f"{WORDS}.\r\n", 0x0C1A: "Ann"}
    streams = {f"__substg1.0_{one:04X}001F": text.encode("utf-16-le") for one, text in said.items()}
    return {"__properties_version1.0": bytes(32), **streams}


MAIL = (
    "From: Ann <ann@example.org>\r\nTo: Bob <bob@example.org>\r\nSubject: Pumps\r\n"
    "Date: Fri, 23 Dec 2022 12:08:48 -0600\r\nMIME-Version: 1.0\r\n"
    'Content-Type: multipart/alternative; boundary="x"\r\n\r\n'
    f"--x\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{WORDS} when it is cold.\r\n"
    f"--x\r\nContent-Type: text/html\r\n\r\n<p>{WORDS} when it is cold.</p>\r\n--x--\r\n"
)
_NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Pumps\n", f"{WORDS}.\n"]},
        {
            "cell_type": "code",
            "metadata": {},
            "source": "print(1)",
            "outputs": [{"output_type": "stream", "name": "stdout", "text": "1\n"}],
        },
    ],
    "metadata": {"kernelspec": {"language": "python"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}
_PYTHON = f'''"""{WORDS}."""
import os
class Pump:
    def leak(self) -> str:
        """Say that {WORDS.lower()}."""
        return os.path.join("a", "b")
'''
_CURLY = f"// {WORDS}\nint leak(int a) {{ if (a > 1) {{ return a; }} return 0; }}\n"


def samples() -> dict[str, bytes]:
    """A sound file of each kind, by its name."""
    texts = {
        "a.md": f"---\ntitle: Pumps\n---\n# Pumps\n\n{WORDS}.\n\n- one\n- two\n\n|a|\n|-|\n|b|\n",
        "a.txt": f"Pumps\n\n{WORDS}.\n",
        "a.html": f"<!doctype html><title>Pumps</title><h1>Pumps</h1><p>{WORDS}.<table><tr><td>a"
        "<td>1<tr><td>b<td>2</table><ul><li>one<li>two</ul>",
        "a.rtf": rf"{{\rtf1\ansi{{\info{{\title Pumps}}}}\pard {WORDS}.\par\u8364 ? x\par}}",
        "a.vtt": f"WEBVTT\n\n00:01.000 --> 00:04.000\n<v Ann>{WORDS}.\n\n0:05 --> 0:06\nYes.\n",
        "a.srt": f"1\n00:00:01,000 --> 00:00:04,000\n{WORDS}.\n\n2\n00:00:05,000 --> 0:0:6\nYes.",
        "a.sbv": f"0:00:01.000,0:00:04.000\n{WORDS}.\n\n0:00:05.000,0:00:06.000\nYes.\n",
        "a.eml": MAIL,
        "a.xml": f'<?xml version="1.0"?><pumps><pump id="1"><state>{WORDS}</state></pump></pumps>',
        "a.csv": f"part,state,year\nseal,{WORDS},1984\nvalve,closed,1985\n",
        "a.tsv": f"part\tstate\tyear\nseal\t{WORDS}\t1984\n",
        "a.ipynb": json.dumps(_NOTEBOOK),
        "a.rst": f"Pumps\n=====\n\n{WORDS}.\n\n.. note:: Cold.\n\n* one\n* two\n",
        "a.org": f"#+TITLE: Pumps\n* Pumps\n{WORDS}.\n#+BEGIN_SRC python\nx\n#+END_SRC\n",
        "a.json": json.dumps({"title": "Pumps", "state": [WORDS, 1, None, {"a": [True]}]}),
        "a.jsonl": json.dumps({"title": "Pumps", "state": WORDS})
        + "\n"
        + json.dumps([1, 2])
        + "\n",
        "a.py": _PYTHON,
        "a.c": _CURLY,
        "a.cpp": "namespace n { class A { "
        + _CURLY.replace("//", "/*").replace("leaks", "leaks */")
        + "}; }",
        "a.java": f"class A {{ {_CURLY} }}",
        "a.js": f"// {WORDS}\nexport function leak(a) {{ return a ? `x${{a}}` : /b/; }}\n",
        "a.ts": f"// {WORDS}\nexport function leak<T>(a: T): T {{ return a; }}\n",
        "a.tsx": f"// {WORDS}\nexport const A = () => <p>{{1}}</p>;\n",
        "a.go": f"package a\n\n// {WORDS}\nfunc Leak(a int) int {{ return a }}\n",
        "a.rs": f"// {WORDS}\npub fn leak<'a>(a: &'a str) -> &'a str {{ a }}\n",
    }
    return {
        **{name: text.encode() for name, text in texts.items()},
        "a.pdf": PDF,
        "a.docx": word(),
        "a.xlsx": workbook(),
        "a.pptx": slides(),
        "a.odt": open_text(),
        "a.ods": open_sheet(),
        "a.odp": open_file(
            f'<draw:page draw:name="1"><draw:frame><draw:text-box><text:p>{WORDS}</text:p>'
            "</draw:text-box></draw:frame></draw:page>",
            kind="presentation",
        ),
        "a.epub": zipped(book_parts()),
        "a.doc": compound_file(old_word_streams()),
        "a.xls": compound_file({"Workbook": old_workbook_stream()}),
        "a.msg": compound_file(message_streams()),
    }
