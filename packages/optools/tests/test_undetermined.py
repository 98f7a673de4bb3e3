"""No operator is blamed where float32 itself overflows, or has no correct digit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  (the name that everybody uses)

from dl_optools.compare.equivalents import EQUIVALENTS
from faulty_device import compared

A = torch.ops.aten
FORWARD = "_scaled_dot_product_fused_attention_overrideable"


def in_float64(func: Any, args: Any, kwargs: Any) -> Any:
    """A correct device that scales intermediate results."""
    wide = [x.double() if isinstance(x, torch.Tensor) else x for x in args]
    result = func(*wide, **kwargs)
    return tuple(x.float() for x in result) if isinstance(result, tuple) else result.float()


def filled(value: float) -> Callable[..., Any]:
    """A device that overflows differently from the CPU."""

    def compute(func: Any, args: Any, kwargs: Any) -> Any:
        result = func(*args, **kwargs)
        if not isinstance(result, tuple):
            return torch.full_like(result, value)
        return tuple(x if at == 1 else torch.full_like(x, value) for at, x in enumerate(result))

    return compute


NORMS: dict[str, Callable[[torch.Tensor], Any]] = {
    "native_group_norm": lambda x: F.group_norm(x, 3),
    "native_layer_norm": lambda x: F.layer_norm(x, (5, 5)),
    "native_batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    "linalg_vector_norm": lambda x: x.norm(dim=1),
}


@pytest.mark.parametrize("name", list(NORMS))
def test_a_norm_whose_squares_overflow_accuses_no_device(name: str) -> None:
    torch.manual_seed(0)
    x = torch.randn(4, 6, 5, 5)
    overload = f"aten.{name}.default"
    for instead in (None, in_float64, filled(math.nan), filled(math.inf), filled(0.0)):
        tool = compared(lambda: NORMS[name](x * 1e27), overload, instead=instead)
        assert tool.results.guilty == [] and tool.results.checked, instead
    # The same results are wrong if nothing overflows.
    for value in (math.nan, math.inf, 0.0):
        tool = compared(lambda: NORMS[name](x), overload, instead=filled(value))
        assert tool.results.guilty == [overload]


def test_omissions_are_reported() -> None:
    tool = compared(
        lambda: F.group_norm(torch.randn(4, 6, 5, 5) * 1e27, 3),
        "aten.native_group_norm.default",
        instead=filled(math.nan),
    )
    assert any("overflows" in what for _, what in tool.results.unjudged)
    assert "1 partly checked: output 0: float32 itself overflows" in tool.results.text()


def attend(scale: float, dtype: torch.dtype = torch.float32) -> Callable[[], None]:
    """Attention and its gradient as on a device: the gradient reads the sums of scores."""

    def work() -> None:
        torch.manual_seed(1)
        q, k, v, incoming = (torch.randn(4, 1, 2, 16, 8) * scale).to(dtype)
        found = getattr(A, FORWARD)(q, k, v, is_causal=True)
        getattr(A, f"{FORWARD}_backward")(
            incoming,
            q,
            k,
            v,
            None,
            [True, True, True, False],
            *(found[0], found[1], None, None, 16, 16, 0.0, True, None, None),
        )

    return work


def fused(change: Callable[[Any], Any] = lambda x: x) -> Callable[..., Any]:
    """A device with its own attention, in float32 throughout."""

    def compute(func: Any, args: Any, kwargs: Any) -> Any:
        own = EQUIVALENTS.get(func._schema.name.partition("::")[2])
        if own is None:
            return func(*args, **kwargs)
        types = [str(each.type) for each in func._schema.returns]
        nothing = {"Tensor": torch.empty(0), "int": 16}
        found = change(own(*args, **kwargs))
        return tuple(
            nothing[kind] if x is None else x for x, kind in zip(found, types, strict=True)
        )

    return compute


def recomputed(found: Any) -> Any:
    """Gradients of a device that adds scores in another order: weights are nan, infinity or 0."""
    return tuple(None if x is None else x * math.nan for x in found) if len(found) == 4 else found


@pytest.mark.parametrize("scale", [1e4, 1e10, 1e15, 1e18, 1e19, 1e25])
def test_attention_whose_scores_lose_all_digits_accuses_no_device(scale: float) -> None:
    tool = compared(attend(scale), ".*", instead=fused())
    assert tool.results.guilty == []
    assert tool.results.checked and not tool.results.not_comparable
    tool = compared(attend(scale), ".*", instead=fused(recomputed))
    assert tool.results.guilty == [] and tool.results.unjudged

    def work() -> None:
        torch.manual_seed(1)
        q, k, v = (torch.randn(3, 1, 2, 16, 8) * scale).requires_grad_()
        F.scaled_dot_product_attention(q, k, v, is_causal=True).sum().backward()

    assert compared(work).results.guilty == []


def test_attention_whose_scores_are_as_usual_is_judged() -> None:
    def wrong_sums(found: Any) -> Any:
        return found if len(found) == 4 else (found[0], found[1] + 0.02, *found[2:])

    def wrong_gradient(found: Any) -> Any:
        return (found[0] * 1.02, *found[1:]) if len(found) == 4 else found

    for change, guilty in ((wrong_sums, FORWARD), (wrong_gradient, f"{FORWARD}_backward")):
        for scale in (1.0, 3.0):
            tool = compared(attend(scale), ".*", instead=fused(change))
            assert tool.results.guilty == [f"aten.{guilty}.default"]
    assert compared(attend(1.0), ".*", instead=fused()).results.guilty == []


def test_heads_that_share_keys_are_compared() -> None:
    def work() -> None:
        torch.manual_seed(1)
        q, k = torch.randn(1, 4, 6, 8), torch.randn(1, 2, 6, 8)
        found = getattr(A, FORWARD)(q, k, k)
        getattr(A, f"{FORWARD}_backward")(
            q,
            q,
            k,
            k,
            None,
            [True, True, True, False],
            *(found[0], found[1], None, None, 6, 6, 0.0, False, None, None),
        )

    tool = compared(work, ".*", instead=fused())
    assert tool.results.guilty == [] and tool.results.checked == 2


def test_a_gradient_that_cancels_in_float64_accuses_no_operator() -> None:
    """The reference is as inaccurate as the result, and an expanded gradient cancels exactly."""
    x = torch.randn(4, 81, dtype=torch.float64).requires_grad_()

    def one_rounding(result: Any) -> Any:
        return (torch.zeros_like(result[0]), *result[1:])

    def work() -> None:
        F.layer_norm(x, (81,)).sum().backward()

    name = "aten.native_layer_norm_backward.default"
    assert compared(work, name, one_rounding).results.guilty == []
    wrong = compared(work, name, lambda result: (result[0] + 1e-13, *result[1:]))
    assert wrong.results.guilty == [name]


def test_a_product_whose_terms_overflow_in_another_order_accuses_no_operator() -> None:
    """3e38 - 3e38 + 1e38 is 1e38 or infinity, depending on the order of the terms."""
    left = torch.tensor([[3e19, 3e19, -3e19, 1e19]])
    right = torch.tensor([[1e19], [1e19], [1e19], [1e19]])
    name = "aten.mm.default"

    def overflow(func: Any, args: Any, kwargs: Any) -> Any:
        return torch.full_like(func(*args, **kwargs), math.inf)

    assert compared(lambda: left @ right, name, instead=overflow).results.guilty == []
    small = compared(lambda: (left / 10) @ right, name, instead=overflow)
    assert small.results.guilty == [name]
