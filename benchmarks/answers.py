"""How the sample library's questions are answered: rightly, wrongly, or not at all.

    python benchmarks/answers.py [--caution P] [--misses]

Indexes examples/library afresh and asks every question of tests/golden. An answer is right where
its claims hold the expected words; every citation is read again in the library. Questions without
an answer are told apart: those of questions.jsonl, and those of unanswerable.jsonl, which were
written by somebody who knew the documents and not the code.
"""

from __future__ import annotations

import argparse
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from public_sets.index import scratch_folder
from quality import row

from pincite import Answer, AskSettings, Library, open_library
from pincite.evals.cases import parse_cases
from pincite.records import Case, Outcome

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "tests" / "golden"


@dataclass(frozen=True)
class Asked:
    """A question with what came of it."""

    case: Case
    told: Outcome

    @property
    def is_answered(self) -> bool:
        """Whether there is an answer, right or wrong."""
        return isinstance(self.told, Answer)

    def is_right(self, first: int | None = None, *, with_context: bool = False) -> bool:
        """Whether what is shown holds every expected word: quotes with their places."""
        shown = self.shown(first, with_context=with_context)
        return self.is_answered and all(term in shown for term in self.case.terms)

    def shown(self, first: int | None = None, *, with_context: bool = False) -> str:
        """The first claims as they are printed, on one line."""
        claims = self.told.claims[:first] if isinstance(self.told, Answer) else ()
        parts = [
            (one.before * with_context, one.lead, one.quote, one.after * with_context, one.citation)
            for claim in claims
            for one in claim.citations
        ]
        return " ".join(" ".join(map(" ".join, parts)).split())


def wrong_citations(library: Library, asked: Sequence[Asked]) -> int:
    """Citations whose words do not stand at their place."""
    return sum(
        library.show(one.chunk_id, around=0).document.text[one.start : one.end] != one.quote
        for each in asked
        if isinstance(each.told, Answer)
        for claim in each.told.claims
        for one in claim.citations
    )


def share(these: Sequence[object]) -> str:
    """How many, and of how many."""
    yes = sum(map(bool, these))
    return f"{yes} of {len(these)} ({yes / max(len(these), 1):.1%})"


def report(library: Library, asked: Sequence[Asked], written: Sequence[Asked]) -> Iterable[str]:
    """The tables."""
    answerable = [one for one in asked if not one.case.unanswerable]
    expecting = [one for one in answerable if one.case.terms and one.is_answered]
    none = [one for one in asked if one.case.unanswerable]
    yield row(["answerable questions answered", share([one.is_answered for one in answerable])])
    yield row(["of those, hold the expected words", share([o.is_right() for o in expecting])])
    yield row(["in the first claim", share([one.is_right(1) for one in expecting])])
    around = [one.is_right(with_context=True) for one in expecting]
    yield row(["with the context that is shown", share(around)])
    yield row(["wrong citations", str(wrong_citations(library, [*asked, *written]))])
    yield row(["golden questions without answer refused", share([not o.is_answered for o in none])])
    yield row(["further ones refused", share([not one.is_answered for one in written])])
    told = [one.told for one in (*asked, *written)]
    reasons = Counter(getattr(one, "reason", "answered") for one in told)
    yield row(["reasons", ", ".join(f"{name} {count}" for name, count in reasons.most_common())])
    seconds = np.array([sum(one.seconds.values()) for one in told]) * 1000
    p50, p95 = np.percentile(seconds, [50, 95])
    yield row(["milliseconds, p50 / p95", f"{p50:.1f} / {p95:.1f}"])


def misses(asked: Sequence[Asked], written: Sequence[Asked]) -> Iterable[str]:
    """What went wrong, question by question."""
    for one in (*asked, *written):
        is_refused = not one.is_answered and not one.case.unanswerable
        is_wrong = one.is_answered and (one.case.unanswerable or not one.is_right())
        if is_refused or is_wrong:
            kind = "refused" if is_refused else "answered" if one.case.unanswerable else "wrong"
            probability = "–" if one.told.probability is None else f"{one.told.probability:.2f}"
            said = one.shown()[:160] if one.is_answered else getattr(one.told, "message", "")
            yield f"{kind} {probability} {one.case.question}\n    {one.case.terms} ← {said}"


def main() -> None:
    """Index, ask, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--caution", type=float, default=AskSettings.caution)
    parser.add_argument("--misses", action="store_true")
    chosen = parser.parse_args()
    asking = AskSettings(caution=chosen.caution)
    sets = [
        parse_cases((GOLDEN / name).read_text(encoding="utf-8"), name=name)
        for name in ("questions.jsonl", "hard.jsonl", "unanswerable.jsonl")
    ]
    with scratch_folder() as scratch:
        folder = scratch / "library"
        ignored = shutil.ignore_patterns(".index")
        shutil.copytree(ROOT / "examples" / "library", folder, ignore=ignored)
        with open_library(folder) as library:
            library.index()
            golden, hard, written = (
                [
                    Asked(one, library.ask(one.question, filters=one.filters, asking=asking))
                    for one in cases
                ]
                for cases in sets
            )
            for name, asked in (("golden", golden), ("golden and hard", [*golden, *hard])):
                print(row([f"sample library, {name}", f"caution {asking.caution}"]))
                print("\n".join(report(library, asked, written)), end="\n\n")
    if chosen.misses:
        print("\n".join(misses([*golden, *hard], written)))


if __name__ == "__main__":
    main()
