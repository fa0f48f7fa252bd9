"""How sure a search may be of its best hit: fits the weights of `retrieve/relevance.json`.

    python benchmarks/relevance.py DATA_FOLDER [--most-questions N] [--cache FILE]
                                   [--indexes FOLDER] [--write]

Every library is asked three kinds of questions: its own that it answers, its own that it does not
(near misses, where the set has them), and those of other sets, which share no text with it. A hit
is right where its document is, and its chunk has the words that answer, where they are known.

Weights are fitted on the sets of FITTED, whose questions were written to be answered by one text.
The other sets judge documents by topic, or only some of them, and are never fitted on. Each figure
is told by weights that saw neither the library nor the set its questions are from; sets over the
same texts are left out together. Libraries in other languages are halves of sets: the other half's
questions are not answered there, though much is alike. `--write` puts the weights fitted on all of
FITTED in their place.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from platformdirs import user_cache_path
from public_sets.embedding_cache import CachedEmbedder
from quality import number, row
from relevance_parts.asking import Asked, Probed, Probing
from relevance_parts.fitting import (
    ANSWERABLE,
    BINS,
    NEAR_MISSES,
    OUTSIDE,
    Numbers,
    auroc,
    calibration_error,
    confidences,
    cosines,
    fit,
    interval,
)

from pincite.engine.models import Embedders, ModelAccess
from pincite.retrieve import relevance
from pincite.settings import DEFAULT_MODEL, AskSettings

FITTED = ("scifact", "squad2-a", "lihua-world", "dragonball-finance-en", "xquad-dev/en")
JUDGED_BY_TOPIC = ("cranfield", "cacm", "climate-fever", "policyqa-dev")
FOREIGN = ("xquad-dev/de", "xquad-dev/es", "xquad-dev/ar", "xquad-dev/zh", "cmrc2018-dev")

CAUTION = AskSettings().caution
CAUTIONS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
WEIGHTS = ("constant", "nearness", "nearness_together", "behind")

REFUSAL = (
    *("library", "questions", "answerable + not", "AUROC by cosine", "by confidence", "95 %"),
    *("refused rightly", "refused of those without answer", "answered of those with one"),
)
CALIBRATION = (
    *("library", "answerable", "first hit right", "said", "calibration error"),
    *("with near misses as they are", "answers that are wrong"),
)


def family(name: str) -> str:
    """Sets over the same texts have one."""
    return "squad" if name.startswith(("squad", "xquad")) else name.partition("#")[0]


def are_strangers(library: str, questions: str) -> bool:
    """Whether no text of one is about what is asked of the other.

    SQuAD and Climate-FEVER are both of Wikipedia, and some of its articles may be in either.
    """
    families = {family(library), family(questions)}
    return len(families) == 2 and families != {"squad", "climate-fever"}


def collect(probing: Probing) -> list[Probed]:
    """Index each set and ask all questions."""
    english = (*FITTED, *JUDGED_BY_TOPIC)
    return [
        *(
            probing(name, [other for other in english if are_strangers(name, other)])
            for name in english
        ),
        *(probing(f"{name}#1", [f"{name}#2"]) for name in FOREIGN),
    ]


@dataclass(frozen=True)
class Told:
    """What weights say that never saw the library, nor the set that the questions are from."""

    library: Probed
    own: Numbers  # of its questions that it answers
    near_misses: Numbers
    outside: dict[str, Numbers]
    own_beside: dict[str, Numbers]  # of its own, by the weights that told those from outside

    @property
    def mixed(self) -> tuple[Numbers, Numbers, Numbers]:
        """Probabilities, what came, and what each counts: mixed as they were for the fit."""
        strange = np.concatenate(list(self.outside.values()))
        return _mixture(
            (self.own, rightness(self.library.answerable), ANSWERABLE),
            (self.near_misses, np.zeros(len(self.near_misses)), NEAR_MISSES),
            (strange, np.zeros(len(strange)), OUTSIDE),
        )

    @property
    def as_asked(self) -> tuple[Numbers, Numbers, Numbers]:
        """The set's own questions, as many without an answer as it has."""
        count = len(self.own) + len(self.near_misses)
        return _mixture(
            (self.own, rightness(self.library.answerable), len(self.own) / count),
            (self.near_misses, np.zeros(len(self.near_misses)), len(self.near_misses) / count),
        )


def _mixture(*kinds: tuple[Numbers, Numbers, float]) -> tuple[Numbers, Numbers, Numbers]:
    filled = [(told, came, whole) for told, came, whole in kinds if len(told)]
    return (
        np.concatenate([told for told, _, _ in filled]),
        np.concatenate([came for _, came, _ in filled]),
        np.concatenate([np.full(len(told), whole / len(told)) for told, _, whole in filled]),
    )


def rightness(asked: Sequence[Asked]) -> Numbers:
    """1 where the first hit answers."""
    return np.array([float(one.right[:1] == (True,)) for one in asked])


def tell(libraries: Sequence[Probed]) -> list[Told]:
    """Everything asked, by weights that were fitted on other sets."""
    known: dict[frozenset[str], Numbers] = {}

    def without(*names: str) -> Numbers:
        out = frozenset(map(family, names))
        if out not in known:
            seen = [one for one in libraries if one.name in FITTED and family(one.name) not in out]
            known[out] = fit(seen, [one.name for one in seen])
        return known[out]

    return [
        Told(
            library,
            confidences(library.answerable, without(library.name)),
            confidences(library.near_misses, without(library.name)),
            {
                name: confidences(asked, without(library.name, name))
                for name, asked in library.outside.items()
            },
            {
                name: confidences(library.answerable, without(library.name, name))
                for name in library.outside
            },
        )
        for library in libraries
    ]


def refusal_row(
    names: Sequence[str], own: Numbers, no_answer: Numbers, by_cosine: tuple[Numbers, Numbers]
) -> list[str]:
    """AUROC, and what comes of refusing below the default caution."""
    least, most = interval(own, no_answer)
    refused, wrongly = (no_answer < CAUTION).sum(), (own < CAUTION).sum()
    return [
        *names,
        f"{len(own):,} + {len(no_answer):,}",
        number(auroc(*by_cosine)),
        number(auroc(own, no_answer)),
        f"{least:.3f}–{most:.3f}",
        number(refused / (refused + wrongly) if refused + wrongly else None),
        number(refused / len(no_answer)),
        number(1 - wrongly / len(own)),
    ]


def outside_rows(told: Sequence[Told]) -> list[list[str]]:
    """Questions that belong elsewhere, pair by pair and all in English together."""
    pairs = [
        (
            (one.library.name, name),
            one.own_beside[name],
            strange,
            (cosines(one.library.answerable), cosines(one.library.outside[name])),
        )
        for one in told
        for name, strange in one.outside.items()
    ]
    english = [pair for pair in pairs if "#" not in pair[0][1]]
    pooled = (
        np.concatenate([own for _, own, _, _ in english]),
        np.concatenate([strange for _, _, strange, _ in english]),
        (
            np.concatenate([cosine for *_, (cosine, _) in english]),
            np.concatenate([cosine for *_, (_, cosine) in english]),
        ),
    )
    return [refusal_row(*pair) for pair in pairs] + [refusal_row(("all in English", ""), *pooled)]


def near_miss_rows(told: Sequence[Told]) -> list[list[str]]:
    """The sets' own questions without an answer."""
    return [
        refusal_row(
            (one.library.name, "its own"),
            one.own,
            one.near_misses,
            (cosines(one.library.answerable), cosines(one.library.near_misses)),
        )
        for one in told
        if one.library.near_misses
    ]


def calibration_rows(told: Sequence[Told]) -> list[list[str]]:
    """How right the probabilities are, and the answers at the default caution."""
    return [
        [
            one.library.name,
            f"{len(one.own):,}",
            number(rightness(one.library.answerable).mean()),
            number(one.own.mean()),
            number(calibration_error(*one.mixed)),
            number(calibration_error(*one.as_asked)) if len(one.near_misses) else "",
            number(_wrong(*one.mixed, CAUTION)),
        ]
        for one in told
    ]


def _wrong(told: Numbers, came: Numbers, counts: Numbers, caution: float) -> float | None:
    """The share of answers that are wrong."""
    answered = counts * (told >= caution)
    return float(answered @ (1 - came) / answered.sum()) if answered.any() else None


def caution_rows(told: Sequence[Told]) -> list[list[str]]:
    """What each caution gives on the sets that were fitted on, every one counting the same."""
    fitted = [one for one in told if one.library.name in FITTED]
    mixed = _joined([one.mixed for one in fitted])
    strange = np.concatenate([each for one in fitted for each in one.outside.values()])
    missed = np.concatenate([one.near_misses for one in fitted])
    return [
        [
            f"{caution:.1f}",
            number(_wrong(*mixed, caution)),
            number(float(np.mean([(one.own >= caution).mean() for one in fitted]))),
            number((missed < caution).mean()),
            number((strange < caution).mean()),
        ]
        for caution in CAUTIONS
    ]


def reliability_rows(told: Sequence[Told]) -> list[list[str]]:
    """What came of each probability: sets that were fitted on without themselves."""
    said, came, counts = _joined([one.mixed for one in told if one.library.name in FITTED])
    bins = np.minimum((said * BINS).astype(int), BINS - 1)
    rows = []
    for at in range(BINS):
        held = bins == at
        if held.any():
            share = counts[held] / counts[held].sum()
            figures = (float(share @ said[held]), float(share @ came[held]))
            rows.append([f"{at / BINS:.1f}–{(at + 1) / BINS:.1f}", f"{held.sum():,}"])
            rows[-1] += map(number, figures)
    error = calibration_error(said, came, counts)
    return [*rows, ["calibration error", "", "", number(error)]]


def _joined(
    mixtures: Sequence[tuple[Numbers, Numbers, Numbers]],
) -> tuple[Numbers, Numbers, Numbers]:
    said, came, counts = zip(*mixtures, strict=True)
    return np.concatenate(said), np.concatenate(came), np.concatenate(counts)


def write(weights: Numbers) -> Path:
    """Put the weights where the search finds them."""
    file = Path(relevance.__file__).with_suffix(".json")
    model = Embedders(ModelAccess()).named(DEFAULT_MODEL).card.fingerprint
    rounded = [round(float(weight), 3) for weight in weights]
    told = {"model": model, **dict(zip(WEIGHTS, rounded, strict=True))}
    file.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    return file


def arguments() -> argparse.Namespace:
    """What was asked for on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, metavar="DATA_FOLDER")
    parser.add_argument("--most-questions", type=int, default=600, metavar="N")
    parser.add_argument(
        "--cache", type=Path, metavar="FILE", default=user_cache_path("pincite") / "benchmarks.db"
    )
    parser.add_argument("--indexes", type=Path, metavar="FOLDER", help="kept there for another run")
    parser.add_argument("--write", action="store_true")
    return parser.parse_args()


def main() -> None:
    """Print the tables, then the weights."""
    chosen = arguments()
    model = Embedders(ModelAccess()).named(DEFAULT_MODEL)
    with CachedEmbedder(model, chosen.cache) as embedder:
        probing = Probing(chosen.data, embedder, chosen.indexes, chosen.most_questions)
        libraries = collect(probing)
    told = tell(libraries)
    print(f"Questions from outside, refused below {CAUTION}\n")
    print_table(REFUSAL, outside_rows(told))
    print("Near misses\n")
    print_table(REFUSAL, near_miss_rows(told))
    print("How right the probabilities are\n")
    print_table(CALIBRATION, calibration_rows(told))
    print_table(("probability", "questions", "mean", "right"), reliability_rows(told))
    print("What caution gives\n")
    refused = ("near misses refused", "outside refused")
    names = ("caution", "answers that are wrong", "answerable answered", *refused)
    print_table(names, caution_rows(told))
    fitted = [one for one in libraries if one.name in FITTED]
    weights = fit(fitted, FITTED)
    named = zip(WEIGHTS, weights, strict=True)
    print("Fitted on all:", ", ".join(f"{name} {weight:.3f}" for name, weight in named))
    if chosen.write:
        print(f"Written to {write(weights)}")


def print_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """As Markdown."""
    print(row(names))
    print(row(["---"] * len(names)))
    print("\n".join(map(row, rows)), end="\n\n")


if __name__ == "__main__":
    main()
