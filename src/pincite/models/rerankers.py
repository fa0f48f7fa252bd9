"""How a name becomes a reranker. Imports nothing heavy by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pincite.errors import ModelError, SettingsError
from pincite.ports import Embedder, Reranker

CHOICES = "maxsim, service:MODEL, or the path of a folder with a cross-encoder"


def open_reranker(
    spec: str,
    *,
    embedder: Callable[[], Embedder],
    base_url: str | None,
    api_key: str | None,
    seconds: float,
) -> Reranker:
    """The reranker a user names; a service is waited for only so long. Files are opened later."""
    match spec.partition(":"):
        case ("maxsim", "", ""):
            return _maxsim(embedder())
        case ("service", ":", model) if model:
            from pincite.models.remote_rerank import RemoteReranker
            from pincite.models.service import Patience

            patience = Patience(request_seconds=seconds, retries=1, total_seconds=seconds)
            return RemoteReranker(
                model=model, base_url=base_url, api_key=api_key, patience=patience
            )
        case _ if spec and Path(spec).expanduser().is_dir():
            from pincite.models.cross_encoder import CrossEncoder

            return CrossEncoder(Path(spec).expanduser().resolve())
    raise SettingsError(f"unknown reranker {spec!r}; choose one of: {CHOICES}")


class Unusable:
    """Stands in for a reranker whose model cannot be opened, and says why when it is asked."""

    batch = 1

    def __init__(self, why: ModelError) -> None:
        self._why = why

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """Never any."""
        raise self._why


def _maxsim(embedder: Embedder) -> Reranker:
    from pincite.models.local import LocalEmbedder
    from pincite.models.maxsim import MaxSim

    if not isinstance(embedder, LocalEmbedder):
        raise SettingsError(
            f"maxsim needs vectors of single tokens, which {embedder.card.name} does not give; "
            f"choose one of: {CHOICES}"
        )
    return MaxSim(embedder)
