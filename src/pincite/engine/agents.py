"""Agents: who answers. Small TOML files with a persona, a profile, a filter, an output and a hint.

Some come with pincite, the user's are beside their settings. One in a library's folder may be a
stranger's: it is used only after consent, for the very text that was seen, and may not choose a
language model.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pincite.engine.consent import Ask, Consent, Request, refuse
from pincite.engine.folders import INDEX_FOLDER
from pincite.engine.toml_files import parse_toml
from pincite.errors import FilterError, PathRefused, SettingsError, did_you_mean
from pincite.files import open_file
from pincite.records import Filters
from pincite.settings import LONGEST_PERSONA, PROFILES, AskSettings

AGENTS_FOLDER = "agents"  # beside the user's settings, and in a library's index folder
_MOST_BYTES = 64 << 10
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")

SHIPPED = {
    "helper": '''\
about = "answers in a sentence or two, for everyday questions"
persona = """
You help a busy colleague. Give the answer first, in plain words and short sentences. Say one thing
in each claim and leave out what was not asked for."""
''',
    "researcher": '''\
about = "collects what several documents say, and where they differ"
persona = """
You are a careful researcher. Prefer claims from different documents over several from one. Where
the evidence disagrees, write both sides as claims of their own. Keep names, dates and units."""
hint = "Numbers matter more than opinions."
output = "markdown"
''',
    "reviewer": '''\
about = "reads like a lawyer: duties, deadlines, conditions and exceptions"
persona = """
You review texts as a lawyer does. Keep defined terms, amounts and deadlines to the letter. Never
soften "shall", "must" or "may". State conditions and exceptions together with the rule."""
hint = "If the evidence has a definition of a word in the question, make it a claim of its own."
''',
}

TEMPLATE = """\
# The agent {name}: `pincite ask --agent {name} "…"`, or `/agent {name}` in `pincite chat`.
# Every key may be left out. It sees documents that are labelled for it (`agents: [{name}]`), and
# those without such a label; documents that are only for other agents stay out of its sight.

# What `pincite agents list` says about it.
about = ""

# How a language model should write. pincite's own rules come first and always hold: only from the
# evidence, every claim with its place, and no answer where the documents have none.
persona = \"\"\"
You answer for …\"\"\"

# One more line for the model: what to look out for.
hint = ""

# Which language model of your settings writes (cheap, balanced, premium; none is the documents' own
# words), where --profile does not say.
# profile = "balanced"

# How an answer is printed: text, or markdown with footnotes as `ask --copy` prints it.
output = "text"

# Which documents it may see, as --where takes it (docs/filters.md).
# where = "type = pdf and not tag = draft"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """Who answers; without a name it is nobody in particular."""

    name: str = ""
    about: str = ""
    persona: str = ""
    hint: str = ""
    profile: str = ""  # of the user's settings; empty: theirs
    output: Literal["text", "markdown"] = "text"
    where: str = ""

    @property
    def manner(self) -> str:
        """What a language model is told after our own rules."""
        return "\n".join(filter(None, (self.persona.strip(), self.hint.strip())))

    def asking(self, settings: AskSettings) -> AskSettings:
        """How it answers."""
        return replace(settings, persona=self.manner) if self.manner else settings

    def seen(self, filters: Filters) -> Filters:
        """What it may see of what the filters let through."""
        if not self.name:
            return filters
        both = [one for one in (self.where, filters.where or "") if one.strip()]
        where = " and ".join(f"({one})" for one in both) if len(both) > 1 else "".join(both)
        # An empty value stands for documents that are labelled for nobody.
        return replace(filters, agents=(self.name, ""), where=where or None)


@dataclass(frozen=True, slots=True)
class Source:
    """Where an agent comes from."""

    name: str
    origin: Literal["pincite", "you", "library"]
    file: Path | None = None  # None: it comes with pincite

    def __str__(self) -> str:
        return str(self.file or "comes with pincite")

    def text(self) -> str:
        """Its text; SettingsError where it cannot be read."""
        if self.file is None:
            return SHIPPED[self.name]
        try:
            # In a folder that may be a stranger's no link is followed.
            opened = open_file(self.file) if self.origin == "library" else self.file.open("rb")
            with opened:
                content = opened.read(_MOST_BYTES + 1)
        except PathRefused as error:
            raise SettingsError(str(error)) from None
        except OSError as error:
            raise SettingsError(f"{self.file} cannot be read: {error.strerror}") from None
        if len(content) > _MOST_BYTES:
            raise SettingsError(f"{self.file} is too large for an agent")
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise SettingsError(f"{self.file} is not UTF-8; save it as UTF-8") from None

    def request(self, text: str) -> Request:
        """What the user is asked before it is used; another text is another request."""
        seen = hashlib.sha256(text.encode()).hexdigest()
        return Request("agent", f"{self.name} ({INDEX_FOLDER}/{AGENTS_FOLDER}, sha256 {seen})")

    def read(self, text: str) -> Agent:
        """The agent that a text describes; SettingsError names the file and the key."""
        agent = parse_toml(text, Agent, str(self), name=self.name)
        if agent.profile not in (choices := (*PROFILES, "none", "")):
            raise SettingsError(f"{self}: profile must be one of: {', '.join(choices[:-1])}")
        try:
            _ = Filters(where=agent.where).condition
        except FilterError as error:
            raise SettingsError(f"{self}: where is no filter: {error}") from None
        if len(agent.manner) > LONGEST_PERSONA:
            raise SettingsError(
                f"{self}: persona and hint are longer than {LONGEST_PERSONA:,} characters"
            )
        if agent.profile and self.origin == "library":
            raise SettingsError(
                f"{self}: profile is not allowed here; nothing in a library's folder chooses a "
                "language model"
            )
        return agent


def sources(own: Path | None, root: Path | None) -> dict[str, Source]:
    """Every agent by its name: in the user's folder, of pincite, in the library's folder.

    The first one of a name counts, so that a received folder replaces nothing.
    """
    inside = root / INDEX_FOLDER / AGENTS_FOLDER if root else None
    shipped = {name: Source(name, "pincite") for name in SHIPPED}
    theirs = {file.stem: Source(file.stem, "library", file) for file in _files(inside)}
    mine = {file.stem: Source(file.stem, "you", file) for file in _files(own)}
    return dict(sorted((theirs | shipped | mine).items()))


def _files(folder: Path | None) -> Iterator[Path]:
    if folder is not None and folder.is_dir():
        yield from (one for one in folder.glob("*.toml") if _NAME.fullmatch(one.stem))


def find_agent(name: str, own: Path | None, root: Path | None) -> Source:
    """The agent of that name; SettingsError with those that there are."""
    known = sources(own, root)
    if name not in known:
        raise SettingsError(
            f"there is no agent {name!r}{did_you_mean(name, [*known])}; there are: "
            f"{', '.join(known)}. `pincite agents new NAME` makes one"
        )
    return known[name]


def agent_named(name: str, own: Path | None, root: Path | None, ask: Ask = refuse) -> Agent:
    """The agent, ready to be used; one of the library's folder only with the user's consent."""
    source = find_agent(name, own, root)
    text = source.text()
    agent = source.read(text)
    if source.origin == "library" and root is not None:
        Consent(root, ask).require(source.request(text))
    return agent


def requests_in(root: Path) -> tuple[Request, ...]:
    """What the agents of a library's folder want; one that cannot be read wants nothing."""
    found = []
    for source in sources(None, root).values():
        if source.origin == "library":
            try:
                text = source.text()
                source.read(text)
            except SettingsError:
                continue
            found.append(source.request(text))
    return tuple(found)


def new_agent(name: str, own: Path) -> Path:
    """Write a template to the user's folder → where; never over another one."""
    if not _NAME.fullmatch(name):
        raise SettingsError(
            f"{name!r} cannot be the name of an agent: letters, digits, - and _ are allowed"
        )
    file = own / f"{name}.toml"
    try:
        own.mkdir(mode=0o700, parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as opened:
            opened.write(TEMPLATE.format(name=name))
    except FileExistsError:
        raise SettingsError(f"{file} is already there; edit it, or choose another name") from None
    except OSError as error:
        raise SettingsError(f"{file} cannot be written: {error.strerror}") from None
    return file
