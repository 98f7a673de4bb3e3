"""Allocation padding: bytes without data behind the memory of tensors, which operators may read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from diopi_proto import StrayWriteError, Vendor, ffi, load_vendor

PADDING = 40
Compile = Callable[..., Path]


def _flags(hidden: bool) -> list[str]:
    return [
        f"-DFIXTURE_HIDDEN={int(hidden)}",
        f"-DFIXTURE_CAPABILITIES=DL_CAP_SYNCHRONOUS{'' if hidden else '|DL_CAP_HOST_ACCESSIBLE'}",
    ]


@pytest.fixture(params=[False, True], ids=["host-accessible", "separate"])
def padded(build: Compile, request: pytest.FixtureRequest) -> Iterator[Vendor]:
    """A vendor whose diopiFill overwrites the padding behind the storage of its tensor."""
    library = build("vendor.cpp", f"-DFIXTURE_PADDING={PADDING}", *_flags(request.param))
    with load_vendor(library) as loaded:
        yield loaded


def test_it_is_a_property_of_the_device(padded: Vendor, vendor: Vendor) -> None:
    assert padded.properties().allocation_padding == PADDING
    assert vendor.properties().allocation_padding == 0


@pytest.mark.parametrize("guarded", [False, True])
def test_overwritten_padding_is_harmless(padded: Vendor, guarded: bool) -> None:
    if guarded:
        padded.guard_calls(salt=3)
    tensors = [padded.tensor(np.full(size, size, np.float32)) for size in range(1, 40)]
    for tensor in tensors:
        padded.op.Fill(tensor, 5)
    for tensor in tensors:
        assert tensor.numpy().tolist() == [5] * tensor.size


def test_the_padding_of_required_tensors_is_not_part_of_their_bands(padded: Vendor) -> None:
    padded.guard_calls()
    found = padded.op.Nonzero(padded.tensor(np.arange(4, dtype=np.float32)))
    assert found.numpy().ravel().tolist() == [1, 2, 3]


def test_a_write_beyond_the_padding_is_reported(build: Compile) -> None:
    """As a vendor that needs more padding than it states."""
    library = build(
        "vendor.cpp", f"-DFIXTURE_PADDING={PADDING}", "-DFIXTURE_PADDING_SAID=8", *_flags(False)
    )
    with load_vendor(library) as vendor:
        vendor.guard_calls()
        with pytest.raises(StrayWriteError, match="wrote 32 bytes, the first of them 8 after"):
            vendor.op.Fill(vendor.empty((3,)), 5)


def test_a_vendor_does_not_write_it_into_the_struct_of_an_older_host(padded: Vendor) -> None:
    raw = ffi.new("dl_device_properties_t*")
    for end, expected in (
        (ffi.offsetof("dl_device_properties_t", "allocation_padding"), 0),
        (ffi.sizeof("dl_device_properties_t"), PADDING),
    ):
        raw.struct_size = end
        padded.slots.call("device_properties", 0, raw)
        assert (raw.struct_size, raw.allocation_padding) == (end, expected)
