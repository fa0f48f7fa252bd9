"""The reference store."""

from pincite.stores.memory.store import MemoryStore

__all__ = ["MemoryStore"]
