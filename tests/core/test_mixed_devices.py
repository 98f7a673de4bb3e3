"""Operands on different devices: rejected with both devices named, as on CUDA, never computed.

If this were silent, a CPU tensor would be read through a device pointer, or vice versa.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

Call = Callable[[torch.Tensor, torch.Tensor], object]

REFUSED: dict[str, Call] = {
    "add": lambda x, y: x + y,
    "add_": lambda x, y: x.clone().add_(y),
    "add out": lambda x, y: torch.add(x, x, out=y),
    "mul": lambda x, y: x * y,
    "mm": torch.mm,
    "addmm": lambda x, y: torch.addmm(x, x, y),
    "cat": lambda x, y: torch.cat([x, y]),
    "stack": lambda x, y: torch.stack([x, y]),
    "where": lambda x, y: torch.where(x > 0, x, y),
    "layer_norm": lambda x, y: torch.layer_norm(x, (3,), weight=y[0]),
    "atan2 (fallback)": torch.atan2,
    "solve": torch.linalg.solve,
    "cross": torch.linalg.cross,
    "solve_triangular": lambda x, y: torch.linalg.solve_triangular(x, y, upper=True),
    "cholesky_solve": torch.cholesky_solve,
    "lu_solve": lambda x, y: torch.linalg.lu_solve(*torch.linalg.lu_factor(x), y),
    "lu_unpack": lambda x, y: torch.lu_unpack(x, torch.linalg.lu_factor(y)[1]),
    "householder_product": lambda x, y: torch.linalg.householder_product(x, y[0]),
    "multi_margin_loss": lambda x, y: torch.nn.functional.multi_margin_loss(x, y[0].long() * 0),
    "ormqr": lambda x, y: torch.ormqr(x, x[0], y),
    "lerp": lambda x, y: torch.lerp(x, y, 0.5),
    "foreach": lambda x, y: torch._foreach_add([x], [y]),
    "mse_loss": torch.nn.functional.mse_loss,
    "linear bias": lambda x, y: torch.nn.functional.linear(x, x, y[0]),
    "gather index": lambda x, y: x.gather(0, (y * 0).long()),
    "masked_fill mask": lambda x, y: x.masked_fill(y > 0, 1.0),
}

WORDS = r"(same device|at least two devices|Expected .* device|expected .* device|on the same)"


def square(device: str) -> torch.Tensor:
    return (torch.eye(3) * 2 + 1).to(device)


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("order", ["dl first", "cpu first"])
def test_dl_and_cpu_tensors_do_not_mix(name: str, order: str) -> None:
    x, y = square("dl"), square("cpu")
    with pytest.raises(RuntimeError, match=WORDS) as raised:
        REFUSED[name](*((x, y) if order == "dl first" else (y, x)))
    assert "dl" in str(raised.value) and "cpu" in str(raised.value)


@pytest.mark.devices(2)
@pytest.mark.parametrize("name", REFUSED)
def test_tensors_of_two_dl_devices_do_not_mix(name: str) -> None:
    with pytest.raises(RuntimeError, match=WORDS) as raised:
        REFUSED[name](square("dl:0"), square("dl:1"))
    assert "dl:0" in str(raised.value) and "dl:1" in str(raised.value)


ALLOWED: dict[str, Call] = {
    "add": lambda x, s: x + s,
    "radd": lambda x, s: s + x,
    "sub": lambda x, s: s - x,
    "mul_": lambda x, s: x.clone().mul_(s),
    "pow": lambda x, s: x**s,
    "atan2 (fallback)": lambda x, s: torch.atan2(x, s),
    "where": lambda x, s: torch.where(x > 1, x, s),
    "comparison": lambda x, s: x > s,
    "div": lambda x, s: x / s,
}


@pytest.mark.parametrize("name", ALLOWED)
def test_a_cpu_number_tensor_may_take_part(name: str) -> None:
    """0-dimensional tensors count as scalars, as with CUDA."""
    number = torch.tensor(2.0)
    result = ALLOWED[name](square("dl"), number)
    expected = ALLOWED[name](square("cpu"), number)
    assert isinstance(result, torch.Tensor) and isinstance(expected, torch.Tensor)
    assert result.device.type == "dl"
    torch.testing.assert_close(result.cpu(), expected)


@pytest.mark.parametrize(
    "index", [torch.tensor([2, 0]), torch.tensor([True, False, True])], ids=["numbers", "mask"]
)
def test_cpu_indices_are_accepted(index: torch.Tensor) -> None:
    assert torch.equal(square("dl")[index].cpu(), square("cpu")[index])
    x, expected = square("dl"), square("cpu")
    x[index] = 9.0
    expected[index] = 9.0
    assert torch.equal(x.cpu(), expected)


def test_cpu_values_for_indices_are_refused() -> None:
    index = torch.tensor([0], device="dl")
    with pytest.raises(RuntimeError, match=WORDS):
        square("dl").index_put_((index,), square("cpu")[:1])


def test_dl_indices_of_a_cpu_tensor_are_refused() -> None:
    with pytest.raises((RuntimeError, IndexError), match=r"(?i)device|cpu"):
        square("cpu")[torch.tensor([0], device="dl")]


def test_a_generator_of_the_cpu_is_refused() -> None:
    for call in (torch.rand, torch.randn):
        with pytest.raises(RuntimeError, match="Expected a 'dl' device type for generator"):
            call(2, device="dl", generator=torch.Generator())


def test_a_generator_of_dl_is_refused_for_cpu_tensors() -> None:
    with pytest.raises(RuntimeError, match="device type for generator"):
        torch.rand(2, generator=torch.Generator("dl"))


def test_a_device_that_is_not_there_is_named() -> None:
    missing = torch.dl.device_count()
    with pytest.raises(RuntimeError, match=f"{missing}"):
        torch.empty(2, device=f"dl:{missing}")


class PassThrough(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("place", ["cpu", "dl"])
def test_lengths_of_ctc_loss_may_be_on_the_host_under_a_mode_too(place: str) -> None:
    """Tools use such modes; while one is on, torch uses the lengths unchanged."""
    scores = torch.randn(20, 4, 6, generator=torch.Generator().manual_seed(0)).log_softmax(-1)
    targets = torch.arange(32).view(4, 8) % 5 + 1
    lengths = torch.full((4,), 20), torch.tensor([8, 5, 3, 4])

    def loss(device: str, of_lengths: str) -> tuple[torch.Tensor, torch.Tensor]:
        leaf = scores.to(device).requires_grad_()
        inputs, labels = (x.to(of_lengths) for x in lengths)
        found = torch.nn.functional.ctc_loss(leaf, targets.to(device), inputs, labels)
        (gradient,) = torch.autograd.grad(found, leaf)
        return found.detach().cpu(), gradient.cpu()

    want, plain = loss("cpu", "cpu"), loss("dl", place)
    with PassThrough():
        under_mode = loss("dl", place)
    torch.testing.assert_close(under_mode, plain, rtol=0, atol=0)
    torch.testing.assert_close(under_mode, want)
