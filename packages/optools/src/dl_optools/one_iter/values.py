"""A value in both steps, and the distance between both values."""

from __future__ import annotations

from dataclasses import dataclass

BOUND = "x the rounding bound"
RELATIVE = "relative"


@dataclass(frozen=True)
class Value:
    """One tensor of one event in both steps.

    :ivar place: ``output``, ``gradient of args[0]``, ``value``.
    :ivar error: error in ``unit``; inf if the shapes, or the places of nan or inf, differ.
    :ivar unit: :data:`BOUND` for operators: rounding bounds off float64 on the CPU.
        :data:`RELATIVE`: the largest difference divided by the trusted tensor's largest value.
    :ivar limit: maximum allowed ``error``.
    :ivar inherited: the event did not cause the error: its inputs differed.
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
