"""How the sample library's questions are answered: rightly, wrongly, or not at all.

    python benchmarks/answers.py [--caution P] [--misses]
    python benchmarks/answers.py --stages DATA_FOLDER [--set fiqa] [--indexes FOLDER] [--cache FILE]

Indexes examples/library afresh and asks every question of tests/golden. An answer is right where
its claims hold the expected words; every citation is read again in the library. Questions without
an answer are told apart: those of questions.jsonl, and those of unanswerable.jsonl, which were
written by somebody who knew the documents and not the code.

`--stages` asks a public set's questions of its whole library, and tells how long each stage of an
answer takes, in milliseconds, and the peak of memory.
"""

from __future__ import annotations

import argparse
import resource
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from meter import Meter
from platformdirs import user_cache_path
from public_sets.embedding_cache import CachedEmbedder
from public_sets.index import build, index_folder, scratch_folder
from public_sets.sets import load
from quality import row, some

from pincite import Answer, AskSettings, Library, SearchSettings, open_library
from pincite.answer.flow import Readers, ask
from pincite.engine.models import Embedders, ModelAccess
from pincite.engine.searching import Stopwatch
from pincite.evals.cases import parse_cases
from pincite.records import Case, Outcome
from pincite.retrieve.flow import search
from pincite.retrieve.quote import by_cosine
from pincite.settings import DEFAULT_MODEL

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


def stages(chosen: argparse.Namespace) -> Iterable[str]:
    """How long each stage takes on a large library; the model embeds question and units."""
    dataset = load(chosen.stages, chosen.set)
    model = Embedders(ModelAccess()).named(DEFAULT_MODEL)
    taken: dict[str, list[float]] = {}
    with (
        CachedEmbedder(model, chosen.cache) as cached,
        index_folder(chosen.indexes, chosen.set) as folder,
    ):
        store = build(dataset, cached, folder, Meter(f"{chosen.set} index").indexed)
        for case in some(dataset.cases, 100):
            watch = Stopwatch()
            search_in = partial(search, store=store, embedder=model, mode="hybrid", lap=watch.lap)
            found = partial(search_in, filters=case.filters, settings=SearchSettings())
            readers = Readers(scorer=by_cosine(model))
            asking = AskSettings(caution=0)
            ask(case.question, found, store, asking, count=len, readers=readers, lap=watch.lap)
            watch.seconds.pop("search", None)
            for stage, seconds in (*watch.seconds.items(), ("all", sum(watch.seconds.values()))):
                taken.setdefault(stage, []).append(seconds * 1000)
        store.close()
    for stage, times in taken.items():
        p50, p95 = np.percentile(times[10:], [50, 95])
        yield row([stage, f"{p50:.1f}", f"{p95:.1f}"])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield row(["peak memory, MB", f"{peak:,.0f}", ""])


def main() -> None:
    """Index, ask, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--caution", type=float, default=AskSettings.caution)
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--stages", type=Path, metavar="DATA_FOLDER")
    parser.add_argument("--set", default="fiqa")
    parser.add_argument("--indexes", type=Path, metavar="FOLDER")
    parser.add_argument(
        "--cache", type=Path, metavar="FILE", default=user_cache_path("pincite") / "benchmarks.db"
    )
    chosen = parser.parse_args()
    if chosen.stages:
        print("\n".join(stages(chosen)))
        return
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
