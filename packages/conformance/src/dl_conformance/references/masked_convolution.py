"""Unfolding of convolution windows at selected positions, and the inverse."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, reference


@reference("diopiMaskedIm2colMmcv")
def masked_im2col(
    *,
    im: Array,
    mask_h_idx: Array,
    mask_w_idx: Array,
    kernel_h: int,
    kernel_w: int,
    pad_h: int,
    pad_w: int,
) -> dict[str, Any]:
    padded = np.pad(im[0], ((0, 0), (pad_h, pad_h + kernel_h), (pad_w, pad_w + kernel_w)))
    windows = [
        padded[:, y : y + kernel_h, x : x + kernel_w].ravel()
        for y, x in zip(mask_h_idx, mask_w_idx, strict=True)
    ]
    return {"col": np.stack(windows, axis=1)}


@reference("diopiMaskedCol2imMmcv")
def masked_col2im(
    *, im: Array, col: Array, mask_h_idx: Array, mask_w_idx: Array, **sizes: int
) -> dict[str, Any]:
    out = im.copy()
    out[0][:, mask_h_idx, mask_w_idx] = col
    return {"im": out}
