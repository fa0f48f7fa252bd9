"""A password as typed → every way in which a file may have been locked with it."""

from __future__ import annotations

import stringprep
import unicodedata
from collections.abc import Iterator

_ENCODINGS = ("utf-8", "latin-1", "cp1250", "cp1251", "utf-16-be")


def ways_to_write(passwords: tuple[str, ...]) -> Iterator[bytes | None]:
    """No password, the empty one, then each that was given, ended by NUL as C wants it."""
    yield None
    yield b"\0"
    tried = {b"\0"}
    for password in passwords:
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
