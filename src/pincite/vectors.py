"""Unit vectors: checking, normalising, and their bytes on disk."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pincite.errors import ModelInvalid

Vector = NDArray[np.float32]


def unit(values: Sequence[float] | Vector, *, dimensions: int) -> Vector:
    """The vector scaled to length 1, or ModelInvalid where it could poison a ranking.

    sqlite-vec stores NaN, infinite and zero vectors without a word and then ranks wrongly, so
    every vector passes here before it is stored or searched with.
    """
    try:
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelInvalid(f"the model gave something that is not a vector: {error}") from error
    if vector.shape != (dimensions,):
        raise ModelInvalid(
            f"the model gave a vector of shape {vector.shape}, {dimensions} numbers were expected"
        )
    if not np.isfinite(vector).all():
        raise ModelInvalid("the model gave a vector with NaN or infinite numbers")
    length = float(np.linalg.norm(vector))
    if not np.isfinite(length) or length < 1e-12:
        raise ModelInvalid("the model gave a zero vector")
    return (vector / length).astype(np.float32)


def to_bytes(vector: Vector) -> bytes:
    """Little-endian float32, as sqlite-vec wants it."""
    return vector.astype("<f4").tobytes()


def from_bytes(blob: bytes) -> Vector:
    """The inverse of `to_bytes`."""
    return np.frombuffer(blob, dtype="<f4").astype(np.float32)
