"""Normalizations of vLLM's operator set on dl's operators. Needs vLLM."""

from __future__ import annotations

import torch
from torch import Tensor
from vllm import ir


def _covers(
    x: Tensor, weight: Tensor | None, epsilon: float, variance_size: int | None = None
) -> bool:
    """Return True if dl's operator computes the call: one dtype, whole rows."""
    return variance_size is None and (weight is None or weight.dtype == x.dtype)


def _covers_sum(
    x: Tensor,
    x_residual: Tensor,
    weight: Tensor | None,
    epsilon: float,
    variance_size: int | None = None,
) -> bool:
    return _covers(x, weight, epsilon, variance_size)


def rms_norm(
    x: Tensor, weight: Tensor | None, epsilon: float, variance_size: int | None = None
) -> Tensor:
    return torch.nn.functional.rms_norm(x, x.shape[-1:], weight, epsilon)


def fused_add_rms_norm(
    x: Tensor,
    x_residual: Tensor,
    weight: Tensor | None,
    epsilon: float,
    variance_size: int | None = None,
) -> tuple[Tensor, Tensor]:
    x_residual += x
    return torch.nn.functional.rms_norm(x_residual, x.shape[-1:], weight, epsilon), x_residual


ir.ops.rms_norm.register_impl("dl", supports_args=_covers)(rms_norm)
ir.ops.fused_add_rms_norm.register_impl("dl", supports_args=_covers_sum, inplace=True)(
    fused_add_rms_norm
)
