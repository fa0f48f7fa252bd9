"""Counts meteors by radio: a far transmitter, silent by day, pings when a trail reflects it."""

GRAVES_MHZ = 143.05
FLOOR_SECONDS = 0.08  # shorter is lightning or the fence of Mr Pruett
AIRCRAFT_DRIFT = 12  # Hz per second; a meteor does not glide


def is_meteor(duration: float, drift: float, strength_db: float) -> bool:
    """A ping that is long enough, loud enough, and does not slide like an aeroplane."""
    return duration >= FLOOR_SECONDS and strength_db > 6 and abs(drift) < AIRCRAFT_DRIFT


def zenithal_rate(count: int, hours: float, radiant_height: float) -> float:
    """What one would count with the radiant overhead. Below 15 degrees it is not worth dividing."""
    import math

    if radiant_height < 15:
        raise ValueError("RADIANT_TOO_LOW: wait an hour")
    return count / hours / math.sin(math.radians(radiant_height))
