"""Native and fallback operators: counts, times, and modes that forbid fallbacks.

Operators are named by overload, as torch's dispatcher does: ``add.Tensor``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from dl_core import _C
from dl_core.config import FALLBACK_MODES
from dl_core.torch_backend._utils import DeviceLike, existing_index


class FallbackStats(dict[str, dict[str, int]]):
    """Operators that ran on the CPU: for each its ``count``, and ``nanoseconds`` spent within
    :func:`profile_operators`.

    :ivar totals: number of calls by where they ran: ``native`` in the vendor's code, ``fallback``
        on the CPU, ``composed`` of other calls by dl-core, which are counted too. Views and
        allocations are not counted.
    :ivar share: fraction of fallbacks among native and fallback operators, 0 to 1: of ``calls``,
        and of ``time`` within :func:`profile_operators`; None if nothing was counted.
    """

    def __init__(
        self,
        operators: Mapping[str, dict[str, int]],
        native: int,
        composed: int,
        native_nanoseconds: int,
    ) -> None:
        super().__init__(operators)
        calls, nanoseconds = (
            sum(entry[key] for entry in self.values()) for key in ("count", "nanoseconds")
        )
        self.totals = {"native": native, "fallback": calls, "composed": composed}
        self.share = {
            "calls": _share(calls, native),
            "time": _share(nanoseconds, native_nanoseconds),
        }


def _share(part: int, rest: int) -> float | None:
    return part / (part + rest) if part + rest else None


def fallback_stats() -> FallbackStats:
    """Return the operators that ran on the CPU since the start or :func:`reset_fallback_stats`.

    >>> stats = torch.dl.fallback_stats()  # doctest: +SKIP
    >>> stats  # doctest: +SKIP
    {'linalg_eig.out': {'count': 2, 'nanoseconds': 0}}
    >>> stats.totals, stats.share["calls"]  # doctest: +SKIP
    ({'native': 98, 'fallback': 2, 'composed': 7}, 0.02)
    """
    native, composed = _C.call_totals()
    nanoseconds = sum(entry["nanoseconds"] for entry in _C.native_stats().values())
    return FallbackStats(_C.fallback_stats(), native, composed, nanoseconds)


def reset_fallback_stats() -> None:
    """Reset the counts of :func:`fallback_stats`, except for the times of native operators, which
    :func:`reset_native_stats` resets."""
    _C.reset_fallback_stats()


def native_stats() -> dict[str, dict[str, int]]:
    """Return the operators that ran in the vendor's code within :func:`profile_operators`."""
    return _C.native_stats()


def reset_native_stats() -> None:
    """Reset the counts of :func:`native_stats`."""
    _C.reset_native_stats()


@contextmanager
def profile_operators() -> Iterator[None]:
    """Context manager that counts and times operators in all threads. It cannot be nested."""
    _C.profile_operators(True)
    try:
        yield
    finally:
        _C.profile_operators(False)


def native_operators(device: DeviceLike = None) -> list[str]:
    """Return the operators that the vendor of ``device`` implements."""
    return _C.native_operators(existing_index("native_operators", device))


def fallback_mode() -> str:
    """Return ``allow``, ``warn`` (once for each operator) or ``error``."""
    return _C.fallback_mode()


def set_fallback_mode(mode: str) -> None:
    """Set the action for operators that run on the CPU, in all threads.

    :raises ValueError: the mode does not exist.
    """
    if mode not in FALLBACK_MODES:
        raise ValueError(
            f"[torch.dl.set_fallback_mode] there is no mode {mode!r}, only "
            f"{', '.join(FALLBACK_MODES)}"
        )
    _C.set_fallback_mode(mode)


@contextmanager
def fallback(mode: str) -> Iterator[None]:
    """Context manager and decorator that sets the fallback mode, in all threads.

    >>> with torch.dl.fallback("error"):  # doctest: +SKIP
    ...     model(batch)  # raises if one operator is not the vendor's own
    """
    previous = fallback_mode()
    set_fallback_mode(mode)
    try:
        yield
    finally:
        set_fallback_mode(previous)
