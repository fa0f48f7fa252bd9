"""Tables, charts and diagrams on slides → rows and items."""

from __future__ import annotations

from collections.abc import Iterator

from pincite.reading.office.pptx.names import CHART, DIAGRAM, DRAWING, Element
from pincite.reading.office.pptx.text import text_of

_MOST_POINTS = 500  # of a chart; what has more is drawn from data that nobody reads there
_MOST_SERIES = 50
# Points of a diagram that say how it is drawn, not what it says.
_CONNECTIONS = ("pres", "parTrans", "sibTrans")  # codespell:ignore pres
_SERIES = CHART + "ser"  # codespell:ignore ser

Rows = list[list[str]]


def table_rows(table: Element) -> Rows:
    """The cells of a table, line by line; those merged into another are empty."""
    return [
        [" ".join(text_of(cell).split()) for cell in row.iterchildren(DRAWING + "tc")]
        for row in table.iterchildren(DRAWING + "tr")
    ]


def chart_title(chart: Element) -> str:
    """What stands above a chart; empty if nothing does."""
    title = chart.find(f"{CHART}chart/{CHART}title")
    return "" if title is None else " ".join(text_of(title).split())


def chart_rows(chart: Element) -> Rows:
    """A chart as a table: a column for each series, a row for each category."""
    columns: list[tuple[str, dict[str, str]]] = []
    categories: dict[str, str] = {}
    for series in list(chart.iter(_SERIES))[:_MOST_SERIES]:
        named = series.find(CHART + "tx")
        name = "" if named is None else " ".join(one.text or "" for one in named.iter(CHART + "v"))
        values = _points(series, "val", "yVal")
        for index, category in _points(series, "cat", "xVal").items():
            categories.setdefault(index, category)
        for index in values:
            categories.setdefault(index, "")
        columns.append((name, values))
    if not any(values for _, values in columns):
        return []
    header = ["", *(name for name, _ in columns)]
    return [
        header,
        *(
            [name, *(values.get(at, "") for _, values in columns)]
            for at, name in categories.items()
        ),
    ][: _MOST_POINTS + 1]


def _points(series: Element, *names: str) -> dict[str, str]:
    """What the chart remembers of its data, by the number of the point."""
    found = {}
    for name in names:
        data = series.find(CHART + name)
        for point in () if data is None else data.iter(CHART + "pt"):
            found[point.get("idx", "")] = _shown(point.findtext(CHART + "v") or "")
    return found


def _shown(value: str) -> str:
    """A number with the precision of Office; any other text as it is."""
    try:
        return f"{float(value):.15g}"
    except ValueError:
        return " ".join(value.split())


def diagram_items(diagram: Element) -> Iterator[str]:
    """What the nodes of a diagram say."""
    for node in diagram.iter(DIAGRAM + "pt"):
        if node.get("type") not in _CONNECTIONS:
            yield " ".join(text_of(node).split())
