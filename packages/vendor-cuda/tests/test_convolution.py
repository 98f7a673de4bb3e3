"""Tests of convolutions by cuDNN: a fake, which checks every descriptor, on a simulator."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from extension_tests.simulated_vendor import SimulatedVendor
from library_tests.convolving import *  # noqa: F403 - pytest collects them here
from library_tests.convolving import (
    HALVES,
    KINDS,
    PRELUDE,
    RUNS,
    TWICE,
    compare_with_own_kernels,
    convolve_each_way,
    fail_convolution,
)
from library_tests.vendor import LibraryVendor

from processes import nvidia_file


@pytest.fixture
def convolving(
    simulated_vendor: SimulatedVendor, fake_library: Callable[[str], str], tmp_path: Path
) -> LibraryVendor:
    """Return the vendor with a fake cuDNN, which needs cuBLASLt."""
    vendor = simulated_vendor.with_variables(DL_CUDA_CUBLASLT=fake_library("cublaslt"))
    library = fake_library("cudnn")
    return LibraryVendor.of(vendor, "cudnn", "cudnnBackendExecute", library, tmp_path / "calls")


def test_results_are_those_of_our_own_kernels(convolving: LibraryVendor, tmp_path: Path) -> None:
    for line in compare_with_own_kernels(convolving, tmp_path):
        # Tensor cores compute float32 as TF32 and everything else exactly; one engine rounds half
        # precision.
        half = " 16f " in line or " 16b" in line
        engine = 5 if " 32f " in line else 4 if half else 3
        assert line.endswith(f"engine {engine}"), line


def test_a_real_cudnn_plans_every_convolution(
    convolving: LibraryVendor, fake_library: Callable[[str], str], tmp_path: Path
) -> None:
    """Needs cuDNN's wheel, but no GPU: the plans are not run."""
    between = fake_library("real_cudnn")
    real = convolving.with_variables(
        REAL_CUDNN=str(nvidia_file("lib/libcudnn.so.9")),
        DL_CUDA_CUBLASLT=str(nvidia_file("lib/libcublasLt.so.13")),
        DL_CUDA_CUDNN=between,
        LD_PRELOAD=between,
    )
    # cuDNN declines strided elements.
    convolve_each_way(real, tmp_path / "results", [kind for kind in KINDS if kind[1] != "apart"])
    # A transposed convolution has the plan of the input gradient.
    assert len(convolving.calls) == 4 * (RUNS - 3) - HALVES


def test_layouts_are_inferred_from_all_tensors(convolving: LibraryVendor) -> None:
    """The stride of a dimension of size 1 does not determine the layout; the other tensors do."""
    code = """
    for layout in "dense", "channels last":
        x, w, y = numbers(1, 2, 3, 3, layout=layout), numbers(2, 2, 3, 3), numbers(1, 2, 1, 1)
        out = like(y)
        vendor.op.Convolution2d(out, there(x), there(w), None, [1, 1], [0, 0], [1, 1], 1)
        wanted = np.einsum("ncyx,fcyx->nf", x, w)[..., None, None]
        np.testing.assert_array_equal(out.numpy(), wanted)
    """
    convolving.run_on_vendor(PRELUDE + code)
    strides = [line.split(" strides ")[1].split()[0] for line in convolving.done]
    assert strides == ["2x1x1x1", "2x1x2x2"]


def test_dimensions_in_another_order_use_our_own_kernels(convolving: LibraryVendor) -> None:
    """cuDNN accepts such tensors but reads them incorrectly in gradients."""
    code = """
    x, w, y = numbers(2, 3, 5, 4), numbers(4, 3, 2, 2), numbers(2, 4, 4, 3)
    turned = x.swapaxes(2, 3).copy().swapaxes(2, 3)
    lists = [1, 1], [0, 0], [1, 1]
    for each in x, turned:
        given = [there(a) for a in (y, each, w)]
        found = [like(each), like(w), like(numbers(4))]
        vendor.op.Convolution2dBackward(*found, *given, [4], *lists, 1)
        grad = np.zeros_like(x)
        for i in range(2):
            for j in range(2):
                part = np.einsum("nfyx,fc->ncyx", y, w[:, :, i, j])
                grad[:, :, i : i + 4, j : j + 3] += part
        np.testing.assert_array_equal(found[0].numpy(), grad)
    """
    convolving.run_on_vendor(PRELUDE + code)
    assert len(convolving.done) == 2


def test_plans_are_made_once(convolving: LibraryVendor) -> None:
    code = """
    import os, threading
    x, w = there(numbers(1, 2, 4, 4)), there(numbers(2, 2, 3, 3))
    for _ in range(3):
        convolve(x, w)
    convolve(x, w, padding=1)
    convolve(x, w, bias=there(numbers(2)))
    for _ in range(2):
        thread = threading.Thread(target=convolve, args=(x, w))
        before = len(os.listdir("/proc/self/task"))
        thread.start()
        thread.join()
        # When Python's thread has ended, the system's may still exist.
        while len(os.listdir("/proc/self/task")) > before:
            pass
    """
    convolving.run_on_vendor(PRELUDE + code)
    # The second thread reuses the entry that the first one left.
    assert convolving.calls.count("cudnnCreate") == 2
    assert convolving.calls.count("heuristics") == convolving.calls.count("plan 5") == 4
    assert len(convolving.done) == 7


def test_each_device_has_a_handle(convolving: LibraryVendor) -> None:
    code = """
    x, w = numbers(1, 2, 4, 4), numbers(2, 2, 3, 3)
    def on(device):
        out = vendor.empty((1, 2, 2, 2), device=device)
        given = [vendor.tensor(each, device=device) for each in (x, w)]
        vendor.op.Convolution2d(out, *given, None, [1, 1], [0, 0], [1, 1], 1)
        return out.numpy()
    np.testing.assert_array_equal(on(0), on(1))
    on(0)
    """
    convolving.with_devices(2).run_on_vendor(PRELUDE + code)
    assert convolving.calls.count("cudnnCreate") == 2
    assert len(convolving.done) == 3


@pytest.mark.parametrize(
    ("variables", "asked"),
    [
        ({"DL_CUDA_LIBRARIES": "off"}, []),
        ({"DL_CUDA_CUDNN": "off"}, []),
        ({"DL_CUDA_CUBLASLT": "off"}, []),
        ({"FAKE_CUDNN_VERSION": "8907"}, []),
        ({"FAKE_CUDNN_RUNTIME": "12090"}, []),
        ({"FAKE_CUDNN_FAIL": "cudnnCreate:1001"}, ["cudnnCreate"]),
        ({"FAKE_CUDNN_FAIL": "cudnnBackendFinalize(graph):3001"}, ["cudnnCreate"]),
        (
            {"FAKE_CUDNN_FAIL": "cudnnBackendFinalize(heuristics):3000"},
            ["cudnnCreate", "heuristics", "heuristics"],
        ),
        ({"FAKE_CUDNN_FAIL": "notes:2000"}, ["cudnnCreate", "heuristics", "heuristics"]),
        (
            {
                "FAKE_CUDNN_FAIL": "cudnnBackendFinalize(plan 5):3002,"
                "cudnnBackendFinalize(plan 6):4001"
            },
            ["cudnnCreate", "heuristics", "plan 5", "heuristics", "plan 6"],
        ),
        (
            {"FAKE_CUDNN_FAIL": "cudnnBackendExecute:3000"},
            ["cudnnCreate", "heuristics", "plan 5", "failed"],
        ),
    ],
)
def test_our_own_kernels_run_declined_convolutions(
    convolving: LibraryVendor, variables: dict[str, str], asked: list[str]
) -> None:
    """The library is queried once, although the convolution runs twice."""
    convolving.with_variables(**variables).run_on_vendor(PRELUDE + TWICE)
    assert convolving.calls == asked


def test_fallback_engines_are_queried(convolving: LibraryVendor) -> None:
    convolving.failing("cudnnBackendFinalize(plan 5):3000").run_on_vendor(PRELUDE + TWICE)
    assert [line[-8:] for line in convolving.done] == ["engine 6"] * 2


def test_a_failure_names_its_cause(convolving: LibraryVendor) -> None:
    output = fail_convolution(convolving.failing("cudnnBackendExecute:5001"))
    assert "CUDNN_STATUS_EXECUTION_FAILED (5001)" in output


def test_convolutions_do_not_wait(convolving: LibraryVendor) -> None:
    code = """
    import gc
    from dl_gpu_sim import waits
    gc.disable()
    x, w, bias = there(numbers(1, 2, 4, 4)), there(numbers(2, 2, 3, 3)), there(numbers(2))
    outs = [vendor.empty((1, 2, 2, 2)), vendor.empty((1, 2, 4, 4)), vendor.empty((2, 2, 3, 3))]
    lists = [1, 1], [0, 0], [1, 1], 1
    before = waits()
    # Scratch memory is freed with the state that a call keeps.
    kept = [
        vendor.op.Convolution2d(outs[0], x, w, bias, *lists, synchronize=False),
        vendor.op.Convolution2dBackward(
            *outs[1:], None, outs[0], x, w, None, *lists, synchronize=False
        ),
    ]
    assert waits() == before
    vendor.synchronize()
    assert waits() != before
    """
    convolving.run_on_vendor(PRELUDE + code)
    assert len(convolving.done) == 3


def test_a_graph_captures_convolutions(convolving: LibraryVendor) -> None:
    code = """
    a, b, w = numbers(1, 2, 4, 4), numbers(1, 2, 4, 4), numbers(2, 2, 3, 3)
    bias = numbers(2)
    wanted = [convolve(there(x), there(w), there(bias)).numpy() for x in (a, b)]
    stream, x, out = vendor.stream(), there(a), vendor.empty((1, 2, 2, 2))
    given = there(w), there(bias)
    with vendor.graphs.capture(stream) as graph:
        kept = vendor.op.Convolution2d(
            out, x, *given, [1, 1], [0, 0], [1, 1], 1, stream=stream, synchronize=False
        )
    for values, result in zip((a, b), wanted):
        vendor.op.CopyInp(there(values), x)
        graph.launch(stream)
        stream.synchronize()
        np.testing.assert_array_equal(out.numpy(), result)
    """
    convolving.run_on_vendor(PRELUDE + code)
    assert len(convolving.done) == 3
