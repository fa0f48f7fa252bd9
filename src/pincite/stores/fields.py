"""Where the databases keep what can be filtered by."""

from __future__ import annotations

# Of what can be filtered by, all of these hold a text, the empty one where nothing is said …
TEXTS = {
    "document": "document.id",
    "type": "document.type",
    "modality": "chunk.modality",
    "language": "document.folded_language",
    "project": "document.folded_project",
    "author": "document.folded_author",
    "name": "document.folded_name",
    "path": "document.path",
    "layer": "chunk.folded_layer",
}
# … and these a JSON list of texts.
LISTS = {
    "tag": "document.folded_tags",
    "agent": "document.folded_agents",
    "heading": "chunk.folded_headings",
    "symbol": "chunk.folded_symbols",
    "import": "chunk.folded_imports",
}
OF_CHUNKS = frozenset(("modality", "heading", "layer", "symbol", "import", "text"))
UNFOLDED = frozenset(("document", "path"))


def storable(value: str) -> str:
    """Half a character, from a broken command line say, is in no stored text; nor is a NUL."""
    whole = value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return whole.replace("\0", "\ufffd")
