"""Tests of convolutions by a library: a fake MIOpen, which checks every descriptor."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from library_tests.convolving import EACH_WAY, KINDS, PRELUDE, RUNS, SHAPES
from library_tests.products import Calls

from conftest import long
from processes import compile_library, run, run_on_vendor


@pytest.fixture(scope="module")
def fake_miopen(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(compile_library("miopen", tmp_path_factory.mktemp("miopen")))


@pytest.fixture
def settings(simulated: dict[str, str], fake_miopen: str, tmp_path: Path) -> Calls:
    return Calls(
        "FAKE_MIOPEN_CALLS",
        "run",
        **simulated,
        DL_ROCM_MIOPEN=fake_miopen,
        FAKE_MIOPEN_CALLS=str(tmp_path / "calls"),
    )


@long
def test_results_are_those_of_our_own_kernels(settings: Calls, tmp_path: Path) -> None:
    code = EACH_WAY.replace("SHAPES", repr(SHAPES)).replace("KINDS", repr(KINDS))
    found = []
    for by, variables in ("library", {}), ("kernels", {"DL_ROCM_LIBRARIES": "off"}):
        path = tmp_path / f"{by}.npz"
        run_on_vendor(PRELUDE + code.replace("PATH", repr(str(path))), **settings, **variables)
        found.append(np.load(path))
    assert found[0].files == found[1].files
    for name in found[0].files:
        np.testing.assert_array_equal(found[0][name], found[1][name], err_msg=name)

    # The library ran every convolution on a precise solution, five for each shape and kind, except
    # half precision results with a bias.
    halves = sum(dtype.endswith("float16") for dtype, _ in KINDS) * 3
    forward = sum(line.startswith("forward") for line in settings.done)
    assert (forward, len(settings.done)) == (2 * RUNS - halves, 5 * RUNS - halves)
    assert sum(line.startswith("input gradient") for line in settings.done) == 2 * RUNS
    assert all(line.endswith("solution 40") for line in settings.done)


def test_layouts_are_inferred_from_all_tensors(settings: Calls) -> None:
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
    run_on_vendor(PRELUDE + code, **settings)
    strides = [line.split(" strides ")[1].split()[0] for line in settings.done]
    assert strides == ["2x1x1x1", "2x1x2x2", "2x1x2x2"]


def test_windows_without_a_matching_padding_use_our_own_kernels(settings: Calls) -> None:
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
    run_on_vendor(PRELUDE + code, **settings)
    assert [line.split(" 32f ")[0] for line in settings.done] == ["input gradient"] * 2


@long
def test_solutions_are_queried_once_per_device_and_thread(settings: Calls) -> None:
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
    run_on_vendor(PRELUDE + code, **settings, FAKE_HIP_DEVICES="gfx90a,gfx1030")
    # The second thread reuses the entry that the first one left.
    assert settings.calls.count("miopenCreate") == 3
    assert settings.calls.count("count forward") == settings.calls.count("compile 40") == 4
    assert len(settings.done) == 8


TWICE = """
    x, w = numbers(2, 3, 5, 5), numbers(4, 3, 3, 3)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
    for _ in range(2):
        out = convolve(there(x), there(w)).numpy()
        np.testing.assert_array_equal(out, np.einsum("ncyxab,fcab->nfyx", windows, w))
"""
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
        # It is unknown which solutions are deterministic.
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
    settings: Calls, variables: dict[str, str], asked: list[str]
) -> None:
    """The library is queried once, although the convolution runs twice."""
    run_on_vendor(PRELUDE + TWICE, **{**settings, **variables})
    assert settings.calls == asked


@long
@pytest.mark.parametrize("failing", ["compile 40:5", "attribute 3:3,compile 40:5"])
def test_a_solution_that_does_not_compile_is_skipped(settings: Calls, failing: str) -> None:
    """A release without math modes computes as precisely."""
    run_on_vendor(PRELUDE + TWICE, **settings, FAKE_MIOPEN_FAIL=failing)
    assert [line[-11:] for line in settings.done] == ["solution 50"] * 2


@long
def test_convolutions_do_not_wait(settings: Calls) -> None:
    """Only the fake waits: it reads three tensors and writes one."""
    code = f"""
    import cffi, gc
    ffi = cffi.FFI()
    ffi.cdef("unsigned long long fake_hip_waits();")
    fake = ffi.dlopen({settings["DL_ROCM_DRIVER"]!r})
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
    assert run_on_vendor(PRELUDE + code, **settings) == "12\n"
    assert len(settings.done) == 3


@long
def test_a_failure_names_its_cause(settings: Calls) -> None:
    code = """
    x, w = there(numbers(1, 2, 4, 4)), there(numbers(2, 2, 3, 3))
    try:
        convolve(x, w)
    except OperatorError as error:
        print(error)
    """
    output = run_on_vendor(PRELUDE + code, **settings, FAKE_MIOPEN_FAIL="run 40:7")
    assert "[diopiConvolution2d]" in output
    assert "miopenStatusOfTheFake (7)" in output
    assert "DL_ROCM_LIBRARIES=off" in output


@long
def test_torch_trains_with_the_library(settings: Calls) -> None:
    code = """
    import torch
    torch.manual_seed(0)
    def network():
        return torch.nn.Sequential(
            torch.nn.Conv2d(2, 4, 3, padding=1), torch.nn.Conv2d(4, 4, 3, stride=2, groups=2),
            torch.nn.ConvTranspose2d(4, 3, 2, stride=2),
        )
    here = network()
    there = network()
    there.load_state_dict(here.state_dict())
    there = there.to("dl", memory_format=torch.channels_last)
    x = torch.randn(2, 2, 9, 9)
    given = x.to("dl").contiguous(memory_format=torch.channels_last)
    here(x).square().mean().backward()
    there(given).square().mean().backward()
    for mine, other in zip(here.parameters(), there.parameters()):
        torch.testing.assert_close(other.grad.cpu(), mine.grad)
    print("right", flush=True)
    import os
    os._exit(0)
    """
    output = run(code, **settings, DL_VENDORS="rocm")
    assert output.endswith("right\n"), output
    # Three layers forward and three weight gradients; the first layer does not need an input
    # gradient. The forward pass of a transposed convolution is an input gradient.
    of = [line.split(" 32f ")[0] for line in settings.done]
    counts = [of.count(name) for name in ("forward", "weight gradient", "input gradient")]
    assert counts == [3, 3, 2]


@long
def test_the_fake_detects_wrong_arguments(settings: Calls, tmp_path: Path) -> None:
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
    assert run_on_vendor(code, **settings, WRONG="") == "0 8\n"
    for wrong, words in {
        "order": "tensors with different layouts",
        "windows": "a wrong number of windows",
        "mode": "an unknown mode",
        "swapped": "sizes that do not match",
    }.items():
        with pytest.raises(AssertionError, match=words):
            run_on_vendor(code, **settings, WRONG=wrong)
