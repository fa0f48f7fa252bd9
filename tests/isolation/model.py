"""Who may see what, as plain Python: what a team's database must agree with, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from pincite.records import (
    LEVELS,
    DocumentId,
    EmbeddedDocument,
    Failure,
    Generations,
    MemberRole,
    Metadata,
)

HIGHEST = len(LEVELS) - 1


@dataclass
class Held:
    """A version of a document. Its level may be higher than its label: raised elsewhere."""

    document: EmbeddedDocument
    level: int
    upload: tuple[str, str] | None = None  # who handed in its file, and the file's checksum

    @property
    def path(self) -> str:
        return self.document.document.path

    @property
    def id(self) -> DocumentId:
        return self.document.document.id

    @property
    def text(self) -> str:
        return self.document.document.text


@dataclass
class Kept:
    """A file as it was handed in."""

    path: str
    text: str
    level: int
    labels: dict[str, Any]


@dataclass
class Generation:
    """One index of a project."""

    documents: dict[str, Held] = field(default_factory=dict)  # by path
    past: list[Held] = field(default_factory=list)  # oldest first
    problems: list[Failure] = field(default_factory=list)

    def seen(self, clearance: int) -> list[Held]:
        return [one for one in self.documents.values() if one.level <= clearance]

    def past_seen(self, clearance: int) -> list[Held]:
        return [one for one in self.past if one.level <= clearance]

    def uploads(self) -> dict[tuple[str, str], Held]:
        return {one.upload: one for one in self.documents.values() if one.upload is not None}


@dataclass
class Project:
    """A project with its members, its generations and the files that were handed in."""

    owner: str
    name: str
    members: dict[str, tuple[MemberRole, int]] = field(default_factory=dict)
    numbers: Generations = field(default_factory=Generations)
    generations: dict[int, Generation] = field(default_factory=dict)
    originals: dict[tuple[str, str], Kept] = field(default_factory=dict)  # by user and checksum

    def __post_init__(self) -> None:
        self.members[self.owner] = ("admin", HIGHEST)
        self.generations[1] = Generation()

    @property
    def live(self) -> Generation:
        return self.generations[self.numbers.live]

    def clearance(self, user: str) -> int:
        return self.members[user][1]

    def sees_all(self, user: str) -> bool:
        return self.clearance(user) == HIGHEST

    def may_write(self, user: str) -> bool:
        return self.members[user][0] in ("writer", "admin")

    def is_admin(self, user: str) -> bool:
        return self.members[user][0] == "admin"

    def may_remake(self, user: str) -> bool:
        """Whether a user may do what concerns all documents."""
        return self.may_write(user) and self.sees_all(user)

    def versions(self) -> Iterator[Held]:
        """Everything that is or was in any generation."""
        for generation in self.generations.values():
            yield from generation.documents.values()
            yield from generation.past

    def originals_seen(self, user: str) -> dict[tuple[str, str], Kept]:
        clearance = self.clearance(user)
        return {key: one for key, one in self.originals.items() if one.level <= clearance}

    def add(self, number: int, held: Held) -> None:
        """A document comes, and whatever is of it elsewhere is guarded as it is."""
        self.generations[number].documents[held.path] = held
        for one in self.versions():
            if one.path == held.path and one.level < held.level:
                one.level = held.level
        for generation in self.generations.values():
            there = generation.documents.get(held.path)
            if there is not None and there.upload in self.originals:
                kept = self.originals[there.upload]
                kept.level = max(kept.level, held.level)

    def replace(self, number: int, held: Held) -> None:
        """A document comes; the one at its path is a thing of the past."""
        self.remove(number, held.path)
        self.add(number, held)

    def remove(self, number: int, path: str) -> None:
        """A document goes, and is a thing of the past."""
        generation = self.generations[number]
        if path in generation.documents:
            gone = generation.documents.pop(path)
            generation.past.append(replace(gone, upload=None))

    def relabel(
        self, held: Held, about: Metadata, level: int, labels: dict[str, Any], clearance: int
    ) -> None:
        """Another label for a document wherever it is seen, and for the file it was made of."""
        for number, generation in self.generations.items():
            there = generation.documents.get(held.path)
            if there is not None and there.id == held.id and there.level <= clearance:
                document = replace(there.document.document, metadata=about)
                made = replace(there.document, document=document)
                self.add(number, Held(made, level, there.upload))
        if held.upload in self.originals:
            self.originals[held.upload] = replace(
                self.originals[held.upload], level=level, labels=labels
            )

    def delete(self, held: Held, clearance: int) -> None:
        """A live document goes with its file and its past, as far as whoever deletes it sees."""
        if held.upload is not None:
            self.originals.pop(held.upload, None)
        for generation in self.generations.values():
            generation.past = [
                one for one in generation.past if one.path != held.path or one.level > clearance
            ]
            there = generation.documents.get(held.path)
            if there is not None and there.id == held.id and there.level <= clearance:
                del generation.documents[held.path]

    def left_to_make(self, user: str, number: int) -> dict[tuple[str, str], Kept]:
        """The files that have no document in a generation, as far as the user sees."""
        clearance = self.clearance(user)
        made = {one.upload for one in self.generations[number].seen(clearance)}
        return {key: one for key, one in self.originals_seen(user).items() if key not in made}

    def begin_next(self) -> None:
        self.numbers = self.numbers.begun()
        self.generations.setdefault(self.numbers.last, Generation())

    def taken_over(self) -> list[tuple[Held, tuple[str, str] | None]]:
        """The documents of the next generation, and whose files they are of by the live one."""
        return [
            (made, held.upload)
            for path, made in self.generations[self.numbers.next or 0].documents.items()
            if (held := self.live.documents.get(path)) is not None and held.id == made.id
        ]

    def would_lose(self, other: int) -> bool:
        """Whether a generation lacks a file that was handed in, or has one that is gone."""
        documents = self.generations[other].documents.values()
        uploads = {one.path: one.upload for one in documents}
        if other == self.numbers.next:
            uploads |= {made.path: upload for made, upload in self.taken_over()}
        return set(uploads.values()) - {None} != self.originals.keys()

    def switch(self) -> None:
        for made, upload in self.taken_over():
            made.upload = upload
        self.numbers = self.numbers.switched()
        self.forget_unkept()

    def forget_unkept(self) -> None:
        """Generations that nobody can come back to are gone."""
        kept = self.numbers.kept
        self.generations = {n: one for n, one in self.generations.items() if n in kept}
