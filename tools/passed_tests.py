"""A plugin of pytest: tests that passed in one environment need not run in another one too.

``-p tools.passed_tests --passed-to FILE`` writes the names of those that passed, a line each, and
``--not-passed-in FILE`` leaves them out of a later run.
"""

from __future__ import annotations

from pathlib import Path

import pytest

_PASSED = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("passed tests")
    group.addoption("--passed-to", metavar="FILE", type=Path, help="write what passed")
    group.addoption("--not-passed-in", metavar="FILE", type=Path, help="leave out what FILE has")


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
    """A test has passed where its call has: what its fixtures do afterwards is for them to say."""

    def __init__(self, passed: list[str]) -> None:
        self.passed = passed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.passed.append(report.nodeid)
