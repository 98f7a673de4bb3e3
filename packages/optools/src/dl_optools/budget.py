"""How much of a program a tool may measure: every n-th step, and a share of the program's time.

What a measured step costs is what the tool says it spent in it, or what the step took longer than
steps that were not measured, whichever is more: modes of torch cost time outside of tools' code.
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
"""A second step that is longer than later ones by more than so many times of what the tool says it
cost is slow by itself: caches fill, memory is taken."""


@dataclass(frozen=True)
class Spending:
    """What a tool has cost so far.

    :ivar steps: that ended; 1 where none did, which stands for the whole program.
    :ivar measured: of these.
    :ivar program_seconds: what the program took, without the tool.
    :ivar tool_seconds: what the tool added.
    :ivar percent: the limit; None: there is none.
    """

    steps: int
    measured: int
    program_seconds: float
    tool_seconds: float
    percent: float | None

    @property
    def overhead(self) -> float:
        """The tool's time in percent of the program's."""
        return 100 * self.tool_seconds / self.program_seconds if self.program_seconds > 0 else 0.0

    def __str__(self) -> str:
        limit = "no limit" if self.percent is None else f"budget {self.percent:g} %"
        return (
            f"{self.measured} of {self.steps} steps measured; the tool took "
            f"{self.overhead:.2g} % of the program's time ({limit})"
        )


class Budget:
    """Decides at the end of each step whether the next one is measured.

    The first step is measured, because a program may have no other; it is cold, so its length says
    nothing of the tool's cost. The second one is measured on credit, so that short programs see a
    warm step. From the third one on a step is measured when it fits the budget, which pays the
    credit back, every other one at most.

    :param every: look only at every n-th step.
    :param percent: of the program's own time that the tool may take; None: no limit.
    :param clock: seconds, never going back.
    :raises ValueError: ``every`` below 1 or ``percent`` not above 0.
    """

    def __init__(
        self, every: int = 1, percent: float | None = None, clock: Clock = time.perf_counter
    ) -> None:
        if every < 1:
            raise ValueError(f"[Budget] every={every}: every n-th step, so at least 1")
        if percent is not None and not percent > 0:
            raise ValueError(
                f"[Budget] percent={percent}: a share of the program's time above 0; None for all"
            )
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
        """Length of the second step and what the tool charged, until a plain one is known."""
        self._between = 0.0
        self._paused: float | None = None

    def charge(self, seconds: float) -> None:
        """The tool worked for so long in the step that runs."""
        self._charged += seconds

    def end_step(self) -> bool:
        """A step has ended. Returns whether the next one is measured.

        What the tool does until :meth:`begin_step` is charged to it.
        """
        now = self.clock()
        length = now - self._at
        if not self.measuring:
            self._plain.append(length)
            self._settle(length)
            # Waiting may cost a little, too.
            self._between += self._charged
        else:
            self._measured += 1
            if self._index == 0:
                self._cold = self._charged
            else:
                # Against the steps just before it: programs and machines get faster and slower.
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
        """The program goes on."""
        now = self.clock()
        if self._paused is not None:
            self._between += now - self._paused
        self._paused, self._at = None, now

    def spending(self) -> Spending:
        """What was spent until now."""
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
        """The first plain step tells what the second one cost beyond the tool's own work."""
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
        # Never two in a row: what steps take without the tool has to stay known.
        if after_measured:
            return False
        if not self._warm_count:
            return True
        spent = self._spent()
        program = now - self._begun - spent + statistics.median(self._plain)
        cost = (self._warm + self._between) / self._warm_count
        return spent + cost <= self.percent / 100 * program
