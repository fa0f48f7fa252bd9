"""Find the leak between two loggers on a main from the sound it makes.

The noise reaches the nearer logger first. With the speed of sound in the pipe and the delay
between both, the distance from logger A is (length - speed * delay) / 2.
"""

from dataclasses import dataclass

# Metres per second, measured by us on Orrindale mains; books say more for cast iron.
SPEED = {"cast iron": 1210.0, "MDPE": 390.0, "asbestos cement": 980.0, "spun iron": 1240.0}

MIN_CORRELATION = 0.22  # below this we once dug up a transformer hum


class NoLeakHeard(Exception):
    """The two recordings have nothing in common."""


@dataclass(frozen=True)
class Stretch:
    material: str
    length_m: float


def delay_of(peak_sample: int, rate_hz: int, zero: int) -> float:
    """Seconds by which B heard it later than A; negative if B was first."""
    return (peak_sample - zero) / rate_hz


def distance_from_a(stretch: Stretch, delay_s: float, correlation: float) -> float:
    """Where to dig, in metres from logger A.

    On plastic the estimate is often two metres short because the high tones die early.
    """
    if correlation < MIN_CORRELATION:
        raise NoLeakHeard(f"correlation {correlation:.2f}: night flow too low or a pump is running")
    where = (stretch.length_m - SPEED[stretch.material] * delay_s) / 2
    return min(max(where, 0.0), stretch.length_m)
