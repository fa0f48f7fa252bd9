"""The journey with a recogniser of the test's own: what is written, skipped, kept and reported."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pytest

from pincite.converting.converted_folder import ConvertedFolder
from pincite.converting.flow import ConversionReport, Parts, Waiting, convert, known_empty
from pincite.converting.markdown import body_of
from pincite.converting.wire import Finished, Job, Line, Need, Opened, Page, Part, Said, SourceKind
from pincite.errors import FileUnreadable, StoreFull
from pincite.records import FoundFile, Progress


class FakeRecogniser:
    """Takes a file's bytes for what is on its pages, which a form feed parts, or is said in it."""

    def __init__(self, engine: str = "fake 1", *, recognises: bool = True) -> None:
        self.engine = engine
        self.asked: list[Job] = []
        self._recognises = recognises

    def recognise(self, file: BinaryIO, job: Job) -> Iterator[Part]:
        self.asked.append(job)
        text = file.read().decode()
        if text == "broken":
            raise FileUnreadable("is damaged")
        if job.kind.need is Need.SPEECH:
            yield Opened(duration=4.0)
            yield Said(0.0, 4.0, text)
            yield Finished("en")
            return
        pages = [(number, page) for number, page in enumerate(text.split("\f"), 1) if page]
        yield Opened(pages=text.count("\f") + 1, scanned=tuple(number for number, _ in pages))
        if self._recognises:
            for number, page in pages:
                yield Page(number, (Line(page.strip(), 0, 0, 100, 20),) if page.strip() else ())
        yield Finished()


class Library:
    """A folder in memory, with a folder on disk."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.contents: dict[str, str] = {}
        self.ocr = FakeRecogniser()
        self.speech = FakeRecogniser("speech 1")

    def convert(
        self, *needs: Need, force: bool = False, progress: list[Progress] | None = None
    ) -> ConversionReport:
        recognisers = {Need.OCR: self.ocr, Need.SPEECH: self.speech}
        parts = Parts(
            open_file=self._open,
            converted=ConvertedFolder(self.root),
            look=FakeRecogniser("", recognises=False),
            recognisers={need: recognisers[need] for need in needs},
        )
        told = [] if progress is None else progress
        return convert(self.files(), parts, force=force, on_progress=told.append)

    def files(self) -> Sequence[FoundFile]:
        return [
            FoundFile(path, len(text), hashlib.sha256(text.encode()).hexdigest())
            for path, text in sorted(self.contents.items())
        ]

    def text(self, path: str) -> str:
        return (self.root / ".converted" / f"{path}.md").read_text()

    def correct(self, path: str, old: str, new: str) -> None:
        text = self.text(path)
        (self.root / ".converted" / f"{path}.md").write_text(text.replace(old, new))

    @contextmanager
    def _open(self, path: str) -> Iterator[BinaryIO]:
        yield io.BytesIO(self.contents[path].encode())


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path)


def test_every_kind_of_file_gets_its_text(library: Library) -> None:
    library.contents = {
        "a.PNG": "a sign",
        "b.pdf": "\fscanned",
        "c.mp3": "hello",
        "d.mp4": "hi all",
    }
    report = library.convert(Need.OCR, Need.SPEECH)
    assert report.written == ("a.PNG", "b.pdf", "c.mp3", "d.mp4")
    assert report.characters == sum(len(body_of(library.text(path))) for path in library.contents)
    assert report.engines == {Need.OCR: "fake 1", Need.SPEECH: "speech 1"}
    assert library.text("b.pdf").endswith("## Page 2\n\nscanned\n")
    assert "modality: audio_transcript" in library.text("c.mp3")
    assert library.text("d.mp4").endswith("[00:00:00 - 00:00:04] hi all\n")


def test_what_was_recognised_is_not_recognised_again_until_it_changes(library: Library) -> None:
    library.contents = {"a.png": "one", "b.png": "two"}
    library.convert(Need.OCR)
    assert library.convert(Need.OCR) == ConversionReport(unchanged=2)
    assert len(library.ocr.asked) == 2
    library.contents["a.png"] = "another"
    report = library.convert(Need.OCR)
    assert (report.written, report.unchanged) == (("a.png",), 1)
    assert library.text("a.png").endswith("another\n")


def test_a_corrected_text_is_kept_though_its_file_changed(library: Library) -> None:
    library.contents = {"a.png": "0ne"}
    library.convert(Need.OCR)
    library.correct("a.png", "0ne", "one")
    library.contents["a.png"] = "two"
    report = library.convert(Need.OCR)
    assert (report.kept, report.written) == (("a.png",), ())
    assert library.text("a.png").endswith("one\n")


def test_force_recognises_all_again_and_tells_which_corrections_went(library: Library) -> None:
    library.contents = {"a.png": "0ne", "b.png": "two"}
    library.convert(Need.OCR)
    library.correct("a.png", "0ne", "one")
    report = library.convert(Need.OCR, force=True)
    assert (report.written, report.overwritten) == (("a.png", "b.png"), ("a.png",))
    assert library.text("a.png").endswith("0ne\n")


def test_a_failure_is_a_line_and_the_rest_goes_on(library: Library) -> None:
    library.contents = {"a.png": "broken", "b.png": "two"}
    report = library.convert(Need.OCR)
    assert [(one.path, one.reason) for one in report.failures] == [("a.png", "is damaged")]
    assert report.written == ("b.png",)


def test_what_was_not_asked_for_is_told_and_left_alone(library: Library) -> None:
    library.contents = {"a.png": "sign", "b.pdf": "one\ftwo", "c.mp3": "hi", "d.pdf": "\f"}
    report = library.convert()
    assert report.waiting == (
        Waiting("a.png", SourceKind.IMAGE),
        Waiting("b.pdf", SourceKind.PDF, pages=2),
        Waiting("c.mp3", SourceKind.AUDIO),
    )
    assert report.without_text == 1
    assert not (library.root / ".converted").exists()


def test_what_holds_no_text_is_looked_at_once(library: Library) -> None:
    library.contents = {"photo.jpg": " ", "text.pdf": "\f"}
    assert library.convert(Need.OCR).without_text == 2
    assert library.convert(Need.OCR).without_text == 2
    assert len(library.ocr.asked) == 2
    assert known_empty(library.root) == {file.checksum for file in library.files()}
    assert library.convert(Need.OCR, force=True).without_text == 2
    assert len(library.ocr.asked) == 4
    library.ocr = FakeRecogniser("better 2")
    library.convert(Need.OCR)
    assert [job.kind for job in library.ocr.asked] == [SourceKind.IMAGE]


def test_the_text_of_a_file_that_holds_none_any_more_goes(
    library: Library,
) -> None:
    library.contents = {"a.pdf": "scanned"}
    library.convert(Need.OCR)
    library.contents = {"a.pdf": "\f"}
    library.convert(Need.OCR)
    assert not (library.root / ".converted" / "a.pdf.md").exists()


def test_a_text_follows_its_file_and_one_without_a_file_is_told(library: Library) -> None:
    library.contents = {"a.png": "one", "b.png": "two"}
    library.convert(Need.OCR)
    library.contents = {"new/a.png": "one"}
    report = library.convert(Need.OCR)
    assert (report.moved, report.orphaned, report.unchanged) == (("new/a.png",), ("b.png",), 1)


def test_what_was_written_before_a_run_ends_stays(library: Library, tmp_path: Path) -> None:
    class FullFolder(ConvertedFolder):
        def write(self, path: str, text: str) -> None:
            if path == "b.png":
                raise StoreFull("the disk is full")
            super().write(path, text)

    library.contents = {"a.png": "one", "b.png": "two"}
    parts = Parts(library._open, FullFolder(tmp_path), library.ocr, {Need.OCR: library.ocr})
    with pytest.raises(StoreFull):
        convert(library.files(), parts)
    assert library.convert(Need.OCR).written == ("b.png",)


def test_progress_also_counts_the_pages_of_a_file(library: Library) -> None:
    library.contents = {"a.pdf": "one\ftwo\fsix", "b.png": "x" * 11}
    told: list[Progress] = []
    library.convert(Need.OCR, progress=told)
    shown = [(one.documents_done, one.bytes_done) for one in told]
    assert shown == [(0, 3), (0, 7), (0, 11), (1, 11), (1, 22), (2, 22)]
    assert {(one.documents_total, one.bytes_total) for one in told} == {(2, 22)}
