"""The suite as pytest tests: one test for each case, run in a worker process."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from .captured import CaseFileError
from .empty import chosen_names
from .options import selection_of, target_of
from .pool import CaseRunner, NoDeviceError, WorkerError, worker_environ
from .results import Results, reason
from .selection import SelectionError
from .target import TargetError, way_out


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    options = metafunc.config.option
    try:
        target_of(options)
        names = chosen_names(selection_of(options))
    except (TargetError, SelectionError, CaseFileError, OSError) as error:
        raise pytest.UsageError(f"dl-conformance: {error}") from None
    metafunc.parametrize("name", names, ids=names)


@pytest.fixture(scope="session")
def results(pytestconfig: pytest.Config) -> Results:
    """Return the results with the known failures and the profile of the library."""
    _, known = target_of(pytestconfig.option)
    return Results(known, selection_of(pytestconfig.option).promised or {})


@pytest.fixture(scope="session")
def runner(pytestconfig: pytest.Config) -> Iterator[CaseRunner]:
    """Return the worker of this process."""
    target, _ = target_of(pytestconfig.option)
    threads = 1 if "PYTEST_XDIST_WORKER" in os.environ else os.cpu_count() or 1
    runner = CaseRunner(
        target,
        seconds=pytestconfig.option.seconds,
        environ=worker_environ(threads),
        files=pytestconfig.option.cases,
    )
    yield runner
    runner.leave()


def test_case(name: str, runner: CaseRunner, results: Results, pytestconfig: pytest.Config) -> None:
    """Pass or fail; skip if the case is unsupported or has nothing to check."""
    try:
        outcome = results.judged(runner.run(name))
    except NoDeviceError as error:
        option = pytestconfig.option
        pytest.exit(f"dl-conformance: {error}{way_out(option.vendor, option.simulate)}", 2)
    except WorkerError as error:
        pytest.exit(f"dl-conformance: {error}", 2)
    said = f"{outcome.cause}\n{outcome.detail}".strip()
    if outcome.status == "failed":
        pytest.fail(said, pytrace=False)
    if outcome.status == "known failure":
        pytest.xfail(said)
    if outcome.status != "passed":
        declined = outcome.is_declined
        said = reason(outcome.cause, outcome.detail) if declined else outcome.cause
        pytest.skip(f"{outcome.status}: {said}")
