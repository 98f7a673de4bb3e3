"""``torch.vmap`` over fused attention gives the CPU's result, in one call of the operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.func import grad, vmap
from torch.nn.functional import scaled_dot_product_attention as attention

FUSED = "_scaled_dot_product_fused_attention_overrideable"


def tensors(*shapes: tuple[int, ...]) -> list[Tensor]:
    torch.manual_seed(0)
    return [torch.randn(shape) for shape in shapes]


HEADS = (3, 2, 4, 5, 8)  # mapped, batch, heads, length, width
QUERY_KEY_VALUE = tensors(HEADS, HEADS, HEADS)

MASKS: dict[str, tuple[Tensor | None, int | None]] = {
    "none": (None, None),
    "mapped": (tensors((3, 2, 4, 5, 5))[0], 0),
    "mapped, for all of the batch": (tensors((3, 1, 4, 1, 5))[0], 0),
    "mapped, three dimensions": (tensors((3, 4, 5, 5))[0], 0),
    "mapped, in the last place": (tensors((5, 5, 3))[0], 2),
    "shared": (tensors((5, 5))[0], None),
    "shared, booleans": (torch.ones(5, 5).tril() > 0, None),
}


def both(function: Callable[..., Any], in_dims: Any, given: list[Any]) -> tuple[Any, Any]:
    """Return the results on dl and on the CPU."""
    on_dl = [x.to("dl") if isinstance(x, Tensor) else x for x in given]
    return vmap(function, in_dims)(*on_dl), vmap(function, in_dims)(*given)


def assert_close(given: Any, wanted: Any) -> None:
    one, other = ((x,) if isinstance(x, Tensor) else x for x in (given, wanted))
    for a, b in zip(one, other, strict=True):
        torch.testing.assert_close(a.cpu(), b, atol=1e-5, rtol=1e-5)


pytestmark = [
    pytest.mark.filterwarnings("ignore:There is a performance drop"),  # of the CPU
    # Devices without attention run it on the CPU, in several calls.
    pytest.mark.vendor("cpu"),
]


@pytest.mark.parametrize("mask", MASKS)
def test_mapped_attention(mask: str) -> None:
    bias, dim = MASKS[mask]
    torch.dl.reset_fallback_stats()

    given = both(attention, (0, 0, 0, dim), [*QUERY_KEY_VALUE, bias])
    assert_close(*given)
    assert not torch.dl.fallback_stats()


@pytest.mark.parametrize("mask", [name for name in MASKS if "booleans" not in name])
def test_gradients_of_mapped_attention(mask: str) -> None:
    bias, dim = MASKS[mask]

    def loss(*given: Any) -> Tensor:
        return attention(*given).sin().sum()

    wanted = (0, 1, 2) if bias is None else (0, 1, 2, 3)
    assert_close(*both(grad(loss, wanted), (0, 0, 0, dim), [*QUERY_KEY_VALUE, bias]))


def test_what_is_mapped_may_be_in_any_place_or_nowhere() -> None:
    query, key, value = QUERY_KEY_VALUE
    moved = [query.movedim(0, 1), key.movedim(0, 3), value]
    assert_close(*both(attention, (1, 3, 0), moved))
    assert_close(*both(attention, (0, None, None), [query, key[0], value[0]]))
    causal = both(lambda *given: attention(*given, is_causal=True), 0, QUERY_KEY_VALUE)
    assert_close(*causal)


def test_maps_within_maps() -> None:
    given = tensors((2, *HEADS), (2, *HEADS), (2, *HEADS))
    assert_close(*both(vmap(attention), 0, given))
    inner = vmap(attention, (0, None, None))
    assert_close(*both(inner, 0, [given[0], given[1][:, 0], given[2][:, 0]]))


def test_the_gradient_of_a_map() -> None:
    grads = []
    for device in ("dl", "cpu"):
        given = [x.to(device).requires_grad_() for x in QUERY_KEY_VALUE]
        vmap(attention)(*given).sin().sum().backward()
        grads.append([x.grad for x in given])
    assert_close(*grads)


def test_mapped_attention_is_one_call() -> None:
    seen: list[tuple[int, ...]] = []

    class Watch(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None):  # type: ignore[no-untyped-def]
            if FUSED in str(func):
                seen.append(tuple(args[0].shape))
            return func(*args, **(kwargs or {}))

    with Watch():
        vmap(attention)(*(x.to("dl") for x in QUERY_KEY_VALUE))
    assert seen == [(6, 4, 5, 8)]
