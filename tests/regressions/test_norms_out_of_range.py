"""Norms and standard deviations of elements whose squares overflow or underflow are right.

The reference is float64, in which squares of float32 numbers neither overflow nor underflow; for
float64 it is the same call on elements that are scaled, exactly, by a power of two.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.nn import functional

# Devices that lack the operators run torch's CPU kernels, which overflow.
pytestmark = pytest.mark.vendor("cpu")

SCALES = (1e-42, 1e-30, 1e-23, 1e-20, 1e18, 1e20, 1e25, 1e30)
LEAST = 1e-300
"""Positive, as torch requires, and 0 as a float."""
Call = Callable[[torch.Tensor], torch.Tensor]

# Results that scale with the elements.
NORMS: dict[str, Call] = {
    "vector_norm of rows": lambda x: torch.linalg.vector_norm(x, dim=1),
    "vector_norm of columns": lambda x: torch.linalg.vector_norm(x, dim=0),
    "vector_norm of all": lambda x: torch.linalg.vector_norm(x),
    "vector_norm of an outer dimension": lambda x: torch.linalg.vector_norm(x.T, dim=0),
    "vector_norm of order 3": lambda x: torch.linalg.vector_norm(x, 3, dim=1),
    "vector_norm of order -2": lambda x: torch.linalg.vector_norm(x, -2, dim=0),
    "vector_norm of short rows": lambda x: torch.linalg.vector_norm(x.view(-1, 5), dim=1),
    "frobenius": lambda x: torch.linalg.matrix_norm(x),
    "foreach_norm": lambda x: torch.stack(torch._foreach_norm([x, x[0], x[1:]])),
    "clip_grad_norm": lambda x: torch.nn.utils.get_total_norm([x, x[0]]),
    "cdist": lambda x: torch.cdist(x[:3], x[3:], compute_mode="donot_use_mm_for_euclid_dist"),
    "cdist of order 3": lambda x: torch.cdist(x[:3], x[3:], 3.0),
    "pdist": lambda x: functional.pdist(x),
    "pairwise_distance": lambda x: functional.pairwise_distance(x[:3], x[3:], eps=0.0),
    "dist": lambda x: torch.dist(x[:3], x[3:]),
    "hypot": lambda x: torch.hypot(x[0], x[1]),
    "std of rows": lambda x: x.std(1),
    "std of columns": lambda x: x.std(0),
    "std of all": lambda x: x.std(),
    "std_mean": lambda x: torch.cat(torch.std_mean(x, 1)),
}
# Results that do not scale.
NORMALIZATIONS: dict[str, Call] = {
    "normalize": lambda x: functional.normalize(x, dim=1, eps=0.0),
    "cosine_similarity": lambda x: functional.cosine_similarity(x[:3], x[3:], eps=0.0),
    "layer_norm": lambda x: functional.layer_norm(x, (1000,), eps=0.0),
    "rms_norm": lambda x: functional.rms_norm(x, (1000,), eps=0.0),
    "group_norm": lambda x: functional.group_norm(x.view(6, 4, 250), 2, eps=0.0),
    "instance_norm": lambda x: functional.instance_norm(x.view(6, 4, 250), eps=0.0),
    "batch_norm": lambda x: functional.batch_norm(x, None, None, training=True, eps=LEAST),
    "batch_norm of images": lambda x: functional.batch_norm(
        x.view(6, 4, 25, 10), None, None, training=True, eps=LEAST
    ),
    "batch_norm of images, channels last": lambda x: functional.batch_norm(
        x.view(6, 4, 25, 10).to(memory_format=torch.channels_last),
        *(None, None),
        training=True,
        eps=LEAST,
    ),
    "weight_norm": lambda x: torch._weight_norm(x, torch.ones_like(x[:, :1]), 0),
    "renorm": lambda x: torch.renorm(x, 2, 0, 1e-45) * 1e30,
}


def elements(scale: float, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    torch.manual_seed(0)
    return (torch.randn(6, 1000, dtype=torch.float64) * scale).to(dtype)


@pytest.mark.parametrize("scale", SCALES)
def test_norms_are_those_in_double(scale: float) -> None:
    x = elements(scale)
    for name, call in NORMS.items():
        ours, theirs = call(x.to("dl")).cpu(), call(x.double())
        # Subnormal numbers have fewer digits, and smaller ones underflow.
        torch.testing.assert_close(
            ours.double(),
            theirs.float().double(),
            rtol=1e-5,
            atol=1e-44 if scale < 1e-35 else 0.0,
            msg=lambda text, name=name: f"{name} at {scale:g}: {text}",
        )


@pytest.mark.parametrize("scale", [s for s in SCALES if s > 1e-35])
def test_normalized_elements_are_those_in_double(scale: float) -> None:
    x = elements(scale)
    for name, call in NORMALIZATIONS.items():
        ours, theirs = call(x.to("dl")).cpu(), call(x.double())
        torch.testing.assert_close(
            ours.double(),
            theirs,
            rtol=1e-4,
            atol=1e-5,
            msg=lambda text, name=name: f"{name} at {scale:g}: {text}",
        )


@pytest.mark.parametrize("scale", [2.0**-560, 2.0**600])
def test_norms_of_doubles_are_those_of_scaled_ones(scale: float) -> None:
    x = elements(1.0, torch.float64)
    for name, call in NORMS.items():
        if "std" in name:
            continue  # the contract accumulates moments in double
        torch.testing.assert_close(
            call((x * scale).to("dl")).cpu() / scale,
            call(x),
            msg=lambda text, name=name: f"{name} at {scale:g}: {text}",
        )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_zeros_nan_and_infinity_stay_what_they_are(dtype: torch.dtype) -> None:
    inf, nan = float("inf"), float("nan")
    rows = [[0.0] * 12, [inf] + [1.0] * 11, [nan] + [1.0] * 11, [nan, inf] + [0.0] * 10, [3.0] * 12]
    x = torch.tensor(rows, dtype=dtype)
    for order in (2, 3, -2, 1, 0):
        for given in (x, x.T.contiguous().T):
            ours = torch.linalg.vector_norm(given.to("dl"), order, dim=1).cpu()
            theirs = torch.linalg.vector_norm(given.double(), order, dim=1).to(dtype)
            torch.testing.assert_close(ours, theirs, equal_nan=True)
    zeros = torch.zeros(2, 12, dtype=dtype, device="dl")
    if dtype != torch.bfloat16:
        assert torch.cdist(zeros, zeros).count_nonzero() == 0
    assert functional.layer_norm(zeros, (12,)).count_nonzero() == 0
    assert functional.rms_norm(zeros, (12,), eps=1e-5).count_nonzero() == 0
    assert zeros.std(1).count_nonzero() == 0


@pytest.mark.parametrize("scale", [1e-15, 1e18, 1e20])
def test_gradients_of_normalized_elements_are_those_in_double(scale: float) -> None:
    torch.manual_seed(1)
    seed = torch.randn(6, 1000, dtype=torch.float64)
    calls: dict[str, Call] = {
        "layer_norm": lambda x: functional.layer_norm(x, (1000,), eps=0.0),
        "rms_norm": lambda x: functional.rms_norm(x, (1000,), eps=0.0),
        "batch_norm": lambda x: functional.batch_norm(x, None, None, training=True, eps=LEAST),
        "group_norm": lambda x: functional.group_norm(x.view(6, 4, 250), 2, eps=0.0).view(6, 1000),
        "vector_norm": lambda x: torch.linalg.vector_norm(x, dim=1, keepdim=True).expand(6, 1000),
    }
    for name, call in calls.items():
        grads = []
        for x in (elements(scale).to("dl").requires_grad_(), elements(scale).double()):
            x.requires_grad_()
            call(x).backward(seed.to(x))
            assert x.grad is not None
            grads.append(x.grad.cpu().double() * (1.0 if name == "vector_norm" else scale))
        torch.testing.assert_close(
            *grads, rtol=1e-3, atol=1e-4, msg=lambda text, name=name: f"{name} at {scale:g}: {text}"
        )


ORDERS = (-2.0, -1.0, 1.0, 1.5, 2.0, 2.5, 3.0, 7.0)


def _foreach(x: torch.Tensor, p: float) -> torch.Tensor:
    return torch.stack(torch._foreach_norm([x[0], x[1:]], p))


# Gradients that do not depend on the scale of the elements.
GRADIENTS: dict[str, Callable[[torch.Tensor, float], torch.Tensor]] = {
    "vector_norm of rows": lambda x, p: torch.linalg.vector_norm(x, p, dim=1),
    "vector_norm of columns, kept": lambda x, p: torch.linalg.vector_norm(x, p, 0, keepdim=True),
    "vector_norm of all": lambda x, p: torch.linalg.vector_norm(x, p),
    "vector_norm of two dimensions": lambda x, p: torch.linalg.vector_norm(
        x.view(2, 3, -1), p, (2, 0)
    ),
    "norm": lambda x, p: x.norm(p),
    "norm along a dimension": lambda x, p: torch.norm(x, p, dim=-1),
    "pairwise_distance": lambda x, p: functional.pairwise_distance(x[:3], x[3:], p, eps=0.0),
    "dist": lambda x, p: torch.dist(x[:3], x[3:], p),
    "_foreach_norm": _foreach,
}
OF_POSITIVE_ORDERS: dict[str, Callable[[torch.Tensor, float], torch.Tensor]] = {
    "cdist": lambda x, p: torch.cdist(x[:3], x[3:], p, "donot_use_mm_for_euclid_dist"),
    "pdist": lambda x, p: functional.pdist(x, p),
    "normalize": lambda x, p: functional.normalize(x, p, dim=1, eps=0.0),
    "renorm": lambda x, p: torch.renorm(x, p, 0, 0.1 * x.detach().abs().max().item()),
    "weight_norm": lambda x, p: torch._weight_norm(x, torch.ones_like(x[:, :1]), 0),
}


def gradient(
    call: Callable[[torch.Tensor, float], torch.Tensor], x: torch.Tensor, p: float
) -> torch.Tensor:
    x = x.requires_grad_()
    y = call(x, p)
    torch.manual_seed(2)
    seed = torch.randn(y.shape, dtype=torch.float64)
    (found,) = torch.autograd.grad(y, x, seed.to(y))
    return found.cpu().double()


@pytest.mark.parametrize("scale", [1e-30, 1e-20, 1e12, 1e20, 1e30])
@pytest.mark.parametrize("p", ORDERS)
def test_gradients_of_norms_are_those_in_double(p: float, scale: float) -> None:
    torch.manual_seed(3)
    x = (torch.randn(6, 50, dtype=torch.float64) * scale).float()
    for name, call in {**GRADIENTS, **(OF_POSITIVE_ORDERS if p > 0 else {})}.items():
        ours, theirs = gradient(call, x.to("dl"), p), gradient(call, x.double(), p)
        # A gradient of more than 1e38 is not a float32 number.
        bound = theirs.abs().amax(1, keepdim=True)
        if bound.max() < 1e38:
            torch.testing.assert_close(
                ours / bound,
                theirs / bound,
                rtol=1e-4,
                atol=1e-5,
                msg=lambda text, name=name: f"{name} of order {p} at {scale:g}: {text}",
            )


@pytest.mark.parametrize("p", [-2.0, 1.5, 2.5, 3.0])
def test_gradients_of_zeros_and_of_gradients(p: float) -> None:
    zeros = torch.zeros(3, 4, device="dl", requires_grad=True)
    torch.linalg.vector_norm(zeros, p, dim=1).sum().backward()
    assert zeros.grad is not None and zeros.grad.count_nonzero() == 0
    x = torch.randn(3, 4, dtype=torch.float64, device="dl", requires_grad=True)
    for name in ("norm", "norm along a dimension", "vector_norm of columns, kept"):
        call = GRADIENTS[name]
        assert torch.autograd.gradcheck(lambda x, call=call: call(x, p), x)
        assert torch.autograd.gradgradcheck(lambda x, call=call: call(x, p), x)
    wide = torch.linalg.vector_norm(x.detach().half().requires_grad_(), p, dtype=torch.float32)
    assert wide.dtype == torch.float32 and wide.requires_grad


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")
@pytest.mark.parametrize("p", [1.5, 3.0])
def test_other_ways_of_differentiation_remain(p: float) -> None:
    x = torch.randn(5, dtype=torch.float64)

    def norm(x: torch.Tensor) -> torch.Tensor:
        return torch.linalg.vector_norm(x, p)

    for transform in (torch.func.grad, torch.func.hessian, torch.func.jacfwd):
        torch.testing.assert_close(transform(norm)(x.to("dl")).cpu(), transform(norm)(x))
    complexes = torch.randn(2, 5, dtype=torch.complex128)
    grads = []
    for device in ("dl", "cpu"):
        z = complexes.to(device).requires_grad_()
        torch.linalg.vector_norm(z, p, dim=1).sum().backward()
        assert z.grad is not None
        grads.append(z.grad.cpu())
    torch.testing.assert_close(*grads)
