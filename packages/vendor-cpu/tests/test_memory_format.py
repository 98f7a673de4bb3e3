"""Tests of memory formats; this device has a single one."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from dl_conformance.catalog import cases_of
from dl_conformance.execution import run
from suite import check_cases
from support import out_like

ND = 2


@pytest.mark.parametrize("name", ["NativeMemoryFormatCast", "GetNativeMemoryFormat"])
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def test_a_cast_is_a_copy_of_its_own(vendor: Vendor) -> None:
    given = vendor.tensor(np.arange(6.0).reshape(2, 3).T)
    copy = vendor.op.NativeMemoryFormatCast(given, ND)
    assert copy.is_contiguous
    assert copy.address != given.address
    assert np.array_equal(copy.numpy(), given.numpy())
    assert vendor.op.GetNativeMemoryFormat(copy) == ND


@pytest.mark.parametrize("number", [-1, 0, 1, 3, 29, 1 << 62])
def test_unsupported_formats_are_reported(vendor: Vendor, number: int) -> None:
    with pytest.raises(
        OperatorError, match=rf"the format {number} is not supported; give 2 \(ND\)"
    ):
        vendor.op.NativeMemoryFormatCast(out_like(vendor, (2, 3), "float32"), number)


def test_the_destruction_hook_takes_any_address(vendor: Vendor) -> None:
    tensor = vendor.tensor(np.arange(4.0))
    for address in (0, 1, tensor.address):
        assert vendor.op.TensorDestructionHook(address) is None
    assert tensor.numpy().tolist() == [0, 1, 2, 3]
    for case in cases_of("diopiTensorDestructionHook"):
        outcome = run(vendor, case)
        assert (outcome.status, outcome.cause) == ("unchecked", "nothing to check")
