"""The vendor under test: the library that the plugin would choose here, or DL_TEST_LIBRARY."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from diopi_proto import Vendor, load_vendor
from support import guard, out_like, tested_library

LIBRARY_VARIABLES = ("DL_CPU_ONEDNN", "DL_CPU_OPENBLAS")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "cpu_path: concerns the CPU backend of the kernels only, not emulated GPUs"
    )


@pytest.fixture(scope="session")
def vendor() -> Iterator[Vendor]:
    """The vendor under test; its operators are checked to write only their outputs."""
    with load_vendor(tested_library()) as opened:
        guard(opened)
        yield opened


@pytest.fixture(scope="session")
def portable_vendor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vendor]:
    """The vendor with only its own kernels: a copy of the library, since libraries are searched
    once."""
    copy = shutil.copy(tested_library(), tmp_path_factory.mktemp("portable"))
    with load_vendor(copy) as opened:
        with pytest.MonkeyPatch.context() as patch:
            for variable in LIBRARY_VARIABLES:
                patch.setenv(variable, "off")
            guard(opened)
            square = out_like(opened, (64, 64), "float32")
            opened.op.Mm(out_like(opened, (64, 64), "float32"), square, square)
        yield opened
