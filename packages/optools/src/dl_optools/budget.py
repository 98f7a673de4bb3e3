"""Limits on how much of a program a tool measures: every n-th step, and a share of its time.

The cost of a measured step is the larger of what the tool reports to have spent in it and how much
longer the step took than unmeasured steps: torch's modes also cost time outside of the tools' code.
"""

from __future__ import annotations

import statistics
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

Clock = Callable[[], float]
_RECENT = 31
_OWN = 4
"""If the second step exceeds later ones by more than this multiple of the cost that the tool
reports, the step itself was slow: caches were filled or memory was allocated."""


@dataclass(frozen=True)
class Spending:
    """Cost of a tool so far.

    :ivar steps: completed steps; 1 if there were none, which stands for the whole program.
    :ivar measured: number of measured steps.
    :ivar program_seconds: time of the program without the tool.
    :ivar tool_seconds: time that the tool added.
    :ivar percent: the limit; None: unlimited.
    """

    steps: int
    measured: int
    program_seconds: float
    tool_seconds: float
    percent: float | None

    @property
    def overhead(self) -> float:
        """Return the tool's time in percent of the program's."""
        return 100 * self.tool_seconds / self.program_seconds if self.program_seconds > 0 else 0.0

    def __str__(self) -> str:
        limit = "no limit" if self.percent is None else f"budget {self.percent:g} %"
        return (
            f"{self.measured} of {self.steps} steps measured; the tool took "
            f"{self.overhead:.2g} % of the program's time ({limit})"
        )


class Budget:
    """Decides at the end of each step whether the next one is measured.

    The first step is measured, because a program may have no other; it is cold, so its duration
    does not show the tool's cost. The second one is measured on credit, so that short programs
    measure a warm step. From the third one on, a step is measured if it fits the budget after the
    credit is paid back, and at most every other step.

    :param every: measure only every n-th step.
    :param percent: share of the program's own time that the tool may take; None: no limit.
    :param clock: monotonic clock in seconds.
    :raises ValueError: ``every`` below 1 or ``percent`` not above 0.
    """

    def __init__(
        self, every: int = 1, percent: float | None = None, clock: Clock = time.perf_counter
    ) -> None:
        if every < 1:
            raise ValueError(f"[Budget] every={every}: must be at least 1")
        if percent is not None and not percent > 0:
            raise ValueError(f"[Budget] percent={percent}: must be above 0, or None for no limit")
        self.every, self.percent, self.clock = every, percent, clock
        self.measuring = True
        self._begun = self._at = clock()
        self._index = 0
        self._measured = 0
        self._plain: deque[float] = deque(maxlen=_RECENT)
        self._charged = 0.0
        self._cold = 0.0
        self._warm = 0.0
        self._warm_count = 0
        self._second: tuple[float, float] | None = None
        """Duration of the second step and the tool's charge, until an unmeasured step is known."""
        self._between = 0.0
        self._paused: float | None = None

    def charge(self, seconds: float) -> None:
        """Add time that the tool worked in the current step."""
        self._charged += seconds

    def end_step(self) -> bool:
        """End a step; return True if the next one is measured.

        Time until :meth:`begin_step` is charged to the tool.
        """
        now = self.clock()
        length = now - self._at
        if not self.measuring:
            self._plain.append(length)
            self._settle(length)
            # Waiting also costs a little.
            self._between += self._charged
        else:
            self._measured += 1
            if self._index == 0:
                self._cold = self._charged
            else:
                # Compared with the preceding steps: programs and machines change their speed.
                usual = statistics.median(self._plain) if self._plain else length
                self._warm += max(self._charged, length - usual)
                self._warm_count += 1
                if not self._plain:
                    self._second = length, self._charged
        self._charged = 0.0
        self._index += 1
        self._paused = now
        self.measuring = self._next(now, self.measuring)
        return self.measuring

    def begin_step(self) -> None:
        """Start the next step of the program."""
        now = self.clock()
        if self._paused is not None:
            self._between += now - self._paused
        self._paused, self._at = None, now

    def spending(self) -> Spending:
        """Return the cost until now."""
        now = self.clock() if self._paused is None else self._paused
        spent = self._spent() + self._charged
        return Spending(
            steps=max(self._index, 1),
            measured=self._measured if self._index else int(self.measuring),
            program_seconds=max(now - self._begun - spent, 0.0),
            tool_seconds=spent,
            percent=self.percent,
        )

    def _settle(self, plain: float) -> None:
        """Derive the full cost of the second step from the first unmeasured one."""
        if self._second is not None:
            length, charged = self._second
            self._warm += max(min(length - plain, _OWN * charged) - charged, 0.0)
            self._second = None

    def _spent(self) -> float:
        return self._cold + self._warm + self._between

    def _next(self, now: float, after_measured: bool) -> bool:
        if self._index % self.every:
            return False
        if self.percent is None or self._index == 1:
            return True
        # Never two in a row: the time of unmeasured steps has to stay known.
        if after_measured:
            return False
        if not self._warm_count:
            return True
        spent = self._spent()
        program = now - self._begun - spent + statistics.median(self._plain)
        cost = (self._warm + self._between) / self._warm_count
        return spent + cost <= self.percent / 100 * program
