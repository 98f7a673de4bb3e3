"""Composite matrix products run on the device and are right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from diopi_proto.tolerance import OpClass
from dl_torch_tests.opinfo.operators import Judgement
from dl_torch_tests.opinfo.sweep import Arguments, compare_calls

from .native import check_native

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.vendor("cpu")]

aten = torch.ops.aten


@pytest.mark.parametrize("overload", ["addmv", "addbmm", "addr", "dot", "vdot"])
def test_product_runs_without_fallback(overload: str, vendor: str) -> None:
    report = check_native(overload, torch.float32, "dl")
    assert report.right > 0
    assert not report.problems, report.text()


def in_place(function: Any) -> Callable[..., Any]:
    """Return the in-place form, on a copy of the first tensor."""
    return lambda x, *rest, **kwargs: function(x.clone(), *rest, **kwargs)


def with_out(function: Any) -> Callable[..., Any]:
    """Return the out= form, with an output that has to be resized."""
    return lambda x, *rest, **kwargs: function(x, *rest, **kwargs, out=x.new_empty(0))


def with_outs(function: Any) -> Callable[..., Any]:
    return lambda x, *rest: function(
        x,
        *rest,
        **{name: x.new_empty(0) for name in ("grad_input", "grad_weight", "grad_bias")},
    )


def with_output(function: Any) -> Callable[..., Any]:
    return lambda x, *rest: function(x, *rest, output=x.new_empty(0))


def numbers(*shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


M, V, B = numbers(5, 7), numbers(7), numbers(3, 5, 7)
IMAGE, TAPS, SHIFT = numbers(2, 3, 8, 9), numbers(4, 3, 3, 2), numbers(4)
SOLID, SOLID_TAPS = numbers(2, 3, 5, 6, 4), numbers(4, 3, 3, 2, 2)
BACK_TAPS, SOLID_BACK_TAPS = numbers(3, 4, 3, 2), numbers(3, 4, 3, 2, 2)
FORMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = {
    "addmv_": (in_place(torch.Tensor.addmv_), (numbers(5), M, V), {"beta": 0.5, "alpha": 2}),
    "addmv.out": (with_out(torch.addmv), (numbers(1), M, V), {"beta": 2}),
    "addmm_": (in_place(torch.Tensor.addmm_), (numbers(5, 4), M, numbers(7, 4)), {"beta": 3}),
    "baddbmm_": (
        in_place(torch.Tensor.baddbmm_),
        (numbers(3, 5, 4), B, numbers(3, 7, 4)),
        {"alpha": 0.5},
    ),
    "addbmm_": (in_place(torch.Tensor.addbmm_), (numbers(5, 4), B, numbers(3, 7, 4)), {"beta": 2}),
    "addbmm.out": (with_out(torch.addbmm), (numbers(4), B, numbers(3, 7, 4)), {}),
    "addr_": (in_place(torch.Tensor.addr_), (numbers(5, 7), numbers(5), V), {"beta": 0}),
    "addr.out": (with_out(torch.addr), (numbers(7), numbers(5), V), {"alpha": 3}),
    "_addmm_activation": (aten._addmm_activation, (V[:4], M, numbers(7, 4)), {"use_gelu": True}),
    "_addmm_activation.out": (
        with_out(aten._addmm_activation),
        (V[:4], M, numbers(7, 4)),
        {"beta": 2},
    ),
    "_slow_conv2d_forward": (
        aten._slow_conv2d_forward,
        (IMAGE, TAPS, [3, 2], SHIFT, [2, 1], [1, 1]),
        {},
    ),
    "_slow_conv2d_forward.output": (
        with_output(aten._slow_conv2d_forward),
        (IMAGE, TAPS, [3, 2], SHIFT, [2, 1], [1, 0]),
        {},
    ),
    "_slow_conv2d_backward.output_mask": (
        aten._slow_conv2d_backward,
        (numbers(2, 4, 4, 10), IMAGE, TAPS, [3, 2], [2, 1], [1, 1], [True, True, True]),
        {},
    ),
    "_slow_conv2d_backward.grad_input": (
        with_outs(aten._slow_conv2d_backward),
        (numbers(2, 4, 4, 10), IMAGE, TAPS, [3, 2], [2, 1], [1, 1]),
        {},
    ),
    "slow_conv3d_forward": (
        aten.slow_conv3d_forward,
        (SOLID, SOLID_TAPS, [3, 2, 2], SHIFT, [1, 2, 1], [1, 0, 1]),
        {},
    ),
    "slow_conv3d_forward.output": (
        with_output(aten.slow_conv3d_forward),
        (SOLID, SOLID_TAPS, [3, 2, 2], None, [1, 2, 1], [1, 0, 1]),
        {},
    ),
    "slow_conv_dilated2d": (
        aten.slow_conv_dilated2d,
        (IMAGE, TAPS, [3, 2], SHIFT, [1, 1], [1, 1], [2, 3]),
        {},
    ),
    "slow_conv_dilated3d": (
        aten.slow_conv_dilated3d,
        (SOLID, SOLID_TAPS, [3, 2, 2], SHIFT, [1, 1, 1], [1, 1, 1], [2, 2, 1]),
        {},
    ),
    "slow_conv_transpose2d": (
        aten.slow_conv_transpose2d,
        (IMAGE, BACK_TAPS, [3, 2], SHIFT, [2, 2], [1, 0], [1, 0], [1, 2]),
        {},
    ),
    "slow_conv_transpose2d.out": (
        with_out(aten.slow_conv_transpose2d),
        (IMAGE, BACK_TAPS, [3, 2], SHIFT, [2, 2]),
        {},
    ),
    "slow_conv_transpose3d": (
        aten.slow_conv_transpose3d,
        (SOLID, SOLID_BACK_TAPS, [3, 2, 2], SHIFT, [2, 1, 1]),
        {},
    ),
    "slow_conv_transpose3d.out": (
        with_out(aten.slow_conv_transpose3d),
        (SOLID, SOLID_BACK_TAPS, [3, 2, 2], SHIFT, [1, 1, 2]),
        {},
    ),
}


@pytest.mark.parametrize("overload", FORMS)
def test_form_runs_without_fallback(overload: str, vendor: str) -> None:
    function, (first, *rest), kwargs = FORMS[overload]

    def call(arguments: Arguments) -> Any:
        given, args, named = arguments
        return function(given, *args, **named)

    with torch.dl.fallback("error"):
        outcome = compare_calls(
            call, (first, tuple(rest), kwargs), Judgement(op_class=OpClass.MATMUL), "dl"
        )
    assert outcome == (None, False)
