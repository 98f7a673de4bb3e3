"""Sampling of calls by signature."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from dl_optools.compare.signature_sampling import Pick, SignatureSampler, signature_of

aten = torch.ops.aten


class Call:
    """The attributes of a call that the sampler reads."""

    def __init__(self, function: Any, *args: Any, **kwargs: Any) -> None:
        self.function, self.args, self.kwargs = function, args, kwargs


def key(function: Any, *args: Any, **kwargs: Any) -> Any:
    call: Any = Call(function, *args, **kwargs)
    return signature_of(call)


def test_shapes_strides_dtypes_and_flags_make_a_signature() -> None:
    x = torch.ones(3, 4)
    known = key(aten.sum.dim_IntList, x, [1])
    assert known == key(aten.sum.dim_IntList, x + 1, [1])
    others = [
        key(aten.sum.dim_IntList, x, [0]),
        key(aten.sum.dim_IntList, x, [1], True),
        key(aten.sum.dim_IntList, x.double(), [1]),
        key(aten.sum.dim_IntList, torch.ones(4, 3).t(), [1]),
        key(aten.sum.dim_IntList, torch.ones(4, 4), [1]),
        key(aten.mean.dim, x, [1]),
    ]
    assert len({known, *others}) == 7


def test_numbers_that_are_computed_with_do_not() -> None:
    x = torch.ones(3)
    assert key(aten.add.Scalar, x, 2) == key(aten.add.Scalar, x, 3)
    assert key(aten.add.Tensor, x, x, alpha=2) == key(aten.add.Tensor, x, x, alpha=3)
    assert key(torch.add, x, 2.0) == key(torch.add, x, 3.0)


def test_new_signatures_and_then_every_nth_call() -> None:
    sampler = SignatureSampler(3)
    calls: list[Any] = [Call(aten.exp.default, torch.ones(size)) for size in (2, 3)]
    picks = [sampler.pick(calls[0]) for _ in range(7)]
    assert picks == [Pick.NEW, Pick.SKIP, Pick.SKIP, Pick.AGAIN, Pick.SKIP, Pick.SKIP, Pick.AGAIN]
    assert sampler.pick(calls[1]) is Pick.NEW
    assert sampler.signatures == 2


def test_every_call() -> None:
    sampler = SignatureSampler(1)
    call: Any = Call(aten.exp.default, torch.ones(2))
    assert [sampler.pick(call) for _ in range(3)] == [Pick.NEW] * 3


def test_no_calls_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="every=0"):
        SignatureSampler(0)
