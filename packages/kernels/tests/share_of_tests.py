"""Pytest plugin: the emulated GPU is slow, so it runs a fixed sample of the tests.

``DL_TEST_SAMPLE=1`` runs all. If the library has only some families, listed in
``DL_TEST_FAMILIES`` and separated by commas, tests that call an operator of another family are
skipped. Tests marked ``cpu_path`` concern the CPU backend only and never run.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager

import pytest

from diopi_proto import OperatorNotBoundError
from dl_kernels import families

ONE_OF = 8
BUILT = set(os.environ.get("DL_TEST_FAMILIES", ",".join(families())).split(","))
MISSING = {name for family, names in families().items() if family not in BUILT for name in names}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    of_cpu = [item for item in items if item.get_closest_marker("cpu_path")]
    config.hook.pytest_deselected(items=of_cpu)
    items[:] = [item for item in items if item not in of_cpu]
    if os.environ.get("DL_TEST_SAMPLE") == "1":
        return
    taken: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        digest = hashlib.sha256(item.nodeid.encode()).digest()
        (taken if digest[0] % ONE_OF == 0 else left).append(item)
    items[:] = taken
    config.hook.pytest_deselected(items=left)


@contextmanager
def _skipping() -> Iterator[None]:
    try:
        yield
    except OperatorNotBoundError as error:
        if error.operator in MISSING:
            pytest.skip(f"{error.operator} is not in the library that was built")
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, object, object]:
    with _skipping():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, object, object]:
    with _skipping():
        return (yield)
