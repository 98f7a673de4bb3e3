"""Which operators run in the vendor's code and which on the CPU: counted, and forbidden on request.

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

    :ivar totals: all calls, by where they ran: ``native`` in the vendor's code, ``fallback`` on the
        CPU, ``composed`` of such calls by dl-core, which are counted too. Views and allocations are
        none of these.
    :ivar share: of what fell back among native and fallback, 0 to 1: of ``calls``, and of ``time``
        within :func:`profile_operators`; None where nothing was counted.
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
    """What ran on the CPU since the start or :func:`reset_fallback_stats`, and its share.

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
    """Let :func:`fallback_stats` start again from nothing, but for the times of native operators,
    which :func:`reset_native_stats` resets."""
    _C.reset_fallback_stats()


def native_stats() -> dict[str, dict[str, int]]:
    """Operators that ran in the vendor's code within :func:`profile_operators`, as above."""
    return _C.native_stats()


def reset_native_stats() -> None:
    """Let :func:`native_stats` start again from nothing."""
    _C.reset_native_stats()


@contextmanager
def profile_operators() -> Iterator[None]:
    """Context manager: count and time operators, in all threads. Do not nest it."""
    _C.profile_operators(True)
    try:
        yield
    finally:
        _C.profile_operators(False)


def native_operators(device: DeviceLike = None) -> list[str]:
    """Operators for which the vendor of ``device`` has code of its own."""
    return _C.native_operators(existing_index("native_operators", device))


def fallback_mode() -> str:
    """``allow``, ``warn`` (once for each operator) or ``error``."""
    return _C.fallback_mode()


def set_fallback_mode(mode: str) -> None:
    """What running an operator on the CPU does from now on, in all threads.

    :raises ValueError: there is no such mode.
    """
    if mode not in FALLBACK_MODES:
        raise ValueError(
            f"[torch.dl.set_fallback_mode] there is no mode {mode!r}, only "
            f"{', '.join(FALLBACK_MODES)}"
        )
    _C.set_fallback_mode(mode)


@contextmanager
def fallback(mode: str) -> Iterator[None]:
    """Context manager and decorator: another fallback mode for a while, in all threads.

    >>> with torch.dl.fallback("error"):  # doctest: +SKIP
    ...     model(batch)  # raises if one operator is not the vendor's own
    """
    previous = fallback_mode()
    set_fallback_mode(mode)
    try:
        yield
    finally:
        set_fallback_mode(previous)
