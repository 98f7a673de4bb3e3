"""What a run of a program is to a bisection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dl_optools.bisect.search import Elements
from dl_optools.breadcrumbs.trail import DeadOperator

Say = Callable[[str], object]


def step_of(log: Path) -> Path:
    """Where the steps of a run are that a program records."""
    return log.absolute().with_suffix(".step")


class BisectError(RuntimeError):
    """There is nothing to search for, or the runs do not tell."""


class StuckError(BisectError):
    """An operator that cannot fall back does not return; the message names it."""


class BlamelessError(BisectError):
    """No operator makes the program wrong."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of one run.

    :ivar output: all that the program printed.
    :ivar operators: that it used, in order; only of the run that collects them.
    :ivar timed_out: it was killed after too long a time.
    :ivar dead: the operator in which it died or hung; None if it did not.
    """

    status: int
    output: str
    operators: Sequence[str] = ()
    timed_out: bool = False
    dead: DeadOperator | None = None


class Runner(Protocol):
    """Runs the program."""

    def collect(self, log: Path) -> Outcome:
        """As it is, and note its operators."""

    def run(self, on_device: Elements, log: Path) -> Outcome:
        """With all operators on the CPU but these."""

    def capture(self, operators: Elements, directory: Path, log: Path) -> bool:
        """Write their calls as bundles, the others on the CPU; False where it cannot be done."""
