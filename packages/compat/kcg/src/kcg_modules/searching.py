"""Search: compiles ahead, measures one kernel at a time, and measures the best again."""

from __future__ import annotations

import logging
import statistics
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from dl_autotune import SearchSpace
from dl_autotune.observers import Calibration, Claim, Race, RaceSettings, claim
from dl_autotune.runners.worker import Worker, WorkerError
from dl_autotune.strategies import Outcome, Strategy
from dl_autotune.toolchains import CompileError

from .gemm import Problem, code_key, compiled, dialect
from .measuring import Measure, serve, teraflops
from .names import name_of

LOG = logging.getLogger("kcg")
_COMPILERS = 2
_SECONDS = 120.0
_PROCESSES = 3
"""Number of processes in which the best is measured again."""
_SEARCHING = RaceSettings(looks=(4, 8), seconds=1.0, hopeless=0.8)
_AGAIN = RaceSettings(looks=(8,), seconds=3.0)


@dataclass(frozen=True)
class Measured:
    """Measurement of a correct kernel, compared with ``torch.matmul``.

    :ivar milliseconds: median time.
    :ivar baseline: median time of ``torch.matmul`` in milliseconds, measured alternately.
    :ivar verdict: verdict of the re-measurement in fresh processes; None before it.
    """

    config: dict[str, Any]
    speedup: float
    milliseconds: float
    baseline: float
    verdict: Claim | None = None

    @property
    def name(self) -> str:
        """Return the name of the kernel."""
        return name_of(self.config)

    @property
    def teraflops(self) -> float:
        """Return the rate in 1e12 operations per second."""
        return teraflops(Problem.of(self.config), self.milliseconds / 1e3)

    @classmethod
    def of(
        cls, config: dict[str, Any], races: Sequence[Race], verdict: Claim | None = None
    ) -> Measured:
        """Return the measurement of one race, or of several races and their verdict."""
        interval = verdict.interval if verdict else races[0].interval
        candidate = statistics.median(time for race in races for time in race.candidate)
        baseline = statistics.median(time for race in races for time in race.baseline)
        return cls(config, interval.ratio, 1e3 * candidate, 1e3 * baseline, verdict)


Answer = Measured | str
"""Answer for one configuration; a text is the reason why it was not timed."""


class Searcher:
    """Measures configurations on one device; a context manager."""

    def __init__(self, device: int) -> None:
        dialect(device)
        self._device = device
        self._pool = ThreadPoolExecutor(_COMPILERS)
        self._worker = Worker(serve)
        self._code: dict[tuple[int, ...], Future[bytes]] = {}
        self._answers: dict[tuple[int, ...], Answer] = {}

    def __enter__(self) -> Searcher:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._worker.stop()

    def search(
        self, space: SearchSpace, strategy: Strategy, most: int
    ) -> Iterator[tuple[int, dict[str, Any], Answer]]:
        """Measure up to `most` configurations that a strategy proposes.

        :returns: an iterator over point, configuration and answer.
        """
        count = 0
        while count < most and (points := strategy.ask(min(2 * _COMPILERS, most - count))):
            configs = [space.config(point) for point in points]
            for config in configs:
                self._compile(config)
            for point, config in zip(points, configs, strict=True):
                answer = self.measure(config, point)
                # Less is better. The speedup makes different problems comparable.
                value = 1 / answer.speedup if isinstance(answer, Measured) else None
                strategy.tell([Outcome(point, value)])
                yield point, config, answer
                count += 1

    def measure(self, config: dict[str, Any], seed: int) -> Answer:
        """Measure a configuration, unless the same code has been measured."""
        key = code_key(config, self._device)
        if key not in self._answers:
            self._answers[key] = self._measure(config, seed)
        answer = self._answers[key]
        if isinstance(answer, Measured):
            return Measured(config, answer.speedup, answer.milliseconds, answer.baseline)
        return answer

    def again(self, finalists: Sequence[Measured]) -> list[Measured]:
        """Measure finalists in fresh processes, independent of the search; return the best first.

        A finalist that fails now is omitted.
        """
        races: dict[str, list[Race]] = {each.name: [] for each in finalists}
        for number in range(_PROCESSES):
            with Worker(serve) as worker:
                for each in finalists:
                    code = self._compile(each.config).result()
                    request = Measure(each.config, code, self._device, _AGAIN, 1000 + number)
                    try:
                        races[each.name].append(worker.call(request, _SECONDS))
                    except WorkerError as error:
                        worker.stop()
                        LOG.error("%s failed when it was measured again: %s", each.name, error)
        kept = []
        for each in finalists:
            found = races[each.name]
            if len(found) == _PROCESSES:
                verdict = claim(found, Calibration(0.0, 1), seed=0)
                kept.append(Measured.of(each.config, found, verdict))
        return sorted(kept, key=lambda each: -each.speedup)

    def _compile(self, config: dict[str, Any]) -> Future[bytes]:
        key = code_key(config, self._device)
        if key not in self._code:
            self._code[key] = self._pool.submit(compiled, config, self._device)
        return self._code[key]

    def _measure(self, config: dict[str, Any], seed: int) -> Answer:
        try:
            code = self._compile(config).result()
            request = Measure(config, code, self._device, _SEARCHING, seed)
            return Measured.of(config, [self._worker.call(request, _SECONDS)])
        except (CompileError, WorkerError) as error:
            # A wrong kernel may have written anywhere, so its process is not used again.
            self._worker.stop()
            return str(error)


def best(found: Sequence[Measured], count: int, device: int) -> list[Measured]:
    """Return the best configurations that differ in their code."""
    distinct: dict[tuple[int, ...], Measured] = {}
    for each in sorted(found, key=lambda each: -each.speedup):
        distinct.setdefault(code_key(each.config, device), each)
    return list(distinct.values())[:count]
