"""Answers ↔ receipts: what an answer said and rests on, so that anyone can check it later.

A receipt is canonical JSON: sorted keys, no space that means nothing, the same bytes for the same
answer from the same index. It proves nothing by itself; `checking.py` compares it with the library.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from pincite.answer.footnotes import footnotes_in
from pincite.errors import IndexMissing, ReceiptInvalid, StoreBusy
from pincite.ports import Store
from pincite.records import Answer, Citation, Filters, Locator, Outcome, State
from pincite.settings import AskSettings, SearchSettings

FORMAT = "pincite-receipt"
VERSION = 1
AROUND = 64  # characters before and after a quote by which its place is known again
LARGEST = 50_000_000  # bytes of a file to check

_Id = Annotated[str, Meta(pattern="^[0-9a-f]{40}$")]
_Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
_Offset = Annotated[int, Meta(ge=0, lt=1 << 31)]


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedWords:
    """A citation as it was written down. What Markdown does not tell is empty."""

    citation: str
    quote: Annotated[str, Meta(min_length=1)]
    chunk_id: _Id
    start: _Offset
    end: _Offset
    document_id: _Id = ""  # names the document at one version
    checksum: _Sha256 = ""  # of the file's bytes
    path: str = ""
    title: str = ""
    lead: str = ""  # what introduces the quote; context
    locator: Locator | None = None
    confidentiality: str | None = None
    quote_sha256: _Sha256 = ""
    before_sha256: _Sha256 = ""
    after_sha256: _Sha256 = ""


@dataclass(frozen=True, slots=True)
class ReceiptClaim:
    """A claim with the words it rests on."""

    text: str
    state: State
    judge: str
    citations: tuple[CitedWords, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """An answer or an abstention, what it rests on, and what it was made with."""

    format: str
    version: int
    pincite: str
    library: str
    index: str  # names the documents it held for whoever asked, and how they were cut
    model: Mapping[str, str]  # name and fingerprint of the embedding model
    writer: str  # the language model that wrote the claims; empty: the documents' own words
    settings: Mapping[str, Mapping[str, Any]]
    question: str
    outcome: Literal["answer", "abstention"]
    probability: float | None
    reason: str | None  # of an abstention
    message: str
    missing_terms: tuple[str, ...]
    claims: tuple[ReceiptClaim, ...]
    nearest: tuple[CitedWords, ...]


def receipt_of(
    told: Outcome,
    store: Store,
    made_with: Mapping[str, Filters | SearchSettings | AskSettings],
    pincite: str,
) -> Receipt:
    """The receipt of what this store was just asked; `pincite` is our own version."""
    header = store.header()
    if header is None:
        raise IndexMissing("there is no index that the answer could come from")
    answer = told if isinstance(told, Answer) else None
    abstention = told if not isinstance(told, Answer) else None
    return Receipt(
        format=FORMAT,
        version=VERSION,
        pincite=pincite,
        library=header.name,
        # Not the store's version, which is only for this process.
        index=sha256("\n".join([header.recipe, *sorted(one.id for one in store.documents())])),
        model={"name": header.model.name, "fingerprint": header.model.fingerprint},
        writer=answer.writer if answer else "",
        settings={
            name: {key: value for key, value in asdict(one).items() if value is not None}
            for name, one in made_with.items()
        },
        question=told.question,
        outcome=told.outcome,
        probability=told.probability,
        reason=abstention.reason if abstention else None,
        message=abstention.message if abstention else "",
        missing_terms=abstention.missing_terms if abstention else (),
        claims=tuple(
            ReceiptClaim(
                one.text, one.state, one.judge, tuple(_cited(each, store) for each in one.citations)
            )
            for one in (answer.claims if answer else ())
        ),
        nearest=tuple(_cited(one, store) for one in (abstention.nearest if abstention else ())),
    )


def _cited(citation: Citation, store: Store) -> CitedWords:
    known = facts_of_place(citation, store)
    if not known:
        raise StoreBusy(f"{citation.path} was deleted while it was being cited; ask again")
    return CitedWords(
        citation=citation.citation,
        quote=citation.quote,
        chunk_id=citation.chunk_id,
        start=citation.start,
        end=citation.end,
        title=citation.title,
        lead=citation.lead,
        locator=citation.locator,
        quote_sha256=sha256(citation.quote),
        **known,
    )


def facts_of_place(words: Citation | CitedWords, store: Store) -> dict[str, Any]:
    """What tells a cited place once its chunk is cut otherwise; empty where nobody knows it."""
    found = store.find_chunks(words.chunk_id)
    if not found:
        return {}
    document = found[0].document
    before, after = surroundings(document.text, words.start, words.end)
    return {
        "document_id": document.id,
        "checksum": document.checksum,
        "path": document.path,
        "confidentiality": document.metadata.confidentiality,
        "before_sha256": before,
        "after_sha256": after,
    }


def sha256(text: str) -> str:
    """The checksum of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def surroundings(text: str, start: int, end: int) -> tuple[str, str]:
    """The checksums of what stands before and after a stretch."""
    return sha256(text[max(start - AROUND, 0) : start]), sha256(text[end : end + AROUND])


def as_json(receipt: Receipt) -> str:
    """The text of the file."""
    return msgspec.json.encode(receipt, order="sorted").decode() + "\n"


def parse_receipt(data: bytes) -> Receipt:
    """The receipt in a file; ReceiptInvalid says what is wrong with it."""
    try:
        head = msgspec.json.decode(data)
        if not isinstance(head, dict) or head.get("format") != FORMAT:
            raise ReceiptInvalid(
                "this JSON is not a receipt; `pincite ask --receipt FILE` writes one"
            )
        if head.get("version") != VERSION:
            raise ReceiptInvalid(
                f"this receipt has version {head.get('version')!r}; this pincite reads {VERSION}"
            )
        return msgspec.json.decode(data, type=Receipt)
    except (ValueError, RecursionError) as error:
        raise ReceiptInvalid(f"this receipt is damaged: {error}") from error


def receipt_in(data: bytes) -> Receipt | None:
    """The receipt that a file holds; None where it is Markdown."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    return parse_receipt(data) if data.lstrip().startswith((b"{", b"[{")) else None


def read_file(file: Path) -> bytes:
    """A file to check; of one that is too large only so much that it is seen."""
    try:
        with file.open("rb") as opened:
            return opened.read(LARGEST + 1)
    except OSError as error:
        raise ReceiptInvalid(f"cannot be read: {error.strerror}") from error


def citations_in(data: bytes) -> list[CitedWords]:
    """Every citation of a receipt, or of Markdown as `ask --copy` writes it."""
    if len(data) > LARGEST:
        raise ReceiptInvalid(f"has more than the {LARGEST:,} bytes that are read")
    if receipt := receipt_in(data):
        return list(_citations_of(receipt))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReceiptInvalid("is neither a receipt nor Markdown: it is not UTF-8") from error
    return [
        CitedWords(
            citation=one.citation,
            quote=one.quote,
            chunk_id=one.chunk_id,
            start=one.start,
            end=one.end,
        )
        for one in footnotes_in(text)
    ]


def _citations_of(receipt: Receipt) -> Iterator[CitedWords]:
    if receipt.outcome == "answer" and not receipt.claims:
        raise ReceiptInvalid("this receipt is of an answer, and holds no claim: it was altered")
    for claim in receipt.claims:
        if claim.state != "unsupported" and not claim.citations:
            raise ReceiptInvalid("a claim of this receipt has no citation: it was altered")
        is_altered = claim.state == "quoted" and claim.text not in {
            one.quote for one in claim.citations
        }
        for one in claim.citations:
            # A quoted claim says what its quote says. Of two that differ one was altered: told as
            # words that are not those of the checksum.
            yield (
                replace(one, quote=claim.text, quote_sha256=sha256(one.quote))
                if is_altered
                else one
            )
    yield from receipt.nearest
