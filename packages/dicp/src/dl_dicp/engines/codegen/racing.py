"""Graph whose kernels are built in the background, and used once they are verified and faster."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor, thread, wait
from dataclasses import dataclass, field
from typing import Any

import torch

from dl_core import _C
from dl_dicp.engines.interface import Runner
from dl_dicp.engines.runner import EngineProgram
from dl_dicp.statistics import statistics

RUNS = 5
"""Number of timed runs of each side; the fastest counts, since other load disturbs it least."""

_builders = ThreadPoolExecutor(1, "dl-codegen")
_pending: set[Future[Runner]] = set()


def wait_for_kernels() -> None:
    """Wait until all requested kernels are built or have failed to build."""
    wait(list(_pending))


@dataclass
class RacingProgram(EngineProgram):
    """Program that uses the executor until its kernels are built, agree with it, and are faster.

    :ivar times: time of the fastest run of the kernels and of the executor, in nanoseconds, after
        the race.
    """

    times: tuple[int, int] | None = None
    _built: Future[Runner] | None = None
    _spent: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))

    @property
    def state(self) -> str:
        """See :attr:`EngineProgram.state`."""
        if self.times is not None:
            mine, other = (f"{each / 1000:.0f}" for each in self.times)
            return f"whose kernels took {mine} microseconds, the executor {other}"
        return super().state if self._runner is not None else "whose kernels are being built"

    def run(self, values: list[Any], sizes: tuple[int, ...] = ()) -> list[torch.Tensor]:
        """See :meth:`EngineProgram.run`."""
        if self.dropped or not self._is_built():
            return self._whole(values)
        if self.times is None and _C.is_capturing(self.device.index):
            return self._whole(values)  # without a run there are no results to compare
        if not self.agreed:
            with self._lock:
                return (
                    self._trial(values) if not (self.agreed or self.dropped) else self.run(values)
                )
        if self.times is None:
            with self._lock:
                return self._raced(values)
        return self._trusted(values)

    def begin(self) -> Future[Runner]:
        """Start building the kernels if they are not built."""
        with self._lock:
            if self._built is None:
                self._built = _builders.submit(self._build)
                _pending.add(self._built)
                self._built.add_done_callback(_pending.discard)
            return self._built

    def problem(self) -> str:
        """Return why kernels could not be built; empty if they were."""
        error = self.begin().exception()
        return f"{type(error).__name__}: {error}" if error else ""

    def _is_built(self) -> bool:
        if self._runner is not None:
            return True
        with self._lock:
            if not self.begin().done():
                return False
            if problem := self.problem():
                self._drop(problem)
                return False
            self._runner = self.begin().result()
        return True

    def _build(self) -> Runner:
        # The pool must finish its queued builds before the program ends.
        if getattr(thread, "_shutdown", False):
            raise RuntimeError("the program is ending")
        return self.engine.load(self.engine.compile(self.document))

    def _raced(self, values: list[Any]) -> list[torch.Tensor]:
        """Time another run of the side with fewer runs."""
        by_kernels, by_executor = self._spent
        kernels = len(by_kernels) <= len(by_executor)
        torch.accelerator.synchronize(self.device)
        start = time.perf_counter_ns()
        made = self._trusted(values) if kernels else self._whole(values)
        torch.accelerator.synchronize(self.device)
        (by_kernels if kernels else by_executor).append(time.perf_counter_ns() - start)
        if len(by_executor) == RUNS and not self.dropped:
            self.times = min(by_kernels), min(by_executor)
            if self.times[0] >= self.times[1]:
                self._drop(
                    f"its kernels took {self.times[0] / 1000:.0f} microseconds, the executor "
                    f"{self.times[1] / 1000:.0f}"
                )
        return made

    def _drop(self, why: str) -> None:
        """Use the executor from now on. No warning is needed if it is only faster."""
        self.dropped = why
        statistics.count_dropped(self.name, why)
