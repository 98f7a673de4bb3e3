"""Comparison of compiled with eager results. The device ran the same operators for both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from dl_dicp.program.agreement import STEPS, slack


def difference(got: Sequence[Any], want: Sequence[Any]) -> str | None:
    """Return the first difference, or None."""
    if len(got) != len(want):
        return f"{len(got)} results, want {len(want)}"
    for place, (one, other) in enumerate(zip(got, want, strict=True)):
        problem = _one(one, other)
        if problem is not None:
            return f"value {place}: {problem}"
    return None


def _one(got: Any, want: Any) -> str | None:
    if not isinstance(want, torch.Tensor):
        same = got == want or (got != got and want != want)
        return None if same else f"{got!r}, want {want!r}"
    if not isinstance(got, torch.Tensor):
        return f"{type(got).__name__}, want a tensor"
    for name in ("device", "dtype", "shape", "layout"):
        if getattr(got, name) != getattr(want, name):
            return f"its {name} is {getattr(got, name)}, want {getattr(want, name)}"
    return values_differ(got, want)


def values_differ(got: torch.Tensor, want: torch.Tensor, steps: float = STEPS) -> str | None:
    """Describe how the values of two tensors of one shape and dtype differ; None if they agree."""
    one, other = _host(got), _host(want)
    if not one.numel() or torch.equal(one, other):
        return None
    if not (one.is_floating_point() or one.is_complex()):
        return f"{int((one != other).sum())} of {one.numel()} elements differ"
    allowed = slack(other, want.dtype, steps)
    if torch.allclose(one, other, rtol=0, atol=allowed, equal_nan=True):
        return None
    worst = float((one - other).abs().nan_to_num(float("inf"), float("inf")).max())
    return f"off by {worst:.2e}, allowed {allowed:.2e}"


def _host(tensor: torch.Tensor) -> torch.Tensor:
    host = tensor.detach().cpu()
    host = host if host.layout == torch.strided else host.to_dense()
    host = host.resolve_conj().resolve_neg()
    wide = torch.complex128 if host.is_complex() else torch.float64
    return host.to(wide) if host.is_floating_point() or host.is_complex() else host
