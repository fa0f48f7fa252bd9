"""What an index wants beyond being read needs the user's consent: it may come from a stranger.

Consent is given for one place and one request, and remembered in the user's own configuration
folder, where nothing that is unpacked, cloned or shared can write. What users name themselves, in a
command, a program, their settings or the environment, needs no other consent.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, field
from pathlib import Path

from pincite.engine.folders import INDEX_FOLDER
from pincite.errors import ConsentNeeded, SettingsError
from pincite.files import replace_file
from pincite.text.printable import printable

_SENTENCES = {
    "owner": "belongs to user {}",
    "connect": "wants to connect to {}",
    "start": "wants to start the PostgreSQL server in {}",
    "send": "wants to send your documents and questions to {}",
    "load": "wants to load the model in {}",
    "agent": "brings instructions for language models, the agent {}",
    "admit": "wants to let in whoever holds one of its API keys",
}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, order=True)
class Request:
    """One thing that an index wants."""

    kind: str
    what: str

    def __str__(self) -> str:
        shown = re.sub(r"(sha256 [0-9a-f]{16})[0-9a-f]{48}", r"\1…", self.what)
        return printable(_SENTENCES.get(self.kind, "{}").format(shown))


Allowed = frozenset[tuple[str, Request]]
Ask = Callable[[Path, tuple[Request, ...]], bool]


def refuse(place: Path, requests: tuple[Request, ...]) -> bool:
    """The answer where nobody can be asked."""
    return False


@dataclass(frozen=True)
class Consent:
    """What the user allows to the index of one folder."""

    place: Path
    ask: Ask = refuse
    _given: set[Request] = field(default_factory=set)  # in this process, whether remembered or not

    def require(self, *requests: Request) -> None:
        """Go on where all of it is allowed, or is when the user is asked; else ConsentNeeded."""
        lacking = tuple(one for one in requests if not self.allows(one))
        if lacking and not self.ask(self.place, lacking):
            raise ConsentNeeded(str(self.place), told(lacking))
        self.allow(*lacking)

    def allows(self, request: Request) -> bool:
        """Whether this is allowed, without asking."""
        return request in self._given or (str(self.place), request) in allowed()

    def allow(self, *requests: Request) -> None:
        """Remember what the user allows. Where that fails, they are asked again another time."""
        if self._given.issuperset(requests):
            return
        self._given.update(requests)
        try:
            _change(lambda known: known | {(str(self.place), one) for one in requests})
        except OSError as error:
            _log.warning("your consent cannot be remembered in %s: %s", consent_file(), error)


def told(requests: tuple[Request, ...]) -> str:
    """All that is wanted, in words that complete `the index …`."""
    return " and ".join(map(str, requests))


def consent_file() -> Path:
    """Where consent is remembered."""
    import platformdirs

    return platformdirs.user_config_path("pincite") / "trusted.json"


def allowed() -> Allowed:
    """Every place with each request that is allowed to it."""
    file = consent_file()
    try:
        rows = json.loads(file.read_bytes())
        return frozenset((place, Request(kind, what)) for place, kind, what in rows)
    except (FileNotFoundError, NotADirectoryError):
        return frozenset()
    except (OSError, ValueError, TypeError) as error:
        raise SettingsError(
            f"{file} cannot be read ({error}); repair it, or remove it and be asked again"
        ) from error


def withdraw(place: Path) -> bool:
    """Allow nothing to a place any more; whether anything was."""
    before = allowed()
    _change(lambda known: frozenset(one for one in known if one[0] != str(place)))
    return before != allowed()


def _change(changed: Callable[[Allowed], Allowed]) -> None:
    from filelock import FileLock

    file = consent_file().resolve()  # a link of the user's own is followed
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with FileLock(file.with_suffix(".lock")):
        before = allowed()
        if (after := changed(before)) == before:
            return
        rows = sorted([place, *astuple(request)] for place, request in after)
        replace_file(file, [json.dumps(rows, indent=2).encode()], mode=0o600)


def strange_owners(root: Path) -> Iterator[Request]:
    """Whose the folder or its index is, where it is neither ours nor of who called us by sudo."""
    ours = {os.geteuid()} if hasattr(os, "geteuid") else set()
    caller = os.environ.get("SUDO_UID", "")  # noqa: TID251 — as the user of a process is, a fact
    if 0 in ours and caller.isdecimal():
        ours.add(int(caller))
    paths = [one for one in (root, root / INDEX_FOLDER) if one.exists()]
    for owner in {one.stat().st_uid for one in paths} - ours if ours else ():
        yield Request("owner", _name_of(owner))


def _name_of(owner: int) -> str:
    import pwd

    try:
        return f"{pwd.getpwuid(owner).pw_name} (uid {owner})"
    except KeyError:
        return f"{owner} (uid {owner})"
