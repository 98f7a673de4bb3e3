"""The causes of differences from torch's CPU: each with a reason and a precise predicate.

A difference that no cause explains fails the session. A cause is a true limit of torch or of dl,
never a fault of dl that could be fixed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .judge import Difference


@dataclass(frozen=True)
class Cause:
    """A reason for differences, and the differences that it explains."""

    reason: str
    explains: Callable[[Difference], bool]


_NO_KERNEL = "not implemented for '"


def _message_of(error: Exception | None) -> str:
    return "" if error is None else str(error)


def _without_cpu_kernel(difference: Difference) -> bool:
    message = _message_of(difference.cpu.error)
    return difference.kind in ("accepts", "error class") and _NO_KERNEL in message


CAUSES: tuple[Cause, ...] = (
    Cause("torch's CPU has no kernel for the dtype", _without_cpu_kernel),
    Cause(
        "the dtype overflows on torch's CPU too, or in another order of the terms",
        lambda difference: difference.kind == "overflow",
    ),
)


def cause_of(difference: Difference) -> str | None:
    """Return the reason for the difference, or None if there is none."""
    return next((cause.reason for cause in CAUSES if cause.explains(difference)), None)
