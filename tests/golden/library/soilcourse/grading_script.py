"""Turn marks into grades for CE-231, with the two rules that everyone forgets."""

from statistics import fmean

WEIGHTS = {"labs": 30, "sheets": 20, "midterm": 20, "final": 30}
PASS_LABS = 50.0


def late_penalty(mark: float, days_late: int) -> float:
    """A tenth for each day; nothing is worth handing in after three."""
    return 0.0 if days_late > 3 else mark * (1 - 0.1 * days_late)


def best_sheets(marks: list[float], keep: int = 5) -> float:
    """The worst sheet does not count, provided that all six were handed in."""
    return fmean(sorted(marks, reverse=True)[:keep]) if len(marks) == 6 else fmean([*marks, 0.0])


def course_mark(parts: dict[str, float]) -> tuple[float, bool]:
    """Weighted mark and whether it is a pass. Failed labs fail the course, whatever the final."""
    mark = sum(WEIGHTS[name] * parts[name] for name in WEIGHTS) / 100
    return round(mark, 1), mark >= 50 and parts["labs"] >= PASS_LABS
