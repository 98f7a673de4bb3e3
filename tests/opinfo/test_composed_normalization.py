"""Composite normalizations and transformer layers run natively."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch.testing import assert_close, make_tensor
from torch.utils._pytree import tree_map_only

from dl_core import _C

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.vendor("cpu")]

aten = torch.ops.aten
DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16)


def normal(*shape: int, seed: int = 0, positive: bool = False) -> torch.Tensor:
    """Return normal numbers in float64; positive ones are at least 0.5."""
    values = torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return values.abs() + 0.5 if positive else values


def flags(*shape: int, seed: int = 0) -> torch.Tensor:
    """Return True for about a third of the elements; never for the first of a row."""
    hidden = torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) < 0.3
    hidden[..., 0] = False
    return hidden


@dataclass(frozen=True)
class Case:
    """A call of an overload, and the arguments that it changes."""

    overload: str
    call: Callable[..., Any]
    arguments: tuple[Any, ...]
    changed: tuple[int, ...] = ()


def _renorm_out(x: torch.Tensor, p: float, dim: int, limit: float) -> torch.Tensor:
    return torch.renorm(x, p, dim, limit, out=x.new_empty(0))


def _with_update_out(*arguments: Any) -> Any:
    x, channels = arguments[0], arguments[0].size(1)
    given = [torch.empty_like(x), *(arguments[1].new_empty(channels) for _ in range(2))]
    reserve = x.new_empty(0, dtype=torch.uint8)
    names = ("out", "save_mean", "save_invstd", "reserve")
    outputs = dict(zip(names, [*given, reserve], strict=True))
    return aten._batch_norm_with_update.out(*arguments, **outputs)


_BATCH = (
    normal(4, 5, 3, 2),
    normal(5, seed=1),
    normal(5, seed=2),
    normal(5, seed=3),
    normal(5, seed=4, positive=True),
    0.1,
    1e-5,
)
# Weights like the weights of new layers, for which rounding errors stay small.
_LAYER = (
    normal(2, 5, 8),
    8,
    2,
    normal(24, 8, seed=1) / 8**0.5,
    normal(24, seed=2),
    normal(8, 8, seed=3) / 8**0.5,
    normal(8, seed=4),
)
_FEED = (
    normal(8, seed=5),
    normal(8, seed=6),
    normal(8, seed=7),
    normal(8, seed=8),
    normal(16, 8, seed=9) / 8**0.5,
    normal(16, seed=10),
    normal(8, 16, seed=11) / 4,
    normal(8, seed=12),
)


def _attention(x: torch.Tensor, *rest: Any) -> Any:
    return aten._native_multi_head_attention(x, x, x, *rest)


CASES = [
    Case("_batch_norm_with_update", aten._batch_norm_with_update, _BATCH, (3, 4)),
    Case("_batch_norm_with_update.out", _with_update_out, _BATCH, (3, 4)),
    *(
        Case(
            "batch_norm_backward",
            aten.batch_norm_backward,
            (
                normal(4, 5, 3, 2, seed=9),
                *_BATCH[:2],
                *_BATCH[3:5],
                normal(5, seed=6),
                normal(5, seed=7, positive=True),
                update,
                1e-5,
                [True, True, True],
                torch.empty(0, dtype=torch.uint8),
            ),
        )
        for update in (True, False)
    ),
    Case(
        "batch_norm_update_stats",
        aten.batch_norm_update_stats,
        (*_BATCH[:1], *_BATCH[3:5], 0.1),
        (1, 2),
    ),
    Case("batch_norm_update_stats", aten.batch_norm_update_stats, (normal(6, 3), None, None, 0.1)),
    *(
        Case("_weight_norm_interface", aten._weight_norm_interface, (normal(6, 4, 3), g, dim))
        for dim, g in ((0, normal(6, 1, 1)), (2, normal(1, 1, 3)))
    ),
    *(
        Case(
            "_weight_norm_interface_backward",
            aten._weight_norm_interface_backward,
            (normal(6, 4, 3, seed=1), normal(6, 4, 3), g, g.abs() + 1, dim),
        )
        for dim, g in ((0, normal(6, 1, 1)), (2, normal(1, 1, 3)))
    ),
    *(
        Case(name, call, (normal(4, 5, 3), p, dim, 1.5), changed)
        for name, call, changed in (
            ("renorm", torch.renorm, ()),
            ("renorm_", torch.Tensor.renorm_, (0,)),
            ("renorm.out", _renorm_out, ()),
        )
        for p, dim in ((2, 0), (1, 1), (3, -1), (float("inf"), 0), (0.5, 2))
    ),
    *(
        Case("_masked_softmax", aten._masked_softmax, (normal(2, 3, 5, 5), mask, -1, kind))
        for mask, kind in ((flags(5, 5), 0), (flags(2, 5), 1), (flags(2, 3, 5, 5), 2))
    ),
    Case(
        "_masked_softmax_backward",
        aten._masked_softmax_backward,
        (
            normal(2, 3, 4, 5),
            normal(2, 3, 4, 5, seed=1).softmax(-1) * ~flags(2, 3, 4, 5),
            flags(2, 3, 4, 5),
            -1,
        ),
    ),
    Case(
        "_transform_bias_rescale_qkv",
        aten._transform_bias_rescale_qkv,
        (normal(2, 5, 24), normal(24, seed=1), 2),
    ),
    *(
        Case("_native_multi_head_attention", _attention, (*_LAYER, mask, *weights, kind))
        for mask, kind in ((None, None), (flags(5, 5), 0), (flags(2, 5), 1))
        for weights in ((True, True), (True, False), (False, True))
    ),
    Case(
        "_native_multi_head_attention",
        aten._native_multi_head_attention,
        (normal(2, 5, 8), normal(2, 5, 8, seed=20), normal(2, 5, 8, seed=21), *_LAYER[1:], None),
    ),
    *(
        Case(
            "_transformer_encoder_layer_fwd",
            aten._transformer_encoder_layer_fwd,
            (*_LAYER, gelu, first, 1e-5, *_FEED, mask, kind),
        )
        for gelu, first in ((True, True), (False, False))
        for mask, kind in ((None, None), (flags(2, 5), 1))
    ),
]


def on(arguments: tuple[Any, ...], device: str, dtype: torch.dtype) -> tuple[Any, ...]:
    def move(tensor: torch.Tensor) -> torch.Tensor:
        kept = tensor.dtype if not tensor.is_floating_point() else dtype
        return tensor.to(device=device, dtype=kept, copy=True)

    return tuple(tree_map_only(torch.Tensor, move, list(arguments)))


def results(case: Case, arguments: tuple[Any, ...]) -> list[Any]:
    """Return the tensors that the call returns, and those that it changed."""
    returned = case.call(*arguments)
    given = returned if isinstance(returned, (tuple, list)) else [returned]
    return [*given, *(arguments[i] for i in case.changed)]


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: str(dtype)[6:])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.overload)
def test_composed_operator_runs_natively_and_is_right(
    vendor: str, case: Case, dtype: torch.dtype
) -> None:
    assert case.overload in _C.composed_operators()
    rounded = on(case.arguments, "cpu", dtype)
    want = results(case, on(rounded, "cpu", torch.float64))
    with torch.dl.fallback("error"):
        got = results(case, on(rounded, "dl", dtype))
    assert len(got) == len(want)
    for mine, theirs in zip(got, want, strict=True):
        if theirs is None or mine is None:
            assert mine is None and theirs is None
            continue
        # Several roundings in half precision, one after the other.
        wide = {} if dtype.itemsize > 2 else {"rtol": 0.04, "atol": 0.06}
        assert_close(mine.cpu(), theirs.to(mine.dtype), **wide)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: str(dtype)[6:])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("kind", ["none", "bool", "added", "trained"])
@pytest.mark.parametrize("heads", [4, 2])
def test_attention_trains_natively(
    vendor: str, dtype: torch.dtype, causal: bool, kind: str, heads: int
) -> None:
    if causal and kind != "none":
        pytest.skip("torch takes one of both")

    def run(device: str, dtype: torch.dtype) -> list[torch.Tensor]:
        q, k, v = (
            normal(2, n, s, 16, seed=s + n).to(inner).to(device, dtype).requires_grad_()
            for n, s in ((4, 9), (heads, 12), (heads, 12))
        )
        mask = None
        if kind == "bool":
            mask = (~flags(2, 1, 9, 12)).to(device)
        elif kind != "none":
            mask = normal(4, 9, 12, seed=3).to(inner).to(device, dtype)
            mask.requires_grad_(kind == "trained")
        out = torch.nn.functional.scaled_dot_product_attention(
            q, k, v, mask, is_causal=causal, enable_gqa=heads != 4
        )
        out.backward(normal(*out.shape, seed=5).to(inner).to(device, dtype))
        grads = [q.grad, k.grad, v.grad] + ([mask.grad] if kind == "trained" else [])
        return [out.detach(), *(grad for grad in grads if grad is not None)]

    inner = dtype
    want = run("cpu", torch.float64)
    with torch.dl.fallback("error"):
        got = run("dl", dtype)
    assert len(got) == len(want)
    for mine, theirs in zip(got, want, strict=True):
        wide = {"rtol": 1e-4, "atol": 1e-5} if dtype.itemsize > 2 else {"rtol": 0.04, "atol": 0.03}
        assert_close(mine.cpu(), theirs.to(dtype), **wide)


def test_torch_chooses_the_fused_attention_unless_told_otherwise(vendor: str) -> None:
    from torch.nn.attention import SDPBackend, sdpa_kernel

    x = make_tensor((1, 2, 8, 4), dtype=torch.float32, device="dl")
    assert torch._fused_sdp_choice(x, x, x) == SDPBackend.OVERRIDEABLE.value
    assert torch._fused_sdp_choice(x, x, x, dropout_p=0.5) == SDPBackend.MATH.value
    assert torch._fused_sdp_choice(x[0], x[0], x[0]) == SDPBackend.MATH.value
    with sdpa_kernel(SDPBackend.MATH):
        assert torch._fused_sdp_choice(x, x, x) == SDPBackend.MATH.value


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("samples", [1, 4])
def test_norms_take_half_inputs_with_float_parameters(
    vendor: str, dtype: torch.dtype, channels_last: bool, samples: int
) -> None:
    """A network under autocast: the statistics stay in float32."""

    def run(device: str, data: torch.dtype, parameters: torch.dtype) -> list[torch.Tensor]:
        torch.manual_seed(0)
        norms = [
            torch.nn.BatchNorm2d(6).to(device, parameters),
            torch.nn.GroupNorm(3, 6).to(device, parameters),
            torch.nn.LayerNorm(5).to(device, parameters),
        ]
        x = normal(samples, 6, 4, 5).to(dtype).to(device, data)
        if channels_last:
            x = x.contiguous(memory_format=torch.channels_last)
        grad = normal(samples, 6, 4, 5, seed=1).to(dtype).to(device, data)
        found = []
        for norm in norms:
            leaf = x.clone().requires_grad_()
            y = norm(leaf)
            y.backward(grad)
            assert norm.weight.grad is not None and leaf.grad is not None
            found += [y.detach(), leaf.grad, norm.weight.grad, norm.bias.grad]
        batch = norms[0]
        batch.eval()
        return [*found, batch.running_mean, batch.running_var, batch(x).detach()]

    dtypes = [result.dtype for result in run("cpu", dtype, torch.float32)]
    want = run("cpu", torch.float64, torch.float64)
    with torch.dl.fallback("error"):
        got = run("dl", dtype, torch.float32)
    assert [mine.dtype for mine in got] == dtypes
    for mine, theirs in zip(got, want, strict=True):
        assert_close(mine.cpu(), theirs.to(mine.dtype), rtol=0.02, atol=0.02)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_softmax_of_half_gives_float(vendor: str, dtype: torch.dtype, log: bool) -> None:
    forward = aten._log_softmax if log else aten._softmax
    backward = aten._log_softmax_backward_data if log else aten._softmax_backward_data
    x, grad = normal(3, 70).to(dtype), normal(3, 70, seed=1).float()
    want = forward(x.double(), -1, False)
    with torch.dl.fallback("error"):
        got = forward(x.to("dl"), -1, True)
        gradient = backward(grad.to("dl"), got, -1, dtype)
    assert got.dtype == torch.float32 and gradient.dtype == dtype
    assert_close(got.cpu(), want.float())
    expected = backward(grad.double(), want, -1, torch.float64)
    assert_close(gradient.cpu(), expected.to(dtype))
