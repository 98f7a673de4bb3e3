"""Tests of the checks of the fake CNNL: each mistake of a caller that a device would not report."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Sequence
from ctypes import byref, c_float, c_int, c_size_t, c_void_p
from pathlib import Path

import pytest
from cambricon.operators.build import build_operators
from cambricon.runtime.build import build_runtime
from structures import find_meanings

FLOAT, ARRAY = 2, 4
MISUSE, BAD_PARAM, NOT_SUPPORTED = 6, 3, 7
HIGH_PRECISION = 71
FAKES = Path(__file__).parent / "fakes"


class Library:
    """The fake CNRT and CNNL, with a handle that is bound to the default queue."""

    def __init__(self, folder: Path) -> None:
        self.runtime = ctypes.CDLL(str(folder / "lib64" / "libcnrt.so"), mode=ctypes.RTLD_GLOBAL)
        self.operators = ctypes.CDLL(str(folder / "lib64" / "libcnnl.so"))
        self.operators.fakeCnnlCount.restype = c_size_t
        self.handle = self.create_handle()
        assert self.operators.cnnlSetQueue(self.handle, None) == 0

    def create_handle(self) -> c_void_p:
        handle = c_void_p()
        assert self.operators.cnnlCreate(byref(handle)) == 0
        return handle

    def misuses(self) -> int:
        return int(self.operators.fakeCnnlCount(b"misuses"))

    def memory(self, values: Sequence[float]) -> c_void_p:
        """Return device memory with float32 elements."""
        memory, host = c_void_p(), (c_float * len(values))(*values)
        assert self.runtime.cnrtMalloc(byref(memory), c_size_t(4 * len(values))) == 0
        self.copy(memory, ctypes.addressof(host), 4 * len(values), 0)
        return memory

    def copy(self, to: object, source: object, size: int, direction: int) -> None:
        arguments = (c_void_p(_address(to)), c_void_p(_address(source)), c_size_t(size))
        assert self.runtime.cnrtMemcpyAsync_V2(*arguments, None, direction) == 0
        assert self.runtime.cnrtSyncDevice() == 0

    def read(self, memory: c_void_p, count: int) -> list[float]:
        host = (c_float * count)()
        self.copy(ctypes.addressof(host), memory, 4 * count, 2)
        return list(host)

    def descriptor(
        self, size: int, stride: int = 1, dtype: int = FLOAT, layout: int = ARRAY
    ) -> c_void_p:
        desc = c_void_p()
        assert self.operators.cnnlCreateTensorDescriptor(byref(desc)) == 0
        sizes, strides = (c_int * 1)(size), (c_int * 1)(stride)
        arguments = (desc, layout, dtype, 1, sizes, strides)
        assert self.operators.cnnlSetTensorDescriptorEx(*arguments) == 0
        return desc

    def abs(self, handle: c_void_p, *arguments: c_void_p) -> int:
        return int(self.operators.cnnlAbs(handle, *arguments))


def _address(value: object) -> int | None:
    return value.value if isinstance(value, c_void_p) else int(str(value))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cambricon")
    return build_operators(folder, runtime=build_runtime(folder / "lib64"))


@pytest.fixture
def library(built: Path, monkeypatch: pytest.MonkeyPatch) -> Library:
    from dl_vendor_cpu.plugin import dl_vendor

    monkeypatch.setenv("FAKE_ENGINE", str(dl_vendor().library))
    return Library(built)


def test_a_correct_call_computes(library: Library) -> None:
    before = library.misuses()
    desc, x, y = library.descriptor(3), library.memory([-1, 2, -3]), library.memory([0, 0, 0])
    assert library.abs(library.handle, desc, x, desc, y) == 0
    assert library.read(y, 3) == [1, 2, 3]
    assert library.misuses() == before


def a_dead_handle(library: Library, desc: c_void_p, x: c_void_p, y: c_void_p) -> int:
    return library.abs(x, desc, x, desc, y)


def a_handle_without_a_queue(library: Library, desc: c_void_p, x: c_void_p, y: c_void_p) -> int:
    return library.abs(library.create_handle(), desc, x, desc, y)


def a_host_pointer(library: Library, desc: c_void_p, x: c_void_p, y: c_void_p) -> int:
    host = (c_float * 3)()
    return library.abs(library.handle, desc, c_void_p(ctypes.addressof(host)), desc, y)


def a_dead_descriptor(library: Library, desc: c_void_p, x: c_void_p, y: c_void_p) -> int:
    gone = library.descriptor(3)
    assert library.operators.cnnlDestroyTensorDescriptor(gone) == 0
    return library.abs(library.handle, gone, x, desc, y)


def a_descriptor_beyond_the_memory(
    library: Library, desc: c_void_p, x: c_void_p, y: c_void_p
) -> int:
    large = library.descriptor(4)
    return library.abs(library.handle, large, x, large, y)


def strides_where_none_are_documented(
    library: Library, desc: c_void_p, x: c_void_p, y: c_void_p
) -> int:
    apart, two = library.descriptor(2, stride=2), library.descriptor(2)
    return library.abs(library.handle, apart, x, two, y)


def an_output_that_overlaps_an_input(
    library: Library, desc: c_void_p, x: c_void_p, y: c_void_p
) -> int:
    two = library.descriptor(2)
    return library.abs(library.handle, two, x, two, c_void_p((x.value or 0) + 4))


def divide(library: Library, desc: c_void_p, x: c_void_p, y: c_void_p, size: int) -> int:
    workspace = library.memory([0] * 1000)
    arguments = (library.handle, HIGH_PRECISION, desc, x, desc, x, workspace, c_size_t(size))
    return int(library.operators.cnnlDiv_v2(*arguments, desc, y))


def workspace_of(library: Library, desc: c_void_p) -> int:
    size = c_size_t()
    arguments = (library.handle, desc, desc, desc, byref(size))
    assert library.operators.cnnlGetDivWorkspaceSize(*arguments) == 0
    assert size.value % 2 == 1
    return size.value


def a_rounded_workspace(library: Library, desc: c_void_p, x: c_void_p, y: c_void_p) -> int:
    return divide(library, desc, x, y, workspace_of(library, desc) + 1)


def a_workspace_for_other_tensors(
    library: Library, desc: c_void_p, x: c_void_p, y: c_void_p
) -> int:
    size = workspace_of(library, library.descriptor(2))
    return divide(library, desc, x, y, size)


MISTAKES: list[Callable[[Library, c_void_p, c_void_p, c_void_p], int]] = [
    a_dead_handle,
    a_handle_without_a_queue,
    a_host_pointer,
    a_dead_descriptor,
    a_descriptor_beyond_the_memory,
    strides_where_none_are_documented,
    an_output_that_overlaps_an_input,
    a_rounded_workspace,
    a_workspace_for_other_tensors,
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.__name__)
def test_misuse_is_reported(
    library: Library,
    mistake: Callable[[Library, c_void_p, c_void_p, c_void_p], int],
    capfd: pytest.CaptureFixture[str],
) -> None:
    before = library.misuses()
    desc, x, y = library.descriptor(3), library.memory([-1, 2, -3]), library.memory([0, 0, 0])
    assert mistake(library, desc, x, y) == MISUSE
    assert library.misuses() == before + 1
    assert "simulated CNNL: misuse: " in capfd.readouterr().err


def test_the_workspace_of_a_call_is_the_sized_one(library: Library) -> None:
    desc, x, y = library.descriptor(3), library.memory([-1, 2, -3]), library.memory([0, 0, 0])
    assert divide(library, desc, x, y, workspace_of(library, desc)) == 0
    assert library.read(y, 3) == [1, 1, 1]


USE_BETA, ALLOW_TF32, TRANSB, TRANSA, COMPUTE_TYPE = range(160, 165)


class Product:
    """A product of 2 x 2 matrices with the algorithm that the library chooses for it."""

    def __init__(self, library: Library, use_beta: int) -> None:
        self.library = library
        self.descriptor, self.algorithm = c_void_p(), c_void_p()
        operators = library.operators
        assert operators.cnnlMatMulDescCreate(byref(self.descriptor)) == 0
        attributes = {USE_BETA: use_beta, COMPUTE_TYPE: FLOAT}
        for attribute in (ALLOW_TF32, TRANSB, TRANSA):
            attributes[attribute] = 0
        for attribute, number in attributes.items():
            arguments = (self.descriptor, attribute, byref(c_int(number)), c_size_t(4))
            assert operators.cnnlSetMatMulDescAttr(*arguments) == 0
        self.matrix = c_void_p()
        assert operators.cnnlCreateTensorDescriptor(byref(self.matrix)) == 0
        sizes, strides = (c_int * 2)(2, 2), (c_int * 2)(2, 1)
        arguments = (self.matrix, ARRAY, FLOAT, 2, sizes, strides)
        assert operators.cnnlSetTensorDescriptorEx(*arguments) == 0
        result, found, self.bytes = c_void_p(), c_int(), c_size_t()
        assert operators.cnnlMatMulAlgoCreate(byref(self.algorithm)) == 0
        assert operators.cnnlCreateMatMulHeuristicResult(byref(result)) == 0
        arguments = (library.handle, self.descriptor, *[self.matrix] * 4, None, 1)
        assert operators.cnnlGetMatMulAlgoHeuristic(*arguments, byref(result), byref(found)) == 0
        arguments = (result, self.algorithm, byref(self.bytes))
        assert operators.cnnlGetMatMulHeuristicResult(*arguments) == 0

    def compute(self, algorithm: c_void_p, a: c_void_p, d: c_void_p) -> int:
        """Square a matrix."""
        one, zero = (c_float * 2)(1), (c_float * 2)(0)
        workspace = self.library.memory([0] * 1000)
        arguments = (self.library.handle, self.descriptor, algorithm, one, self.matrix, a)
        more = (self.matrix, a, zero, self.matrix, a, workspace, self.bytes, self.matrix, d)
        return int(self.library.operators.cnnlMatMul_v2(*arguments, *more))


def test_the_algorithm_of_a_product_is_that_of_its_descriptor(library: Library) -> None:
    before = library.misuses()
    product, other = Product(library, use_beta=0), Product(library, use_beta=1)
    a, d = library.memory([1, 2, 3, 4]), library.memory([0] * 4)
    assert product.compute(product.algorithm, a, d) == 0
    assert library.read(d, 4) == [7, 10, 15, 22]
    assert library.misuses() == before
    assert product.compute(other.algorithm, a, d) == MISUSE
    assert library.misuses() == before + 1


def test_algorithms_of_products_are_those_of_matrices(library: Library) -> None:
    product, vector = Product(library, use_beta=0), library.descriptor(2)
    result, found = c_void_p(), c_int()
    assert library.operators.cnnlCreateMatMulHeuristicResult(byref(result)) == 0
    arguments = (library.handle, product.descriptor, vector, *[product.matrix] * 3, None, 1)
    choose = library.operators.cnnlGetMatMulAlgoHeuristic
    assert choose(*arguments, byref(result), byref(found)) == BAD_PARAM
    # Batches have a dimension more.
    arguments = (library.handle, product.descriptor, *[product.matrix] * 3, None, 1)
    choose = library.operators.cnnlGetBatchMatMulAlgoHeuristic
    assert choose(*arguments, byref(result), byref(found)) == BAD_PARAM


def test_unsupported_arguments_are_refused(library: Library) -> None:
    before = library.misuses()
    desc, x, y = library.descriptor(3), library.memory([-1, 2, -3]), library.memory([0, 0, 0])
    integers = library.descriptor(3, dtype=8)
    assert library.abs(library.handle, integers, x, integers, y) == NOT_SUPPORTED
    assert library.abs(library.handle, library.descriptor(2), x, desc, y) == BAD_PARAM
    assert library.misuses() == before


def test_failures_are_injected(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    desc, x, y = library.descriptor(3), library.memory([-1, 2, -3]), library.memory([0, 0, 0])
    monkeypatch.setenv("FAKE_CNNL_FAIL", "cnnlAbs:7,cnnlFloor@queue:100132")
    assert library.abs(library.handle, desc, x, desc, y) == NOT_SUPPORTED
    assert library.operators.cnnlFloor(library.handle, desc, x, desc, y) == 0
    assert library.runtime.cnrtSyncDevice() == 100132


def test_every_function_that_operators_call_has_a_meaning() -> None:
    """Without a meaning, the fake refuses a call, and the host computes it unnoticed."""
    operators = FAKES.parents[2] / "vendor-cambricon" / "library" / "operators"
    called = {
        name
        for path in operators.glob("*.yaml")
        for name in re.findall(r"\bcnnl(\w+)\(", path.read_text(encoding="utf-8"))
        if not name.endswith(("WorkspaceSize", "WorkspaceSize_v2"))
    }
    assert called - find_meanings(FAKES / "cambricon" / "meaning") == set()


def test_the_meanings_are_independent_of_the_operators() -> None:
    """Only names and types are common to the fake and the description of the operators."""
    words = ("library/operators", "vendor_cambricon", ".yaml")
    for folder in ("meaning", "operators"):
        for path in (FAKES / "cambricon" / folder).iterdir():
            if path.suffix in (".cpp", ".h", ".py"):
                text = path.read_text(encoding="utf-8")
                assert not [word for word in words if word in text], path.name
    table = (FAKES / "cambricon" / "generated" / "functions.gen.cpp").read_text(encoding="utf-8")
    assert "diopi" not in table and "dlop" not in table
