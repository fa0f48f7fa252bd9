"""What is to know of a programming language; the languages themselves are in languages.py."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tree_sitter import Language as Grammar

from pincite.reading.code.naming import Naming


@dataclass(frozen=True, slots=True)
class Language:
    """What is to know of a language to find the definitions of a file."""

    name: str
    type: str  # what `--type` takes
    grammar: Grammar
    suffixes: tuple[str, ...]
    definitions: Mapping[str, Naming]
    wrappers: frozenset[str]  # hold one definition and belong to it: `export`, decorators
    passages: frozenset[str]  # hold definitions but are none: `if`, `try`, `#ifdef`
    leads: frozenset[str]  # stand before a definition and go with it
    imports: str  # a query; what it calls `module` is a name, `quoted` a string, `use` Rust's
    noise: re.Pattern[str] | None = None  # what the grammar stumbles over; it is read as blanks
