"""Base class of tools that are active in some steps only, and leave torch in all other steps."""

from __future__ import annotations

import math
import threading
import time

from typing_extensions import Self, Unpack

from dl_optools import levels
from dl_optools.budget import Budget, Clock
from dl_optools.environment import environment
from dl_optools.options import at_least, read
from dl_optools.steps import STEPS
from dl_optools.tool import Tool, ToolOptions


def _percent(text: str) -> float | None:
    if text.lower() in ("none", "off"):
        return None
    value = float(text)
    if not 0 < value < math.inf:
        raise ValueError(text)
    return value


class SampledOptions(ToolOptions, total=False):
    """The parameters of :class:`SampledTool`, for subclasses that add others and pass these on."""

    every: int | None
    budget: float | str | None
    clock: Clock


class SampledTool(Tool):
    """A tool whose modes are on torch's stack in measured steps only.

    Steps are those of :mod:`.steps`. Programs without steps are measured as a whole.

    :param every: measure only every n-th step; None: the variable ``OP_<TOOL>_EVERY``, else 1.
    :param budget: percent of the program's time that the tool may take, or ``"off"``; None: the
        variable ``OP_<TOOL>_BUDGET``, else the tool's default.
    :param clock: monotonic clock in seconds.
    :param options: options of :class:`Tool`.
    """

    default_budget: float | None = None

    def __init__(
        self,
        *,
        every: int | None = None,
        budget: float | str | None = None,
        clock: Clock = time.perf_counter,
        **options: Unpack[ToolOptions],
    ) -> None:
        super().__init__(**options)
        prefix = f"OP_{self.variable}_"
        if every is None:
            every = read(
                environment(), prefix + "EVERY", at_least(1), 1, "a count of steps, at least 1"
            )
        if isinstance(budget, str):
            percent = read(
                {"budget": budget}, "budget", _percent, None, "percent of step time, or off"
            )
        elif budget is None:
            percent = read(
                environment(),
                prefix + "BUDGET",
                _percent,
                self.default_budget,
                "percent of step time, or off",
            )
        else:
            percent = budget
        self._clock = clock
        self._sampling = (every, percent)
        self.budget = Budget(every, percent, clock)
        self.measuring = False
        self._entered = False
        self._thread = 0

    def start(self) -> Self:
        if self.running:
            raise RuntimeError(f"[{type(self).__name__}] it is already running; stop it first")
        self.prepare()
        self.running = True
        self._enter()
        return self

    def prepare(self) -> None:
        super().prepare()
        self._thread = threading.get_ident()
        self.budget = Budget(*self._sampling, self._clock)
        self.measuring = True
        STEPS.add(self._on_step)

    def stop(self) -> None:
        if not self.running:
            return
        if threading.get_ident() != self._thread:
            raise RuntimeError(
                f"[{type(self).__name__}] it was started in another thread; stop it there"
            )
        self._leave()
        self.complete()

    def let_be(self) -> None:
        super().let_be()
        STEPS.remove(self._on_step)

    def closed(self) -> None:
        STEPS.remove(self._on_step)
        self.measuring = False

    # Hooks for subclasses

    def spent(self) -> float:
        """Return the seconds that the tool worked since the last call."""
        return 0.0

    def step_ended(self) -> None:
        """Hook at the end of a measured step; its time is not part of any step."""

    def step_begins(self) -> None:
        """Hook before a step that will be measured; its time is not part of any step."""

    def _enter(self) -> None:
        if not self._entered:
            self._entered = True
            self.enter()

    def _leave(self) -> None:
        if self._entered:
            self._entered = False
            self.leave()

    def _on_step(self, number: int) -> None:
        if threading.get_ident() != self._thread:
            return
        was_measured = self.measuring
        self.budget.charge(self.spent())
        self.measuring = self.budget.end_step()
        if was_measured:
            self.step_ended()
        if self.measuring:
            self.step_begins()
        # Optimizers that step within backward: modes cannot be removed there, only ignored.
        if self.running and levels.can_change_modes():
            if self.measuring:
                self._enter()
            else:
                self._leave()
        self.budget.begin_step()
