"""A document's form → the document, with every value checked before it is believed.

An archive may come from anywhere, and its checksums say only that it is as somebody wrote it.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections.abc import Iterable
from itertools import pairwise

import msgspec
import numpy as np

from pincite.errors import ModelInvalid, SettingsError
from pincite.records import EmbeddedDocument, LibraryHeader, Original, recipe_lacking
from pincite.settings import policy_named
from pincite.stores.archive.forms import (
    PLACE_ROWS,
    ChunkForm,
    DocumentForm,
    DocumentLine,
    OriginalLine,
    Stretch,
)
from pincite.stores.codec import embedded_from_json
from pincite.vectors import unit

_MOST_DIMENSIONS = 65_536
_MOST_COUNT = 1 << 53  # of lines, pages, tokens
_MOST_REPEATED = 8  # times the text: chunks overlap, but none of ours by more than half
_PLACE_BYTES = 128  # of the row that says where one word stands
_CHECKSUM = re.compile(r"[0-9a-f]{64}")
_FINGERPRINT = re.compile(r"[0-9a-f]{32}")
_UNREADABLE = (ValueError, TypeError, KeyError, IndexError, OverflowError, zlib.error)


class Unsound(Exception):
    """Something in an archive cannot be as it says; the message completes `it …`."""


def check_header(header: LibraryHeader) -> None:
    """Refuse what no index can be made with."""
    try:
        policy_named(header.policy)
    except SettingsError as error:
        raise Unsound(f"was cut by a policy that this pincite does not know: {error}") from error
    if not 1 <= header.model.dimensions <= _MOST_DIMENSIONS:
        raise Unsound(f"has vectors of {header.model.dimensions} dimensions")
    if not header.name or header.max_file_bytes < 1 or header.model.token_limit < 1:
        raise Unsound("does not say how its library is made")


def sound_document(line: DocumentLine, header: LibraryHeader) -> EmbeddedDocument:
    """A document of today, with a vector for each window, and windows but for what it lacks."""
    form = line.document
    if form["library"] != header.name:
        raise Unsound(f"holds {form['path']!r} of another library")
    embedded = _sound(form)
    if line.recipe != recipe_lacking(line.recipe, embedded.lacking):
        raise Unsound(f"holds {form['path']!r} with a chunk that has no vector")
    for part in embedded.chunks:
        for window in part.windows:
            _check_vector(window.vector, form["path"], header.model.dimensions)
    return embedded


def sound_version(form: DocumentForm) -> EmbeddedDocument:
    """A version of a document that is gone; its vectors are, too."""
    if any(chunk["windows"] for chunk in form["chunks"]):
        raise Unsound(f"holds vectors of {form['path']!r}, which is gone")
    return _sound(form)


def sound_original(line: OriginalLine) -> Original:
    """A file that was handed in, whose bytes are those that its checksum names."""
    if hashlib.sha256(line.data).hexdigest() != line.checksum:
        raise Unsound(f"holds another file than it says for {line.path!r}")
    return Original(line.path, line.checksum, line.labels, line.data, line.owner)


def _sound(form: DocumentForm) -> EmbeddedDocument:
    path, length = form["path"], len(form["text"])
    if not is_inside(path):
        raise Unsound(f"names a document {path!r}, which is no path inside a library")
    if not _CHECKSUM.fullmatch(form["checksum"]) or form["size"] < 0:
        raise Unsound(f"does not say which file {path!r} is")
    chunks = form["chunks"]
    # Before anything is cut: slices that overlap without end would fill the memory.
    held = sum(abs(chunk["end"] - chunk["start"]) for chunk in chunks)
    if held > _MOST_REPEATED * length or not (
        _are_inside(form["sections"], length)
        and all(_is_chunk(chunk, length) for chunk in chunks)
        and all(one["start"] < other["start"] for one, other in pairwise(chunks))
    ):
        raise Unsound(f"holds {path!r} with parts that lie outside its text, or not in order")
    try:
        embedded = embedded_from_json(dict(form))
    except _UNREADABLE as error:
        raise Unsound(f"holds {path!r} with a value that cannot be read ({error})") from error
    ids = [part.chunk.id for part in embedded.chunks]
    if form["id"] != embedded.document.id or ids != [chunk["id"] for chunk in chunks]:
        raise Unsound(f"holds {path!r} under an id that is not its own")
    if not all(0 <= one.start <= one.end <= length for one in embedded.document.places):
        raise Unsound(f"holds {path!r} with places outside its text")
    return embedded


def is_inside(path: str) -> bool:
    """Whether a path leads to something below the folder that it is taken from."""
    parts = path.split("/")
    return "\0" not in path and not any(part in ("", ".", "..") for part in parts)


def _is_chunk(chunk: ChunkForm, length: int) -> bool:
    stretches = [
        (chunk["start"], chunk["end"]),
        *((start, end) for start, end, _ in chunk["omissions"]),
        *((start, end) for start, end, _, _ in chunk["windows"]),
    ]
    counts = [chunk["tokens"], *(count for count in chunk["locator"].values() if count is not None)]
    return (
        all(0 <= start <= end <= length for start, end in stretches)
        and _are_inside(chunk["sections"], length)
        and all(isinstance(count, (int, float)) and 0 <= count < _MOST_COUNT for count in counts)
        and all(_FINGERPRINT.fullmatch(window[2]) for window in chunk["windows"])
        and _are_places(chunk["places"], chunk["end"] - chunk["start"])
    )


def _are_inside(sections: Iterable[Stretch], length: int) -> bool:
    return all(
        0 <= start <= end <= length and 0 <= level < _MOST_COUNT
        for _, level, start, end in sections
    )


def _are_places(packed: str, length: int) -> bool:
    """Whether they can be unpacked, into not more than words of so much text may have."""
    if not packed:
        return True
    unpacking = zlib.decompressobj()
    try:
        rows = unpacking.decompress(base64.b64decode(packed), _PLACE_BYTES * (length + 8))
        msgspec.json.decode(rows, type=PLACE_ROWS)
    except (*_UNREADABLE, msgspec.MsgspecError):
        return False
    return unpacking.eof


def _check_vector(vector: np.ndarray, path: str, dimensions: int) -> None:
    try:
        unit(vector, dimensions=dimensions)
    except ModelInvalid as error:
        raise Unsound(f"holds {path!r} with a vector that is none: {error}") from error
    if not np.isclose(np.linalg.norm(vector.astype(np.float64)), 1, atol=1e-3):
        raise Unsound(f"holds {path!r} with a vector that is not of length 1")
