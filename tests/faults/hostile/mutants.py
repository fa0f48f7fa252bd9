"""Sound files that were cut short or changed in some bytes, the same ones on every machine."""

from __future__ import annotations

import io
import random
import zlib
from collections.abc import Iterator
from zipfile import ZipFile

from hostile.case import Case, either, made, refused
from hostile.samples import samples
from pincite.reading.sniff import KINDS
from word_files import zipped

SAMPLES = samples()

_CUTS = (0.1, 0.35, 0.6, 0.85, 0.98)  # of the file that is left
_FLIPS = (1, 1, 3, 10, 40)  # bytes that are changed
_PACKAGES = (".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".epub")


def mutants(name: str) -> Iterator[bytes]:
    """A sample cut short, with bytes changed, with a stretch lost and one doubled."""
    data = SAMPLES[name]
    chance = random.Random(zlib.crc32(name.encode()))
    for share in _CUTS:
        yield data[: int(share * len(data))]
    yield from _changed(data, chance)
    if name.endswith(_PACKAGES):
        yield from _changed_inside(data, chance)


def _changed(data: bytes, chance: random.Random) -> Iterator[bytes]:
    for count in _FLIPS:
        flipped = bytearray(data)
        for _ in range(count):
            flipped[chance.randrange(len(data))] = chance.randrange(256)
        yield bytes(flipped)
    start = chance.randrange(len(data))
    end = start + 1 + len(data) // 10
    yield data[:start] + data[end:]
    yield data[:end] + data[start:end] * 3 + data[end:]


def _changed_inside(data: bytes, chance: random.Random) -> Iterator[bytes]:
    """The same done to the parts of a package, which is sound around them."""
    with ZipFile(io.BytesIO(data)) as archive:
        parts: dict[str, bytes | str] = {name: archive.read(name) for name in archive.namelist()}
    for name, part in parts.items():
        if isinstance(part, bytes) and part:
            for changed in chance.sample(list(_changed(part, chance)), 4):
                yield zipped({**parts, name: changed})


def _noise(seed: str, length: int = 2_000) -> bytes:
    return random.Random(seed).randbytes(length)


def _letters(seed: str, length: int = 5_000) -> bytes:
    signs = b"<>{}[]()|*_-=#\"'\\/&;:,.!?@^~`$% \n\tabcxyz0129"
    return bytes(random.Random(seed).choices(signs, k=length))


_SUFFIXES = [suffix for kind in KINDS for suffix in kind.suffixes]
_TEXT_SUFFIXES = [suffix for kind in KINDS if not kind.binary for suffix in kind.suffixes]

CASES: tuple[Case, ...] = (
    *(refused(f"noise{one}", ".", made(_noise, one)) for one in _SUFFIXES),
    *(either(f"signs{one}", made(_letters, one)) for one in _TEXT_SUFFIXES),
)
