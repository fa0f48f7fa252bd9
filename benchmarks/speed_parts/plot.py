"""The figures of `speed.py` as plots of cost against size.

    python -m speed_parts.plot FIGURES.json FOLDER

Writes search-speed.svg and index-cost.svg. The same figures give the same bytes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

Figures = Mapping[str, float]
Line = tuple[str, str, str]  # the figure's name, its label, its colour

# Told apart by those who see few colours, too; references are grey.
_BLUE, _ORANGE, _GREEN, _PURPLE = "#0072b2", "#d55e00", "#009e73", "#8b5aa8"
_DARK, _LIGHT = "#555555", "#999999"

_STYLE = {
    "svg.hashsalt": "pincite",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.markersize": 4,
}


def draw(sizes: Sequence[Figures], folder: Path) -> list[Path]:
    """Write the plots into the folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    with rc_context(_STYLE):
        return [
            _written(_search_plot(sizes), folder / "search-speed.svg"),
            _written(_cost_plot(sizes), folder / "index-cost.svg"),
        ]


def _search_plot(sizes: Sequence[Figures]) -> Figure:
    figure = Figure(figsize=(11, 3.8))
    panels = figure.subplots(1, 3, sharey=True)
    for axes, title, searches, references in (
        (panels[0], "Words", [("words", "words", _BLUE)], [("bm25s", "bm25s in memory", _DARK)]),
        (
            panels[1],
            "Vector",
            [("vector", "vector", _ORANGE)],
            [("numpy", "NumPy scan in memory", _DARK)],
        ),
        (
            panels[2],
            "Hybrid",
            [("hybrid", "hybrid", _GREEN), ("whole", "end to end, cited", _PURPLE)],
            [("embedding", "embedding the question", _DARK)],
        ),
    ):
        for name, label, colour in searches:
            _band(axes, sizes, (f"{name}_p50_ms", label, colour), f"{name}_p95_ms")
        for name, label, colour in references:
            _line(axes, sizes, (f"{name}_p50_ms", label, colour), "--")
        _finish(axes, title, "ms")
    panels[0].set_ylabel("line: p50, band: to p95")
    _leave_room_for_legends(panels[0])
    return figure


def _cost_plot(sizes: Sequence[Figures]) -> Figure:
    figure = Figure(figsize=(11, 3.8))
    panels = figure.subplots(1, 3)
    for axes, title, unit, ours, references in (
        (
            panels[0],
            "Time",
            "s",
            [
                ("build_s", "build, vectors at hand", _BLUE),
                ("update_s", "1 % changed", _GREEN),
                ("unchanged_s", "nothing changed", _ORANGE),
            ],
            [("embedding_s", "embedding alone", _DARK)],
        ),
        (
            panels[1],
            "Disk",
            "MB",
            [
                ("database_mb", "database", _BLUE),
                ("segments_mb", "segments", _ORANGE),
                ("log_mb", "log", _GREEN),
            ],
            [("content_mb", "text and vectors", _DARK)],
        ),
        (
            panels[2],
            "Memory of a searching process",
            "MB",
            [("peak_mb", "peak", _BLUE)],
            [
                ("references_mb", "arrays of NumPy and bm25s", _DARK),
                ("model_mb", "process without an index", _LIGHT),
            ],
        ),
    ):
        for line in ours:
            _line(axes, sizes, line, "-")
        for line in references:
            _line(axes, sizes, line, "--")
        _finish(axes, title, unit)
        _leave_room_for_legends(axes)
    return figure


def _band(axes: Axes, sizes: Sequence[Figures], line: Line, upper: str) -> None:
    """A line, and what lies between it and a higher figure."""
    name, _, colour = line
    _line(axes, sizes, line, "-")
    known = [one for one in sizes if name in one]
    axes.fill_between(
        [one["chunks"] for one in known],
        [one[name] for one in known],
        [one[upper] for one in known],
        color=colour,
        alpha=0.2,
        linewidth=0,
    )


def _line(axes: Axes, sizes: Sequence[Figures], line: Line, style: str) -> None:
    name, label, colour = line
    known = [one for one in sizes if name in one]
    axes.plot(
        [one["chunks"] for one in known],
        [one[name] for one in known],
        style,
        marker="o",
        color=colour,
        label=label,
    )


def _finish(axes: Axes, title: str, unit: str) -> None:
    axes.set_title(title)
    axes.set_xlabel("chunks")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _with_unit(value, unit)))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter(NullFormatter())
    axes.grid(visible=True, color="#e5e5e5", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.legend(loc="upper left")


def _leave_room_for_legends(axes: Axes) -> None:
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * (high / low) ** 0.3)


def _short(value: float) -> str:
    for limit, letter in ((1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:g}{letter}"
    return f"{value:g}"


def _with_unit(value: float, unit: str) -> str:
    larger = {"ms": "s", "MB": "GB"}.get(unit)
    return f"{value / 1_000:g} {larger}" if larger and value >= 1_000 else f"{value:,.15g} {unit}"


def _written(figure: Figure, file: Path) -> Path:
    figure.tight_layout()
    figure.savefig(file, format="svg", facecolor="white", metadata={"Date": None})
    return file


def main() -> None:
    """Draw the plots of figures that were measured before."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figures", type=Path, help="what `speed.py --json` wrote")
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    for file in draw(json.loads(arguments.figures.read_text())["sizes"], arguments.folder):
        print(file)


if __name__ == "__main__":
    main()
