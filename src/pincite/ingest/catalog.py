"""A document → the same with a short summary, for lists of documents and for choosing among them.

What a reader of the file would not see never gets into a summary.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import replace
from itertools import islice

from pincite.records import BlockKind, Document, Modality, Section, overlapping, without
from pincite.text.markup import leading_comment
from pincite.text.summary import LONGEST, beginning, first_sentences, summary

_FURTHEST = 200_000  # characters of the text; what a document is about shows at its beginning
_LOWEST_ABSTRACT = 2  # level of its heading; the summary of a subsection is not the document's
_FIRST_BLOCKS = 20  # among which an abstract without a heading stands, or the first of a table
_ABSTRACT_WORDS = (
    r"(?:abstract|(?:executive |short )?summary|overview|tl;?\s?dr|synopsis|zusammenfassung"
    r"|kurzfassung|überblick|résumé|resumen|resumo|riassunto|sommario|samenvatting|аннотация"
    r"|резюме|摘要|概要|要約|概述|要旨|초록|요약)"
)
_ABSTRACT_HEADING = re.compile(rf"(?:[\dIVX.]{{1,5}}\s+)?{_ABSTRACT_WORDS}\W*", re.IGNORECASE)
_ABSTRACT_OPENING = re.compile(rf"\W{{0,3}}{_ABSTRACT_WORDS}\W{{0,3}}[.:—–-]\W*", re.IGNORECASE)

_SPOKEN = (Modality.VIDEO_TRANSCRIPT, Modality.AUDIO_TRANSCRIPT)
_SPEAKER = re.compile(r"^[^\w\r\n]*[^\W\d_][\w.' -]{0,40}:[ \t]+", re.MULTILINE)
_DATA_TYPES = ("json", "jsonl")
_STRING = re.compile(r'(?<!\\)"([^"\\\r\n]*(?:\\.[^"\\\r\n]*)*)"')

_PROSE = (BlockKind.PARAGRAPH,)
_ANYTHING = frozenset(BlockKind)
_NO_HEADINGS = _ANYTHING - {BlockKind.HEADING}


def summarized(document: Document) -> Document:
    """The document with a summary in its own words; an empty one where it says nothing."""
    return replace(document, summary=next(filter(None, _summaries(document)), ""))


def _summaries(document: Document) -> Iterator[str]:
    """Summaries, the best way to one first; a way that the document has no words for is empty."""
    if document.modality is Modality.CODE:
        comment = leading_comment(_seen(document, 0, _FURTHEST))
        yield beginning(comment) if len(comment) <= LONGEST else first_sentences([comment])
        yield beginning(comment)
        return
    if document.type in _DATA_TYPES:
        strings = _STRING.findall(_seen(document, 0, _FURTHEST))
        yield summary(strings, title=document.title)
    else:
        # What the document itself calls its summary, under a heading or behind the very word.
        headed = [section for section in document.sections if _is_abstract(section)]
        if len(headed) == 1:  # of several, each sums up a part
            section = headed[0]
            yield first_sentences(_passages(document, _PROSE, section.start, section.end))
        for passage in islice(_passages(document, _PROSE), _FIRST_BLOCKS):
            if opening := _ABSTRACT_OPENING.match(passage):
                yield first_sentences([passage[opening.end() :]])
        spoken = document.modality in _SPOKEN
        yield summary(_passages(document, _PROSE), title=document.title, spoken=spoken)
        yield summary(_passages(document, (BlockKind.ITEM,)), title=document.title)
    yield beginning("\n".join(islice(_passages(document, _NO_HEADINGS), _FIRST_BLOCKS)))
    yield beginning("\n".join(islice(_passages(document, _ANYTHING), _FIRST_BLOCKS)))


def _is_abstract(section: Section) -> bool:
    if not section.heading_path or section.level > _LOWEST_ABSTRACT:
        return False
    return _ABSTRACT_HEADING.fullmatch(section.heading_path[-1]) is not None


def _passages(
    document: Document, kinds: Container[BlockKind], start: int = 0, end: int = _FURTHEST
) -> Iterator[str]:
    """What each block of such a kind says that begins between the two offsets."""
    for block in document.blocks:
        if block.start >= end:
            break
        if block.kind in kinds and block.start >= start:
            text = _seen(document, block.start, block.end)
            yield _SPEAKER.sub("", text) if document.modality in _SPOKEN else text


def _seen(document: Document, start: int, end: int) -> str:
    omissions = overlapping(document.omissions, start, end)
    return without(document.text[start:end], start, omissions)
