"""What is known of documents beside their text → questions for documents."""

from __future__ import annotations

from collections.abc import Iterator

from pincite.evals.generate.draft import Clear, Draft, Idea, Source
from pincite.evals.generate.headings import how_to, is_dull
from pincite.evals.generate.phrases import Form, asked
from pincite.evals.generate.pool import order
from pincite.records import Case
from pincite.text.words import fold

_MOST_TOGETHER = 5  # documents that one question expects
_MOST_GROUPS = 4_000  # held at a time


def from_facts(source: Source) -> Iterator[Idea]:
    """Who wrote it, when, how long it is, which one it is."""
    title, known = source.title, source.document.metadata
    if not title or source.language is None or not (source.is_prose or source.is_recording):
        return
    clear = Clear(one_alone=(f"title {fold(title)}",))
    language = source.language
    note = "from the title and what the file says of itself"
    if known.author:
        question = asked(language, "who", title=title)
        yield Idea(question=question, kind="metadata", note=note, clear=clear, about=title)
    if known.date:
        question = asked(language, "recorded" if source.is_recording else "when", title=title)
        yield Idea(question=question, kind="metadata", note=note, clear=clear)
    if known.duration and language == "en":
        question = f"How long is the recording “{title}”?"
        yield Idea(question=question, kind="metadata", note=note, clear=clear)
    if is_dull(title):
        return
    note = "from the title"
    if how := (how_to(title) if language == "en" and source.is_prose else ""):
        yield Idea(question=how, kind="content", note=note, clear=clear)
    else:
        question = asked(language, "which", title=title)
        yield Idea(question=question, kind="metadata", note=note, clear=clear)


class Groups:
    """Which documents share an author or a tag, as long as they are few; of a sample of these."""

    def __init__(self, seed: int) -> None:
        self._paths: dict[tuple[Form, str], list[str]] = {}
        self._languages: dict[tuple[Form, str], str] = {}
        self._seed = seed
        self._last = ""  # groups that come behind this one were dropped, and must stay so

    def note(self, source: Source) -> None:
        """One more document."""
        author = " ".join((source.document.metadata.author or "").split())
        if author:
            self._add(("by", author), source)
        for tag in dict.fromkeys(source.document.metadata.tags):
            if not is_dull(tag):
                self._add(("tagged", tag), source)

    @property
    def have_authors(self) -> bool:
        """Whether any document says who wrote it."""
        return any(form == "by" for form, _ in self._paths)

    def drafts(self) -> Iterator[Draft]:
        """A question for each group that is not too large to be expected as a whole."""
        for group, paths in self._paths.items():
            form, name = group
            if len(paths) > _MOST_TOGETHER or group not in self._languages:
                continue
            case = Case(
                question=asked(self._languages[group], form, x=name),
                kind="metadata",
                documents=dict.fromkeys(sorted(paths), 1),
                draft=True,
                note="from what the files say of themselves",
            )
            yield Draft(case)

    def _add(self, group: tuple[Form, str], source: Source) -> None:
        if self._last and self._order(group) > self._last:
            return
        paths = self._paths.setdefault(group, [])
        if len(paths) <= _MOST_TOGETHER:
            paths.append(source.path)
        if source.language is not None:
            # Whichever comes first in the alphabet, so that the order of documents is all the same.
            known = self._languages.get(group, source.language)
            self._languages[group] = min(known, source.language)
        if len(self._paths) > _MOST_GROUPS:
            # Those that come first in a chance order are kept: they were never dropped before.
            for dropped in sorted(self._paths, key=self._order)[_MOST_GROUPS // 2 :]:
                del self._paths[dropped]
                self._languages.pop(dropped, None)
            self._last = max(map(self._order, self._paths))

    def _order(self, group: tuple[Form, str]) -> str:
        return order(self._seed, "\0".join(group))
