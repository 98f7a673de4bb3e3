"""Makes calls in child processes, and attributes crashes and hangs to single calls."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]
START = 240.0
"""Seconds until a child reports first: it imports torch and its database of operators."""
PATIENCE = 60.0
"""Seconds for one call."""
CPU_CRASHES = "torch's CPU crashes or hangs"


@dataclass(frozen=True)
class Finding:
    """A difference.

    :ivar cause: its reason in the list of causes, or None.
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
    :param workers: child processes at a time.
    """

    def __init__(self, seed: str, device: str = "dl", workers: int = 1) -> None:
        self._seed = seed
        self._device = device
        self._workers = workers
        self._lock = threading.Lock()

    def run(self, operators: Iterable[str], calls: range) -> Result:
        """Make the numbered calls of every operator."""
        names = list(operators)
        result = Result(self._seed, operators=set(names))
        shares = [names[i :: self._workers] for i in range(self._workers)]
        with ThreadPoolExecutor(self._workers) as pool:
            list(pool.map(lambda share: self._share(share, calls, result), shares))
        return result

    def _share(self, names: list[str], calls: range, result: Result) -> None:
        """One child after another, until every call was made or has ended a child."""
        jobs = [(name, calls.start, calls.stop) for name in names]
        while jobs:
            ended = self._child(jobs, result, self._device)
            if ended is None:
                return
            name, number, how = ended
            at = next(i for i, job in enumerate(jobs) if job[0] == name)
            if number < calls.start:
                with self._lock:
                    result.findings.append(Finding(name, number, "samples", how))
                jobs = jobs[at + 1 :]
                continue
            jobs = [(name, number + 1, calls.stop), *jobs[at + 1 :]]
            alone = self._child([(name, number, number + 1)], Result(self._seed), "cpu")
            with self._lock:
                if alone is not None:
                    result.ends[CPU_CRASHES] += 1
                else:
                    result.ends["crash"] += 1
                    result.findings.append(Finding(name, number, "crash", how))

    def _child(
        self, jobs: list[tuple[str, int, int]], result: Result, device: str
    ) -> tuple[str, int, str] | None:
        """Run a child; return the call that ended it and how, or None if all were made."""
        with tempfile.TemporaryFile() as errors:
            reader, writer = os.pipe()
            process = subprocess.Popen(
                [sys.executable, "-m", "operator_fuzz.child", str(writer), device],
                stdin=subprocess.PIPE,
                stdout=errors,
                stderr=errors,
                pass_fds=(writer,),
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": _path(), "OMP_NUM_THREADS": "1"},
            )
            os.close(writer)
            lines = b"".join(json.dumps([self._seed, *job]).encode() + b"\n" for job in jobs)
            threading.Thread(target=_feed, args=(process, lines), daemon=True).start()
            last: tuple[str, int] | None = None
            how = ""
            try:
                for record in _records(reader):
                    last = self._note(record, result)
            except TimeoutError:
                how = f"no end after {PATIENCE:g} s"
                os.killpg(process.pid, signal.SIGKILL)
            finally:
                os.close(reader)
            status = process.wait()
            if status == 0:
                return None
            errors.seek(0)
            said = errors.read().decode(errors="replace")
            if last is None:
                raise RuntimeError(f"[operator_fuzz] a child ended before its first call:\n{said}")
            return (*last, how or f"ended with status {status}: {said[:800]}")

    def _note(self, record: list[Any], result: Result) -> tuple[str, int]:
        what, name, number, *rest = record
        with self._lock:
            if what == "seconds":
                result.seconds[name] = result.seconds.get(name, 0.0) + rest[0]
            elif what == "end":
                end, kind, text, call = rest
                result.ends[end if end is not None else "unexplained"] += 1
                if kind:
                    result.findings.append(Finding(name, number, kind, text, call, end))
        return name, number


def _path() -> str:
    return os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))


def _feed(process: subprocess.Popen[bytes], lines: bytes) -> None:
    assert process.stdin is not None
    try:
        process.stdin.write(lines)
        process.stdin.close()
    except BrokenPipeError:
        pass  # the child has ended; its status says how


def _records(reader: int) -> Iterator[list[Any]]:
    """Yield what a child reports, until it ends.

    :raises TimeoutError: it has reported nothing for too long.
    """
    rest, limit = b"", START
    while True:
        if not select.select([reader], [], [], limit)[0]:
            raise TimeoutError
        limit = PATIENCE
        data = os.read(reader, 1 << 16)
        if not data:
            return
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            yield json.loads(line)
