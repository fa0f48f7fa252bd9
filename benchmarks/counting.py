"""Counting questions over a public set whose queries ask who has something: right, and cited?

    python benchmarks/counting.py DATA_FOLDER [--set limit-small]

Each query is asked with `ask --all`; right is an answer that names just the documents that are
labelled for the query, each with a citation whose words stand where it says.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from public_sets.sets import load

from pincite import Library, open_library
from pincite.records import Citation


def main() -> None:
    """Print how many were right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, metavar="DATA_FOLDER")
    parser.add_argument("--set", default="limit-small")
    given = parser.parse_args()
    dataset = load(given.data, given.set)
    with tempfile.TemporaryDirectory() as place:
        for document in dataset.documents:
            (Path(place) / document.path).write_text(document.text)
        with open_library(place) as library:
            library.index(model="hashing")
            right = cited = 0
            began = time.perf_counter()
            for case in dataset.cases:
                counted = library.count(case.question)
                right += set(counted.documents) == set(case.documents)
                held = [one for one in counted.hits if stands(one, library)]
                cited += {one.path for one in held} == set(counted.documents)
            seconds = time.perf_counter() - began
    total = len(dataset.cases)
    print(f"{right} of {total} counted rightly, {cited} with every document cited in its own words")
    print(f"{len(dataset.documents)} documents, {seconds / total * 1000:.0f} ms for each question")


def stands(citation: Citation, library: Library) -> bool:
    """Whether the quoted words stand where the citation says."""
    document = library.get_document(citation.document_id)
    return document is not None and document.text[citation.start : citation.end] == citation.quote


if __name__ == "__main__":
    main()
