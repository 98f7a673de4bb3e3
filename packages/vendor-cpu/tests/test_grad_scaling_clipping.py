"""Tests of gradient clipping by the global norm."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass, compare
from list_norms import ORDERS, SHAPES, norm
from support import FLOATS, LAYOUTS, check, numbers, place


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("p", ORDERS[1:])
@pytest.mark.parametrize("dtype", FLOATS)
def test_clipping(vendor: Vendor, dtype: str, p: float, layout: str) -> None:
    for max_norm in (0.5, 1e6):
        placed = [place(vendor, numbers(s, dtype, 4), dtype, layout) for s in SHAPES]
        total = norm(np.concatenate([x.reshape(-1) for _, x in placed]), p)
        grads = [placed[0][0], None, *(tensor for tensor, _ in placed[1:])]
        got = vendor.op.ClipGradNorm(grads, max_norm, p, True)
        single = "float64" if dtype == "float64" else "float32"
        terms = {"reduction_length": sum(x.size for _, x in placed), "magnitude": total}
        told = compare(
            np.array(got, single), total, dtype=single, op_class=OpClass.REDUCTION, **terms
        )
        assert told.ok, told.report("ClipGradNorm")
        scale = min(1, max_norm / (total + np.longdouble(1e-6)))
        for tensor, x in placed:
            want, terms["magnitude"] = x * scale, np.abs(x * scale)
            check(tensor, want, OpClass.REDUCTION, "ClipGradNorm", **terms)


def test_nothing_to_clip(vendor: Vendor) -> None:
    assert vendor.op.ClipGradNorm([None], 1.0, 2.0, True) == 0.0


def test_norms_that_are_not_finite(vendor: Vendor) -> None:
    bad, x = place(vendor, [1.0, np.inf, 3.0], "float32")
    with pytest.raises(OperatorError, match=r"\[diopiClipGradNorm\] the norm of order 2 .* is inf"):
        vendor.op.ClipGradNorm([bad], 1.0, 2.0, True)
    check(bad, x, OpClass.EXACT, "ClipGradNorm")
    assert vendor.op.ClipGradNorm([bad], 1.0, 2.0, False) == np.inf
