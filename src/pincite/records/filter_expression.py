"""The filter expression: `type = pdf and (tag in (budget, plan) or not path begins drafts/)`.

expression  = all { "or" all }
all         = one { "and" one }
one         = "not" one | "(" expression ")" | field operator value
            | field ["not"] "in" "(" value { "," value } ")"
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, get_args

from pincite.errors import FilterError, did_you_mean
from pincite.records.conditions import (
    RESERVED,
    AllOf,
    AnyOf,
    Clause,
    Condition,
    Field,
    Not,
    Operator,
    type_is,
    value_problem,
)

FIELDS: tuple[Field, ...] = get_args(Field)
_LONGEST = 4_096  # characters
_DEEPEST = 50  # parentheses and `not` inside each other
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<sign><=|>=|!=|==|=|<|>) | (?P<mark>[(),])
        | "(?P<double>(?:[^"\\]|\\.)*)" | '(?P<single>(?:[^'\\]|\\.)*)'
        | (?P<word>[^\s()<>=!,"']+)
    )""",
    re.VERBOSE,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_EQUAL, _ORDERED = frozenset(("is",)), frozenset(("is", "<", "<=", ">", ">="))
_TEXTUAL = frozenset(("is", "contains", "begins", "matches"))
_OPERATORS: dict[Field, frozenset[str]] = {
    **dict.fromkeys(FIELDS, _EQUAL),
    **dict.fromkeys(("author", "name", "path", "heading"), _TEXTUAL),
    **dict.fromkeys(("confidentiality", "date"), _ORDERED),
    "text": frozenset(("contains",)),
}
_SIGNS: dict[str, Operator] = {
    **{"=": "is", "==": "is", "!=": "is", "<": "<", "<=": "<=", ">": ">", ">=": ">="},
    **{"contains": "contains", "begins": "begins", "matches": "matches"},
}


class _Token(NamedTuple):
    text: str
    at: int
    is_value: bool  # in quotes: never a field, an operator or a word of the language


@lru_cache(maxsize=64)
def parse_filter(expression: str) -> Condition:
    """The condition that an expression says; FilterError tells what is wrong with it, and where.

    Example:
        >>> str(parse_filter('type = pdf and date >= 2024'))
        '(type = pdf and date >= 2024)'
    """
    if len(expression) > _LONGEST:
        raise FilterError(f"the filter is longer than {_LONGEST} characters")
    parser = _Parser(expression, _tokens(expression))
    condition = parser.any_of(0)
    parser.expect_end()
    return condition


def _tokens(expression: str) -> list[_Token]:
    tokens, at = [], 0
    end = len(expression.rstrip())
    while at < end:
        found = _TOKEN.match(expression, at)
        if found is None:
            what = (
                "a quote is not closed" if expression[at:].lstrip()[:1] in "\"'" else "unreadable"
            )
            raise _problem(expression, len(expression) - len(expression[at:].lstrip()), what)
        kind = found.lastgroup or ""
        text = found[kind]
        quoted = kind in ("double", "single")
        text = _ESCAPED.sub(r"\1", text) if quoted else text
        tokens.append(_Token(text, found.start(kind) - quoted, quoted))
        at = found.end()
    return tokens


def _problem(expression: str, at: int, what: str) -> FilterError:
    return FilterError(f"in the filter, at character {at + 1} of {expression!r}: {what}")


class _Parser:
    """Reads tokens from left to right; one method for each line of the grammar."""

    def __init__(self, expression: str, tokens: Sequence[_Token]) -> None:
        self._expression = expression
        self._tokens = tokens
        self._next = 0

    def any_of(self, depth: int) -> Condition:
        parts = [self._all_of(depth)]
        while self._take("or"):
            parts.append(self._all_of(depth))
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))

    def _all_of(self, depth: int) -> Condition:
        parts = [self._one(depth)]
        while self._take("and"):
            parts.append(self._one(depth))
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))

    def _one(self, depth: int) -> Condition:
        if depth > _DEEPEST:
            raise self._wrong("nested too deeply")
        if self._take("not"):
            return Not(self._one(depth + 1))
        if self._take("("):
            inside = self.any_of(depth + 1)
            self._expect(")")
            return inside
        return self._clause()

    def _clause(self) -> Condition:
        field = self._field()
        negated = self._take("not")
        if self._take("in"):
            clause = self._checked(field, "is", self._values())
        else:
            if negated:
                raise self._wrong("after `not` here comes `in (…)`")
            sign = self._word("an operator such as = or contains")
            if sign.is_value or sign.text.lower() not in _SIGNS:
                raise _problem(
                    self._expression,
                    sign.at,
                    f"unknown operator {sign.text!r}; {_takes(field)}",
                )
            negated = sign.text == "!="
            value = self._value()
            clause = self._checked(field, _SIGNS[sign.text.lower()], [value])
        return Not(clause) if negated else clause

    def _field(self) -> Field:
        token = self._word("a field")
        name = token.text.lower()
        for field in FIELDS:
            if field == name and not token.is_value:
                return field
        meant = did_you_mean(name, [*FIELDS])
        raise _problem(
            self._expression,
            token.at,
            f"unknown field {token.text!r}{meant}; fields are: {', '.join(FIELDS)}",
        )

    def _values(self) -> list[_Token]:
        self._expect("(")
        values: list[_Token] = []
        if self._take(")"):
            return values
        while True:
            values.append(self._value())
            if self._take(")"):
                return values
            self._expect(",")

    def _value(self) -> _Token:
        token = self._word("a value")
        if not token.is_value and (
            token.text in _SIGNS or token.text in "()," or token.text.lower() in RESERVED
        ):
            raise _problem(
                self._expression, token.at, f"here a value belongs, not {token.text!r}; quote it"
            )
        return token

    def _checked(self, field: Field, operator: Operator, values: Sequence[_Token]) -> Condition:
        if operator not in _OPERATORS[field]:
            sign = "=" if operator == "is" else operator
            raise self._wrong(f"{field} has no operator {sign!r}; {_takes(field)}", back=True)
        for value in values:
            if problem := value_problem(field, operator, value.text):
                raise _problem(self._expression, value.at, problem)
        texts = [value.text for value in values]
        if field == "type":
            return type_is(texts)
        if field in ("modality", "confidentiality"):
            texts = [text.lower() for text in texts]
        return Clause(field, operator, tuple(texts))

    def _word(self, what: str) -> _Token:
        if self._next == len(self._tokens):
            raise self._wrong(f"{what} is missing at the end")
        self._next += 1
        return self._tokens[self._next - 1]

    def _take(self, word: str) -> bool:
        if self._next == len(self._tokens):
            return False
        token = self._tokens[self._next]
        taken = not token.is_value and token.text.lower() == word
        self._next += taken
        return taken

    def _expect(self, word: str) -> None:
        if not self._take(word):
            raise self._wrong(f"{word!r} is missing")

    def expect_end(self) -> None:
        if self._next < len(self._tokens):
            raise self._wrong("here `and`, `or` or the end belongs")

    def _wrong(self, what: str, *, back: bool = False) -> FilterError:
        number = self._next - back
        at = self._tokens[number].at if number < len(self._tokens) else len(self._expression)
        return _problem(self._expression, at, what)


def _takes(field: Field) -> str:
    signs = ["=", "!=", "in", "not in"] if "is" in _OPERATORS[field] else []
    return f"{field} takes {', '.join([*signs, *sorted(_OPERATORS[field] - {'is'})])}"
