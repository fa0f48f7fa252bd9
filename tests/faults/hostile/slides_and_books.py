"""Presentations, OpenDocument texts and e-books that hide, repeat or reach out."""

from __future__ import annotations

import io
from zipfile import ZipFile

from hostile.case import Case, either, read, refused
from hostile.samples import WORDS, book_parts, slides
from office_files import SlideXml, package, pptx, shape
from pincite.records import OmissionReason
from word_files import open_file, zipped

_CASES = (
    read(
        "hidden-slide.pptx",
        lambda _: pptx(
            SlideXml(shape(WORDS)), SlideXml(shape("Ignore all"), attributes='show="0"')
        ),
        has=WORDS,
        flags=OmissionReason.HIDDEN,
    ),
    read(
        "beside-the-slide.pptx",
        lambda _: pptx(SlideXml(shape(WORDS) + shape("Ignore all", at=(9_000, 9_000, 10, 10)))),
        has=WORDS,
        flags=OmissionReason.OFF_PAGE,
    ),
    refused("deep-groups.pptx", "nested too deeply", lambda _: pptx(SlideXml("<p:grpSp>" * 9_000))),
    either(
        "groups.pptx",
        lambda _: pptx(SlideXml("<p:grpSp>" * 200 + shape(WORDS) + "</p:grpSp>" * 200)),
    ),
    either("many-slides.pptx", lambda _: pptx(*[SlideXml(shape(WORDS))] * 300)),
    either("same-slide.pptx", lambda _: _same_slide(500)),
    refused("deep.odt", "nested too deeply", lambda _: open_file("<text:section>" * 9_000)),
    read(
        "spaces.odt",
        lambda _: open_file(
            f'<text:p>{WORDS}<text:s text:c="2147483647"/>x<text:s text:c="-5"/></text:p>'
        ),
        has=WORDS,
    ),
    read(
        "columns.odt",
        lambda _: open_file(
            "<table:table><table:table-row>"
            '<table:table-cell table:number-columns-spanned="2147483647" '
            f'table:number-rows-spanned="2147483647"><text:p>{WORDS}</text:p></table:table-cell>'
            "</table:table-row></table:table>"
        ),
        has=WORDS,
    ),
    read(
        "hidden.odt",
        lambda _: open_file(
            f"<text:p>{WORDS}</text:p>"
            '<text:section text:display="none"><text:p>Ignore all</text:p></text:section>'
            '<text:p text:style-name="H">Ignore them</text:p>',
            styles='<style:style style:name="H" style:family="paragraph"><style:text-properties '
            'text:display="none"/></style:style>',
        ),
        has=WORDS,
        flags=OmissionReason.HIDDEN,
    ),
    read(
        "outside.odt",
        lambda bait: open_file(
            f'<text:section><text:section-source xlink:href="file://{bait.path}"/><text:p>{WORDS}</text:p>'
            f'</text:section><draw:frame><draw:image xlink:href="{bait.url}"/></draw:frame>'
        ),
        has=WORDS,
    ),
    read(
        "outside.epub",
        lambda bait: zipped(
            book_parts(
                f'<p>{WORDS}</p><img src="{bait.url}"/><iframe src="{bait.url}"></iframe>'
                f'<object data="file://{bait.path}"></object><link href="{bait.url}"/>'
            )
        ),
        has=WORDS,
    ),
    refused(
        "astray.epub",
        "damaged|missing|no part|no text|outside",
        lambda bait: zipped(book_parts() | {"book.opf": _spine("../../../.." + bait.path)}),
    ),
    either(
        "no-root.epub", lambda _: zipped(book_parts() | {"META-INF/container.xml": "<container/>"})
    ),
    read(
        "same-chapter.epub",
        lambda _: zipped(book_parts() | {"book.opf": _spine("a.xhtml", 5_000)}),
        has=WORDS,
    ),
    refused(
        "locked.epub",
        "protected|encrypted|DRM|locked",
        lambda _: zipped(book_parts() | {"META-INF/encryption.xml": _ENCRYPTION}),
    ),
    either(
        "many-chapters.epub",
        lambda _: zipped(book_parts() | {f"b{n}.xhtml": "<p>x</p>" for n in range(2_000)}),
    ),
)

_ENCRYPTION = (
    '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" '
    'xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData><enc:EncryptionMethod '
    'Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/><enc:CipherData>'
    '<enc:CipherReference URI="a.xhtml"/></enc:CipherData></enc:EncryptedData></encryption>'
)


def _spine(chapter: str, times: int = 1) -> str:
    return (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><manifest>'
        f'<item id="a" href="{chapter}" media-type="application/xhtml+xml"/></manifest>'
        "<spine>" + '<itemref idref="a"/>' * times + "</spine></package>"
    )


def _same_slide(times: int) -> bytes:
    """A presentation that shows one and the same slide again and again."""
    with ZipFile(io.BytesIO(slides())) as archive:
        parts: dict[str, bytes | str] = {name: archive.read(name) for name in archive.namelist()}
    shown = parts["ppt/presentation.xml"]
    assert isinstance(shown, bytes)
    one = b'<p:sldId id="256" r:id="rId1"/>'
    parts["ppt/presentation.xml"] = shown.replace(one, one * times)
    return package(parts)


CASES: tuple[Case, ...] = _CASES
