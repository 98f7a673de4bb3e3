"""The emulated GPU as a vendor, which is built once for all tests.

Compiling all families takes minutes, so that only a part is built: the families that these tests
call, and one in twelve other families, selected by the commit. ``DL_TEST_SAMPLE=1`` builds all.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import pytest

from dl_conformance.commit_seed import commit_seed
from dl_kernels import families, with_used

KERNELS = Path(__file__).parents[2] / "packages" / "kernels" / "tests"
sys.path.insert(0, str(KERNELS))

from emulated import build_vendor, missing_compiler  # noqa: E402 - from the folder named above

CALLED = {
    *("advanced_index", "attention_inference", "attention_varlen", "bernoulli"),
    *("binary_cross_entropy", "division", "embedding", "gather", "index_fill"),
    *("max_pooling", "multinomial", "nll_loss", "random", "scatter", "softmax"),
}
"""Families that these tests call by name."""
ONE_OF = 12

WHY_NOT = missing_compiler()


def everything() -> bool:
    return os.environ.get("DL_TEST_SAMPLE") == "1" or "DL_TEST_EMULATED_GPU" in os.environ


def sampled() -> list[str]:
    seed = commit_seed(Path(__file__).parent)

    def is_sampled(family: str) -> bool:
        return hashlib.sha256(f"{seed} {family}".encode()).digest()[0] % ONE_OF == 0

    return with_used(name for name in families() if name in CALLED or is_sampled(name))


@pytest.fixture(scope="session")
def built() -> list[str]:
    """Return the families that the vendor of the emulated GPU has."""
    return sorted(families()) if everything() else sampled()


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory, built: list[str]) -> Path:
    """Return the vendor of the emulated GPU: DL_TEST_EMULATED_GPU, or the one built here."""
    if WHY_NOT is not None:
        pytest.skip(WHY_NOT)
    if given := os.environ.get("DL_TEST_EMULATED_GPU"):
        return Path(given)
    return build_vendor(tmp_path_factory.mktemp("emulated"), built)
