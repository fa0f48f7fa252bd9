"""The labels file of a library: what its owner says of files that cannot say it themselves.

`pincite-labels.json` at the root gives projects, tags, agents, dates and confidentiality to
PDFs, spreadsheets and whole folders. Its form is described in docs/filters.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Literal

import msgspec

from pincite.errors import FileUnreadable
from pincite.records import LEVELS, Metadata, level_of
from pincite.text.dates import day_span

_LARGEST = 1_000_000  # bytes
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class _Label(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    files: str | list[str]
    name: str | None = None
    project: str | None = None
    confidentiality: Literal["public", "internal", "confidential", "restricted"] | None = None
    author: str | None = None
    date: str | None = None
    language: str | None = None
    tags: list[str] = []
    agents: list[str] = []

    def is_of(self, path: str) -> bool:
        patterns = [self.files] if isinstance(self.files, str) else self.files
        # A folder stands for all that is in it.
        return any(
            path.startswith(one)
            if one.endswith("/")
            else fnmatchcase(path, one.replace("[", "[[]"))
            for one in patterns
        )


class _Form(msgspec.Struct, forbid_unknown_fields=True):
    version: Literal[1]
    labels: list[_Label] = []


@dataclass(frozen=True)
class LabelsFile:
    """What a labels file says, in its order."""

    labels: Sequence[_Label] = ()

    @property
    def said(self) -> dict[str, Any]:
        """All that is said, whatever it is said of; what is said later wins."""
        told = (msgspec.to_builtins(label) for label in self.labels)
        return {name: one for each in told for name, one in each.items() if name != "files"}

    def labelled(self, path: str, metadata: Metadata) -> Metadata:
        """The file's own metadata with what is said of it; what is said later wins.

        Tags and agents are added to its own. Of two levels of confidentiality the stricter holds,
        whoever says it.
        """
        for label in self.labels:
            if label.is_of(path):
                said = {
                    name: value
                    for name in ("name", "project", "author", "date", "language")
                    if (value := getattr(label, name)) is not None
                }
                confidentiality = metadata.confidentiality
                if label.confidentiality is not None:
                    own = 0 if confidentiality is None else level_of(confidentiality)
                    confidentiality = LEVELS[max(own, level_of(label.confidentiality))]
                metadata = replace(
                    metadata,
                    tags=tuple(dict.fromkeys((*metadata.tags, *label.tags))),
                    agents=tuple(dict.fromkeys((*metadata.agents, *label.agents))),
                    confidentiality=confidentiality,
                    **said,
                )
        return metadata


def parse_labels(data: bytes) -> LabelsFile:
    """What the file says; FileUnreadable in plain words otherwise."""
    if len(data) > _LARGEST:
        raise FileUnreadable(f"is larger than {_LARGEST:,} bytes")
    try:
        form = msgspec.json.decode(data.removeprefix(_BYTE_ORDER_MARK), type=_Form)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FileUnreadable(f"is not as docs/filters.md says: {error}") from error
    for label in form.labels:
        if label.date is not None and day_span(label.date) is None:
            raise FileUnreadable(f"has a date that is none: {label.date!r}; write 2024-05-31")
    return LabelsFile(form.labels)
