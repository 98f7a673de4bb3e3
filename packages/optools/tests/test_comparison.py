"""Comparison of one result with its reference: rounding is accepted, every fault is detected."""

from __future__ import annotations

import math

import pytest
import torch

from diopi_proto.tolerance import OpClass
from diopi_proto.tolerance.torch_operators.comparison import (
    compare_tensors,
    compare_values,
    equal_to_peer,
    same_values,
    within_tolerance,
)
from diopi_proto.tolerance.torch_operators.op_classes import Rule
from dl_optools.compare.screening import screen, within_bound

FLOATS = [torch.float32, torch.float16, torch.bfloat16]
CLASSES = [OpClass.ROUNDING, OpClass.ELEMENTARY, OpClass.REDUCTION, OpClass.MATMUL]


def reference(count: int = 100) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(count, generator=generator, dtype=torch.float64)


def next_up(x: torch.Tensor) -> torch.Tensor:
    whole = {4: torch.int32, 2: torch.int16}[x.itemsize]
    return (x.view(whole) + 1).view(x.dtype)


@pytest.mark.parametrize("op_class", CLASSES, ids=lambda c: c.value)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_one_ulp_is_right(dtype: torch.dtype, op_class: OpClass) -> None:
    want = reference()
    got = next_up(want.to(dtype))
    found = compare_tensors("output 0", got, want, Rule(op_class))
    assert found.ok
    assert 0 < found.units <= 1 and found.max_abs == float((got.double() - want).abs().max())


@pytest.mark.parametrize("op_class", CLASSES, ids=lambda c: c.value)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_the_quick_way_agrees_with_the_whole_comparison(
    dtype: torch.dtype, op_class: OpClass
) -> None:
    want = reference(40_000)
    rule = Rule(op_class, terms=7)
    got = want.to(dtype)
    quick = within_bound("output 0", got, want, rule)
    whole = compare_tensors("output 0", got, want, rule)
    assert quick is not None
    assert quick.units == pytest.approx(whole.units, rel=1e-3)
    assert quick.max_abs == whole.max_abs and quick.max_rel == whole.max_rel
    # Sums of 40,000 doubles, added in an order that depends on the number of threads.
    assert quick.cosine == pytest.approx(whole.cosine, abs=40_000**0.5 * 2**-53)
    got[31_234] *= 1.1
    assert within_bound("output 0", got, want, rule) is None
    assert not compare_tensors("output 0", got, want, rule).ok


def test_a_magnitude_widens_the_bound_of_a_sum() -> None:
    want = torch.tensor([1e-3], dtype=torch.float64)
    got = (want + 1e-6).float()
    rule = Rule(OpClass.MATMUL, terms=10)
    assert within_bound("output 0", got, want, rule) is None
    screening = screen("output 0", got, want, rule)
    assert screening is not None and screening.clear(torch.tensor([10.0]).double()) is not None
    assert compare_tensors("output 0", got, want, rule, torch.tensor([10.0]).double()).ok


@pytest.mark.parametrize(
    ("got", "want"),
    [(0.0, math.nan), (math.nan, 0.0), (3e38, math.inf), (math.inf, 1.0), (math.inf, -math.inf)],
)
def test_nan_and_infinity_have_to_be_met(got: float, want: float) -> None:
    values = [torch.tensor([1.0, got]), torch.tensor([1.0, want], dtype=torch.float64)]
    assert within_bound("output 0", *values, Rule(OpClass.ELEMENTARY)) is None
    found = compare_tensors("output 0", *values, Rule(OpClass.ELEMENTARY))
    assert not found.ok and found.max_abs == math.inf
    assert not within_tolerance("output 0", *values, (1.0, 1.0)).ok


@pytest.mark.parametrize("rule", [Rule(OpClass.ELEMENTARY), Rule(OpClass.MATMUL, 9, 1)])
def test_screening_clears_nothing_that_the_comparison_does_not(rule: Rule) -> None:
    want, sizes = reference(400), reference(400).abs() * 3
    steps = torch.arange(400).double()
    got = (want * (1 + steps * 2.0**-26)).float()
    peer = (want * (1 + steps.flip(0) * 2.0**-28)).float()
    got[5], peer[6] = math.inf, math.nan
    for magnitude, other in ((None, None), (sizes, None), (None, peer), (sizes, peer)):
        screening = screen("output 0", got, want, rule)
        assert screening is not None
        screening.clear(magnitude, other)
        cleared = torch.ones(400, dtype=torch.bool)
        cleared[screening.suspects] = False
        assert 0 < int(cleared.sum()) < 400
        right = torch.where(cleared, got.double(), want).float()
        assert compare_tensors("output 0", right, want, rule, magnitude, other).ok
        for at in (int(screening.suspects[0]), int(screening.suspects[-1])):
            wrong = want.float()
            wrong[at] = got[at] if at == 5 else got[at] + (got[at] - want[at].float())
            assert not compare_tensors("output 0", wrong, want, rule, magnitude, other).ok


def test_nan_and_infinity_as_in_the_reference() -> None:
    got = torch.tensor([math.nan, math.inf, -math.inf, 1.0])
    for found in (
        within_bound("output 0", got, got.double(), Rule(OpClass.ELEMENTARY)),
        compare_tensors("output 0", got, got.double(), Rule(OpClass.ELEMENTARY)),
        within_tolerance("output 0", got, got.double(), (0.0, 0.0)),
    ):
        assert found is not None and found.ok and found.units <= 1


def test_uint8_differences_do_not_wrap() -> None:
    got, want = torch.tensor([1, 5], dtype=torch.uint8), torch.tensor([2, 5], dtype=torch.uint8)
    found = compare_tensors("output 0", got, want, Rule(OpClass.EXACT))
    assert not found.ok and found.max_abs == 1
    assert "1 of 2" in found.detail


def test_integers_are_the_reference_or_the_peer() -> None:
    want, peer = torch.tensor([1, 2, 3]), torch.tensor([1, 7, 3])
    assert compare_tensors("output 0", peer, want, Rule(OpClass.EXACT), peer=peer).ok
    got = torch.tensor([1, 7, 4])
    assert not compare_tensors("output 0", got, want, Rule(OpClass.EXACT), peer=peer).ok


def test_the_cpus_result_in_the_same_dtype_is_right() -> None:
    want = reference()
    peer = want.float() * (1 + 1e-3)
    rule = Rule(OpClass.ELEMENTARY)
    assert not compare_tensors("output 0", peer, want, rule).ok
    found = compare_tensors("output 0", peer.clone(), want, rule, peer=peer)
    assert found.ok and found.max_rel == pytest.approx(1e-3, rel=1e-2)
    assert not compare_tensors("output 0", peer * 1.01, want, rule, peer=peer).ok


@pytest.mark.parametrize(
    ("got", "word"),
    [(torch.zeros(2, 3), "shape"), (torch.zeros(3, dtype=torch.int32), "dtype")],
)
def test_shape_and_dtype_count(got: torch.Tensor, word: str) -> None:
    found = compare_tensors("output 0", got, reference(3), Rule(OpClass.EXACT))
    assert not found.ok and word in found.detail and found.units == math.inf


def test_a_reference_of_the_same_dtype_may_be_off_as_well() -> None:
    exact = reference()
    low, high = exact.float(), exact.float()
    for _ in range(2):
        low, high = next_up(low), high
    assert compare_tensors("output 0", low, high, Rule(OpClass.ROUNDING)).ok
    assert not compare_tensors("output 0", low, next_down(high, 3), Rule(OpClass.ROUNDING)).ok


def next_down(x: torch.Tensor, count: int) -> torch.Tensor:
    return (x.view(torch.int32) - count).view(torch.float32)


def test_tolerances() -> None:
    want = torch.tensor([1.0, 100.0], dtype=torch.float64)
    got = torch.tensor([1.05, 100.0])
    assert within_tolerance("output 0", got, want, (0.0, 0.1)).ok
    found = within_tolerance("output 0", got, want, (0.01, 0.01))
    assert not found.ok and found.units == pytest.approx(2.5, rel=1e-4)
    assert found.tolerance == (0.01, 0.01) and "atol=0.01" in found.detail


def test_cosine_of_opposite_vectors() -> None:
    found = compare_tensors("output 0", -reference().float(), reference(), Rule(OpClass.ELEMENTARY))
    assert found.cosine == pytest.approx(-1) and not found.ok


def test_same_values() -> None:
    nan = torch.tensor([math.nan, 0.0])
    assert same_values(nan, torch.tensor([math.nan, -0.0]))
    assert not same_values(nan, nan.double())
    assert equal_to_peer("output 0", nan, nan.clone()) is not None
    assert equal_to_peer("output 0", nan, torch.zeros(2)) is None


def test_values_that_are_not_tensors() -> None:
    assert compare_values("output 0", math.nan, math.nan).ok
    assert compare_values("output 0", 3, 3).ok
    assert not compare_values("output 0", 3, 4).ok
    assert not compare_values("output 0", None, torch.ones(1)).ok


def test_empty_results_agree() -> None:
    empty = torch.empty(0, 3)
    found = within_bound("output 0", empty, empty.double(), Rule(OpClass.MATMUL))
    assert found is not None and found.ok and math.isnan(found.max_abs)
