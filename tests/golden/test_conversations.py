"""What a prompt is for, what a follow-up asks, and what is counted: written without the rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pincite import Library
from pincite.answer.condense import condense
from pincite.answer.route import tool_for

HERE = Path(__file__).parent
TOOL_OF = {"content": "search_chunks", "catalog": "query_catalog"}


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text().splitlines()]


def test_nine_of_ten_prompts_are_taken_to_the_right_tool() -> None:
    prompts = lines("routing.jsonl") + lines("routing_more.jsonl")
    right = sum(tool_for(one["prompt"]) == TOOL_OF[one["tool"]] for one in prompts)
    assert len(prompts) == 480
    assert right / len(prompts) >= 0.9
    always = sum(one["tool"] == "content" for one in prompts)
    assert always / len(prompts) < 0.6  # what a rule that knows one tool would get
    # A word for files alone does not make a question one for files.
    for prompt in (
        "When was the church created?",
        "Is smoking allowed in the library?",
        "How many pages may the application have?",
        "How many books did Darwin write?",
        "How many invoices are unpaid?",
        "Do I have to send the letters by post?",
    ):
        assert tool_for(prompt) == "search_chunks", prompt


def test_a_condensed_follow_up_finds_what_the_whole_question_finds(library: Library) -> None:
    def found(question: str, file: str) -> bool:
        documents = library.search_documents(question, top_k=3).documents
        paths = [one.document.metadata.source or one.document.path for one in documents]
        return any(
            Path(path).name.partition(".")[0] == Path(file).name.partition(".")[0] for path in paths
        )

    turns = lines("two_turns.jsonl")
    whole = [one for one in turns if found(one["full"], one["file"])]
    kept = [one for one in whole if found(condense([one["first"], one["second"]]), one["file"])]
    naive = [one for one in whole if found(one["second"], one["file"])]
    assert len(whole) >= 30
    assert len(kept) / len(whole) >= 0.9
    assert len(naive) / len(whole) < 0.8


def test_counting_finds_each_document_that_has_the_words_and_cites_it(library: Library) -> None:
    """Expected is what a plain look at the files gives; two of the questions count a name that one
    of them has in its front matter alone, which is no passage.
    """
    questions = lines("counting.jsonl")
    right = 0
    for one in questions:
        counted = library.count(
            one["question"], filters={"where": one["where"]} if "where" in one else None
        )
        right += sorted(counted.documents) == one["documents"]
        cited = {hit.path for hit in counted.hits}
        assert counted.negated or cited == set(counted.documents)
    assert len(questions) == 20
    assert right >= 18
