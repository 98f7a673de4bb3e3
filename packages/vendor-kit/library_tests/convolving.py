"""Tests of convolutions by a library.

The fixture ``convolving`` of a vendor's tests is the vendor with a fake cuDNN or MIOpen.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .vendor import LibraryVendor

PRELUDE = """
    rng = np.random.default_rng(0)
    def numbers(*shape, layout="dense"):
        # Small integers: sums do not depend on the order of the terms.
        x = rng.integers(-3, 4, shape).astype("float32")
        if layout == "channels last":
            return np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
        return x.repeat(2, -1)[..., ::2] if layout == "apart" else x
    def there(x, dtype="float32"):
        return vendor.tensor(x, dtype)
    def like(x, dtype="float32"):
        # A value that no operator writes.
        return vendor.tensor(np.full_like(x, 99), dtype)
    def convolve(x, w, bias=None, stride=1, padding=0, dilation=1, groups=1, **passed):
        axes = x.ndim - 2
        lists = [[n] * axes if isinstance(n, int) else n for n in (stride, padding, dilation)]
        sizes = [
            (size + 2 * lists[1][i] - lists[2][i] * (w.shape[i + 2] - 1) - 1) // lists[0][i] + 1
            for i, size in enumerate(x.shape[2:])
        ]
        out = vendor.empty((x.shape[0], w.shape[0], *sizes), x.dtype)
        vendor.op[f"diopiConvolution{axes}d"](out, x, w, bias, *lists, groups, **passed)
        return out
"""

# Sizes of the input and the weight, then the window parameters.
SHAPES = [
    ((2, 3, 6, 7), (4, 3, 3, 3), {"stride": 1, "padding": 1}),
    ((2, 3, 1, 11), (4, 3, 1, 3), {"stride": [1, 2], "padding": [0, 1]}),
    ((1, 4, 9, 8), (6, 2, 3, 2), {"stride": [2, 1], "dilation": 2, "groups": 2}),
    ((1, 4, 5, 5), (4, 1, 3, 3), {"padding": 1, "groups": 4}),
    ((3, 5, 4, 4), (2, 5, 1, 1), {}),
    ((2, 1, 5, 5), (3, 1, 2, 2), {"stride": 2}),
    ((1, 2, 4, 5, 4), (3, 2, 2, 3, 2), {"stride": 2, "padding": 1}),
    ((1, 2, 5, 5, 5), (2, 1, 2, 2, 2), {"dilation": 2, "groups": 2}),
]
KINDS = [
    ("float32", "dense"),
    ("float32", "channels last"),
    ("float32", "apart"),
    ("float64", "dense"),
    ("float16", "channels last"),
    ("bfloat16", "dense"),
]
RUNS = 3 * len(KINDS) + (len(SHAPES) - 3) * 2
HALVES = 3 * sum(dtype.endswith("float16") for dtype, _ in KINDS)
"""Number of runs in half precision."""

EACH_WAY = """
    def each_way(name, x_shape, w_shape, windows, dtype, layout):
        axes = len(x_shape) - 2
        lists = []
        for key, missing in ("stride", 1), ("padding", 0), ("dilation", 1):
            given = windows.get(key, missing)
            lists.append([given] * axes if isinstance(given, int) else given)
        groups = windows.get("groups", 1)
        sizes = [
            (size + 2 * p - d * (k - 1) - 1) // s + 1
            for size, k, s, p, d in zip(x_shape[2:], w_shape[2:], *lists)
        ]
        x, w = numbers(*x_shape, layout=layout), numbers(*w_shape, layout=layout)
        y = numbers(x_shape[0], w_shape[0], *sizes, layout=layout)
        found = {"out": like(y, dtype), "with bias": like(y, dtype), "grad x": like(x, dtype),
                 "grad w": like(w, dtype), "turned": like(x, dtype)}
        shift = numbers(w_shape[0])
        found["grad bias"] = like(shift, dtype)
        x, w, y, bias = (there(a, dtype) for a in (x, w, y, shift))
        op = vendor.op
        forward = f"diopiConvolution{axes}d"
        op[forward](found["out"], x, w, None, *lists, groups)
        op[forward](found["with bias"], x, w, bias, *lists, groups)
        grads = [found[key] for key in ("grad x", "grad w", "grad bias")]
        op[forward + "Backward"](*grads, y, x, w, [w_shape[0]], *lists, groups)
        # Rows of the result that no window reaches are its output padding.
        more = [
            size - ((o - 1) * s - 2 * p + d * (k - 1) + 1)
            for size, o, k, s, p, d in zip(x_shape[2:], sizes, w_shape[2:], *lists)
        ]
        op[f"diopiConvTranspose{axes}d"](
            found["turned"], y, w, None, lists[0], lists[1], more, groups, lists[2]
        )
        return {f"{name} {key}": value.numpy() for key, value in found.items()}
    results = {}
    for i, shape in enumerate(SHAPES):
        for dtype, layout in KINDS if i in (0, 2, 6) else KINDS[:2]:
            results |= each_way(f"{i} {dtype} {layout}", *shape, dtype, layout)
    np.savez(PATH, **results)
"""
TWICE = """
    x, w = numbers(2, 3, 5, 5), numbers(4, 3, 3, 3)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
    for _ in range(2):
        out = convolve(there(x), there(w)).numpy()
        np.testing.assert_array_equal(out, np.einsum("ncyxab,fcab->nfyx", windows, w))
"""
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


def convolve_each_way(
    convolving: LibraryVendor, path: Path, kinds: Sequence[tuple[str, str]] = KINDS
) -> None:
    """Run each shape and kind in each direction and save the results."""
    code = EACH_WAY.replace("SHAPES", repr(SHAPES)).replace("KINDS", repr(kinds))
    convolving.run_on_vendor(PRELUDE + code.replace("PATH", repr(str(path))))


def compare_with_own_kernels(convolving: LibraryVendor, folder: Path) -> list[str]:
    """Check that the library computes what our own kernels compute; return its convolutions."""
    found = []
    for name, vendor in ("library", convolving), ("kernels", convolving.without_libraries()):
        convolve_each_way(vendor, folder / f"{name}.npz")
        found.append(np.load(folder / f"{name}.npz"))
    assert found[0].files == found[1].files
    for name in found[0].files:
        np.testing.assert_array_equal(found[0][name], found[1][name], err_msg=name)

    # The library ran five convolutions for each shape and kind, except half precision with a bias,
    # which it rounds before adding.
    done = convolving.done
    assert len(done) == 5 * RUNS - HALVES
    assert sum(line.startswith("forward") for line in done) == 2 * RUNS - HALVES
    assert sum(line.startswith("input gradient") for line in done) == 2 * RUNS
    return done


def test_torch_trains_with_the_library(convolving: LibraryVendor) -> None:
    output = convolving.run(TRAINING)
    assert output.endswith("right\n"), output
    # Two steps: three layers forward and three weight gradients; the first layer does not need an
    # input gradient. The forward pass of a transposed convolution is an input gradient.
    steps = [line.split(" 32f ")[0] for line in convolving.done][:16]
    assert steps.count("weight gradient") == 6
    assert steps.count("forward") == 6
    assert steps.count("input gradient") == 4


def fail_convolution(convolving: LibraryVendor) -> str:
    """Return the message of a convolution that the library fails to run."""
    code = """
    x, w = there(numbers(1, 2, 4, 4)), there(numbers(2, 2, 3, 3))
    try:
        convolve(x, w)
    except OperatorError as error:
        print(error)
    """
    output = convolving.run_on_vendor(PRELUDE + code)
    assert "[diopiConvolution2d]" in output
    assert f"DL_{convolving.processes.vendor.upper()}_LIBRARIES=off" in output
    return output
