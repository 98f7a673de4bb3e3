"""Values for the tensors and scalars of a call: extremes of the dtype, ties, large magnitudes."""

from __future__ import annotations

import math
import random
from typing import Any

import torch

_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -0.5, 2.0, -3.0, math.pi, 1e-3, 100.0)
_INTEGERS = (0, 1, -1, 2, 3, 7, -5, 100)
_SCALARS: dict[type, tuple[Any, ...]] = {
    bool: (False, True),
    int: (0, 1, -1, 2, 3, -2, 5, 7, -3, 17, 127, 256, 2**31 - 1, -(2**31), 2**31, 2**63 - 1),
    float: (*_FLOATS, math.inf, -math.inf, math.nan, 1e-8, 1e30, -1e38, 1e300, 5e-324, 65504.0),
}
_SMALL_INTEGERS = _SCALARS[int][:9]


def scalar_like(draw: random.Random, value: Any, *, small: bool = True) -> Any:
    """Return another scalar, usually of the type of ``value``.

    :param small: draw no integers that would make tensors of gigabytes as a size.
    """
    kind = type(value)
    if draw.random() < 0.1:
        kind = draw.choice((bool, int, float))
    if kind is complex:
        return complex(draw.choice(_SCALARS[float]), draw.choice(_FLOATS))
    if kind is int and small:
        return draw.choice((*_SMALL_INTEGERS, int(value) + 1, int(value) - 1, -int(value)))
    return draw.choice(_SCALARS[kind])


def _specials(dtype: torch.dtype) -> tuple[Any, ...]:
    if dtype == torch.bool:
        return (False, True)
    if dtype.is_floating_point:
        info = torch.finfo(dtype)
        subnormal = info.smallest_normal * info.eps
        limits = (info.max, info.min, info.smallest_normal, subnormal, -subnormal, info.eps)
        return (*_FLOATS, *limits, math.inf, -math.inf, math.nan, math.sqrt(info.max))
    integers = torch.iinfo(dtype)
    limits = (integers.min, integers.max, integers.min + 1, integers.max - 1)
    return tuple(x for x in (*_INTEGERS, *limits) if integers.min <= x <= integers.max)


def _choices(draw: random.Random, dtype: torch.dtype, count: int) -> torch.Tensor:
    """Return ``count`` special values of the dtype."""
    if dtype.is_complex:
        part = {torch.complex64: torch.float32, torch.complex128: torch.float64}
        real = part.get(dtype, torch.float16)
        return torch.complex(
            _choices(draw, real, count).float(), _choices(draw, real, count).float()
        ).to(dtype)
    return torch.tensor(draw.choices(_specials(dtype), k=count), dtype=dtype)


def change_values(draw: random.Random, tensor: torch.Tensor) -> torch.Tensor:
    """Return a contiguous copy of ``tensor`` with other values."""
    copy = tensor.detach().clone(memory_format=torch.contiguous_format)
    count = copy.numel()
    if count == 0 or count > 1 << 16:
        return copy
    flat = copy.view(-1)
    way = draw.random()
    if way < 0.35:  # a few special elements
        chosen = [draw.randrange(count) for _ in range(draw.choice((1, 1, 2, max(1, count // 4))))]
        flat[chosen] = _choices(draw, copy.dtype, len(chosen))
    elif way < 0.5:  # nothing else
        flat.copy_(_choices(draw, copy.dtype, count))
    elif way < 0.6:  # one value
        flat.fill_(_choices(draw, copy.dtype, 1)[0])
    elif way < 0.75:  # ties
        few = _choices(draw, copy.dtype, 2)
        flat.copy_(few[torch.tensor(draw.choices((0, 1), k=count))])
    elif way < 0.9:  # another magnitude
        if copy.dtype.is_floating_point or copy.dtype.is_complex:
            flat.mul_(10.0 ** draw.choice((-30, -20, -8, -4, 2, 4, 8, 18, 20, 30)))
        elif copy.dtype != torch.bool:
            flat.mul_(draw.choice((-1, 0, 2, 3)))
    else:  # the first row everywhere
        copy.copy_(copy[:1].clone() if copy.dim() else copy)
    return copy
