"""Tests of convolutions by cuDNN: a fake, which checks every descriptor, on a simulator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from library_tests.convolving import EACH_WAY, KINDS, PRELUDE, RUNS, SHAPES
from library_tests.products import Calls

from processes import compile_library, nvidia_library, run, run_on_vendor

HALVES = 3 * sum(dtype.endswith("float16") for dtype, _ in KINDS)
"""Number of runs in half precision."""


@pytest.fixture(scope="module")
def fakes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Build cuDNN and cuBLASLt, which it needs; return their paths by variable."""
    folder = tmp_path_factory.mktemp("fakes")
    return {
        "DL_CUDA_CUDNN": str(compile_library("cudnn", folder)),
        "DL_CUDA_CUBLASLT": str(compile_library("cublaslt", folder)),
    }


@pytest.fixture
def settings(simulator: str, fakes: dict[str, str], tmp_path: Path) -> Calls:
    return Calls(
        "FAKE_CUDNN_CALLS",
        "cudnnBackendExecute",
        **fakes,
        DL_CUDA_DRIVER=simulator,
        FAKE_CUDNN_CALLS=str(tmp_path / "calls"),
    )


def test_results_are_those_of_our_own_kernels(settings: Calls, tmp_path: Path) -> None:
    code = EACH_WAY.replace("SHAPES", repr(SHAPES)).replace("KINDS", repr(KINDS))
    found = []
    for by, variables in ("library", {}), ("kernels", {"DL_CUDA_LIBRARIES": "off"}):
        path = tmp_path / f"{by}.npz"
        run_on_vendor(PRELUDE + code.replace("PATH", repr(str(path))), **settings, **variables)
        found.append(np.load(path))
    assert found[0].files == found[1].files
    for name in found[0].files:
        np.testing.assert_array_equal(found[0][name], found[1][name], err_msg=name)

    # The library ran five convolutions for each shape and kind, on an engine that is precise,
    # except half precision with a bias, which it rounds before adding.
    assert len(settings.done) == 5 * RUNS - HALVES
    assert sum(line.startswith("forward") for line in settings.done) == 2 * RUNS - HALVES
    assert sum(line.startswith("input gradient") for line in settings.done) == 2 * RUNS
    for line in settings.done:
        # Tensor cores compute float32 as TF32 and everything else exactly; one engine rounds half
        # precision.
        half = " 16f " in line or " 16b" in line
        engine = 5 if " 32f " in line else 4 if half else 3
        assert line.endswith(f"engine {engine}"), line


def test_a_real_cudnn_plans_every_convolution(settings: Calls, tmp_path: Path) -> None:
    """Needs cuDNN's wheel, but no GPU: the plans are not run."""
    libraries = {
        variable: nvidia_library(name)
        for variable, name in (
            ("REAL_CUDNN", "libcudnn.so.9"),
            ("DL_CUDA_CUBLASLT", "libcublasLt.so.13"),
        )
    }
    settings |= libraries
    between = str(compile_library("real_cudnn", tmp_path))
    settings |= {"DL_CUDA_CUDNN": between, "LD_PRELOAD": between}
    # It declines strided elements.
    kinds = [kind for kind in KINDS if kind[1] != "apart"]
    code = EACH_WAY.replace("SHAPES", repr(SHAPES)).replace("KINDS", repr(kinds))
    run_on_vendor(PRELUDE + code.replace("PATH", repr(str(tmp_path / "results"))), **settings)
    # The plan of a transposed convolution is that of the input gradient.
    assert len(settings.calls) == 4 * (RUNS - 3) - HALVES


def test_layouts_are_inferred_from_all_tensors(settings: Calls) -> None:
    """The stride of a dimension of size 1 does not determine the layout; the other tensors do."""
    code = """
    for layout in "dense", "channels last":
        x, w, y = numbers(1, 2, 3, 3, layout=layout), numbers(2, 2, 3, 3), numbers(1, 2, 1, 1)
        out = like(y)
        vendor.op.Convolution2d(out, there(x), there(w), None, [1, 1], [0, 0], [1, 1], 1)
        wanted = np.einsum("ncyx,fcyx->nf", x, w)[..., None, None]
        np.testing.assert_array_equal(out.numpy(), wanted)
    """
    run_on_vendor(PRELUDE + code, **settings)
    strides = [line.split(" strides ")[1].split()[0] for line in settings.done]
    assert strides == ["2x1x1x1", "2x1x2x2"]


def test_dimensions_in_another_order_use_our_own_kernels(settings: Calls) -> None:
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
    run_on_vendor(PRELUDE + code, **settings)
    assert len(settings.done) == 2


def test_plans_are_made_once(settings: Calls) -> None:
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
    run_on_vendor(PRELUDE + code, **settings)
    # The second thread reuses the entry that the first one left.
    assert settings.calls.count("cudnnCreate") == 2
    assert settings.calls.count("heuristics") == settings.calls.count("plan 5") == 4
    assert len(settings.done) == 7


def test_each_device_has_a_handle(settings: Calls) -> None:
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
    run_on_vendor(PRELUDE + code, **settings, DL_GPU_SIM_DEVICES="2")
    assert settings.calls.count("cudnnCreate") == 2
    assert len(settings.done) == 3


TWICE = """
    x, w = numbers(2, 3, 5, 5), numbers(4, 3, 3, 3)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
    for _ in range(2):
        out = convolve(there(x), there(w)).numpy()
        np.testing.assert_array_equal(out, np.einsum("ncyxab,fcab->nfyx", windows, w))
"""


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
    settings: Calls, variables: dict[str, str], asked: list[str]
) -> None:
    """The library is queried once, although the convolution runs twice."""
    run_on_vendor(PRELUDE + TWICE, **{**settings, **variables})
    assert settings.calls == asked


def test_fallback_engines_are_queried(settings: Calls) -> None:
    run_on_vendor(PRELUDE + TWICE, **settings, FAKE_CUDNN_FAIL="cudnnBackendFinalize(plan 5):3000")
    assert [line[-8:] for line in settings.done] == ["engine 6"] * 2


def test_a_failure_names_its_cause(settings: Calls) -> None:
    code = """
    x, w = there(numbers(1, 2, 4, 4)), there(numbers(2, 2, 3, 3))
    try:
        convolve(x, w)
    except OperatorError as error:
        print(error)
    """
    output = run_on_vendor(PRELUDE + code, **settings, FAKE_CUDNN_FAIL="cudnnBackendExecute:5001")
    assert "[diopiConvolution2d]" in output
    assert "CUDNN_STATUS_EXECUTION_FAILED (5001)" in output
    assert "DL_CUDA_LIBRARIES=off" in output


def test_convolutions_do_not_wait(settings: Calls) -> None:
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
    run_on_vendor(PRELUDE + code, **settings)
    assert len(settings.done) == 3


def test_a_graph_captures_convolutions(settings: Calls) -> None:
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
    run_on_vendor(PRELUDE + code, **settings)
    assert len(settings.done) == 3


TRAINING = """
    import torch
    torch.manual_seed(0)
    def network():
        return torch.nn.Sequential(
            torch.nn.Conv2d(2, 4, 3, padding=1), torch.nn.ReLU(),
            torch.nn.Conv2d(4, 4, 3, stride=2, groups=2, bias=False), torch.nn.ReLU(),
            torch.nn.ConvTranspose2d(4, 3, 2, stride=2), torch.nn.Flatten(),
            torch.nn.Linear(192, 3),
        )
    here = network()
    there = network()
    there.load_state_dict(here.state_dict())
    there = there.to("dl", memory_format=torch.channels_last)
    x = torch.randn(2, 2, 9, 9)
    given = x.to("dl").contiguous(memory_format=torch.channels_last)
    for model, batch in (here, x), (there, given):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            model(batch).square().mean().backward()
            optimizer.step()
    for mine, other in zip(here.parameters(), there.parameters()):
        torch.testing.assert_close(other.cpu(), mine)
    before = torch.accelerator.memory_allocated()
    torch.accelerator.reset_peak_memory_stats()
    result = there[2](there[:2](given))
    # The library's scratch memory comes from torch's allocator.
    last = result.numel() * result.element_size()
    kept = torch.accelerator.memory_allocated() - before
    assert torch.accelerator.max_memory_allocated() - before - kept >= 4096
    print("right", flush=True)
    import os
    os._exit(0)
"""


def test_torch_trains_with_the_library(settings: Calls) -> None:
    output = run(TRAINING, **settings, DL_VENDORS="cuda")
    assert output.endswith("right\n"), output
    # Two steps: three layers forward and three weight gradients; the first layer does not need an
    # input gradient. The forward pass of a transposed convolution is an input gradient.
    of = [line.split(" 32f ")[0] for line in settings.done]
    steps = of[:16]
    assert steps.count("weight gradient") == 6
    assert steps.count("forward") == 6
    assert steps.count("input gradient") == 4
