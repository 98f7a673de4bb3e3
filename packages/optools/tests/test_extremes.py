"""Results without a unique right value, or without a reference, are accepted unless wrong."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch

from dl_optools.compare.call_comparison import CheckedCall
from dl_optools.compare.judging import judge
from dl_optools.compare.subjects import FunctionSubject, GradientSubject, OverloadSubject, Subject
from dl_optools.compare.tolerance_options import ComparisonOptions
from dl_optools.names import Level

aten = torch.ops.aten
INF, NAN = math.inf, math.nan


def verdict(subject: Subject, tree: Any, got: torch.Tensor) -> bool:
    call = CheckedCall(1, "operator", Level.DISPATCH, subject, tree, [("output 0", got)])
    found = judge(call, ComparisonOptions({}))
    assert not found.reason
    return all(part.ok for part in found.parts)


def of_overload(overload: Any, *args: Any) -> Callable[[torch.Tensor], bool]:
    return lambda got: verdict(OverloadSubject(overload), (args, {}), got)


def test_if_the_cpu_contradicts_itself_each_of_its_answers_is_right() -> None:
    """The CPU's vector code and its scalar code differ, so that the position would decide."""
    x = torch.tensor([NAN] * 20 + [0.5, 3.0])
    ones = torch.arange(1.0, 23.0)
    own = aten.hardtanh_backward(ones, x, -1.0, 1.0)
    is_right = of_overload(aten.hardtanh_backward.default, ones, x, -1.0, 1.0)
    # With vector instructions the first is computed in a vector, the third from the end alone.
    for answer in (own[0] / ones[0], own[19] / ones[19]):
        assert is_right(torch.where(x.isnan(), answer * ones, own))
    assert not is_right(torch.where(x.isnan(), 2 * ones, own))
    assert not is_right(torch.where(x == 0.5, 0.0, own))


def test_the_same_of_a_functions_gradient() -> None:
    x = torch.tensor([NAN] * 20).requires_grad_()
    subject = GradientSubject(torch.nn.functional.hardtanh, (), None, [0])
    tree = ((x,), {}, [torch.ones(20)])
    (own,) = torch.autograd.grad(torch.nn.functional.hardtanh(x).sum(), x)
    assert all(verdict(subject, tree, answer.expand(20).clone()) for answer in (own[0], own[19]))
    assert not verdict(subject, tree, torch.full((20,), 0.5))


def test_one_answer_at_all_places_is_a_reference() -> None:
    x = torch.tensor([NAN] * 20)
    assert not of_overload(aten.relu.default, x)(torch.zeros(20))
    assert not of_overload(aten.flip.default, x, [0])(torch.zeros(20))
    assert not of_overload(aten.cumsum.default, torch.tensor([INF, -INF, 1.0]), 0)(
        torch.tensor([INF, -INF, 1.0])
    )


def test_a_limit_is_as_right_as_a_nan_that_a_formula_made() -> None:
    """Torch's CPU returns nan for gelu at minus infinity, and for its gradient at infinities."""
    x, ones = torch.tensor([INF, -INF, 1.0]), torch.ones(3)
    slopes = aten.gelu_backward(ones, x)
    assert bool(slopes[:2].isnan().all())
    is_right = of_overload(aten.gelu_backward.default, ones, x)
    assert is_right(torch.cat([torch.tensor([1.0, -0.0]), slopes[2:]]))
    assert not is_right(torch.cat([torch.tensor([0.0, 0.0]), slopes[2:]]))
    assert not is_right(torch.cat([torch.tensor([1.0, INF]), slopes[2:]]))
    rows = torch.tensor([[INF, 1.0, 2.0]])
    moments = of_overload(aten.std.correction, rows, [1])
    assert moments(torch.tensor([NAN]))


def test_operations_of_ieee_754_have_no_artifacts() -> None:
    x, zero = torch.tensor([INF, 1.0]), torch.zeros(2)
    assert not of_overload(aten.mul.Tensor, x, zero)(zero)
    assert not of_overload(aten.sum.default, torch.tensor([INF, -INF]))(torch.tensor(0.0))


def test_autocast_may_leave_the_inside_of_a_function_narrow() -> None:
    """For example the scores of cross_entropy, which accelerators cast after log_softmax."""
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(32, 5, generator=generator).bfloat16()
    labels = torch.zeros(32, dtype=torch.long)
    subject = FunctionSubject(torch.nn.functional.cross_entropy, (), torch.bfloat16)
    tree = ((scores, labels), {})
    narrow = torch.nn.functional.nll_loss(scores.log_softmax(-1).float(), labels)
    wide = torch.nn.functional.cross_entropy(scores.float(), labels)
    assert float((narrow - wide).abs()) > 1e-4
    assert verdict(subject, tree, narrow) and verdict(subject, tree, wide)
    assert not verdict(subject, tree, wide * 1.2)
    # Scores in float32 are never cast.
    tree = ((scores.float(), labels), {})
    assert verdict(subject, tree, wide) and not verdict(subject, tree, narrow)


def test_functions_that_autocast_casts_as_a_whole_are_judged_in_that_dtype() -> None:
    generator = torch.Generator().manual_seed(0)
    scores, labels = (torch.rand(32, 5, generator=generator).bfloat16() for _ in range(2))
    function = torch.nn.functional.binary_cross_entropy_with_logits
    subject = FunctionSubject(function, (), torch.bfloat16)
    wide = function(scores.float(), labels.float())
    assert verdict(subject, ((scores, labels), {}), wide)
    assert not verdict(subject, ((scores, labels), {}), wide * 1.001)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_limit_in_a_narrow_dtype(dtype: torch.dtype) -> None:
    x = torch.tensor([INF, -INF], dtype=dtype)
    is_right = of_overload(aten.mish.default, x)
    assert is_right(torch.tensor([INF, 0.0], dtype=dtype))
    assert not is_right(torch.tensor([INF, 1.0], dtype=dtype))
