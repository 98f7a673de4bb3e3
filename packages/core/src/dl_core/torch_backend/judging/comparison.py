"""How one result compares with its reference: in units of the rounding bound, or of a tolerance.

The bound is that of :mod:`diopi_proto.tolerance`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from diopi_proto.tolerance import Comparison, OpClass, compare
from diopi_proto.tolerance.formats import format_of
from dl_core.torch_backend.judging.op_classes import Rule


@dataclass(frozen=True)
class OutputComparison:
    """What became of one result of a call, or one argument that it wrote, or one gradient.

    :ivar output: ``output 0``, ``argument self``, ``gradient of input 1``.
    :ivar units: largest error in units of the bound, or of the tolerance, at most 1 if ok; nan
        where nothing could be compared.
    :ivar max_abs: largest error; nan where there is none, inf where one of the two is not finite.
    :ivar max_rel: the same relative to the reference.
    :ivar cosine: of the angle between the two; nan where undefined.
    :ivar tolerance: ``(atol, rtol)`` where variables set it in place of the bound.
    :ivar detail: what is wrong in words; empty if nothing is.
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
    """Equal everywhere, nan to nan, whatever the signs of zeros; of one dtype and shape."""
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
    """The same for each element."""
    return (left == right) | ((left != left) & (right != right))


def to_host(tensor: torch.Tensor) -> torch.Tensor:
    """On the CPU with conjugation and negation carried out; sparse layouts made dense."""
    host = tensor.detach().cpu()
    if host.layout != torch.strided:
        host = host.to_dense()
    return host.resolve_conj().resolve_neg()


def as_array(tensor: torch.Tensor) -> np.ndarray[Any, Any]:
    """A carrier numpy has: float32 for bfloat16, complex64 for complex32."""
    wider = {torch.bfloat16: torch.float32, torch.complex32: torch.complex64}
    array: np.ndarray[Any, Any] = tensor.to(wider.get(tensor.dtype, tensor.dtype)).numpy()
    return array


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def equal_to_peer(output: str, got: torch.Tensor, peer: torch.Tensor) -> OutputComparison | None:
    """Where a result is the CPU's bit for bit: its own error, which is allowed. Else None."""
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
    """The whole comparison. Elements that are the peer's bit for bit are right.

    :param got: host tensor of the dtype under test.
    :param reference: float64 (complex128) where ``got`` is a float. In the same dtype as ``got`` it
        is a result no better than that: both may be off by the bound.
    :param magnitude: see :mod:`.conditioning`; None: the reference's modulus. Where it is
        not finite, it says nothing.
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
    """The magnitude as the rule uses it: float64, 0 where it says nothing."""
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
    """Integers and bools: each is the CPU's or the reference's, nothing in between."""
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
    """``|got - reference| <= atol + rtol |reference|``, nan to nan, infinities equal.

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
    """Results that are no tensors: numbers are equal or both nan; of the rest the type counts."""
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
