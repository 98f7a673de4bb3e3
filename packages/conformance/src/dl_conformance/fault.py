"""Faults of results, with the property that is wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum


class FaultKind(Enum):
    """Property of a result that is wrong."""

    VALUE = "value"
    SHAPE = "shape"
    DTYPE = "dtype"
    STRIDES = "strides"


@dataclass(frozen=True)
class Fault:
    """A difference between a result and the reference or the contract."""

    kind: FaultKind
    message: str

    def of(self, name: str) -> Fault:
        """Return the fault with the name of an output."""
        return replace(self, message=f"{name}: {self.message}")

    def __str__(self) -> str:
        return self.message


def wrong_value(message: str) -> Fault:
    return Fault(FaultKind.VALUE, message)
