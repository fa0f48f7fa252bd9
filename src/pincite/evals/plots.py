"""Numbers → SVG that reads well in a column as narrow as a phone and needs nothing around it.

Every bar carries its name and its value, so that nobody has to tell colours apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from itertools import cycle
from unicodedata import east_asian_width

from pincite.text.printable import printable

Groups = Mapping[str, Mapping[str, float]]
Write = Callable[[float], str]

_WIDTH = 400  # of every plot, in its own units: about a phone's pixels
_LEFT, _RIGHT = 92, 340  # where the bars begin and where the longest may end
_ROW, _HEADING, _GAP = 19, 22, 12  # heights
_NAME_COLUMNS, _HEADING_COLUMNS = 13, 54  # characters that fit
_INTERVALS = 4  # between ticks, at most one more
_SMALLEST = 1e-9  # less is nothing: the scale then ends at 1

# Hues that stay apart for colour-blind people, on white and on black; shades for what is ordered.
# Only a screen is ever dark: paper is printed in the light colours.
_STYLE = """
.plot{--ink:#1d1d1b;--faint:#62625c;--rule:#dcdcd6;
--a:#0072b2;--b:#d55e00;--c:#008a64;--d:#a8558a;--a2:#3d8fc2;--a3:#7fb4d6}
@media screen and (prefers-color-scheme:dark){
.plot{--ink:#e8e8e3;--faint:#a3a39b;--rule:#3b3c38;
--a:#56b4e9;--b:#e69f00;--c:#2fb98d;--d:#d692bd;--a2:#4190bd;--a3:#35708f}}
.plot text{font:12.5px system-ui,sans-serif;fill:var(--ink);font-variant-numeric:tabular-nums}
.plot .faint{fill:var(--faint)}.plot .strong{font-weight:600}
.plot .rule{stroke:var(--rule);fill:none}
.plot .line{stroke:var(--a);stroke-width:2;stroke-linejoin:round;fill:none}
.plot .a{fill:var(--a)}.plot .b{fill:var(--b)}.plot .c{fill:var(--c)}.plot .d{fill:var(--d)}
.plot .a2{fill:var(--a2)}.plot .a3{fill:var(--a3)}
"""
_HUES = ("a", "b", "c", "d")
_SHADES = ("a", "a2", "a3")


def bars(
    groups: Groups,
    *,
    name: str,
    title: str,
    write: Write,
    most: float | None = None,
    ordered: bool = False,
) -> str:
    """Lying bars under the name of their group. `most` is the end of the scale, where it has one.

    `ordered`: the bars of a group grow from one to the next, and get shades of one colour.
    """
    shown = {
        group: {bar: max(value, 0.0) for bar, value in values.items() if math.isfinite(value)}
        for group, values in groups.items()
    }
    ticks = _ticks(most or max((max(of.values(), default=0) for of in shown.values()), default=0))
    colours = _SHADES if ordered else _HUES
    names = dict.fromkeys(bar for values in shown.values() for bar in values)
    colour_of = dict(zip(names, cycle(colours), strict=False))
    across = [(_LEFT + tick / ticks[-1] * (_RIGHT - _LEFT), tick) for tick in ticks]
    parts: list[str] = []
    y = 0
    for group, values in shown.items():
        parts.append(_text(0, y + 14, _fitted(group, _HEADING_COLUMNS), "strong"))
        y += _HEADING
        parts.extend(_rule(x, y, x, y + _ROW * len(values)) for x, _ in across)
        for bar, value in values.items():
            length = value / ticks[-1] * (_RIGHT - _LEFT)
            parts += [
                _text(_LEFT - 8, y + 12, _fitted(bar, _NAME_COLUMNS), "faint", "end"),
                f'<rect class="{colour_of[bar]}" x="{_LEFT}" y="{y + 2}" width="{length:.1f}" '
                'height="13"/>',
                _text(_LEFT + length + 6, y + 13, write(value)),
            ]
            y += _ROW
        y += _GAP
    parts.extend(_text(x, y + 4, f"{tick:,g}", "faint", "middle") for x, tick in across)
    words = "; ".join(
        f"{group}: {', '.join(f'{bar} {write(value)}' for bar, value in values.items())}"
        for group, values in shown.items()
    )
    return _svg(parts, y + 12, name=name, title=title, words=words)


_CURVE_HEIGHT = 190
_CURVE_LEFT, _CURVE_RIGHT = 46, 378


def curve(
    points: Sequence[tuple[float, float]],
    *,
    name: str,
    title: str,
    axes: tuple[str, str],
    mark: tuple[float, float] | None = None,
) -> str:
    """A line through shares (0 to 1) of two things; `mark` is the point to look at."""
    ticks_up = _ticks(max((y for _, y in points), default=0))

    def place(x: float, y: float) -> tuple[float, float]:
        across = _CURVE_LEFT + x * (_CURVE_RIGHT - _CURVE_LEFT)
        return across, 24 + (1 - y / ticks_up[-1]) * _CURVE_HEIGHT

    parts = [_text(0, 12, axes[1], "faint")]
    for tick in ticks_up:
        y = place(0, tick)[1]
        parts.append(_rule(_CURVE_LEFT, y, _CURVE_RIGHT, y))
        parts.append(_text(_CURVE_LEFT - 8, y + 4, percent(tick), "faint", "end"))
    bottom = place(0, 0)[1]
    for tick in _ticks(1):
        x = place(tick, 0)[0]
        parts.append(_rule(x, bottom, x, bottom + 5))
        parts.append(_text(x, bottom + 20, percent(tick), "faint", "middle"))
    parts.append(_text(_CURVE_RIGHT, bottom + 40, axes[0], "faint", "end"))
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in points))
    parts.append(f'<polyline class="line" points="{line}"/>')
    words = ""
    if mark is not None:
        x, y = place(*mark)
        parts.append(f'<circle class="a" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>')
        words = f"Marked: {axes[0]} {percent(mark[0])}, {axes[1]} {percent(mark[1])}"
    return _svg(parts, int(bottom) + 46, name=name, title=title, words=words)


def percent(share: float) -> str:
    """`62 %`, or `2.5 %` where that is not a whole number."""
    return f"{round(share * 100, 1):g} %"


def _ticks(most: float) -> list[float]:
    """From 0 in round steps to the first one that is not below `most`."""
    if most < _SMALLEST:
        most = 1.0
    rough = most / _INTERVALS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * size for size in (1, 2, 2.5, 5, 10) if power * size >= rough * 0.999)
    return [step * at for at in range(math.ceil(most / step - 1e-9) + 1)]


def _fitted(text: str, columns: int) -> str:
    """As much of a text as fits; wide characters take two columns."""
    text = printable(text)
    used = 0
    for at, char in enumerate(text):
        used += 2 if east_asian_width(char) in "WF" else 1
        if used > columns:
            return text[: at - 1] + "…"
    return text


def _text(x: float, y: float, text: str, style: str = "", anchor: str = "start") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" class="{style}" text-anchor="{anchor}">{_safe(text)}</text>'
    )


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="rule" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _safe(text: str) -> str:
    """Names of kinds and stages come from files that anyone may have written."""
    return escape(printable(text))


def _svg(parts: Sequence[str], height: int, *, name: str, title: str, words: str) -> str:
    title_id, words_id = f"{name}-title", f"{name}-words"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="plot" viewBox="0 0 {_WIDTH} {height}"'
        f' role="img" aria-labelledby="{title_id}" aria-describedby="{words_id}">'
        f'<title id="{title_id}">{_safe(title)}</title><desc id="{words_id}">{_safe(words)}</desc>'
        f"<style>{_STYLE}</style>{''.join(parts)}</svg>"
    )
