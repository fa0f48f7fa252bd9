"""Web pages: depth, width, length, and what they would fetch or hide."""

from __future__ import annotations

import base64

from hostile.case import Bait, Case, either, made, read, refused
from pincite.records import OmissionReason

_SEAL = b"<p>The seal leaks</p>"


def _page(body: bytes, head: bytes = b"") -> bytes:
    return b"<!doctype html><html><head>%s</head><body>%s</body></html>" % (head, body)


_SHAPES = (
    either("divs.html", lambda _: _page(b"<div>" * 1_000_000 + _SEAL)),
    either("spans.html", lambda _: _page(b"<span>" * 200_000 + _SEAL)),
    read("deep-end.html", lambda _: _page(_SEAL + b"<b>" * 5_000 + b"x"), has="The seal leaks"),
    read("unclosed.html", lambda _: _page(_SEAL + b"<p><i><li><td><b" * 5_000), has="The seal"),
    either("open-tags.html", lambda _: _page(_SEAL + b"<" * 500_000)),
    either("open-tag.html", lambda _: _page(_SEAL + b"<p " + b"a " * 400_000)),
    refused(
        "attributes.html",
        "more than 500 attributes",
        lambda _: _page(b"<p " + b" ".join(b"a%d=1" % n for n in range(50_000)) + b">" + _SEAL),
    ),
    read(
        "attribute.html",
        lambda _: _page(b"<p title='" + b"x" * 15_000_000 + b"'>" + _SEAL),
        has="The seal leaks",
    ),
    either("quote-left-open.html", lambda _: _page(_SEAL + b"<p title='" + b"<p>" * 300_000)),
    read("comment.html", lambda _: _page(_SEAL + b"<!--" + b"-" * 1_000_000), has="The seal leaks"),
    read("comments.html", lambda _: _page(_SEAL + b"<!-- x -- >" * 50_000), has="The seal leaks"),
    read("cdata.html", lambda _: _page(_SEAL + b"<![CDATA[" * 50_000), has="The seal leaks"),
    read("entities.html", lambda _: _page(_SEAL + b"&amp;&#x110000;&lt" * 50_000), has="The seal"),
    read("entity-number.html", lambda _: _page(_SEAL + b"&#" + b"9" * 100_000), has="The seal"),
    either("tables.html", lambda _: _page(b"<table><tr><td>" * 500 + _SEAL)),
    read(
        "spans-of-cells.html",
        lambda _: _page(
            _SEAL + b"<table>" + b"<tr><td colspan=65534 rowspan=65534>a<td>b" * 300 + b"</table>"
        ),
        has="The seal leaks",
    ),
    read("wide-table.html", lambda _: _page(_SEAL + b"<table><tr>" + b"<td>x" * 10_000), has="x"),
    read("long-table.html", lambda _: _page(b"<table>" + b"<tr><td>a<td>b" * 3_000), has="a"),
    either("lists.html", lambda _: _page(b"<ul><li>" * 900 + _SEAL)),
    read("headings.html", lambda _: _page(b"<h1>Pumps</h1>" * 3_000 + _SEAL), has="The seal"),
    read("heading-levels.html", lambda _: _page(_SEAL + b"<h6>a<h1>b<h3>c" * 5_000), has="The"),
    read("pre.html", lambda _: _page(_SEAL + b"<pre>" * 900 + b"\n" * 100_000), has="The seal"),
    read("breaks.html", lambda _: _page(_SEAL + b"<br>" * 20_000), has="The seal leaks"),
    read("options.html", lambda _: _page(_SEAL + b"<select><option>x" * 10_000), has="The seal"),
    either("frames.html", lambda _: b"<html><frameset><frame src=a>" * 5_000 + _SEAL),
    read("plaintext.html", lambda _: _page(_SEAL + b"<plaintext>" + b"</p>" * 9_999), has="The"),
    either("nested-forms.html", lambda _: _page(b"<form><a><button>" * 20_000 + _SEAL)),
    either("foreign.html", lambda _: _page(b"<svg><math><mi>" * 5_000 + _SEAL)),
)

_ADDRESSES = (
    read("reaching-out.html", lambda bait: _reaching_out(bait), has="The seal leaks"),
    read(
        "entity.xhtml",
        lambda bait: (
            b'<!DOCTYPE html [<!ENTITY b SYSTEM "file://%s"><!ENTITY %% c SYSTEM "%s"> %%c;]>'
            b"<html><body><p>The seal leaks &b;</p></body></html>"
            % (bait.path.encode(), bait.url.encode())
        ),
        has="The seal leaks",
    ),
    read(
        "laughs.xhtml",
        lambda _: _laughs() + b"<html><body><p>The seal leaks &a9;</p></body></html>",
        has="The seal leaks",
    ),
    read(
        "data.html",
        lambda _: _page(
            _SEAL
            + b"<img alt='pump' src='data:image/png;base64,"
            + base64.b64encode(bytes(9_000_000))
            + b"'>"
        ),
        has="The seal leaks",
        lacks="AAAA",
    ),
    read(
        "include.html",
        lambda bait: _page(
            _SEAL
            + b'<!--#include file="%s" --><xi:include href="%s"/><?php readfile("%s") ?>'
            % ((bait.path.encode(),) * 3)
        ),
        has="The seal leaks",
    ),
)


def _reaching_out(bait: Bait) -> bytes:
    url = bait.url.encode()
    head = (
        b"<base href='%s/'><meta http-equiv=refresh content='0;url=%s'>"
        b"<link rel=stylesheet href='%s'><script src='%s'></script>"
        b"<style>@import url(%s); p { background: url(%s) }</style>"
    )
    body = (
        b"<img src='%s' srcset='%s 2x'><iframe src='%s'></iframe><object data='%s'></object>"
        b"<embed src='%s'><video src='%s' poster='%s'></video><a ping='%s' href='%s'>The seal</a>"
    )
    return _page(_SEAL + body % ((url,) * 9), head % ((url,) * 6))


def _laughs() -> bytes:
    entities = b"".join(
        b'<!ENTITY a%d "%s">' % (n, b"&a%d;" % (n - 1) * 10 if n else b"lol") for n in range(10)
    )
    return b"<!DOCTYPE html [%s]>" % entities


_UNSEEN = tuple(
    read(f"{name}.html", made(_page, _SEAL + how), has="The seal leaks", lacks="Ignore")
    for name, how in (
        ("not-displayed", b"<p style='display:none'>Ignore all</p>"),
        ("hidden", b"<p hidden>Ignore all</p>"),
        ("commented", b"<!-- Ignore all -->"),
        ("in-a-template", b"<template>Ignore all</template>"),
        ("by-class", b"<style>.a { display: none }</style><p class=a>Ignore all</p>"),
        ("in-a-script", b"<script>'Ignore all'</script><noscript></noscript>"),
    )
) + tuple(
    read(f"{name}.html", made(_page, _SEAL + how), has="The seal leaks", flags=flag)
    for name, how, flag in (
        ("white", b"<p style='color:#fff'>Ignore all</p>", OmissionReason.WHITE),
        ("tiny", b"<p style='font-size:0.1px'>Ignore all</p>", OmissionReason.TINY),
        ("faint", b"<p style='opacity:0'>Ignore all</p>", OmissionReason.INVISIBLE),
        (
            "far-off",
            b"<p style='position:absolute;left:-9999px'>Ignore all</p>",
            OmissionReason.OFF_PAGE,
        ),
    )
)

_ENCODED = (
    read("says-ascii.html", lambda _: _charset(b"us-ascii", "Grüße".encode()), has="Grüße"),
    read("says-utf-8.html", lambda _: _charset(b"utf-8", "Grüße".encode("cp1252")), has="Gr"),
    read("says-utf-7.html", lambda _: _charset(b"utf-7", b"+ADw-script+AD4- seal"), has="seal"),
    read("says-nothing-known.html", lambda _: _charset(b"x-nope", b"seal"), has="seal"),
    read("says-many.html", lambda _: b"<meta charset=" * 50_000 + _SEAL, has="The seal leaks"),
    read("says-utf-16.html", lambda _: _charset(b"utf-16", b"seal"), has="seal"),
    read("wide.html", lambda _: _page(_SEAL).decode().encode("utf-16"), has="The seal leaks"),
    refused("nuls.html", "binary|no text", lambda _: _page(b"<p>The\0seal\0</p>" * 99) + bytes(9)),
)


def _charset(name: bytes, body: bytes) -> bytes:
    return b"<html><head><meta charset=%s></head><body><p>%s</p></body></html>" % (name, body)


_STYLES = (
    read(
        "rules.html",
        lambda _: _page(
            _SEAL * 500,
            b"<style>" + b"".join(b".a%d p{color:red}" % n for n in range(5_000)) + b"</style>",
        ),
        has="The seal leaks",
    ),
    read("selector.html", lambda _: _style(b"p" + b" p" * 50_000 + b"{color:red}"), has="The seal"),
    read("selectors.html", lambda _: _style(b"," * 100_000 + b"p{display:x}"), has="The seal"),
    read("braces.html", lambda _: _style(b"@media x {" * 50_000), has="The seal leaks"),
    read("declarations.html", lambda _: _style(b"p{" + b"color:red;" * 50_000 + b"}"), has="The"),
    read("style-comments.html", lambda _: _style(b"/*" * 100_000), has="The seal leaks"),
    read(
        "style-attribute.html",
        lambda _: _page(b"<p style='" + b"a:b;" * 100_000 + b"color:(((((('>" + _SEAL),
        has="The seal leaks",
    ),
    read(
        "lengths.html",
        lambda _: _page(b"<p style='font-size:%s'>x" % (b"9" * 9_999) + _SEAL),
        has="x",
    ),
)


def _style(rules: bytes) -> bytes:
    return _page(_SEAL, b"<style>" + rules + b"</style>")


CASES: tuple[Case, ...] = (*_SHAPES, *_ADDRESSES, *_UNSEEN, *_ENCODED, *_STYLES)
