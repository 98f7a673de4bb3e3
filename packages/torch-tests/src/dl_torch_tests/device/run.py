"""Run all device-generic tests in child processes: ``python -m dl_torch_tests.device.run``.

The children run pytest. A process that ends early, by a crash or a timeout, fails only the current
test, which is reported, and the next process continues after it. Fails if a test does.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..opinfo.known_failures import Key, cause_of
from ..vendor_lists import SETTING, VendorLists
from .known_failures import CRASHES, SOME_PROCESSORS, known_on

TESTS = ["--pyargs", "dl_torch_tests.device"]
"""The tests, as arguments of pytest."""
PARTS = 4
"""Minimum number of parts of a run, each a process, which bounds leaks."""
COLLECTION_ENDED = (2, 3, 4)
"""Exit codes of pytest that mean that no test ran."""


class RunError(RuntimeError):
    """The tests could not be run."""


@dataclass(frozen=True)
class Result:
    """The result of one test.

    :ivar problem: the first problem; None if all samples were right.
    :ivar compared: number of samples that the CPU computed.
    :ivar crashed: the process ended during the test.
    :ivar facts: further information that the test reported.
    """

    key: Key
    problem: str | None
    compared: int
    seconds: float
    crashed: bool = False
    facts: Any = None


def results_in(lines: list[str]) -> list[Result]:
    """Parse a journal; a test that was started but not ended has crashed."""
    found: list[Result] = []
    key: Key | None = None
    for line in lines:
        facts: dict[str, Any] = json.loads(line)
        if "key" in facts:
            name, kind, dtype = facts["key"]
            key = (name, kind, dtype)
        elif "outcome" in facts and key is not None:
            told = facts["problem"]
            # A test without comparisons failed earlier; other tests fail because they are listed.
            if told is None and facts["outcome"] == "failed" and facts["compared"] is None:
                told = facts["said"]
            compared, seconds = facts["compared"] or 0, facts["seconds"]
            found.append(Result(key, told, compared, seconds, facts=facts.get("facts")))
            key = None
    if key is not None:
        found.append(Result(key, "the process ended", 0, 0.0, crashed=True))
    return found


def run_part(part: str, folder: Path, selection: list[str]) -> list[Result]:
    """Run one part, restarting the process as often as necessary.

    :raises RunError: the tests were not collected, or no test was running when a process ended.
    """
    found: list[Result] = []
    for attempt in range(sys.maxsize):
        journal = folder / f"{part.replace('/', '-')}.{attempt}"
        options = [f"--device-journal={journal}", f"--device-part={part}"]
        command = [sys.executable, "-m", "pytest", "-p", "dl_torch_tests.device.journal", *options]
        done = subprocess.run(
            [*command, f"--device-skip={len(found)}", "-q", "-p", "no:cacheprovider", *selection],
            env={"OMP_NUM_THREADS": "1", **os.environ, "DL_TEST_SAMPLE": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        lines = journal.read_text(encoding="utf-8").splitlines() if journal.exists() else []
        new = results_in(lines)
        found += new
        if done.returncode in COLLECTION_ENDED or not lines:
            raise RunError(f"part {part} did not run:\n{done.stdout[-3000:]}")
        if done.returncode in (0, 1, 5):
            return found
        if not new or not new[-1].crashed:
            raise RunError(f"part {part} ended between two tests:\n{done.stdout[-3000:]}")
        last = done.stdout.strip().splitlines()[-1:] or [""]
        ended = f"exit code {done.returncode}: {last[0][:200]}"
        found[-1] = Result(new[-1].key, f"the process ended: {ended}", 0, 0.0, crashed=True)
    raise AssertionError("unreachable")


def run_all(jobs: int, selection: list[str]) -> Iterator[Result]:
    """Yield the results of all tests, part by part."""
    with TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        count = max(PARTS, jobs)
        parts = (f"{at}/{count}" for at in range(count))
        for done in pool.map(lambda part: run_part(part, Path(folder), selection), parts):
            yield from done


def unexpected(result: Result, known: dict[Key, str]) -> str | None:
    """Return how a result contradicts the list, or None."""
    cause = cause_of(known, *result.key)
    name = " | ".join(result.key)
    if result.problem is None:
        if cause is not None and cause.startswith(SOME_PROCESSORS):
            return None
        return cause and f"{name} passes now: remove it from its list (listed cause: {cause})"
    if cause is None:
        return f"{name}: {result.problem}"
    if result.crashed != cause.startswith(CRASHES):
        return f"{name} is listed for '{cause}', and now: {result.problem}"
    return None


def arguments(description: str | None) -> argparse.ArgumentParser:
    """Return the parser of the options of every run."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="number of concurrent processes"
    )
    parser.add_argument("-k", dest="select", help="only tests that match, as pytest's -k")
    return parser


def selected(options: argparse.Namespace) -> list[str]:
    return [*TESTS, *(["-k", options.select] if options.select else [])]


def vendor_here() -> str:
    """Return the vendor of dl:0."""
    import torch

    return str(torch.dl.get_device_properties(0).vendor)


def main() -> int:
    """Run all tests; print unexpected results, and the pass rate."""
    parser = arguments(__doc__)
    parser.add_argument(
        "--known-failures",
        metavar="FOLDER",
        default="tests",
        help="folder with the vendor's lists of known failures (default: tests)",
    )
    options = parser.parse_args()
    known = known_on(vendor_here(), VendorLists.below(Path.cwd(), [options.known_failures]))
    setting = ["-o", f"{SETTING}={options.known_failures}"]
    results = list(run_all(options.jobs, [*setting, *selected(options)]))
    wrong = [text for result in results if (text := unexpected(result, known))]
    for text in wrong:
        print(text)
    right = sum(result.problem is None for result in results)
    rate = right / max(1, len(results))
    print(
        f"device-generic tests: {right} of {len(results)} pass ({rate:.2%}); "
        f"{len(wrong)} contradict the list"
    )
    return 1 if wrong or not results else 0


if __name__ == "__main__":
    sys.exit(main())
