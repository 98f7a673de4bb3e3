"""Makes calls in child processes, and attributes crashes and hangs to single calls."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from diopi_proto.worker import Limits, Worker, WorkerError

from .child import Calls

PATIENCE = 60.0
"""Timeout of one call in seconds."""
CPU_CRASHES = "torch's CPU crashes or hangs"


@dataclass(frozen=True)
class Finding:
    """A difference of a call.

    :ivar cause: reason from the list of causes, or None.
    """

    operator: str
    number: int
    kind: str
    text: str
    call: str = ""
    cause: str | None = None

    def repeat(self, seed: str) -> str:
        return (
            f"PYTHONPATH=tests python -m operator_fuzz --seed {seed} "
            f"--call '{self.operator}:{self.number}'"
        )


@dataclass
class Result:
    """The outcomes of a session's calls."""

    seed: str
    ends: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    operators: set[str] = field(default_factory=set)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def calls(self) -> int:
        return sum(self.ends.values())

    @property
    def unexplained(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.cause is None]

    def as_json(self) -> dict[str, Any]:
        return {
            "seed": self.seed,
            "calls": self.calls,
            "operators": len(self.operators),
            "ends": dict(self.ends.most_common()),
            "unexplained": len(self.unexplained),
            "findings": [
                {**vars(finding), "again": finding.repeat(self.seed)} for finding in self.findings
            ],
            "seconds": {k: round(v, 2) for k, v in sorted(self.seconds.items())},
        }


class Runner:
    """Runs sessions.

    :param device: the device under test.
    :param workers: number of concurrent child processes.
    """

    def __init__(self, seed: str, device: str = "dl", workers: int = 1) -> None:
        self._seed = seed
        self._device = device
        self._workers = workers
        self._lock = threading.Lock()

    def run(self, operators: Iterable[str], calls: range) -> Result:
        """Run the numbered calls of every operator."""
        names = list(operators)
        result = Result(self._seed, operators=set(names))
        shares = [names[i :: self._workers] for i in range(self._workers)]
        with ThreadPoolExecutor(self._workers) as pool:
            list(pool.map(lambda share: self._share(share, calls, result), shares))
        return result

    def _share(self, names: list[str], calls: range, result: Result) -> None:
        """Start children one after the other, until every call was made or has ended a child."""
        with self._worker(self._device) as worker, self._worker("cpu") as host:
            for name in names:
                worker.start()
                started = time.monotonic()
                try:
                    worker.call((name, None), PATIENCE)
                except WorkerError as error:
                    self._note(result, name, calls.start - 1, None, "samples", _describe(error))
                    continue
                for number in calls:
                    self._run_call(worker, host, name, number, result)
                with self._lock:
                    result.seconds[name] = time.monotonic() - started

    def _worker(self, device: str) -> Worker:
        return Worker(
            partial(Calls, self._seed, device),
            Limits(core=0),
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )

    def _run_call(
        self, worker: Worker, host: Worker, name: str, number: int, result: Result
    ) -> None:
        worker.start()
        try:
            end, *found = worker.call((name, number), PATIENCE)
        except WorkerError as error:
            end, *found = "crash", "crash", _describe(error)
            host.start()
            try:
                # Out-of-bounds memory differs by run: not every such call crashes the process.
                for _ in range(5):
                    host.call((name, number), PATIENCE)
            except WorkerError:
                end, *found = CPU_CRASHES, ""
        with self._lock:
            result.ends[end if end is not None else "unexplained"] += 1
        if found[0]:
            self._note(result, name, number, None if end == "crash" else end, *found)

    def _note(self, result: Result, name: str, number: int, cause: str | None, *found: str) -> None:
        with self._lock:
            result.findings.append(Finding(name, number, *found, cause=cause))


def _describe(error: WorkerError) -> str:
    return f"{error}: {error.output[-800:]}"
