"""The figures of `speed.py` as Markdown tables, one row for each size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

Figures = Mapping[str, float]
Column = tuple[str, Callable[[Figures], str]]


def _latency(search: str) -> Callable[[Figures], str]:
    def cell(figures: Figures) -> str:
        return f"{_number(figures[f'{search}_p50_ms'])} / {_number(figures[f'{search}_p95_ms'])}"

    return cell


def _ratio(search: str, *references: str) -> Callable[[Figures], str]:
    def cell(figures: Figures) -> str:
        together = sum(figures[f"{reference}_p50_ms"] for reference in references)
        return f"{_number(figures[f'{search}_p50_ms'] / together)} ×"

    return cell


def _value(name: str, per: str | None = None, *, unit: str = "") -> Callable[[Figures], str]:
    def cell(figures: Figures) -> str:
        return f"{_number(figures[name] / (figures[per] if per else 1))}{unit}"

    return cell


def _count(name: str) -> Callable[[Figures], str]:
    return lambda figures: f"{figures[name]:,.0f}"


def _share(name: str, whole: str) -> Callable[[Figures], str]:
    return lambda figures: f"{figures[name] / figures[whole]:.2%}"


_SEARCH: Sequence[Column] = (
    ("chunks", _count("chunks")),
    ("words", _latency("words")),
    ("to bm25s", _ratio("words", "bm25s")),
    ("vector", _latency("vector")),
    ("to NumPy", _ratio("vector", "numpy")),
    ("hybrid", _latency("hybrid")),
    ("to both", _ratio("hybrid", "bm25s", "numpy")),
    ("embedding the question", _latency("embedding")),
    ("end to end", _latency("whole")),
    ("to all three", _ratio("whole", "bm25s", "numpy", "embedding")),
)
_BUILD: Sequence[Column] = (
    ("chunks", _count("chunks")),
    ("documents", _count("documents")),
    ("vectors", _count("vectors")),
    ("build, s", _value("build_s")),
    ("of it computing", _value("build_computing_s")),
    ("documents / s", _value("documents", "build_s")),
    ("chunks / s", _value("chunks", "build_s")),
    ("to embedding alone", _value("build_s", "embedding_s", unit=" ×")),
    ("1 % changed, s", _value("update_s")),
    ("of build", _share("update_s", "build_s")),
    ("nothing changed, s", _value("unchanged_s")),
    ("of build", _share("unchanged_s", "build_s")),
)
_ROOM: Sequence[Column] = (
    ("chunks", _count("chunks")),
    ("memory, MB", _value("memory_mb")),
    ("at its peak", _value("peak_mb")),
    ("of it without the index", _value("model_mb")),
    ("to the references' arrays", _value("memory_mb", "references_mb", unit=" ×")),
    ("database, MB", _value("database_mb")),
    ("segments, MB", _value("segments_mb")),
    ("log, MB", _value("log_mb")),
    ("to text and vectors", _value("disk_mb", "content_mb", unit=" ×")),
    ("first result of a process, s", _value("first_search_s")),
)


def markdown(sizes: Sequence[Figures]) -> str:
    """Three tables: searching, building, memory and disk."""
    return "\n\n".join(
        f"**{title}**\n\n{_table(columns, sizes)}"
        for title, columns in (
            ("Search, p50 / p95 in ms; ratios of p50", _SEARCH),
            ("Build and update, without reading and embedding", _BUILD),
            ("Memory and disk", _ROOM),
        )
    )


def _table(columns: Sequence[Column], sizes: Sequence[Figures]) -> str:
    lines = [[title for title, _ in columns], ["---:"] * len(columns)]
    lines.extend([_cell(cell, figures) for _, cell in columns] for figures in sizes)
    return "\n".join(_line(cells) for cells in lines)


def _cell(cell: Callable[[Figures], str], figures: Figures) -> str:
    try:
        return cell(figures)
    except KeyError:
        return "–"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _number(value: float) -> str:
    """Three digits that count, and no more."""
    for smallest, digits in ((100, 0), (10, 1), (1, 2)):
        if value >= smallest:
            return f"{value:,.{digits}f}"
    return f"{value:.2g}"
