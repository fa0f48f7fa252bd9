"""Questions about PDFs whose answers stand on known pages: is that page among the results?

    python benchmarks/pages.py FOLDER QUESTIONS.jsonl [--model minilm] [--top-k 10]

FOLDER holds the documents. Each line of QUESTIONS is {"text": …, "citations": [{"file": …, "page":
…}]}; a question counts as found if one of its pages is among those of the results' chunks, and as
first if the first result's chunk, or its quote, stands on one.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from pincite import SearchSettings, open_library
from pincite.records import Locator, Mode, Result

MODES: tuple[Mode, ...] = ("words", "vector", "hybrid")


def main() -> None:
    """Index the folder, ask every question, print the shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--top-k", type=int, default=10)
    chosen = parser.parse_args()
    questions = [json.loads(line) for line in chosen.questions.read_text().splitlines()]
    settings = SearchSettings(top_k=chosen.top_k, per_document=0)
    with tempfile.TemporaryDirectory() as copied:
        shutil.copytree(chosen.folder, copied, dirs_exist_ok=True)
        with open_library(copied) as library:
            report = library.index(model=chosen.model)
            print(f"{report.added} documents, {report.chunks} chunks, {len(questions)} questions")
            print(f"mode     page in top {chosen.top_k}  chunk of hit 1  quote of hit 1")
            for mode in MODES:
                found = first = quoted = 0
                for question in questions:
                    cited = {(one["file"], one["page"]) for one in question["citations"]}
                    results = library.search(question["text"], mode=mode, settings=settings).results
                    found += bool(cited & pages(results))
                    first += bool(cited & pages(results[:1]))
                    quoted += bool(cited & quoted_pages(results[:1]))
                share = [f"{count / len(questions):>14.1%}" for count in (found, first, quoted)]
                print(f"{mode:<8}{'  '.join(share)}")


def pages(results: Iterable[Result]) -> set[tuple[str, int]]:
    """Every page that a chunk of the results stands on."""
    return {
        (result.document.name, page) for result in results for page in numbers(result.chunk.locator)
    }


def quoted_pages(results: Iterable[Result]) -> set[tuple[str, int]]:
    """Every page that a quoted sentence stands on."""
    return {
        (result.document.name, page) for result in results for page in numbers(result.quote.locator)
    }


def numbers(locator: Locator) -> range:
    """The pages of a place."""
    if locator.page_start is None or locator.page_end is None:
        return range(0)
    return range(locator.page_start, locator.page_end + 1)


if __name__ == "__main__":
    main()
