"""The engine: a library opened for work. Only here are concrete parts named."""

from pincite.engine.eval_wishes import EvalWishes, Gate
from pincite.engine.folders import INDEX_FOLDER, find_library
from pincite.engine.library import Library
from pincite.engine.models import ModelAccess
from pincite.engine.opening import open_library

__all__ = [
    "INDEX_FOLDER",
    "EvalWishes",
    "Gate",
    "Library",
    "ModelAccess",
    "find_library",
    "open_library",
]
