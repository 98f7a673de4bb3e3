"""The fake driver that tests of errors use."""

from __future__ import annotations

from pathlib import Path

import pytest

from processes import compile_fake


@pytest.fixture(scope="session")
def fake(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of a driver for DL_CUDA_DRIVER."""
    return str(compile_fake(tmp_path_factory.mktemp("fake")))


@pytest.fixture(scope="session")
def old_fake(tmp_path_factory: pytest.TempPathFactory) -> str:
    """That of a driver from before CUDA 12, which says that it is later."""
    return str(compile_fake(tmp_path_factory.mktemp("old"), "-DOLD"))


@pytest.fixture
def no_driver(tmp_path: Path) -> str:
    """A path with nothing there."""
    return str(tmp_path / "libcuda.so.1")
