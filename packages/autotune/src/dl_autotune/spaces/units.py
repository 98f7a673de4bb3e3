"""Units of time in result files of tuners, as factors to milliseconds."""

from __future__ import annotations

from ..errors import SpaceError

_SPELLINGS = {
    1e3: ("s", "sec", "secs", "second", "seconds"),
    # Result files of the BAT benchmarks spell it with one l.
    1.0: ("ms", "msec", "msecs", "millisecond", "milliseconds", "milisecond", "miliseconds"),
    1e-3: ("us", "usec", "usecs", "µs", "μs", "microsecond", "microseconds"),
    1e-6: ("ns", "nsec", "nsecs", "nanosecond", "nanoseconds"),
}
_FACTORS = {name: factor for factor, names in _SPELLINGS.items() for name in names}


def milliseconds_per(unit: object) -> float:
    """Return how many milliseconds one ``unit`` has.

    :raises SpaceError: the unit is unknown; the message has the known ones.
    """
    factor = _FACTORS.get(unit.strip().lower()) if isinstance(unit, str) else None
    if factor is None:
        known = ", ".join(names[0] for names in _SPELLINGS.values())
        raise SpaceError(f"[space] {unit!r} is not a known unit of time; use one of {known}")
    return factor
