"""Masks of point-wise spatial attention, for collecting and distributing.

Source: Zhao et al., PSANet: Point-wise spatial attention network for scene parsing, 2018.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dl_conformance.reference import Array, reference

At = tuple[int, ...]


def _places(s: dict[str, int]) -> Iterator[tuple[At, At]]:
    """Yield the index in the mask and in the attention map for all positions inside the map."""
    height, width = s["h_feature"], s["w_feature"]
    for n, i, j, h, w in np.ndindex(s["num_"], s["h_mask"], s["w_mask"], height, width):
        y, x = h + i - s["half_h_mask"], w + j - s["half_w_mask"]
        if 0 <= y < height and 0 <= x < width:
            mask = (n, i * s["w_mask"] + j, h, w)
            yield mask, (n, h * width + w, y, x) if s["psa_type"] else (n, y * width + x, h, w)


@reference("diopiPsamaskMmcv")
def psamask(*, output: Array, input: Array, **sizes: int) -> dict[str, Any]:
    out = output.copy()
    for mask, place in _places(sizes):
        out[place] = input[mask]
    return {"output": out}


@reference("diopiPsamaskBackwardMmcv")
def psamask_backward(*, grad_input: Array, grad_output: Array, **sizes: int) -> dict[str, Any]:
    out = grad_input.copy()
    for mask, place in _places(sizes):
        out[mask] = grad_output[place]
    return {"grad_input": out}
