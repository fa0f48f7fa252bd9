"""Encryption as PDF 1.3 has it (PDF 32000-1, 7.6.3): 40 bits, for files that tests make."""

from __future__ import annotations

import hashlib

_PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
_ALLOWED = -4  # everything
FILE_ID = b"0" * 16


def encrypted(data: bytes, password: str, number: int) -> bytes:
    """A stream that is the object of this number."""
    salted = _key(password) + number.to_bytes(3, "little") + b"\0\0"
    return _rc4(hashlib.md5(salted).digest()[:10], data)


def encryption_entries(password: str) -> str:
    """The dictionary that says how the file is encrypted, by which the password is checked."""
    check = _rc4(_key(password), _PADDING).hex()
    owner = _owner(password).hex()
    return f"<< /Filter /Standard /V 1 /R 2 /O <{owner}> /U <{check}> /P {_ALLOWED} >>"


def _padded(password: str) -> bytes:
    return (password.encode("latin-1") + _PADDING)[:32]


def _owner(password: str) -> bytes:
    user = _padded(password)
    return _rc4(hashlib.md5(user).digest()[:5], user)


def _key(password: str) -> bytes:
    allowed = _ALLOWED.to_bytes(4, "little", signed=True)
    salted = _padded(password) + _owner(password) + allowed + FILE_ID
    return hashlib.md5(salted).digest()[:5]


def _rc4(key: bytes, data: bytes) -> bytes:
    state = list(range(256))
    other = 0
    for index in range(256):
        other = (other + state[index] + key[index % len(key)]) % 256
        state[index], state[other] = state[other], state[index]
    out = bytearray()
    index = other = 0
    for byte in data:
        index = (index + 1) % 256
        other = (other + state[index]) % 256
        state[index], state[other] = state[other], state[index]
        out.append(byte ^ state[(state[index] + state[other]) % 256])
    return bytes(out)
