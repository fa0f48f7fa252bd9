"""Bytes → an open PDF, with the password that fits where one is needed."""

from __future__ import annotations

import stringprep
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager

from pincite.errors import FileUnreadable
from pincite.reading.pdf.pdfium import Handle, raw
from pincite.reading.source_file import SourceFile

_ENCODINGS = ("utf-8", "latin-1", "cp1250", "cp1251", "utf-16-be")
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
    error = raw.FPDF_ERR_UNKNOWN
    for password in _passwords(file.passwords):
        document = raw.FPDF_LoadMemDocument64(file.data, len(file.data), password)
        if document:
            return document
        error = raw.FPDF_GetLastError()
        if error != raw.FPDF_ERR_PASSWORD:
            break
    raise FileUnreadable(_reason(error))


def _reason(error: int) -> str:
    if error == raw.FPDF_ERR_PASSWORD:
        return "is encrypted; give its password (pincite index --passwords FILE)"
    if error == raw.FPDF_ERR_SECURITY:
        return "is encrypted in a way that cannot be read; save it without encryption"
    return "is damaged and cannot be opened; save it anew with another program"


def _passwords(given: tuple[str, ...]) -> Iterator[bytes | None]:
    """No password, the empty one, then each that was given, in every way it may be written."""
    yield None
    yield b"\0"
    tried = {b"\0"}
    for password in given:
        for form in (password, unicodedata.normalize("NFC", password), _prepared(password)):
            for encoding in _ENCODINGS:
                candidate = form.encode(encoding, "ignore") + b"\0"
                if candidate not in tried:
                    tried.add(candidate)
                    yield candidate


def _prepared(password: str) -> str:
    """As PDF 2.0 wants passwords to be written (SASLprep, RFC 4013)."""
    kept = (
        " " if stringprep.in_table_c12(character) else character
        for character in password
        if not stringprep.in_table_b1(character)
    )
    return unicodedata.normalize("NFKC", "".join(kept))
