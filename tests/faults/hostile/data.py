"""JSON, tables, notebooks, XML, reStructuredText and Org: depth, numbers, wrong shapes."""

from __future__ import annotations

import json

from hostile.case import Case, either, read, refused

_SEAL = "The seal leaks"

_JSON = (
    either("arrays.json", lambda _: b"[" * 1_000_000),
    either("closed-arrays.json", lambda _: b"[" * 100_000 + b'"seal"' + b"]" * 100_000),
    either("objects.json", lambda _: b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    read("below-the-limit.json", lambda _: b"[" * 900 + b'"seal"' + b"]" * 900, has="seal"),
    read("integer.json", lambda _: b'{"a": "seal", "b": ' + b"9" * 100_000 + b"}", has="seal"),
    read("fraction.json", lambda _: b'["seal", 0.' + b"1" * 100_000 + b"]", has="seal"),
    read("exponent.json", lambda _: b'["seal", 1e999999999, -1e-99999999]', has="seal"),
    read("not-numbers.json", lambda _: b'{"a": "seal", "b": NaN, "c": -Infinity}', has="seal"),
    read("halves.json", lambda _: rb'["seal", "\ud800", "\udfff\ud800"]', has="seal"),
    read("keys.json", lambda _: b'{"a":1,' + b'"a":"seal",' * 5_000 + b'"a":1}', has="seal"),
    read("numbers.json", lambda _: b'["seal"' + b",1" * 20_000 + b"]", has="seal"),
    read("long-string.json", lambda _: json.dumps({"a": "seal " * 50_000}).encode(), has="seal"),
    read("open-string.json", lambda _: b'{"a": "seal ' + b"\\" * 500_001, has="seal"),
    read("trailing.json", lambda _: b'{"a": "seal",}' + b"," * 100_000, has="seal"),
    refused("signs.json", "no text", lambda _: b"[{},[],{}]"),
    either("nothing.json", lambda _: b"null"),
    either("number.json", lambda _: b"7"),
    either("string.json", lambda _: b'""'),
    read("mixed.jsonl", lambda _: b'{"a":"seal"}\nno json\n[' + b"[" * 50_000, has="seal"),
    read("long-line.jsonl", lambda _: json.dumps({"a": ["seal"] * 5_000}).encode(), has="seal"),
    read("many-lines.jsonl", lambda _: b'{"a":"seal"}\n' * 3_000, has="seal"),
    read("blank-lines.jsonl", lambda _: b"\n" * 100_000 + b'{"a":"seal"}', has="seal"),
    either("odd-title.json", lambda _: b'{"title": [[1]], "tags": {"a": 1}, "date": 9e99}'),
)

_TABLES = (
    read("field.csv", lambda _: b"a,b\n" + b"seal " * 60_000 + b",1\n", has="seal"),
    read("quoted-field.csv", lambda _: b'a,b\n"' + b"seal\n" * 20_000 + b'",1\n', has="seal"),
    read("open-quote.csv", lambda _: b'seal,"b\n' + b"c,d\n" * 5_000, has="seal"),
    read("quotes.csv", lambda _: b'seal,"' * 20_000, has="seal"),
    read(
        "columns.csv", lambda _: b"seal" + b"," * 500_000 + b"x\n1,2\n", has="seal", notes="cells"
    ),
    read("rows.csv", lambda _: b"seal,1\n" * 5_000, has="seal"),
    read("ragged.csv", lambda _: b"a,b,c\n" + b"seal," * 300 + b"\n1\n" * 1_000, has="seal"),
    read("wide-labels.csv", lambda _: _wide_labels(), has="seal"),
    refused("separators.csv", "no text|empty", lambda _: b",,,,\n" * 10_000),
    read("formulas.csv", lambda _: b"a,b\n=cmd|' /C calc'!A0,@seal\n", has="seal"),
    read("returns.csv", lambda _: b"a,b\rseal,1\r\r\n\n\r", has="seal"),
    either("tabs.tsv", lambda _: b"\t" * 300_000 + b"seal\n"),
    read("declared.csv", lambda _: b"sep=|\nseal|b\n1|2\n", has="seal"),
    read("no-separator.csv", lambda _: b"seal " * 20_000, has="seal"),
)


def _wide_labels() -> bytes:
    """Each of many columns has a long name, which each row would repeat."""
    head = ",".join(f"name {'x' * 60} {column}" for column in range(2_000))
    return f"{head}\n{'seal,' * 2_000}\n{'1,' * 2_000}\n".encode()


def _notebook(**parts: object) -> bytes:
    return json.dumps({"nbformat": 4, "metadata": {}, "cells": [], **parts}).encode()


def _cell(kind: object, source: object, **more: object) -> dict[str, object]:
    return {"cell_type": kind, "metadata": {}, "source": source, **more}


_NOTEBOOKS = (
    refused("text.ipynb", "it is not JSON", lambda _: b"The seal leaks"),
    refused("array.ipynb", "has no cells", lambda _: b"[1, 2]"),
    refused("object.ipynb", "has no cells", lambda _: b"{}"),
    refused("deep.ipynb", "is not JSON", lambda _: b'{"cells":' + b"[" * 100_000),
    refused("no-cells.ipynb", "no text", lambda _: _notebook()),
    refused("cells-of-text.ipynb", "no text", lambda _: _notebook(cells="seal")),
    refused("cells-of-numbers.ipynb", "no text", lambda _: _notebook(cells=[1, None, "x", []])),
    read(
        "odd-cells.ipynb",
        lambda _: _notebook(
            metadata=[1],
            cells=[
                _cell(7, _SEAL),
                _cell("code", 5, outputs=[1, {"output_type": [], "data": 3}]),
                _cell("markdown", [_SEAL, 5, None]),
                _cell("heading", "Pumps", level="nine"),
                _cell("heading", "Pumps", level=10**9),
                _cell("heading", "Pumps", level=-5),
            ],
        ),
        has=_SEAL,
    ),
    read(
        "outputs.ipynb",
        lambda _: _notebook(
            cells=[
                _cell("markdown", _SEAL),
                _cell("code", "x", outputs=[{"output_type": "stream", "text": "y" * 2_000_000}]),
                _cell(
                    "code", "x", outputs=[{"output_type": "error", "traceback": [1, {}]}] * 5_000
                ),
            ]
        ),
        has=_SEAL,
    ),
    read("many.ipynb", lambda _: _notebook(cells=[_cell("code", _SEAL)] * 5_000), has=_SEAL),
    read(
        "picture.ipynb",
        lambda _: _notebook(
            cells=[_cell("markdown", f"{_SEAL} ![](data:image/png;base64,{'A' * 3_000_000})")]
        ),
        has=_SEAL,
        lacks="AAAA",
    ),
    read(
        "deep-markdown.ipynb",
        lambda _: _notebook(cells=[_cell("markdown", ">" * 50_000 + _SEAL)]),
        has=_SEAL,
    ),
)


def _xml(inside: str, before: str = "") -> bytes:
    return f"<?xml version='1.0'?>{before}<pumps>{inside}<state>{_SEAL}</state></pumps>".encode()


_LAUGHS = "".join(
    f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' if n else '<!ENTITY a0 "lol">' for n in range(10)
)
_DEFINITION = "document type definition"
_XML = (
    refused("laughs.xml", _DEFINITION, lambda _: _xml("&a9;", f"<!DOCTYPE a [{_LAUGHS}]>")),
    refused(
        "file.xml",
        _DEFINITION,
        lambda bait: _xml("&b;", f'<!DOCTYPE a [<!ENTITY b SYSTEM "file://{bait.path}">]>'),
    ),
    refused(
        "address.xml",
        _DEFINITION,
        lambda bait: _xml("", f'<!DOCTYPE a [<!ENTITY % b SYSTEM "{bait.url}"> %b;]>'),
    ),
    either("outer-definition.xml", lambda bait: _xml("", f'<!DOCTYPE a SYSTEM "{bait.url}">')),
    read(
        "style-sheet.xml",
        lambda bait: _xml(
            f'<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="{bait.path}"/>',
            f'<?xml-stylesheet href="{bait.url}"?>',
        ),
        has=_SEAL,
    ),
    refused("deep.xml", "nested too deeply", lambda _: b"<a>" * 100_000),
    refused("not-closed.xml", "damaged|well-formed", lambda _: b"<a><b>The seal leaks"),
    refused("empty.xml", "no text|empty|damaged", lambda _: b"<a/>"),
    refused("no-xml.xml", "damaged|well-formed", lambda _: b"The seal leaks"),
    read(
        "attributes.xml",
        lambda _: _xml("<a " + " ".join(f'a{n}="b"' for n in range(5_000)) + "/>"),
        has=_SEAL,
    ),
    read("names.xml", lambda _: _xml(f"<{'a' * 30_000}>x</{'a' * 30_000}>"), has=_SEAL),
    read("many.xml", lambda _: _xml("<a><b>x</b></a>" * 4_000), has=_SEAL),
    read(
        "namespaces.xml",
        lambda _: _xml("".join(f'<a xmlns:n{n}="u{n}"/>' for n in range(5_000))),
        has=_SEAL,
    ),
    refused(
        "utf-7.xml",
        "encoding that cannot be read",
        lambda _: b"<?xml version='1.0' encoding='utf-7'?><a>x</a>",
    ),
)

_MARKUP = (
    read(
        "include.rst",
        lambda bait: _rst(
            f".. include:: {bait.path}\n\n.. raw:: html\n   :file: {bait.path}\n"
            f"   :url: {bait.url}\n"
        ),
        has=_SEAL,
    ),
    read(
        "csv-table.rst",
        lambda bait: _rst(f".. csv-table::\n   :file: {bait.path}\n   :url: {bait.url}\n"),
        has=_SEAL,
    ),
    read("underlines.rst", lambda _: _rst("=" * 300_000 + "\n" + "-\n=\n" * 4_000), has=_SEAL),
    read("deep.rst", lambda _: _rst("\n".join(" " * n + "* x" for n in range(1_000))), has=_SEAL),
    read(
        "titles.rst",
        lambda _: _rst("\n".join(f"a\n{chr(33 + n % 15) * 3}\n" for n in range(5_000))),
        has=_SEAL,
    ),
    read("tables.rst", lambda _: _rst("+--+\n" * 3_000 + "=== ===\n" * 3_000), has=_SEAL),
    read(
        "substitutions.rst",
        lambda _: _rst("|a| " * 20_000 + ".. |a| replace:: |a| |a|\n" * 2_000),
        has=_SEAL,
    ),
    read("directives.rst", lambda _: _rst(".. a::\n" * 3_000 + "`" * 100_000), has=_SEAL),
    read(
        "include.org",
        lambda bait: _org(f'#+INCLUDE: "{bait.path}"\n#+SETUPFILE: {bait.url}\n'),
        has=_SEAL,
    ),
    read("stars.org", lambda _: _org("*" * 50_000 + " a\n" + "* a\n" * 4_000), has=_SEAL),
    read("blocks.org", lambda _: _org("#+BEGIN_SRC\n" * 4_000), has=_SEAL),
    read("drawers.org", lambda _: _org(":a:\n" * 4_000), has=_SEAL),
    read(
        "evaluated.org",
        lambda bait: _org(
            f"#+BEGIN_SRC sh :results output\ncat {bait.path}\n#+END_SRC\n"
            f"src_sh{{cat {bait.path}}}\n"
        ),
        has=_SEAL,
    ),
)


def _rst(text: str) -> bytes:
    return f"Pumps\n=====\n\n{_SEAL}.\n\n{text}\n".encode()


def _org(text: str) -> bytes:
    return f"* Pumps\n{_SEAL}.\n\n{text}\n".encode()


CASES: tuple[Case, ...] = (*_JSON, *_TABLES, *_NOTEBOOKS, *_XML, *_MARKUP)
