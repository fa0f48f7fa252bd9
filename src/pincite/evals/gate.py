"""Floors that a run must not fall below: as JSON, from a run, and held against a run."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from decimal import ROUND_FLOOR, Decimal

from pincite.errors import SettingsError
from pincite.evals.judge import BY_QUESTION, LOWER_IS_BETTER
from pincite.evals.measures import ALL, OVER_RUN
from pincite.records import EvalRun, FloorCheck

Floors = dict[str, dict[str, float]]
"""By kind of question or "all", and by figure."""

FLOOR_FIGURES = tuple(name for name in (*BY_QUESTION, *OVER_RUN) if name not in LOWER_IS_BETTER)
"""What a floor can be set for: figures of which more is better."""

# Similarity says more about the model than about what is found.
_QUALITY = (
    *(name for name in BY_QUESTION if name not in (*LOWER_IS_BETTER, "similarity")),
    "abstention_auroc",
    "refusal_precision",
    "refusal_recall",
)
_COUNTS = ("questions", "unanswerable")  # else the floors hold once the hard questions are gone
_EXAMPLE = '{"all": {"ndcg@10": 0.8}, "exact_term": {"hit@3": 1.0}}'


def parse_floors(text: str) -> Floors:
    """The floors written as JSON; whatever is wrong with them is a SettingsError."""
    try:
        # Whole numbers too large for a float become infinite and are refused with the others.
        parsed = json.loads(text, parse_int=float, object_pairs_hook=_without_twins)
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"the floors are not JSON ({error}); write {_EXAMPLE}") from error
    if not isinstance(parsed, dict) or not parsed:
        raise SettingsError(f"the floors must be an object of kinds; write {_EXAMPLE}")
    for kind, figures in parsed.items():
        if not isinstance(figures, dict) or not figures:
            raise SettingsError(
                f"the floors of {kind!r} must be numbers by figure; write {_EXAMPLE}"
            )
        for figure, floor in figures.items():
            if figure in LOWER_IS_BETTER:
                raise SettingsError(
                    f"{figure!r} is better when lower, so it has no floor; leave it out"
                )
            if figure not in FLOOR_FIGURES:
                known = ", ".join(FLOOR_FIGURES)
                raise SettingsError(f"unknown figure {figure!r}; use one of: {known}")
            if figure in OVER_RUN and kind != ALL:
                raise SettingsError(f"only {ALL!r} has {figure!r}; move it there from {kind!r}")
            if not isinstance(floor, float) or not math.isfinite(floor):
                raise SettingsError(
                    f"the floor of {kind!r} {figure!r} must be a number, not {floor}"
                )
    return parsed


def dump_floors(floors: Mapping[str, Mapping[str, float]]) -> str:
    """The floors as JSON that reads well and changes only where they change."""
    return json.dumps(floors, indent=2, ensure_ascii=False) + "\n"


def floors_from(run: EvalRun, *, slack: float) -> Floors:
    """Floors that the run itself holds: its figures less the slack, rounded down to 3 decimals.

    There must also be as many questions as there were.
    """
    if not (math.isfinite(slack) and slack >= 0):
        raise SettingsError(f"the slack must be 0 or more, not {slack}")
    floors = {
        kind: {name: _lowered(figures[name], slack) for name in _QUALITY if name in figures}
        for kind, figures in run.figures.items()
    }
    if ALL in floors:
        counted = run.figures[ALL]
        floors[ALL] |= {name: counted[name] for name in _COUNTS if counted.get(name, 0) > 0}
    return {kind: of_kind for kind, of_kind in floors.items() if of_kind}


def check(run: EvalRun, floors: Mapping[str, Mapping[str, float]]) -> list[FloorCheck]:
    """Every floor against the run, in the order of the floors."""
    return [
        FloorCheck(kind, figure, floor, run.figures.get(kind, {}).get(figure))
        for kind, of_kind in floors.items()
        for figure, floor in of_kind.items()
    ]


def _without_twins(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Of two equal names JSON keeps the last one, and a floor would be lost unseen."""
    kept = dict(pairs)
    if len(kept) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise SettingsError(f"the floors name {twice!r} twice; keep one of them")
    return kept


def _lowered(value: float, slack: float) -> float:
    """Computed in decimals, because 0.57 - 0.01 in binary would be rounded down to 0.559."""
    lowered = Decimal(str(value)) - Decimal(str(slack))
    return float(max(lowered.quantize(Decimal("0.001"), rounding=ROUND_FLOOR), Decimal(0)))
