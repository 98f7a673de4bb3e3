"""Two recorded steps side by side: where the one under test leaves the trusted one first."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from dl_core.tables import table
from dl_optools.one_iter.bound import in_units_of_bound
from dl_optools.one_iter.folder import OneIterError, Reader, Record, ranks

BOUND = "x the rounding bound"
RELATIVE = "relative"


@dataclass(frozen=True)
class Value:
    """One tensor of one event in both steps.

    :ivar place: ``output``, ``gradient of args[0]``, ``value``.
    :ivar error: what ``unit`` says; inf where shape or nan and inf differ.
    :ivar unit: :data:`BOUND` for operators that had the same inputs in both steps: against the
        CPU's float64. :data:`RELATIVE`: largest difference by the trusted tensor's largest value.
    :ivar limit: what ``error`` may be.
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

    @property
    def ok(self) -> bool:
        return self.error <= self.limit

    def __str__(self) -> str:
        text = f"{self.event}: {self.place}"
        if self.detail:
            return f"{text}: {self.detail}"
        if self.unit == BOUND:
            return f"{text} is off by {self.error:.3g} {BOUND}"
        return f"{text} is off by {self.error:.3g} (relative; allowed {self.limit:.2g})"


@dataclass
class StepComparison:
    """The outcome for one rank.

    :ivar values: all that was compared, in the order of the trusted step.
    :ivar missing: events of the trusted step that the other one lacks, and
    :ivar additional: those that only the other one has.
    :ivar random: events that draw random numbers: they are not compared.
    :ivar comparable: all modules and weights of both steps are in the other one. Operators may
        differ: optimizers choose others on other devices.
    """

    rank: str
    forced: bool
    values: list[Value] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    additional: list[str] = field(default_factory=list)
    random: int = 0
    comparable: bool = True

    @property
    def ok(self) -> bool:
        return self.comparable and all(x.ok for x in self.values)

    @property
    def divergences(self) -> list[Value]:
        return [value for value in self.values if not value.ok]

    @property
    def first(self) -> Value | None:
        """The first one that is off, in the order of execution."""
        return next((value for value in self.values if not value.ok), None)

    def text(self, everything: bool = False) -> str:
        """The report: the first divergence, then layer by layer.

        :param everything: layers without one, too.
        """
        off = self.divergences
        lines = [
            f"{self.rank}: {len(off)} of {len(self.values)} values are off"
            + (" (inputs were forced)" if self.forced else "")
        ]
        if self.first is not None:
            lines.append(f"  first: {self.first}")
        for what, events in (
            ("only in the trusted step", self.missing),
            ("only in the step under test", self.additional),
        ):
            if events:
                lines.append(f"  {len(events)} events are {what}, the first: {events[0]}")
        if self.random:
            lines.append(f"  {self.random} events draw random numbers and were not compared")
        rows = [
            [name or "(the model)", *(_worst(x) for x in parts)]
            for name, parts in self._layers().items()
            if everything or any(not value.ok for part in parts for value in part)
        ]
        if rows:
            lines.append(table(["layer", "forward", "backward", "weights"], rows))
        return "\n".join(lines) + "\n"

    def _layers(self) -> dict[str, tuple[list[Value], list[Value], list[Value]]]:
        found: dict[str, tuple[list[Value], list[Value], list[Value]]] = {}
        for value in self.values:
            weight = value.kind.startswith("weight")
            layer = value.name.rpartition(".")[0] if weight else value.module
            column = 2 if weight else (value.phase == "backward")
            found.setdefault(layer, ([], [], []))[int(column)].append(value)
        return found

    def as_json(self) -> dict[str, Any]:
        """All of it, as JSON has it; errors that are not finite are texts."""
        values = [
            {**asdict(x), "ok": x.ok, "error": x.error if math.isfinite(x.error) else str(x.error)}
            for x in self.values
        ]
        return {**asdict(self), "ok": self.ok, "values": values}


def _worst(values: list[Value]) -> str:
    """The worst value of a column: those that are off first."""
    if not values:
        return "-"
    value = max(values, key=lambda x: x.error / x.limit if x.limit else x.error)
    short = "x bound" if value.unit == BOUND else RELATIVE
    mark = "" if value.ok else f" OFF ({sum(not x.ok for x in values)})"
    return f"{value.error:.2g} {short}{mark}"


def compare(trusted: Path, tested: Path, tolerance: float | None = None) -> list[StepComparison]:
    """Compare all ranks of two folders.

    :param tolerance: relative, where the rounding bound does not tell; None: half of the digits of
        the dtype, the square root of its epsilon.
    :raises OneIterError: a folder holds no recorded step, or their ranks differ.
    """
    left, right = ranks(trusted), ranks(tested)
    if left.keys() != right.keys():
        raise OneIterError(
            f"{trusted} has {', '.join(left)}, {tested} has {', '.join(right)}: record both with "
            "the same number of processes"
        )
    return [compare_ranks(left[name], right[name], tolerance) for name in left]


def compare_ranks(trusted: Path, tested: Path, tolerance: float | None = None) -> StepComparison:
    """Compare the steps of one rank; see :func:`compare`."""
    want, got = Reader(trusted), Reader(tested)
    found = StepComparison(tested.name, bool(got.facts.get("forced")))
    known = {record.key for record in want.records}
    additional = [x for x in got.records if x.key not in known]
    missing = [x for x in want.records if got.find(x.key) is None]
    found.additional, found.missing = [*map(str, additional)], [*map(str, missing)]
    found.comparable = all(x.kind == "operator" for x in (*additional, *missing))
    for record in want.records:
        other = got.find(record.key)
        if other is None:
            continue
        if record.random or other.random:
            found.random += 1
        else:
            found.values += _event(want, got, record, other, tolerance)
    return found


def _event(
    want: Reader, got: Reader, record: Record, other: Record, tolerance: float | None
) -> Iterator[Value]:
    bounded = {}
    if (
        record.kind == "operator"
        and record.outputs != other.outputs
        and _same_call(want, got, record, other)
    ):
        bounded = in_units_of_bound(got, other)
    common = (str(record), record.kind, record.name, record.module, record.call, record.phase)
    for place, name in record.outputs.items():
        theirs = other.outputs.get(place)
        if theirs is None:
            yield Value(*common, place, math.inf, RELATIVE, 0.0, "it is missing")
        elif theirs == name:
            yield Value(*common, place, 0.0, RELATIVE, 0.0)
        elif place in bounded:
            part = bounded[place]
            units = part.units if part.ok or part.units > 1 else math.inf
            yield Value(*common, place, 0.0 if math.isnan(units) else units, BOUND, 1.0)
        else:
            pair = want.tensor(name), got.tensor(theirs)
            yield _relative(common, place, *pair, tolerance)


def _same_call(want: Reader, got: Reader, record: Record, other: Record) -> bool:
    """Both had the same inputs, and in backward the same inputs of the forward."""
    if record.inputs != other.inputs:
        return False
    if record.phase == "forward":
        return True
    key = Record(record.kind, record.name, record.module, record.call).key
    before, after = want.find(key), got.find(key)
    return before is not None and after is not None and before.inputs == after.inputs


def _relative(
    common: tuple[str, str, str, str, int, str],
    place: str,
    want: torch.Tensor,
    got: torch.Tensor,
    tolerance: float | None,
) -> Value:
    if want.shape != got.shape:
        detail = f"its shape is {tuple(got.shape)}, want {tuple(want.shape)}"
        return Value(*common, place, math.inf, RELATIVE, 0.0, detail)
    numbers = got.is_floating_point() or got.is_complex()
    if not numbers:
        wrong = int((want != got).sum())
        detail = f"{wrong} of {got.numel()} elements differ"
        return Value(*common, place, float(wrong), RELATIVE, 0.0, detail if wrong else "")
    limit = math.sqrt(torch.finfo(got.dtype).eps) if tolerance is None else tolerance
    wide = torch.complex128 if got.is_complex() else torch.float64
    left, right = want.to(wide), got.to(wide)
    finite = left.isfinite() & right.isfinite()
    same = (left == right) | (left.isnan() & right.isnan())
    bad = int((~finite & ~same).sum())
    if bad:
        detail = f"nan or inf in {bad} of {got.numel()} elements where the trusted step has others"
        return Value(*common, place, math.inf, RELATIVE, limit, detail)
    left, right = left[finite], right[finite]
    difference = float((left - right).abs().max()) if left.numel() else 0.0
    size = float(left.abs().max()) if left.numel() else 0.0
    error = 0.0 if difference == 0 else (difference / size if size else math.inf)
    return Value(*common, place, error, RELATIVE, limit)
