"""Older and newer vendors with this host, and older and newer hosts with a vendor."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from diopi_proto import (
    ArgumentError,
    ClosedError,
    NotSupportedError,
    OperatorError,
    OperatorNotBoundError,
    Vendor,
    VendorError,
    load_vendor,
)
from diopi_proto.host.cabi import ffi
from diopi_proto.host.hosttable import HostTable
from diopi_proto.schema import load

Compile = Callable[..., Path]


def _older(build: Compile, field: str) -> Path:
    """Vendor whose table ends just before ``field``, followed by garbage."""
    return build("vendor.cpp", f"-DFIXTURE_TABLE_BYTES=offsetof(dl_vendor_table_t,{field})")


def test_slots_that_an_older_table_does_not_reach_are_missing(build: Compile) -> None:
    with load_vendor(_older(build, "stream_create")) as vendor:
        assert vendor.device_count == 2
        assert vendor.tensor([1.0]).numpy().tolist() == [1.0]
        assert not any(vendor.operators.values())
        with pytest.raises(OperatorNotBoundError, match="does not implement"):
            vendor.call("diopiFill", vendor.empty((1,)), 1)


def test_an_asynchronous_vendor_has_to_bring_its_streams_and_events(build: Compile) -> None:
    flags = ("-DFIXTURE_HIDDEN=1", "-DFIXTURE_DEFERRED=1", "-DFIXTURE_CAPABILITIES=0")
    for missing, make in (("stream_create", Vendor.stream), ("event_create", Vendor.event)):
        limit = f"-DFIXTURE_TABLE_BYTES=offsetof(dl_vendor_table_t,{missing})"
        refused = pytest.raises(NotSupportedError, match=rf"\[{missing}\].*is asynchronous")
        with load_vendor(build("vendor.cpp", *flags, limit)) as vendor, refused:
            make(vendor)


def test_the_host_stands_in_for_streams_and_events_of_a_synchronous_vendor(build: Compile) -> None:
    with load_vendor(_older(build, "stream_create")) as vendor:
        side, start, end = vendor.stream(), vendor.event(timing=True), vendor.event(timing=True)
        assert side.query() and start.query(), "never recorded"
        start.record(side)
        end.record()
        assert end.query() and end.elapsed_since(start) >= 0 >= start.elapsed_since(end)
        end.synchronize()
        side.wait_event(end)
        side.synchronize()
        for event, reason in (
            (vendor.event(timing=True), "an event was never recorded"),
            (vendor.event(), "an event was created without timing"),
        ):
            with pytest.raises(VendorError, match=rf"\[event_elapsed\] {reason}"):
                event.elapsed_since(start)
        with pytest.raises(ArgumentError, match="no device 7"):
            vendor.event(7)
    with pytest.raises(ClosedError):
        vendor.event()


def test_without_a_way_to_wait_on_the_device_the_host_waits(build: Compile) -> None:
    with load_vendor(_older(build, "stream_wait_event")) as vendor:
        # The event slots are after that slot, too.
        stream, event = vendor.stream(), vendor.event()
        event.record(stream)
        stream.wait_event(event)
        assert stream.query()


def test_a_vendor_that_says_that_nothing_is_there_is_not_asked_for_devices(build: Compile) -> None:
    """device_count may initialize a driver; `present` must not."""
    with load_vendor(build("vendor.cpp", "-DFIXTURE_PRESENT=0")) as vendor:
        assert not vendor.present and vendor.device_count == 0
        with pytest.raises(ArgumentError, match="no device 0; its number of devices is 0"):
            vendor.empty((1,))


def test_without_last_error_an_operator_fails_without_words(build: Compile) -> None:
    with load_vendor(_older(build, "last_error")) as vendor:
        tensor = vendor.empty((1,))
        with pytest.raises(OperatorError, match="no reason given") as caught:
            vendor.op.Softmax(tensor, tensor, 0)
        assert caught.value.reason == ""


def test_without_device_count_there_is_no_device(build: Compile) -> None:
    with load_vendor(_older(build, "present")) as vendor:
        assert vendor.present
        assert vendor.device_count == 0


def test_without_properties_a_device_still_has_a_name(build: Compile) -> None:
    with load_vendor(_older(build, "device_properties")) as vendor:
        assert vendor.properties(1).name == "fixture"
        assert vendor.properties(1).dtypes == frozenset()


def test_a_newer_table_is_as_good(build: Compile) -> None:
    with load_vendor(build("vendor.cpp", "-DFIXTURE_NEWER=1")) as vendor:
        tensor = vendor.empty((2,))
        vendor.op.Fill(tensor, 4)
        assert tensor.numpy().tolist() == [4, 4]
        assert vendor.unknown_operators == {"diopiFromTheFuture"}
        assert "diopiFromTheFuture" not in vendor.operators


def _host(end: int, appended: int = 0) -> HostTable:
    """Host table that ends at byte ``end``, with all later slots poisoned."""
    host = HostTable()
    size = ffi.sizeof("dl_host_t")
    memory = ffi.new("char[]", size + appended)
    ffi.memmove(memory, host.pointer, size)
    ffi.buffer(memory)[min(end, size) :] = b"\xaa" * (size + appended - min(end, size))
    pointer = ffi.cast("dl_host_t*", memory)
    pointer.struct_size = end
    host._keep_alive(memory)
    host.pointer = pointer
    return host


def test_a_vendor_works_without_features_that_an_older_host_lacks(build: Compile) -> None:
    host = _host(ffi.offsetof("dl_host_t", "parallel_for"))
    with load_vendor(build("vendor.cpp"), host=host) as vendor:
        total = vendor.empty((1,))
        vendor.op.Sum(total, vendor.tensor(np.arange(5, dtype=np.float32)), ())
        assert total.numpy().tolist() == [10]


def test_a_vendor_may_refuse_a_host_that_lacks_too_much(build: Compile) -> None:
    with pytest.raises(NotSupportedError, match="the host cannot log"):
        load_vendor(build("vendor.cpp"), host=_host(ffi.offsetof("dl_host_t", "log")))


def test_a_newer_host_is_as_good(build: Compile) -> None:
    host = _host(ffi.sizeof("dl_host_t") + 64, appended=64)
    with load_vendor(build("vendor.cpp"), host=host) as vendor:
        total = vendor.empty((1,))
        vendor.op.Sum(total, vendor.tensor(np.arange(5, dtype=np.float32)), ())
        assert total.numpy().tolist() == [10]


def test_only_equal_fingerprints_bind(build: Compile) -> None:
    expected = load()["diopiFill"].fingerprint
    with load_vendor(build("vendor.cpp", "-DFIXTURE_FINGERPRINT=1")) as vendor:
        assert vendor.operators["diopiFill"] is False
        assert vendor.operators["diopiAdd"] is True
        why = vendor.mismatched["diopiFill"]
        assert f"{expected:#018x}" in why
        assert f"{expected ^ 1:#018x}" in why
        assert "Install releases" in why
        with pytest.raises(OperatorNotBoundError, match="different signatures") as caught:
            vendor.op.Fill(vendor.empty((1,)), 1)
        assert caught.value.operator == "diopiFill"
    with load_vendor(build("vendor.cpp")) as vendor:
        assert vendor.operators["diopiFill"] is True
        assert not vendor.mismatched


def test_operators_list_the_whole_contract(build: Compile) -> None:
    with load_vendor(build("vendor.cpp")) as vendor:
        assert set(vendor.operators) == set(load())
        assert sum(vendor.operators.values()) == 20
        with pytest.raises(KeyError):
            vendor.operators["diopiNothing"]
        assert "Fill" in dir(vendor.op)
        assert "Exp" not in dir(vendor.op)
