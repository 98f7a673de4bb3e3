"""Errors that kernels write to the error word of their stream."""

from __future__ import annotations

import gc
from collections.abc import Callable

import numpy as np
import pytest

from diopi_proto import OperatorError, Tensor, Vendor, VendorError
from diopi_proto.host.cabi import constants, ffi
from diopi_proto.host.device_errors import DeviceErrors
from diopi_proto.host.handle_ops import handle_ops
from diopi_proto.host.streams import Stream
from diopi_proto.host.structs import TableSlots

FOUND = r"\[diopiIndexSelect\] index 7 at 1 is not in \[0, 4\) \{of\} 100%d \(found when its stream"


def prepared(vendor: Vendor, *indices: int) -> Callable[..., Tensor]:
    """Return a function that enqueues a gather from [0, 1, 2, 3] at the given positions.

    Tensors are created in advance, because creating one synchronizes.
    """
    out = vendor.tensor(np.full(len(indices), -1, np.float32))
    source, index = vendor.tensor(np.arange(4, dtype=np.float32)), vendor.tensor(np.array(indices))

    def enqueue(stream: Stream | None = None) -> Tensor:
        vendor.op.IndexSelect(out, source, 0, index, stream=stream, synchronize=False)
        return out

    return enqueue


def select(vendor: Vendor, *indices: int, stream: Stream | None = None) -> Tensor:
    """Enqueue the call."""
    return prepared(vendor, *indices)(stream)


def test_a_call_returns_and_waiting_for_it_raises_its_error(hidden: Vendor) -> None:
    stream = hidden.stream()
    out = select(hidden, 3, 7, stream=stream)
    with pytest.raises(OperatorError, match=FOUND) as caught:
        stream.synchronize()
    error = caught.value
    assert (error.operator, error.vendor) == ("diopiIndexSelect", "fixture")
    assert error.code == constants.diopiErrorOccurred
    assert error.reason == "[diopiIndexSelect] index 7 at 1 is not in [0, 4) {of} 100%d"
    stream.synchronize()
    assert out.numpy().tolist() == [3, -1], "valid elements were written, and nothing else"
    assert select(hidden, 2, 1, stream=stream).numpy().tolist() == [2, 1]


@pytest.mark.parametrize("wait", ["call", "read", "device", "event", "close"])
def test_every_way_of_waiting_raises(hidden: Vendor, wait: str) -> None:
    out = select(hidden, 3, 7)
    event = hidden.event()
    event.record()
    ways = {
        "call": lambda: hidden.op.Fill(out, 1),
        "read": out.numpy,
        "device": hidden.synchronize,
        "event": event.synchronize,
        "close": hidden.close,
    }
    with pytest.raises(OperatorError, match=FOUND):
        ways[wait]()
    if wait != "close":
        event.synchronize()
        hidden.synchronize()


def test_an_event_raises_what_was_before_it(hidden: Vendor) -> None:
    stream, event, early = hidden.stream(), hidden.event(), hidden.event()
    select(hidden, 2, stream=stream)
    early.record(stream)
    select(hidden, 3, 7, stream=stream)
    early.synchronize()
    event.record(stream)
    early.synchronize()
    with pytest.raises(OperatorError, match=FOUND):
        event.synchronize()
    stream.synchronize()


def test_a_call_that_waits_raises_its_own_error(hidden: Vendor) -> None:
    source = hidden.tensor(np.arange(4, dtype=np.float32))
    out, index = hidden.empty((2,)), hidden.tensor(np.array([0, -1]))
    with pytest.raises(OperatorError, match=r"index -1 at 1"):
        hidden.op.IndexSelect(out, source, 0, index)


def test_the_first_error_of_a_stream_stands(hidden: Vendor) -> None:
    stream, first, second = hidden.stream(), prepared(hidden, 3, 7), prepared(hidden, 9)
    first(stream)
    second(stream)
    with pytest.raises(OperatorError, match=FOUND):
        stream.synchronize()
    stream.synchronize()


def test_streams_have_errors_of_their_own(hidden: Vendor) -> None:
    calls = [prepared(hidden, 3, 7), prepared(hidden, 3, 3), prepared(hidden, 8)]
    bad, good, worse = (hidden.stream() for _ in calls)
    for call, stream in zip(calls, (bad, good, worse), strict=True):
        call(stream)
    good.synchronize()
    with pytest.raises(OperatorError, match="index 8 at 0"):
        worse.synchronize()
    with pytest.raises(OperatorError, match=FOUND):
        bad.synchronize()
    hidden.synchronize()


def test_a_device_with_errors_on_two_streams_raises_both_in_turn(hidden: Vendor) -> None:
    calls = [prepared(hidden, 3, 7), prepared(hidden, 3, 7)]
    streams = [hidden.stream() for _ in calls]
    for call, stream in zip(calls, streams, strict=True):
        call(stream)
    for _ in streams:
        with pytest.raises(OperatorError, match=FOUND):
            hidden.synchronize()
    hidden.synchronize()


def test_a_stream_that_nothing_was_checked_on_is_not_read(
    hidden: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream, reads = hidden.stream(), []
    read = DeviceErrors._read
    monkeypatch.setattr(
        DeviceErrors, "_read", lambda self, word: (reads.append(word), read(self, word))[1]
    )
    select(hidden, 3).numpy()
    assert len(reads) == 1
    tensor = hidden.empty((2,))
    hidden.op.Fill(tensor, 1)
    hidden.op.Fill(tensor, 1, stream=stream)
    hidden.synchronize()
    assert tensor.numpy().tolist() == [1, 1]
    assert len(reads) == 1


def test_a_synchronous_vendor_fails_at_once(vendor: Vendor) -> None:
    with pytest.raises(OperatorError, match=r"\[diopiIndexSelect\] .* found at once"):
        select(vendor, 3, 7)


def test_a_vendor_works_with_an_older_host_without_error_words(hidden: Vendor) -> None:
    ops = handle_ops()
    size = ops.struct_size
    ops.struct_size = ffi.offsetof("dl_handle_ops_t", "device_error")
    try:
        with pytest.raises(OperatorError, match="found at once"):
            select(hidden, 3, 7)
        assert select(hidden, 3, 2).numpy().tolist() == [3, 2]
    finally:
        ops.struct_size = size


def test_without_memory_for_a_word_calls_fail_at_once(
    hidden: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(self: DeviceErrors, device: int, stream: object) -> None:
        raise VendorError("full", code=1, operation="memory_allocate", vendor="fixture")

    monkeypatch.setattr(DeviceErrors, "_create_word", refused)
    with pytest.raises(OperatorError, match="found at once"):
        select(hidden, 3, 7)


def test_a_guarded_call_raises_its_own_error(hidden: Vendor) -> None:
    hidden.guard_calls()
    with pytest.raises(OperatorError, match=FOUND):
        select(hidden, 3, 7)


def test_words_are_freed_with_their_streams_and_the_instance(
    hidden: Vendor, counters: type
) -> None:
    count = counters(hidden.path)
    stream = hidden.stream()
    select(hidden, 3, stream=stream).numpy()
    gc.collect()
    assert (count.blocks, count.streams) == (1, 2), (
        "the error word, and the stream on which words are read"
    )
    del stream
    gc.collect()
    assert (count.blocks, count.streams) == (0, 1)
    select(hidden, 3).numpy()
    hidden.close()
    gc.collect()
    assert (count.blocks, count.streams, count.instances) == (0, 0, 0)


def test_a_word_is_freed_when_it_has_been_cleared(
    hidden: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The word is cleared in stream order, without another synchronization."""
    stream, called = hidden.stream(), []
    select(hidden, 3, 7, stream=stream)
    with pytest.raises(OperatorError, match=FOUND):
        stream.synchronize()
    gc.collect()
    call = TableSlots.call
    monkeypatch.setattr(
        TableSlots,
        "call",
        lambda self, slot, *given: (called.append(slot), call(self, slot, *given)),
    )
    del stream
    gc.collect()
    assert called == ["stream_synchronize", "memory_free", "stream_destroy"]


def test_a_new_stream_has_no_error_of_an_old_one(hidden: Vendor) -> None:
    for _ in range(3):
        stream = hidden.stream()
        select(hidden, 3, 7, stream=stream)
        with pytest.raises(OperatorError, match=FOUND):
            stream.synchronize()
        del stream
        gc.collect()
    fresh = hidden.stream()
    select(hidden, 3, stream=fresh)
    fresh.synchronize()
