"""Operators of other families that equal a tested operator in a special case."""

from __future__ import annotations

from typing import Any

from diopi_proto import Tensor, Vendor
from support import Array, out_like


def aligned_regions(
    vendor: Vendor, planes: Tensor, rois: Tensor, bins: tuple[int, int], samples: int
) -> Array:
    """Means of samples in bins of float64 regions whose corners are centers of cells."""
    out = out_like(vendor, (rois.shape[0], planes.shape[1], *bins), "float64")
    vendor.op.RoiAlign(out, planes, rois, 1.0, *bins, samples, True)
    return out.numpy()


def attention(
    vendor: Vendor, inputs: list[Tensor], grad: Tensor, options: tuple[Any, ...]
) -> tuple[Array, Array, list[Array]]:
    """Attention over sequences of equal length in float32: result, log-sum-exp, gradients."""
    batch, length, heads, _ = inputs[0].shape
    out = out_like(vendor, inputs[0].shape, "float32")
    lse = out_like(vendor, (batch, heads, length), "float32")
    grads = [out_like(vendor, x.shape, "float32") for x in inputs]
    vendor.op.FlashAttention(out, lse, None, *inputs, None, *options)
    vendor.op.FlashAttentionBackward(*grads, grad, None, *inputs, None, out, lse, *options)
    return out.numpy(), lse.numpy(), [x.numpy() for x in grads]
