"""Results have the memory layout that torch gives them, for any layout of the arguments.

Torch has two references: the results on the CPU, and on the meta device, which represents all
devices. If they differ, either is accepted; CUDA follows the latter.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from torch import nn
from torch.testing._internal.common_methods_invocations import op_db

from dl_torch_tests.opinfo.fixtures import one_thread
from dl_torch_tests.opinfo.operators import ANY_STRIDES, full_name
from dl_torch_tests.opinfo.sweep import describe

from .strides import LAYOUTS, samples_in_layout, strides_on

__all__ = ["one_thread"]

# Many operators of torch emit deprecation warnings.
pytestmark = pytest.mark.filterwarnings("ignore")

KNOWN: dict[str, tuple[frozenset[str], str]] = {
    "nn.functional.conv_transpose3d": (
        frozenset({"channels_last_3d", "rotated"}),
        "channels-last is kept as cuDNN keeps it; the CPU's own kernel does not",
    ),
}
"""Operators with the layouts in which result strides differ, and the cause. Strict."""

NOT_COMPARED = ANY_STRIDES | {
    "empty_permuted",
    "lu_unpack",  # torch's CPU writes out of bounds for inconsistent arguments
    "new_empty_strided",
    "to_sparse",
}
DTYPES = (torch.float32, torch.int64, torch.bool, torch.complex64)


def compared() -> list[Any]:
    return [op for op in op_db if op.name.split(".")[-1] not in NOT_COMPARED]


def problems(op: Any, layout: str, dtype: torch.dtype | None) -> list[str]:
    dtype = dtype or next(each for each in DTYPES if each in op.dtypes)
    found = []
    for arguments in samples_in_layout(op, dtype, layout):
        want, got = strides_on(op, arguments, "cpu"), strides_on(op, arguments, "dl")
        if want == got or isinstance(want, str) or isinstance(got, str):
            continue
        meta = strides_on(op, arguments, "meta")
        if got != meta:
            found.append(f"{describe(arguments)}: {got}, want {want}")
    return found


def check(op: Any, layouts: list[str], dtype: torch.dtype | None = None) -> None:
    # The test vendor leaves these to the CPU.
    listed = {} if torch.dl.get_device_properties(0).vendor == "async" else KNOWN
    known, cause = listed.get(full_name(op), (frozenset(), ""))
    for layout in layouts:
        found = problems(op, layout, dtype)
        if layout in known:
            assert found, f"{full_name(op)} {layout} is listed ({cause}), but equals torch's"
        else:
            assert not found, f"{layout}\n" + "\n".join(found[:3])


@pytest.mark.vendor("cpu")
@pytest.mark.sampled
@pytest.mark.parametrize("op", compared(), ids=full_name)
def test_results_are_laid_out_as_torch_lays_them_out(op: Any) -> None:
    check(op, list(LAYOUTS))


# One operator for each cause that was found.
FOUND = (
    "addr",
    "angle",
    "argsort",
    "cumprod",
    "__getitem__",
    "_upsample_bilinear2d_aa",
    "grid_sampler_2d",
    "hash_tensor",
    "msort",
    "nn.functional.conv_transpose3d",
    "nn.functional.hardtanh",
    "renorm",
    "sort",
    "stack",
)


@pytest.mark.parametrize("name", FOUND)
def test_operators_that_once_differed(name: str) -> None:
    (op,) = (each for each in op_db if full_name(each) == name)
    check(op, list(LAYOUTS))


SHUFFLES = {
    "pixel_shuffle": nn.functional.pixel_shuffle,
    "pixel_unshuffle": nn.functional.pixel_unshuffle,
    "channel_shuffle": torch.channel_shuffle,
}


@pytest.mark.parametrize("name", SHUFFLES)
def test_shuffled_images_keep_their_memory_format_as_on_the_cpu(name: str) -> None:
    for factor, batch, channels, height, width in itertools.product((1, 2, 3), *[(1, 2)] * 4):
        shape = (batch, channels * factor**2, height * factor, width * factor)
        for memory_format in (torch.contiguous_format, torch.channels_last):
            x = torch.randn(shape).contiguous(memory_format=memory_format)
            ours = torch.empty_strided(shape, x.stride(), device="dl").copy_(x)
            want, got = (SHUFFLES[name](each, factor) for each in (x, ours))
            assert torch.equal(got.cpu(), want), (shape, memory_format)
            assert got.stride() == want.stride(), (shape, memory_format)


LINEAR_ALGEBRA = [
    op
    for op in compared()
    if op.name.startswith(("linalg", "cholesky", "lu", "qr", "svd", "triangular_solve", "ormqr"))
    and torch.complex64 in op.dtypes
]


@pytest.mark.parametrize("op", LINEAR_ALGEBRA, ids=full_name)
def test_complex_matrices_are_laid_out_as_torch_lays_them_out(op: Any) -> None:
    check(op, ["contiguous", "transposed"], torch.complex64)


NUMBERS = {
    "mul": lambda x: x * 5,
    "mul from the left": lambda x: 5 * x,
    "add": lambda x: x + 1,
    "sub": lambda x: x - 1,
    "div": lambda x: x / 3,
    "compare": lambda x: x > 0,
    "pow": lambda x: x**2,
    "in place": lambda x: x.mul_(2),
    "promoted": lambda x: x.int() * 1.5,
    "where": lambda x: torch.where(x > 0, x, 0),
    "two tensors": lambda x: x + x,
    "relu": torch.relu,
    "hardtanh": nn.functional.hardtanh,
}
SHAPES = ((4, 8, 1, 1), (4, 1, 3, 5), (1, 8, 3, 5), (4, 8, 3, 5))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_leave_ambiguous_strides_as_torch_does(name: str, shape: tuple[int, ...]) -> None:
    base = torch.randn(shape)
    for memory_format in (torch.contiguous_format, torch.channels_last):
        x = base.contiguous(memory_format=memory_format)
        x = x.as_strided(x.shape, torch.empty(shape, memory_format=memory_format).stride())
        there = x.to("dl")
        assert there.stride() == x.stride()
        assert NUMBERS[name](there).stride() == NUMBERS[name](x).stride()


@pytest.mark.parametrize(
    ("module", "shape"),
    [
        (nn.GroupNorm(2, 4), (2, 4, 5, 6)),
        (nn.GroupNorm(2, 4, affine=False), (2, 4, 5, 6)),
        (nn.GroupNorm(4, 4), (2, 4, 3, 5, 6)),
        (nn.BatchNorm2d(4), (2, 4, 5, 6)),
        (nn.Conv2d(4, 3, 3), (2, 4, 5, 6)),
        (nn.MaxPool2d(2), (2, 4, 5, 6)),
        (nn.MaxPool3d(2), (2, 4, 4, 5, 6)),
    ],
    ids=str,
)
def test_modules_keep_channels_last_forward_and_backward(
    module: nn.Module, shape: tuple[int, ...]
) -> None:
    torch.manual_seed(0)
    memory_format = torch.channels_last if len(shape) == 4 else torch.channels_last_3d
    data = torch.randn(shape)
    found = []
    for device in ("cpu", "dl"):
        x = data.to(device, copy=True).contiguous(memory_format=memory_format).requires_grad_()
        result = module.to(device)(x)
        result.square().sum().backward()
        found.append((result, x.grad))
    for want, got in zip(*found, strict=True):
        assert got.stride() == want.stride()
        torch.testing.assert_close(got.cpu(), want, atol=1e-4, rtol=1e-4)


def test_a_volume_without_a_batch_keeps_channels_last() -> None:
    data = torch.randn(1, 3, 6, 5, 4).contiguous(memory_format=torch.channels_last_3d)[0]
    found = []
    for device in ("cpu", "dl"):
        x = data.to(device, copy=True).requires_grad_()
        result = nn.functional.max_pool3d(x, 2)
        result.sum().backward()
        found.append((result, x.grad))
    for want, got in zip(*found, strict=True):
        assert got.stride() == want.stride() and torch.equal(got.cpu(), want)


def test_the_exponential_of_no_matrices_is_contiguous() -> None:
    x = torch.empty_strided((0, 5, 5), (35, 5, 1))
    assert torch.linalg.matrix_exp(x.to("dl")).stride() == torch.linalg.matrix_exp(x).stride()


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.float16, torch.float32])
@pytest.mark.parametrize("stride", [(3, 3, 1), (1, 3, 1), (0, 1, 5)])
@pytest.mark.parametrize("name", ["pow", "square", "prelu"])
def test_empty_results_of_converted_operands_have_the_strides_of_torch(
    name: str, stride: tuple[int, ...], dtype: torch.dtype
) -> None:
    if name == "prelu" and not dtype.is_floating_point:
        return
    strides = []
    for device in ("cpu", "dl"):
        x = torch.empty_strided((1, 0, 3), stride, dtype=dtype, device=device)
        weight = torch.ones(1, dtype=dtype, device=device)
        functions = {
            "pow": lambda x: x.pow(3),
            "square": torch.square,
            "prelu": lambda x, weight=weight: nn.functional.prelu(x, weight),
        }
        strides.append(functions[name](x).stride())
    assert strides[1] == strides[0]


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("layout", ["reversed", "expanded", "sliced"])
def test_sorts_are_right_in_every_layout(layout: str, dim: int) -> None:
    x = LAYOUTS[layout](torch.randn(4, 5, 3))
    want, got = x.sort(dim), x.to("dl").sort(dim)
    assert torch.equal(got.values.cpu(), want.values)
    assert torch.equal(got.indices.cpu(), want.indices)


@pytest.mark.vendor("cpu")
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("name", ["mse_loss", "smooth_l1_loss"])
@pytest.mark.parametrize("order", [(0, 2, 1, 3), (0, 2, 3, 1), (3, 2, 1, 0)], ids=str)
def test_gradients_of_losses_are_contiguous_without_a_fallback(
    name: str, reduction: str, order: tuple[int, ...]
) -> None:
    torch.manual_seed(0)
    gradient_of = getattr(torch.ops.aten, f"{name}_backward")
    base, target = (torch.randn(2, 3, 4, 5) for _ in range(2))
    arguments = [base.permute(order), target.permute(order)]
    outer = arguments[1] if reduction == "none" else torch.tensor(0.5)
    number = ["none", "mean", "sum"].index(reduction)
    rest = (number,) if name == "mse_loss" else (number, 0.7)
    wanted = gradient_of(outer, *arguments, *rest)
    with torch.dl.fallback("error"):
        got = gradient_of(outer.to("dl"), *(each.to("dl") for each in arguments), *rest)
    assert got.stride() == wanted.stride()
    torch.testing.assert_close(got.cpu(), wanted)
