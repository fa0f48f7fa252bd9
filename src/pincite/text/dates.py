"""Dates as people know them: a day, or only its month or year."""

from __future__ import annotations

import re
from datetime import date

# In English, German and Spanish.
_MONTH_NAMES = """
january,jan,januar,enero february,feb,februar,febrero march,mar,märz,marzo april,apr,abril
may,mai,mayo june,jun,juni,junio july,jul,juli,julio august,aug,agosto september,sep,sept,septiembre
october,oct,oktober,octubre november,nov,noviembre december,dec,dezember,diciembre
"""
MONTHS = {
    name: str(number)
    for number, names in enumerate(_MONTH_NAMES.split(), start=1)
    for name in names.split(",")
}
_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?=$|[T ])")


def day_span(written: str) -> tuple[str, str] | None:
    """The first and the last day that an ISO 8601 date may mean; None where it is none.

    Example:
        >>> day_span("2024-02")
        ('2024-02-01', '2024-02-29')
    """
    found = _DATE.match(written)
    if found is None:
        return None
    year, month, day = (None if part is None else int(part) for part in found.groups())
    import calendar  # which a search does without

    try:
        first = date(year or 0, month or 1, day or 1)
        last_month = month or 12
        last_day = day or calendar.monthrange(first.year, last_month)[1]
        return first.isoformat(), date(first.year, last_month, last_day).isoformat()
    except ValueError:
        return None
