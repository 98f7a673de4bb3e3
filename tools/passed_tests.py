"""pytest plugin: tests that passed in one environment need not run in another environment.

``--passed-to FILE`` of ``-p tools.passed_tests`` writes the names of passed tests, one per line,
and ``--not-passed-in FILE`` skips these in a later run.
"""

from __future__ import annotations

from pathlib import Path

import pytest

_PASSED = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("passed tests")
    group.addoption(
        "--passed-to", metavar="FILE", type=Path, help="file for the names of passed tests"
    )
    group.addoption(
        "--not-passed-in", metavar="FILE", type=Path, help="file with names of tests to skip"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_PASSED] = []
    config.pluginmanager.register(_Recorder(config.stash[_PASSED]))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    path: Path | None = config.getoption("--not-passed-in")
    if path is None:
        return
    passed = set(path.read_text(encoding="utf-8").splitlines())
    left_out = [item for item in items if item.nodeid in passed]
    items[:] = [item for item in items if item.nodeid not in passed]
    config.hook.pytest_deselected(items=left_out)


def pytest_sessionfinish(session: pytest.Session) -> None:
    path: Path | None = session.config.getoption("--passed-to")
    if path is not None:
        names = session.config.stash[_PASSED]
        path.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")


class _Recorder:
    """Records a test as passed if its call has passed, whatever its fixtures do afterwards."""

    def __init__(self, passed: list[str]) -> None:
        self.passed = passed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.passed.append(report.nodeid)
