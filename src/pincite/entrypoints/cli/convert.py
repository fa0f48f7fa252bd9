"""`pincite convert`: images, scanned pages and recordings become text beside the library."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import get_args

import click

from pincite.converting.flow import ConversionReport
from pincite.converting.process import OcrEngine
from pincite.converting.wire import Need, SourceKind
from pincite.engine import find_library
from pincite.entrypoints.cli import progress
from pincite.entrypoints.cli.common import as_json_option, echo, open_at
from pincite.entrypoints.cli.index import (
    EXIT_PARTLY_FAILED,
    folder_argument,
    passwords_in,
    passwords_option,
)
from pincite.entrypoints.reports import counted
from pincite.errors import IndexMissing
from pincite.settings import CONVERTED_FOLDER
from pincite.text.printable import printable

_MOST_NAMES = 10  # files named one by one; of more only the number is told
_OPTION = {Need.OCR: "--ocr", Need.SPEECH: "--speech-model DIR"}
_NOUNS = {
    SourceKind.IMAGE: "image",
    SourceKind.PDF: "PDF",
    SourceKind.AUDIO: "audio file",
    SourceKind.VIDEO: "video",
}


@click.command()
@folder_argument
@click.option("--ocr", is_flag=True, help="Read images and the scanned pages of PDFs.")
@click.option(
    "--engine",
    type=click.Choice(get_args(OcrEngine)),
    help="The OCR engine. [default: rapidocr, if it is installed]",
)
@click.option(
    "--speech-model",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Write down what audio and video say, with the faster-whisper model in this folder.",
)
@click.option(
    "--language", metavar="LANG", help="The language of the text and speech, such as en, de, zh."
)
@click.option(
    "--force", is_flag=True, help="Recognise everything again, even what you corrected by hand."
)
@passwords_option
@as_json_option
def convert(
    folder: Path,
    ocr: bool,
    engine: OcrEngine | None,
    speech_model: Path | None,
    language: str | None,
    force: bool,
    passwords_file: Path | None,
    as_json: bool,
) -> None:
    """Recognise the text of images, scanned pages and recordings in the library around FOLDER.

    It is written as Markdown below .converted, where you can read and correct it; then run
    `pincite index update`. Without --ocr and --speech-model, only tells what there is.

    Example: pincite convert --ocr
    """
    with suppress(IndexMissing):  # nothing was indexed yet: the folder itself
        folder = find_library(folder)
    with open_at(folder) as library:
        started = time.monotonic()
        with progress.shown(quiet=as_json, doing="Recognising") as on_progress:
            report = library.convert(
                ocr=ocr or engine is not None,
                engine=engine,
                speech_model=speech_model,
                language=language,
                force=force,
                passwords=passwords_in(passwords_file),
                on_progress=on_progress,
            )
    seconds = time.monotonic() - started
    told = {**asdict(report), "seconds": round(seconds, 3)}
    echo(as_json, told, report_as_text(report, seconds))
    if report.failures:
        sys.exit(EXIT_PARTLY_FAILED)


def report_as_text(report: ConversionReport, seconds: float) -> Iterator[str]:
    """What a run did, and what the user may want to do next."""
    if report.written:
        yield (
            f"Recognised {counted(len(report.written), 'file')} with "
            f"{', '.join(report.engines.values())}: {report.characters:,} characters in "
            f"{seconds:.1f} s."
        )
        yield from _named("  written", [f"{CONVERTED_FOLDER}/{path}.md" for path in report.written])
        yield from _named("  corrections overwritten", report.overwritten)
    counts = {
        "Recognised before": report.unchanged,
        "Nothing to recognise in": report.without_text,
        "Text has followed": len(report.moved),
    }
    yield from (f"{what}: {counted(count, 'file')}." for what, count in counts.items() if count)
    # What was found but not asked for, with the option that would read it.
    for need, option in _OPTION.items():
        waiting = [
            counted(len(found), noun) + (f" with {counted(pages, 'scanned page')}" if pages else "")
            for kind, noun in _NOUNS.items()
            if kind.need is need and (found := [one for one in report.waiting if one.kind is kind])
            for pages in (sum(one.pages for one in found),)
        ]
        if waiting:
            yield f"Not recognised: {', '.join(waiting)}. To read them: {option}"
    lists: dict[str, Sequence[str]] = {
        "Changed, but you corrected their text by hand; --force recognises them again": report.kept,
        f"Gone, but their text is still in {CONVERTED_FOLDER}; delete what you do not need": (
            report.orphaned
        ),
        "Left out": [f"{one.path}: {one.reason}" for one in report.skipped],
        "Failed": [f"{one.path}: {one.reason}" for one in report.failures],
    }
    for what, texts in lists.items():
        if texts:
            yield f"{what} ({len(texts)}):"
            yield from (f"  {printable(text)}" for text in texts)
    if report.written or report.moved:
        yield "Run `pincite index update` to search them."
    if report == ConversionReport():
        yield "There are no images, scanned pages or recordings."


def _named(what: str, paths: Sequence[str]) -> Iterator[str]:
    if 0 < len(paths) <= _MOST_NAMES:
        yield f"{what}: " + ", ".join(map(printable, paths))
