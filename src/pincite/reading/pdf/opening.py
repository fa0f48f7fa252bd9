"""Bytes → an open PDF, with the password that fits where one is needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pincite.errors import FileUnreadable
from pincite.reading.pdf.pdfium import Handle, raw
from pincite.reading.pdf.streams import refuse_bombs
from pincite.reading.source_file import SourceFile
from pincite.text.passwords import ways_to_write

_LOOKED_FOR_HEADER = 1_024  # bytes, as PDF programs do


@contextmanager
def opened(file: SourceFile) -> Iterator[Handle]:
    """The document as pdfium knows it, closed at the end."""
    document = _open(file)
    try:
        yield document
    finally:
        raw.FPDF_CloseDocument(document)


def _open(file: SourceFile) -> Handle:
    if b"%PDF-" not in file.data[:_LOOKED_FOR_HEADER]:
        raise FileUnreadable("is damaged: it does not begin like a PDF")
    refuse_bombs(file.data)
    error = raw.FPDF_ERR_UNKNOWN
    for password in ways_to_write(file.passwords):
        document = raw.FPDF_LoadMemDocument64(file.data, len(file.data), password)
        if document:
            return document
        error = raw.FPDF_GetLastError()
        if error != raw.FPDF_ERR_PASSWORD:
            break
    raise FileUnreadable(_reason(error, len(file.passwords)))


def _reason(error: int, passwords: int) -> str:
    if error == raw.FPDF_ERR_PASSWORD and passwords:
        return f"is encrypted, and none of the {passwords} passwords given opens it"
    if error == raw.FPDF_ERR_PASSWORD:
        return "is encrypted; give its password with `pincite index update --passwords FILE`"
    if error == raw.FPDF_ERR_SECURITY:
        return "is encrypted in a way that cannot be read; save it without encryption"
    return "is damaged and cannot be opened; save it anew with another program"
