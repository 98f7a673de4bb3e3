"""Transformer layers in inference with padded sequences, which torch converts to nested tensors."""

from __future__ import annotations

import pytest
import torch
from torch import nn

# Torch warns for every nested tensor of this layout.
pytestmark = pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors is in prototype")

LENGTHS = (5, 2, 1, 4)


def padding(lengths: tuple[int, ...] = LENGTHS, longest: int = 5) -> torch.Tensor:
    return torch.arange(longest) >= torch.tensor(lengths).unsqueeze(1)


def encoder(**options: object) -> nn.TransformerEncoder:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, **options)
    return nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(8)).eval()


def outputs(model: nn.Module, x: torch.Tensor, mask: torch.Tensor) -> list[torch.Tensor]:
    """Return the outputs on the CPU and on dl."""
    found = []
    for device in ("cpu", "dl"):
        with torch.no_grad():
            result = model.to(device)(x.to(device), src_key_padding_mask=mask.to(device))
        found.append(result.cpu())
    return found


# With norm_first torch does not use nested tensors, and warns.
@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm_first", [False, True])
def test_an_encoder_gives_what_it_gives_on_the_cpu(activation: str, norm_first: bool) -> None:
    model = encoder(activation=activation, norm_first=norm_first)
    want, got = outputs(model, torch.randn(4, 5, 8), padding())
    torch.testing.assert_close(got, want)


@pytest.mark.parametrize(
    "lengths", [(5, 5, 5, 5), (1, 1, 1, 1), (5, 0, 3, 0), (3, 3, 3, 3)], ids=str
)
def test_lengths_at_the_edges(lengths: tuple[int, ...]) -> None:
    want, got = outputs(encoder(), torch.randn(4, 5, 8), padding(lengths))
    torch.testing.assert_close(got, want, equal_nan=True)


def test_a_mask_with_gaps_takes_the_dense_path() -> None:
    mask = torch.tensor([[False, True, False, False, True]]).repeat(4, 1)
    want, got = outputs(encoder(), torch.randn(4, 5, 8), mask)
    torch.testing.assert_close(got, want)


def test_half_precision_under_autocast() -> None:
    model, x, mask = encoder(), torch.randn(4, 5, 8), padding()
    want, _ = outputs(model, x, mask)
    with torch.no_grad(), torch.autocast("dl", dtype=torch.bfloat16):
        got = model(x.to("dl"), src_key_padding_mask=mask.to("dl"))
    assert got.dtype == torch.float32
    torch.testing.assert_close(got.cpu(), want, atol=0.1, rtol=0.1)


def test_training_gives_what_it_gives_on_the_cpu() -> None:
    model, x, mask = encoder(dropout=0.0).train(), torch.randn(4, 5, 8), padding()
    gradients = []
    for device in ("cpu", "dl"):
        model.to(device).zero_grad()
        kept = ~mask.to(device)
        result = model(x.to(device), src_key_padding_mask=mask.to(device))
        result[kept].square().sum().backward()
        gradients.append([p.grad.to("cpu", copy=True) for p in model.parameters()])
    torch.testing.assert_close(*gradients, atol=1e-4, rtol=1e-4)


def test_the_parts_of_the_path() -> None:
    x, mask = torch.randn(4, 5, 8), ~padding()
    nested = torch._nested_tensor_from_mask(x.to("dl"), mask.to("dl"))
    assert nested.is_nested and nested.device.type == "dl"
    back = nested.to_padded_tensor(-1.0, (4, 6, 8)).cpu()
    want = torch.nn.functional.pad(x.masked_fill(~mask.unsqueeze(2), -1.0), (0, 0, 0, 1), value=-1)
    assert torch.equal(back, want)


def test_a_mask_that_is_not_left_aligned_is_refused() -> None:
    mask = torch.tensor([[False, True], [True, True]], device="dl")
    with pytest.raises(RuntimeError, match="left-aligned"):
        torch._nested_tensor_from_mask(torch.ones(2, 2, 3, device="dl"), mask)


def test_missing_features_of_nested_tensors_are_reported() -> None:
    mask = torch.ones(2, 2, dtype=torch.bool, device="dl")
    nested = torch._nested_tensor_from_mask(torch.ones(2, 2, 3, device="dl"), mask)
    with pytest.raises(NotImplementedError, match=r"aten::cumsum.*jagged"):
        nested.cumsum(1)


@pytest.mark.vendor("cpu")
def test_the_path_needs_no_fallback() -> None:
    model = encoder().to("dl")
    x, mask = torch.randn(4, 5, 8, device="dl"), padding().to("dl")
    with torch.no_grad(), torch.dl.fallback("error"):
        model(x, src_key_padding_mask=mask)
