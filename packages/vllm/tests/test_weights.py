"""Weights are constants of the vendor while they are used and as long as their model lives."""

from __future__ import annotations

import pytest
import torch

from dl_core.torch_backend.constants import extension
from dl_vllm.weights import ConstantWeights

DEVICE = torch.device("dl", 0)


def _declared() -> int:
    found = extension(0)
    if found is None:
        pytest.skip("the vendor of this device has no constants")
    vendor, device = found
    return int(vendor.statistics(device).ranges)


def test_products_read_the_weights_until_they_are_forgotten() -> None:
    before = _declared()
    model = torch.nn.Linear(32, 64, device=DEVICE)
    x = torch.randn(3, 32, device=DEVICE)
    weights = ConstantWeights(model, DEVICE)
    with torch.no_grad():
        expected = model(x).cpu()
        with weights.used():
            assert _declared() == before + 1
            torch.testing.assert_close(model(x).cpu(), expected)
        weights.forget()
        assert _declared() == before
        model.weight.mul_(2)
        model.bias.mul_(2)
        with weights.used():
            torch.testing.assert_close(model(x).cpu(), 2 * expected)


def test_the_declarations_end_with_the_model() -> None:
    before = _declared()
    model = torch.nn.Linear(32, 64, device=DEVICE)
    weights = ConstantWeights(model, DEVICE)
    with weights.used():
        assert _declared() == before + 1
    del model
    assert _declared() == before
