"""The patches of torch on a real device, and module moves, which need none."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.usefixtures("dl_device")


def test_dlpack_names_the_external_device() -> None:
    tensor = torch.arange(4.0, device="dl")
    kind, index = tensor.__dlpack_device__()
    assert int(kind) == 12 and index == 0  # kDLExtDev of dlpack.h
    shared = torch.from_dlpack(tensor)
    assert shared.device == tensor.device and shared.data_ptr() == tensor.data_ptr()


def test_a_subclass_keeps_its_dlpack_device() -> None:
    class Subclass(torch.Tensor):
        pass

    assert torch.ones(2, device="dl").as_subclass(Subclass).__dlpack_device__()[1] == 0


def test_an_optimizer_made_before_the_move_trains_the_moved_model() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
    model[1].weight = model[0].weight
    weight = model[0].weight
    optimizer = torch.optim.Adam(model.parameters())
    model.to("dl")
    assert model[0].weight is weight is model[1].weight and weight.is_dl
    before = weight.detach().clone()
    model(torch.ones(2, 4, device="dl")).sum().backward()
    optimizer.step()
    assert not torch.equal(before, weight)
    model.cpu()
    assert model[1].weight is weight and weight.device.type == "cpu"


def test_a_move_between_forward_and_backward_passes() -> None:
    model = torch.nn.Linear(2, 2)
    model(torch.ones(1, 2)).sum().backward()
    model.to("dl")
    assert model.weight.grad is not None and model.weight.grad.is_dl


def test_recurrent_modules_move() -> None:
    model = torch.nn.LSTM(3, 3)
    names = [name for name, _ in model.named_parameters()]
    model.to("dl")
    assert all(weight.is_dl for weight in model._flat_weights)
    assert [name for name, _ in model.named_parameters()] == names


def test_to_empty_makes_a_meta_model_real() -> None:
    with torch.device("meta"):
        model = torch.nn.Linear(2, 2)
    model.to_empty(device="dl")
    assert model.weight.is_dl and model.bias.is_dl
