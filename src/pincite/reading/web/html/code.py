"""What stands in a <pre>: code, or a text that somebody wrote on a typewriter."""

from __future__ import annotations

import re

_SIGNS = re.compile(r"[{}\[\]<>=_/\\|*#$@&+;`~^]")
_FEW_SIGNS = 0.015  # of all characters that are no spaces
_SHORTEST_PROSE = 400  # characters; less than that is kept as it is
_SAMPLE = 20_000
_MOST_DIGITS = 6  # of the number of a line


def is_prose(text: str) -> bool:
    """Whether preformatted text is sentences: then it is searched like any other text."""
    sample = text[:_SAMPLE]
    letters = len("".join(sample.split()))
    return letters >= _SHORTEST_PROSE and len(_SIGNS.findall(sample)) <= _FEW_SIGNS * letters


def numbers_lines(text: str) -> bool:
    """Whether it is only the numbers of the lines of the code beside it."""
    words = text.split()
    if not all(word.isdecimal() and len(word) <= _MOST_DIGITS for word in words):
        return False
    numbers = [int(word) for word in words]
    return len(numbers) > 1 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
