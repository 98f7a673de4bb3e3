"""Fast check of correct results with torch arithmetic in float64, chunk by chunk.

It is conservative: it never accepts an element that :func:`.comparison.compare_tensors` would
reject, because it takes the spacing of floats at the lower power of two. Elements that it does not
accept are left to that function.
"""

from __future__ import annotations

import math

import numpy as np
import torch

from diopi_proto.tolerance import Bound, OpClass
from diopi_proto.tolerance.bound import FINAL_ULPS
from diopi_proto.tolerance.peer import PEER_MULTIPLE
from diopi_proto.tolerance.torch_operators.comparison import (
    OutputComparison,
    dtype_name,
    equal_to_peer,
    same_elements,
    scale_of,
)
from diopi_proto.tolerance.torch_operators.op_classes import Rule

PIECE = 1 << 15
"""Elements per chunk: they stay in the cache, and torch starts no threads for them."""

_DTYPES = (torch.float32, torch.float16, torch.bfloat16)
_EXPONENT = 0x7FF0000000000000
"""Exponent bits of a float64: with all other bits 0 it is a power of two."""


def within_bound(
    output: str, got: torch.Tensor, reference: torch.Tensor, rule: Rule
) -> OutputComparison | None:
    """Return the comparison of a correct result; None if it is wrong or not certain."""
    if rule.op_class is OpClass.EXACT:
        fits = got.shape == reference.shape and reference.is_floating_point()
        return equal_to_peer(output, got, reference.to(got.dtype)) if fits else None
    screening = screen(output, got, reference, rule)
    return None if screening is None else screening.outcome


def screen(output: str, got: torch.Tensor, reference: torch.Tensor, rule: Rule) -> Screening | None:
    """Start the check; None for complex, float64 and exact results, which have no fast check."""
    comparable = reference.dtype == torch.float64 and got.shape == reference.shape
    if not comparable or got.dtype not in _DTYPES or rule.op_class is OpClass.EXACT:
        return None
    return Screening(output, got, reference, rule)


class Screening:
    """Elements of one result that may be outside of the bound.

    :ivar suspects: their indices in the flat result.
    """

    def __init__(self, output: str, got: torch.Tensor, reference: torch.Tensor, rule: Rule) -> None:
        self._output, self._rule = output, rule
        self._limit = _Limit(got.dtype, rule)
        self._got, self._want = got.detach().reshape(-1), reference.detach().reshape(-1)
        self._units = 0.0
        # Largest errors, and the products for the cosine.
        self._errors = torch.zeros(2, dtype=torch.float64)
        self._products = torch.zeros(3, dtype=torch.float64)
        found = [self._piece(start) for start in range(0, self._got.numel(), PIECE)]
        self.suspects = torch.cat(found) if found else torch.empty(0, dtype=torch.int64)

    def _piece(self, start: int) -> torch.Tensor:
        have, want = (x[start : start + PIECE] for x in (self._got, self._want))
        have = have.double()
        size = want.abs()
        error = (have - want).abs_()
        ratio = error / self._limit.at(size, size)
        worst = float(ratio.amax())
        # 0 / 0, where both are 0, is not an error.
        relative = (error / size).nan_to_num_(0.0, math.inf)
        if math.isfinite(worst):
            largest = torch.stack([error.amax(), relative.amax()])
            self._errors = torch.maximum(self._errors, largest)
        else:
            error.masked_fill_(same_elements(have, want), 0.0).nan_to_num_(math.inf, math.inf)
            ratio = error / self._limit.at(size.nan_to_num(0.0, 0.0), size.nan_to_num(0.0, 0.0))
            self._errors[0] = max(float(self._errors[0]), float(error.amax()))
            self._errors[1] = max(float(self._errors[1]), float(relative.amax()))
            worst = float(ratio.amax())
        self._products += torch.stack([have.dot(want), have.dot(have), want.dot(want)])
        if worst <= 1:
            self._units = max(self._units, worst)
            return torch.empty(0, dtype=torch.int64)
        wrong = ~(ratio <= 1)
        self._units = max(self._units, float(ratio.masked_fill(wrong, 0.0).amax()))
        return wrong.nonzero().flatten() + start

    @property
    def outcome(self) -> OutputComparison | None:
        """Return the comparison, or None while an element is suspect."""
        if self.suspects.numel():
            return None
        if not self._got.numel():
            return OutputComparison(self._output, True, 0.0)
        product, left, right = self._products.tolist()
        norm = math.sqrt(left) * math.sqrt(right) if math.isfinite(left + right) else math.nan
        cosine = max(-1.0, min(1.0, product / norm)) if norm > 0 else math.nan
        largest, relative = self._errors.tolist()
        return OutputComparison(self._output, True, self._units, largest, relative, cosine)

    def clear_equal(self, peer: torch.Tensor) -> OutputComparison | None:
        """Accept elements that equal the CPU's own result bitwise."""
        flat = peer.reshape(-1)
        same = same_elements(self._got[self.suspects], flat[self.suspects])
        self.suspects = self.suspects[~same]
        return self.outcome

    def clear(
        self, magnitude: torch.Tensor | None = None, peer: torch.Tensor | None = None
    ) -> OutputComparison | None:
        """Accept elements within the bound for this magnitude plus twice the peer's error."""
        sizes = self._want.abs()
        if magnitude is not None:
            sizes = torch.maximum(sizes, scale_of(magnitude, self._rule).reshape(-1))
        have, want = self._got[self.suspects].double(), self._want[self.suspects]
        size, scale = want.abs(), sizes[self.suspects]
        allowed = self._limit.at(size, scale)
        if peer is not None:
            allowed += self._share(peer.reshape(-1), sizes, scale)
        ratio = (have - want).abs_() / allowed
        right = ratio <= 1
        if bool(right.any()):
            self._units = max(self._units, float(ratio[right].amax()))
        self.suspects = self.suspects[~right]
        return self.outcome

    def _share(self, peer: torch.Tensor, sizes: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        error = (peer.double() - self._want).abs_().nan_to_num_(0.0, 0.0)
        relative = float((error / sizes.clamp_min(self._limit.normal)).nan_to_num_(0, 0).amax())
        absolute = float(error.amax())
        share = scale.clamp_min(self._limit.normal).mul_(relative).clamp_max_(absolute)
        return share.mul_(PEER_MULTIPLE)


class _Limit:
    """Allowed error, rounded down slightly."""

    def __init__(self, dtype: torch.dtype, rule: Rule) -> None:
        bound = Bound.of(dtype_name(dtype), rule.op_class, roundings=rule.roundings)
        own, sums = bound.dtype, bound.accumulate
        self.normal = own.smallest_normal
        self.final = FINAL_ULPS * 2.0 ** (1 - own.precision)
        self.least = FINAL_ULPS * own.smallest_subnormal
        self.spacings = self.share = 0.0
        if rule.op_class is OpClass.ELEMENTARY:
            self.spacings = bound.multiple * 2.0 ** (1 - sums.precision)
        elif rule.op_class in (OpClass.REDUCTION, OpClass.MATMUL):
            self.share = bound.multiple * float(bound.gamma(np.asarray(rule.terms), sums))
        self.share += rule.roundings * own.unit_roundoff

    def at(self, size: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        """Return the limit for elements of these absolute values and magnitudes."""
        power = (size.view(torch.int64) & _EXPONENT).view(torch.float64)
        allowed = power.mul(self.final).clamp_min_(self.least)
        if self.spacings:
            if scale is not size:
                power = (scale.view(torch.int64) & _EXPONENT).view(torch.float64)
            allowed.add_(power, alpha=self.spacings)
        if self.share:
            allowed.add_(scale, alpha=self.share)
        return allowed
