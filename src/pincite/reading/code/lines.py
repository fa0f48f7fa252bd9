"""Source code without its structure: for what is made by machines, or is not what it seems."""

from __future__ import annotations

from pincite.reading.code.languages import Language, language_of
from pincite.reading.encoding import decode_filled
from pincite.reading.lines.plain import paragraphs
from pincite.reading.source_file import SourceFile
from pincite.records import Block, BlockKind, Content, Metadata, Modality, Section


def read(file: SourceFile) -> Content:
    """Read source code by its lines only. Nothing is parsed, so nothing can go wrong."""
    text = decode_filled(file.data)
    return unstructured(text, language_of(file.suffix, text))


def unstructured(text: str, language: Language) -> Content:
    """One section, and blocks at blank lines."""
    return Content(
        type=language.type,
        text=text,
        sections=(Section((), 0, 0, len(text)),),
        blocks=tuple(Block(BlockKind.CODE, start, end) for start, end in paragraphs(text)),
        metadata=Metadata(
            language=language.name, notes=("read by lines, without its functions and classes",)
        ),
        modality=Modality.CODE,
    )
