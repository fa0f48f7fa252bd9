"""The engine: a library opened for work. Only here are concrete parts named."""

from pincite.engine.eval_wishes import EvalWishes, Gate
from pincite.engine.folders import INDEX_FOLDER, find_library, has_own_index
from pincite.engine.library import Library
from pincite.engine.models import ModelAccess, Profile
from pincite.engine.opening import default_store, open_library, remembered_place, trust

__all__ = [
    "INDEX_FOLDER",
    "EvalWishes",
    "Gate",
    "Library",
    "ModelAccess",
    "Profile",
    "default_store",
    "find_library",
    "has_own_index",
    "open_library",
    "remembered_place",
    "trust",
]
