"""Headings that say something → questions about their sections; in English "How do I …?"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from pincite.evals.generate.draft import Clear, Idea, Source, plain, telling, words_of
from pincite.evals.generate.phrases import asked
from pincite.text.verbs import ALSO_NOUNS, VERBS
from pincite.text.words import fold, question_codes

_LONGEST_HEADING = 100
_LARGEST_SHARE = 0.5  # of a document; a longer section says too little about the place
_SHORTEST_SECTION = 80  # characters, heading and all; else what it is about stands further below
_ASKS = re.compile(r"[?？][\"'”’»」)]*$")
_CLAUSE = re.compile(r"(?:what|when|where|who|why|how|which)\s", re.IGNORECASE)
# What such a heading speaks of, only its section can say.
_POINTING = re.compile(
    r"\b(?:I|me|my|we|us|our|you|your|it|its|he|she|they|them|this|that|these|those|here|there)\b",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}:\d\d")
_DULL_WORDS = """
abbreviations abstract acknowledgements acknowledgments actions additional advanced afterword agenda
also answer answers any appendix apologies applications approach assumptions authentication author
authors background basics before begin best cases caveats changelog changes chapter cleanup cleaning
clean comments common conclusion conclusions configuration configure contact contents copyright
credits custom data date definitions deprecated description design detail details disclaimer
discussion document documentation download epilogue error errors evaluation example examples
experiment experiments extra faq features feedback figure figures final following foreword
formalities forward further future general getting global glossary goals guide help history home how
implementation important index info information input install installation instructions intro
introduction issues item items key keys known learn legal license licence limitations limits links
list literature main matter meeting members message method methods methodology minutes misc
miscellaneous more motivation name new next note notes now objective objectives open option options
optional other others outline output overview page parameters parent part people place places plan
preface prerequisites present problem problems procedure procedures project proposal purpose
question questions quick read reading readme recap recommendations reference references related
remarks report requirements resources result results review rules sample scope section sections see
settings setup simple solution some sources special specification spec standard start started status
step steps structure summary support synopsis table tables task tasks terms test tests text thanks
timeline timetable tips title toc todo tools topic topics troubleshooting tutorial type types update
updates usage use useful user using various version one two three four five six seven eight nine ten
versions view welcome what work workflow writing einleitung einführung überblick übersicht
inhalt inhaltsverzeichnis zusammenfassung literatur anhang fazit hinweise allgemeines sonstiges
quellen sommaire annexe remarques références généralités introducción resumen índice conclusiones
anexo referencias notas
概要 目次 はじめに おわりに まとめ 参考文献 付録 その他 简介 介绍 概述 目录 结论 附录 其他 总结
"""
_DULL = frozenset(_DULL_WORDS.split())


_BASES = VERBS | ALSO_NOUNS
_OBJECT = re.compile(r"(?:an?|the|your|all|any|each|every|one|two|multiple|several|new)\s", re.I)
_NO_VERBS = """
about across after against all along an and are as at before behind below between beyond both but by
down during either every few for from how if in inside into is just like many more most near neither
never no nor not of off on once one only onto or out outside over per since so some such than that
then there through to toward under until up upon was were what when where which while who why with
within without also always even despite
"""
_FUNCTION_WORDS = frozenset(_NO_VERBS.split())
_NO_BASE = re.compile(r".*(?:s|ed|ing|ly|ion|ness|er)", re.I)
_SHORT_VOWEL = "cut drop fit get log plan run set shut split stop wrap"
_DOUBLED = frozenset(_SHORT_VOWEL.split())
_GERUND = re.compile(r"([a-z]+ing)\s", re.I)
_AND_VERB = re.compile(r"\b(and|or) ([a-z]+)\b", re.I)
# What a gerund describes rather than works on: "Scaling overview", "Packing list for the boats".
_ABSTRACT = re.compile(
    r"(?:overview|behavior|behaviour|policy|option|strategy|mode|rule|process|order|system|algorithm"
    r"|framework|cycle|queue|guide|list|plan|status|profile|plugin|controller|machine|room)\b.*"
    r"|(?:\S+ )?(?:behaviors|behaviours|polic(?:y|ies)|options?|strategies|modes?|rules|systems?"
    r"|algorithms|cycles|basics|notes|tips|considerations|requirements|conditions?|profiles|plugins"
    r"|controllers|hours|costs?|instructions)",
    re.IGNORECASE,
)
_YOUR = re.compile(r"\byour\b", re.IGNORECASE)
_SMALL_IN_TITLE = re.compile(
    r"(?<= )(?:Or|And|An?|The|To|With|In|On|Of|For|From|Using|By|At|As|Into|Set|Up)(?= )"
)
_HOW_TO = re.compile(r"how to (?=\w)", re.I)


def from_headings(source: Source) -> Iterator[Idea]:
    """A question for each section whose heading says what it is about."""
    if not (source.is_prose or source.is_recording):
        return
    for number, (section, heading) in enumerate(source.sections):
        # With all that stands under its heading, deeper headings and all.
        end = section.end
        for below, _ in source.sections[number + 1 :]:
            if below.level <= section.level:
                break
            end = below.end
        at = (section.start, end)
        share = (at[1] - at[0]) / max(len(source.text), 1)
        if at[1] - at[0] < _SHORTEST_SECTION or is_dull(heading):
            continue
        question, names_a_thing = _question(heading, source)
        # Whether it makes sense to ask what was said about it in some year.
        can_be_dated = source.is_dated and len(telling(heading)) > 1 and "," not in heading
        if question and not (source.is_recording and share > _LARGEST_SHARE):
            yield Idea(
                question=question,
                kind="video_time" if source.is_recording else "content",
                note=f"from the heading “{heading}”",
                clear=Clear(one_alone=keys_of(heading)),
                about=heading if names_a_thing and can_be_dated else "",
                at=at if share <= _LARGEST_SHARE else None,
                rank=1 if names_a_thing else 0,
            )


def heading_keys(source: Source) -> Iterator[str]:
    """What the title and the headings of a document are told from those of others by."""
    for heading in (plain(source.document.title), *(heading for _, heading in source.sections)):
        yield from keys_of(heading)
        yield from topic_of(heading)
        yield from (f"topic {word}" for word in _stems(heading))


def is_dull(heading: str) -> bool:
    """Whether a heading says nothing about the subject."""
    words = telling(heading)
    return (
        len(heading) > _LONGEST_HEADING
        or not words
        or _DATE.search(heading) is not None
        or all(word in _DULL for word in words)
    )


def keys_of(heading: str) -> tuple[str, ...]:
    """All that a heading says, and each two words of it; alike for `Add a user`, `Adding users`."""
    words = _stems(how_to(heading) or heading)
    pairs = [f"heading {one} {other}" for one, other in pairwise(words)]
    return (f"heading {' '.join(words) or fold(heading)}", *pairs)


def topic_of(name: str) -> tuple[str, ...]:
    """What a heading about the name has in it: each two words, or the only one."""
    words = _stems(name)
    pairs = [f"{one} {other}" for one, other in pairwise(words)]
    return tuple(f"topic {one}" for one in pairs or words)


def _stems(text: str) -> list[str]:
    return [word.removesuffix("s") for word in telling(text) if word not in _DULL]


def _question(heading: str, source: Source) -> tuple[str, bool]:
    """The heading as a question, and whether the heading names a thing; empty if no good one."""
    if _ASKS.search(heading):
        return (heading if len(words_of(heading)) > 2 or not heading.isascii() else ""), False
    if source.language != "en":
        return _about(heading, source), True
    if how := how_to(heading):
        return how, False
    if _CLAUSE.match(heading) and source.title and not _POINTING.search(heading):
        clause = heading[0].lower() + heading[1:]
        return f"What does “{source.title}” say about {clause}?", False
    pointless = _CLAUSE.match(heading) or _POINTING.search(heading)
    return ("" if pointless else _about(heading, source)), True


def _about(heading: str, source: Source) -> str:
    """A question for a heading that names a thing; in most languages it takes no other form."""
    language, title = source.language, source.title
    words = set(telling(heading))
    if language is None:
        return ""
    if not title:
        return asked(language, "about", x=heading) if len(words) > 1 else ""
    told_by_title = words & set(telling(title))
    if 2 * len(told_by_title) > len(words) or question_codes(heading):
        return ""
    return asked(language, "about_in", x=heading, title=title)


def how_to(heading: str) -> str:
    """The heading as a question for the way to do it; empty where it is no instruction."""
    task = _AND_VERB.sub(_and_base, _YOUR.sub("my", _task(heading)))
    if len(task.split()) < 2:
        return ""
    return f"How do I {_SMALL_IN_TITLE.sub(lambda found: found[0].lower(), task)}?"


def is_noun(word: str) -> bool:
    """Whether a word may be a thing: not `starts`, `started` or `starting`."""
    word = word.lower()
    if word in _BASE_OF or word in _FUNCTION_WORDS or word in VERBS:
        return False
    inflected = {word.removesuffix(ending) for ending in ("s", "ed", "d")} - {word}
    return _BASES.isdisjoint(inflected)


def _task(heading: str) -> str:
    """What is to be done, beginning with its verb."""
    if match := _HOW_TO.match(heading):
        return heading[match.end() :]
    if (match := _GERUND.match(heading)) and (base := _BASE_OF.get(match[1].lower())):
        if _ABSTRACT.fullmatch(heading[match.end() :]):
            return ""
        return f"{base} {heading[match.end() :]}"
    first, _, rest = heading.partition(" ")
    verb = first.lower()
    if not verb.isalpha():
        return ""
    has_object = _OBJECT.match(rest) is not None
    known = verb in _BASES and (has_object or verb not in ALSO_NOUNS)
    likely = (
        re.match(r"(?:an?|the|your)\s", rest) is not None
        and verb not in _FUNCTION_WORDS
        and not _NO_BASE.fullmatch(verb)
    )
    return f"{verb} {rest}" if known or likely else ""


def _and_base(found: re.Match[str]) -> str:
    """`and Editing`, `and Edit` → `and edit`."""
    word = found[2].lower()
    verb = word if word in _BASES else _BASE_OF.get(word, found[2])
    return f"{found[1].lower()} {verb}"


def _gerund(verb: str) -> str:
    if verb in _DOUBLED:
        return f"{verb}{verb[-1]}ing"
    if verb.endswith("e") and not verb.endswith(("ee", "ye", "oe")):
        return f"{verb[:-1]}ing"
    return f"{verb}ing"


_BASE_OF = {_gerund(verb): verb for verb in _BASES}
