"""The operators on an emulated GPU, tested as on the CPU.

The numeric tests of the CPU vendor run on it: the same operators, from the same bodies, must give
results within the same bounds on threads that run in random order and are synchronized only by
barriers. The host cannot access memory of the device, so that an operator that reads it on the host
crashes.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from diopi_proto import load_vendor
from dl_kernels import families

PACKAGES = Path(__file__).parents[2] / "packages"
KERNELS = PACKAGES / "kernels" / "tests"
NUMERIC_TESTS = PACKAGES / "vendor-cpu" / "tests"
# These tests do not use torch's device, so one of the two runs is enough.
pytestmark = pytest.mark.vendor("cpu")


def operators_of(chosen: list[str]) -> set[str]:
    return {name for family in chosen for name in families()[family]}


def test_every_operator_is_there(library: Path, built: list[str]) -> None:
    wanted = operators_of(built)
    with load_vendor(library) as vendor:
        assert {name for name in wanted if not vendor.operators[name]} == set()
        assert not vendor.host_accessible


def test_every_operator_that_is_compiled_is_listed(library: Path, built: list[str]) -> None:
    """The list that is parsed from the sources equals the list of compiled operators."""
    command = ["nm", "--defined-only", "-C", str(library)]
    symbols = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    compiled = set(re.findall(r" T dl::kernels::v1::((?:diopi|dlop)\w+)\(", symbols, re.I))
    assert compiled == operators_of(built)


# These tests are about the CPU vendor's own libraries and its threads.
OWN = {
    "test_diopi_impl.py",
    "test_kernel_arguments.py",
    "test_kernel_extension.py",
    "test_libraries.py",
    "test_library.py",
    "test_plugin.py",
    "test_runtime.py",
}

# Known findings in kernels whose accesses are traced: parts of the message and of the kernel's
# name. ReplaceOp: if several elements replace the same one, their order is undefined.
KNOWN_FINDINGS = (("race: ", "dl::kernels::v1::ReplaceOp>"),)


def findings(path: Path) -> list[str]:
    """Return the emulation's findings, three lines each, without the known ones."""
    if not path.exists():
        return []
    said = re.split(r"^(?=emulated GPU: )", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [
        each
        for each in said
        if each and not any(what in each and kernel in each for what, kernel in KNOWN_FINDINGS)
    ]


def family_of(file: Path) -> str | None:
    """Return the longest family with which the name of a test file begins."""
    stem = file.stem.removeprefix("test_")
    return max((x for x in families() if f"{stem}_".startswith(f"{x}_")), key=len, default=None)


def numeric_tests(built: list[str]) -> list[str]:
    """Return the CPU vendor's tests of these families, or of every operator if all are built."""
    some = len(built) < len(families())
    return sorted(
        str(path)
        for path in NUMERIC_TESTS.glob("test_*.py")
        if path.name not in OWN and (family_of(path) in built or not some)
    )


def test_numeric_tests_of_the_cpu_vendor_pass(
    library: Path, built: list[str], tmp_path: Path
) -> None:
    found = tmp_path / "findings.txt"
    environment = {
        **os.environ,
        "DL_TEST_LIBRARY": str(library),
        "DL_EMULATION_FINDINGS": str(found),
        "DL_TEST_FAMILIES": ",".join(built),
        "PYTHONPATH": os.pathsep.join([str(KERNELS), os.environ.get("PYTHONPATH", "")]),
    }
    command = [sys.executable, "-X", "faulthandler", "-m", "pytest", "-q"]
    command += ["-p", "share_of_tests"]
    files = numeric_tests(built)

    def run(part: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *part], env=environment, capture_output=True, text=True, check=False
        )

    processes = os.cpu_count() or 1
    with ThreadPoolExecutor(processes) as pool:
        finished = list(pool.map(run, (files[i::processes] for i in range(processes))))
    passed = 0
    for done in finished:
        assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-4000:]
        counted = re.search(r"(\d+) passed", done.stdout)
        passed += int(counted[1]) if counted else 0
    assert passed > 10 * len(built)
    assert findings(found) == []


def test_result_does_not_depend_on_the_order_of_threads(library: Path) -> None:
    script = (
        "import sys, numpy as np\n"
        "from diopi_proto import load_vendor\n"
        "with load_vendor(sys.argv[1]) as vendor:\n"
        "    x = np.random.default_rng(1).standard_normal((7, 333)).astype(np.float32)\n"
        "    out = vendor.empty((7, 333), dtype='float32')\n"
        "    vendor.call('diopiSoftmax', out, vendor.tensor(x), 1)\n"
        "    print(out.numpy().tobytes().hex())\n"
    )
    results = {
        subprocess.run(
            [sys.executable, "-c", script, str(library)],
            env={**os.environ, "DL_EMULATION_SEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(results) == 1


@pytest.mark.parametrize(
    ("shape", "dim"), [((40, 5), 1), ((5, 40), 0), ((2, 20000), 1), ((3, 7, 5), 1)], ids=str
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_logarithm_of_a_softmax_near_one_keeps_its_digits(
    library: Path, dtype: str, shape: tuple[int, ...], dim: int
) -> None:
    """The cases are rows in registers, columns, long rows, and strided rows."""
    x = np.random.default_rng(1).standard_normal(shape).astype(dtype)
    top = x.argmax(axis=dim, keepdims=True)
    np.put_along_axis(x, top, 8 if shape[dim] < 100 else 16, dim)
    below = x.astype(np.longdouble) - x.max(axis=dim, keepdims=True)
    powers = np.exp(below)
    np.put_along_axis(powers, top, 0, dim)
    want = below - np.log1p(powers.sum(axis=dim, keepdims=True))
    with load_vendor(library) as vendor:
        out = vendor.empty(shape, dtype=dtype)
        vendor.call("diopiLogSoftmax", out, vendor.tensor(x), dim)
        error = np.abs(out.numpy() - want)
    assert float((error / np.abs(want)).max()) < 8 * np.finfo(dtype).eps


def test_host_cannot_read_the_device(library: Path) -> None:
    script = (
        "import sys, numpy as np, cffi\n"
        "from diopi_proto import load_vendor\n"
        "vendor = load_vendor(sys.argv[1])\n"
        "tensor = vendor.tensor(np.ones(3, np.float32))\n"
        "print('ready', flush=True)\n"
        "cffi.FFI().cast('float *', tensor.storage.address)[0]\n"
        "print('read')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(library)], capture_output=True, text=True, check=False
    )
    assert done.stdout == "ready\n"
    assert done.returncode < 0
