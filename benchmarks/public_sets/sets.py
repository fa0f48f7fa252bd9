"""Public data sets as documents and cases.

A set is a folder with `corpus.jsonl` {"id", "title", "text"}, `queries.jsonl` {"id", "text"} and
`qrels.tsv` (question, document, grade); or a BEIR folder, with `_id` and `qrels/test.tsv`. Where a
`questions.jsonl` is there, {"id", "text", "is_impossible", "answers": [{"text"}]}, it adds the
questions without an answer, and the words that answer the others. Folders with
`transcripts.jsonl` are in `timed.py`. Files may be packed as `.gz`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pincite.reading.lines.plain import paragraphs
from pincite.records import (
    Block,
    BlockKind,
    Case,
    Content,
    Document,
    Filters,
    Metadata,
    Section,
    document_from,
)
from public_sets.rows import DatasetError, Row, found, found_or_none, grades, rows
from public_sets.timed import meetings, talks, talks_in_one_library

LIBRARY = "bench"  # the name all indexes are made under: document ids depend on it
_TRAIN_QUESTIONS = "train_queries.jsonl"
JUDGEMENTS = ("qrels.tsv", "qrels/test.tsv", "qrels/dev.tsv", "qrels/train.tsv")

# Questions of this set are about "this website"; the document's title says which one it is.
ASKED_WITHIN_A_TITLE = frozenset({"policyqa-dev"})


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """Documents, and questions about them with what should be found."""

    name: str
    documents: tuple[Document, ...]
    cases: tuple[Case, ...]
    by_place: bool = False  # a place inside a document is looked for, not a document


Timed = Callable[[Path, str], tuple[Sequence[Document], Iterable[Case]]]

_TIMED: Mapping[str, Mapping[str, Timed]] = {
    # The file that tells what kind of set it is → its parts, and how each is read.
    "queries_timed.jsonl": {"within": talks, "global": talks_in_one_library},
    "queries_spans.jsonl": {"": meetings},
}
_QUESTIONS = ("queries.jsonl", *_TIMED)


def names(data: Path, wanted: Sequence[str] = ()) -> tuple[str, ...]:
    """The sets of a folder of sets: all, or those wanted; a set of several parts gives each.

    Wanted ones that are not there are given too, for `load` to say so.
    """
    if not data.is_dir():
        raise DatasetError(f"{data} is no folder")
    if not wanted:
        wanted = sorted(folder.name for folder in data.iterdir() if _parts(data, folder.name))
    if not wanted:
        raise DatasetError(f"{data} holds no folders with a {' or '.join(_QUESTIONS)}")
    return tuple(part for name in wanted for part in _parts(data, name) or [name])


def is_set(folder: Path) -> bool:
    """Whether the folder is a set itself, and not a folder of sets."""
    return found_or_none(folder, *_QUESTIONS) is not None


def load(data: Path, name: str) -> Dataset:
    """The set of that name in a folder of sets."""
    folder, part = data / name, ""
    if not folder.is_dir():
        # Of a set whose parts are several views of the same files.
        folder, part = folder.parent, folder.name
    for questions, parts in _TIMED.items():
        if found_or_none(folder, questions) and part in parts:
            documents, cases = parts[part](folder, LIBRARY)
            return Dataset(
                name=name, documents=tuple(documents), cases=_merged(cases), by_place=True
            )
    if part:
        raise DatasetError(f"{data} holds no set {name!r}")
    return _retrieval_set(folder, name, filtered=name in ASKED_WITHIN_A_TITLE)


def _parts(data: Path, name: str) -> list[str]:
    folder = data / name
    for questions, parts in _TIMED.items():
        if found_or_none(folder, questions):
            return [f"{name}/{part}" if part else name for part in parts]
    if is_set(folder):
        return [name]
    inside = sorted(folder.iterdir()) if folder.is_dir() else ()
    return [f"{name}/{one.name}" for one in inside if is_set(one)]


def path_of(document_id: str) -> str:
    """The path a row of a corpus gets in the library.

    The words search looks into file names, too. An id is no name that anybody gave: as one, `401`
    would answer questions about a 401(k), and `Global warming:14` say its title twice.
    """
    return f"id{document_id.encode('utf-8', 'surrogatepass').hex()}.txt"


def id_of(path: str) -> str:
    """The inverse of `path_of`."""
    encoded = path.removeprefix("id").removesuffix(".txt")
    return bytes.fromhex(encoded).decode("utf-8", "surrogatepass")


def document_of(row: Row, *, tagged: bool = False) -> Document | None:
    """A row of a corpus as the document of a text file; None where it holds nothing at all.

    The title stands in for a text that is missing. Where tagged, it is a tag to filter by, too.
    """
    title, text = row.text("title"), row.text("text")
    tags = (title,) if tagged and title else ()
    if not text.strip():
        text, title = title, ""
    if not text.strip():
        return None
    content = Content(
        type="txt",
        text=text,
        title=title or None,
        sections=(Section(heading_path=(), level=0, start=0, end=len(text)),),
        blocks=tuple(Block(BlockKind.PARAGRAPH, start, end) for start, end in paragraphs(text)),
        metadata=Metadata(tags=tags),
    )
    data = text.encode("utf-8", "surrogatepass")
    return document_from(content, library=LIBRARY, path=path_of(row.id), data=data)


def has_train_split(data: Path, name: str) -> bool:
    """Whether the set has other questions, to fit on."""
    return found_or_none(data / name, _TRAIN_QUESTIONS) is not None


def train_cases(data: Path, name: str) -> tuple[Case, ...]:
    """The questions to fit on, which are not among those to measure by."""
    graded = grades(found(data / name, "train_qrels.tsv"))
    asked = rows(found(data / name, _TRAIN_QUESTIONS))
    return _merged(_case(row, graded.get(row.id, {}), {}) for row in asked)


def _retrieval_set(folder: Path, name: str, *, filtered: bool) -> Dataset:
    corpus = rows(found(folder, "corpus.jsonl"))
    made = (document_of(row, tagged=filtered) for row in corpus)
    documents = {document.path: document for document in made if document}
    graded = grades(found(folder, *JUDGEMENTS))
    cases = (_case(row, graded.get(row.id, {}), documents) for row in _questions(folder))
    asked = [case for case in cases if case.documents or case.unanswerable]
    if not documents or not asked:
        raise DatasetError(f"{folder}: there are no documents, or no questions about them")
    if filtered:
        asked = [_within_a_title(case, documents) for case in asked]
    return Dataset(name=name, documents=tuple(documents.values()), cases=_merged(asked))


def _questions(folder: Path) -> Iterator[Row]:
    """Every question once, with all that is known about it; those with answers come first."""
    detailed = found_or_none(folder, "questions.jsonl")
    details = {row.id: row for row in rows(detailed)} if detailed else {}
    for row in rows(found(folder, "queries.jsonl")):
        yield details.pop(row.id, row)
    yield from details.values()


def _case(row: Row, graded: Mapping[str, int], documents: Mapping[str, Document]) -> Case:
    """A question. One without relevant documents that is not known to have no answer is empty."""
    expected = {path_of(document): grade for document, grade in graded.items()}
    texts = [documents[path].text for path in expected if path in documents]
    answers = row.get("answers", list) if "answers" in row.values else []
    said = [one["text"] for one in answers if isinstance(one, dict) and one.get("text")]
    # One of several ways to say the same: the first that stands there word for word.
    verbatim = [answer for answer in said if any(answer in text for text in texts)]
    return Case(
        question=row.get("text", str),
        documents=expected,
        terms=tuple(verbatim[:1]),
        unanswerable=not expected and row.values.get("is_impossible") is True,
        note=row.id,
    )


def _within_a_title(case: Case, documents: Mapping[str, Document]) -> Case:
    held = [documents[path] for path in case.documents if path in documents]
    titles = {tag for document in held for tag in document.metadata.tags}
    return replace(case, filters=Filters(tags=tuple(sorted(titles))))


def _merged(cases: Iterable[Case]) -> tuple[Case, ...]:
    """The same question under the same filters is one case, which any of the answers is right for.

    A set may ask it about several documents; a search cannot know which of them is meant.
    """
    by_id: dict[str, Case] = {}
    for case in cases:
        known = by_id.setdefault(case.id, case)
        if known is not case:
            by_id[case.id] = replace(
                known,
                documents={**known.documents, **case.documents},
                places=known.places + case.places,
                unanswerable=known.unanswerable and case.unanswerable,
                terms=known.terms or case.terms,
            )
    return tuple(by_id.values())
