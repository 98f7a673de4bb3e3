"""Interface between a bisection and the runs of a program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dl_optools.bisect.search import Elements
from dl_optools.breadcrumbs.trail import DeadOperator

Say = Callable[[str], object]


def step_folder(log: Path) -> Path:
    """Return the folder for the steps that a run records."""
    return log.absolute().with_suffix(".step")


class BisectError(RuntimeError):
    """A search is impossible, or the runs are inconclusive."""


class StuckError(BisectError):
    """An operator that cannot fall back does not return; the message names it."""


class BlamelessError(BisectError):
    """No operator makes the program wrong."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of one run.

    :ivar output: everything that the program printed.
    :ivar operators: operators used, in order; only set for the run that collects them.
    :ivar timed_out: True if the run exceeded its timeout and was killed.
    :ivar dead: the operator in which it died or hung; None if it did not.
    """

    status: int
    output: str
    operators: Sequence[str] = ()
    timed_out: bool = False
    dead: DeadOperator | None = None


class Runner(Protocol):
    """Runner of the program."""

    def collect(self, log: Path) -> Outcome:
        """Run the unchanged program and collect its operators."""

    def run(self, on_device: Elements, log: Path) -> Outcome:
        """Run with all operators on the CPU except these."""

    def capture(self, operators: Elements, directory: Path, log: Path) -> bool:
        """Write the operators' calls as bundles; other operators run on the CPU. False if
        impossible."""
