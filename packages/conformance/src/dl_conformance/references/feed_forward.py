"""Gated feed-forward layers. Source: Shazeer, GLU variants improve transformer, 2020."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import UNSPECIFIED, Array, Expected, reference


@reference("diopiFusedSiluFfnInp")
def gated_by_silu(
    *, inoutput: Array, weight1: Array, weight2: Array, weight3: Array, **given: Any
) -> dict[str, Any]:
    """Return the output; both products and the gated product are rounded."""
    x = np.abs(inoutput)
    (a, a_size), (b, b_size) = (
        (inoutput @ weight, x @ np.abs(weight)) for weight in (weight1, weight3)
    )
    sigmoid = 1 / (1 + np.exp(-a))
    slope = sigmoid * (1 + a * (1 - sigmoid))
    # An error of `a` is multiplied by the derivative of SiLU.
    size = np.abs(slope * b) * a_size + np.abs(a * sigmoid) * b_size
    return {
        "inoutput": Expected(
            (a * sigmoid * b) @ weight2,
            sum(weight1.shape),
            size @ np.abs(weight2),
            roundings=3,
        ),
        "workspace_size": UNSPECIFIED,
    }
