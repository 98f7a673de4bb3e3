"""Norms of lists of tensors, and gradients clipped by them."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from referenced import Expected, run
from support import FLOATS, LAYOUTS, Array, check, numbers, out_like, place

ORDERS = (0.0, 1.0, 2.0, 3.5, np.inf)
SHAPES = [(7, 40), (), (300,)]


def norm(x: Array, p: float) -> Array:
    size = np.abs(x)
    if np.isinf(p):
        return np.max(size)
    return np.sum(size != 0) if p == 0 else np.sum(size**p) ** (1 / x.dtype.type(p))


def foreach_norm(inputs: list[Array], ord: float) -> dict[str, list[Expected]]:
    return {"outs": [Expected(np.asarray(norm(x, ord)), max(1, x.size)) for x in inputs]}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_norms(vendor: Vendor, dtype: str, p: float, layout: str) -> None:
    inputs = [numbers(shape, dtype, 1 + i) for i, shape in enumerate(SHAPES)]
    run(vendor, "diopiForeachnormScalar", foreach_norm, dtype, layout, inputs=inputs, ord=p)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("p", ORDERS[1:])
@pytest.mark.parametrize("dtype", FLOATS)
def test_clipping(vendor: Vendor, dtype: str, p: float, layout: str) -> None:
    for max_norm in (0.5, 1e6):
        placed = [place(vendor, numbers(s, dtype, 4), dtype, layout) for s in SHAPES]
        total = norm(np.concatenate([x.reshape(-1) for _, x in placed]), p)
        grads = [placed[0][0], None, *(tensor for tensor, _ in placed[1:])]
        got = vendor.op.ClipGradNorm(grads, max_norm, p, True)
        single = np.dtype("float64" if dtype == "float64" else "float32")
        # 4 roundings for a term, one for each addition, as the slowest sum has them.
        assert abs(got - total) <= 700 * float(np.finfo(single).eps) * total
        scale = min(1, max_norm / (total + np.longdouble(1e-6)))
        for tensor, x in placed:
            check(
                tensor, x * scale, OpClass.REDUCTION, "ClipGradNorm", reduction_length=700,
                magnitude=np.abs(x * scale),
            )  # fmt: skip


def test_nothing_to_clip(vendor: Vendor) -> None:
    assert vendor.op.ClipGradNorm([None], 1.0, 2.0, True) == 0.0


def test_norms_that_are_not_finite(vendor: Vendor) -> None:
    bad, x = place(vendor, [1.0, np.inf, 3.0], "float32")
    with pytest.raises(OperatorError, match=r"\[diopiClipGradNorm\] the norm of order 2 .* is inf"):
        vendor.op.ClipGradNorm([bad], 1.0, 2.0, True)
    check(bad, x, OpClass.EXACT, "ClipGradNorm")
    assert vendor.op.ClipGradNorm([bad], 1.0, 2.0, False) == np.inf


def test_extremes_need_elements(vendor: Vendor) -> None:
    empty, out = out_like(vendor, (0,), "float32"), out_like(vendor, (), "float32")
    with pytest.raises(OperatorError, match=r"of no elements is not defined"):
        vendor.op.ForeachnormScalar([out], [empty], np.inf)
