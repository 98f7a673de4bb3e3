"""One value of both steps, and how far apart the two are."""

from __future__ import annotations

from dataclasses import dataclass

BOUND = "x the rounding bound"
RELATIVE = "relative"


@dataclass(frozen=True)
class Value:
    """One tensor of one event in both steps.

    :ivar place: ``output``, ``gradient of args[0]``, ``value``.
    :ivar error: what ``unit`` says; inf where shape or nan and inf differ.
    :ivar unit: :data:`BOUND` for operators: against the CPU's float64 for the inputs that they got.
        :data:`RELATIVE`: largest difference by the trusted tensor's largest value.
    :ivar limit: what ``error`` may be.
    :ivar inherited: a larger error is no fault of the event: what it is made of differs.
    """

    event: str
    kind: str
    name: str
    module: str
    call: int
    phase: str
    place: str
    error: float
    unit: str
    limit: float
    detail: str = ""
    inherited: bool = False

    @property
    def ok(self) -> bool:
        return self.inherited or self.error <= self.limit

    def __str__(self) -> str:
        text = f"{self.event}: {self.place}"
        if self.detail:
            return f"{text}: {self.detail}"
        if self.unit == BOUND:
            return f"{text} is off by {self.error:.3g} {BOUND}"
        return f"{text} is off by {self.error:.3g} (relative; allowed {self.limit:.2g})"
