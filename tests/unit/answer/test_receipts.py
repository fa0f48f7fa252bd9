"""Receipts: the same answer is the same bytes, and whatever is no receipt is said to be none."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from typing import Any

import pytest

from helpers import embedded, fill
from memory_store import MemoryStore
from pincite.answer.receipts import as_json, citations_in, parse_receipt, receipt_of, sha256
from pincite.errors import ReceiptInvalid
from pincite.records import Answer, Claim, Metadata
from pincite.settings import AskSettings
from receipts import citation_of, receipt

LEASE = embedded(
    "lease.md",
    "The office has two rooms. The lease ends on 30 June 2025. It costs 900 euros.",
    title="The lease",
    about=Metadata(confidentiality="confidential"),
)
QUOTE = "The lease ends on 30 June 2025."


def written() -> str:
    store = MemoryStore()
    fill(store, LEASE)
    return receipt(store, citation_of(LEASE, QUOTE))


def altered(change: dict[str, Any], *, of_citation: bool = False) -> bytes:
    told = json.loads(written())
    (told["claims"][0]["citations"][0] if of_citation else told).update(change)
    return json.dumps(told).encode()


def test_the_same_answer_from_the_same_index_is_the_same_bytes_in_canonical_form() -> None:
    text = written()
    assert text == written()
    canonical = json.dumps(
        json.loads(text), sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    assert text == canonical + "\n"


def test_a_receipt_holds_what_the_answer_rests_on() -> None:
    told = json.loads(written())
    assert (told["format"], told["version"], told["outcome"]) == ("pincite-receipt", 1, "answer")
    assert told["model"] == {"name": "test", "fingerprint": "test:1"}
    assert told["settings"]["ask"]["caution"] == AskSettings.caution
    (claim,) = told["claims"]
    assert (claim["text"], claim["state"], claim["judge"]) == (QUOTE, "quoted", "verbatim")
    (cited,) = claim["citations"]
    assert (cited["document_id"], cited["path"]) == (LEASE.document.id, "lease.md")
    assert cited["checksum"] == LEASE.document.checksum
    assert cited["confidentiality"] == "confidential"
    assert LEASE.document.text[cited["start"] : cited["end"]] == cited["quote"] == QUOTE
    assert cited["quote_sha256"] == sha256(QUOTE)
    assert cited["before_sha256"] == sha256("The office has two rooms. ")
    assert cited["after_sha256"] == sha256(" It costs 900 euros.")


def test_a_receipt_names_the_language_model_that_wrote_the_answer() -> None:
    store = MemoryStore()
    fill(store, LEASE)
    claim = Claim("It ends in June.", "supported", "nli", (citation_of(LEASE, QUOTE),))
    told = Answer("When?", (claim,), 0.9, writer="some-model")
    made = receipt_of(told, store, {"ask": AskSettings()}, pincite="0.0.0")
    assert (made.writer, made.claims[0].judge) == ("some-model", "nli")
    assert [one.quote for one in citations_in(as_json(made).encode())] == [QUOTE]


def test_what_was_written_is_read_back() -> None:
    (cited,) = citations_in(written().encode())
    assert (cited.quote, cited.title) == (QUOTE, "The lease")
    assert citations_in(b"\xef\xbb\xbf" + json.dumps(json.loads(written()), indent=2).encode())


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"{}", "not a receipt"),
        (b'{"outcome": "answer", "claims": []}', "not a receipt"),
        (b'[{"format": "pincite-receipt"}]', "not a receipt"),
        (b'{"a":' * 100_000, "damaged"),
        (altered({"version": 2}), "version 2"),
        (altered({"question": None}), "question"),
        (altered({"claims": [{"text": "x"}]}), "claims"),
        (altered({"start": -1}, of_citation=True), "start"),
        (altered({"end": 10**30}, of_citation=True), "end"),
        (altered({"quote": ""}, of_citation=True), "quote"),
        (altered({"quote": "\ud800"}, of_citation=True), "damaged"),
        (altered({"chunk_id": "x' OR 1"}, of_citation=True), "chunk_id"),
        (altered({"document_id": "A" * 40}, of_citation=True), "document_id"),
        (b"\x00\xff\xfe", "not UTF-8"),
        (b"", "holds no citations"),
        (b"some notes", "holds no citations"),
        (b"x" * 50_000_001, "more than"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_receipt_is_said_to_be_none(data: bytes, told: str) -> None:
    with pytest.raises(ReceiptInvalid, match=told):
        citations_in(data)


def test_a_receipt_that_is_cut_off_or_damaged_is_never_an_error_of_ours() -> None:
    whole = written().encode()
    for length in range(len(whole) - 2):
        with pytest.raises(ReceiptInvalid):
            citations_in(whole[:length])
    chance = random.Random(7)
    for _ in range(500):
        damaged = bytearray(whole)
        damaged[chance.randrange(len(whole))] = chance.randrange(256)
        with suppress(ReceiptInvalid):
            parse_receipt(bytes(damaged))
