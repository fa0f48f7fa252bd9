"""What `peers.py` measured, as Markdown: one table, and how each engine was set up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from peers_parts.engines import REFERENCE

Report = Mapping[str, Any]  # as it is in the JSON file

_COLUMNS = {
    "engine": "---",
    "search": "---",
    "nDCG@10": "---:",
    "p50 ms": "---:",
    "p95 ms": "---:",
    "p50 to NumPy": "---:",
    "index s": "---:",
    "disk MB": "---:",
    "memory MB": "---:",
}


def table(report: Report) -> str:
    """The whole report."""
    lines = [
        f"{report['set']}: {report['documents']:,} documents as {report['passages']:,} passages "
        f"with {report['dimensions']} dimensions each, {report['questions']:,} questions.",
        "One core; nothing is embedded while time counts. An engine's memory is what its process "
        "needed beyond the corpus, at the peak.",
        "",
        _row(list(_COLUMNS)),
        _row(list(_COLUMNS.values())),
        *_rows(report),
        "",
        *(f"- {engine['name']}: {engine['setup']}." for engine in report["engines"]),
        *(f"- {name}: failed." for name in report["failed"]),
    ]
    return "\n".join(lines)


def _rows(report: Report) -> Iterator[str]:
    reference = _reference_ms(report)
    for engine in report["engines"]:
        name = f"{engine['name']} {engine['version']}"
        # One index serves all its searches.
        costs = [
            f"{engine['index_seconds']:,.1f}",
            _megabytes(engine["disk_bytes"]) if engine["disk_bytes"] else "memory",
            _megabytes(engine["memory_bytes"]),
        ]
        for mode, searched in engine["modes"].items():
            p50 = searched["p50_ms"]
            times = "" if reference is None else f"{p50 / reference:,.2f}"
            figures = [f"{searched['ndcg_at_10']:.3f}", f"{p50:,.2f}", f"{searched['p95_ms']:,.2f}"]
            yield _row([name, mode, *figures, times, *costs])
            name, costs = "", ["", "", ""]


def _reference_ms(report: Report) -> float | None:
    for engine in report["engines"]:
        if engine["name"] == REFERENCE:
            milliseconds: float = engine["modes"]["vector"]["p50_ms"]
            return milliseconds
    return None


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.0f}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
