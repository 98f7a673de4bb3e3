"""RMS norm trains on every device, even if neither the vendor nor the CPU has its gradient."""

from __future__ import annotations

import pytest
import torch
from torch.testing import assert_close

NORMS = [((2, 7, 16), (16,)), ((3, 4, 5), (4, 5)), ((6,), (6,)), ((0, 5), (5,))]


def gradients(
    device: str, dtype: torch.dtype, shape: tuple[int, ...], norm: tuple[int, ...], weighted: bool
) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    x, grad, weight = (torch.randn(s, generator=generator) for s in (shape, shape, norm))
    leaves = [x.to(device, dtype).requires_grad_()]
    if weighted:
        leaves.append(weight.to(device, dtype).requires_grad_())
    y = torch.nn.functional.rms_norm(leaves[0], norm, *leaves[1:], eps=1e-5)
    y.backward(grad.to(device, dtype))
    return [leaf.grad for leaf in leaves if leaf.grad is not None]


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(("shape", "norm"), NORMS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gradient_of_rms_norm(
    dtype: torch.dtype,
    shape: tuple[int, ...],
    norm: tuple[int, ...],
    weighted: bool,
) -> None:
    got = gradients("dl", dtype, shape, norm, weighted)
    want = gradients("cpu", torch.float64, shape, norm, weighted)
    assert len(got) == 1 + weighted
    for mine, theirs in zip(got, want, strict=True):
        assert mine.device.type == "dl"
        assert_close(mine.cpu(), theirs.to(dtype))
