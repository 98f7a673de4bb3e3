"""The patches of torch, proven on the meta device, which has the gap that outside devices have."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Iterator

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

from dl_core.torch_backend import patches  # noqa: E402

STAND_IN = "meta"


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.second = nn.Linear(3, 3)
        self.second.weight = self.first.weight
        self.own = nn.Parameter(torch.ones(2))
        self.register_buffer("buffer", torch.ones(2))


def unpatched(owner: type, name: str) -> object:
    """The function as torch has it, where a dl device has patched it already."""
    function = getattr(owner, name)
    return function.__wrapped__ if hasattr(function, patches._MARK) else function


@pytest.fixture
def patched(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(patches, "DEVICE", STAND_IN)
    monkeypatch.setattr(nn.Module, "_apply", patches._module_apply(unpatched(nn.Module, "_apply")))
    yield
    assert not torch.__future__.get_swap_module_params_on_conversion()


def test_without_the_patch_parameters_are_replaced() -> None:
    model = Tied()
    before = model.own
    model.to(STAND_IN)
    assert model.own is not before and model.first.weight is not model.second.weight


@pytest.mark.usefixtures("patched")
def test_parameters_stay_the_same_objects() -> None:
    model = Tied()
    before = dict(model.named_parameters())
    model.to(STAND_IN)
    after = dict(model.named_parameters())
    assert before.keys() == after.keys()
    assert all(before[name] is after[name] for name in before)
    assert {p.device.type for p in after.values()} == {STAND_IN}
    assert model.buffer.device.type == STAND_IN
    assert model.first.weight is model.second.weight


@pytest.mark.usefixtures("patched")
def test_an_optimizer_made_before_the_move_holds_the_moved_parameters() -> None:
    model = Tied()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.to(STAND_IN)
    held = {id(p) for group in optimizer.param_groups for p in group["params"]}
    assert held == {id(p) for p in model.parameters()}


@pytest.mark.usefixtures("patched")
def test_gradients_move_too() -> None:
    model = nn.Linear(2, 2)
    model(torch.ones(1, 2)).sum().backward()
    weight = model.weight
    model.to(STAND_IN)
    assert weight is model.weight and weight.grad is not None
    assert weight.grad.device.type == STAND_IN


@pytest.mark.usefixtures("patched")
def test_a_module_that_is_partly_there_moves_whole() -> None:
    model = nn.Linear(2, 2)
    model.weight = nn.Parameter(torch.empty(2, 2, device=STAND_IN))
    weight, bias = model.weight, model.bias
    model.to(STAND_IN)
    assert model.weight is weight and model.bias is bias and bias.device.type == STAND_IN


@pytest.mark.usefixtures("patched")
def test_every_tensor_is_converted_once() -> None:
    model = Tied()
    seen: list[int] = []

    def convert(tensor: torch.Tensor) -> torch.Tensor:
        seen.append(id(tensor))
        return tensor.to(STAND_IN)

    expected = 6  # three of the Linears' four parameters, the tied one twice, own, buffer
    model._apply(convert)
    assert len(seen) == expected


@pytest.mark.usefixtures("patched")
def test_moves_elsewhere_do_not_swap(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*tensors: torch.Tensor) -> None:
        raise AssertionError("swapped")

    monkeypatch.setattr(torch.utils, "swap_tensors", refuse)
    model = nn.Linear(2, 2)
    model.double()
    assert model.weight.dtype is torch.float64
    model.to("cpu")
    with pytest.warns(UserWarning, match="swapped"):  # proves that `refuse` would have been called
        model.to(STAND_IN)


@pytest.mark.usefixtures("patched")
def test_a_parameter_that_cannot_be_swapped_is_replaced_with_a_warning() -> None:
    import weakref

    model = nn.Linear(2, 2)
    watched = weakref.ref(model.weight)
    with pytest.warns(UserWarning, match="cannot move in place.*weakref"):
        model.to(STAND_IN)
    assert watched() is None or watched().device.type == "cpu"
    assert {p.device.type for p in model.parameters()} == {STAND_IN}


@pytest.mark.usefixtures("patched")
def test_a_gradient_that_cannot_be_swapped_is_not_lost() -> None:
    import weakref

    model = nn.Linear(2, 2)
    model(torch.ones(1, 2)).sum().backward()
    weight, watched = model.weight, weakref.ref(model.weight.grad)
    with pytest.warns(UserWarning, match="cannot move in place"):
        model.to(STAND_IN)
    assert watched is not None and model.weight is weight
    for parameter in model.parameters():
        assert parameter.device.type == STAND_IN
        assert parameter.grad is not None and parameter.grad.device.type == STAND_IN


@pytest.mark.usefixtures("patched")
def test_a_refused_swap_converts_no_tensor_twice() -> None:
    import weakref

    model = nn.Linear(2, 2)
    watched = weakref.ref(model.bias)
    seen: list[int] = []

    def convert(tensor: torch.Tensor) -> torch.Tensor:
        seen.append(id(tensor))
        return tensor.to(STAND_IN)

    with pytest.warns(UserWarning, match="cannot move in place"):
        model._apply(convert)
    assert watched is not None and len(seen) == 2
    assert {p.device.type for p in model.parameters()} == {STAND_IN}


@pytest.mark.usefixtures("patched")
def test_an_error_of_the_conversion_itself_comes_through() -> None:
    def fail(tensor: torch.Tensor) -> torch.Tensor:
        raise RuntimeError("no memory left")

    with warnings.catch_warnings(), pytest.raises(RuntimeError, match="no memory left"):
        nn.Linear(2, 2)._apply(fail)


@pytest.mark.usefixtures("patched")
def test_modules_without_parameters_keep_their_buffers_moving() -> None:
    model = nn.Module()
    model.register_buffer("buffer", torch.ones(2))
    model.to(STAND_IN)
    assert model.buffer.device.type == STAND_IN


def test_dlpack_device_is_the_external_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patches, "DEVICE", STAND_IN)
    original = unpatched(torch.Tensor, "__dlpack_device__")
    with pytest.raises(ValueError, match="Unknown device type"):
        original(torch.empty(2, device=STAND_IN))
    monkeypatch.setattr(torch.Tensor, "__dlpack_device__", patches._dlpack_device(original))
    kind, _ = torch.empty(2, device=STAND_IN).__dlpack_device__()
    assert int(kind) == 12  # kDLExtDev of dlpack.h
    assert torch.empty(2).__dlpack_device__() == original(torch.empty(2))


def test_applying_twice_patches_once() -> None:
    code = """
from dl_core.torch_backend import patches
import torch
patches.apply()
once = torch.Tensor.__dlpack_device__, torch.nn.Module._apply
patches.apply()
assert once == (torch.Tensor.__dlpack_device__, torch.nn.Module._apply)
assert torch.nn.Module._apply.__wrapped__ is not None
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)
