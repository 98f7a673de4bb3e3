"""Comparison of a result with its reference, in units of the rounding bound or of a tolerance.

The bound is computed by :mod:`diopi_proto.tolerance`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from .. import Comparison, OpClass, compare
from ..formats import format_of
from .op_classes import Rule


@dataclass(frozen=True)
class OutputComparison:
    """Comparison of one result of a call, one argument that it wrote, or one gradient.

    :ivar output: ``output 0``, ``argument self``, ``gradient of input 1``.
    :ivar units: largest error in units of the bound, or of the tolerance; at most 1 if ok; nan if
        nothing was compared.
    :ivar max_abs: largest absolute error; nan if there is none, inf if one value is not finite.
    :ivar max_rel: largest relative error.
    :ivar cosine: cosine of the angle between result and reference; nan if undefined.
    :ivar tolerance: ``(atol, rtol)`` if environment variables set it instead of the bound.
    :ivar detail: description of the error; empty if there is none.
    """

    output: str
    ok: bool
    units: float = math.nan
    max_abs: float = math.nan
    max_rel: float = math.nan
    cosine: float = math.nan
    tolerance: tuple[float, float] | None = None
    detail: str = ""

    @classmethod
    def of(cls, output: str, found: Comparison) -> OutputComparison:
        return cls(
            output,
            found.ok,
            found.ratio if found.worst is not None else (0.0 if found.ok else math.inf),
            found.max_abs,
            found.max_rel,
            found.cosine,
            None,
            "" if found.ok else found.report(output),
        )


def same_values(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Return True if dtype, shape and all values are equal; nan equals nan, and 0 equals -0."""
    if left.dtype != right.dtype or left.shape != right.shape:
        return False
    if left.dtype == torch.complex32:
        left, right = torch.view_as_real(left), torch.view_as_real(right)
    if torch.equal(left, right):
        return True
    if not (left.is_floating_point() or left.is_complex()):
        return False
    return bool(same_elements(left, right).all())


def same_elements(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Return the elementwise equality used by :func:`same_values`."""
    return (left == right) | ((left != left) & (right != right))


def to_host(tensor: torch.Tensor) -> torch.Tensor:
    """Copy to the CPU; lazy conjugation and negation are resolved, and sparse layouts become
    dense."""
    host = tensor.detach().cpu()
    if host.layout != torch.strided:
        host = host.to_dense()
    return host.resolve_conj().resolve_neg()


def as_array(tensor: torch.Tensor) -> np.ndarray[Any, Any]:
    """Convert to a dtype that numpy has: float32 for bfloat16, complex64 for complex32."""
    wider = {torch.bfloat16: torch.float32, torch.complex32: torch.complex64}
    array: np.ndarray[Any, Any] = tensor.to(wider.get(tensor.dtype, tensor.dtype)).numpy()
    return array


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def equal_to_peer(output: str, got: torch.Tensor, peer: torch.Tensor) -> OutputComparison | None:
    """Return the CPU's own error, which is allowed, if the result equals the CPU's bit for bit;
    otherwise None."""
    if not same_values(got, peer):
        return None
    if got.is_floating_point() and got.numel() and bool(got.any()):
        cosine = 1.0 if bool(got.isfinite().all()) else math.nan
    else:
        cosine = math.nan
    return OutputComparison(output, True, 0.0, 0.0, 0.0, cosine)


def compare_tensors(
    output: str,
    got: torch.Tensor,
    reference: torch.Tensor,
    rule: Rule,
    magnitude: torch.Tensor | None = None,
    peer: torch.Tensor | None = None,
) -> OutputComparison:
    """Compare two tensors. Elements that equal the peer's bit for bit are accepted.

    :param got: host tensor of the dtype under test.
    :param reference: float64 (complex128) if ``got`` is floating-point. If it has the dtype of
        ``got``, it is not more accurate: both may be off by the bound.
    :param magnitude: see :mod:`.conditioning`; None: the absolute value of the reference. It is
        ignored where it is not finite.
    :param peer: the CPU's result in the same dtype.
    """
    problem = _shape_problem(got, reference)
    if problem is not None:
        return OutputComparison(output, False, math.inf, detail=f"{output}: {problem}")
    numbers = got.is_floating_point() or got.is_complex()
    if not numbers:
        return _compare_exactly(output, got, reference, peer)
    name = dtype_name(got.dtype)
    like_wide = torch.complex128 if got.is_complex() else torch.float64
    rough = reference.dtype != like_wide
    want = reference.to(like_wide)
    sizes = None
    if magnitude is not None:
        sizes = scale_of(magnitude, rule).numpy()

    def judged(values: torch.Tensor, with_peer: torch.Tensor | None) -> Comparison:
        return compare(
            as_array(values),
            want.numpy(),
            dtype=name,
            op_class=rule.op_class,
            reduction_length=rule.terms,
            magnitude=sizes,
            peer=None if with_peer is None else as_array(with_peer),
            roundings=rule.roundings,
        )

    found = judged(got, None)
    verdict = found
    if not found.ok and peer is not None and peer.shape == got.shape and peer.dtype == got.dtype:
        settled = torch.where(same_elements(got, peer), _rounded(want, got.dtype), got)
        verdict = judged(settled, peer)
    if rough and not verdict.ok and verdict.ratio <= 2:
        verdict = replace(verdict, ok=True, ratio=verdict.ratio / 2)
    honest = replace(verdict, max_abs=found.max_abs, max_rel=found.max_rel, cosine=found.cosine)
    return OutputComparison.of(output, honest)


def scale_of(magnitude: torch.Tensor, rule: Rule) -> torch.Tensor:
    """Return the magnitude for the rule: float64, 0 where it is not finite."""
    finite = magnitude.double().nan_to_num(0.0, 0.0, 0.0)
    if rule.normwise and finite.numel():
        return torch.full_like(finite, float(finite.max()))
    return finite


def _rounded(want: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return want.to(dtype)


def _shape_problem(got: torch.Tensor, reference: torch.Tensor) -> str | None:
    if got.shape != reference.shape:
        return f"shape is {tuple(got.shape)}, want {tuple(reference.shape)}"
    kinds = [(x.is_floating_point(), x.is_complex()) for x in (got, reference)]
    exact = not any(kinds[0]) and not any(kinds[1])
    if kinds[0] != kinds[1] or (exact and got.dtype != reference.dtype):
        return f"dtype is {dtype_name(got.dtype)}, want {dtype_name(reference.dtype)}"
    return None


def _compare_exactly(
    output: str, got: torch.Tensor, reference: torch.Tensor, peer: torch.Tensor | None
) -> OutputComparison:
    """Compare integers and booleans: each must equal the CPU's value or the reference."""
    found = compare(
        got.numpy(), reference.numpy(), dtype=dtype_name(got.dtype), op_class=OpClass.EXACT
    )
    if not found.ok and peer is not None and (peer.dtype, peer.shape) == (got.dtype, got.shape):
        settled = torch.where(got == peer, reference, got)
        if torch.equal(settled, reference):
            found = replace(found, ok=True, wrong=0, ratio=0.0)
    return OutputComparison.of(output, found)


def within_tolerance(
    output: str,
    got: torch.Tensor,
    reference: torch.Tensor,
    tolerance: tuple[float, float],
) -> OutputComparison:
    """Check ``|got - reference| <= atol + rtol |reference|``; nan matches nan, and equal infinities
    match.

    :param tolerance: ``(atol, rtol)``.
    """
    problem = _shape_problem(got, reference)
    if problem is not None:
        return OutputComparison(
            output, False, math.inf, tolerance=tolerance, detail=f"{output}: {problem}"
        )
    atol, rtol = tolerance
    like_wide = torch.complex128 if got.is_complex() else torch.float64
    numbers = got.is_floating_point() or got.is_complex()
    have, want = (x.to(like_wide) if numbers else x.double() for x in (got, reference))
    rounded = _rounded(want, got.dtype).to(want.dtype) if numbers else want
    error = torch.where(same_elements(have, rounded), 0.0, (have - want).abs())
    error = torch.where(error.isnan(), math.inf, error)
    units = torch.where(error == 0, 0.0, error / (atol + rtol * want.abs()))
    units = torch.where(units.isnan(), math.inf, units)
    worst = float(units.max()) if units.numel() else 0.0
    base = compare(
        as_array(got),
        want.numpy() if numbers else reference.numpy(),
        dtype=dtype_name(got.dtype),
        op_class=OpClass.ROUNDING,
    )
    found = OutputComparison.of(output, base)
    wrong = int((units > 1).sum())
    detail = (
        f"{output}: {wrong} of {got.numel()} elements differ by more than atol={atol:g}, "
        f"rtol={rtol:g}; the worst is {worst:.3g} times the tolerance"
    )
    return replace(
        found,
        ok=wrong == 0,
        units=worst,
        tolerance=tolerance,
        detail=detail if wrong else "",
    )


def compare_values(output: str, got: Any, reference: Any) -> OutputComparison:
    """Compare results that are not tensors: numbers must be equal or both nan; other values must
    have the same type."""
    if isinstance(got, (bool, int, float, complex)):
        both_nan = got != got and reference != reference
        if isinstance(reference, (bool, int, float, complex)) and (got == reference or both_nan):
            return OutputComparison(output, True, 0.0, 0.0, 0.0)
        return OutputComparison(
            output, False, math.inf, detail=f"{output}: got {got!r}, want {reference!r}"
        )
    if isinstance(reference, torch.Tensor):
        return OutputComparison(
            output, False, math.inf, detail=f"{output}: got {type(got).__name__}, want a tensor"
        )
    return OutputComparison(output, True, 0.0)


def is_exact_dtype(tensor: torch.Tensor) -> bool:
    return format_of(dtype_name(tensor.dtype)).is_exact
