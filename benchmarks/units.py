"""Does the quote answer? The share of questions whose quoted unit holds the answer.

    python benchmarks/units.py DATA_FOLDER [--sets squad2-a,policyqa-dev,…] [--most-questions N]
                               [--cache FILE] [--indexes FOLDER] [--scorer]
    python benchmarks/units.py --sample FOLDER [--draws 200] [--seed 1]

Asked twice: of the chunk in which the answer stands ("in the passage"), and end to end over the
whole library, of the first result and of the first three. An answer counts as held if its words
stand in the quote, whatever the case and the white space; what introduces a quote does not count.
`northwind-hr-pdf` counts the page that is quoted from, `quotesum-dev` has passages only, and
`sample-library` are the questions of `tests/golden` with expected words over `examples/library`.

`--sample` searches an indexed library for random words and headings of its own documents and
prints each first quote with its kind and lead, for people to judge.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from meter import Meter
from platformdirs import user_cache_path
from public_sets.embedding_cache import CachedEmbedder
from public_sets.index import build, index_folder
from public_sets.rows import found, rows
from public_sets.sets import load
from quality import listed, number, row, some

from pincite import open_library
from pincite.engine.models import Embedders, ModelAccess
from pincite.ports import Embedder, Store
from pincite.records import Case, Chunk, DocumentId, Locator, Modality, Quote, Result
from pincite.retrieve.flow import search
from pincite.retrieve.quote import by_cosine, ranked_quotes
from pincite.retrieve.rarity import Rarity, rarity_of
from pincite.settings import DEFAULT_MODEL, SearchSettings
from pincite.text.words import STOP_WORDS, WORD

LANGUAGES = tuple(f"xquad-dev/{language}" for language in ("en", "de", "es", "zh", "ar"))
SETS = (
    "squad2-a",
    "policyqa-dev",
    *LANGUAGES,
    "quotesum-dev",
    "northwind-hr-pdf",
    "sample-library",
)
COLUMNS = ("set", "questions", "in the passage", "first result", "first three")
PROJECT = Path(__file__).parents[1]
HEADINGS_ASKED = 0.3  # the share of random questions that are headings
_SPACE = re.compile(r"\s+")


def holds(quote: Quote, terms: Sequence[str]) -> bool:
    """Whether the quote has all that is expected."""
    return all(_plain(term) in _plain(quote.text) for term in terms)


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).casefold()


def share(held: Sequence[bool]) -> str:
    """As a figure of the table."""
    return number(sum(held) / len(held)) if held else ""


def public_set(chosen: argparse.Namespace, name: str, embedder: Embedder) -> list[str]:
    """A row of the table, of a set whose cases have answers."""
    dataset = load(chosen.data, name)
    asked = [case for case in dataset.cases if case.documents and case.terms]
    scorer = by_cosine(embedder) if chosen.scorer else None
    with index_folder(chosen.indexes, name) as folder:
        store = build(dataset, embedder, folder, Meter(f"{name} index").indexed)
        try:
            ids = {entry.path: entry.id for entry in store.documents()}
            passage, first, three = [], [], []
            for case in some(asked, chosen.most_questions):
                for chunk in _passages(store, [ids[path] for path in case.documents], case)[:1]:
                    rarity = rarity_of(case.question, store)
                    best = ranked_quotes(chunk, case.question, rarity, None, most=1, scorer=scorer)
                    passage.append(holds(best[0], case.terms))
                found = search(
                    case.question,
                    store,
                    embedder,
                    mode="hybrid",
                    filters=case.filters,
                    settings=SearchSettings(),
                )
                held = [holds(result.quote, case.terms) for result in found.results[:3]]
                first.append(any(held[:1]))
                three.append(any(held))
        finally:
            store.close()
    return [name, f"{len(first):,}", share(passage), share(first), share(three)]


def _passages(store: Store, documents: Sequence[DocumentId], case: Case) -> list[Chunk]:
    """The chunks of the right documents that hold the answer."""
    chunks = (
        chunk for document in documents for _, chunk in store.load_chunks(store.chunk_ids(document))
    )
    return [chunk for chunk in chunks if all(term in chunk.text for term in case.terms)]


def quotesum(chosen: argparse.Namespace) -> list[str]:
    """Each source of a question that holds its short answer is a passage."""
    held = {}
    for one in rows(found(chosen.data / "quotesum-dev", "questions.jsonl")):
        for number_of in range(1, 9):
            text = one.text(f"source{number_of}")
            answer = one.text(f"short_ans_{number_of}")
            if answer and answer in text:
                question = one.get("question", str)
                best = ranked_quotes(_chunk(text), question, Rarity({}), None, most=1)
                held[question, text] = holds(best[0], [answer])
    return ["quotesum-dev", f"{len(held):,}", share(list(held.values())), "", ""]


def _chunk(text: str) -> Chunk:
    return Chunk(
        document_id=DocumentId("passage"),
        modality=Modality.TEXT,
        position=0,
        start=0,
        end=len(text),
        text=text,
        sections=(),
        locator=Locator(1, text.count("\n") + 1),
        tokens=1,
    )


def folder_set(
    name: str, folder: Path, questions: Sequence[tuple[str, Callable[[Result], bool]]]
) -> list[str]:
    """A row of the table, of files that are read and indexed as any library."""
    with tempfile.TemporaryDirectory() as copied:
        shutil.copytree(folder, copied, dirs_exist_ok=True)
        with open_library(copied) as library:
            library.index()
            held = [
                [answers(result) for result in library.search(question).results[:3]]
                for question, answers in questions
            ]
    first, three = [any(one[:1]) for one in held], [any(one) for one in held]
    return [name, f"{len(held):,}", "", share(first), share(three)]


def northwind(chosen: argparse.Namespace) -> list[str]:
    """The page that is quoted from is one of those that answer."""
    folder = chosen.data / "northwind-hr-pdf"

    def on_page(pages: set[tuple[str, int]]) -> Callable[[Result], bool]:
        return lambda one: (one.document.name, one.quote.locator.page_start or 0) in pages

    questions = [
        (
            one.get("text", str),
            on_page({(page["file"], page["page"]) for page in one.get("citations", list)}),
        )
        for one in rows(found(folder, "questions.jsonl"))
    ]
    return folder_set("northwind-hr-pdf", folder / "pdfs", questions)


def sample_library() -> list[str]:
    """The golden questions whose answer has known words."""

    def with_words(terms: Sequence[str]) -> Callable[[Result], bool]:
        return lambda one: holds(one.quote, terms)

    questions = [
        (one.get("question", str), with_words(one.get("terms", list)))
        for one in rows(PROJECT / "tests/golden/questions.jsonl")
        if one.values.get("terms") and not one.values.get("unanswerable")
    ]
    return folder_set("sample-library", PROJECT / "examples/library", questions)


def measured(chosen: argparse.Namespace) -> Iterator[list[str]]:
    """A row for each set."""
    model = Embedders(ModelAccess()).named(DEFAULT_MODEL)
    with CachedEmbedder(model, chosen.cache) as embedder:
        for name in chosen.sets:
            if name == "quotesum-dev":
                yield quotesum(chosen)
            elif name == "northwind-hr-pdf":
                yield northwind(chosen)
            elif name == "sample-library":
                yield sample_library()
            else:
                yield public_set(chosen, name, embedder)


def sampled(folder: Path, draws: int, seed: int) -> Iterator[str]:
    """Quotes for random questions: some words of a chunk, or the heading above it."""
    draw = random.Random(seed)
    with open_library(folder) as library:
        documents = library.documents()
        while draws:
            about = draw.choice(documents)
            near = library.search(f"{about.title} {about.name}").results
            results = library.search(_question(draw, draw.choice(near))).results if near else ()
            if results:
                draws -= 1
                yield _judged(draw.choice(results[:3]))


def _question(draw: random.Random, result: Result) -> str:
    headings = result.chunk.headings
    if headings and draw.random() < HEADINGS_ASKED:
        return draw.choice(headings)
    words = [word for word in WORD.findall(result.chunk.text) if word.lower() not in STOP_WORDS]
    return " ".join(draw.sample(words, min(len(words), draw.randint(1, 5))))


def _judged(result: Result) -> str:
    quote = result.quote
    lead = f" [{quote.lead}]" if quote.lead else ""
    matched = ", ".join(quote.text[start:end] for start, end in quote.matches)
    return f"{quote.kind}{lead} “{_SPACE.sub(' ', quote.text)}”\n    {result.citation}; {matched}"


def arguments() -> argparse.Namespace:
    """What was asked for on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, metavar="DATA_FOLDER", nargs="?")
    parser.add_argument("--sets", type=listed, default=SETS)
    parser.add_argument("--most-questions", type=int, default=600, metavar="N")
    parser.add_argument(
        "--cache", type=Path, metavar="FILE", default=user_cache_path("pincite") / "benchmarks.db"
    )
    parser.add_argument("--indexes", type=Path, metavar="FOLDER", help="kept there for another run")
    parser.add_argument("--scorer", action="store_true", help="the embedder looks at units, too")
    parser.add_argument("--sample", type=Path, metavar="FOLDER", help="print quotes to judge")
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    if (chosen.data is None) == (chosen.sample is None):
        parser.error("give DATA_FOLDER, or --sample FOLDER")
    return chosen


def main() -> None:
    """Print the table as the sets are done, or the sample."""
    chosen = arguments()
    if chosen.sample is not None:
        for drawn in sampled(chosen.sample, chosen.draws, chosen.seed):
            print(drawn)
        return
    print(row(COLUMNS))
    print(row(["---", *["---:"] * (len(COLUMNS) - 1)]))
    for cells in measured(chosen):
        print(row(cells), flush=True)


if __name__ == "__main__":
    main()
