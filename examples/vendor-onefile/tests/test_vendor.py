"""The vendor under the contract's own host, without torch."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor, VendorError, load_vendor
from dl_vendor_onefile.plugin import dl_vendor


@pytest.fixture
def vendor() -> Iterator[Vendor]:
    with load_vendor(dl_vendor().library) as opened:
        yield opened


def test_it_is_a_device_of_its_own(vendor: Vendor) -> None:
    assert vendor.name == "onefile" and vendor.version == dl_vendor().version
    assert vendor.present and vendor.device_count == 2
    assert not (vendor.host_accessible or vendor.synchronous or vendor.accepts_any_host_pointer)
    assert vendor.properties(1).name == "simulated device 1"
    assert vendor.properties(1).dtypes == frozenset({"float32"})
    assert sum(vendor.operators.values()) == 6


@pytest.mark.parametrize("device", [0, 1])
def test_six_operators(vendor: Vendor, device: int) -> None:
    generator = np.random.default_rng(0)
    x, y = (generator.standard_normal((3, 4)).astype(np.float32) for _ in range(2))
    row = generator.standard_normal(4).astype(np.float32)
    a, b, c = (vendor.tensor(array, device=device) for array in (x, y, row))
    out = vendor.empty((3, 4), device=device)
    for call, expected in (
        (lambda: vendor.op.Add(out, a, b, 2), x + 2 * y),
        (lambda: vendor.op.Add(out, a, c, 0.5), x + np.float32(0.5) * row),
        (lambda: vendor.op.Mul(out, a, b), x * y),
        (lambda: vendor.op.Neg(out, a), -x),
        (lambda: vendor.op.Relu(out, a), np.maximum(x, 0)),
        (lambda: vendor.op.CopyInp(b, out), y),
    ):
        call()
        np.testing.assert_allclose(out.numpy(), expected, rtol=1e-6)
    product = vendor.empty((3, 3), device=device)
    vendor.op.Mm(product, a, vendor.tensor(y.T, device=device))
    np.testing.assert_allclose(product.numpy(), x @ y.T, rtol=1e-5, atol=1e-6)


def test_what_it_does_not_compute_is_declined(vendor: Vendor) -> None:
    x = vendor.tensor(np.ones(3, np.int64))
    with pytest.raises(OperatorError, match="only float32") as caught:
        vendor.op.Neg(vendor.empty((3,), "int64"), x)
    assert caught.value.code == 13  # diopiNoImplement


def test_work_on_memory_of_another_device_fails(vendor: Vendor) -> None:
    """The kernel detects the error; the next call that waits raises it."""
    x = vendor.tensor(np.ones(3, np.float32), device=0)
    y, out = (vendor.tensor(np.ones(3, np.float32), device=1) for _ in range(2))
    y._prefix.data = x._prefix.data  # bypasses the host's check
    with pytest.raises(VendorError, match="memory outside of its device"):
        vendor.op.Neg(out, y)
    assert out.numpy().tolist() == [1, 1, 1]
    vendor.synchronize(1)
