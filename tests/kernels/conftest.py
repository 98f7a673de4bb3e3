"""The emulated GPU as a vendor, which is built once for all tests."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

KERNELS = Path(__file__).parents[2] / "packages" / "kernels" / "tests"
sys.path.insert(0, str(KERNELS))

from emulated import build_vendor, missing_compiler  # noqa: E402 - from the folder named above

WHY_NOT = missing_compiler()


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The vendor of the emulated GPU: DL_TEST_EMULATED_GPU, or built here."""
    if WHY_NOT is not None:
        pytest.skip(WHY_NOT)
    if given := os.environ.get("DL_TEST_EMULATED_GPU"):
        return Path(given)
    return build_vendor(tmp_path_factory.mktemp("emulated"))
