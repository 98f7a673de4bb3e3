"""Norms of lists of tensors."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from list_norms import ORDERS, SHAPES, norm
from referenced import Expected, run
from support import FLOATS, LAYOUTS, Array, numbers, out_like


def foreach_norm(inputs: list[Array], ord: float) -> dict[str, list[Expected]]:
    return {"outs": [Expected(np.asarray(norm(x, ord)), max(1, x.size)) for x in inputs]}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_norms(vendor: Vendor, dtype: str, p: float, layout: str) -> None:
    inputs = [numbers(shape, dtype, 1 + i) for i, shape in enumerate(SHAPES)]
    run(vendor, "diopiForeachnormScalar", foreach_norm, dtype, layout, inputs=inputs, ord=p)


def test_extremes_need_elements(vendor: Vendor) -> None:
    empty, out = out_like(vendor, (0,), "float32"), out_like(vendor, (), "float32")
    with pytest.raises(OperatorError, match=r"of no elements is not defined"):
        vendor.op.ForeachnormScalar([out], [empty], np.inf)
