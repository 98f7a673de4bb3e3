"""Libraries in DIOPI's own style, compiled without this package's build rules."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import diopi_proto
from diopi_proto import (
    NotSupportedError,
    OperatorError,
    OperatorNotBoundError,
    Vendor,
    VendorLoadError,
    load_vendor,
    probe_library,
)
from diopi_proto.loading import load_runtime

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture(scope="session")
def make(tmp_path_factory: pytest.TempPathFactory, runtime: Path) -> Callable[..., Path]:
    root = tmp_path_factory.mktemp("legacy")

    def compiled(number: int, weak: bool = False) -> Path:
        path = root / f"{number}-{weak}" / "libdiopi_impl.so"
        if not path.exists():
            path.parent.mkdir()
            subprocess.run(
                [
                    *("gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror"),
                    *(f"-DFIXTURE_NUMBER={number}", f"-DFIXTURE_WEAK={int(weak)}"),
                    *(f"-I{diopi_proto.include_dir()}", str(FIXTURES / "legacy.c")),
                    *("-Wl,-soname,libdiopi_impl.so", "-o", str(path)),
                ],
                check=True,
            )
        return path

    return compiled


@pytest.fixture(params=[False, True], ids=["strong", "weak"])
def old(make: Callable[..., Path], request: pytest.FixtureRequest) -> Iterator[Vendor]:
    with load_vendor(make(3, request.param), legacy=True) as loaded:
        yield loaded


def test_it_is_one_device_of_host_memory(old: Vendor) -> None:
    assert (old.name, old.version, old.is_legacy) == ("legacy3", "0.9", True)
    assert old.device_count == 1
    assert old.host_accessible
    assert old.synchronous
    assert old.accepts_any_host_pointer
    assert old.properties().name == "legacy3"
    assert old.stream().query() and old.event().query()
    with pytest.raises(NotSupportedError, match="legacy vendor legacy3"):
        old.memory_info()


def test_operators_are_found_by_name(old: Vendor) -> None:
    bound = {name for name, there in old.operators.items() if there}
    assert bound == {"diopiZeroInp", "diopiFill", "diopiNonzero", "diopiNeg", "diopiRelu"}
    tensor = old.empty((4,))
    with pytest.raises(OperatorNotBoundError, match="legacy3 does not implement"):
        old.op.Exp(tensor, tensor)


def test_operators_run_and_require_tensors(old: Vendor) -> None:
    array = np.zeros(4, np.float32)
    old.op.Fill(old.tensor(array, copy=False), 0)
    assert array.tolist() == [3, 3, 3, 3]
    found = old.op.Nonzero(old.tensor(array))
    assert found.numpy().tolist() == [[3], [3], [3]]


def test_functions_without_a_context_know_the_call(old: Vendor) -> None:
    tensor = old.tensor(np.full(2, 9, np.float32))
    old.op.Neg(tensor, tensor)
    assert tensor.numpy().tolist() == [0, 0]
    runtime = load_runtime()
    null = diopi_proto.ffi.NULL
    assert runtime.diopirt_set_current_context(null) == null  # nothing is left behind


def test_errors_carry_the_librarys_words(old: Vendor) -> None:
    tensor = old.empty((1,))
    with pytest.raises(OperatorError, match="relu of 3 is broken") as caught:
        old.op.Relu(tensor, tensor)
    assert caught.value.code == 13


def test_libraries_with_one_soname_and_the_same_symbols_stay_apart(
    make: Callable[..., Path],
) -> None:
    with load_vendor(make(3), legacy=True) as three, load_vendor(make(5), legacy=True) as five:
        for vendor, number in ((three, 3), (five, 5), (three, 3)):
            tensor = vendor.empty((2,))
            vendor.op.Fill(tensor, 0)
            assert tensor.numpy().tolist() == [number, number]
            assert vendor.op.Nonzero(tensor).shape == (number, 1)
            with pytest.raises(OperatorError, match=f"relu of {number} is broken"):
                vendor.op.Relu(tensor, tensor)


def test_a_legacy_library_lives_beside_a_modern_one(old: Vendor, vendor: Vendor) -> None:
    ours, theirs = vendor.empty((2,)), old.empty((2,))
    vendor.op.Fill(ours, 8)
    old.op.Fill(theirs, 8)
    assert (ours.numpy().tolist(), theirs.numpy().tolist()) == ([8, 8], [3, 3])


def test_a_legacy_library_needs_the_flag(make: Callable[..., Path]) -> None:
    with pytest.raises(VendorLoadError, match="load it with legacy=True"):
        load_vendor(make(3))


def test_the_runtime_is_loaded_for_legacy_libraries_only(library: Path, runtime: Path) -> None:
    source = str(Path(diopi_proto.__file__).parents[1])
    script = (
        "import sys\n"
        "from diopi_proto import load_vendor\n"
        "load_vendor(sys.argv[1])\n"
        "print('libdiopirt' in open('/proc/self/maps').read())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(library)],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": source},
    )
    assert done.stdout.strip() == "False"


def test_a_missing_runtime_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(VendorLoadError, match="build_ext --inplace"):
        load_runtime(tmp_path / "libdiopirt.so.1")


def test_a_legacy_library_can_be_probed(make: Callable[..., Path]) -> None:
    if diopi_proto.runtime_library().is_file():
        assert probe_library(make(3), legacy=True).ok
    else:
        assert "build_ext --inplace" in probe_library(make(3), legacy=True).message
