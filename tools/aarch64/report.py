"""Steps of the session with their outcomes, as a table and as JSON."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .errors import SessionError, UnavailableError

PASSED, FAILED, NOT_RUN = "passed", "failed", "not run"
_MOST_NAMES = 5
"""Failed tests and cases that the table names."""


@dataclass(frozen=True)
class Finding:
    """Outcome of a step that ran to its end.

    :ivar detail: one line for the table.
    :ivar counts: numbers of outcomes by status, if the step ran tests or cases.
    :ivar failed: names of those that failed; the step failed if there are any.
    """

    detail: str
    counts: dict[str, int] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Step:
    """A step with its outcome.

    :ivar seconds: wall-clock time.
    :ivar cpu_seconds: processor time of its child processes.
    """

    name: str
    status: str
    finding: Finding
    seconds: float = 0.0
    cpu_seconds: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        return {
            "step": self.name,
            "status": self.status,
            "detail": self.finding.detail,
            "counts": self.finding.counts,
            "failed": self.finding.failed,
            "seconds": round(self.seconds, 1),
            "cpu_seconds": round(self.cpu_seconds, 1),
        }


class Report:
    """Runner of steps, which records their outcomes.

    :param say: function that shows a line of progress.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self.steps: list[Step] = []
        self._say = say

    @property
    def failed(self) -> bool:
        return any(step.status == FAILED for step in self.steps)

    def run(self, name: str, work: Callable[[], Finding], needs: Sequence[str] = ()) -> None:
        """Run a step, unless a step that it needs has not passed."""
        passed = {step.name for step in self.steps if step.status == PASSED}
        if missing := [each for each in needs if each not in passed]:
            self._add(Step(name, NOT_RUN, Finding(f"needs the step {missing[0]}")))
            return
        self._say(name)
        began, used = time.monotonic(), _cpu_seconds()
        try:
            finding = work()
            status = FAILED if finding.failed else PASSED
        except UnavailableError as error:
            finding, status = Finding(str(error)), NOT_RUN
        except SessionError as error:
            finding, status = Finding(str(error)), FAILED
        taken = (time.monotonic() - began, _cpu_seconds() - used)
        self._add(Step(name, status, finding, *taken))

    def _add(self, step: Step) -> None:
        self.steps.append(step)
        self._say(f"  {step.status}: {step.finding.detail}")

    def table(self) -> str:
        """Return the steps as text, with times in seconds."""
        rows = [("step", "status", "wall s", "CPU s", "result")]
        for step in self.steps:
            lines = step.finding.detail.splitlines() or [""]
            failed = step.finding.failed
            more = f" and {len(failed) - _MOST_NAMES} more" if len(failed) > _MOST_NAMES else ""
            names = f"; failed: {', '.join(failed[:_MOST_NAMES])}{more}" if failed else ""
            times = (f"{step.seconds:.0f}", f"{step.cpu_seconds:.0f}")
            rows.append((step.name, step.status, *times, lines[0] + names))
        widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]) - 1)]
        texts = []
        for *cells, last in rows:
            padded = [
                cell.rjust(width) if at in (2, 3) else cell.ljust(width)
                for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
            ]
            texts.append("  ".join([*padded, last]))
        return "\n".join(texts)

    def as_dict(self, about: dict[str, Any]) -> dict[str, Any]:
        """Return the report as data.

        :param about: what was run, and how.
        """
        total = sum(step.seconds for step in self.steps)
        steps = [step.as_dict() for step in self.steps]
        return {**about, "emulated": True, "seconds": round(total, 1), "steps": steps}


def _cpu_seconds() -> float:
    """Return the processor time of ended child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
