"""Injected device faults: autocompare names the faulty operator and no other."""

from __future__ import annotations

import pytest
import torch

from autocompare_faults import FAULTS, Fault, FaultyDevice, Inputs
from dl_optools.compare.autocompare import OpAutoCompare
from dl_optools.compare.results import AutoCompareResults


def compared(fault: Fault, device: str) -> AutoCompareResults:
    torch.manual_seed(0)
    with OpAutoCompare(device=device, every=1, stream=None, csv=False, bundles=0) as tool:
        fault.program(Inputs(device))
    return tool.results


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_the_guilty_operator_is_named(fault: Fault, device: str) -> None:
    clean = compared(fault, device)
    assert clean.failures == [] and fault.operator in clean.operators, clean.text()
    with FaultyDevice(fault.operator, fault.wrong):
        results = compared(fault, device)
    assert results.guilty == [fault.operator], results.text()
    assert results.failures[0].units > 1 and fault.operator in results.text()


def test_there_are_thirty_faults_or_more() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 30
