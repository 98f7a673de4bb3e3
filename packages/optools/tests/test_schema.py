from __future__ import annotations

import pytest
import torch

from diopi_proto.tolerance.torch_operators.schema import Overload, signature
from dl_optools.computing import computes, only_describes

aten = torch.ops.aten


@pytest.mark.parametrize(
    "overload",
    [
        aten.view.default,
        aten.transpose.int,
        aten.slice.Tensor,
        aten.split.Tensor,
        aten.unbind.int,
        aten.detach.default,
        aten.t_.default,
        aten.resize_.default,
        aten.set_.source_Tensor,
    ],
)
def test_views_and_changes_of_a_description_compute_nothing(overload: Overload) -> None:
    assert signature(overload).view and not computes(overload)


@pytest.mark.parametrize(
    "overload",
    [aten.add.Tensor, aten.add_.Tensor, aten.add.out, aten.clone.default, aten.cat.default],
)
def test_others_compute(overload: Overload) -> None:
    assert not signature(overload).view and computes(overload)


def test_conversions_do_not_compute_and_are_not_views() -> None:
    for overload in (aten._to_copy.default, aten.copy_.default):
        assert not signature(overload).view and not computes(overload)


def test_written_and_returned_tensors() -> None:
    facts = signature(aten.max.dim_max)
    assert facts.written == {"max", "max_values"} and facts.returned == ("max", "max_values")
    x, values, indices = torch.ones(2, 2), torch.ones(2), torch.ones(2, dtype=torch.int64)
    found = facts.mutated_tensors((x, 0), {"max": values, "max_values": indices})
    assert found[0] is values and found[1] is indices
    assert signature(aten.add_.Tensor).returned == ("self",)
    assert signature(aten.add.Tensor).returned == (None,)


def test_random_operators_are_known() -> None:
    assert signature(aten.bernoulli.default).random and not signature(aten.add.Tensor).random


@pytest.mark.parametrize(
    ("function", "name", "expected"),
    [
        (torch.Tensor.transpose, "torch.Tensor.transpose", True),
        (torch.flatten, "torch.flatten", True),
        (torch.Tensor.to, "torch.Tensor.to", True),
        (torch.split, "torch.functional.split", True),
        (torch.add, "torch.add", False),
        (torch.nn.functional.linear, "torch.nn.functional.linear", False),
        # The index decides if the result is a view.
        (torch.Tensor.__getitem__, "torch.Tensor.__getitem__", False),
        (aten.view.default, "aten.view.default", True),
        (len, "third_party.fused", False),
    ],
)
def test_functions_that_only_describe_are_known_by_their_overloads(
    function: object, name: str, expected: bool
) -> None:
    assert only_describes(function, name) is expected  # type: ignore[arg-type]
