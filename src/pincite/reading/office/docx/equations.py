"""Equations of Word documents → one line of text, as people type them."""

from __future__ import annotations

from collections.abc import Callable

from pincite.reading.office.docx.names import Element, M
from pincite.reading.xml_safely import tag_of

_INVISIBLE = {0x2061: " ", 0x2062: None, 0x2063: None, 0x2064: None}
_OPEN_ENDED = ("−", "+", "-", "=", "/", "*", "·", "×", " ")


def equation(element: Element) -> str:
    """An equation's text: fractions with a slash, powers with ^, what is below with _."""
    return "".join(map(_written, element))


def _written(element: Element) -> str:
    if element.tag == M + "t":
        return (element.text or "").translate(_INVISIBLE)
    build = _BUILDERS.get(tag_of(element))
    return build(element) if build else equation(element)


def _part(element: Element, name: str) -> str:
    found = element.find(M + name)
    return "" if found is None else equation(found)


def _grouped(text: str) -> str:
    """In brackets where it would fall apart without."""
    return f"({text})" if any(sign in text.strip() for sign in _OPEN_ENDED) else text


def _character(element: Element, properties: str, name: str, usual: str) -> str:
    found = element.find(f"{M}{properties}/{M}{name}")
    return usual if found is None else found.get(M + "val", "")


def _fraction(element: Element) -> str:
    return f"{_grouped(_part(element, 'num'))}/{_grouped(_part(element, 'den'))}"


def _raised(element: Element) -> str:
    return f"{_part(element, 'e')}^{_grouped(_part(element, 'sup'))}"


def _lowered(element: Element) -> str:
    return f"{_part(element, 'e')}_{_grouped(_part(element, 'sub'))}"


def _both(element: Element) -> str:
    return f"{_lowered(element)}^{_grouped(_part(element, 'sup'))}"


def _root(element: Element) -> str:
    degree = _part(element, "deg")
    return f"{degree and f'{_grouped(degree)}'}√({_part(element, 'e')})"


def _bracketed(element: Element) -> str:
    between = _character(element, "dPr", "sepChr", "|")
    inside = between.join(equation(one) for one in element.iterchildren(M + "e"))
    opening = _character(element, "dPr", "begChr", "(")
    return f"{opening}{inside}{_character(element, 'dPr', 'endChr', ')')}"


def _summed(element: Element) -> str:
    below, above = _part(element, "sub"), _part(element, "sup")
    sign = _character(element, "naryPr", "chr", "∫")
    limits = f"{below and f'_{_grouped(below)}'}{above and f'^{_grouped(above)}'}"
    return f"{sign}{limits} {_part(element, 'e')}"


def _function(element: Element) -> str:
    return f"{_part(element, 'fName')} {_part(element, 'e')}"


def _limited(element: Element) -> str:
    return f"{_part(element, 'e')}_{_grouped(_part(element, 'lim'))}"


def _rows(element: Element) -> str:
    return "; ".join(
        ", ".join(equation(cell) for cell in row.iterchildren(M + "e"))
        for row in element.iterchildren(M + "mr")
    )


_BUILDERS: dict[str, Callable[[Element], str]] = {
    M + "f": _fraction,
    M + "sSup": _raised,
    M + "sSub": _lowered,
    M + "sSubSup": _both,
    M + "rad": _root,
    M + "d": _bracketed,
    M + "nary": _summed,
    M + "func": _function,
    M + "limLow": _limited,
    M + "m": _rows,
}
