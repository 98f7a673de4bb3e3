"""Operators on lists of tensors are right on dl, and do not fall back as a whole.

torch splits such lists tensor by tensor. Each overload is called here by its schema; only an
operator on single tensors that the vendor does not claim may fall back.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils._pytree import tree_map

from .foreach_arguments import TENSORS, foreach_arguments
from .native import REFUSED

pytestmark = pytest.mark.vendor("cpu")

DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.int64)


def overloads() -> list[str]:
    """Return all overloads that take lists, except the out= forms that no kernel of torch writes to
    directly."""
    names = sorted({schema.name for schema in torch._C._jit_get_all_schemas()})
    found = []
    for name in names:
        if name.startswith("aten::_foreach_"):
            packet = getattr(torch.ops.aten, name.removeprefix("aten::"))
            found += [f"{packet.__name__}.{o}" for o in packet.overloads() if "out" not in o]
    return found


def operator(name: str) -> Any:
    packet, overload = name.split(".")
    return getattr(getattr(torch.ops.aten, packet), overload)


def run(op: Any, dtype: torch.dtype, device: str, wide: bool = False) -> Any:
    """Return the results, or the lists afterwards, on the CPU."""

    def move(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or leaf.shape == (TENSORS,):
            return leaf  # torch requires packed scalars on the CPU
        target = torch.float64 if wide and leaf.is_floating_point() else leaf.dtype
        return leaf.to(device, target, copy=True)

    positional, named = tree_map(move, foreach_arguments(op, dtype))
    strides = (
        [tensor.stride() for tensor in positional[0]] if isinstance(positional[0], list) else []
    )
    result = op(*positional, **named)
    if result is None:
        assert [tensor.stride() for tensor in positional[0]] == strides
        result = positional[0]
    return [tensor.cpu() for tensor in result]


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: str(dtype)[6:])
@pytest.mark.parametrize("name", overloads())
def test_lists_of_tensors(name: str, dtype: torch.dtype, vendor: str) -> None:
    op = operator(name)
    try:
        want = run(op, dtype, "cpu")
    except (RuntimeError, TypeError) as error:
        with pytest.raises(type(error)):
            run(op, dtype, "dl")
        return
    exact = run(op, dtype, "cpu", wide=True)
    claimed = {overload.split(".")[0].rstrip("_") for overload in torch.dl.native_operators(0)}
    refusal = ""
    try:
        with torch.dl.fallback("error"):
            got = run(op, dtype, "dl")
    except NotImplementedError as error:
        refusal = str(error)
        got = run(op, dtype, "dl")
    if refusal:
        refused = REFUSED.match(refusal)
        assert refused is not None
        assert not refused[1].startswith("_foreach")
        assert dtype != torch.float32 or refused[1].split(".")[0].rstrip("_") not in claimed
    assert [tensor.dtype for tensor in got] == [tensor.dtype for tensor in want]
    assert [tensor.stride() for tensor in got] == [tensor.stride() for tensor in want]
    eps = torch.finfo(dtype).eps if dtype.is_floating_point else torch.finfo(torch.float32).eps
    for have, reference in zip(got, exact, strict=True):
        torch.testing.assert_close(
            have.to(torch.float64),
            reference.to(torch.float64),
            rtol=16 * eps,
            atol=4 * eps,
            equal_nan=True,
        )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: torch._foreach_add([], 1), "at least one tensor"),
        (lambda x: torch._foreach_add([x, x], [x]), "same number of tensors"),
        (lambda x: torch._foreach_mul([x, x], [1.0]), "same number of elements as scalar list"),
        (lambda x: torch._foreach_addcmul([x], [x], [x, x]), "same number of tensors"),
    ],
)
def test_lists_that_do_not_go_together_are_refused(call: Any, message: str, vendor: str) -> None:
    for device in ("cpu", "dl"):
        with pytest.raises(RuntimeError, match=message):
            call(torch.ones(2, device=device))
