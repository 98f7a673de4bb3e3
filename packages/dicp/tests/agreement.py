"""Tolerance for compiled results relative to eager ones."""

from __future__ import annotations

import torch

from diopi_proto.tolerance import unit_roundoff

STEPS = 64
"""Tolerance in rounding steps of the largest element: gradients may be summed in another order."""


def assert_agree(actual: torch.Tensor, wanted: torch.Tensor) -> None:
    """Check that dtype, shape and strides are equal and elements are within the tolerance."""
    assert (actual.dtype, actual.shape) == (wanted.dtype, wanted.shape)
    one, other = actual.detach().cpu(), wanted.detach().cpu()
    if not one.is_floating_point():
        assert torch.equal(one, other)
        return
    unit = float(unit_roundoff(str(one.dtype).removeprefix("torch.")))
    largest = float(other.abs().max()) if other.numel() else 0.0
    assert torch.allclose(one, other, rtol=0, atol=STEPS * unit * largest, equal_nan=True)
