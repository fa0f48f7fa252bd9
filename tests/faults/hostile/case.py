"""What a hostile file is, and what must become of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec

from pincite.records import OmissionReason


@dataclass(frozen=True)
class Bait:
    """What a file may try to reach: an address that is listened to, and a file with a secret."""

    url: str
    path: str


Build = Callable[[Bait], bytes]
P = ParamSpec("P")


@dataclass(frozen=True)
class Refused:
    """It cannot be read, for this reason."""

    reason: str  # a regular expression, found in the message


@dataclass(frozen=True)
class Read:
    """It is read, and its text has this in it and not that."""

    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    flags: frozenset[OmissionReason] = frozenset()  # all that must be marked as hidden
    notes: str = ""  # a regular expression, found in what is said to be missing


@dataclass(frozen=True)
class Either:
    """It is read or refused, as the parser likes; but nothing worse."""


@dataclass(frozen=True)
class Stopped:
    """It is refused, by the wall if need be: a parser that is not ours unfolds it."""


@dataclass(frozen=True)
class Case:
    """One hostile file."""

    name: str
    expected: Refused | Read | Either | Stopped
    build: Build


def made(build: Callable[P, bytes], *arguments: P.args, **keywords: P.kwargs) -> Build:
    """What makes a file of these arguments and needs no bait."""
    return lambda _: build(*arguments, **keywords)


def refused(name: str, reason: str, build: Build) -> Case:
    """A file that must be refused for this reason, by its reader and not by the wall."""
    return Case(name, Refused(reason), build)


def read(
    name: str,
    build: Build,
    *,
    has: str | tuple[str, ...] = (),
    lacks: str | tuple[str, ...] = (),
    flags: OmissionReason | None = None,
    notes: str = "",
) -> Case:
    """A file that must be read."""
    flagged = frozenset([flags] if flags else [])
    return Case(name, Read(_texts(has), _texts(lacks), flagged, notes), build)


def stopped(name: str, build: Build) -> Case:
    """A file that must not be read, whoever refuses it."""
    return Case(name, Stopped(), build)


def either(name: str, build: Build) -> Case:
    """A file of which nobody can say what is in it."""
    return Case(name, Either(), build)


def _texts(one_or_more: str | tuple[str, ...]) -> tuple[str, ...]:
    return (one_or_more,) if isinstance(one_or_more, str) else one_or_more
