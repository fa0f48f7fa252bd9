"""Which embedding model a library works with."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from pathlib import Path

from pincite.errors import ModelMismatch
from pincite.ports import Embedder
from pincite.records import LibraryHeader
from pincite.settings import DEFAULT_MODEL, DEFAULT_POLICY, INGESTION_VERSION, policy_named


@dataclass(frozen=True, kw_only=True)
class ModelAccess:
    """Where models are found. The key is never printed or stored."""

    folder: Path | None = None  # of local models; None is the user's own data folder
    base_url: str | None = None  # of an OpenAI-compatible service
    api_key: str | None = field(default=None, repr=False)


class Embedders:
    """Embedders by name, each opened once."""

    def __init__(self, access: ModelAccess) -> None:
        self._access = access
        self._opening = threading.Lock()
        self._opened: dict[str, Embedder] = {}

    def named(self, name: str) -> Embedder:
        """The embedder a user names after `--model`."""
        from pincite.models.catalog import default_models_folder, open_embedder

        with self._opening:
            if name not in self._opened:
                self._opened[name] = open_embedder(
                    name,
                    models_folder=self._access.folder or default_models_folder(),
                    base_url=self._access.base_url,
                    api_key=self._access.api_key,
                )
            return self._opened[name]

    def of(self, header: LibraryHeader) -> Embedder:
        """The embedder an index was filled with; ModelMismatch where it is another one now."""
        embedder = self.named(header.model.name)
        stored, at_hand = header.model, embedder.card
        if (stored.fingerprint, stored.dimensions) != (at_hand.fingerprint, at_hand.dimensions):
            raise ModelMismatch(
                f"{stored.name} ({stored.fingerprint}, {stored.dimensions} dimensions)",
                f"{at_hand.name} ({at_hand.fingerprint}, {at_hand.dimensions} dimensions)",
            )
        return embedder


def header_for(
    current: LibraryHeader | None,
    embedders: Embedders,
    *,
    name: str,
    policy: str | None,
    model: str | None,
) -> LibraryHeader:
    """How an index is to be made: as asked for, else as it was, else by default."""
    if current and not model:
        embedder = embedders.of(current)
        model = current.model.name
    else:
        model = model or DEFAULT_MODEL
        embedder = embedders.named(model)
    return LibraryHeader(
        name=name,
        policy=policy_named(policy or (current.policy if current else DEFAULT_POLICY)).name,
        model=replace(embedder.card, name=model),
        ingestion_version=INGESTION_VERSION,
    )
