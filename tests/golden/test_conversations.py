"""What a prompt is for, and what a follow-up asks: prompts written without sight of the rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pincite import Library
from pincite.answer.condense import condense
from pincite.tools import tool_for

HERE = Path(__file__).parent
TOOL_OF = {"content": "search_chunks", "catalog": "query_catalog"}


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text().splitlines()]


def test_nine_of_ten_prompts_are_taken_to_the_right_tool() -> None:
    prompts = lines("routing.jsonl")
    right = sum(tool_for(one["prompt"]) == TOOL_OF[one["tool"]] for one in prompts)
    assert len(prompts) >= 60
    assert right / len(prompts) >= 0.9
    always = sum(one["tool"] == "content" for one in prompts)
    assert always / len(prompts) < 0.6  # what a rule that knows one tool would get


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
