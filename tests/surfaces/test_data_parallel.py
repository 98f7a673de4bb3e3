"""torch.nn.DataParallel on all available dl devices."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn
from torch.nn.parallel import comm

# A warning wherever gradients of two devices are combined without NCCL.
pytestmark = pytest.mark.filterwarnings("ignore:PyTorch is not compiled with NCCL")


def trained(model: nn.Module, plain: nn.Module, x: torch.Tensor) -> None:
    """Check that outputs and gradients equal the outputs and gradients of the model alone."""
    result = model(x)
    expected = plain(x.to("dl:0"))
    assert result.device == torch.device("dl", 0)
    torch.testing.assert_close(result, expected)
    result.square().sum().backward()
    expected.square().sum().backward()
    for ours, theirs in zip(model.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad)


def build_model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 3)).to("dl:0")


@pytest.mark.parametrize("device", ["cpu", "dl:0"])
def test_on_every_device(device: str) -> None:
    plain = build_model()
    trained(nn.DataParallel(copy.deepcopy(plain)), plain, torch.randn(8, 6).to(device))


@pytest.mark.devices(2)
@pytest.mark.parametrize("device", ["cpu", "dl:0", "dl:1"])
def test_on_two_devices(device: str) -> None:
    plain = build_model()
    model = nn.DataParallel(copy.deepcopy(plain), device_ids=[0, 1])
    trained(model, plain, torch.randn(7, 6).to(device))


def test_pieces_and_their_sum() -> None:
    count = torch.dl.device_count()
    devices = [torch.device("dl", index) for index in range(count)]
    x = torch.arange(6.0, device="dl:0")
    pieces = comm.scatter(x, devices)
    assert [piece.device for piece in pieces] == devices
    assert comm.gather(pieces, destination="cpu").tolist() == x.tolist()
    out = [torch.empty_like(piece) for piece in pieces]
    assert [each.tolist() for each in comm.scatter(x, out=out)] == [p.tolist() for p in pieces]
    assert comm.gather(pieces, out=torch.empty(6)).tolist() == x.tolist()
    copies = comm.broadcast(x, devices)
    assert [each.device for each in copies] == devices
    assert all(each.tolist() == x.tolist() for each in copies)
    filled = [torch.empty(6, device=device) for device in devices]
    comm.broadcast(x, out=filled)
    assert all(each.tolist() == x.tolist() for each in filled)


def test_sizes_of_pieces() -> None:
    x = torch.arange(4.0)
    (piece,) = comm.scatter(x, ["dl:0"], chunk_sizes=[4])
    assert piece.tolist() == x.tolist() and piece.device.type == "dl"
