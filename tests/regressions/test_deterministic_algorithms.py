"""torch.use_deterministic_algorithms(True): new memory is filled, and operators without a
deterministic implementation alert. The lists come from torch's documentation.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import torch
from torch.nn import functional

DTYPES = [
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.complex64,
    torch.float8_e4m3fn,
    torch.uint8,
    torch.int32,
    torch.int64,
    torch.uint64,
    torch.bool,
]


@pytest.fixture(autouse=True)
def _setting() -> Iterator[None]:
    yield
    torch.use_deterministic_algorithms(False)
    torch.utils.deterministic.fill_uninitialized_memory = True


@contextmanager
def deterministic(*, warn_only: bool = False) -> Iterator[None]:
    torch.use_deterministic_algorithms(True, warn_only=warn_only)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


Make = Callable[[torch.dtype, str], torch.Tensor]

NEW: dict[str, Make] = {
    "empty": lambda dtype, device: torch.empty(3, 5, dtype=dtype, device=device),
    "empty out=": lambda dtype, device: torch.empty(
        7, out=torch.zeros(0, dtype=dtype, device=device)
    ),
    "empty_strided": lambda dtype, device: torch.empty_strided(
        (3, 2), (1, 4), dtype=dtype, device=device
    ),
    "empty_permuted": lambda dtype, device: torch.empty_permuted(
        (2, 3), (1, 0), dtype=dtype, device=device
    ),
    "empty_like": lambda dtype, device: torch.empty_like(
        torch.zeros(3, 5, dtype=dtype, device=device)
    ),
    "new_empty": lambda dtype, device: torch.zeros(1, dtype=dtype, device=device).new_empty(4, 2),
    "new_empty_strided": lambda dtype, device: torch.zeros(
        1, dtype=dtype, device=device
    ).new_empty_strided((2, 2), (1, 3)),
    "Tensor": lambda dtype, device: torch.zeros(1, dtype=dtype, device=device).new(4),
    "resize_": lambda dtype, device: torch.zeros(2, dtype=dtype, device=device).resize_(6),
    "resize_as_": lambda dtype, device: torch.zeros(2, dtype=dtype, device=device).resize_as_(
        torch.zeros(3, 3, dtype=dtype, device=device)
    ),
    "resize_ of a view": lambda dtype, device: torch.zeros(4, dtype=dtype, device=device)[
        2:
    ].resize_(6),
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", NEW)
def test_new_memory_is_filled_as_torch_does(name: str, dtype: torch.dtype) -> None:
    with deterministic():
        want, got = NEW[name](dtype, "cpu"), NEW[name](dtype, "dl")
    assert got.dtype is want.dtype and got.stride() == want.stride()
    assert _texts(got) == _texts(want)


def _texts(tensor: torch.Tensor) -> list[str]:
    """Return all elements as texts; NaN equals NaN."""
    return [str(x) for x in tensor.cpu().flatten().tolist()]


def test_filling_can_be_switched_off() -> None:
    torch.utils.deterministic.fill_uninitialized_memory = False
    torch.full((1000,), 5.0, device="dl")
    with deterministic():
        assert not torch.empty(1000, device="dl").isnan().any()


def _images(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0)).to("dl").requires_grad_()


Call = Callable[[], object]
Prepare = Callable[[], Call]
"""Returns a call; the preparation runs before the setting changes."""


def _backward(forward: Callable[[torch.Tensor], torch.Tensor], *shape: int) -> Prepare:
    """Return only the gradient, each time it is called."""

    def prepare() -> Call:
        x = _images(*shape)
        result = forward(x).sum()
        return lambda: torch.autograd.grad(result, x, retain_graph=True)

    return prepare


def _call(call: Call) -> Prepare:
    return lambda: call


def _unpool(dims: int) -> Call:
    pool = (functional.max_pool1d, functional.max_pool2d, functional.max_pool3d)[dims - 1]
    unpool = (functional.max_unpool1d, functional.max_unpool2d, functional.max_unpool3d)[dims - 1]
    x, indices = pool(torch.randn(1, 1, *[4] * dims, device="dl"), 2, return_indices=True)
    return lambda: unpool(x, indices, 2)


def _resize(mode: str) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda x: functional.interpolate(x, 6, mode=mode)


def _pad(mode: str, dims: int) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda x: functional.pad(x, (1, 1) * dims, mode)


def _grid(dims: int) -> Callable[[torch.Tensor], torch.Tensor]:
    grid = torch.zeros(1, *[2] * dims, dims, device="dl")
    return lambda x: functional.grid_sample(x, grid, align_corners=False)


def _numbers() -> torch.Tensor:
    return torch.tensor([3.0, 1.0, 2.0, 5.0], device="dl")


def _places() -> torch.Tensor:
    return torch.tensor([0, 1, 1, 2], device="dl")


ALWAYS = {
    "max_unpool1d": lambda: _unpool(1),
    "max_unpool2d": lambda: _unpool(2),
    "max_unpool3d": lambda: _unpool(3),
    "put_ without accumulating": _call(lambda: _numbers().put_(_places(), _numbers())),
}
"""Alerts on every device, including the CPU."""

ON_ACCELERATORS = {
    "avg_pool3d": _backward(lambda x: functional.avg_pool3d(x, 2), 1, 1, 4, 4, 4),
    "adaptive_avg_pool2d": _backward(lambda x: functional.adaptive_avg_pool2d(x, 2), 1, 1, 4, 4),
    "adaptive_avg_pool3d": _backward(lambda x: functional.adaptive_avg_pool3d(x, 2), 1, 1, 4, 4, 4),
    "adaptive_max_pool2d": _backward(lambda x: functional.adaptive_max_pool2d(x, 2), 1, 1, 4, 4),
    "fractional_max_pool2d": _backward(
        lambda x: functional.fractional_max_pool2d(x, 2, output_size=2), 1, 1, 5, 5
    ),
    "fractional_max_pool3d": _backward(
        lambda x: functional.fractional_max_pool3d(x, 2, output_size=2), 1, 1, 5, 5, 5
    ),
    "interpolate linear": _backward(_resize("linear"), 1, 1, 4),
    "interpolate bilinear": _backward(_resize("bilinear"), 1, 1, 4, 4),
    "interpolate bicubic": _backward(_resize("bicubic"), 1, 1, 4, 4),
    "interpolate trilinear": _backward(_resize("trilinear"), 1, 1, 4, 4, 4),
    "reflection_pad1d": _backward(_pad("reflect", 1), 1, 1, 4),
    "reflection_pad2d": _backward(_pad("reflect", 2), 1, 1, 4, 4),
    "reflection_pad3d": _backward(_pad("reflect", 3), 1, 1, 4, 4, 4),
    "nll_loss of images": _call(
        lambda: functional.nll_loss(
            torch.zeros(1, 3, 2, 2, device="dl"), torch.zeros(1, 2, 2, dtype=torch.long).to("dl")
        )
    ),
    "embedding_bag of maxima": _backward(
        lambda x: functional.embedding_bag(_places().view(2, 2), x, mode="max"), 4, 3
    ),
    "put_ accumulating": _call(lambda: _numbers().put_(_places(), _numbers(), accumulate=True)),
    "histc": _call(lambda: torch.histc(_numbers(), 4)),
    "bincount with weights": _call(lambda: torch.bincount(_places(), _numbers())),
    "median with indices": _call(lambda: torch.median(_numbers(), 0)),
    "grid_sample 2d": _backward(_grid(2), 1, 1, 4, 4),
    "grid_sample 3d": _backward(_grid(3), 1, 1, 4, 4, 4),
    "cumsum": _call(lambda: torch.cumsum(_numbers(), 0)),
    "scatter_reduce of products": _call(
        lambda: _numbers().scatter_reduce(0, _places(), _numbers(), "prod")
    ),
}
"""Alerts where the order of a device's additions is unspecified."""

NEVER = {
    "ctc_loss, which the CPU computes": _backward(
        lambda x: functional.ctc_loss(
            x.log_softmax(-1), torch.ones(1, 2, dtype=torch.long).to("dl"), [4], [2]
        ),
        4,
        1,
        3,
    ),
    "cumsum of integers": _call(lambda: torch.cumsum(_places(), 0)),
    "median without indices": _call(lambda: torch.median(_numbers())),
    "bincount without weights": _call(lambda: torch.bincount(_places())),
    "scatter_reduce of sums": _call(
        lambda: _numbers().scatter_reduce(0, _places(), _numbers(), "sum")
    ),
    "scatter_reduce of means": _call(
        lambda: _numbers().scatter_reduce(0, _places(), _numbers(), "mean")
    ),
    "scatter_add": _call(lambda: _numbers().scatter_add(0, _places(), _numbers())),
    "scatter": _call(lambda: _numbers().scatter(0, _places(), _numbers())),
    "index_add": _call(lambda: _numbers().index_add(0, _places(), _numbers())),
    "index_copy": _call(lambda: _numbers().index_copy(0, _places(), _numbers())),
    "index_put": _call(lambda: _numbers().index_put((_places(),), _numbers())),
    "index_put accumulating": _call(
        lambda: _numbers().index_put((_places(),), _numbers(), accumulate=True)
    ),
    "conv1d": _backward(lambda x: functional.conv1d(x, x), 1, 1, 4),
    "conv2d": _backward(lambda x: functional.conv2d(x, x), 1, 1, 4, 4),
    "conv3d": _backward(lambda x: functional.conv3d(x, x), 1, 1, 4, 4, 4),
    "conv_transpose1d": _backward(lambda x: functional.conv_transpose1d(x, x), 1, 1, 4),
    "conv_transpose2d": _backward(lambda x: functional.conv_transpose2d(x, x), 1, 1, 4, 4),
    "conv_transpose3d": _backward(lambda x: functional.conv_transpose3d(x, x), 1, 1, 4, 4, 4),
    "max_pool3d": _backward(lambda x: functional.max_pool3d(x, 2), 1, 1, 4, 4, 4),
    "replication_pad1d": _backward(_pad("replicate", 1), 1, 1, 4),
    "replication_pad2d": _backward(_pad("replicate", 2), 1, 1, 4, 4),
    "replication_pad3d": _backward(_pad("replicate", 3), 1, 1, 4, 4, 4),
    "gather": _backward(lambda x: x.gather(0, _places()), 4),
    "index_select": _backward(lambda x: x.index_select(0, _places()), 4),
    "repeat_interleave": _backward(lambda x: x.repeat_interleave(_places()), 4),
    "getitem": _backward(lambda x: x[_places()], 4),
}

EVERY = {**ALWAYS, **ON_ACCELERATORS, **NEVER}

NOT_HERE = {"bmm", "resize_"}
"""Operators on sparse and quantized tensors, which dl does not support."""


def alerts(name: str, vendor: str) -> bool:
    return name in ALWAYS or (name in ON_ACCELERATORS and vendor != "cpu")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", EVERY)
def test_alerts_are_those_of_torchs_documentation(name: str) -> None:
    vendor = str(torch.dl.get_device_properties(0).vendor)
    call = EVERY[name]()
    # Without the setting, any of the values for a repeated index may be stored.
    with deterministic(warn_only=True):
        expected = call()
    with deterministic():
        if alerts(name, vendor):
            with pytest.raises(RuntimeError, match="does not have a deterministic implementation"):
                call()
        else:
            torch.testing.assert_close(call(), expected)
    with deterministic(warn_only=True), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        torch.testing.assert_close(call(), expected)
    said = [str(each.message) for each in told if "deterministic" in str(each.message)]
    assert bool(said) == alerts(name, vendor), said


def test_every_operator_of_the_documentation_is_tried() -> None:
    """Otherwise a list without some operators would pass."""
    text = torch.use_deterministic_algorithms.__doc__ or ""
    listed = re.findall(r"^ *\* :(?:class|func):`torch\.(?:\w+\.)*(\w+)`", text, re.MULTILINE)
    assert len(listed) > 40
    tried = {_letters(name) for name in EVERY}
    for name in set(listed) - NOT_HERE:
        assert any(each.startswith(_letters(name)) for each in tried), name


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()


@pytest.mark.vendor("async")
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_open_sums_are_the_cpus_where_they_have_to_be_fixed(dims: int) -> None:
    """The asynchronous vendor counts as an accelerator, whose order of additions is unspecified."""
    call = _backward(_pad("replicate", dims), 1, 1, *[4] * dims)()
    torch.dl.reset_fallback_stats()
    call()
    assert not torch.dl.fallback_stats()
    with deterministic():
        call()
    assert f"replication_pad{dims}d_backward" in torch.dl.fallback_stats()
