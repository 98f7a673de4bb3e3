"""Results of the overflow check: values by operator, and the origin of the first nan or inf."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dl_core.tables import table
from dl_optools.overflow.values import Statistics
from dl_optools.stacks import Frame

KEPT = 1000
"""Maximum number of findings kept as objects; more are counted, and written to the CSV file."""
COLUMNS = (
    "forward_id",
    "name",
    "place",
    "shape",
    "dtype",
    "device",
    "nan",
    "inf",
    "min",
    "max",
    "mean",
    "std",
    "norm",
    "positions",
    "module",
)


@dataclass(frozen=True)
class Checked:
    """One tensor of one call.

    :ivar number: number of the call; see :class:`.call.OpCall`.
    :ivar place: ``input 0``, ``output 1``, ``grad_output 0`` or ``grad_input 2``.
    """

    number: int
    name: str
    place: str
    values: Statistics
    module: str = ""

    def row(self) -> list[Any]:
        """Return a row of the CSV file."""
        v = self.values
        positions = " ".join(str(list(position)) for position in v.positions)
        numbers = [v.nan, v.inf, v.minimum, v.maximum, v.mean, v.std, v.norm]
        head = [self.number, self.name, self.place, list(v.shape), v.dtype, v.device]
        return [*head, *numbers, positions, self.module]


@dataclass(frozen=True)
class Origin:
    """A call that produced nan or inf from finite values.

    :ivar backward: its gradients did.
    :ivar found: the results, or the inputs' gradients, that are not finite.
    :ivar stack: stack of the program at the call.
    """

    number: int
    name: str
    module: str
    backward: bool
    found: tuple[Checked, ...]
    stack: tuple[Frame, ...]

    def text(self) -> str:
        """Describe the call, its results, and its location in the program."""
        direction = "the backward of " if self.backward else ""
        place = f" in {self.module}" if self.module else ""
        lines = [f"{direction}{self.name} (call {self.number}){place} made from finite values:"]
        for checked in self.found:
            v = checked.values
            first = ", ".join(str(list(position)) for position in v.positions[:3])
            lines.append(
                f"  {checked.place}: {v.nan} nan and {v.inf} inf in {list(v.shape)} {v.dtype}, "
                f"first at {first}"
            )
        lines.extend(f"    at {frame}" for frame in self.stack[:4])
        return "\n".join(lines)


@dataclass
class OperatorValues:
    """Totals of all checked tensors of one operator."""

    name: str
    tensors: int = 0
    bad: int = 0
    nan: int = 0
    inf: int = 0
    minimum: float = math.inf
    maximum: float = -math.inf
    norm: float = 0.0

    def add(self, values: Statistics) -> None:
        self.tensors += 1
        self.bad += not values.finite
        self.nan += values.nan
        self.inf += values.inf
        if not math.isnan(values.minimum):
            self.minimum = min(self.minimum, values.minimum)
            self.maximum = max(self.maximum, values.maximum)
            self.norm = max(self.norm, values.norm)


class OverflowResults:
    """Results, filled by the threads that run operators and backward.

    :ivar calls: number of operator calls.
    :ivar operators: values by operator name.
    :ivar findings: tensors that are not finite, up to a maximum.
    :ivar dropped: number of further findings.
    :ivar origins: calls that made nan or inf from finite values, in order.
    """

    def __init__(self) -> None:
        self.calls = 0
        self.operators: dict[str, OperatorValues] = {}
        self.findings: list[Checked] = []
        self.dropped = 0
        self.origins: deque[Origin] = deque(maxlen=KEPT)
        self._lock = threading.Lock()

    @property
    def first(self) -> Origin | None:
        """The first call that made nan or inf from finite values."""
        return self.origins[0] if self.origins else None

    def add(self, checked: Sequence[Checked], origin: Origin | None = None) -> None:
        """Count a call's tensors, and record the tensors that are not finite."""
        with self._lock:
            for one in checked:
                self.operators.setdefault(one.name, OperatorValues(one.name)).add(one.values)
                if one.values.finite:
                    continue
                if len(self.findings) < KEPT:
                    self.findings.append(one)
                else:
                    self.dropped += 1
            if origin is not None and len(self.origins) < KEPT:
                self.origins.append(origin)

    def text(self) -> str:
        """Format a summary: operators with nan or inf first, and their origin."""
        bad = sum(each.bad for each in self.operators.values())
        tensors = sum(each.tensors for each in self.operators.values())
        lines = [
            f"overflow check: {bad} of {tensors} tensors in {self.calls} calls hold nan or inf"
        ]
        rows = [
            [
                each.name,
                str(each.tensors),
                str(each.bad),
                str(each.nan),
                str(each.inf),
                f"{each.minimum:.4g}",
                f"{each.maximum:.4g}",
                f"{each.norm:.4g}",
            ]
            for each in sorted(self.operators.values(), key=lambda x: (-x.bad, x.name))
        ]
        if rows:
            heads = ["operator", "tensors", "bad", "nan", "inf", "min", "max", "largest norm"]
            lines.append(table(heads, rows))
        if self.first is not None:
            lines.append(f"first: {self.first.text()}")
            others = dict.fromkeys(origin.name for origin in self.origins)
            lines.append(f"made by: {', '.join(others)}")
        return "\n".join(lines) + "\n"
