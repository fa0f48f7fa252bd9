"""Libraries whose embedding models are told apart by their dimensions: `hashing:64`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pincite.engine import Library, ModelAccess
from pincite.engine.homes import FolderHome
from pincite.engine.models import Embedders
from pincite.errors import ModelRefused
from pincite.models.hashing import HashingEmbedder
from pincite.ports import Embedder
from pincite.vectors import Vector

OLD, NEW = "hashing:256", "hashing:64"
BACKWARDS = "backwards:64"  # looks for the opposite of what is asked
REFUSING = "refusing:64"  # embeds nothing about rotors


class HashingModels(Embedders):
    """Every number of dimensions is a model with a space of its own."""

    def __init__(self) -> None:
        super().__init__(ModelAccess())

    def named(self, name: str) -> Embedder:
        kind, _, dimensions = name.partition(":")
        if kind == "backwards":
            return Backwards(int(dimensions))
        return (Refusing if kind == "refusing" else HashingEmbedder)(int(dimensions))


class Backwards(HashingEmbedder):
    def embed_question(self, text: str) -> Vector:
        return -super().embed_question(text)


class Refusing(HashingEmbedder):
    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        if any("rotor" in text for text in texts):
            raise ModelRefused("nothing about rotors")
        return super().embed_passages(texts)


def open_with_models(root: Path) -> Library:
    return Library(root, HashingModels(), FolderHome(root, root / ".index"))
