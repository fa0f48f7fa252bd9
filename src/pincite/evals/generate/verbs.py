"""English headings that tell what to do → "How do I …?"."""

from __future__ import annotations

import re

# Verbs that are hardly ever nouns at the head of a heading.
_VERBS = """
access achieve activate add adjust adopt allow analyse analyze annotate apply approve assemble
assess assign attach audit authenticate automate avoid backport bake bind book boost bootstrap
borrow bring browse build calculate calibrate cancel change check choose claim clean clear clone
close collect combine compare compile compose compute configure confirm connect consume contact
contribute control convert cook copy create customise customize cut debug declare decode
decommission define delete deploy describe detach detect determine diagnose disable discover display
distribute download downgrade drain draw drop edit embed enable encode encrypt enforce ensure enter
escape estimate evaluate examine execute expand explain expose export extend extract fetch fill find
fit fix follow forecast format free generate get give grant group handle hide hire host identify
ignore implement import improve increase initialise initialize inject insert inspect install
integrate interpret introduce invite invoke isolate join keep launch learn leave limit list listen
load locate lock log maintain make manage measure merge migrate minimise minimize mitigate modify
monitor mount move name obtain open optimise optimize order organise organize override pack paint
park pause pay perform pick plan populate predict prepare preserve prevent print process produce
promote protect provide provision publish pull purge push query raise read rebuild receive recover
redeem redirect reduce refill register remove rename renew reopen repair replace replicate report
request require reset resize resolve restart restore restrict resume retrieve return reuse revert
review revoke rewrite roll rotate route run save scale schedule search secure select send separate
serve set share show shut simulate sort specify split start steer stop store submit subscribe
summarise summarize supply support suspend switch synchronise synchronize take tell terminate test
throw trace track train transfer transform transport translate treat troubleshoot trust tune turn
uninstall unlock update upgrade upload use validate verify view visit visualise visualize wait warm
wash watch wire work wrap write
"""
_BASES = frozenset(_VERBS.split())
# Verbs that are as often nouns: "Access control", "Test results". They need an object behind them.
_ALSO_NOUNS = """
access audit backport bake book boost bootstrap change check claim clone contact control copy cut
debug display download drain draw drop edit escape estimate export extract fill find fit fix free
format get grant group handle hide hire host import increase join keep launch leave limit list load
lock log make measure merge monitor mount move name open order override pack paint park pause pay
pick plan print process produce provision pull purge push query raise read redirect refill report
request reset return reuse review roll rotate route run save scale schedule search secure select
separate set share show sort split start stop store supply support switch take test throw trace
track train transfer transport treat trust turn update upgrade upload use view visit wait warm wash
watch wire work wrap
"""
_NEEDS_OBJECT = frozenset(_ALSO_NOUNS.split())
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


def how_to(heading: str) -> str:
    """The heading as a question for the way to do it; empty where it is no instruction."""
    task = _AND_VERB.sub(_and_base, _YOUR.sub("my", _task(heading)))
    if len(task.split()) < 2:
        return ""
    return f"How do I {_SMALL_IN_TITLE.sub(lambda found: found[0].lower(), task)}?"


def is_noun(word: str) -> bool:
    """Whether a word may be a thing: not `starts`, `started` or `starting`."""
    word = word.lower()
    if word in _BASE_OF or word in _FUNCTION_WORDS or word in _BASES - _NEEDS_OBJECT:
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
    known = verb in _BASES and (has_object or verb not in _NEEDS_OBJECT)
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
