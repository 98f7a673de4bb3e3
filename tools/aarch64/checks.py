"""Checks that run in the root filesystem: tests and conformance cases."""

from __future__ import annotations

import json
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.projects import Project

from .errors import SessionError
from .root import PACKAGES, PYTHON, Root
from .wheels import SOURCES

RESULTS = "results"
"""Folder of reports in the root filesystem."""
CASE_SECONDS = 900
"""Timeout of a conformance case; emulation is up to a hundred times slower than a processor."""
PROGRESS_SECONDS = 60.0
_ORPHANS = "qemu 7.2 refuses PR_SET_CHILD_SUBREAPER, so that processes outlive their guard"
_LAST_WORDS = "qemu adds a line to the output of a program that crashes"
NOT_EMULATED = {
    "tests/test_worker.py": _ORPHANS,
    "tests/test_trial.py::test_a_daemon_is_not_waited_for_and_does_not_stay": _ORPHANS,
    "tests/test_trial.py::test_a_driver_that_crashes_is_named": _LAST_WORDS,
    "tests/test_trial.py::test_a_library_that_crashes_itself_is_named_once": _LAST_WORDS,
    "tests/test_trial.py::test_words_before_a_crash_are_repeated": _LAST_WORDS,
}
"""Tests, or files of tests, that cannot pass by emulation, with the reasons."""
ONE_THREAD = {"OMP_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Counts:
    """Outcomes of a check by status, and the names of what failed."""

    outcomes: dict[str, int]
    failed: list[str]

    def __str__(self) -> str:
        return ", ".join(f"{count:,} {status}" for status, count in self.outcomes.items() if count)


def read_tests(report: str) -> Counts:
    """Parse the XML report of pytest's ``--junitxml``."""
    outcomes = Counter({"passed": 0, "failed": 0, "skipped": 0})
    failed = []
    for case in ElementTree.fromstring(report).iter("testcase"):
        wrong = any(case.find(tag) is not None for tag in ("failure", "error"))
        skipped = case.find("skipped") is not None
        outcomes["failed" if wrong else "skipped" if skipped else "passed"] += 1
        if wrong:
            failed.append(f"{case.get('classname')}::{case.get('name')}")
    return Counts(dict(outcomes), failed)


def describe_left_out() -> str:
    """Return the tests that are left out, by reason."""
    reasons = dict.fromkeys(NOT_EMULATED.values())
    names = {why: [x for x, other in NOT_EMULATED.items() if other == why] for why in reasons}
    return "; ".join(f"{', '.join(names[why])}: {why}" for why in reasons)


def run_tests(root: Root, project: Project, arguments: Sequence[str]) -> Counts:
    """Run a package's tests.

    :raises SessionError: pytest wrote no report.
    """
    folder = f"{SOURCES}/{project.name}"
    tests = root.path / folder / "tests"
    shutil.rmtree(tests, ignore_errors=True)
    shutil.copytree(project.folder / "tests", tests, ignore=shutil.ignore_patterns("__pycache__"))
    report = _result(root, f"{project.name}.xml")
    inside = f"/{RESULTS}/{report.name}"
    left_out = [f"--deselect={name}" for name in NOT_EMULATED]
    options = ("-q", "-p", "no:cacheprovider", f"--junitxml={inside}", *left_out)
    root.run(
        *(PYTHON, "-m", "pytest", *options, *(arguments or ("tests",))),
        folder=f"/{folder}",
        log=f"tests-{project.name}",
        statuses=(0, 1),
    )
    return read_tests(report.read_text(encoding="utf-8"))


def run_cases(
    root: Root, level: str, names: Sequence[str], jobs: int, say: Callable[[str], None]
) -> Counts:
    """Run conformance cases on a library of vendor-cpu by the suite's command, in worker processes.

    The command prints only at its end, so its journal shows the progress.

    :raises SessionError: the command could not run.
    """
    report = _result(root, "conformance.json")
    journal = report.with_name(f"{report.name}.partial")
    cases = [option for name in names for option in ("--case", name)]
    # By its path, because only dl-core finds the libraries of installed vendors.
    package = f"/{PACKAGES}/dl_vendor_cpu"
    library = f"{package}/lib/libdl_vendor_cpu_{level}.so"
    known = ("--known-failures", f"{package}/conformance-xfails.txt")
    options = ("--library", library, *known, "--jobs", str(jobs), "--seconds", str(CASE_SECONDS))
    command = [PYTHON, "-m", "dl_conformance", *options, "--json", f"/{RESULTS}/{report.name}"]
    log = root.logs / "conformance.log"
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(
            root.command([*command, *cases], variables=ONE_THREAD),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        while process.poll() is None:
            try:
                process.wait(PROGRESS_SECONDS)
            except subprocess.TimeoutExpired:
                done = journal.read_text(encoding="utf-8").count("\n") if journal.exists() else 1
                say(f"  {max(0, done - 1):,} of {len(names):,} cases have run")
    if process.returncode not in (0, 1) or not report.exists():
        raise SessionError(
            f"[aarch64] the conformance command ended with {process.returncode}; {log}:\n"
            + log.read_text(encoding="utf-8")[-2000:]
        )
    found = json.loads(report.read_text(encoding="utf-8"))
    failed = [each["name"] for each in found["cases"] if each["status"] == "failed"]
    return Counts(found["counts"], failed)


def _result(root: Root, name: str) -> Path:
    """Return the path of a report in the root filesystem, without an earlier one."""
    path = root.path / RESULTS / name
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    return path
