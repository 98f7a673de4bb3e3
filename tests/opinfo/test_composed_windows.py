"""torch's window functions run without fallback; OpInfo has only those of torch.signal."""

from __future__ import annotations

import pytest
import torch

pytestmark = pytest.mark.vendor("cpu")

WINDOWS = ("bartlett", "blackman", "hamming", "hann", "kaiser")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("length", [0, 1, 2, 7, 200])
@pytest.mark.parametrize("name", WINDOWS)
def test_windows_are_as_on_the_cpu(
    name: str, length: int, periodic: bool, dtype: torch.dtype
) -> None:
    window = getattr(torch, f"{name}_window")
    with torch.dl.fallback("error"):
        result = window(length, periodic=periodic, dtype=dtype, device="dl")
    assert result.device.type == "dl"
    torch.testing.assert_close(result.cpu(), window(length, periodic=periodic, dtype=dtype))


@pytest.mark.parametrize("beta", [0.0, 0.5, 30.0])
def test_kaiser_windows_of_any_shape(beta: float) -> None:
    with torch.dl.fallback("error"):
        result = torch.kaiser_window(51, False, beta, device="dl")
    torch.testing.assert_close(result.cpu(), torch.kaiser_window(51, False, beta))
