"""Compressed data that stands for much more, made without ever holding all of it."""

from __future__ import annotations

import zlib
from functools import cache

_BLOCK = 1 << 20
EXPANDED = 300  # blocks of a megabyte, in every bomb


@cache
def deflated(letter: bytes = b" ", blocks: int = EXPANDED) -> bytes:
    """So many megabytes of one letter, as `deflate` writes them, without a header."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    one = packer.compress(letter * _BLOCK) + packer.flush(zlib.Z_FULL_FLUSH)
    return one * blocks + b"\x03\0"


@cache
def zlib_bomb(letter: bytes = b" ", blocks: int = EXPANDED) -> bytes:
    """The same with the header and the checksum that zlib has."""
    checksum, block = 1, letter * _BLOCK
    for _ in range(blocks):
        checksum = zlib.adler32(block, checksum)
    return b"\x78\xda" + deflated(letter, blocks) + checksum.to_bytes(4)


@cache
def checksum_of(letter: bytes = b" ", blocks: int = EXPANDED) -> int:
    """What a zip archive has to say of it."""
    checksum, block = 0, letter * _BLOCK
    for _ in range(blocks):
        checksum = zlib.crc32(block, checksum)
    return checksum


def size_of(blocks: int = EXPANDED) -> int:
    """How many bytes it unfolds to."""
    return blocks * _BLOCK
