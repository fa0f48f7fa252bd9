"""OpenAI's shape: its own client streams cited answers and reads the annotations."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from markdown_it import MarkdownIt

from pincite.answer.route import tool_for
from pincite.engine.searchable import Searchable
from pincite.records import Answer, Citation, Claim, Locator, Outcome
from service import folders, key_for, listening
from soak import times

SUBJECTS = (
    *("pump", "lease", "loaf", "buoy", "valve", "lantern", "gate", "winch", "kettle", "mast"),
    *("oar", "rudder", "anchor", "stove", "ladder", "bell", "compass", "sail", "hatch", "bucket"),
)
ASPECTS = {
    "what does the {0} cost?": "costs {0} euros",
    "which shade is the {0} painted?": "is painted shade {0}",
    "how old is the {0}?": "is {0} years old",
    "to which boat club does the {0} belong?": "belongs to boat club number {0}",
    "who repairs the {0}?": "is repaired by number {0} of the crew",
    "how heavy is the {0}?": "weighs {0} grams",
    "where is the {0} kept?": "is kept in room {0}",
    "when was the {0} bought?": "was bought in the year 18{0}",
    "how many spare parts has the {0}?": "has {0} spare parts",
    "who lent us the {0}?": "was lent to us by member {0}",
}


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chat") / "notes"
    folder.mkdir()
    for number, subject in enumerate(SUBJECTS):
        said = "\n\n".join(
            f"The {subject} {told.format(10 * (number + 1) + at)}."
            for at, told in enumerate(ASPECTS.values())
        )
        (folder / f"{subject}.md").write_text(f"# The {subject}\n\n{said}\n")
    (folder / "odd.md").write_text(
        "# Odd things\n\nThe zeppelin ![x](http://evil.example/?q=1) and [a](b) <b>flies</b>.\n\n"
        "The airship \\![x\\](http://evil.example/?q=1) and \\<img src=x> flies.\n\n"
    )
    days = "\n\n".join(f"On day {number} nothing happened." for number in range(200))
    (folder / "log.md").write_text(f"# Log\n\n{days}\n\nReports say that Ada won the regatta.\n")
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
    client: openai.OpenAI, address: str
) -> None:
    answered = 0
    asked = [aspect.format(subject) for aspect in ASPECTS for subject in SUBJECTS]
    asked = asked[:: len(asked) // times(40, soak=len(asked))]
    browser = httpx.Client(base_url=address, timeout=30)
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
            page = browser.get(place.url).text
            assert f"<mark id=quote>{cited['quote']}</mark>" in page
    assert answered > len(asked) / 2
    browser.close()


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
    for one in message.pincite["abstention"]["nearest"]:
        assert f": “{one['quote']}”" in shown(message.content)


def test_a_question_that_points_back_is_asked_with_what_it_points_to(
    client: openai.OpenAI,
) -> None:
    message = said(client, "what does the lease cost?", "and who owns it?", system="Be brief.")
    assert "lease" in message.pincite["question"]
    assert "Be brief" not in message.pincite["question"]
    other = said(client, "what does the lease cost?", "and what about the kettle?")
    understood, claim, *_ = other.content.split("\n\n")
    assert understood == "*Understood as: what does the kettle cost?*"
    assert "kettle costs 90 euros" in claim
    place = other.annotations[0].url_citation
    assert other.content[place.start_index : place.end_index] in claim
    assert "Understood" not in said(client, "what does the lease cost?").content


def test_a_question_for_files_is_answered_from_the_catalog(client: openai.OpenAI) -> None:
    told = said(client, "which documents do you have about the winch?").content
    assert "winch.md" in shown(told)
    assert "kettle.md" not in shown(told)


def test_what_the_catalog_does_not_know_is_asked_and_no_count_is_made_up(
    client: openai.OpenAI,
) -> None:
    files = len(SUBJECTS) + 3
    for question in (
        "how many files in total?",
        "what file types are in my collection",
        "what is the oldest document in the library?",
        "list every file",
    ):
        assert said(client, question).content.startswith(f"{files} documents ("), question
    missing = said(client, "which documents are from 2021?")
    assert missing.pincite["outcome"] == "abstention"
    assert "0 documents" not in missing.content
    told = said(client, "do we have reports of the regatta?")
    assert tool_for(told.pincite["question"]) == "query_catalog"
    assert "Ada won the regatta" in told.content


def test_a_model_is_described_and_a_stream_tells_its_usage(
    client: openai.OpenAI, address: str
) -> None:
    assert [client.models.retrieve(name).id for name in ("pincite", "notes")] == [
        "pincite",
        "notes",
    ]
    with pytest.raises(openai.NotFoundError, match="there is no model"):
        client.models.retrieve("ada/plans")
    question: Any = [{"role": "user", "content": "what does the lease cost?"}]
    body = {"model": "pincite", "messages": question, "stream": None}
    whole = httpx.post(f"{address}/v1/chat/completions", json=body, timeout=30)
    assert whole.status_code == 200
    *chunks, last = client.chat.completions.create(
        model="pincite", messages=question, stream=True, stream_options={"include_usage": True}
    )
    assert all(one.usage is None for one in chunks)
    assert last.choices == []
    assert last.usage is not None
    assert last.usage.model_dump(exclude_none=True) == whole.json()["usage"]


def test_a_document_can_make_no_chat_load_a_picture(client: openai.OpenAI) -> None:
    for thing in ("zeppelin", "airship", "balloon"):
        told = said(client, f"what does the {thing} do?").content
        assert thing in told
        page = MarkdownIt("commonmark", {"html": True}).render(told)
        assert "<img" not in page
        assert "<b>" not in page
        assert set(re.findall(r'href="http://([^/:"]+)', page)) == {"127.0.0.1"}
    naive = MarkdownIt("commonmark").render("![x](http://evil.example/?q=1)")
    assert "<img" in naive


def shown(content: str) -> str:
    """What a chat shows of a message: its text, without links."""
    page = MarkdownIt("js-default", {"html": True}).render(content)
    return html.unescape(re.sub(r"<[^>]+>", "", page))


def test_a_chat_shows_words_as_they_are(
    client: openai.OpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = (
        *("def __init__(self) and 3*4*5 = 60", "~~not~~ this, but `rm -rf`", "___", "---", "==="),
        *("1986. A great year", "5) five", "# one", "> two", "- three", "+ four", "|a|b|", "~~~"),
        *("see http://evil.example/x or www.evil.example", "<https://evil.example>", "AT&amp;T"),
        *("[a]: http://evil.example", "[a](http://evil.example)", "![a](b)", "C:\\temp\\x", "a\\"),
        *("a <!-- b", "<b>bold</b>", "“he” said", "$5 and $6", "a_b_c"),
    )
    place = Locator(1, 1)
    cited = Citation("a [b](c)_d_.md (line 1)", "x", "a.md", "A", "d", "c", 0, 1, place, (), ())  # type: ignore[arg-type]

    def answered(self: Searchable, question: str, **more: Any) -> Outcome:  # noqa: ANN401
        claims = tuple(Claim(one, "supported", "a judge", (cited,)) for one in texts)
        for one in claims:
            more["on_claim"](one)
        return Answer(question, claims, 0.9)

    monkeypatch.setattr(Searchable, "ask", answered)
    message = said(client, "what?")
    lines = shown(message.content).splitlines()
    assert [one for one in lines if one][: len(texts)] == [
        f"{text} [{number}]" for number, text in enumerate(texts, start=1)
    ]
    assert lines.count("a [b](c)_d_.md (line 1)") == len(texts)
    for note, text in zip(message.annotations, texts, strict=True):
        marked = note.url_citation
        assert shown(message.content[marked.start_index : marked.end_index]).strip() == text


def test_a_row_has_its_columns_and_what_is_hidden_is_told(tmp_path: Path) -> None:
    (tmp_path / "grants.md").write_text(
        "# Grants\n\n| Year | Grant in euros | Paid back |\n|---|---|---|\n"
        "| 2026 | 17,000 | 800 |\n"
    )
    tags = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
    (tmp_path / "kitchen.md").write_text(f"# Kitchen\n\nThe loaf rests for a day.{tags}\n")
    scan = tmp_path / ".converted" / "scan.png.md"
    scan.parent.mkdir()
    (tmp_path / "scan.png").write_bytes(b"a picture")
    scan.write_text("---\nsource: scan.png\nmodality: ocr\n---\n# Gate\n\nThe gate is green.\n")
    with (
        listening(folders(tmp_path)) as address,
        openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0) as client,
    ):
        row = said(client, "what was paid back in 2026?")
        assert "2026 | 17,000 | 800 [[1]](" in row.content
        assert "[grants.md — Grants (" in row.content
        place = row.annotations[0].url_citation
        assert shown(row.content).startswith("(Year | Grant in euros | Paid back) 2026 | 17,000")
        marked = shown(row.content[place.start_index : place.end_index]).strip()
        assert marked == "2026 | 17,000 | 800"
        loaf = said(client, "how long does the loaf rest?").content
        assert "(line 3) — left out: hidden text (tag characters)" in shown(loaf)
        assert "\nscan.png (Gate" in shown(said(client, "list all files").content)
        parts: Any = [{"type": "text", "text": None}, {"type": "text", "text": "how long?"}]
        told = httpx.post(
            f"{address}/v1/chat/completions",
            json={"model": "pincite", "messages": [{"role": "user", "content": parts}]},
        )
        assert told.status_code == 200


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
