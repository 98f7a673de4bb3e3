"""Simulated libraries for tests."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "fakes"))

from ascend.operators.build import build_operators
from ascend.operators.calls import Library
from ascend.runtime.build import build_runtime

# torch gives the expected results.
collect_ignore = [] if importlib.util.find_spec("torch") else ["test_ascend_meaning.py"]


def engine() -> str:
    """Return the path of the contract library that computes for the fakes."""
    plugin = pytest.importorskip("dl_vendor_cpu.plugin")
    return str(plugin.dl_vendor().library)


@pytest.fixture(scope="session")
def ascend_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the simulated operator library and runtime of Ascend."""
    folder = tmp_path_factory.mktemp("ascend")
    return build_operators(folder, runtime=build_runtime(folder))


@pytest.fixture(scope="session")
def ascend_library(ascend_folder: Path) -> Iterator[Library]:
    """Return the simulated operator library, loaded into this process."""
    with pytest.MonkeyPatch.context() as patch:
        if not os.environ.get("FAKE_ENGINE"):
            patch.setenv("FAKE_ENGINE", engine())
        yield Library(ascend_folder / "libascendcl.so", ascend_folder)


@pytest.fixture
def ascend_operators(ascend_library: Library) -> Iterator[Library]:
    """Return the same library, and check that the test leaves no object and no misuse behind."""
    misuses = ascend_library.count("misuses")
    yield ascend_library
    for kind in "tensors", "scalars", "arrays", "lists", "executors":
        assert ascend_library.count(kind) == 0, kind
    assert ascend_library.count("misuses") == misuses
