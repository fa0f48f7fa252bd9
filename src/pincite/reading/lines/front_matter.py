"""What a Markdown file says about itself at its very start, in YAML or TOML."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time

import yaml

from pincite.reading.facts import iso_date
from pincite.records import Metadata, Modality, level_of

_LARGEST = 65_536  # characters; more than this is no front matter but an attack or an accident
_DEEPEST = 20
# Were "\r\n" also two line ends, a failing match would try both at every line.
_LINE_END = r"(?:\r(?!\n)|\r?\n)"
_FENCED = re.compile(
    rf"(?P<fence>---|\+\+\+)[ \t]*{_LINE_END}"
    rf"(?P<source>(?:[^\r\n]*{_LINE_END})*?)"
    rf"(?P=fence)[ \t]*(?:{_LINE_END}|\Z)"
)
# A comment takes its line end along: "####" is one comment, not one of 8 ways to part it.
_KEY_FIRST = re.compile(r"(?:\s*#[^\r\n]*[\r\n])*\s*[\w.-]+[ \t]*[:=]")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_LABELS = ("confidentiality", "classification")
_GUARDED = re.compile(rf"(?im)^[^\S\n]*(?:{'|'.join(_LABELS)})\s*[:=]")
_UNREADABLE = "unreadable"  # a label that nobody knows: the strictest
_NULLS = frozenset(("", "~", "null", "none"))
_KIND_KEYS = ("type", "kind", "format", "category", "categories")
_AUDIO = frozenset(("audio", "audio_transcript", "podcast"))
_VIDEO = frozenset(("video", "video_transcript"))
_RECORDING = re.compile(
    r"^https?://\S+$|\.(?:mp[34]|m4[av]|wav|webm|mkv|mov|avi|og[gv]|opus|flac|aac)$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The front matter's title and metadata, and where the text proper begins."""

    end: int = 0
    title: str | None = None
    metadata: Metadata = field(default_factory=Metadata)
    modality: Modality | None = None
    recording: str | None = None  # what the text was said or seen in: a name, a file, an address
    source: str | None = None


def split_front_matter(text: str) -> FrontMatter:
    """Read the front matter; without a readable one the text has no metadata, nothing worse."""
    found = _FENCED.match(text, 0, _LARGEST)
    if found is None:
        return FrontMatter()
    source = found["source"]
    fields = _fields(source, toml=found["fence"] == "+++")
    if fields is None:
        # A text that merely begins with a rule must stay searchable: only what looks like
        # broken front matter is set aside.
        is_broken = _KEY_FIRST.match(source) is not None
        guarded = is_broken and _GUARDED.search(source) is not None
        return FrontMatter(
            end=found.end() if is_broken else 0,
            metadata=Metadata(confidentiality=_UNREADABLE if guarded else None),
        )
    value = fields.get("tags", fields.get("tag"))
    if isinstance(value, str):
        value = list(value.split(",") if "," in value else value.split())
    tags = (tag.removeprefix("#") for tag in _lines(value))
    # For which agents the text is, under any of the names that are in use.
    named = (fields[key] for key in ("agents", "agent", "agent_hint") if key in fields)
    split = (value.split(",") if isinstance(value, str) else value for value in named)
    projects = _lines(fields.get("project"))
    notes = (f"of its {len(projects)} projects only {projects[0]} counts",) if projects[1:] else ()
    day = _line(fields.get("date"))
    # Other keys count where they name a recording's file or address.
    said = (_line(fields.get(key)) for key in ("video", "audio", "media", "source"))
    recordings = (one for one in said if one and _RECORDING.search(one))
    return FrontMatter(
        end=found.end(),
        title=_line(fields.get("title")),
        metadata=Metadata(
            tags=tuple(dict.fromkeys(tag for tag in tags if tag)),
            author=", ".join(_lines(fields.get("author", fields.get("authors")))) or None,
            date=day and (iso_date(day) or day),
            language=_line(fields.get("lang", fields.get("language"))),
            project=next(iter(projects), None),
            confidentiality=_confidentiality(fields),
            agents=tuple(dict.fromkeys(line for value in split for line in _lines(value))),
            notes=notes,
        ),
        modality=_modality(fields),
        recording=_line(fields.get("recording")) or next(recordings, None),
        source=_line(fields.get("source")),
    )


# The standard library's TOML takes quadratic time and memory for dotted keys: 64 kB of them, 23 s.
_LONGEST_TOML = 8_192


class _PlainYaml(yaml.BaseLoader):
    """YAML of strings, lists and mappings only.

    No tags (objects), no anchors and aliases (bombs), no deep nesting. Scalars stay as they are
    written, so that a tag `no` is not False and a date keeps its form.
    """

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]  # PyYAML's stubs lack it
        if isinstance(event, yaml.AliasEvent) or event.anchor or event.tag:
            raise yaml.YAMLError("tags, anchors and aliases are not read")
        if self.depth >= _DEEPEST:
            raise yaml.YAMLError("nested too deeply")
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def _fields(source: str, *, toml: bool) -> Mapping[str, object] | None:
    """The keys in lower case; None where the source is no mapping."""
    if toml and len(source) > _LONGEST_TOML:
        return None
    try:
        # S506: _PlainYaml makes strings, lists and mappings, nothing else.
        loaded = tomllib.loads(source) if toml else yaml.load(source, _PlainYaml)  # noqa: S506
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    if loaded is None or loaded == "":
        return {}
    if not isinstance(loaded, dict):
        return None
    return {str(key).lower(): value for key, value in loaded.items()}


def _line(value: object) -> str | None:
    """A scalar on one line, or None."""
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if not isinstance(value, str | int | float):
        return None
    words = _UNPRINTABLE.sub(" ", str(value)).split()
    line = " ".join(words)
    return None if line.lower() in _NULLS else line


def _lines(value: object) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [line for each in values if (line := _line(each))]


def _confidentiality(fields: Mapping[str, object]) -> str | None:
    """As it is labelled; of several labels the strictest, and one that cannot be read counts so."""
    given = [fields[key] for key in _LABELS if key in fields]
    lines = [line for value in given for line in _lines(value)]
    if given and not lines:
        return _UNREADABLE
    return max(lines, key=level_of, default=None)


def _modality(fields: Mapping[str, object]) -> Modality | None:
    """As it is named, or what `type: podcast` and the like amount to."""
    named = (_line(fields.get("modality")) or "").lower().replace(" ", "_").replace("-", "_")
    if named in frozenset(Modality):
        return Modality(named)
    said = {named, *(one.lower() for key in _KIND_KEYS for one in _lines(fields.get(key)))}
    if said & _AUDIO:
        return Modality.AUDIO_TRANSCRIPT
    return Modality.VIDEO_TRANSCRIPT if said & _VIDEO else None
