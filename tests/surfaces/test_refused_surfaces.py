"""Unsupported interfaces are rejected with a remedy; related ones work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")


def ones(*sizes: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.ones(*sizes, dtype=dtype, device="dl")


def nested(**options: Any) -> torch.Tensor:
    return torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(3, 3)], **options)


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "strided nested tensors": (
        lambda: nested(device="dl").exp(),
        r"\[dl\] .*layout=torch\.jagged",
    ),
    "quantizing": (
        lambda: torch.quantize_per_tensor(ones(4), 0.1, 0, torch.qint8),
        r"\[dl\] the result is quantized.*x\.cpu\(\)",
    ),
    "quantized tensors, moved": (
        lambda: torch.quantize_per_tensor(torch.ones(4), 0.1, 0, torch.qint8).to("dl"),
        r"\[dl\] .*x\.dequantize\(\)",
    ),
    "packing int4": (
        lambda: torch._convert_weight_to_int4pack(ones(32, 32, dtype=torch.uint8), 2),
        r"\[dl\] aten::_convert_weight_to_int4pack cannot run on dl:0",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    call, said = REFUSED[name]
    with pytest.raises(RuntimeError, match=said):
        call()
    assert ones(2).sum().item() == 2


def test_jagged_nested_tensors_work() -> None:
    made = nested(device="dl", layout=torch.jagged)
    moved = nested(layout=torch.jagged).to("dl")
    for each in (made, moved):
        padded = torch.nn.functional.relu(each * 2).to_padded_tensor(0.0)
        assert padded.device.type == "dl" and padded.sum().item() == 30


def test_quantization_by_simulation_works() -> None:
    x = torch.tensor([0.04, 0.26], device="dl")
    rounded = torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127)
    torch.testing.assert_close(rounded.cpu(), torch.tensor([0.0, 0.3]))


def test_products_of_packed_int8_work() -> None:
    scales = ones(8, dtype=torch.bfloat16) * 2
    weight = torch.ones(8, 16, dtype=torch.int8, device="dl")
    product = torch._weight_int8pack_mm(ones(4, 16, dtype=torch.bfloat16), weight, scales)
    assert product.shape == (4, 8) and product.eq(32).all().item()


def test_autocast_for_cuda_says_that_it_does_nothing() -> None:
    with pytest.warns(UserWarning, match="CUDA is not available"):
        autocast = torch.autocast("cuda", dtype=torch.bfloat16)
    with autocast:
        assert (ones(2, 2) @ ones(2, 2)).dtype == torch.float32
