"""Tests of the vendor under diopi_proto's own host, as its users see it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from diopi_proto import OperatorError, OutOfMemoryError, Vendor, VendorError, load_vendor
from diopi_proto.schema import load
from dl_vendor_async_test.plugin import dl_vendor


@pytest.fixture
def vendor() -> Iterator[Vendor]:
    with load_vendor(dl_vendor().library) as opened:
        yield opened


def test_example_of_the_readme_runs():
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", readme, flags=re.DOTALL)
    exec(compile(example, "README.md", "exec"), {})


def test_nothing_is_claimed(vendor):
    assert vendor.name == "async"
    assert vendor.capabilities == 0
    assert vendor.device_count == 2


def test_every_operator_binds(vendor):
    assert vendor.mismatched == {}
    assert vendor.unknown_operators == frozenset()
    bound = [name for name in load() if vendor.operators[name]]
    assert len(bound) == 35


def test_operators_take_and_give_tensors(vendor):
    x = vendor.tensor(np.array([[1.0, 0.0], [0.0, 2.0]]))
    out = vendor.empty((2, 2), "float64")
    vendor.op.diopiMm(out, x, x)
    assert out.numpy().tolist() == [[1, 0], [0, 4]]
    assert vendor.op.diopiNonzero(x).numpy().tolist() == [[0, 0], [1, 1]]


def test_streams_ordered_by_an_event(monkeypatch):
    monkeypatch.setenv("DL_ASYNC_TEST_DELAY_US", "20000")
    with load_vendor(dl_vendor().library) as slow:
        first, second, event = slow.stream(), slow.stream(), slow.event()
        x = slow.tensor(np.array([1.0, 2.0]))
        slow.synchronize()
        y, z = slow.empty((2,), "float64"), slow.empty((2,), "float64")
        slow.op.diopiNeg(y, x, stream=first, synchronize=False)
        event.record(first)
        second.wait_event(event)
        slow.op.diopiNeg(z, y, stream=second, synchronize=False)
        second.synchronize()
        assert z.numpy().tolist() == [1.0, 2.0]


def test_faults_become_exceptions(monkeypatch):
    monkeypatch.setenv("DL_ASYNC_TEST_FAULTS", "1")
    with load_vendor(dl_vendor().library) as faulty:
        x = faulty.tensor(np.ones(2))
        with pytest.raises(OperatorError, match="refuses"):
            faulty.op.diopiErfinv(x, x)
        with pytest.raises(OperatorError, match="throws"):
            faulty.op.diopiPolar(x, x, x)
        stream = faulty.stream()
        faulty.op.diopiErfinvInp(x, stream=stream, synchronize=False)
        with pytest.raises(VendorError, match="fails on the device"):
            stream.synchronize()


def test_memory_limit_becomes_an_exception(monkeypatch):
    monkeypatch.setenv("DL_ASYNC_TEST_MEMORY", "65536")
    with load_vendor(dl_vendor().library) as small, pytest.raises(OutOfMemoryError):
        small.empty((65537,), "uint8")


def test_memory_that_only_work_in_flight_keeps_makes_room(monkeypatch):
    monkeypatch.setenv("DL_ASYNC_TEST_MEMORY", str(1 << 20))
    with load_vendor(dl_vendor().library) as small:
        x = small.tensor(np.ones(1 << 15))  # a quarter of the memory
        small.op.diopiNeg(small.empty((1 << 15,), "float64"), x, synchronize=False)
        assert small.memory_info()[0] == 1 << 19
        assert small.empty((3 << 18,), "uint8").storage.nbytes == 3 << 18
        with pytest.raises(OutOfMemoryError):
            small.empty((1 << 20,), "uint8")


def test_every_device_is_made_current(vendor):
    """The vendor rejects calls for a device that is not current: see test_errors.py."""
    side = vendor.stream(1)
    for device in (1, 0, 1):
        x = vendor.tensor(np.ones(3), device=device)
        out = vendor.empty((3,), "float64", device=device)
        vendor.op.diopiNeg(out, x)
        assert out.numpy().tolist() == [-1] * 3
    event = vendor.event(1)
    event.record(side)
    event.synchronize()
    assert event.query() and side.query()
    vendor.synchronize(0)
