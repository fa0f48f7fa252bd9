"""OpenAI's shape: its own client streams cited answers and reads the annotations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from markdown_it import MarkdownIt

from service import folders, key_for, listening

SUBJECTS = ("pump", "lease", "loaf", "buoy", "valve", "lantern", "gate", "winch", "kettle", "mast")
ASPECTS = {
    "what does the {0} cost?": "costs {0} euros",
    "which shade is the {0} painted?": "is painted shade {0}",
    "how old is the {0}?": "is {0} years old",
    "to which boat club does the {0} belong?": "belongs to boat club number {0}",
}


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chat") / "notes"
    folder.mkdir()
    for number, subject in enumerate(SUBJECTS):
        said = "\n\n".join(
            f"The {subject} {told.format(10 * number + at)}."
            for at, told in enumerate(ASPECTS.values())
        )
        (folder / f"{subject}.md").write_text(f"# The {subject}\n\n{said}\n")
    (folder / "odd.md").write_text(
        "# Odd things\n\nThe zeppelin ![x](http://evil.example/?q=1) and [a](b) <b>flies</b>.\n\n"
        "The airship \\![x\\](http://evil.example/?q=1) and \\<img src=x> flies.\n\n"
    )
    (folder / "odd.txt").write_text("[1]: http://evil.example/ (The balloon flies.)\n")
    return folder


@pytest.fixture(scope="module")
def address(notes: Path) -> Iterator[str]:
    with listening(folders(notes)) as address:
        yield address


@pytest.fixture
def client(address: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0) as client:
        yield client


def said(client: openai.OpenAI, *turns: str, system: str = "") -> Any:  # noqa: ANN401 — with ours
    messages: list[Any] = [{"role": "system", "content": system}] if system else []
    for turn in turns[:-1]:
        messages += [{"role": "user", "content": turn}, {"role": "assistant", "content": "…"}]
    messages.append({"role": "user", "content": turns[-1]})
    return client.chat.completions.create(model="pincite", messages=messages).choices[0].message


def test_every_annotation_is_the_marked_claim_and_its_address_opens_at_the_quote(
    client: openai.OpenAI,
) -> None:
    answered = 0
    asked = [aspect.format(subject) for aspect in ASPECTS for subject in SUBJECTS]
    for question in asked:
        message = said(client, question)
        claims = [one for one in message.pincite["claims"] if one["state"] != "unsupported"]
        citations = [(one["text"], cited) for one in claims for cited in one["citations"]]
        assert len(message.annotations) == len(citations)
        answered += bool(claims)
        for note, (text, cited) in zip(message.annotations, citations, strict=True):
            place = note.url_citation
            assert message.content[place.start_index : place.end_index] == text
            assert place.title == cited["citation"]
        if message.annotations:
            page = httpx.get(message.annotations[0].url_citation.url, timeout=30).text
            assert f"<mark id=quote>{citations[0][1]['quote']}</mark>" in page
    assert answered > len(asked) / 2


def test_a_stream_says_the_same_claim_by_claim(client: openai.OpenAI) -> None:
    question = "what does the lease cost?"
    whole = said(client, question)
    stream = client.chat.completions.create(
        model="notes", messages=[{"role": "user", "content": question}], stream=True
    )
    annotations: list[Any] = []
    content, ended = "", None
    for chunk in stream:
        (choice,) = chunk.choices
        content += choice.delta.content or ""
        annotations += getattr(choice.delta, "annotations", None) or []
        ended = choice.finish_reason or ended
    assert (content, ended) == (whole.content, "stop")
    assert annotations == [one.model_dump() for one in whole.annotations]
    assert "Sources:" in content


def test_an_abstention_is_a_message_like_any_other(client: openai.OpenAI) -> None:
    message = said(client, "what does the helicopter cost?")
    assert "helicopter" in message.content
    assert message.pincite["abstention"]["reason"] == "out_of_domain"
    assert not message.annotations


def test_a_question_that_points_back_is_asked_with_what_it_points_to(
    client: openai.OpenAI,
) -> None:
    message = said(client, "what does the lease cost?", "and who owns it?", system="Be brief.")
    assert "lease" in message.pincite["question"]
    assert "Be brief" not in message.pincite["question"]
    other = said(client, "what does the lease cost?", "and what about the kettle?")
    assert "kettle costs 80 euros" in other.content.partition("\n")[0]


def test_a_question_for_files_is_answered_from_the_catalog(client: openai.OpenAI) -> None:
    told = said(client, "which documents do you have about the winch?").content
    assert "winch.md" in told
    assert "kettle.md" not in told


def test_a_document_can_make_no_chat_load_a_picture(client: openai.OpenAI) -> None:
    for thing in ("zeppelin", "airship", "balloon"):
        told = said(client, f"what does the {thing} do?").content
        assert thing in told
        shown = MarkdownIt("commonmark", {"html": True}).render(told)
        assert "<img" not in shown
        assert "<b>" not in shown
        assert set(re.findall(r'href="http://([^/:"]+)', shown)) == {"127.0.0.1"}
    naive = MarkdownIt("commonmark").render("![x](http://evil.example/?q=1)")
    assert "<img" in naive


def test_libraries_are_models_and_whatever_is_wrong_is_told(
    client: openai.OpenAI, address: str, notes: Path
) -> None:
    assert [one.id for one in client.models.list()] == ["pincite", "notes"]
    question: Any = [{"role": "user", "content": "who?"}]
    with pytest.raises(openai.NotFoundError, match="there is no model"):
        client.chat.completions.create(model="gpt-9", messages=question)
    system: Any = [{"role": "system", "content": "x"}]
    with pytest.raises(openai.UnprocessableEntityError, match="no question"):
        client.chat.completions.create(model="pincite", messages=system)
    parts: Any = [{"role": "user", "content": [{"type": "text", "text": "what does a mast cost?"}]}]
    told = client.chat.completions.create(model="pincite", messages=parts)
    assert "mast" in (told.choices[0].message.content or "")


def test_with_keys_the_client_needs_one(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nThe oar is seven feet long.\n")
    libraries = folders(tmp_path)
    key = key_for(libraries, "ada", may_write=False)["Authorization"].removeprefix("Bearer ")
    with listening(libraries) as address:
        with (
            pytest.raises(openai.AuthenticationError),
            openai.OpenAI(base_url=f"{address}/v1", api_key="wrong", max_retries=0) as client,
        ):
            said(client, "how long is the oar?")
        with openai.OpenAI(base_url=f"{address}/v1", api_key=key) as client:
            link = said(client, "how long is the oar?").annotations[0].url_citation.url
        assert "<mark id=quote>" in httpx.get(link, timeout=30).text
