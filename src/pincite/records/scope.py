"""Who is asking, and of what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pincite.errors import SettingsError
from pincite.records.conditions import LEVELS

MemberRole = Literal["reader", "writer", "admin"]
MEMBER_ROLES: tuple[MemberRole, ...] = ("reader", "writer", "admin")
"""What a member of a project may do: read it; change its documents, too; share it, too."""

_LONGEST = 200  # characters of a name


@dataclass(frozen=True, slots=True)
class Scope:
    """A user and a project: what a team's store is opened for. Neither can be left out.

    The project of another user is written with its owner: `ada/plans`.
    """

    user: str
    project: str
    clearance: str = ""  # see no more than this; the user's own clearance where empty

    def __post_init__(self) -> None:
        refuse_bad_name("user", self.user)
        if self.clearance not in ("", *LEVELS):
            raise SettingsError(f"a clearance is one of: {', '.join(LEVELS)}")
        for part in self.project.split("/", 1):
            refuse_bad_name("project", part)

    @property
    def owner(self) -> str:
        """Whose project it is."""
        owner, slash, _ = self.project.partition("/")
        return owner if slash else self.user

    @property
    def name(self) -> str:
        """The project's own name."""
        return self.project.rpartition("/")[2] if "/" in self.project else self.project

    @property
    def full_name(self) -> str:
        """The project as everybody may call it, and as messages do: `ada/plans`."""
        return f"{self.owner}/{self.name}"


def refuse_bad_name(what: str, name: str) -> None:
    """A name is something that can be seen and typed, on one line."""
    if not name.strip() or len(name) > _LONGEST or not name.isprintable() or "/" in name:
        raise SettingsError(
            f"{name!r} cannot be the name of a {what}: 1 to {_LONGEST} characters that can be "
            "seen, without a slash"
        )
    if name in (".", ".."):
        raise SettingsError(f"{name!r} cannot be the name of a {what}: it names a folder")
    if name != name.strip():
        raise SettingsError(f"the name of a {what} must not begin or end with a space: {name!r}")
