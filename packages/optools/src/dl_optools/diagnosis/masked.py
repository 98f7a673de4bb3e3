"""Operators that return their input times a random factor: dropout and randomised leaky ReLU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from diopi_proto.tolerance.torch_operators.comparison import to_host

Tensor = torch.Tensor
DROPOUTS = ("native_dropout", "_fused_dropout")
"""Operators that return the result and its mask."""
RRELU = ("rrelu_with_noise", "rrelu_with_noise_functional")


def keep_probability(name: str, bound: Mapping[str, Any]) -> float:
    """Return the probability to keep an element; ``_fused_dropout`` gets it as an argument."""
    p = float(bound["p"])
    return p if name == "_fused_dropout" else 1 - p


def product_problem(name: str, bound: Mapping[str, Any], result: Any) -> str:
    """Describe elements of the result that are not the input times the drawn factor."""
    if name in DROPOUTS:
        output, mask = result
        source = to_host(bound["self"] if name == "_fused_dropout" else bound["input"])
        share = keep_probability(name, bound)
        factor = to_host(mask).double() / (share or 1.0)
        return _off(source, factor, to_host(output), "the input / (1 - p) where the mask is set")
    if name in RRELU and result is not bound["self"]:
        output, noise = result if isinstance(result, tuple) else (result, bound["noise"])
        return _off(to_host(bound["self"]), to_host(noise), to_host(output), "the input x noise")
    return ""


def _off(given: Tensor, factor: Tensor, output: Tensor, what: str) -> str:
    """Compare output and product, except where the input is nan or inf (0 x inf is nan)."""
    if output.shape != given.shape or factor.shape != given.shape:
        shapes = ", ".join(str(list(x.shape)) for x in (given, factor, output))
        return f"the input, its random factors and the output have the shapes {shapes}"
    source, out, eps = given.double(), output.double(), torch.finfo(output.dtype).eps
    want = source * factor.double()
    known = source.isfinite() & want.isfinite()
    off = known & out.isfinite() & ((out - want).abs() > 4 * eps * want.abs())
    off |= known & ~out.isfinite() & (want.abs() < torch.finfo(output.dtype).max / 2)
    count = int(off.sum())
    return f"{count} of {out.numel()} elements are not {what}" if count else ""


def slopes(bound: Mapping[str, Any], result: Any) -> Tensor:
    """Return the drawn slopes of ``rrelu_with_noise``: those of elements that are not positive."""
    noise = result[1] if isinstance(result, tuple) else bound["noise"]
    drawn: Tensor = noise[bound["self"] <= 0]
    return drawn
