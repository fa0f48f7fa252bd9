"""The containers of Office before 2007 and of Outlook → Content: what is inside decides."""

from __future__ import annotations

from dataclasses import replace

from pincite.errors import FileUnreadable
from pincite.reading.office.ole import OleContainer, ole_facts
from pincite.reading.office.sheets import ENCRYPTED, clean_xls, read_workbook
from pincite.reading.office.word97 import read_word97
from pincite.reading.source_file import SourceFile
from pincite.reading.web.outlook import read_message
from pincite.records import Content

_WORKBOOKS = ("Workbook", "Book")
_MESSAGE = "__properties_version1.0"


def read(file: SourceFile) -> Content:
    """Read an old Word document or workbook, or an Outlook message."""
    container = OleContainer(file.data)
    if container.has("EncryptedPackage"):
        raise FileUnreadable(ENCRYPTED)
    if container.has(_MESSAGE):
        return read_message(container)
    if container.has("WordDocument"):
        return _with_facts(read_word97(container), container)
    for name in _WORKBOOKS:
        if container.has(name):
            clean = clean_xls(container.read(name))
            return _with_facts(read_workbook(replace(file, data=clean)), container)
    if container.has("PowerPoint Document"):
        raise FileUnreadable(
            "is an old PowerPoint presentation (.ppt); save it as .pptx to index it"
        )
    raise FileUnreadable("is an OLE container of a kind that cannot be read")


def _with_facts(content: Content, container: OleContainer) -> Content:
    """The content with what the container says about the file."""
    title, said = ole_facts(container)
    metadata = replace(said, pages=content.metadata.pages, notes=content.metadata.notes)
    return replace(content, title=content.title or title, metadata=metadata)
