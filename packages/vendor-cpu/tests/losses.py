"""Elementwise losses with every reduction: utilities shared by the tests of their families."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from diopi_proto import Vendor
from diopi_proto.tolerance import OpClass
from support import Exact, check, numbers, out_like, place

NONE, MEAN, SUM = "none", "mean", "sum"
SHAPE = (5, 33)
COUNT = 5 * 33
SHARES = {SUM: Exact(1), MEAN: Exact(1) / COUNT}
ROUNDED = {"reduction_length": 6}


class Loss(NamedTuple):
    """A loss, its derivative, the range of its inputs, and arguments before and after the
    reduction."""

    losses: Callable[[Any, Any], Any]
    slopes: Callable[[Any, Any], Any]
    low: float
    high: float
    before: tuple[Any, ...] = ()
    after: tuple[Any, ...] = ()


def check_loss(vendor: Vendor, name: str, loss: Loss, dtype: str, layout: str) -> None:
    """Compare the loss and its gradient with references, with every reduction."""
    losses, slopes, low, high, before, after = loss
    a, x = place(vendor, numbers(SHAPE, dtype, 81, low, high), dtype, layout)
    b, t = place(vendor, numbers(SHAPE, dtype, 82, low, high), dtype)
    g, grad = place(vendor, numbers(SHAPE, dtype, 83), dtype, layout)
    each = losses(x, t)
    terms = {"reduction_length": 4, "magnitude": np.abs(each) + np.abs(x) + np.abs(t)}
    out = out_like(vendor, SHAPE, dtype, layout)
    vendor.op[f"diopi{name}"](out, a, b, *before, NONE, *after)
    check(out, each, OpClass.REDUCTION, name, **terms)
    for reduction, want in ((SUM, each.sum()), (MEAN, each.mean())):
        total = out_like(vendor, (), dtype)
        vendor.op[f"diopi{name}"](total, a, b, *before, reduction, *after)
        size = np.abs(each).sum() if reduction == SUM else np.abs(each).mean()
        check(total, want, OpClass.REDUCTION, name, reduction_length=COUNT, magnitude=size)
    slope = grad * slopes(x, t)
    scale = np.abs(grad) * (1 + np.abs(slopes(x, t)))
    for reduction, share in ((NONE, Exact(1)), *SHARES.items()):
        vendor.op[f"diopi{name}Backward"](out, g, a, b, *before, reduction, *after)
        terms = {**ROUNDED, "magnitude": scale * share}
        check(out, slope * share, OpClass.REDUCTION, f"{name}Backward", **terms)
