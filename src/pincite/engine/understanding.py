"""What helps to understand the questions of a library: its glossary, a language model, today."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from pincite.engine.models import Embedders
from pincite.errors import FileUnreadable
from pincite.ports import Generator
from pincite.retrieve.understand.flow import Aids
from pincite.retrieve.understand.glossary import NO_GLOSSARY, Glossary, parse_glossary
from pincite.settings import DEFAULT_MAX_FILE_BYTES, GLOSSARY_FILE, SearchSettings, SourceSettings
from pincite.sources import Folder


def aids_for(root: Path | None, settings: SearchSettings, embedders: Embedders) -> Aids:
    """What the settings ask for, of the library in this folder, if it has one."""
    return Aids(
        glossary=_glossary(root) if root and settings.glossary else NO_GLOSSARY,
        generator=_generator(settings.expand, embedders),
        today=datetime.now().astimezone().date(),
    )


def _generator(name: str, embedders: Embedders) -> Generator | None:
    return embedders.generator(name, somebody_waits=True) if name else None


def _glossary(root: Path) -> Glossary:
    """The library's own; one that cannot be read is told, and the search goes on without it."""
    if not (root / GLOSSARY_FILE).is_file():
        return NO_GLOSSARY
    folder = Folder(root, SourceSettings(max_file_bytes=DEFAULT_MAX_FILE_BYTES))
    try:
        data = folder.read(GLOSSARY_FILE)
    except FileUnreadable as error:
        return Glossary(notes=(f"{GLOSSARY_FILE} {error}",))
    return parse_glossary(data.decode("utf-8", "replace"), GLOSSARY_FILE)
