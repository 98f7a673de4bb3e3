"""Runs cases in children and says of each whether it crashed, hung, ran code or went wrong."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .kind import CANARY, Kind

TESTS = Path(__file__).parents[1]
_START = 120.0
"""Seconds until a child begins its first case: it imports torch."""


@dataclass
class Failure:
    """A case that must not have ended as it did."""

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
    """What became of the cases of one kind."""

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

    :param folder: for what the kinds prepare; each child gets one of its own elsewhere.
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
            command = [*_command(kind, folder, self._seed), "prepare", "0", "0"]
            subprocess.run(command, check=True, env=_environment(folder, Path(os.devnull)))
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
        """One child after another, until every case has had its turn."""
        result = Result(kind.name)
        first, end = numbers[0], numbers[-1] + 1
        while first < end:
            done = self._child(kind, folder, first, end, result)
            if done < first:
                raise RuntimeError(
                    f"[fuzz] the children of {kind.name} end before their first case"
                )
            first = done + 1
        return result

    def _child(self, kind: Kind, folder: Path, first: int, end: int, result: Result) -> int:
        """Run a child as long as it goes well; returns the last case that it began."""
        with tempfile.TemporaryDirectory(prefix="fuzz-") as own:
            canary = Path(own) / "canary"
            stray = Path(own) / "stray"
            stray.mkdir()
            with (Path(own) / "errors").open("w+b") as errors:
                reader, writer = os.pipe()
                process = subprocess.Popen(
                    [*_command(kind, folder, self._seed), str(first), str(end), str(writer)],
                    stdout=errors,
                    stderr=errors,
                    stdin=subprocess.DEVNULL,
                    pass_fds=(writer,),
                    cwd=stray,
                    start_new_session=True,
                    env=_environment(folder, canary),
                )
                os.close(writer)
                number, begun, patience = first - 1, False, 5.0
                try:
                    for number, how, said in _records(reader, kind.seconds):
                        begun = how == "begins"
                        if not begun:
                            result.ends[how] += 1
                        if how == "failed":
                            self._tell(result, number, "wrong", said)
                except TimeoutError:
                    begun, patience = True, 0.0
                    self._tell(result, number, "hung", f"after {kind.seconds:g} seconds")
                finally:
                    os.close(reader)
                    _end(process, patience)
                if begun:
                    result.ends["failed"] += 1
                    if not any(x.case == number for x in result.failures):
                        errors.seek(0)
                        words = errors.read().decode(errors="replace")
                        self._tell(result, number, _how(process.returncode), _ends(words))
                return number if number >= first else first - 1

    def _tell(self, result: Result, number: int, what: str, said: str) -> None:
        result.failures.append(Failure(result.kind, number, self._seed, what, said))


def _command(kind: Kind, folder: Path, seed: str) -> list[str]:
    return [sys.executable, "-m", "fuzz.child", kind.name, str(folder), seed]


def _environment(folder: Path, canary: Path) -> Mapping[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DL_", "DIPU_"))}
    path = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
    cache = str(folder / "cache")
    return {**kept, "PYTHONPATH": path, "XDG_CACHE_HOME": cache, CANARY: str(canary)}


def _records(reader: int, seconds: float) -> Iterator[tuple[int, str, str]]:
    """What a child writes, until it ends.

    :raises TimeoutError: it has written nothing for too long.
    """
    rest, limit = b"", _START
    while True:
        if not select.select([reader], [], [], limit)[0]:
            raise TimeoutError
        limit = seconds
        data = os.read(reader, 1 << 16)
        if not data:
            return
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            number, how, said = json.loads(line)
            yield int(number), str(how), str(said)


def _end(process: subprocess.Popen[bytes], patience: float) -> None:
    """It and all that it has started; what ended by itself keeps its status."""
    try:
        process.wait(timeout=patience)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _ends(words: str, most: int = 1500) -> str:
    """Their begin, where sanitizers say what is wrong, and their end, where Python does."""
    return words if len(words) <= 2 * most else f"{words[:most]}\n...\n{words[-most:]}"


def _how(status: int) -> str:
    if status < 0:
        return f"crashed with {signal.Signals(-status).name}"
    return f"left with status {status}"
