"""Test suites for one torch release, and their outcomes."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tools.projects import ROOT

from .environment import Environment, MatrixError

ON_TEST_VENDOR = "OpInfo on the asynchronous test vendor"
KNOWN = "known failure"
"""Property with which dl-torch-tests marks an entry whose failure is listed."""


@dataclass(frozen=True)
class Suite:
    """A named group of tests.

    :ivar files: test files, as arguments of pytest.
    :ivar may_skip: its tests may be skipped, because they are for features of later releases.
    """

    name: str
    files: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    may_skip: bool = False


SWEEP = ("--pyargs", "dl_torch_tests.opinfo.test_sweep")
OPINFO = Suite("OpInfo", SWEEP, {"OMP_NUM_THREADS": "1"})
MODELS = Suite("models", ("tests/models/test_one_step.py", "tests/models/test_small_models.py"))
VISION = Suite("torchvision", ("tests/vision",))
START = Suite("start", ("packages/core/tests/python/test_integration_start.py",), may_skip=True)
"""Start of the device in other processes, by torch's entry points or without them."""


def suites_of(*, plugins: Path, primary: bool, vision: bool, quick: bool) -> list[Suite]:
    """Return the suites for an environment.

    :param plugins: folder with the wheels of the test vendors.
    :param primary: it has the toolchain's Python; a further Python changes only how dl-core's
        extension and the packages in Python are loaded, which the operators' tests cover.
    :param vision: it has torchvision.
    :param quick: only the start of the device.
    """
    if quick:
        return [START]
    if not primary:
        return [START, OPINFO]
    return [START, OPINFO, on_test_vendor(plugins), MODELS, *([VISION] if vision else [])]


def on_test_vendor(plugins: Path) -> Suite:
    """Run every operator once on the vendor whose memory the host cannot access.

    :param plugins: folder with the wheels of the test vendors.
    """
    variables = {"PYTHONPATH": str(plugins), "DL_VENDORS": "async", "DL_TEST_SAMPLE": "0"}
    return Suite(ON_TEST_VENDOR, SWEEP, {**OPINFO.variables, **variables})


@dataclass(frozen=True)
class Outcome:
    """Outcome of a suite.

    :ivar passed: names of tests that passed and are on no list of known failures.
    :ivar known: names of tests with a known failure, with the cause from the list.
    :ivar failed: names of all other tests, including skipped ones unless the suite allows them.
    """

    passed: list[str]
    known: dict[str, str]
    failed: list[str]

    @property
    def tests(self) -> set[str]:
        return {*self.passed, *self.known, *self.failed}

    @property
    def right(self) -> bool:
        """Return True if all unlisted tests passed, and at least one test ran."""
        return not self.failed and bool(self.passed)

    def as_json(self) -> dict[str, object]:
        return {
            "tests": len(self.tests),
            "passed": len(self.passed),
            "known_failures": self.known,
            "failed": self.failed,
        }


def read(report: str, *, may_skip: bool = False) -> Outcome:
    """Parse the XML report of pytest's ``--junitxml``.

    :param may_skip: leave out skipped tests, which count as failed otherwise.
    """
    passed, known, failed = [], {}, []
    for case in ElementTree.fromstring(report).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        if may_skip and case.find("skipped") is not None:
            continue
        properties = {each.get("name"): each.get("value") for each in case.iter("property")}
        if any(case.find(tag) is not None for tag in ("failure", "error", "skipped")):
            failed.append(name)
        elif KNOWN in properties:
            known[name] = str(properties[KNOWN])
        else:
            passed.append(name)
    return Outcome(passed, known, failed)


def run(suite: Suite, environment: Environment, folder: Path) -> Outcome:
    """Run a suite; the output of pytest is kept in ``folder``.

    :raises MatrixError: pytest wrote no report: it could not start, or a test ended the process.
    """
    report = folder / f"{suite.name.replace(' ', '-')}.xml"
    report.unlink(missing_ok=True)
    # The other family of reports has no test properties.
    family = ("-o", "junit_family=xunit1")
    options = ("-q", "-p", "no:cacheprovider", *family, f"--junitxml={report}")
    done = environment.run("-m", "pytest", *options, *suite.files, variables=suite.variables)
    log = report.with_suffix(".log")
    log.write_text(done.stdout + done.stderr, encoding="utf-8")
    if not report.exists():
        raise MatrixError(
            f"[torch-matrix] {environment.name}: pytest {' '.join(suite.files)} ended "
            f"with {done.returncode} and no report; {os.path.relpath(log, ROOT)} has its output"
        )
    outcome = read(report.read_text(encoding="utf-8"), may_skip=suite.may_skip)
    if done.returncode and outcome.right:
        raise MatrixError(
            f"[torch-matrix] {environment.name}: pytest {' '.join(suite.files)} ended "
            f"with {done.returncode} although no test failed; see {os.path.relpath(log, ROOT)}"
        )
    return outcome


def same_selection(outcomes: Sequence[Outcome]) -> int:
    """Return the number of tests that all suites ran."""
    return len(set.intersection(*(outcome.tests for outcome in outcomes))) if outcomes else 0
