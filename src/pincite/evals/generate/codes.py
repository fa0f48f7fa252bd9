"""Codes, identifiers and the like that stand in one document only → questions by the letter."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice

from pincite.evals.generate.draft import Clear, Idea, Source
from pincite.evals.generate.headings import keys_of
from pincite.evals.generate.phrases import asked
from pincite.text.words import indexed_codes, question_codes

_FURTHEST = 200_000  # characters that are looked at
_MOST = 40  # of one document
_TOKEN = re.compile(
    r"(?<![^\s`\"'“‘(\[|*,])"
    r"[A-Za-z][A-Za-z0-9]*[-_.][\w.-]{1,60}(?<=\w)"
    r"(?![^\s`\"'”’)\]|*,;:.!?])(?!\.\w)"
)
# ERR-4042, D-2024-05, WR-22-N: capitals first, a digit somewhere.
_NUMBERED = re.compile(r"(?=.*\d)[A-Z]{1,8}\d{0,4}(?:[-_][A-Z0-9]{1,8}){1,4}")
# max_file_bytes, clock.max_skew_ms, TIDE_HOME: words joined by underscores, dots in between.
_JOINED = re.compile(
    r"(?=.{5,40}$)(?=.*_)(?!.*\.(?:ya?ml|json|md|txt|py|sh|conf|internal)$)"
    r"[A-Za-z][A-Za-z0-9]*(?:[_.][A-Za-z][A-Za-z0-9]+){1,5}"
)
# parse_reply, TidePole, offTheRocks: put together from words, and not too long to be typed.
_NAME = re.compile(r"(?=.{6,32}$)[A-Za-z][a-z0-9]+(?:_?[A-Z][A-Za-z0-9]+|_[a-z0-9]+)+")
_ERROR = re.compile(r"(?:E|ERR|ERROR|WARN|FAULT|EXIT|CVE|F|W)[-_]", re.IGNORECASE)
_STANDARD = re.compile(r"UTC|GMT|ISO|UTF|SHA|MD5|COVID|BASE", re.I)
_MARKED_UP = ("md", "rst", "org")  # types in which an identifier in the text is marked as one
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1", re.MULTILINE | re.DOTALL)
_BEFORE = re.compile(r"([A-Za-z]{4,12})\s+[`\"“*(\[]*$")
_NUMBERED_THINGS = """
article batch clause contract decision device drawing error exhibit flight form incident instruction
invoice issue item licence license machine method model notice order panel part patent permit policy
product project proposal protocol receipt regulation report request requirement review rule sample
section sensor ship standard station ticket tool unit valve
"""
_THINGS = frozenset(_NUMBERED_THINGS.split())


def code_keys(source: Source) -> Iterator[str]:
    """Every code of the document."""
    # No code holds white space, and most words stand in a text more than once.
    tokens = {token for token in source.text.split() if not token.isalpha()}
    yield from indexed_codes(" ".join(tokens)).split()


def from_codes(source: Source) -> Iterator[Idea]:
    """A question for codes and identifiers, those in headings first."""
    for section, name in source.sections if source.is_code else ():  # what is defined in it
        if _NAME.fullmatch(name):
            yield Idea(
                question=f"Where is {name} defined?",
                kind="exact_term",
                note=f"{name} is defined in this file only",
                clear=Clear(one_alone=keys_of(name)),
                at=(section.start, section.end),
                terms=(name,),
                rank=1,
            )
    if source.language is not None and not source.is_code:
        yield from islice(_from_text(source), _MOST)


def question_for(code: str, language: str, thing: str = "") -> str:
    """How somebody asks for a code."""
    if language != "en":
        return asked(language, "is", x=code)
    if _ERROR.match(code):
        return f"What does {code} mean?"
    if thing:
        return f"What is {thing} {code}?"
    return f"What is {code} for?" if _JOINED.fullmatch(code) else f"What is {code}?"


def _from_text(source: Source) -> Iterator[Idea]:
    text = source.text[:_FURTHEST]
    fences = [match.span() for match in _FENCED.finditer(text)]
    found: set[str] = set()
    for match in _TOKEN.finditer(text):
        code = match.group()
        fence = bisect_right(fences, match.start(), key=lambda span: span[0])
        is_fenced = fence > 0 and match.start() < fences[fence - 1][1]
        if code in found or is_fenced or not _is_code(code):
            continue
        # The last section that begins before, with its heading.
        after = bisect_right(source.sections, match.start(), key=lambda one: one[0].start)
        section, heading = source.sections[max(after - 1, 0)]
        in_heading = code in heading and match.start() < section.end
        if _JOINED.fullmatch(code) and not (in_heading or _is_marked(source, match.start())):
            continue
        found.add(code)
        at = (section.start, section.end) if in_heading else match.span()
        # What the code is of, where the text says so: `decision D-2024-05`.
        before = _BEFORE.search(text, max(0, match.start() - 20), match.start())
        thing = before[1].lower() if before and not _JOINED.fullmatch(code) else ""
        thing = thing if thing in _THINGS else ""
        yield Idea(
            question=question_for(code, source.language or "en", thing),
            kind="exact_term",
            note=f"{code} stands in this document only",
            clear=Clear(one_alone=(indexed_codes(code),)),
            about=code,
            at=at,
            terms=(code,),
            rank=0 if in_heading else 1 if thing else 2,
        )


def _is_code(token: str) -> bool:
    """Whether the search, too, takes the token for one code, and somebody might ask for it."""
    if not _NUMBERED.fullmatch(token) and not _JOINED.fullmatch(token):
        return False
    codes = [code for term in question_codes(token) for code in term.tokens]
    return not _STANDARD.match(token) and codes == [indexed_codes(token)]


def _is_marked(source: Source, at: int) -> bool:
    """Whether an identifier stands there to be read, not as part of a link or a template."""
    if source.document.type not in _MARKED_UP or source.text[at - 1 : at] == "`":
        return True
    line = source.text[source.text.rfind("\n", 0, at) + 1 : at]
    return line.lstrip().startswith("|")
