"""The GPU path of the kernels, run on an emulated GPU.

The numeric tests of the CPU vendor judge it: the same operators, from the same bodies, must give
results within the same bounds on threads that run in random order and share nothing but what
barriers promise. Memory of the device is closed to the host, so an operator that reads it there
does not survive.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from diopi_proto import load_vendor
from dl_kernels import include_dir
from emulated import (
    COMPILER,
    EMULATION,
    build_vendor,
    compile_object,
    families,
    missing_compiler,
)

NUMERIC_TESTS = Path(__file__).parents[2] / "vendor-cpu" / "tests"
WHY_NOT = missing_compiler()
needs_compiler = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))
HEADERS = include_dir() / "dl_kernels"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The vendor of the emulated GPU: DL_TEST_EMULATED_GPU, or built here."""
    if given := os.environ.get("DL_TEST_EMULATED_GPU"):
        return Path(given)
    return build_vendor(tmp_path_factory.mktemp("emulated"))


def operators_of(family: Path) -> list[str]:
    _, _, listed = family.read_text(encoding="utf-8").partition("// clang-format off")
    return re.findall(r"X\(((?:diopi|dlop)\w+)\)", listed)


@needs_compiler
def test_every_operator_is_there(library: Path) -> None:
    wanted = {name for family in families() for name in operators_of(family)}
    with load_vendor(library) as vendor:
        assert {name for name in wanted if not vendor.operators[name]} == set()
        assert not vendor.host_accessible


@needs_compiler
def test_numeric_tests_of_the_cpu_vendor_pass(library: Path) -> None:
    if not NUMERIC_TESTS.is_dir():
        pytest.skip(f"the CPU vendor's tests are not at {NUMERIC_TESTS}")
    environment = {
        **os.environ,
        "DL_TEST_LIBRARY": str(library),
        "PYTHONPATH": os.pathsep.join(
            [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
        ),
    }
    # These are about the CPU vendor's own libraries and its threads.
    own = {
        "test_diopi_impl.py",
        "test_libraries.py",
        "test_library.py",
        "test_plugin.py",
        "test_runtime.py",
    }
    command = [sys.executable, "-X", "faulthandler", "-m", "pytest", "-q"]
    command += ["-p", "share_of_tests"]
    files = sorted(str(path) for path in NUMERIC_TESTS.glob("test_*.py") if path.name not in own)

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
    assert passed > 1000


@needs_compiler
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


@needs_compiler
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


def barriers(header: str) -> list[int]:
    """Positions of the barriers in a header's text."""
    text = (HEADERS / header).read_text(encoding="utf-8")
    return [match.start() for match in re.finditer(r"\b(?:gpu::)?barrier\(\);", text)]


CASES = [
    (header, at)
    for header in ("gpu/block.h", "gpu/gemm.h", "gpu/sort.h", "gpu/tiles.h")
    for at in range(len(barriers(header)))
]


@needs_compiler
def test_atomic_changes_do_not_get_lost(tmp_path: Path) -> None:
    compile_object(EMULATION / "check" / "atomics.cpp", tmp_path / "atomics.o", "-pthread")
    program = tmp_path / "atomics"
    link = [*COMPILER, "-pthread", "-o", str(program), str(tmp_path / "atomics.o")]
    subprocess.run(link, check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def build_collectives(folder: Path) -> Path:
    """A program that compares every collective of a block with a loop."""
    flags = (f"-I{folder / 'mutated'}",)
    objects = []
    for source in (EMULATION / "check" / "collectives.cpp", *sorted(EMULATION.glob("*.cpp"))):
        if source.stem == "vendor":
            continue
        objects.append(folder / f"{source.stem}.o")
        compile_object(source, objects[-1], *flags)
    program = folder / "collectives"
    subprocess.run([*COMPILER, "-o", str(program), *map(str, objects)], check=True)
    return program


@needs_compiler
def test_collectives_agree_with_loops(tmp_path: Path) -> None:
    program = build_collectives(tmp_path)
    for seed in range(5):
        done = subprocess.run(
            [str(program)],
            env={"DL_EMULATION_SEED": str(seed)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@needs_compiler
@pytest.mark.parametrize(("header", "at"), CASES)
def test_a_missing_barrier_is_noticed(header: str, at: int, tmp_path: Path) -> None:
    text = (HEADERS / header).read_text(encoding="utf-8")
    position = barriers(header)[at]
    mutated = tmp_path / "mutated" / "dl_kernels" / header
    mutated.parent.mkdir(parents=True)
    mutated.write_text(text[:position] + ";" + text[text.index(";", position) + 1 :], "utf-8")
    program = build_collectives(tmp_path)
    codes = [
        subprocess.run(
            [str(program)],
            env={"DL_EMULATION_SEED": str(seed)},
            capture_output=True,
            check=False,
        ).returncode
        for seed in range(5)
    ]
    assert any(code != 0 for code in codes), f"barrier {at} of {header} is not needed"
