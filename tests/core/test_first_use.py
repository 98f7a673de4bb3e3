"""Lazy initialization happens for whatever uses dl first, each in a child process."""

from __future__ import annotations

import pytest

from .processes import RUNS_ONCE, output

pytestmark = RUNS_ONCE

# Programs that print the result of a first use.
FIRST = {
    "an empty tensor": ('torch.empty(0, device="dl").numel()', "0"),
    "autocast": (
        'torch.autocast("dl").__enter__() and None or '
        '(torch.ones(2, device="dl") > 0).sum().item()',
        "2",
    ),
    "a sparse tensor": ('torch.sparse_coo_tensor(size=(2, 2), device="dl").sum().item()', "0.0"),
    "a compressed one": (
        'torch.sparse_csr_tensor([0, 1], [0], [3.0], (1, 2), device="dl").to_dense().tolist()',
        "[[3.0, 0.0]]",
    ),
    "a copy": ('torch.ones(2).to("dl").sum().item()', "2.0"),
    "a generator": ('torch.Generator("dl").device', "dl:0"),
    "a nested one": (
        'torch.nested.nested_tensor([torch.zeros(2)], device="dl").sin()[0].tolist()',
        "[0.0, 0.0]",
    ),
    "a parameter": ('torch.nn.Linear(1, 1, device="dl").weight.device', "dl:0"),
}


@pytest.mark.parametrize("use", FIRST)
def test_first_use(use: str) -> None:
    expression, wanted = FIRST[use]
    assert output(f"import torch\nprint({expression})", DL_VENDORS="cpu") == wanted


REFUSED = {
    "quantized": "torch.empty_quantized((2,), torch.quantize_per_tensor(torch.ones(2), 1.0, 0, "
    'torch.qint8), device="dl")',
    "quantized, from nothing": "torch._empty_affine_quantized([2], scale=1.0, zero_point=0, "
    'dtype=torch.qint8, device="dl")',
}


@pytest.mark.parametrize("use", REFUSED)
def test_first_use_that_is_refused(use: str) -> None:
    code = f"""
import torch
try:
    {REFUSED[use]}
except (NotImplementedError, RuntimeError) as error:
    print(str(error).splitlines()[0])
"""
    assert output(code, DL_VENDORS="cpu").startswith("[dl] ")
