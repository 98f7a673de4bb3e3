"""Native and fallback operators: counts, times, and modes that forbid fallbacks.

Operators are named by overload, as torch's dispatcher does: ``add.Tensor``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

from dl_core import _C
from dl_core.config import FALLBACK_MODES
from dl_core.torch_backend._utils import DeviceLike, existing_index


@dataclass(frozen=True)
class FallbackReason:
    """A reason why an operator ran on the CPU."""

    text: str
    """A clause, such as ``diopiMulScalar declined: int64 scalar is not supported``."""
    cause: str
    """``declined`` by the vendor's operator; ``absent`` from the vendor, or ``mismatched``: built
    against another contract; ``unfit``: dl-core does not pass such a call to the operator;
    ``composition``: dl-core does not compose it for such a call; ``no_operator``: nothing in the
    contract computes it; ``sparse``, ``forced``, ``fixed_order``; ``other``: more reasons than are
    kept."""
    operator: str
    """Operator of the contract; empty if none is involved."""
    words: str
    """The vendor's own words for a call that it declined; may be empty."""
    count: int
    nanoseconds: int
    """Time spent within :func:`profile_operators`."""


class FallbackStats(dict[str, dict[str, int]]):
    """Operators that ran on the CPU: for each its ``count``, and ``nanoseconds`` spent within
    :func:`profile_operators`.

    :ivar reasons: reasons of each operator, the most frequent one first.

    :ivar totals: number of calls by where they ran: ``native`` in the vendor's code, ``fallback``
        on the CPU, ``composed`` of other calls by dl-core, which are counted too. Views and
        allocations are not counted.
    :ivar share: fraction of fallbacks among native and fallback operators, 0 to 1: of ``calls``,
        and of ``time`` within :func:`profile_operators`; None if nothing was counted.
    """

    def __init__(
        self,
        reasons: Iterable[tuple[str, FallbackReason]],
        native: int,
        composed: int,
        native_nanoseconds: int,
    ) -> None:
        super().__init__()
        self.reasons: dict[str, list[FallbackReason]] = {}
        for name, reason in sorted(reasons, key=lambda x: -x[1].count):
            self.reasons.setdefault(name, []).append(reason)
            entry = self.setdefault(name, {"count": 0, "nanoseconds": 0})
            entry["count"] += reason.count
            entry["nanoseconds"] += reason.nanoseconds
        calls, nanoseconds = (
            sum(entry[key] for entry in self.values()) for key in ("count", "nanoseconds")
        )
        self.totals = {"native": native, "fallback": calls, "composed": composed}
        self.share = {
            "calls": _share(calls, native),
            "time": _share(nanoseconds, native_nanoseconds),
        }

    def explain(self) -> list[str]:
        """Return a sentence for each reason of each operator, the most frequent one first."""
        found = [(name, each) for name, all_ in self.reasons.items() for each in all_]
        return [
            f"{name if '::' in name else f'aten::{name}'} ran on the CPU "
            f"{'once' if each.count == 1 else f'{each.count} times'}: {each.text}"
            for name, each in sorted(found, key=lambda x: -x[1].count)
        ]


def _share(part: int, rest: int) -> float | None:
    return part / (part + rest) if part + rest else None


def fallback_stats() -> FallbackStats:
    """Return the operators that ran on the CPU since the start or :func:`reset_fallback_stats`.

    >>> stats = torch.dl.fallback_stats()  # doctest: +SKIP
    >>> stats  # doctest: +SKIP
    {'linalg_eig.out': {'count': 2, 'nanoseconds': 0}}
    >>> stats.totals, stats.share["calls"]  # doctest: +SKIP
    ({'native': 98, 'fallback': 2, 'composed': 7}, 0.02)
    >>> stats.explain()  # doctest: +SKIP
    ['aten::linalg_eig.out ran on the CPU 2 times: no operator of the contract computes it']
    """
    native, composed = _C.call_totals()
    nanoseconds = sum(entry["nanoseconds"] for entry in _C.native_stats().values())
    found = ((x["overload"], _reason(x)) for x in _C.fallback_reasons() if x["count"])
    return FallbackStats(found, native, composed, nanoseconds)


def _reason(found: dict[str, Any]) -> FallbackReason:
    return FallbackReason(**{each.name: found[each.name] for each in fields(FallbackReason)})


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
    """Context manager that counts and times operators in all threads."""
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
            f"[torch.dl.set_fallback_mode] unknown mode {mode!r}; expected "
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
