"""A citation that was written down once → what became of it in the library as it is now.

First it is proven that the words stood at their place in the version that is cited, which is in
the index or in its log. What never stood there is misquoted, however often its words occur
elsewhere. Then the document is looked at as it is now, and only then the rest of the library.
Words are compared letter for letter, white space as well. The store is asked as whoever checks, so
nothing is found, and nothing told, that they may not see.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from rapidfuzz import fuzz, process

from pincite.answer.receipts import CitedWords, sha256, surroundings
from pincite.ports import Store
from pincite.records import (
    LEVELS,
    CheckedCitation,
    CheckState,
    Document,
    DocumentEntry,
    DocumentId,
    Filters,
    FoundChunk,
    cited_file,
    level_of,
    locate,
    overlapping,
    place_cited,
)
from pincite.text.lines import LineIndex
from pincite.text.sentences import sentence_spans

_REACH = 4_000  # characters around its place in which the surroundings of a passage are looked for
_ALIKE = 65  # of 100: from here on a sentence is what another one became
_CANDIDATES = 20  # chunks with the quote's words that are looked at in the rest of the library
_SEARCHED = 400  # characters of a quote that are searched for
_MOST = 1_000  # places with the same words that are looked at in one document
_IN_LOG = "it stood so in an earlier version, which the log still holds"


@dataclass(frozen=True, slots=True)
class _Library:
    store: Store
    by_id: dict[str, DocumentEntry]
    by_path: dict[str, DocumentEntry]
    load: Callable[[DocumentId], Document | None]
    find_chunks: Callable[[str], list[FoundChunk]]  # in the log, too, which takes its time
    differs: Callable[[Document], bool]
    clearance: int  # up to which place of LEVELS documents are seen


@dataclass(frozen=True, slots=True)
class _Found:
    """A place with the very words."""

    document: Document
    start: int
    agreeing: int  # how many of its two sides are as they were


def check_citations(
    cited: Iterable[CitedWords],
    store: Store,
    *,
    differs: Callable[[Document], bool] = lambda document: False,
    clearance: str = "",
    moved: Mapping[str, str] | None = None,
) -> Iterator[CheckedCitation]:
    """What became of each. Without a clearance everybody sees everything.

    `differs` says whether a file is not any more what was indexed, `moved` where the documents that
    are cited by another path stand now.
    """
    documents = store.documents()
    by_path = {one.path: one for one in documents}
    library = _Library(
        store,
        {one.id: one for one in documents},
        by_path | {old: by_path[new] for old, new in (moved or {}).items() if new in by_path},
        lru_cache(maxsize=8)(store.load_document),
        lru_cache(maxsize=8)(store.find_chunks),
        differs,
        LEVELS.index(clearance) if clearance else len(LEVELS) - 1,
    )
    for words in cited:
        yield _checked(words, library)


def _checked(words: CitedWords, library: _Library) -> CheckedCitation:
    # The document in the version that is cited, and whether that is not today's.
    version, is_past = None, False
    if words.document_id in library.by_id:
        version = library.load(DocumentId(words.document_id))
    elif found_chunks := library.find_chunks(words.chunk_id):
        version, is_past = found_chunks[0].document, found_chunks[0].superseded
    is_altered = words.quote_sha256 and sha256(words.quote) != words.quote_sha256
    is_elsewhere = version is not None and words.path not in ("", version.path)
    if is_altered or is_elsewhere or words.end - words.start != len(words.quote):
        return _misquoted(words, version)
    if version is not None:
        if version.text[words.start : words.end] != words.quote:
            # The same bytes may be read otherwise by another pincite, and the offsets differ.
            found = _best_place(words, version)
            if found is None or found.agreeing < 2:
                return _misquoted(words, version)
            return _standing(words, "moved", found, library)
        if not is_past:
            return _standing(words, "valid", _Found(version, words.start, 2), library)
        before, after = surroundings(version.text, words.start, words.end)
        words = replace(words, path=version.path, before_sha256=before, after_sha256=after)
    checked = _checked_now(words, version, library)
    if is_past and checked.state != "valid":
        message = f"{checked.message}; {_IN_LOG}" if checked.message else _IN_LOG
        return replace(checked, message=message)
    return checked


def _checked_now(words: CitedWords, version: Document | None, library: _Library) -> CheckedCitation:
    """What became of words whose version is not today's; None: nobody knows it any more."""
    entry = library.by_path.get(words.path)
    document = library.load(entry.id) if entry is not None else None
    if document is not None:
        if document.text[words.start : words.end] == words.quote:
            before, after = surroundings(document.text, words.start, words.end)
            agreeing = (before == words.before_sha256) + (after == words.after_sha256)
            return _standing(words, "valid", _Found(document, words.start, agreeing), library)
        if checked := _within(words, document, version, library):
            return checked
    elif level_of(words.confidentiality) > library.clearance:
        told = "the document was labelled above your clearance, and you cannot see it"
        return _told(words, "not_allowed", told)
    if version is None and (at := library.store.forgotten_at(words.chunk_id)):
        return _told(words, "forgotten", f"the document was forgotten for good on {at[:10]}")
    found = _elsewhere(words, library)
    if found is not None and (version is not None or found.agreeing):
        return _standing(words, "moved", found, library)
    gone = "the passage" if document is not None else "the document"
    told, now, path = f"{gone} is not there any more", "", ""
    if found is not None:
        told += "; the same words stand elsewhere, but nothing shows that they are the ones cited"
        now = _place(found.document, found.start, found.start)
        path = found.document.path
    return _told(words, "gone", told, now=now, path=path)


def _within(
    words: CitedWords, document: Document, version: Document | None, library: _Library
) -> CheckedCitation | None:
    """What became of the words inside their own document; None where nothing is like them."""
    text = document.text
    found = _best_place(words, document)
    between = _between(words, text)
    is_replaced = between is not None and words.quote not in text[slice(*between)]
    if found is not None and (
        found.agreeing == 2 or (not is_replaced and (version is not None or found.agreeing))
    ):
        return _standing(words, "moved", found, library)
    became = between if is_replaced else _alike(words, text, version.text if version else "")
    if became is None:
        return None
    return _told(
        words,
        "changed",
        now=_place(document, *became),
        became=document.shown(*became).strip(),
        path=document.path,
    )


def _best_place(words: CitedWords, document: Document) -> _Found | None:
    """Where the words stand in a document, best where their surroundings are as they were."""
    text = document.text
    founds = []
    for match in islice(re.finditer(re.escape(words.quote), text), _MOST):
        before, after = surroundings(text, *match.span())
        agreeing = (before == words.before_sha256) + (after == words.after_sha256)
        founds.append(_Found(document, match.start(), agreeing))
    return max(founds, key=lambda one: (one.agreeing, -abs(one.start - words.start)), default=None)


def _between(words: CitedWords, text: str) -> tuple[int, int] | None:
    """What stands between the two surroundings now; None where they are not as they were."""
    if not words.before_sha256:
        return None
    low = max(words.start - _REACH, 0)
    high = min(words.end + _REACH, len(text))
    around = [surroundings(text, at, at) for at in range(low, high + 1)]
    starts = [low + at for at, one in enumerate(around) if one[0] == words.before_sha256]
    ends = [low + at for at, one in enumerate(around) if one[1] == words.after_sha256]
    for start in sorted(starts, key=lambda at: abs(at - words.start)):
        for end in ends:
            if end >= start:
                return (start, end) if text[start:end].strip() else None
    return None


def _alike(words: CitedWords, text: str, before: str) -> tuple[int, int] | None:
    """The sentence that is most like the words and did not stand there before."""
    known = {before[slice(*span)] for span in sentence_spans(before, 0, len(before))}
    new = {
        span: sentence
        for span in sentence_spans(text, 0, len(text))
        if (sentence := text[slice(*span)]) not in known and words.quote not in sentence
    }
    best = process.extractOne(words.quote, new, scorer=fuzz.ratio, score_cutoff=_ALIKE)
    return best[2] if best else None


def _elsewhere(words: CitedWords, library: _Library) -> _Found | None:
    """The same words in the rest of the library: in a file of the same bytes, else in any."""
    same = [one.id for one in library.by_id.values() if one.checksum == words.checksum]
    ranked = library.store.search(
        words.quote[:_SEARCHED], None, filters=Filters(), limit=_CANDIDATES
    )
    ids = [one.chunk_id for one in ranked.get("words", ())]
    holding = [entry.id for entry, _ in library.store.load_chunks(ids)]
    founds = []
    for document_id in dict.fromkeys([*same, *holding]):
        document = library.load(document_id)
        found = _best_place(words, document) if document is not None else None
        if found is not None and found.agreeing == 2:
            return found
        founds += [found] if found else []
    return max(founds, key=lambda one: one.agreeing, default=None)


def _misquoted(words: CitedWords, version: Document | None) -> CheckedCitation:
    told = (
        "the words do not stand so in the version that is cited: the quote, its claim or its place "
        "was altered, or the file was read otherwise then"
    )
    if version is None or not version.text[words.start : words.end].strip():
        return _told(words, "misquoted", told)
    return _told(
        words,
        "misquoted",
        told,
        now=_place(version, words.start, words.end),
        became=version.shown(words.start, words.end),
    )


def _standing(
    words: CitedWords, state: CheckState, found: _Found, library: _Library
) -> CheckedCitation:
    """Words that stand somewhere, and what is to be known of them."""
    notes = []
    if found.agreeing < 2:
        notes.append("the surrounding text has changed")
    outdated = library.differs(found.document)
    if outdated:
        notes.append("the file has changed since it was indexed; run `pincite index update`")
    now = _place(found.document, found.start, found.start + len(words.quote))
    if found.agreeing == 2 and now == words.citation:  # what people read as its place is the same
        state = "valid"
    told = _told(words, state, "; ".join(notes), now=now, path=found.document.path)
    return replace(told, outdated=outdated)


def _told(
    words: CitedWords,
    state: CheckState,
    message: str = "",
    *,
    now: str = "",
    became: str = "",
    path: str = "",
) -> CheckedCitation:
    return CheckedCitation(
        words.citation,
        words.quote,
        state,
        message,
        now,
        became,
        path or words.path,
        chunk_id=words.chunk_id,
        start=words.start,
        end=words.end,
    )


def _place(document: Document, start: int, end: int) -> str:
    """The citation of a stretch."""
    end = min(end, len(document.text))
    first, last = LineIndex(document.text).lines_of(start, end)
    held = overlapping(document.places, start, end)
    locator = locate(held, start, end, line_start=first, line_end=last)
    headings = (one.heading_path for one in document.sections if one.start <= start < one.end)
    return place_cited(*cited_file(document), next(headings, ()), locator)
