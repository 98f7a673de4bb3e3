"""Runs cases in children; reports which crashed, hung, ran code or gave a wrong result."""

from __future__ import annotations

import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from diopi_proto.worker import Handler, Limits, Worker, WorkerError

from .child import Cases, prepare
from .kind import CANARY, Kind

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
            with _worker(partial(prepare, kind.name, folder), folder, folder) as worker:
                worker.call(None, _PREPARE)
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
            build = partial(Cases, kind.name, folder, self._seed, Path(own, "own"))
            with _worker(build, folder, Path(own)) as worker:
                for number in numbers:
                    self._run_case(worker, kind, number, result)
        return result

    def _run_case(self, worker: Worker, kind: Kind, number: int, result: Result) -> None:
        try:
            worker.start()
        except WorkerError as error:
            raise RuntimeError(
                f"[fuzz] the children of {kind.name} end before their first case: {error}"
            ) from error
        try:
            end, said = worker.call(number, kind.seconds)
            what = "wrong"
        except WorkerError as error:
            end, what, said = "failed", str(error), _ends(error.output)
        result.ends[end] += 1
        if end == "failed":
            result.failures.append(Failure(kind.name, number, self._seed, what, said))


def _worker(build: Callable[[], Handler], folder: Path, own: Path) -> Worker:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DL_", "DIPU_"))}
    added = {"XDG_CACHE_HOME": str(folder / "cache"), CANARY: str(own / "canary")}
    return Worker(build, Limits(core=0), env={**kept, **added})


def _ends(words: str, most: int = 1500) -> str:
    """Shorten messages to their beginning, where sanitizers report, and their end, where Python
    does."""
    return words if len(words) <= 2 * most else f"{words[:most]}\n...\n{words[-most:]}"
