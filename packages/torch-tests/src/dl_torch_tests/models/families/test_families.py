"""Every family trains on dl as exactly as on the CPU, and its losses fall."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from ...device.journal import COMPARED, FACTS, PROBLEM
from .family import Family
from .measure import measure
from .table import FAMILIES

# transformers emits deprecation warnings.
pytestmark = pytest.mark.filterwarnings("ignore")

SAMPLE = ("Llama", "Qwen3-MoE", "DeepSeek-V3", "Mamba", "BERT", "T5", "ViT", "CLIP")
CASES = [
    pytest.param(family, marks=() if name in SAMPLE else pytest.mark.full, id=str(family))
    for name, family in FAMILIES.items()
]


@pytest.mark.parametrize("case", CASES)
def test_family(
    case: Family, device: torch.device, record_property: Callable[[str, object], None]
) -> None:
    found = measure(case, device)
    record_property(COMPARED, found.calls)
    record_property(FACTS, found.facts())
    record_property(PROBLEM, found.problem)
    assert found.problem is None
