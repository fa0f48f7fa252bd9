"""The engine: a library opened for work. Only here are concrete parts named."""

from pincite.engine.library import Library, find_library, open_library
from pincite.engine.models import ModelAccess

__all__ = ["Library", "ModelAccess", "find_library", "open_library"]
