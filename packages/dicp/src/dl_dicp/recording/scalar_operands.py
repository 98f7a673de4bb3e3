"""Decompositions of operators with a scalar operand into operators on two tensors.

Torch turns such a scalar into a host tensor, but vendors' operators take device tensors. As a
zero-dimensional device tensor, the scalar is a constant of the graph.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import mul
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten


def rsub(x: Tensor, other: Any, alpha: Any = 1) -> Tensor:
    """Return ``other - alpha * x``."""
    x = x.to(torch.result_type(x, other))
    minus: Tensor = -x if alpha == 1 else x * -alpha
    return torch.add(minus, other)


def _with_tensor(operator: Any) -> Callable[..., Any]:
    def run(one: Any, other: Any) -> Any:
        is_first = isinstance(one, Tensor)
        tensor, number = (one, other) if is_first else (other, one)
        dtype = _dtype(number, tensor)
        if dtype is None:
            return NotImplemented
        made = torch.full((), number, dtype=dtype, device=tensor.device)
        if tensor.dim() == 0 and not made.is_floating_point() and tensor.dtype != torch.bool:
            # Next to a zero-dimensional tensor, a wider integer dtype would determine the dtype of
            # the result.
            made = made.to(tensor.dtype)
        return operator(tensor, made) if is_first else operator(made, tensor)

    return run


def _dtype(number: Any, tensor: Tensor) -> torch.dtype | None:
    """Return the dtype of a zero-dimensional tensor that promotes like the scalar, or None if no
    dtype does."""
    if isinstance(number, complex):
        return None
    if tensor.is_floating_point() or tensor.is_complex():
        return tensor.dtype
    if isinstance(number, bool | torch.SymBool):
        return torch.bool
    if isinstance(number, int | torch.SymInt):
        return torch.int64
    return torch.get_default_dtype()


def _floor(x: Tensor, other: Any) -> Tensor:
    return torch.div(x, other, rounding_mode="floor")


def _shifted(scale: Callable[[Tensor, int], Tensor]) -> Callable[..., Any]:
    """Return an operator that shifts integers by a scalar whose power of 2 fits their dtype."""

    def run(x: Tensor, places: Any) -> Any:
        fits = isinstance(places, int) and not x.is_floating_point() and x.dtype != torch.bool
        if not fits or not 0 <= places < torch.iinfo(x.dtype).bits - 1:
            return NotImplemented
        return scale(x, 1 << places)

    return run


def ldexp(x: Tensor, exponent: Tensor) -> Any:
    """Return ``x * 2 ** exponent``, rounded once for integer exponents, as in eager mode.

    :returns: NotImplemented if torch rejects the arguments.
    """
    if x.is_complex() or exponent.is_floating_point():
        return x * torch.pow(2.0, exponent)
    if exponent.dtype == torch.bool:
        return NotImplemented if x.is_floating_point() else x * torch.pow(2.0, exponent)
    x = x if x.is_floating_point() else x.to(torch.get_default_dtype())
    wide = x.to(torch.float64)
    if x.dtype != torch.float64:
        # A double holds all products; larger exponents over- or underflow in narrower dtypes.
        return (wide * _power_of_two(exponent.to(torch.int64).clamp(-1000, 1000))).to(x.dtype)
    # Powers of two outside of double's range are split. A product that is subnormal before the last
    # step would be rounded twice, unless the other factors are below 2**-53 and make it 0.
    rest = exponent.to(torch.int64).clamp(-2200, 2200)
    for _ in range(3):
        part = torch.where(rest < -1022, -1022 + 53, rest.clamp(max=1023))
        wide = wide * _power_of_two(part)
        rest = rest - part
    return wide


def _power_of_two(exponent: Tensor) -> Tensor:
    """Return ``2.0 ** exponent`` exactly as float64, for exponents from -1022 to 1023."""
    return ((exponent + 1023) * (1 << 52)).view(torch.float64)


def floor_divide(x: Any, other: Any) -> Any:
    """Return ``x // other``, computed by an operator that torch has tagged as pointwise."""
    return _floor(x, other) if isinstance(x, Tensor) else _with_tensor(_floor)(x, other)


def masked_fill(x: Tensor, mask: Tensor, value: Tensor) -> Any:
    """Decompose ``masked_fill`` with a value tensor on the host or of another dtype.

    :returns: NotImplemented if the vendor's operator supports the value as it is, or if the value
        may overflow the dtype of `x`, which is an error in eager mode.
    """
    same = value.dtype == x.dtype
    if same and value.device == x.device:
        return NotImplemented
    fits = x.dtype == torch.float64 or (x.dtype == torch.float32 and value.dtype != torch.float64)
    if not same and (not fits or value.is_complex()):
        return NotImplemented
    return torch.where(mask, value.to(x.dtype), x)


NUMBERS: dict[Any, Callable[..., Any]] = {
    aten.rsub.Scalar: rsub,
    aten.pow.Scalar: _with_tensor(aten.pow.Tensor_Tensor),
    aten.remainder.Scalar_Tensor: _with_tensor(aten.remainder.Tensor),
    aten.fmod.Scalar: _with_tensor(aten.fmod.Tensor),
    aten.copysign.Scalar: _with_tensor(aten.copysign.Tensor),
    aten.xlogy.Scalar_Self: _with_tensor(aten.xlogy.Tensor),
    aten.xlogy.Scalar_Other: _with_tensor(aten.xlogy.Tensor),
    aten.bitwise_xor.Scalar: _with_tensor(aten.bitwise_xor.Tensor),
    aten.__lshift__.Scalar: _shifted(mul),
    aten.__rshift__.Scalar: _shifted(_floor),
    aten.bitwise_left_shift.Tensor_Scalar: _shifted(mul),
    aten.bitwise_right_shift.Tensor_Scalar: _shifted(_floor),
    aten.ldexp.Tensor: ldexp,
    aten.floor_divide.default: floor_divide,
    aten.masked_fill.Tensor: masked_fill,
}
"""Return the decompositions for AOTAutograd."""
