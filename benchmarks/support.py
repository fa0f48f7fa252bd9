"""What the readable vetoes of `answer/verify.py` catch, and what they wrongly refuse.

    python benchmarks/support.py DATA_FOLDER [--judge BASE_URL --model NAME] [--most N]

Pairs of a claim and the words quoted for it: `wice-dev` (the supporting sentences of a page; for
claims that are not supported, its likest sentences), `scifact` (rationale sentences), and
`climate-fever` (single sentences). A veto on a supported pair is wrong; on any other it is right,
and what it lets through is for a judge that can read. Supported pairs are altered, too, by one
digit, one negation, one name: such a claim must be vetoed wherever the pair itself was not.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from quality import row

from pincite.answer.verify import veto
from pincite.models.chat import open_generator
from pincite.models.judges import LanguageModelJudge
from pincite.ports import Judge
from pincite.text.facts import facts_of
from pincite.text.words import STOP_WORDS, fold

NAME = "Zanzibar"
_WORD = re.compile(r"\b(is|are|was|were|has|have|had|can|will|does|did)\b")
_NOT = re.compile(r"\b(?:not|never|no|cannot)\b ?")
_CAPITAL = re.compile(r"\b[A-Z][a-z]+")


class Pair(NamedTuple):
    """A claim, what is quoted for it, and whether that supports it."""

    claim: str
    quotes: tuple[str, ...]
    label: str  # supports, refutes, not enough


def lines(file: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines, packed or not."""
    data = file.read_bytes()
    text = gzip.decompress(data) if file.suffix == ".gz" else data
    yield from map(json.loads, text.splitlines())


def wice(folder: Path) -> Iterator[Pair]:
    """Of each claim its first set of supporting sentences, else the three likest."""
    labels = {"supported": "supports", "not_supported": "not enough"}
    for one in lines(folder / "claims.jsonl.gz"):
        if one["label"] in labels:
            sentences = one["evidence"]
            words = facts_of(one["claim"]).words
            chosen = [sentences[at] for at in (one["supporting_sentences"] or [[]])[0]] or sorted(
                sentences, key=lambda text: -len(words & facts_of(text).words)
            )[:3]
            yield Pair(one["claim"], tuple(chosen), labels[one["label"]])


def scifact(folder: Path) -> Iterator[Pair]:
    """Claims with the sentences that were marked as rationale."""
    texts = {one["id"]: one for one in lines(folder / "corpus.jsonl.gz")}
    labels = {"SUPPORT": "supports", "CONTRADICT": "refutes"}
    for claim in lines(folder / "claims_with_rationales.jsonl"):
        for one in claim["evidence"]:
            document = texts[one["doc_id"]]
            starts = [*document["sent_starts"], len(document["text"])]
            quotes = (document["text"][starts[at] : starts[at + 1]] for at in one["sentences"])
            yield Pair(claim["text"], tuple(quotes), labels[one["label"]])


def climate(folder: Path) -> Iterator[Pair]:
    """Claims with single sentences of Wikipedia."""
    texts = {one["id"]: one["text"] for one in lines(folder / "corpus.jsonl.gz")}
    labels = {"SUPPORTS": "supports", "REFUTES": "refutes", "NOT_ENOUGH_INFO": "not enough"}
    for claim in lines(folder / "questions.jsonl"):
        for one in claim["evidence"]:
            yield Pair(claim["text"], (texts[one["doc_id"]],), labels[one["label"]])


def altered(pair: Pair) -> Iterator[tuple[str, str]]:
    """The claim with one digit, one negation or one name changed; each where it has one."""
    claim = pair.claim
    if digit := re.search(r"\d", claim):
        for other in "73":
            if other != digit.group():
                changed = claim[: digit.start()] + other + claim[digit.end() :]
                if not facts_of(changed).numbers <= facts_of(" ".join(pair.quotes)).numbers:
                    yield "digit", changed
                    break
    if _NOT.search(claim):
        yield "negation", _NOT.sub("", claim, count=1)
    elif _WORD.search(claim):
        yield "negation", _WORD.sub(r"\1 not", claim, count=1)
    names = [one for one in _CAPITAL.finditer(claim) if fold(one.group()) not in STOP_WORDS]
    for word in [*[one for one in names if one.start() == 0], *names[-1:]]:
        kind = "name" if word.start() else "first word"
        yield kind, claim[: word.start()] + NAME + claim[word.end() :]


def share(these: Sequence[object]) -> str:
    """How many, and of how many."""
    yes = sum(map(bool, these))
    return f"{yes} of {len(these)} ({yes / max(len(these), 1):.1%})"


def told(name: str, pairs: Sequence[Pair]) -> Iterator[str]:
    """What the vetoes do to the pairs of one set, as they are and altered."""
    objections = {pair: veto(pair.claim, pair.quotes) for pair in pairs}
    for label in dict.fromkeys(pair.label for pair in pairs):
        held = [objections[pair] for pair in pairs if pair.label == label]
        kinds = [
            share([kind in one and bool(one) for one in held]) for kind in ("negated", "is not in")
        ]
        yield row([name, label, share(held), *kinds])
    passed = [pair for pair in pairs if pair.label == "supports" and not objections[pair]]
    changed = [(kind, veto(claim, pair.quotes)) for pair in passed for kind, claim in altered(pair)]
    for kind in ("digit", "negation", "name", "first word"):
        held = [objection for of, objection in changed if of == kind]
        yield row([name, f"supports, one {kind} altered", share(held), "", ""])


def judged(name: str, pairs: Iterable[Pair], judge: Judge) -> str:
    """How a judge decides pairs that the vetoes let through."""
    open_pairs = [pair for pair in pairs if not veto(pair.claim, pair.quotes)]
    said = [(pair.label, judge.supports(pair.claim, "\n".join(pair.quotes))) for pair in open_pairs]
    right = [yes for label, yes in said if label == "supports"]
    wrong = [yes for label, yes in said if label != "supports"]
    return row([name, judge.name, f"said yes: supported {share(right)}, others {share(wrong)}"])


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, metavar="DATA_FOLDER")
    parser.add_argument("--judge", metavar="BASE_URL")
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--most", type=int, default=60, help="pairs of each set for the judge")
    chosen = parser.parse_args()
    sets = {
        "wice-dev": list(wice(chosen.data / "wice-dev")),
        "scifact": list(scifact(chosen.data / "scifact")),
        "climate-fever": list(climate(chosen.data / "climate-fever")),
    }
    print(row(["set", "pairs", "vetoed", "by negation", "by number, name or link"]))
    print(row(["---"] * 5))
    for name, pairs in sets.items():
        print("\n".join(told(name, pairs)))
    if chosen.judge:
        model = f"openai:{chosen.model}"
        generator = open_generator(model, base_url=chosen.judge, api_key=None)
        for name, pairs in sets.items():
            judge = LanguageModelJudge(generator)
            print(judged(name, pairs[:: max(len(pairs) // chosen.most, 1)], judge))


if __name__ == "__main__":
    main()
