"""Rounding of overloads, derived from their schemas and shapes."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from diopi_proto.tolerance import OpClass
from diopi_proto.tolerance.torch_operators.op_classes import (
    Rule,
    combine_rules,
    draws,
    indices_match_values,
    is_defined,
    is_uninitialised,
    may_compute,
    rule_for,
)

aten = torch.ops.aten
T = torch.ones


@pytest.mark.parametrize(
    ("overload", "args", "position", "op_class", "terms"),
    [
        (aten.mm.default, (T(2, 7), T(7, 3)), 0, OpClass.MATMUL, 7),
        (aten.addmm.default, (T(3), T(2, 7), T(7, 3)), 0, OpClass.MATMUL, 7),
        (aten.bmm.default, (T(2, 3, 5), T(2, 5, 4)), 0, OpClass.MATMUL, 5),
        (aten.sum.dim_IntList, (T(4, 9), [1]), 0, OpClass.REDUCTION, 9),
        (aten._softmax.default, (T(4, 9), 1, False), 0, OpClass.REDUCTION, 9),
        (
            aten.native_layer_norm.default,
            (T(4, 3, 2), [3, 2], None, None, 1e-5),
            0,
            OpClass.REDUCTION,
            6,
        ),
        (aten.add.Tensor, (T(3), T(3)), 0, OpClass.ROUNDING, 1),
        (aten.add_.Tensor, (T(3), T(3)), -1, OpClass.ROUNDING, 1),
        (aten.exp.default, (T(3),), 0, OpClass.ELEMENTARY, 1),
        (aten._foreach_addcdiv_.Scalar, ([T(3)], [T(3)], [T(3)]), -1, OpClass.ELEMENTARY, 1),
        (aten.index_select.default, (T(3), 0, T(1).long()), 0, OpClass.EXACT, 1),
        (aten.index_put.default, (T(3), [T(1).long()], T(1), False), 0, OpClass.EXACT, 1),
        (aten.index_put.default, (T(3), [T(1).long()], T(1), True), 0, OpClass.REDUCTION, 3),
        (aten._to_copy.default, (T(3),), 0, OpClass.EXACT, 1),
    ],
    ids=lambda value: str(value) if isinstance(value, torch._ops.OpOverload) else "",
)
def test_rules(
    overload: Any, args: tuple[Any, ...], position: int, op_class: OpClass, terms: int
) -> None:
    result = overload(*args)
    result = result[0] if isinstance(result, tuple) else result
    result = args[0][0] if result is None else result
    rule = rule_for(overload, args, {}, result, position)
    assert (rule.op_class, rule.terms) == (op_class, terms)


def test_lengths_of_convolutions() -> None:
    x, weight = T(2, 4, 8, 8), T(6, 2, 3, 3)
    forward = (x, weight, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 2)
    out = aten.convolution.default(*forward)
    assert rule_for(aten.convolution.default, forward, {}, out, 0).terms == 2 * 9
    backward = (out, x, weight, [6], *forward[3:], [True, True, True])
    lengths = [
        rule_for(aten.convolution_backward.default, backward, {}, result, at).terms
        for at, result in enumerate(aten.convolution_backward.default(*backward))
    ]
    assert lengths == [3 * 9, 2 * 64, 2 * 64]


def test_sums_that_an_index_collects_may_all_meet_in_one_element() -> None:
    args = (T(8, 2), T(8).long(), 3, -1, False)
    result = aten.embedding_dense_backward.default(*args)
    assert rule_for(aten.embedding_dense_backward.default, args, {}, result, 0).terms == 16


@pytest.mark.parametrize(
    "overload",
    [
        aten.empty.memory_format,
        aten.empty_like.default,
        aten.new_empty.default,
        aten.empty_strided.default,
        aten.view.default,
        aten.transpose.int,
        aten.detach.default,
        aten.uniform_.default,
        aten.randn.default,
        aten.multinomial.default,
        aten.resize_.default,
    ],
    ids=str,
)
def test_overloads_without_a_reference(overload: Any) -> None:
    assert not may_compute(overload)


def test_overloads_with_a_reference() -> None:
    assert may_compute(aten.add.Tensor) and may_compute(aten.native_dropout.default)
    assert is_uninitialised(aten.empty_like.default)
    assert not is_uninitialised(aten.zeros_like.default)


def test_switches_of_random_operators() -> None:
    x = T(1, 1, 2, 2)
    attention = aten._scaled_dot_product_flash_attention_for_cpu.default
    assert draws(aten.native_dropout.default, (x, 0.5, True), {})
    assert not draws(aten.native_dropout.default, (x, 0.5, False), {})
    assert not draws(attention, (x, x, x), {})
    assert draws(attention, (x, x, x, 0.1), {})
    assert not draws(aten.add.Tensor, (x, x), {})


def test_rules_of_several_overloads_add_up() -> None:
    exact, sums = Rule(OpClass.EXACT), Rule(OpClass.REDUCTION, 10)
    assert combine_rules([exact]).op_class is OpClass.EXACT
    assert combine_rules([exact, sums]) == sums
    both = combine_rules([sums, Rule(OpClass.ELEMENTARY)])
    assert both == Rule(OpClass.REDUCTION, 27, roundings=1)


def test_choices_among_equals() -> None:
    x = torch.tensor([[1.0, 3.0, 3.0, 0.0]])
    values, first, other = (
        torch.tensor([[3.0, 3.0]]),
        torch.tensor([[1, 2]]),
        torch.tensor([[2, 1]]),
    )
    for indices in (first, other):
        assert indices_match_values(aten.topk.default, (x, 2), {}, values, indices)
    assert not indices_match_values(aten.topk.default, (x, 2), {}, values, torch.tensor([[1, 1]]))
    assert not indices_match_values(aten.topk.default, (x, 2), {}, values, torch.tensor([[1, 0]]))
    assert not indices_match_values(aten.topk.default, (x, 2), {}, values, torch.tensor([[1, 9]]))
    assert not indices_match_values(aten.exp.default, (x,), {}, values, first)


@pytest.mark.parametrize(
    ("overload", "positions"),
    [
        (aten._scaled_dot_product_fused_attention_overrideable.default, {6, 7, 8}),
        (aten._scaled_dot_product_flash_attention.default, {6, 7, 8}),
        (aten._scaled_dot_product_efficient_attention.default, {2, 3}),
        (aten._scaled_dot_product_cudnn_attention.default, {6, 7, 8}),
        (aten._flash_attention_forward.default, {2, 3, 4}),
        (aten._efficient_attention_forward.default, {2, 3}),
        (aten._scaled_dot_product_flash_attention_for_cpu.default, set()),
        (aten._batch_norm_with_update.default, {3}),
        (aten._cudnn_rnn.default, {3, 4}),
        (aten.native_batch_norm.default, set()),
        (aten.native_dropout.default, set()),
        (aten.add.Tensor, set()),
    ],
)
def test_states_of_generators_and_reserves_have_no_one_right_value(
    overload: Any, positions: set[int]
) -> None:
    count = len(overload._schema.returns)
    assert {at for at in range(count) if not is_defined(overload, at)} == positions
    assert is_defined(overload, -1)
