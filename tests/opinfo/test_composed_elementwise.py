"""Composite elementwise operators and losses of dl-core run without fallback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db

from diopi_proto.tolerance import OpClass
from dl_torch_tests.opinfo.gradients import check_backward
from dl_torch_tests.opinfo.judge import value_problem
from dl_torch_tests.opinfo.operators import full_name
from dl_torch_tests.opinfo.sweep import Report, check_forward
from dl_torch_tests.opinfo.written_forms import check_in_place, check_out

# Many operators of torch emit deprecation warnings.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.vendor("cpu")]

FUNCTIONS = (
    "angle",
    "copysign",
    "erfc",
    "exp2",
    "fmax",
    "fmin",
    "fmod",
    "frac",
    "frexp",
    "hash_tensor",
    "heaviside",
    "hypot",
    "isnan",
    "isneginf",
    "isposinf",
    "logaddexp",
    "logaddexp2",
    "logical_not",
    "logical_xor",
    "logit",
    "nan_to_num",
    "nextafter",
    "round",
    "round.decimals_0",
    "round.decimals_3",
    "round.decimals_neg_3",
    "rsub",
    "signbit",
    "sinc",
    "trunc",
    "xlogy",
)
ON_INTEGERS = (
    "__rmod__",
    "__rpow__",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "bitwise_xor",
    "clamp",
    "fmod",
    "gcd",
    "isin",
    "lcm",
)
ACTIVATIONS = (
    "nn.functional.glu",
    "nn.functional.prelu",
)
LOSSES = ("nn.functional.huber_loss", "nn.functional.multilabel_margin_loss")
OTHERS = ("clamp", "complex", "equal", "fill", "isin", "masked_fill", "polar")

CHECKS: dict[str, Callable[[Any, torch.dtype, str], Report]] = {
    "forward": check_forward,
    "out": check_out,
    "in-place": check_in_place,
    "backward": check_backward,
}


def _cases() -> list[Any]:
    by_name = {full_name(op): op for op in op_db}
    wanted = [
        (name, mode, dtype)
        for names, modes, dtypes in (
            ((*FUNCTIONS, *OTHERS), ("forward", "out", "in-place"), (torch.float32,)),
            (FUNCTIONS, ("forward",), (torch.bfloat16, torch.float64)),
            (ON_INTEGERS, ("forward", "out", "in-place"), (torch.int64,)),
            (ON_INTEGERS, ("forward",), (torch.int32, torch.uint8)),
            (ACTIVATIONS, ("forward", "out", "in-place", "backward"), (torch.float32,)),
            (ACTIVATIONS, ("forward", "backward"), (torch.bfloat16,)),
            (LOSSES, ("forward", "backward"), (torch.float32,)),
        )
        for name in names
        for mode in modes
        for dtype in dtypes
    ]
    found = []
    for name, mode, dtype in wanted:
        op = by_name[name]
        if (
            dtype in (op.backward_dtypes if mode == "backward" else op.dtypes)
            and (mode != "out" or op.supports_out)
            and (mode != "in-place" or op.inplace_variant is not None)
        ):
            found.append(pytest.param(op, mode, dtype, id=f"{mode}-{str(dtype)[6:]}-{name}"))
    return found


@pytest.mark.parametrize(("op", "mode", "dtype"), _cases())
def test_composed_operator_runs_without_fallback(op: Any, mode: str, dtype: torch.dtype) -> None:
    with torch.dl.fallback("error"):
        report = CHECKS[mode](op, dtype, "dl")
    assert not report.problems, report.text()


@pytest.mark.parametrize("name", ["__lshift__", "__rshift__", "__ilshift__", "__irshift__"])
@pytest.mark.parametrize("other", [3, torch.tensor([0, 1, 70]), torch.tensor([-1, 63, 62])])
def test_shift_operators(name: str, other: int | torch.Tensor) -> None:
    values = torch.tensor([5, -7, 1 << 40])
    want = getattr(values.clone(), name)(other)
    on_dl = other.to("dl") if isinstance(other, torch.Tensor) else other
    with torch.dl.fallback("error"):
        got = getattr(values.to("dl"), name)(on_dl)
    assert torch.equal(got.cpu(), want)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32])
def test_sum_that_is_rectified(dtype: torch.dtype) -> None:
    a, b = torch.randint(-9, 9, (2, 3, 5)).to(dtype)
    want = torch.relu(a + 2 * b)
    with torch.dl.fallback("error"):
        x, y = a.to("dl"), b.to("dl")
        assert torch.equal(torch._VF._add_relu(x, y, alpha=2).cpu(), want)
        out = torch.empty(0, dtype=dtype, device="dl")
        assert torch._VF._add_relu(x, y, alpha=2, out=out) is out
        assert torch.equal(out.cpu(), want)
        assert torch.equal(torch._VF._add_relu_(x, y, alpha=2).cpu(), want)
        assert torch.equal(x.cpu(), want)


def test_linear_combination() -> None:
    parts, weights = torch.randn(4, 2, 3), torch.randn(5, 4)
    want = torch.einsum("ij,jkl->ikl", weights.double(), parts.double())
    with torch.dl.fallback("error"):
        got = torch.ops.aten._compute_linear_combination(parts.to("dl"), weights.to("dl"))
    torch.testing.assert_close(got.cpu().double(), want, rtol=0, atol=1e-5)


def test_tensors_that_view_the_same_memory() -> None:
    x = torch.zeros(2, 3, device="dl")
    assert x.is_set_to(x.view(2, 3))
    assert not x.is_set_to(x.view(3, 2))
    assert not x.is_set_to(torch.zeros(2, 3, device="dl"))


def test_gate_of_a_tangent() -> None:
    x, dx = torch.randn(2, 3, 8, dtype=torch.float64)
    outer = torch.randn(3, 4, dtype=torch.float64)
    douter = torch.randn(3, 4, dtype=torch.float64)
    glu, slope = torch.ops.aten.glu, torch.ops.aten.glu_backward(outer, x, -1)
    for name, arguments in (
        ("glu_jvp", (glu(x, -1), x, dx)),
        ("glu_backward_jvp", (slope, outer, x, douter, dx)),
    ):
        want = getattr(torch.ops.aten, name)(*arguments, -1)
        with torch.dl.fallback("error"):
            got = getattr(torch.ops.aten, name)(*(each.to("dl") for each in arguments), -1)
        torch.testing.assert_close(got.cpu(), want)


@pytest.mark.parametrize("eps", [0.0, 0.2, 0.5, 0.6, 1.0])
def test_logit_where_the_ends_have_changed_places(eps: float) -> None:
    """From 1/2 on, eps is the upper bound: values below it become eps, all others 1 - eps."""
    x = torch.tensor([-0.5, 0.1, 0.3, 0.45, 0.5, 0.55, 0.6, 0.7, 0.9, 1.5, torch.nan])
    with torch.dl.fallback("error"):
        got = torch.logit(x.to("dl"), eps)
    exact = torch.logit(x.double(), eps)
    assert value_problem(got, torch.logit(x, eps), exact, OpClass.ELEMENTARY, 1) is None
