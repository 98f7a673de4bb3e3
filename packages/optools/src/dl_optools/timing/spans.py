"""Nested spans of timed operators, and the rows that they are summed into."""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dl_optools.arguments import Argument, Facts, describe_arguments

_SAMPLES = 1000
Key = tuple[Any, ...]


@dataclass(slots=True)
class Row:
    """Calls of one operator with the same shapes and dtypes, in one direction.

    :ivar level: ``function`` of the Python interface, or ``overload`` of the dispatcher.
    :ivar function: the function that the overload belongs to; empty if unknown.
    :ivar shapes: shapes of the tensor arguments; ``dtypes`` likewise.
    :ivar seconds: total of all calls, including nested calls.
    :ivar own: total without nested calls.
    :ivar bytes: minimum number of bytes moved by all calls; 0 if unknown.
    :ivar flops: floating-point operations by dtype, of all calls; empty if unknown.
    """

    operator: str
    level: str
    backward: bool
    function: str
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[str, ...]
    calls: int = 0
    seconds: float = 0.0
    own: float = 0.0
    bytes: float = 0.0
    flops: dict[str, float] = field(default_factory=dict)
    samples: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """Median of the calls' seconds; of a sample if there were more than 1000."""
        return statistics.median(self.samples) if self.samples else 0.0

    @property
    def typical(self) -> float:
        """Seconds of all calls if each took the median, which is robust against outliers."""
        return self.median * self.calls

    @property
    def direction(self) -> str:
        return "backward" if self.backward else "forward"

    def add(self, seconds: float, chance: random.Random) -> None:
        """Add one call."""
        self.calls += 1
        self.seconds += seconds
        if len(self.samples) < _SAMPLES:
            self.samples.append(seconds)
        else:
            at = chance.randrange(self.calls)
            if at < _SAMPLES:
                self.samples[at] = seconds

    def add_work(self, moved: float, flops: dict[str, float]) -> None:
        """Add the work of one call."""
        self.bytes += moved
        for dtype, count in flops.items():
            self.flops[dtype] = self.flops.get(dtype, 0.0) + count


@dataclass(slots=True)
class Entry:
    """Data of calls with equal arguments.

    :ivar moved: bytes of one call; None: not determined yet, or unknown.
    """

    row: Row
    facts: Facts
    named: Facts
    moved: int | None = None
    flops: dict[str, float] = field(default_factory=dict)
    looked: bool = False


@dataclass(slots=True)
class TimedCall:
    """One call of a function, and how often each of its autograd nodes ran."""

    entry: Entry
    number: int
    result: Facts = ()
    forward: float = 0.0
    backward: float = 0.0
    backward_row: Row | None = None
    runs: dict[int, int] = field(default_factory=dict)

    @property
    def backwards(self) -> int:
        """Number of backward passes through the call."""
        return max(self.runs.values(), default=0)

    def inputs(self) -> list[Argument]:
        return describe_arguments(self.entry.facts, self.entry.named)

    def outputs(self) -> list[Argument]:
        return describe_arguments(self.result, prefix="result")


class Span:
    """A timed interval between two marks of a stopwatch.

    :ivar finish: for communication, the mark of its completion, which is after ``stop`` if it
        overlaps with the program.
    :ivar node: for spans in the backward pass of a function, the index of the autograd node.
    :ivar module: running module; for timelines only.
    :ivar stack: stack of the program; for timelines only.
    :ivar memory: bytes of the device's tensors when the span ends; for timelines only.
    """

    __slots__ = (
        "call",
        "entry",
        "finish",
        "flops",
        "inner",
        "memory",
        "module",
        "moved",
        "node",
        "outer",
        "stack",
        "start",
        "stop",
    )

    def __init__(
        self, entry: Entry, call: TimedCall | None, outer: Span | None, node: int = -1
    ) -> None:
        self.entry = entry
        self.call = call
        self.outer = outer
        self.node = node
        self.start: Any = None
        self.stop: Any = None
        self.finish: Any = None
        self.inner = 0.0
        self.moved = 0.0
        self.flops: dict[str, float] = {}
        self.module = ""
        self.stack: Sequence[str] = ()
        self.memory: int | None = None

    def pass_on(self, seconds: float, moved: float, flops: dict[str, float]) -> None:
        """Add the values to the enclosing span."""
        outer = self.outer
        if outer is None:
            return
        outer.inner += seconds
        outer.moved += moved
        for dtype, count in flops.items():
            outer.flops[dtype] = outer.flops.get(dtype, 0.0) + count


@dataclass
class Profile:
    """Totals of steps of one kind.

    :ivar steps: number of completed steps; a program without steps counts as one.
    :ivar seconds: time of these steps, without the tool's own work.
    """

    rows: dict[Key, Row] = field(default_factory=dict)
    entries: dict[Key, Entry] = field(default_factory=dict)
    steps: int = 0
    seconds: float = 0.0
    chance: random.Random = field(default_factory=lambda: random.Random(0))

    def row(self, level: str, name: str, backward: bool, function: str, shapes: Facts) -> Row:
        """Return the row of these calls; a new one if necessary."""
        key = (level, name, backward, function, shapes)
        found = self.rows.get(key)
        if found is None:
            found = self.rows[key] = Row(
                name,
                level,
                backward,
                function,
                tuple(tuple(shape) for shape, _ in shapes),
                tuple(str(dtype).removeprefix("torch.") for _, dtype in shapes),
            )
        return found


class StepRecord:
    """The spans of one step, kept until the device has finished the step."""

    def __init__(self, profile: Profile, start: Any) -> None:
        self.profile = profile
        self.start = start
        self.stop: Any = None
        self.spans: list[Span] = []
        self.calls: list[TimedCall] = []
