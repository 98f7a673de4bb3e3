"""Runs cases in children; reports which crashed, hung, ran code or gave a wrong result."""

from __future__ import annotations

import os
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from diopi_proto.worker import Failure as Ended
from diopi_proto.worker import Limits, Worker, WorkerError, signal_name

from .child import Cases
from .kind import CANARY, Kind

_START = 120.0
"""Timeout until a child begins its first case, in seconds: it imports torch."""
_PREPARE = 1800.0
"""Timeout for preparing a kind, in seconds: compilers may wait for others."""


@dataclass
class Failure:
    """A case with a forbidden outcome."""

    kind: str
    case: int
    seed: str
    what: str
    said: str = ""

    @property
    def repeat(self) -> str:
        return f"PYTHONPATH=tests python -m fuzz --seed {self.seed} {self.kind} --case {self.case}"


@dataclass
class Result:
    """Outcomes of the cases of one kind."""

    kind: str
    ends: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def cases(self) -> int:
        return sum(self.ends.values())

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "cases": self.cases,
            "seconds": round(self.seconds, 1),
            "ends": dict(self.ends),
            "failures": [asdict(failure) | {"again": failure.repeat} for failure in self.failures],
        }


class Runner:
    """Runs kinds with one seed.

    :param folder: for the preparations of the kinds; each child gets a separate folder of its own.
    """

    def __init__(self, folder: Path, seed: str, workers: int | None = None) -> None:
        self._folder = folder
        self._seed = seed
        self._workers = workers or os.cpu_count() or 1

    def run(self, kind: Kind, cases: Sequence[int] | range | None = None) -> Result:
        """Run cases of a kind, all by default."""
        started = time.monotonic()
        folder = self._folder / kind.name
        if not folder.exists():
            folder.mkdir(parents=True)
            with self._worker(kind, folder, folder) as worker:
                worker.call("prepare", _PREPARE)
        numbers = range(kind.cases) if cases is None else cases
        batches = [numbers[i : i + kind.batch] for i in range(0, len(numbers), kind.batch)]
        result = Result(kind.name)
        with ThreadPoolExecutor(self._workers) as pool:
            for part in pool.map(lambda batch: self._batch(kind, folder, batch), batches):
                result.ends += part.ends
                result.failures += part.failures
        result.seconds = time.monotonic() - started
        return result

    def _batch(self, kind: Kind, folder: Path, numbers: Sequence[int]) -> Result:
        """Start one child after another until every case has run."""
        result = Result(kind.name)
        with tempfile.TemporaryDirectory(prefix="fuzz-") as own:
            for name in ("stray", "own"):
                (Path(own) / name).mkdir()
            with self._worker(kind, folder, Path(own)) as worker:
                for number in numbers:
                    self._run_case(worker, kind, number, result)
        return result

    def _worker(self, kind: Kind, folder: Path, own: Path) -> Worker:
        return Worker(
            partial(Cases, kind.name, folder, self._seed, own / "own"),
            Limits(core=0),
            env=_environment(folder, own / "canary"),
        )

    def _run_case(self, worker: Worker, kind: Kind, number: int, result: Result) -> None:
        if not worker.running:
            try:
                worker.call("begin", _START)
            except WorkerError as error:
                raise RuntimeError(
                    f"[fuzz] the children of {kind.name} end before their first case: {error}"
                ) from error
        try:
            end, said = worker.call(number, kind.seconds)
            what = "wrong"
        except WorkerError as error:
            end, what, said = "failed", _describe(error), _ends(error.output)
            if error.failure is Ended.TIMED_OUT:
                said = f"after {kind.seconds:g} seconds"
        result.ends[end] += 1
        if end == "failed":
            result.failures.append(Failure(kind.name, number, self._seed, what, said))


def _environment(folder: Path, canary: Path) -> Mapping[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DL_", "DIPU_"))}
    cache = str(folder / "cache")
    return {**kept, "XDG_CACHE_HOME": cache, CANARY: str(canary)}


def _ends(words: str, most: int = 1500) -> str:
    """Shorten messages to their beginning, where sanitizers report, and their end, where Python
    does."""
    return words if len(words) <= 2 * most else f"{words[:most]}\n...\n{words[-most:]}"


def _describe(error: WorkerError) -> str:
    if error.failure is Ended.TIMED_OUT:
        return "hung"
    if error.signal:
        return f"crashed with {signal_name(error.signal)}"
    return str(error) if error.status is None else f"left with status {error.status}"
