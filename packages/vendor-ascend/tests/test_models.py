"""Training of common models on fakes of CANN's runtime and operator library: as accurate as the
CPU's, and without a fallback in the operators that they need."""

from __future__ import annotations

import json
from typing import Any

import pytest
from extension_tests.model_operators import MODEL_OPERATORS
from extension_tests.simulated_vendor import SimulatedVendor

from conftest import with_fakes

pytestmark = with_fakes

MODELS = ("ResNet", "BERT", "Llama", "GPT-2", "ViT")
"""Names of families of dl-torch-tests: small models with the layers of transformers."""

CODE = """
import copy, json, os, sys, warnings
warnings.simplefilter("ignore")
import torch
from torch import nn
torch.set_num_threads(1)
from dl_torch_tests.models.families.measure import measure, train
from dl_torch_tests.models.families.table import FAMILIES
def train_mixed(step):
    # Steps with autocast, attention without a fused operator, dropout and clipping.
    model = copy.deepcopy(step.model).to("dl").train()
    if hasattr(model, "set_attn_implementation"):
        model.set_attn_implementation("eager")
    batch = {{name: value.to("dl") for name, value in step.batch.items()}}
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        with torch.autocast("dl", dtype=torch.bfloat16):
            loss, output = step.forward(model, batch)
        (loss + 0 * nn.functional.dropout(output.float(), 0.1).sum()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.detach())
    return [float(loss) for loss in losses]
family = FAMILIES[{name!r}]
found = measure(family, torch.device("dl")).facts()
found["mixed losses"] = train_mixed(family.step())
found["cpu losses"] = train(family.step(), torch.device("cpu"))
found["reasons"] = [
    [name, reason.operator, reason.text, reason.count]
    for name, reasons in torch.dl.fallback_stats().reasons.items()
    for reason in reasons
]
print("FOUND", json.dumps(found), flush=True)
# torch's autograd threads hold Python objects when the interpreter exits.
os._exit(0)
"""


def train_model(vendor: SimulatedVendor, name: str) -> dict[str, Any]:
    """Return the measurement of a family, its losses on the CPU, and the reasons of fallbacks."""
    output = vendor.run(CODE.format(name=name))
    (line,) = [line for line in output.splitlines() if line.startswith("FOUND ")]
    found: dict[str, Any] = json.loads(line.removeprefix("FOUND "))
    return found


def fallbacks_of_models(found: dict[str, Any]) -> list[str]:
    """Describe the fallbacks in operators that models need."""
    return [
        f"aten::{name} ran on the CPU {count} times: {text}"
        for name, operator, text, count in found["reasons"]
        if operator in MODEL_OPERATORS
    ]


@pytest.mark.parametrize("name", MODELS)
def test_a_model_trains_as_on_the_cpu(simulated_vendor: SimulatedVendor, name: str) -> None:
    found = train_model(simulated_vendor, name)
    assert found["problem"] is None
    assert found["losses"] == pytest.approx(found["cpu losses"], rel=1e-3, abs=1e-5)
    first, *_, last = found["mixed losses"]
    assert first == pytest.approx(found["cpu losses"][0], rel=0.02)
    assert last < first
    assert not fallbacks_of_models(found)


def test_the_vendor_has_every_operator_of_models(simulated_vendor: SimulatedVendor) -> None:
    simulated_vendor.run_on_vendor(f"""
    for name in {sorted(MODEL_OPERATORS)}:
        vendor.op[name]
    """)


def test_a_fallback_in_a_needed_operator_is_noticed(simulated_vendor: SimulatedVendor) -> None:
    """The library has no kernel for a function, so that the vendor declines the operator."""
    declining = simulated_vendor.with_variables(
        FAKE_ACLNN_FAIL="aclnnEmbeddingGetWorkspaceSize:561003"
    )
    found = train_model(declining, "BERT")
    (fallback,) = fallbacks_of_models(found)
    assert fallback.startswith("aten::embedding"), fallback
