"""One run of `pincite convert`: which files there are, and what recognises them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from pincite.converting.converted_folder import ConvertedFolder
from pincite.converting.flow import ConversionReport, Parts, convert
from pincite.converting.process import OcrEngine, RecogniserProcess, ocr_options, speech_options
from pincite.converting.wire import Need, Options, is_convertible
from pincite.records import Progress
from pincite.settings import SourceSettings
from pincite.sources import Folder

_MAX_FILE_BYTES = 4_000_000_000  # of a recording, which is never held in memory


@dataclass(frozen=True, kw_only=True)
class ConversionWishes:
    """What is to be recognised, and how."""

    ocr: bool = False
    engine: OcrEngine | None = None
    speech_model: Path | None = None
    language: str | None = None
    force: bool = False
    passwords: tuple[str, ...] = ()

    def options(self) -> dict[Need, Options]:
        """How to start what recognises; what cannot work is refused before anything is read."""
        options = {}
        if self.ocr:
            options[Need.OCR] = ocr_options(self.engine, self.language)
        if self.speech_model is not None:
            options[Need.SPEECH] = speech_options(self.speech_model, self.language)
        return options


def convert_library(
    root: Path, wishes: ConversionWishes, on_progress: Callable[[Progress], None]
) -> ConversionReport:
    """Write the text of what can be recognised in a library beside it."""
    options = wishes.options()
    folder = Folder(root, SourceSettings(max_file_bytes=_MAX_FILE_BYTES))
    scan = folder.scan(is_convertible, hashed=True)
    with ExitStack() as open_processes:
        parts = Parts(
            open_file=folder.open,
            converted=ConvertedFolder(root),
            look=open_processes.enter_context(RecogniserProcess(Options())),
            recognisers={
                need: open_processes.enter_context(RecogniserProcess(one))
                for need, one in options.items()
            },
        )
        report = convert(
            scan.files,
            parts,
            force=wishes.force,
            passwords=wishes.passwords,
            on_progress=on_progress,
        )
    left_out = {one.path for one in scan.skipped}
    return replace(
        report,
        orphaned=tuple(path for path in report.orphaned if path not in left_out),
        skipped=scan.skipped,
    )
