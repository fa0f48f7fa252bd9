"""Recordings in pieces: nothing is lost, and no cut goes through a word."""

from __future__ import annotations

import io
import wave

import numpy as np
import pytest

from pincite.converting import speech
from pincite.converting.speech import Samples, joined, quietest

RATE = 16_000


def test_a_piece_ends_where_it_is_quiet() -> None:
    samples = np.ones(60 * RATE, np.float32)
    samples[50 * RATE : 50 * RATE + RATE // 2] = 0
    assert 50 * RATE < quietest(samples) < 50 * RATE + RATE // 2


def test_a_long_recording_comes_in_pieces_that_are_all_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(speech, "_PIECE", 40 * RATE)
    sound = np.arange(100 * RATE, dtype=np.float32)
    pieces: list[Samples] = list(speech._pieces(iter(np.array_split(sound, 1_000))))
    assert len(pieces) > 2
    assert all(len(piece) <= 41 * RATE for piece in pieces)
    assert np.array_equal(np.concatenate(pieces), sound)


def test_silence_without_end_is_cut_all_the_same() -> None:
    assert 0 < quietest(np.zeros(90 * RATE, np.float32)) <= 90 * RATE
    assert quietest(np.zeros(3, np.float32)) == 3


def test_speech_goes_on_over_a_short_silence_and_ends_with_a_long_one() -> None:
    second = RATE
    stretches = [(0, 2 * second), (5 * second, 6 * second), (20 * second, 21 * second)]
    assert list(joined(stretches)) == [(0, 6 * second), (20 * second, 21 * second)]
    assert list(joined([])) == []


def test_sound_of_any_rate_is_decoded_as_one_channel() -> None:
    av = pytest.importorskip("av")
    recording = io.BytesIO()
    with wave.open(recording, "wb") as sound:
        sound.setparams((2, 2, 44_100, 0, "NONE", ""))
        sound.writeframes(np.full(2 * 44_100, 16_384, np.int16).tobytes())
    recording.seek(0)
    with av.open(recording) as container:
        samples = np.concatenate(list(speech._decoded(av, container)))
    assert abs(len(samples) - RATE) < 100
    assert abs(float(np.median(samples)) - 0.5) < 0.01
