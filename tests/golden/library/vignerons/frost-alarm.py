"""Ring the growers when frost is near. Runs on the small computer in the chapel tower."""

import time

WIRES = {"low": "Les Aspres", "mid": "Clos Puech", "top": "Saint-Roch"}
RING_BELOW = 1.5  # wet-bulb degrees; buds die at -1.2 when they are green
CANDLES_BELOW = 0.3  # lighting 300 candles per hectare takes forty minutes
SILENCE_AFTER = "05-20"  # the Ice Saints have passed

CALL_ORDER = ["Vidal", "Castaing", "Puech", "Delmas"]  # Puech last but one: he sleeps by the telephone


def wet_bulb(dry: float, humidity: float) -> float:
    """Good enough between -5 and 10 degrees; checked against a sling psychrometer."""
    return dry - (100 - humidity) * (0.035 + 0.0036 * dry)


def verdict(dry: float, humidity: float) -> str:
    felt = wet_bulb(dry, humidity)
    if felt < CANDLES_BELOW:
        return "LIGHT"
    return "RING" if felt < RING_BELOW else "SLEEP"


def watch(read_sensor, ring, clock=time) -> None:
    """Three readings in a row must agree: a single one was once a pigeon."""
    recent: list[str] = []
    while clock.strftime("%m-%d") < SILENCE_AFTER:
        recent = [*recent[-2:], verdict(*read_sensor())]
        if len(recent) == 3 and len(set(recent)) == 1 and recent[0] != "SLEEP":
            ring(recent[0], CALL_ORDER)
        clock.sleep(300)
