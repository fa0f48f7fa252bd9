"""Telling phrases in recordings → questions for the time they are spoken at."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from pincite.evals.generate.draft import Clear, Idea, Source, words_of
from pincite.evals.generate.headings import is_noun
from pincite.evals.generate.phrases import asked
from pincite.records import overlapping
from pincite.text.sentences import sentence_spans
from pincite.text.words import STOP_WORDS

_MOST = 48  # of one recording
_FILE_MARKS = re.compile(r"[-_]+")
_ARTICLES = r"(?:an?|the|our|their|his|her|this|that|of|called|some|every)"
_STOPPERS = "|".join(sorted(STOP_WORDS - {"a", "an", "the"}))
# What stands between an article and the next small word or stop is mostly a thing.
_THING = re.compile(
    rf"\b{_ARTICLES}\s+([a-z-]{{4,20}}\s+[a-z]{{4,20}})(?=\s*[.,;:?!]|\s+(?:{_STOPPERS})\b)",
    re.IGNORECASE,
)
# Any two words in lower case; the plural of a thing is the same thing.
_TWO_WORDS = re.compile(r"(?<![\w-])(?=([a-z-]+)\s+([a-z]+?)s?(?![a-z]))")
_ONE_THING = re.compile(
    r"\b(?:an?|the|this|each|every|no)\s+([a-z]{4,20})"
    r"(?=[.,;:?!)]|\s+(?:of|in|is|was|are|were|and|or|to|for|on|at|from|with|that|has|can|will)\b)",
    re.IGNORECASE,
)
_NO_THING = re.compile(
    r"\b(?:\w+ly|\w+self|thing|things|stuff|kind|sort|sorts|bit|lot|lots|little|couple|people|person"
    r"|really|very|much|many|more|most|other|others|same|first|second|next|last|whole|entire|right"
    r"|wrong|good|great|nice|best|better|different|interesting|whatever|going|gonna|want|know|think"
    r"|mean|said|says|came|come|goes|went|make|made|take|took|give|gave|look|looks|looked|work|works"
    r"|need|needs|time|times|year|years|today|tomorrow|yesterday|week|weeks|month|months|minute"
    r"|minutes|hour|hours|moment|part|point|question|questions|answer|example|reason|idea|case|fact"
    r"|amount|piece|number|level|area|place|world|podcast|episode|talk|discussion|conversation|sense"
    r"|because|though|through|here|there|does|okay|please|that|than|then|again|anyway|maybe"
    r"|guys|only|just|also|even|still|always|never|probably|actually)\b",
    re.IGNORECASE,
)


def thing_keys(source: Source) -> Iterator[str]:
    """Words that are surely things: alone between an article and a small word or stop."""
    if source.language == "en" and not source.is_code:
        for word in _ONE_THING.findall(source.text):
            yield f"thing {word.lower()}"


def from_speech(source: Source) -> Iterator[Idea]:
    """A question for each phrase that a listener might remember, spoken once."""
    if not source.is_recording or source.language != "en":
        return
    title = source.title or _FILE_MARKS.sub(" ", source.document.title.partition(".")[0])
    spoken = Counter(_TWO_WORDS.findall(source.text.lower()))
    things = (
        match
        for match in _THING.finditer(source.text)
        for first, second in (match[1].lower().split(),)
        if spoken[first, second.removesuffix("s")] == 1 and not _NO_THING.search(match[1])
        if is_noun(first) and is_noun(second)
    )
    for match in islice(things, _MOST):
        words = tuple(words_of(match[1]))
        yield Idea(
            question=asked("en", "said", x=" ".join(match[1].split()), title=title),
            kind="video_time",
            note="spoken there",
            clear=Clear(one_alone=words, none_common=words, all_known=(f"thing {words[-1]}",)),
            at=_sentence(source, match.start(1)),
            terms=(match[1],),
        )


def _sentence(source: Source, at: int) -> tuple[int, int]:
    """The sentence that is spoken there, as far as it stands in one caption or turn."""
    for place in overlapping(source.document.places, at, at + 1):
        for start, end in sentence_spans(source.text, place.start, place.end):
            if start <= at < end:
                return start, end
    return at, at + 1
