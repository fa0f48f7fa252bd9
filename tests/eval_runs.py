"""Eval runs that tests share."""

from __future__ import annotations

from collections.abc import Mapping

from pincite.records import CaseResult, EvalRun, EvalSetup

SETUP = EvalSetup(
    mode="hybrid",
    settings={"top_k_words": 100, "absent_rank": None},
    policy="vault",
    model="minilm",
    fingerprint="minilm:1",
    index="vault of today",
    documents=26,
    chunks=3310,
    version="1.2.3",
    commit="abc123",
)


def eval_run(
    *results: CaseResult,
    id: str = "20260203-040506-aaaaaa",
    label: str = "",
    setup: EvalSetup = SETUP,
    figures: Mapping[str, Mapping[str, float]] | None = None,
    latency: Mapping[str, Mapping[str, float]] | None = None,
) -> EvalRun:
    """A run with these results, and whatever figures it is said to have."""
    return EvalRun(
        id=id,
        label=label,
        made_at="2026-02-03T04:05:06+00:00",
        cases="golden.jsonl",
        setup=setup,
        results=results,
        figures=figures or {},
        latency=latency or {},
    )
