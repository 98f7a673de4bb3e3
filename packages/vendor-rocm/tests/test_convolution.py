"""Tests of convolutions by a library: a fake MIOpen, which checks every descriptor."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from extension_tests.simulated_vendor import SimulatedVendor
from library_tests import convolving as shared
from library_tests.convolving import PRELUDE, TWICE, compare_with_own_kernels, fail_convolution
from library_tests.vendor import LibraryVendor

from conftest import long

test_torch_trains_with_the_library = long(shared.test_torch_trains_with_the_library)


@pytest.fixture
def convolving(
    simulated_vendor: SimulatedVendor, fake_library: Callable[[str], str], tmp_path: Path
) -> LibraryVendor:
    library = fake_library("miopen")
    return LibraryVendor.of(simulated_vendor, "miopen", "run", library, tmp_path / "calls")


@long
def test_results_are_those_of_our_own_kernels(convolving: LibraryVendor, tmp_path: Path) -> None:
    done = compare_with_own_kernels(convolving, tmp_path)
    # This solution is precise.
    assert all(line.endswith("solution 40") for line in done)


def test_layouts_are_inferred_from_all_tensors(convolving: LibraryVendor) -> None:
    """The stride of a dimension of size 1 does not determine the layout; the other tensors do.

    Tensors with another layout than the result are copied.
    """
    code = """
    for layouts in ("dense",) * 2, ("channels last",) * 2, ("channels last", "dense"):
        x, w = numbers(1, 2, 3, 3, layout=layouts[0]), numbers(2, 2, 3, 3, layout=layouts[1])
        out = like(numbers(1, 2, 1, 1))
        vendor.op.Convolution2d(out, there(x), there(w), None, [1, 1], [0, 0], [1, 1], 1)
        wanted = np.einsum("ncyx,fcyx->nf", x, w)[..., None, None]
        np.testing.assert_array_equal(out.numpy(), wanted)
    """
    convolving.run_on_vendor(PRELUDE + code)
    strides = [line.split(" strides ")[1].split()[0] for line in convolving.done]
    assert strides == ["2x1x1x1", "2x1x2x2", "2x1x2x2"]


def test_windows_without_a_matching_padding_use_our_own_kernels(convolving: LibraryVendor) -> None:
    """A transposed convolution may have fewer windows than fit."""
    code = """
    y, w = numbers(1, 2, 3, 3), numbers(2, 1, 2, 2)
    for stride, dilation, more in (2, 1, 0), (2, 1, 1), (1, 2, 1):
        size = 2 * stride + dilation + 1 + more
        out = like(numbers(1, 1, size, size))
        lists = [stride] * 2, [0, 0], [more] * 2
        vendor.op.ConvTranspose2d(out, there(y), there(w), None, *lists, 1, [dilation] * 2)
        wanted = np.zeros(out.shape, np.float32)
        for i, j, a, b in np.ndindex(3, 3, 2, 2):
            at = stride * i + dilation * a, stride * j + dilation * b
            wanted[0, 0][at] += y[0, :, i, j] @ w[:, 0, a, b]
        np.testing.assert_array_equal(out.numpy(), wanted)
    """
    convolving.run_on_vendor(PRELUDE + code)
    assert [line.split(" 32f ")[0] for line in convolving.done] == ["input gradient"] * 2


@long
def test_solutions_are_queried_once_per_device_and_thread(convolving: LibraryVendor) -> None:
    code = """
    import os, threading
    x, w = numbers(1, 2, 4, 4), numbers(2, 2, 3, 3)
    def on(device, bias=None, padding=0):
        size = 2 + 2 * padding
        out = vendor.empty((1, 2, size, size), device=device)
        given = [None if a is None else vendor.tensor(a, device=device) for a in (x, w, bias)]
        vendor.op.Convolution2d(out, *given, [1, 1], [padding] * 2, [1, 1], 1)
        return out.numpy()
    for _ in range(3):
        first = on(0)
    on(0, padding=1)
    bias = numbers(2)
    # A kernel of our own adds the bias afterwards.
    np.testing.assert_array_equal(on(0, bias), first + bias[:, None, None])
    np.testing.assert_array_equal(on(1), first)
    for _ in range(2):
        thread = threading.Thread(target=on, args=(0,))
        before = len(os.listdir("/proc/self/task"))
        thread.start()
        thread.join()
        # When Python's thread has ended, the system's may still exist.
        while len(os.listdir("/proc/self/task")) > before:
            pass
    """
    convolving.with_devices(2).run_on_vendor(PRELUDE + code)
    # The second thread reuses the entry that the first one left.
    assert convolving.calls.count("miopenCreate") == 3
    assert convolving.calls.count("count forward") == convolving.calls.count("compile 40") == 4
    assert len(convolving.done) == 8


ASKED = ["miopenCreate", "count forward"]


@pytest.mark.parametrize(
    ("variables", "asked"),
    [
        pytest.param({"DL_ROCM_LIBRARIES": "off"}, [], marks=long),
        pytest.param({"DL_ROCM_MIOPEN": "off"}, [], marks=long),
        pytest.param({"DL_ROCM_MIOPEN": "/nowhere/libMIOpen.so.1"}, [], marks=long),
        pytest.param({"FAKE_MIOPEN_FAIL": "miopenCreate:5"}, ["miopenCreate"], marks=long),
        pytest.param(
            {"FAKE_MIOPEN_FAIL": "miopenCreateConvolutionDescriptor:4"},
            ["miopenCreate"],
            marks=long,
        ),
        # MIOpen does not report which solutions are deterministic.
        ({"FAKE_MIOPEN_FAIL": "attribute 1:3"}, ["miopenCreate"]),
        pytest.param({"FAKE_MIOPEN_FAIL": "count:6"}, ASKED, marks=long),
        pytest.param({"FAKE_MIOPEN_FAIL": "solutions:5"}, ASKED, marks=long),
        pytest.param(
            {"FAKE_MIOPEN_FAIL": "compile 40:5,compile 50:7"},
            [*ASKED, "compile 40", "compile 50"],
            marks=long,
        ),
        ({"FAKE_MIOPEN_FAIL": "run 40:8"}, [*ASKED, "compile 40", "failed"]),
        # A lack of memory may be temporary.
        pytest.param(
            {"FAKE_MIOPEN_FAIL": "run 40:4"}, [*ASKED, "compile 40", "failed", "failed"], marks=long
        ),
    ],
)
def test_our_own_kernels_run_declined_convolutions(
    convolving: LibraryVendor, variables: dict[str, str], asked: list[str]
) -> None:
    """The library is queried once, although the convolution runs twice."""
    convolving.with_variables(**variables).run_on_vendor(PRELUDE + TWICE)
    assert convolving.calls == asked


@long
@pytest.mark.parametrize("failing", ["compile 40:5", "attribute 3:3,compile 40:5"])
def test_a_solution_that_does_not_compile_is_skipped(
    convolving: LibraryVendor, failing: str
) -> None:
    """A release without math modes computes as precisely."""
    convolving.failing(failing).run_on_vendor(PRELUDE + TWICE)
    assert [line[-11:] for line in convolving.done] == ["solution 50"] * 2


@long
def test_convolutions_do_not_wait(convolving: LibraryVendor) -> None:
    """Only the fake waits: it reads three tensors and writes one."""
    code = f"""
    import cffi, gc
    ffi = cffi.FFI()
    ffi.cdef("unsigned long long fake_hip_waits();")
    fake = ffi.dlopen({convolving.variables["DL_ROCM_DRIVER"]!r})
    gc.disable()
    x, w, bias = there(numbers(1, 2, 4, 4)), there(numbers(2, 2, 3, 3)), there(numbers(2))
    outs = [vendor.empty((1, 2, 2, 2)), vendor.empty((1, 2, 4, 4)), vendor.empty((2, 2, 3, 3))]
    lists = [1, 1], [0, 0], [1, 1], 1
    before = fake.fake_hip_waits()
    # Scratch memory is freed with the state that a call keeps.
    kept = [
        vendor.op.Convolution2d(outs[0], x, w, bias, *lists, synchronize=False),
        vendor.op.Convolution2dBackward(
            *outs[1:], None, outs[0], x, w, None, *lists, synchronize=False
        ),
    ]
    print(fake.fake_hip_waits() - before)
    """
    assert convolving.run_on_vendor(PRELUDE + code) == "12\n"
    assert len(convolving.done) == 3


@long
def test_a_failure_names_its_cause(convolving: LibraryVendor) -> None:
    output = fail_convolution(convolving.failing("run 40:7"))
    assert "miopenStatusOfTheFake (7)" in output


@long
def test_the_fake_detects_wrong_arguments(convolving: LibraryVendor, tmp_path: Path) -> None:
    code = """
    import os, cffi
    ffi = cffi.FFI()
    ffi.cdef('''
    int miopenCreateTensorDescriptor(void**);
    int miopenSetTensorDescriptor(void*, int, int, int*, int*);
    int miopenCreateConvolutionDescriptor(void**);
    int miopenInitConvolutionNdDescriptor(void*, int, int*, int*, int*, int);
    int miopenCreate(void**);
    int miopenConvolutionForwardGetSolutionCount(void*, void*, void*, void*, void*, size_t*);
    ''')
    mi = ffi.dlopen(os.environ["DL_ROCM_MIOPEN"])
    wrong = os.environ["WRONG"]
    def made(create):
        to = ffi.new("void **")
        assert create(to) == 0
        return to[0]
    def tensor(*sizes, type=1):
        strides = np.cumprod((1, *sizes[:0:-1]))[::-1].tolist()
        if wrong == "order" and sizes[1] == 3:
            strides[1], strides[2] = 1, 3
        one = made(mi.miopenCreateTensorDescriptor)
        assert mi.miopenSetTensorDescriptor(one, type, len(sizes), list(sizes), strides) == 0
        return one
    convolution = made(mi.miopenCreateConvolutionDescriptor)
    windows = [1, 1] if wrong == "windows" else [0, 0]
    mode = 1 if wrong == "mode" else 0
    mi.miopenInitConvolutionNdDescriptor(convolution, 2, windows, [1, 1], [1, 1], mode)
    x, w, y = tensor(2, 3, 5, 5), tensor(4, 3, 3, 3), tensor(2, 4, 3, 3)
    if wrong == "swapped":
        x, w = w, x
    count = ffi.new("size_t *")
    handle = made(mi.miopenCreate)
    status = mi.miopenConvolutionForwardGetSolutionCount(handle, w, x, convolution, y, count)
    print(status, count[0])
    """
    # One solution more than the deterministic ones, and two because the count is an upper bound.
    assert convolving.with_variables(WRONG="").run_on_vendor(code) == "0 8\n"
    for wrong, words in {
        "order": "tensors with different layouts",
        "windows": "a wrong number of windows",
        "mode": "an unknown mode",
        "swapped": "sizes that do not match",
    }.items():
        with pytest.raises(AssertionError, match=words):
            convolving.with_variables(WRONG=wrong).run_on_vendor(code)
