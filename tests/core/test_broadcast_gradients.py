"""Gradients of broadcast arguments, as in torch's own kernels."""

from __future__ import annotations

import pytest
import torch

# Devices that lack the operators run torch's own kernels, which count as fallbacks.
pytestmark = pytest.mark.vendor("cpu")

UNFOLDED = [
    ((1, 5, 4), [2, 12], 1, 4, 2),
    ((2, 5, 4), [2, 12], -1, 4, 2),
    ((5, 1, 3), [9, 4], 0, 3, 1),
    ((7, 3, 1, 2), [7, 6, 5], 1, 2, 2),
]


@pytest.mark.parametrize(("shape", "sizes", "dim", "size", "step"), UNFOLDED)
@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64], ids=str)
def test_unfold_backward(
    shape: tuple[int, ...], sizes: list[int], dim: int, size: int, step: int, dtype: torch.dtype
) -> None:
    if shape[dim % len(sizes)] != (sizes[dim] - size) // step + 1:
        shape = (*shape[: dim % len(sizes)], (sizes[dim] - size) // step + 1, *shape[dim + 1 :])
    grad = torch.randn(shape, dtype=dtype)
    backward = torch.ops.aten.unfold_backward
    wanted = backward(grad, sizes, dim, size, step)
    torch.dl.reset_fallback_stats()
    given = backward(grad.to("dl"), sizes, dim, size, step)
    torch.testing.assert_close(given.cpu(), wanted)
    assert not torch.dl.fallback_stats()


def test_unfold_backward_of_what_does_not_broadcast_is_refused() -> None:
    with pytest.raises(RuntimeError, match="size"):
        torch.ops.aten.unfold_backward(torch.ones(3, 5, 4, device="dl"), [2, 12], 1, 4, 2)


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.0])
@pytest.mark.parametrize(("one", "other"), [((1, 5, 2), (4, 6, 2)), ((5, 2), (3, 4, 6, 2))])
def test_cdist_backward(one: tuple[int, ...], other: tuple[int, ...], p: float) -> None:
    x1, x2 = torch.randn(one), torch.randn(other)
    distances = torch.cdist(x1, x2, p, "donot_use_mm_for_euclid_dist")
    arguments = torch.randn_like(distances), x1, x2, distances
    backward = torch.ops.aten._cdist_backward
    given = [x.to("dl") for x in arguments]
    wanted = backward(*arguments[:3], p, arguments[3])
    torch.testing.assert_close(backward(*given[:3], p, given[3]).cpu(), wanted)


def test_the_gradients_of_broadcast_distances() -> None:
    grads = []
    torch.manual_seed(0)
    given = torch.randn(1, 5, 2), torch.randn(4, 6, 2)
    for device in ("cpu", "dl"):
        x1, x2 = (x.clone().to(device).detach().requires_grad_() for x in given)
        torch.cdist(x1, x2).square().sum().backward()
        grads.append((x1.grad, x2.grad))
    for wanted, found in zip(*grads, strict=True):
        assert wanted is not None and found is not None
        torch.testing.assert_close(found.cpu(), wanted, rtol=1e-4, atol=1e-4)


def test_a_compiled_inverse_transform_of_a_batch() -> None:
    """The decomposition of istft sums windows without a batch dimension."""
    pytest.importorskip("dl_dicp")
    window = torch.hann_window(16)
    spectrum = torch.stft(torch.randn(2, 64), 16, 4, window=window, return_complex=True)

    def inverse(spectrum: torch.Tensor, window: torch.Tensor) -> torch.Tensor:
        return torch.istft(spectrum, 16, 4, window=window)

    run = torch.compile(inverse, backend="dl")
    for _ in range(2):
        given = run(spectrum.to("dl"), window.to("dl")).cpu()
        torch.testing.assert_close(given, inverse(spectrum, window), atol=1e-5, rtol=1e-5)
