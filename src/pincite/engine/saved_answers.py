"""Answers that are kept with their proof, and told of when a document no longer bears them out."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

from pincite.answer.footnotes import unescaped
from pincite.answer.receipts import citations_in, parse_receipt
from pincite.engine.searchable import Searchable
from pincite.errors import PinciteError, SettingsError
from pincite.records import CheckedCitation, Filters, FiltersGiven, Outcome, filters_of
from pincite.records.journal import RecheckedAnswer, SavedAnswer
from pincite.stores.journal import new_id
from pincite.text.printable import one_line

HOLDS = ("valid", "moved")
_TITLE = re.compile(r"(?:\*\*Question:\*\*|#) +(.+)")  # of what `ask --copy` and `make` write
_LONGEST_NAME = 200  # characters
_log = logging.getLogger(__name__)


def save_outcome(library: Searchable, told: Outcome, filters: FiltersGiven = None) -> SavedAnswer:
    """Keep what `ask` told, with its receipt. Nothing is kept of an abstention: SettingsError."""
    if told.outcome == "abstention":
        raise SettingsError(f"there is no answer to keep: {told.message}")
    receipt = library.receipt(told, filters=filters)
    return _saved(library, told.question, receipt, filters_of(filters))


def save_text(library: Searchable, name: str, text: str) -> SavedAnswer:
    """Keep a receipt, or Markdown with footnotes such as `ask --copy` and `make` write."""
    data = text.encode(errors="replace")
    if titled := _TITLE.match(text):
        name = unescaped(titled[1])
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        name = parse_receipt(data.removeprefix(b"\xef\xbb\xbf")).question
    citations_in(data)  # ReceiptInvalid where it holds none
    return _saved(library, name, text, Filters())


def saved_answers(library: Searchable) -> list[SavedAnswer]:
    """The answers that the library's user saved, the oldest first."""
    known, user = library.known_as
    return library.journal.saved_answers(library=known, user=user if library.place else None)


def answer_named(library: Searchable, name: str) -> SavedAnswer:
    """The saved answer of that id, or of the end of one."""
    found = [one for one in saved_answers(library) if name and one.id.endswith(name)]
    if len(found) != 1:
        many = "several saved answers end so" if found else "no saved answer has the id"
        raise SettingsError(f"{many} {name!r}; see `pincite answers list`")
    return found[0]


def recheck(
    library: Searchable, answers: Sequence[SavedAnswer] | None = None
) -> list[RecheckedAnswer]:
    """Check saved answers again: these, or all whose sources are not what they were."""
    paths = library.paths()
    if answers is None:
        answers = [
            one
            for one in saved_answers(library)
            if any(paths.get(path, "") != document for path, document in one.sources.items())
        ]
    cited = [citations_in(one.text.encode(errors="replace")) for one in answers]
    checked = iter(library.check_words([words for each in cited for words in each]))
    told = []
    for answer, words in zip(answers, cited, strict=True):
        found = [next(checked) for _ in words]
        now = replace(
            answer,
            checked_at=time.time(),
            # The same sentence five times is no more than once.
            broken=tuple(dict.fromkeys(_sentence(one) for one in found if not _holds(one))),
            sources=_sources([*answer.sources, *(one.path for one in words)], found, paths),
        )
        library.journal.save_answer(now)
        told.append(RecheckedAnswer(now, held_before=not answer.broken))
    return told


def recheck_changed(library: Searchable) -> tuple[RecheckedAnswer, ...]:
    """The saved answers that hold no longer, or hold again, since the index changed.

    An index run must not fail for it: what goes wrong is logged.
    """
    try:
        return tuple(one for one in recheck(library) if one.holds != one.held_before)
    except PinciteError as error:
        _log.warning("saved answers could not be checked: %s", error)
        return ()


def _saved(library: Searchable, name: str, text: str, filters: Filters) -> SavedAnswer:
    known, user = library.known_as
    now = time.time()
    restrictions = {key: one for key, one in asdict(filters).items() if one is not None}
    made = SavedAnswer(
        id=new_id(now),
        library=known,
        question=one_line(name)[:_LONGEST_NAME],
        text=text,
        user=user,
        filters=restrictions,
        saved_at=now,
    )
    (checked,) = recheck(library, [made])
    return checked.answer


def _sources(
    before: Sequence[str], found: Sequence[CheckedCitation], paths: Mapping[str, str]
) -> dict[str, str]:
    """The paths it rests on, with the documents that stand there now; empty where there is none."""
    # Where words stand now is told as people read it, which begins with the path.
    now = {path for one in found for path in paths if one.now.startswith((f"{path} ", f"{path}:"))}
    return {path: paths.get(path, "") for path in sorted({*filter(None, before), *now})}


def _holds(one: CheckedCitation) -> bool:
    """Whether the words stand there; new lines and marks between them do not matter."""
    same = _letters(one.became) == _letters(one.quote)
    return one.state in HOLDS or (one.state == "changed" and same)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _sentence(one: CheckedCitation) -> str:
    """`lease.md (line 5) now says “…”`, or why the words are not there."""
    if one.state == "changed" and one.became:
        return f"{one.now or one.citation} now says “{one_line(one.became)}”"
    return f"{one.citation}: {one.message or one.state}"
