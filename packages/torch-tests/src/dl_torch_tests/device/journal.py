"""Pytest plugin for runs in parts: ``-p dl_torch_tests.device.journal --device-journal=FILE``.

Writes a line when a test starts and one when it has ended, so that a test that crashes the process
is known by name, and the next process continues after it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

PROBLEM, COMPARED, FACTS = "problem", "compared", "facts"
"""Properties that a test reports; facts are further information as JSON."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("device-generic tests")
    group.addoption(
        "--device-journal",
        metavar="FILE",
        help="file that records started tests and their findings",
    )
    group.addoption(
        "--device-part", metavar="K/N", help="every Nth test, from the Kth on, counted from 0"
    )
    group.addoption(
        "--device-skip",
        type=int,
        default=0,
        help="number of tests of the part that have run already (default: 0)",
    )


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--device-journal")
    if path:
        config.pluginmanager.register(Journal(Path(path), config), "device-journal")


class Journal:
    """Writes events immediately."""

    def __init__(self, path: Path, config: pytest.Config) -> None:
        self.file = path.open("a", encoding="utf-8", buffering=1)
        self.part = config.getoption("--device-part") or "0/1"
        self.skip = config.getoption("--device-skip")

    def write(self, **facts: Any) -> None:
        self.file.write(json.dumps(facts) + "\n")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        at, parts = map(int, self.part.split("/"))
        cases = [item for item in items if "case" in getattr(item, "fixturenames", ())]
        items[:] = cases[at::parts][self.skip :]
        self.write(collected=len(cases))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.write(start=nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self.write(key=item.callspec.params["case"].key)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            found = dict(report.user_properties)
            self.write(
                outcome=report.outcome,
                problem=found.get(PROBLEM),
                compared=found.get(COMPARED),
                facts=found.get(FACTS),
                seconds=round(report.duration, 3),
                said="" if report.passed else str(report.longrepr)[-300:],
            )
