"""Libraries whose embedding models are told apart by their dimensions: `hashing:64`."""

from __future__ import annotations

from pathlib import Path

from pincite.engine import Library, ModelAccess
from pincite.engine.homes import FolderHome
from pincite.engine.models import Embedders
from pincite.models.hashing import HashingEmbedder
from pincite.ports import Embedder
from pincite.vectors import Vector

OLD, NEW = "hashing:256", "hashing:64"
BACKWARDS = "backwards:64"  # looks for the opposite of what is asked


class HashingModels(Embedders):
    """Every number of dimensions is a model with a space of its own."""

    def __init__(self) -> None:
        super().__init__(ModelAccess())

    def named(self, name: str) -> Embedder:
        kind, _, dimensions = name.partition(":")
        if kind == "backwards":
            return Backwards(int(dimensions))
        return HashingEmbedder(int(dimensions))


class Backwards(HashingEmbedder):
    def embed_question(self, text: str) -> Vector:
        return -super().embed_question(text)


def open_with_models(root: Path) -> Library:
    return Library(root, HashingModels(), FolderHome(root, root / ".index"))
