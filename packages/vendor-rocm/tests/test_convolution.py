"""Convolutions by a library: a fake MIOpen, which judges every descriptor, on simulated cards."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from library_tests.convolving import EACH_WAY, KINDS, PRELUDE, RUNS, SHAPES
from library_tests.products import Calls

from conftest import long
from processes import compile_library, on_vendor, run


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
        on_vendor(PRELUDE + code.replace("PATH", repr(str(path))), **settings, **variables)
        found.append(np.load(path))
    assert found[0].files == found[1].files
    for name in found[0].files:
        np.testing.assert_array_equal(found[0][name], found[1][name], err_msg=name)

    # All of them were the library's, by a solution that is precise: five for each shape and kind.
    assert len(settings.done) == 5 * RUNS
    assert sum(line.startswith("forward") for line in settings.done) == 2 * RUNS
    assert sum(line.startswith("input gradient") for line in settings.done) == 2 * RUNS
    assert all(line.endswith("solution 40") for line in settings.done)


def test_layouts_are_told_as_they_are(settings: Calls) -> None:
    """What a dimension of size 1 has for a stride says nothing; the other tensors do. Those that
    lie otherwise than the result are copied."""
    code = """
    for layouts in ("dense",) * 2, ("channels last",) * 2, ("channels last", "dense"):
        x, w = numbers(1, 2, 3, 3, layout=layouts[0]), numbers(2, 2, 3, 3, layout=layouts[1])
        out = like(numbers(1, 2, 1, 1))
        vendor.op.Convolution2d(out, there(x), there(w), None, [1, 1], [0, 0], [1, 1], 1)
        wanted = np.einsum("ncyx,fcyx->nf", x, w)[..., None, None]
        np.testing.assert_array_equal(out.numpy(), wanted)
    """
    on_vendor(PRELUDE + code, **settings)
    strides = [line.split(" strides ")[1].split()[0] for line in settings.done]
    assert strides == ["2x1x1x1", "2x1x2x2", "2x1x2x2"]


def test_windows_that_no_padding_says_are_our_own_kernels(settings: Calls) -> None:
    """A transposed convolution may have fewer windows than there is room for."""
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
    on_vendor(PRELUDE + code, **settings)
    assert [line.split(" 32f ")[0] for line in settings.done] == ["input gradient"] * 2


@long
def test_solutions_are_asked_for_once_for_each_card_and_thread(settings: Calls) -> None:
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
    # The bias is added afterwards, by a kernel of our own.
    np.testing.assert_array_equal(on(0, bias), first + bias[:, None, None])
    np.testing.assert_array_equal(on(1), first)
    for _ in range(2):
        thread = threading.Thread(target=on, args=(0,))
        before = len(os.listdir("/proc/self/task"))
        thread.start()
        thread.join()
        # What Python calls the end of a thread is not yet that of the system.
        while len(os.listdir("/proc/self/task")) > before:
            pass
    """
    on_vendor(PRELUDE + code, **settings, FAKE_HIP_CARDS="gfx90a,gfx1030")
    # The second thread has what the first one leaves.
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
        # Nobody knows which solutions are deterministic.
        ({"FAKE_MIOPEN_FAIL": "attribute 1:3"}, ["miopenCreate"]),
        pytest.param({"FAKE_MIOPEN_FAIL": "count:6"}, ASKED, marks=long),
        pytest.param({"FAKE_MIOPEN_FAIL": "solutions:5"}, ASKED, marks=long),
        pytest.param(
            {"FAKE_MIOPEN_FAIL": "compile 40:5,compile 50:7"},
            [*ASKED, "compile 40", "compile 50"],
            marks=long,
        ),
        ({"FAKE_MIOPEN_FAIL": "run 40:8"}, [*ASKED, "compile 40", "failed"]),
        # Out of memory now is not out of memory for good.
        pytest.param(
            {"FAKE_MIOPEN_FAIL": "run 40:4"}, [*ASKED, "compile 40", "failed", "failed"], marks=long
        ),
    ],
)
def test_our_own_kernels_do_what_the_library_declines(
    settings: Calls, variables: dict[str, str], asked: list[str]
) -> None:
    """And it is asked once, though the convolution comes twice."""
    on_vendor(PRELUDE + TWICE, **{**settings, **variables})
    assert settings.calls == asked


@long
@pytest.mark.parametrize("failing", ["compile 40:5", "attribute 3:3,compile 40:5"])
def test_the_next_solution_is_taken_where_one_does_not_compile(
    settings: Calls, failing: str
) -> None:
    """A release that knows nothing of TF32 computes as precisely."""
    on_vendor(PRELUDE + TWICE, **settings, FAKE_MIOPEN_FAIL=failing)
    assert [line[-11:] for line in settings.done] == ["solution 50"] * 2


@long
def test_nothing_is_waited_for(settings: Calls) -> None:
    """But by the fake, which reads three tensors and writes one."""
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
    # Scratch memory is given back with what a call keeps.
    kept = [
        vendor.op.Convolution2d(outs[0], x, w, bias, *lists, synchronize=False),
        vendor.op.Convolution2dBackward(
            *outs[1:], None, outs[0], x, w, None, *lists, synchronize=False
        ),
    ]
    print(fake.fake_hip_waits() - before)
    """
    assert on_vendor(PRELUDE + code, **settings) == "12\n"
    assert len(settings.done) == 3


@long
def test_a_failure_says_what_failed(settings: Calls) -> None:
    code = """
    x, w = there(numbers(1, 2, 4, 4)), there(numbers(2, 2, 3, 3))
    try:
        convolve(x, w)
    except OperatorError as error:
        print(error)
    """
    said = on_vendor(PRELUDE + code, **settings, FAKE_MIOPEN_FAIL="run 40:7")
    assert "[diopiConvolution2d]" in said
    assert "miopenStatusOfTheFake (7)" in said
    assert "DL_ROCM_LIBRARIES=off" in said


@long
def test_torch_trains_by_it(settings: Calls) -> None:
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
    said = run(code, **settings, DL_VENDORS="rocm")
    assert said.endswith("right\n"), said
    # Three layers forward and as many gradients of weights; the first layer needs none of its
    # input. What is transposed has a gradient forward.
    of = [line.split(" 32f ")[0] for line in settings.done]
    counts = [of.count(name) for name in ("forward", "weight gradient", "input gradient")]
    assert counts == [3, 3, 2]


@long
def test_a_wrong_argument_is_noticed(settings: Calls, tmp_path: Path) -> None:
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
    # One solution more than those that are deterministic, and two that there only may be.
    assert on_vendor(code, **settings, WRONG="") == "0 8\n"
    for wrong, words in {
        "order": "tensors that do not lie alike",
        "windows": "not as many windows as there is room for",
        "mode": "a mode that it does not know",
        "swapped": "sizes that do not fit",
    }.items():
        with pytest.raises(AssertionError, match=words):
            on_vendor(code, **settings, WRONG=wrong)
