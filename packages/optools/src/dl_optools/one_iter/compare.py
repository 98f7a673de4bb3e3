"""Comparison of two recorded steps: the first divergence of the step under test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dl_core.tables import table
from dl_optools.one_iter.events import Events
from dl_optools.one_iter.folder import OneIterError, Reader, Record, ranks
from dl_optools.one_iter.values import BOUND, RELATIVE, Value


@dataclass
class StepComparison:
    """Outcome for one rank.

    :ivar values: all compared values, in the order of the trusted step.
    :ivar missing: events that only the trusted step has.
    :ivar additional: events that only the step under test has.
    :ivar random: number of events that draw random numbers and are not compared.
    :ivar optimizer: number of operators in the optimizer's step, for both steps.
    :ivar dtypes: operators with another result dtype than in the trusted step.
    :ivar comparable: both steps have the same modules and weights. Their operators may differ:
        optimizers choose different operators on different devices.
    :ivar broken: descriptions of the steps that did not reach their end.
    """

    rank: str
    forced: bool
    values: list[Value] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    additional: list[str] = field(default_factory=list)
    random: int = 0
    optimizer: tuple[int, int] = (0, 0)
    dtypes: list[str] = field(default_factory=list)
    comparable: bool = True
    broken: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return self.comparable and not self.broken and all(x.ok for x in self.values)

    @property
    def divergences(self) -> list[Value]:
        return [value for value in self.values if not value.ok]

    @property
    def first(self) -> Value | None:
        """The first value that is off, in execution order."""
        return next((value for value in self.values if not value.ok), None)

    def text(self, everything: bool = False) -> str:
        """Format the report: the first divergence, then layer by layer.

        :param everything: include layers without a divergence.
        """
        off = self.divergences
        begun = sum(x.kind in ("weight", "input") for x in off)
        lines = [
            f"{self.rank}: {len(off)} of {len(self.values)} values are off"
            + (" (inputs were forced)" if self.forced else "")
        ]
        lines += [f"  {line}" for line in self.broken]
        if begun:
            lines.append(
                f"  the steps do not start equal: {begun} of the model's weights, buffers and "
                "inputs are off before any operator has run"
            )
        if self.first is not None:
            lines.append(f"  first: {self.first}")
        for what, events in (
            ("only in the trusted step", self.missing),
            ("only in the step under test", self.additional),
        ):
            if events:
                lines.append(f"  {len(events)} events are {what}, the first: {events[0]}")
        if self.optimizer[0] != self.optimizer[1]:
            lines.append(
                f"  the optimizer takes {self.optimizer[0]} operators in the trusted step and "
                f"{self.optimizer[1]} in the step under test: each is judged separately"
            )
        if self.dtypes:
            lines.append(
                f"  {len(self.dtypes)} operators returned another dtype, for example because "
                f"autocast differs by device; the first: {self.dtypes[0]}"
            )
        inherited = sum(x.inherited for x in self.values)
        if inherited:
            lines.append(
                f"  {inherited} values differ only because the inputs of their operators "
                "differed; these operators are not to blame"
            )
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
        """Return the full result for JSON; errors that are not finite are strings."""
        values = [
            {**asdict(x), "ok": x.ok, "error": x.error if math.isfinite(x.error) else str(x.error)}
            for x in self.values
        ]
        return {**asdict(self), "ok": self.ok, "values": values}


def _worst(values: list[Value]) -> str:
    """Return the worst value of a column, preferring values that are off."""
    if not values:
        return "-"
    value = max(values, key=lambda x: (not x.ok, x.error / x.limit if x.limit else x.error))
    short = "x bound" if value.unit == BOUND else RELATIVE
    mark = "" if value.ok else f" OFF ({sum(not x.ok for x in values)})"
    return f"{value.error:.2g} {short}{mark}"


def compare(trusted: Path, tested: Path, tolerance: float | None = None) -> list[StepComparison]:
    """Compare all ranks of two folders.

    :param tolerance: relative, where no rounding bound applies; None: the square root of the
        dtype's epsilon.
    :raises OneIterError: a folder holds no recorded step, none holds an event, or their ranks
        differ.
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
    found.broken = [
        f"the {what} was interrupted by {reader.broken_by}"
        for what, reader in (("trusted step", want), ("step under test", got))
        if reader.broken_by
    ]
    # Optimizers use other variants of their operators on other devices: these are judged
    # by themselves, and by the resulting weights.
    steps = [[x for x in side.records if x.phase == "step"] for side in (want, got)]
    found.optimizer = len(steps[0]), len(steps[1])
    known = {record.key for record in want.records}
    additional = [x for x in got.records if x.phase != "step" and x.key not in known]
    missing = [x for x in want.records if x.phase != "step" and got.find(x.key) is None]
    found.additional, found.missing = [*map(str, additional)], [*map(str, missing)]
    found.comparable = all(x.kind == "operator" for x in (*additional, *missing))
    pairs = [
        (record, other)
        for record in want.records
        if record.phase != "step" and (other := got.find(record.key)) is not None
    ]
    events = Events(want, got, tolerance)
    for record, other in pairs:
        if record.kind == "operator" and not (record.random or other.random):
            events.judge(record, other)
    if any(x.kind == "weight after" and x.outputs != y.outputs for x, y in pairs):
        for other in steps[1]:
            events.judge(None, other)
    after = begun = False
    for record, other in pairs:
        if record.kind != "weight" and not begun:
            begun = True
            found.values += _inputs(events, pairs)
        if record.kind == "weight after" and not after:
            after = True
            found.values += [value for step in steps[1] for value in events.of_step(step)]
        if record.random or other.random:
            found.random += record.kind == "operator" or not events.has_operators
            events.note_random(record, other)
        else:
            found.values += events.values(record, other)
            found.dtypes += _other_dtype(want, got, record, other)
    if not (pairs or missing or additional):
        raise OneIterError(f"nothing to compare: neither {trusted} nor {tested} has an event")
    return found


def _inputs(events: Events, pairs: Sequence[tuple[Record, Record]]) -> list[Value]:
    """Return the inputs of the model's first call, which precede all computed values."""
    of_model = Record("module", "").key
    return [x for pair in pairs if pair[0].key == of_model for x in events.model_inputs(*pair)]


def _other_dtype(want: Reader, got: Reader, record: Record, other: Record) -> list[str]:
    """Describe an operator with another result dtype: autocast's lists depend on the device."""
    if record.kind != "operator" or record.phase != "forward":
        return []
    for place, name in record.outputs.items():
        theirs = other.outputs.get(place, name)
        pair = want.dtype(name), got.dtype(theirs)
        if pair[0] != pair[1]:
            return [f"{record} returned {pair[1]} and not {pair[0]}".replace("torch.", "")]
    return []
