"""Sound of a recording → what is said in it and when, by faster-whisper and a model of the user's.

A recording is decoded and transcribed in pieces of some minutes, cut where it is quiet, so that
its length does not matter.
"""

from __future__ import annotations

import io
import pkgutil
import wave
from collections.abc import Generator, Iterator, Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pincite.converting.wire import Finished, Opened, Part, Said
from pincite.errors import FileUnreadable

Samples = NDArray[np.float32]

_RATE = 16_000  # samples a second, as Whisper wants them
_PIECE = 600 * _RATE  # decoded and transcribed at once
_CUT_WITHIN = 30 * _RATE  # before the end of a piece, where it is quietest
_SILENCE = 5 * _RATE  # that is left out; over a shorter one the speech goes on
_QUIET = _RATE // 5  # looked at to tell how quiet it is


class Transcriber:
    """A speech model, loaded."""

    def __init__(self, folder: Path, *, language: str | None = None) -> None:
        whisper = import_module("faster_whisper")
        self.name = f"faster-whisper {version('faster-whisper')} ({folder.name})"
        self._av = import_module("av")
        self._vad = import_module("faster_whisper.vad")
        self._language = language
        self._model = whisper.WhisperModel(
            str(folder), device="cpu", compute_type="int8", local_files_only=True
        )
        # Load what is otherwise loaded when it is needed: later no file can be opened
        for module in pkgutil.walk_packages(self._av.__path__, "av."):
            if not module.name.endswith("__main__"):
                import_module(module.name)
        recording = io.BytesIO()
        with wave.open(recording, "wb") as silence:
            silence.setparams((1, 2, _RATE, 0, "NONE", ""))
            silence.writeframes(bytes(4 * _RATE))
        recording.seek(0)
        list(self.transcribe(recording))
        segments, _ = self._model.transcribe(np.zeros(_RATE, np.float32), language=self._language)
        list(segments)

    def transcribe(self, file: BinaryIO) -> Iterator[Part]:
        """What the recording is, then what is said in it, as it is understood."""
        av, language = self._av, self._language
        try:
            with av.open(file, mode="r", metadata_errors="ignore") as container:
                duration = container.duration / av.time_base if container.duration else None
                yield Opened(title=container.metadata.get("title"), duration=duration)
                begin = 0
                for piece in _pieces(_decoded(av, container)):
                    language = yield from self._said(piece, begin / _RATE, language)
                    begin += len(piece)
        except av.FFmpegError as error:
            raise FileUnreadable(f"cannot be played: {error.strerror or error}") from error
        yield Finished(language)

    def _said(
        self, samples: Samples, begin: float, language: str | None
    ) -> Generator[Said, None, str | None]:
        """What is said in the samples; returns the language, as soon as it is known."""
        # In silence a speech model hears what is not there.
        spoken = [(one["start"], one["end"]) for one in self._vad.get_speech_timestamps(samples)]
        for start, end in joined(spoken):
            segments, told = self._model.transcribe(
                samples[start:end],
                language=language,
                condition_on_previous_text=False,  # else a slip may be repeated to the end
            )
            for segment in segments:
                language = told.language
                first, last = segment.start, min(segment.end, (end - start) / _RATE)
                base = begin + start / _RATE
                yield Said(base + first, base + last, segment.text.strip())
        return language


def joined(stretches: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Stretches of speech in samples, those a short silence apart put together."""
    start, end = 0, 0
    for begin, until in stretches:
        if end and begin - end > _SILENCE:
            yield start, end
        if not end or begin - end > _SILENCE:
            start = begin
        end = until
    if end:
        yield start, end


def _decoded(av: Any, container: Any) -> Iterator[Samples]:  # noqa: ANN401 — as import_module
    """The sound bit by bit, as one channel; what is broken in between is left out."""
    if not container.streams.audio:
        return
    resampler = av.AudioResampler(format="s16", layout="mono", rate=_RATE)
    for packet in container.demux(container.streams.audio[0]):
        try:
            frames = packet.decode()
        except av.InvalidDataError:
            continue
        for frame in frames:
            frame.pts = None  # times that go backwards would be refused
            yield from map(_as_floats, resampler.resample(frame))
    yield from map(_as_floats, resampler.resample(None))


def _as_floats(frame: Any) -> Samples:  # noqa: ANN401 — as import_module
    samples: NDArray[np.int16] = frame.to_ndarray().reshape(-1)
    return samples.astype(np.float32) / np.float32(32_768)


def _pieces(sound: Iterator[Samples]) -> Iterator[Samples]:
    """The sound in pieces that fit into memory."""
    waiting: list[Samples] = []
    length = 0
    for bit in sound:
        waiting.append(bit)
        length += len(bit)
        if length >= _PIECE:
            whole = np.concatenate(waiting)
            cut = quietest(whole)
            yield whole[:cut]
            waiting, length = [whole[cut:]], len(whole) - cut
    if length:
        yield np.concatenate(waiting)


def quietest(samples: Samples) -> int:
    """Where to cut near the end of the samples, so that no word is cut."""
    first = max(len(samples) - _CUT_WITHIN, 0)
    moments = (len(samples) - first) // _QUIET
    if moments == 0:
        return len(samples)
    ending = np.abs(samples[first : first + moments * _QUIET]).reshape(moments, _QUIET)
    return first + int(ending.mean(axis=1).argmin()) * _QUIET + _QUIET // 2
