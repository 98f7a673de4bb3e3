"""Signs of zeros, where moves, constants, IEEE 754 or Annex F of the C standard define them.

Elsewhere the sign of a zero depends on the algorithm: which of two equal values ``max`` returns,
the initial value of a sum, an underflow in the middle of a formula.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

MOVES = frozenset(
    {
        "_to_copy",
        "abs",
        "cat",
        "ceil",
        "clone",
        "constant_pad_nd",
        "copy",
        "copysign",
        "diag_embed",
        "embedding",
        "fill",
        "flip",
        "floor",
        "full",
        "gather",
        "index",
        "index_copy",
        "index_fill",
        "index_select",
        "masked_fill",
        "masked_scatter",
        "masked_select",
        "neg",
        "pixel_shuffle",
        "pixel_unshuffle",
        "reflection_pad1d",
        "reflection_pad2d",
        "reflection_pad3d",
        "repeat",
        "replication_pad1d",
        "replication_pad2d",
        "replication_pad3d",
        "roll",
        "round",
        "select_scatter",
        "slice_scatter",
        "stack",
        "take",
        "trunc",
        "unfold",
        "where",
    }
)
"""Operators that keep, set or flip the sign of values that they move or round to an integer."""
ARITHMETIC = frozenset({"add", "div", "mul", "reciprocal", "rsub", "sqrt", "sub"})
"""Operations of IEEE 754, section 6.3."""
ODD = frozenset(
    {"asin", "asinh", "atan", "atanh", "erf", "expm1", "log1p", "sin", "sinh", "tan", "tanh"}
)
"""Functions that return a signed zero for a signed zero (ISO/IEC 9899, F.10)."""

CONSTANT = {
    "clamp": "self",
    "clamp_max": "self",
    "clamp_min": "self",
    "hardtanh": "self",
    "relu": "self",
    "threshold": "self",
    "threshold_backward": "grad_output",
    "tril": "self",
    "triu": "self",
}
"""Operators that replace elements of this argument by a constant. If the elements that remain
are not zero, zeros have the sign of the constant."""


def is_signed(name: str) -> bool:
    """Return True if an operator defines the signs of its zeros."""
    return name in MOVES or name in ARITHMETIC or name in ODD or name in CONSTANT


def lost_signs(name: str, bound: Mapping[str, Any], got: torch.Tensor, peer: torch.Tensor) -> str:
    """Describe zeros whose sign differs from the CPU's result; empty if there are none.

    :param name: name of the operator, without a trailing underscore.
    :param bound: the call's arguments by name.
    """
    if not got.is_floating_point() or (got.dtype, got.shape) != (peer.dtype, peer.shape):
        return ""
    if bound.get("rounding_mode") or bound.get("decimals") or bound.get("alpha", 1) != 1:
        return ""
    zeros = (got == 0) & (peer == 0)
    if name in ODD or name in CONSTANT:
        source = bound.get(CONSTANT.get(name, "self"))
        if not isinstance(source, torch.Tensor) or source.shape != got.shape:
            return ""
        kept = (source == 0) & (source.signbit() == peer.signbit())
        zeros &= kept if name in ODD else source != 0
    lost = zeros & (got.signbit() != peer.signbit())
    count = int(lost.sum())
    if not count:
        return ""
    first = tuple(lost.nonzero()[0].tolist())
    return f"{count} of {got.numel()} elements are zeros with the wrong sign, the first at {first}"
