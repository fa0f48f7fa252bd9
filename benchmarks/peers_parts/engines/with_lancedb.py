"""LanceDB, embedded: its own full-text index, exact vectors, its own fusion."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import lancedb
import pyarrow as pa
from lancedb.index import FTS
from lancedb.query import LanceQueryBuilder
from lancedb.rerankers import RRFReranker

from peers_parts.engines.corpus import CANDIDATES, PASSAGES, Corpus, Question, Search

DISTRIBUTION = "lancedb"
SETUP = (
    "FTS index as it comes (English stemming and stop words); no vector index, which its manual "
    "calls unnecessary up to about 100,000 rows; RRFReranker over 100 rows of each"
)


def build(corpus: Corpus, folder: Path) -> Mapping[str, Search]:
    """One table with the full-text index on its text."""
    count, dimensions = corpus.vectors.shape
    values = pa.array(corpus.vectors.reshape(-1))
    columns = {
        "number": pa.array(range(count), pa.int64()),
        "text": pa.array(corpus.texts, pa.string()),
        "vector": pa.FixedSizeListArray.from_arrays(values, dimensions),
    }
    table = lancedb.connect(folder).create_table("bench", pa.table(columns))
    table.create_index("text", config=FTS())
    reranker = RRFReranker()

    def found(query: LanceQueryBuilder) -> list[str]:
        rows = query.select(["number", "text"]).to_list()
        return corpus.documents_of([row["number"] for row in rows[:PASSAGES]])

    def words(question: Question) -> list[str]:
        return found(table.search(question.text, query_type="fts").limit(PASSAGES))

    def vector(question: Question) -> list[str]:
        return found(table.search(question.vector).distance_type("cosine").limit(PASSAGES))

    def hybrid(question: Question) -> list[str]:
        asked = table.search(query_type="hybrid").vector(question.vector).text(question.text)
        ranked = asked.distance_type("cosine").rerank(reranker).limit(CANDIDATES)
        return found(ranked)

    return {"words": words, "vector": vector, "hybrid": hybrid}
