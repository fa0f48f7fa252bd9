"""Answers that are kept with their proof, and told of when a document no longer bears them out."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import msgspec

from pincite.answer.footnotes import unescaped
from pincite.answer.receipts import CitedWords, citations_in, facts_of_place, receipt_in
from pincite.engine.queries import CALLER, UNLOGGED
from pincite.engine.searchable import Searchable
from pincite.errors import NothingToSay, PinciteError, ReceiptInvalid, SettingsError
from pincite.records import CheckedCitation, Filters, FiltersGiven, Outcome
from pincite.records.documents import document_id
from pincite.records.journal import RecheckedAnswer, SavedAnswer
from pincite.settings import AskSettings, SearchSettings
from pincite.stores.journal import new_id
from pincite.text.printable import one_line

HOLDS = ("valid", "moved")
_TITLE = re.compile(r"(?:\*\*Question:\*\*|#) +(.+)")  # of what `ask --copy` and `make` write
_ANSWERS = re.compile(r"\*\*Question:\*\* ")
_MARK = re.compile(r"(?<!\\)\[\^\d+\]")
_NEAREST = re.compile(r"^Nearest: “.*$|^\[\^\d+\]: .*$", re.MULTILINE)
# What a line begins with that is no word, emphasis, quotation marks, and commas between words.
_LAYOUT = re.compile(r"^[ \t]*(?:[-+*>#|]+[ \t]+)+|[*_`|\"'“”‘’]|[.,;:](?=\s|$)", re.MULTILINE)
_LONGEST_NAME = 200  # characters
_SHORTEST_ID = 6  # of its letters: fewer are soon those of another one
_log = logging.getLogger(__name__)


class _AskedWith(msgspec.Struct, frozen=True):
    """The settings that a receipt holds, of an answer to one question."""

    search: SearchSettings
    filters: Filters = Filters()
    ask: AskSettings = AskSettings()


def save_outcome(
    library: Searchable,
    told: Outcome,
    filters: FiltersGiven = None,
    asking: AskSettings = AskSettings(),
) -> SavedAnswer:
    """Keep what `ask` told, with its receipt. Nothing is kept of an abstention: NothingToSay."""
    if told.outcome == "abstention":
        raise NothingToSay(f"there is no answer to keep: {told.message}")
    return _saved(library, told.question, library.receipt(told, filters=filters, asking=asking))


def save_text(library: Searchable, name: str, text: str) -> SavedAnswer:
    """Keep a receipt, or Markdown with footnotes such as `ask --copy` and `make` write."""
    if titled := _TITLE.match(text):
        name = unescaped(titled[1])
    if receipt := receipt_in(text.encode(errors="replace")):
        if receipt.outcome == "abstention":
            raise NothingToSay(f"there is no answer to keep: {receipt.message}")
        name = receipt.question
    elif _ANSWERS.match(text) and _MARK.search(text) and not _MARK.search(_NEAREST.sub("", text)):
        raise NothingToSay("there is no answer to keep: it only says what comes near")
    return _saved(library, name, text)


def saved_answers(library: Searchable) -> list[SavedAnswer]:
    """The answers that the library's user saved, the oldest first."""
    known, user = library.known_as
    mine = {"library": known, "user": user} if library.place else {}
    return library.journal.saved_answers(**mine)


def answer_named(library: Searchable, name: str) -> SavedAnswer:
    """The saved answer of that id, or of the end of one."""
    if len(name) < _SHORTEST_ID:
        raise SettingsError(f"give at least {_SHORTEST_ID} letters of the id, not {name!r}")
    found = [one for one in saved_answers(library) if one.id.endswith(name)]
    if len(found) != 1:
        many = "several saved answers end so" if found else "no saved answer has the id"
        raise SettingsError(f"{many} {name!r}; see `pincite answers list`")
    return found[0]


def recheck(library: Searchable, answers: Sequence[SavedAnswer]) -> list[RecheckedAnswer]:
    """Check saved answers again."""
    return _rechecked(library, answers, library.paths())


def recheck_changed(library: Searchable) -> tuple[RecheckedAnswer, ...]:
    """Check those whose sources are not what they were; the news since people were told last.

    Whoever told people calls `note_told`; until then it is news.

    An index run must not fail for it: what goes wrong is logged.
    """
    try:
        saved = saved_answers(library)
        if not saved:
            return ()
        paths = library.paths()
        changed = [
            one
            for one in saved
            if any(paths.get(path, "") != document for path, document in one.sources.items())
        ]
        now = {one.id: RecheckedAnswer(one, not one.told_broken) for one in saved}
        now |= {one.answer.id: one for one in _rechecked(library, changed, paths)}
        return tuple(one for one in now.values() if one.holds != one.held_before or one.is_worse)
    except PinciteError as error:
        _log.warning("saved answers could not be checked: %s", error)
        return ()


def note_told(library: Searchable, told: Iterable[RecheckedAnswer]) -> None:
    """Note that people know this of them; another process may have checked them since.

    What cannot be noted is told again.
    """
    known = {one.answer.id: (not one.holds, one.answer.is_minor) for one in told}
    try:
        for one in saved_answers(library) if known else ():
            if one.id in known:
                broken, minor = known[one.id]
                library.journal.update_answer(replace(one, told_broken=broken, told_minor=minor))
    except PinciteError as error:
        _log.warning("news of saved answers could not be noted: %s", error)


def difference(
    library: Searchable, answer: SavedAnswer, profile: str | None, judge: str
) -> list[str]:
    """What is said now and was not (`+ …`), and the other way round, asked as it was asked then.

    SettingsError where nothing says how that was, as of an artifact, or of Markdown.
    """
    receipt = receipt_in(answer.text.encode(errors="replace"))
    if receipt is None:
        raise SettingsError("only a receipt says how it was asked")
    if "search" not in receipt.settings:
        raise SettingsError("an artifact is not asked again: make it anew with `pincite make`")
    try:
        how = msgspec.convert(receipt.settings, _AskedWith)
    except msgspec.ValidationError as error:
        raise SettingsError(f"its receipt does not say how it was asked ({error})") from error
    # It may be a stranger's, so it does not choose a model, nor instruct one.
    if how.search.expand or how.search.rerank not in (None, "maxsim"):
        raise SettingsError("its receipt names models to search with")
    caller = CALLER.set(UNLOGGED)
    try:
        told = library.ask(
            receipt.question,
            filters=how.filters,
            settings=how.search,
            asking=replace(how.ask, persona=""),
            profile=profile if receipt.writer else None,
            judge=judge,
        )
    finally:
        CALLER.reset(caller)
    if told.outcome == "answer":
        now = _lines((one.text for one in told.claims), told.writer)
    else:
        now = _lines([told.message], "")
    before = _lines((one.text for one in receipt.claims), receipt.writer)
    old, new = ({_plain(one): one for one in lines} for lines in (before, now))
    return [
        *(f"- {line}" for words, line in old.items() if words not in new),
        *(f"+ {line}" for words, line in new.items() if words not in old),
    ]


def _lines(texts: Iterable[str], writer: str) -> list[str]:
    return [*map(one_line, texts), *([f"(written by {writer})"] if writer else [])]


def _rechecked(
    library: Searchable, answers: Sequence[SavedAnswer], paths: Mapping[str, str]
) -> list[RecheckedAnswer]:
    cited = [
        # Footnotes name a chunk alone, which is another one once the library is cut otherwise.
        [replace(words, **one.cited.get(_place(words), {})) for words in _cited_in(one.text)]
        for one in answers
    ]
    moves = [_moved(library, one, paths) for one in answers]
    told = []
    checked = iter(
        library.check_words(
            [words for each in cited for words in each],
            {old: new for each in moves for old, new in each.items()},
        )
    )
    for answer, words, moved in zip(answers, cited, moves, strict=True):
        found = [next(checked) for _ in words]
        stood = {*answer.sources, *(one.path for one in words)}
        stand = {one.path for one in found}
        # The same sentence five times is no more than once.
        broken = tuple(dict.fromkeys(_sentence(one) for one in found if not _holds(one)))
        now = replace(
            answer,
            checked_at=time.time(),
            broken=broken,
            is_minor=bool(broken) and all(map(_holds, found[: _first_cited(answer.text)])),
            sources={path: paths.get(path, "") for path in sorted(stood | stand) if path},
            moved=moved,
        )
        library.journal.update_answer(now)
        outdated = any(one.outdated for one in found)
        told.append(RecheckedAnswer(now, not answer.told_broken, outdated))
    return told


def _first_cited(text: str) -> int | None:
    """How many citations the first claim of an answer has; None: each line is as good as another.

    As is so in an artifact.
    """
    receipt = receipt_in(text.encode(errors="replace"))
    if receipt:
        return len(receipt.claims[0].citations) if "search" in receipt.settings else None
    parts = text.split("\n\n")
    return len(_MARK.findall(parts[1])) if _ANSWERS.match(text) and len(parts) > 1 else None


def _moved(library: Searchable, answer: SavedAnswer, paths: Mapping[str, str]) -> dict[str, str]:
    """Where the documents that it cites stand now, of those whose file has another path since.

    A file that was moved has the bytes that it had when it was checked last, which may be others
    than those that are cited.
    """
    moved = {path: answer.moved.get(path, path) for path in answer.sources}
    gone = {at: answer.sources.get(at) for at in moved.values() if at not in paths}
    header = library._store().header() if gone else None
    documents = library.documents() if header else ()
    for at, known in gone.items():
        name = header.name if header else ""
        same = (one for one in documents if document_id(name, at, one.checksum) == known)
        if found := next(same, None):
            moved |= {path: found.path for path, stood in moved.items() if stood == at}
    return {path: at for path, at in moved.items() if path != at}


def _cited_in(text: str) -> list[CitedWords]:
    return citations_in(text.encode(errors="replace"))


def _place(words: CitedWords) -> str:
    return f"{words.chunk_id} {words.start} {words.end}"


def _saved(library: Searchable, name: str, text: str) -> SavedAnswer:
    every, store = _cited_in(text), library._store()  # ReceiptInvalid where it holds none
    if {one.state for one in library.check_words(every)} <= {"gone", "misquoted"}:
        raise ReceiptInvalid(
            "cites nothing that stands in this library: it is of another one, or the library was "
            "cut in another way or changed since"
        )
    places = {_place(words): words for words in every if not words.document_id}
    cited = {at: facts_of_place(words, store) for at, words in places.items()}
    known, user = library.known_as
    now = time.time()
    made = SavedAnswer(
        id=new_id(now),
        library=known,
        question=one_line(name)[:_LONGEST_NAME],
        text=text,
        cited=cited,
        user=user,
        saved_at=now,
    )
    library.journal.save_answer(made)
    checked = recheck(library, [made])
    note_told(library, checked)
    return checked[0].answer


def _holds(one: CheckedCitation) -> bool:
    """Whether the words stand there; other line breaks and Markdown around them do not matter."""
    same = _plain(one.became) == _plain(one.quote)
    return one.state in HOLDS or (one.state == "changed" and same)


def _plain(text: str) -> str:
    return " ".join(_LAYOUT.sub(" ", text).split())


def _sentence(one: CheckedCitation) -> str:
    """`lease.md (line 5) now says “…”`, or why the words are not there."""
    if one.state == "changed" and one.became:
        return f"{one.now or one.citation} now says “{one_line(one.became)}”"
    return f"{one.citation}: {one.message or one.state}"
