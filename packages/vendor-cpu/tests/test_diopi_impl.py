"""Tests of the same operators as a plain ``libdiopi_impl.so``: under a minimal DIOPI host, and as a
legacy library.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diopi_proto import Vendor, include_dir, load_vendor
from diopi_proto.build import check_library, compile_library
from diopi_proto.elf import read_elf
from dl_kernels import include_dir as kernels_dir
from dl_kernels import write_units
from dl_vendor_kit import include_dir as kit_dir

HERE = Path(__file__).parent
CSRC = HERE.parent / "csrc"
TABLE_ONLY = {"runtime", "extensions"}
CXX = shlex.split(os.environ.get("CXX", "g++"))
CC = shlex.split(os.environ.get("CC", "gcc"))
MISSING = [tool[0] for tool in (CXX, CC) if shutil.which(tool[0]) is None]
pytestmark = [
    pytest.mark.skipif(bool(MISSING), reason=f"no compiler {MISSING} in PATH"),
    pytest.mark.skipif(not CSRC.is_dir(), reason=f"the sources are not at {CSRC}"),
]


@pytest.fixture(scope="module")
def impl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the library: DL_TEST_DIOPI_IMPL, or one compiled here without optimization."""
    if given := os.environ.get("DL_TEST_DIOPI_IMPL"):
        return Path(given)
    folder = tmp_path_factory.mktemp("impl")
    sources = [
        *write_units(folder / "units", diopi_convention=True),
        *(path for path in sorted(CSRC.rglob("*.cpp")) if path.parent.name not in TABLE_ONLY),
    ]
    sources = [path for path in sources if path.name != "plugin.cpp"]
    return compile_library(
        folder / "libdiopi_impl.so",
        sources,
        exports=("diopi*", "dlop*"),
        legacy=True,
        include_dirs=[CSRC, kernels_dir(), kit_dir()],
        compile_flags=["-O0", "-DDIOPIRT_EXTERN", '-DDL_CPU_VERSION="test"'],
    )


@pytest.fixture(scope="module")
def report(impl: Path, vendor: Vendor, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    host = tmp_path_factory.mktemp("host") / "libhost.so"
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden", "-fPIC", "-shared"]
    source = str(HERE / "diopi_host" / "host.c")
    subprocess.run([*CC, *flags, f"-I{include_dir()}", source, "-o", str(host)], check=True)
    operators = [name for name, bound in vendor.operators.items() if bound]
    drive = str(HERE / "diopi_host" / "drive.py")
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", drive, str(host), str(impl), *operators],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_every_operator_is_exported_by_name(impl: Path, vendor: Vendor) -> None:
    bound = {name for name, there in vendor.operators.items() if there}
    strings = {"diopiGetVendorName", "diopiGetImplVersion", "diopiGetLastErrorString"}
    assert read_elf(impl).exported == bound | strings


def test_runtime_is_left_to_the_host(impl: Path) -> None:
    check_library(impl, exports=("diopi*", "dlop*"), legacy=True)
    wanted = {name for name in read_elf(impl).undefined if name.startswith("diopi")}
    assert "diopiGetTensorShape" in wanted
    assert "diopiRequireTensor" in wanted
    assert not any(re.search(r"dl_|torch", name) for name in wanted)


def test_foreign_host_gets_right_results(report: dict[str, Any]) -> None:
    results = report["results"]
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert results["add"] == [0, (a + 2).ravel().tolist()]
    assert results["mm"] == [0, (a @ np.full((4, 3), 2)).ravel().tolist()]
    assert results["softmax"] == [0, [0.25] * 12]
    assert results["masked_select"] == [0, [6, 7, 8, 9, 10, 11]]
    assert results["required"] == 1


def test_foreign_generator_is_advanced(report: dict[str, Any]) -> None:
    code, drawn = report["results"]["uniform"]
    assert code == 0
    assert 0 <= min(drawn) < 0.05
    assert 0.95 < max(drawn) < 1
    assert report["results"]["offset"] == 250  # four numbers per step


def test_bad_arguments_leave_a_message(report: dict[str, Any]) -> None:
    code, message = report["results"]["wrong"]
    assert code != 0
    assert message.startswith("[diopiMm]")


def test_every_operator_ends_with_a_status(report: dict[str, Any]) -> None:
    called = {name: status for name, status in report["statuses"].items() if status is not None}
    assert len(called) > 150
    succeeded = [name for name, (code, _) in called.items() if code == 0]
    assert len(succeeded) > 100
    for name, (code, message) in called.items():
        # A declined call needs no message; an error does.
        assert code != 1 or message.startswith(f"[{name}]"), (name, code, message)


def test_library_is_a_legacy_vendor(impl: Path) -> None:
    with load_vendor(impl, legacy=True) as vendor:
        assert vendor.is_legacy
        assert vendor.name == "cpu"
        x = vendor.tensor(np.arange(6, dtype=np.float32).reshape(2, 3).T)
        out = vendor.empty((3, 2), dtype="float32")
        vendor.call("diopiExp", out, x)
        assert np.allclose(out.numpy(), np.exp(x.numpy()), rtol=1e-6)
