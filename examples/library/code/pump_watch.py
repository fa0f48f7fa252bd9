"""Watch the two pumps under the Fog House and say in plain words what is wrong.

The pressure gauges are read once a minute by a small board in the pump room, which writes
lines such as ``2025-03-02T10:15Z wren 1.79 9203.4``: time, pump, bar, hour meter. This module
turns those lines into advice. It never switches anything on or off. A person does that, after
looking.

Run it with a file of such lines::

    python pump_watch.py today.log
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

READINGS_KEPT = 10  # minutes of memory; shorter than this, a slammed tap looks like a leak
SAGGING = 0.88  # of the working pressure: below it the suction side is drawing air
WARN_HOURS = 50.0  # before a wearing part is due


@dataclass(frozen=True)
class Pump:
    """What is normal for one pump. Pressures in bar, intervals in hours of running."""

    name: str
    working: float
    relief: float
    part: str
    part_hours: float


WREN = Pump("wren", working=1.8, relief=2.4, part="impeller", part_hours=1_500)
DIPPER = Pump("dipper", working=4.5, relief=6.0, part="diaphragm", part_hours=900)
PUMPS = {pump.name: pump for pump in (WREN, DIPPER)}


@dataclass(frozen=True)
class Reading:
    """One line of the log."""

    time: str
    pump: Pump
    bar: float
    hours: float


@dataclass
class Watch:
    """Remembers the last ten minutes of one pump, and when its part was changed."""

    pump: Pump
    changed_at: float = 0.0
    recent: deque[float] = field(default_factory=lambda: deque(maxlen=READINGS_KEPT))

    def advice(self, reading: Reading) -> Iterator[str]:
        """What a person should do now, the most urgent first; usually nothing."""
        self.recent.append(reading.bar)
        if reading.bar > self.pump.relief:
            yield "stop the pump: the relief valve should have opened and has not"
        if self._is_full() and self._mean() < SAGGING * self.pump.working:
            yield "look for bubbles in the strainer bowl, then at the hose clips, then inside"
        if self._is_full() and self._swing() > 0.5 * self.pump.working:
            yield "pulsing: check the charge of the accumulator with the line drained"
        left = self.pump.part_hours - (reading.hours - self.changed_at)
        if left < WARN_HOURS:
            yield f"{self.pump.part} due in {max(left, 0):.0f} h"

    def _is_full(self) -> bool:
        return len(self.recent) == READINGS_KEPT

    def _mean(self) -> float:
        return sum(self.recent) / len(self.recent)

    def _swing(self) -> float:
        return max(self.recent) - min(self.recent)


def parse(line: str) -> Reading | None:
    """The reading in a line; None for lines that hold none, such as the nightly greeting."""
    parts = line.split()
    if len(parts) != 4 or parts[1] not in PUMPS:
        return None
    try:
        return Reading(parts[0], PUMPS[parts[1]], float(parts[2]), float(parts[3]))
    except ValueError:
        return None


def report(lines: Iterable[str], changed_at: dict[str, float]) -> Iterator[str]:
    """One line for each new piece of advice; what was said already is not repeated."""
    watches = {name: Watch(pump, changed_at.get(name, 0.0)) for name, pump in PUMPS.items()}
    said: dict[str, set[str]] = {name: set() for name in PUMPS}
    for line in lines:
        reading = parse(line)
        if reading is None:
            continue
        name = reading.pump.name
        now = list(watches[name].advice(reading))
        for advice in now:
            if advice not in said[name]:
                yield f"{reading.time} {name}: {advice}"
        said[name] = set(now)


def main() -> int:
    """Print the advice for one log; 1 if there was any, so that cron sends a mail."""
    log = Path(sys.argv[1])
    changed_at = {"wren": 7_702.0, "dipper": 2_744.0}  # hour meters at the last change
    found = False
    with log.open(encoding="utf-8") as lines:
        for advice in report(lines, changed_at):
            print(advice)
            found = True
    return int(found)


if __name__ == "__main__":
    sys.exit(main())
