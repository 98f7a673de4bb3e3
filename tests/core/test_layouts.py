"""Tensors that are not plain arrays are rejected by name, and never stay on the CPU."""

from __future__ import annotations

import pytest
import torch

FLOAT8 = (torch.float8_e4m3fn, torch.float8_e5m2)


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
def test_quantized_tensors_are_refused() -> None:
    with pytest.raises((NotImplementedError, RuntimeError)):
        torch.quantize_per_tensor(torch.ones(2, device="dl"), 0.1, 0, torch.qint8)


@pytest.mark.parametrize("dtype", FLOAT8, ids=str)
def test_a_dtype_without_a_number_in_the_contract_is_copied_into_another_layout(
    dtype: torch.dtype,
) -> None:
    bits = torch.arange(64, dtype=torch.uint8).view(dtype).reshape(2, -1)
    turned = bits.to("dl").t().contiguous().cpu()
    assert torch.equal(turned.view(torch.uint8), bits.t().contiguous().view(torch.uint8))


def test_forbidden_fallback_names_operator_operands_and_way_out() -> None:
    x = torch.eye(2, device="dl", dtype=torch.float64)
    with torch.dl.fallback("error"), pytest.raises(NotImplementedError) as raised:
        torch.linalg.eigvals(x)
    said = str(raised.value)
    assert "aten::_linalg_eigvals" in said and "Double[2, 2]" in said
    assert "dl:0" in said and "DL_FALLBACK=allow" in said
    assert torch.linalg.eigvals(x).device.type == "dl"
